//! What can be asked of the daemon, as `OpenAPI` has it: `GET /openapi.json`, from one table.

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

/// Whose token it takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Agents,
    Persons,
}

/// One word of a question: its name, its type, what it means.
type Word = (&'static str, &'static str, &'static str);

struct Operation {
    method: &'static str,
    path: &'static str,
    whose: Whose,
    about: &'static str,
    /// Behind a question mark.
    query: &'static [Word],
    /// In the body; a name with `!` must be there.
    body: &'static [Word],
    /// The schema of its answer.
    answer: &'static str,
}

const PROJECT: Word =
    ("project", "string", "the path of a project; may be left out where there is only one");
const COMMAND: Word = ("command!", "string", "what is to be run, as bash has it");
const DIRECTORY: Word =
    ("cwd", "string", "where in the project it begins; not together with `session`");
const ENVIRONMENT: Word = ("env", "object", "variables; not together with `session`");
const TIMEOUT: Word = ("timeout_ms", "integer", "how long it may take");
const GOAL: Word = ("goal", "string", "what it is for: whoever is asked sees it");
const WAIT_FOR_PERSON: Word =
    ("wait_ms", "integer", "how long it waits for a person; 600000 unless said");

const OPERATIONS: &[Operation] = &[
    Operation {
        method: "post",
        path: "/v1/run",
        whose: Whose::Agents,
        about: "Runs a command. With `stream`, or if text/event-stream is accepted, the answer is a stream of `started`, \
                `output`, `approval` and `ended`; closing the connection kills what runs.",
        query: &[],
        body: &[
            PROJECT,
            COMMAND,
            DIRECTORY,
            ENVIRONMENT,
            TIMEOUT,
            ("session", "string", "the session to run it in"),
            GOAL,
            ("hold", "boolean", "what it changes waits for commit or discard"),
            WAIT_FOR_PERSON,
            ("stream", "boolean", "answer with events"),
        ],
        answer: "Report",
    },
    Operation {
        method: "get",
        path: "/v1/sessions",
        whose: Whose::Agents,
        about: "Sessions that are open; an agent sees its own.",
        query: &[PROJECT],
        body: &[],
        answer: "Session[]",
    },
    Operation {
        method: "post",
        path: "/v1/sessions",
        whose: Whose::Agents,
        about: "Opens a session, which keeps directory, variables and functions between commands.",
        query: &[],
        body: &[PROJECT, DIRECTORY, ENVIRONMENT],
        answer: "Id",
    },
    Operation {
        method: "delete",
        path: "/v1/sessions/{id}",
        whose: Whose::Agents,
        about: "Ends a session and all that runs in it.",
        query: &[],
        body: &[],
        answer: "Done",
    },
    Operation {
        method: "get",
        path: "/v1/sessions/{id}/output",
        whose: Whose::Agents,
        about: "Server-sent: the end of what was said in the session, then all of it as it comes, without secrets.",
        query: &[],
        body: &[],
        answer: "Events",
    },
    Operation {
        method: "get",
        path: "/v1/processes",
        whose: Whose::Agents,
        about: "Commands in the background; an agent sees its own.",
        query: &[PROJECT],
        body: &[],
        answer: "Process[]",
    },
    Operation {
        method: "post",
        path: "/v1/processes",
        whose: Whose::Agents,
        about: "Starts a command in the background.",
        query: &[],
        body: &[PROJECT, COMMAND, DIRECTORY, ENVIRONMENT, TIMEOUT, GOAL, WAIT_FOR_PERSON],
        answer: "Id",
    },
    Operation {
        method: "get",
        path: "/v1/processes/{id}",
        whose: Whose::Agents,
        about: "What it has written from some byte on, and how it has ended.",
        query: &[
            ("after", "integer", "the `next` of the last answer"),
            ("wait_ms", "integer", "how long to wait until there is something"),
        ],
        body: &[],
        answer: "Read",
    },
    Operation {
        method: "delete",
        path: "/v1/processes/{id}",
        whose: Whose::Agents,
        about: "Kills it with everything that it has started.",
        query: &[],
        body: &[],
        answer: "Process",
    },
    Operation {
        method: "post",
        path: "/v1/processes/{id}/input",
        whose: Whose::Agents,
        about: "Writes to its standard input.",
        query: &[],
        body: &[("text", "string", "what it reads"), ("end", "boolean", "and nothing after that")],
        answer: "Done",
    },
    Operation {
        method: "get",
        path: "/v1/approvals",
        whose: Whose::Agents,
        about: "All that wait for a decision or were decided, newest first.",
        query: &[PROJECT],
        body: &[],
        answer: "Approval[]",
    },
    Operation {
        method: "get",
        path: "/v1/approvals/{id}",
        whose: Whose::Agents,
        about: "One of them; waits for its decision if that is wanted.",
        query: &[PROJECT, ("wait_ms", "integer", "how long")],
        body: &[],
        answer: "Approval",
    },
    Operation {
        method: "post",
        path: "/v1/approvals/{id}",
        whose: Whose::Persons,
        about: "Decides. The first decision wins; a later one gets `already_decided`, and is told whose it was.",
        query: &[],
        body: &[
            PROJECT,
            ("decision!", "string", "approve or deny"),
            ("scope", "string", "approve: once, session, always; deny: once, never"),
        ],
        answer: "Approval",
    },
    Operation {
        method: "post",
        path: "/v1/approvals/{id}/preview",
        whose: Whose::Persons,
        about: "What it would change: it runs apart, if it can change nothing but the project, and what came of it is shown and \
                dropped.",
        query: &[],
        body: &[PROJECT],
        answer: "Object",
    },
    Operation {
        method: "get",
        path: "/v1/tasks",
        whose: Whose::Agents,
        about: "Tasks, newest first; an agent sees its own. Of all projects, unless one is named.",
        query: &[
            PROJECT,
            ("state", "string", "only in this state"),
            ("limit", "integer", "at most so many; 100 unless said"),
        ],
        body: &[],
        answer: "TaskRow[]",
    },
    Operation {
        method: "post",
        path: "/v1/tasks",
        whose: Whose::Agents,
        about: "A task, from a plan or from a goal (which the operator's planner makes a plan of). It is worked on in the \
                background. A wrong plan is `bad_plan` with `field`, `line` and `column`.",
        query: &[],
        body: &[
            PROJECT,
            ("plan", "", "an object, or a text in JSON or TOML: `exacta task schema`"),
            ("goal", "string", "what is to be achieved; instead of a plan"),
            ("agent", "string", "a person: who it is done for. An agent asks for itself"),
            ("rollback_on_failure", "boolean", "take back what was done if it fails"),
            ("step_by_step", "boolean", "every step that needs a yes is decided on its own"),
        ],
        answer: "Task",
    },
    Operation {
        method: "get",
        path: "/v1/tasks/{id}",
        whose: Whose::Agents,
        about: "One of them as a whole; at the approval gate with S4's notification.",
        query: &[
            PROJECT,
            (
                "wait_ms",
                "integer",
                "how long to wait until it has ended, or a person has to do something",
            ),
        ],
        body: &[],
        answer: "Task",
    },
    Operation {
        method: "post",
        path: "/v1/tasks/{id}",
        whose: Whose::Agents,
        about: "`approve` and `reject` (people only), `cancel`, `retry` and `run`.",
        query: &[],
        body: &[
            PROJECT,
            ("action!", "string", "approve, reject, cancel, retry or run"),
            ("step", "integer", "approve: only this step, counted from 1 on"),
            ("force", "boolean", "retry, people only: also where a step may have taken effect"),
        ],
        answer: "Task",
    },
    Operation {
        method: "get",
        path: "/v1/tasks/{id}/log",
        whose: Whose::Agents,
        about: "The last 1000 entries of its `executionLog`, each with its number.",
        query: &[PROJECT, ("after", "integer", "only those behind this number")],
        body: &[],
        answer: "LogEntry[]",
    },
    Operation {
        method: "get",
        path: "/v1/tasks/{id}/events",
        whose: Whose::Agents,
        about: "Server-sent: `task` whenever it changes, `log` for every entry, `ended` at its end.",
        query: &[PROJECT, ("after", "integer", "only entries behind this number")],
        body: &[],
        answer: "Events",
    },
    Operation {
        method: "get",
        path: "/v1/history",
        whose: Whose::Persons,
        about: "What was asked, newest first: as `exacta shell history --json`.",
        query: &[
            PROJECT,
            ("limit", "integer", "at most so many; 50 unless said"),
            ("since", "string", "a time, or how long ago: 2h"),
            ("session", "string", "only of this session"),
            ("decision", "string", "allow, confirm or deny"),
            ("failed", "boolean", "only what has failed"),
            ("grep", "string", "only with this text"),
        ],
        body: &[],
        answer: "Object[]",
    },
    Operation {
        method: "get",
        path: "/v1/history/{id}",
        whose: Whose::Persons,
        about: "One request as a whole, with its output.",
        query: &[PROJECT],
        body: &[],
        answer: "Object",
    },
    Operation {
        method: "get",
        path: "/v1/log",
        whose: Whose::Persons,
        about: "What can be undone, newest first: as `exacta log --json`.",
        query: &[PROJECT, ("limit", "integer", "at most so many; 50 unless said")],
        body: &[],
        answer: "Object[]",
    },
    Operation {
        method: "get",
        path: "/v1/diff/{id}",
        whose: Whose::Persons,
        about: "What a record has changed, or would change: as `exacta diff ID --json`.",
        query: &[PROJECT],
        body: &[],
        answer: "Object",
    },
    Operation {
        method: "post",
        path: "/v1/undo",
        whose: Whose::Persons,
        about: "Takes a request back: as `exacta undo --json`.",
        query: &[],
        body: TURNING,
        answer: "Object",
    },
    Operation {
        method: "post",
        path: "/v1/redo",
        whose: Whose::Persons,
        about: "Makes it again: as `exacta redo --json`.",
        query: &[],
        body: TURNING,
        answer: "Object",
    },
    Operation {
        method: "post",
        path: "/v1/held/{id}/commit",
        whose: Whose::Persons,
        about: "What was held comes into the project.",
        query: &[],
        body: &[PROJECT],
        answer: "Object",
    },
    Operation {
        method: "post",
        path: "/v1/held/{id}/discard",
        whose: Whose::Persons,
        about: "What was held is dropped.",
        query: &[],
        body: &[PROJECT],
        answer: "Object",
    },
    Operation {
        method: "post",
        path: "/v1/policy/test",
        whose: Whose::Agents,
        about: "The verdict on a command, with every step of it: as `exacta shell test --json`. Nothing runs.",
        query: &[],
        body: &[PROJECT, COMMAND],
        answer: "Object",
    },
    Operation {
        method: "get",
        path: "/v1/status",
        whose: Whose::Persons,
        about: "Profile, limits, isolation and counts: as `exacta shell status --json`.",
        query: &[PROJECT],
        body: &[],
        answer: "Object",
    },
    Operation {
        method: "get",
        path: "/v1/doctor",
        whose: Whose::Persons,
        about: "What holds on this machine, tried in a real jail: as `exacta doctor --json`.",
        query: &[PROJECT],
        body: &[],
        answer: "Object",
    },
    Operation {
        method: "get",
        path: "/v1/projects",
        whose: Whose::Agents,
        about: "The projects that the daemon was started with.",
        query: &[],
        body: &[],
        answer: "Object[]",
    },
    Operation {
        method: "get",
        path: "/v1/events",
        whose: Whose::Persons,
        about: "Server-sent: `approval`, `session`, `process` and `task`, whenever one comes or changes.",
        query: &[],
        body: &[],
        answer: "Events",
    },
    Operation {
        method: "get",
        path: "/metrics",
        whose: Whose::Persons,
        about: "For Prometheus.",
        query: &[],
        body: &[],
        answer: "Text",
    },
];

const TURNING: &[Word] = &[
    PROJECT,
    ("id", "integer", "which record; the newest that can be if none is named"),
    ("force", "boolean", "also over what was changed since, which is kept"),
    ("dry_run", "boolean", "only say what would be done"),
];

const ROW: &[(&str, &str)] = &[
    ("id", "string"),
    ("project", "string"),
    ("agent", "string"),
    ("goal", "string"),
    ("state", "string"),
    ("reason", "string"),
    ("denied", "boolean"),
    ("steps", "integer"),
    ("done", "integer"),
    ("step", "integer?"),
    ("approval", "string?"),
    ("created", "integer"),
    ("changed", "integer"),
    ("next", "string[]"),
];

/// The fields of an answer; `[]` behind a type: a list of them, `?`: or null.
const SCHEMAS: &[(&str, &[(&str, &str)])] = &[
    ("Id", &[("id", "string")]),
    ("Done", &[]),
    ("Object", &[]),
    (
        "Report",
        &[
            ("schema_version", "integer"),
            ("correlation_id", "string"),
            ("command", "string"),
            ("args", "string[]"),
            ("working_dir", "string"),
            ("exit_code", "integer"),
            ("stdout", "string"),
            ("stderr", "string"),
            ("duration_ms", "number"),
            ("resource_usage", "object"),
            ("policy_rule_matched", "string?"),
            ("timestamp", "string"),
            ("decision", "string"),
            ("reason", "string?"),
            ("hint", "string?"),
            ("timed_out", "boolean"),
            ("truncated", "boolean"),
            ("spill_path", "string?"),
            ("isolation", "object?"),
            ("limits", "object?"),
            ("undo", "object?"),
            ("approval", "object?"),
            ("redacted", "object"),
            ("steps", "object[]"),
        ],
    ),
    (
        "Session",
        &[
            ("id", "string"),
            ("project", "string"),
            ("agent", "string"),
            ("directory", "string"),
            ("running", "object?"),
            ("requests", "integer"),
            ("idle_ms", "integer"),
        ],
    ),
    (
        "Process",
        &[
            ("id", "string"),
            ("project", "string"),
            ("agent", "string"),
            ("command", "string"),
            ("state", "string"),
            ("exit_code", "integer?"),
            ("started", "string"),
            ("bytes", "integer"),
            ("approval", "string?"),
        ],
    ),
    (
        "Read",
        &[
            ("state", "string"),
            ("exit_code", "integer?"),
            ("output", "string"),
            ("next", "integer"),
            ("dropped", "integer"),
            ("approval", "string?"),
            ("report", "object?"),
        ],
    ),
    ("TaskRow", ROW),
    (
        "Task",
        &[
            ("schema_version", "integer"),
            ("id", "string"),
            ("project", "string"),
            ("agent", "string"),
            ("goal", "string"),
            ("state", "string"),
            ("reason", "string"),
            ("denied", "boolean"),
            ("approval", "string?"),
            ("asks", "integer[]"),
            ("approved", "integer[]"),
            ("approved_by", "string"),
            ("rollback_on_failure", "boolean"),
            ("step_by_step", "boolean"),
            ("rolled_back", "boolean"),
            ("round", "integer"),
            ("created", "integer"),
            ("changed", "integer"),
            ("plan", "object?"),
            ("steps", "object[]"),
            ("step", "integer?"),
            ("done", "integer"),
            ("moves", "object[]"),
            ("executionLog", "object[]"),
            ("notification", "object?"),
            ("report", "string"),
            ("next", "string[]"),
        ],
    ),
    (
        "LogEntry",
        &[
            ("number", "integer"),
            ("timestamp", "integer"),
            ("type", "string"),
            ("content", "string"),
        ],
    ),
    (
        "Approval",
        &[
            ("id", "string"),
            ("state", "string"),
            ("command", "string"),
            ("redacted", "boolean"),
            ("directory", "string"),
            ("agent", "string"),
            ("goal", "string"),
            ("plan", "string[]"),
            ("irreversible", "string?"),
            ("asks", "object[]"),
            ("tried", "object?"),
            ("task", "string?"),
            ("always", "string?"),
            ("digest", "string"),
            ("created", "integer"),
            ("expires", "integer"),
            ("scope", "string?"),
            ("by", "string?"),
            ("door", "string?"),
            ("decided", "integer?"),
        ],
    ),
];

pub async fn openapi() -> Response {
    Json(whole()).into_response()
}

fn whole() -> Value {
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = described(operation);
    }
    let mut schemas: Map<String, Value> =
        SCHEMAS.iter().map(|(name, fields)| ((*name).to_owned(), object(fields))).collect();
    schemas.insert("Error".into(), error());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "exacta serve",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The shell that can be handed to an AI agent. Two tokens: an agent's runs and asks, a person's decides.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "agent": { "type": "http", "scheme": "bearer", "description": "an agent's token, or a person's" },
                "person": { "type": "http", "scheme": "bearer", "description": "a person's token" },
            },
        },
    })
}

fn described(operation: &Operation) -> Value {
    let scheme = if operation.whose == Whose::Agents { "agent" } else { "person" };
    let mut described = json!({
        "summary": operation.about,
        "operationId": name(operation),
        "security": [{ scheme: [] }],
        "parameters": parameters(operation),
        "responses": {
            "200": { "description": "done", "content": content(operation.answer) },
            "default": {
                "description": "what went wrong, with a code that never changes",
                "content": content("Error"),
            },
        },
    });
    if !operation.body.is_empty() {
        described["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": body(operation.body) } },
        });
    }
    described
}

/// `post_v1_sessions_id`
fn name(operation: &Operation) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let path: String = operation.path.chars().map(plain).collect();
    let parts = path.split('_').filter(|part| !part.is_empty());
    [operation.method].into_iter().chain(parts).collect::<Vec<_>>().join("_")
}

fn parameters(operation: &Operation) -> Vec<Value> {
    let one = |place: &str, name: &str, kind: &str, about: &str| {
        json!({
            "name": name, "in": place, "required": place == "path",
            "description": about, "schema": { "type": kind },
        })
    };
    let id = operation.path.contains("{id}").then(|| one("path", "id", "string", "which one"));
    let query = operation.query.iter().map(|(name, kind, about)| one("query", name, kind, about));
    id.into_iter().chain(query).collect()
}

fn body(words: &[Word]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, kind, about) in words {
        let plain = name.trim_end_matches('!');
        if plain != *name {
            required.push(plain);
        }
        // Without a type it may be any of several.
        let said = match *kind {
            "" => json!({ "description": about }),
            kind => json!({ "type": kind, "description": about }),
        };
        properties.insert(plain.to_owned(), said);
    }
    json!({
        "type": "object", "properties": properties,
        "required": required, "additionalProperties": false,
    })
}

fn content(answer: &str) -> Value {
    let reference = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    match (answer, answer.strip_suffix("[]")) {
        ("Events", _) => json!({ "text/event-stream": { "schema": { "type": "string" } } }),
        ("Text", _) => json!({ "text/plain": { "schema": { "type": "string" } } }),
        (_, Some(one)) => {
            json!({ "application/json": { "schema": { "type": "array", "items": reference(one) } } })
        }
        (one, None) => json!({ "application/json": { "schema": reference(one) } }),
    }
}

fn object(fields: &[(&str, &str)]) -> Value {
    let kind = |kind: &str| match (kind.strip_suffix("[]"), kind.strip_suffix('?')) {
        (Some(one), _) => json!({ "type": "array", "items": { "type": one } }),
        (_, Some(one)) => json!({ "type": [one, "null"] }),
        _ => json!({ "type": kind }),
    };
    let properties: Map<String, Value> =
        fields.iter().map(|(name, its)| ((*name).to_owned(), kind(its))).collect();
    let required: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn error() -> Value {
    let fields = &[("code", "string"), ("message", "string"), ("hint", "string")];
    json!({ "type": "object", "properties": { "error": object(fields) }, "required": ["error"] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// What the router has stands in the sources as text, and nowhere else.
    #[test]
    fn every_route_is_described() {
        let sources =
            [include_str!("routes.rs"), include_str!("people.rs"), include_str!("tasks.rs")]
                .concat();
        let routed: BTreeSet<&str> = sources
            .split(".route(\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .filter(|path| path.starts_with("/v1/") || *path == "/metrics")
            .collect();
        let described: BTreeSet<&str> = OPERATIONS.iter().map(|one| one.path).collect();
        assert_eq!(routed, described);
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let all = whole();
        let text = all.to_string();
        for reference in text.split("#/components/schemas/").skip(1) {
            let name = reference.split('"').next().unwrap_or_default();
            assert!(all["components"]["schemas"][name].is_object(), "{name}");
        }
        let ids: BTreeSet<String> = OPERATIONS.iter().map(name).collect();
        assert_eq!(ids.len(), OPERATIONS.len(), "each has a name of its own");
    }
}
