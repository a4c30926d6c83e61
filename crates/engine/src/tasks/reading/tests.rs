//! What is read, and what is said of what cannot be.

use std::time::Duration;

use super::*;
use crate::tasks::Retry;

const JSON: &str = r#"{
  "goal": "the tests pass",
  "agent": "builder",
  "steps": [
    {"command": "npm test", "why": "to know", "timeout": 1.5, "idempotent": true},
    {
      "command": "npm run build",
      "expect": {
        "exit_code": 1,
        "stdout_contains": "done",
        "stdout_matches": ["^ok$", "[0-9]+"],
        "files_exist": "dist/index.js",
        "files_absent": ["dist/tmp"],
        "changed_only": ["dist/**"]
      },
      "timeout": "2m",
      "retry": {"attempts": 1, "backoff": "500ms"}
    }
  ]
}"#;

const TOML: &str = r#"
goal = "the tests pass"
agent = "builder"

[[steps]]
command = "npm test"
why = "to know"
timeout = 1.5
idempotent = true

[[steps]]
command = "npm run build"
timeout = "2m"
retry = { attempts = 1, backoff = "500ms" }
[steps.expect]
exit_code = 1
stdout_contains = "done"
stdout_matches = ["^ok$", "[0-9]+"]
files_exist = "dist/index.js"
files_absent = ["dist/tmp"]
changed_only = ["dist/**"]
"#;

#[test]
fn both_formats_say_the_same() {
    let plan = Plan::read(JSON, Format::Json).unwrap();
    assert_eq!(plan, Plan::read(TOML, Format::Toml).unwrap());
    assert_eq!(plan.agent, "builder");
    let [first, second] = plan.steps.as_slice() else { panic!("two steps") };
    assert_eq!(first.timeout, Some(Duration::from_millis(1_500)));
    assert_eq!(first.retry, Retry::default());
    assert!(first.idempotent && !second.idempotent);
    assert_eq!(second.timeout, Some(Duration::from_secs(120)));
    assert_eq!(second.retry, Retry { attempts: 1, backoff: Duration::from_millis(500) });
    assert_eq!(second.expect.stdout_contains, ["done"]);
    assert_eq!(second.expect.changed_only, Some(vec!["dist/**".to_owned()]));
}

/// Some editors write one.
#[test]
fn a_byte_order_mark_is_not_seen() {
    for text in [JSON, TOML] {
        let marked = format!("\u{feff}{text}");
        let format = Format::of_text(&marked);
        assert_eq!(Plan::read(&marked, format), Plan::read(text, format));
    }
    // What is wrong is where people see it.
    let error = Plan::read("\u{feff}{\"goal\": 1}", Format::Json).unwrap_err();
    assert_eq!((error.place.line, error.place.column), (1, 1));
    let error = Plan::read("\u{feff}{\"goal\": 1, \"steps\": []}", Format::Json).unwrap_err();
    assert_eq!((error.place.line, error.place.column), (1, 10));
    // One in the midst of a text is a letter of it.
    assert!(Plan::read("{\"goal\": \u{feff}1}", Format::Json).is_err());
}

/// What models write that must write every field.
#[test]
fn null_is_as_good_as_absent() {
    let text = r#"{"goal": "g", "agent": null, "steps": [{"command": "ls", "why": null, "expect":
        {"exit_code": null, "stdout_contains": null, "changed_only": null}, "timeout": null, "retry": null,
        "idempotent": null}]}"#;
    let short = r#"{"goal": "g", "steps": [{"command": "ls"}]}"#;
    assert_eq!(Plan::read(text, Format::Json), Plan::read(short, Format::Json));
}

#[test]
fn nothing_changed_is_an_expectation() {
    let text = r#"{"goal": "g", "steps": [{"command": "ls", "expect": {"changed_only": []}}]}"#;
    let plan = Plan::read(text, Format::Json).unwrap();
    assert_eq!(plan.steps[0].expect.changed_only, Some(Vec::new()));
}

/// A step of JSON with these fields beside its command.
fn step(fields: &str) -> String {
    format!("{{\"goal\": \"g\", \"steps\": [\n{{\"command\": \"ls\", {fields}}}]}}")
}

#[test]
fn what_is_wrong_is_pointed_at() {
    for (text, place, field, message, hint) in [
        ("{\"goal\": \"g\"}", (1, 1), "", "there is no `steps`", "at least one"),
        ("{\"steps\": [{\"command\": \"ls\"}]}", (1, 1), "", "there is no `goal`", "achieved"),
        ("{\"goal\": \" \", \"steps\": []}", (1, 10), "goal", "this is empty", "achieved"),
        ("{\"goal\": 1, \"steps\": []}", (1, 10), "goal", "this is a number, not a text", ""),
        ("{\"goal\": \"g\", \"steps\": []}", (1, 24), "steps", "there are no steps", "at least"),
        ("{\"goal\": \"g\", \"steps\": {}}", (1, 24), "steps", "not a list of steps", ""),
        (
            "{\"goal\": \"g\",\n \"stesp\": []}",
            (2, 2),
            "",
            "unknown field `stesp`",
            "is `steps` meant?",
        ),
        ("{\"goal\": \"g\"\n \"steps\": []}", (2, 2), "", "expected `,` or `}`", "this is no JSON"),
        (
            "{\"goal\": \"g\", \"goal\": \"h\"}",
            (1, 15),
            "",
            "`goal` is there twice",
            "take one out",
        ),
        ("[]", (1, 1), "", "this is a list, not a table", "with goal, agent, steps"),
        (
            "{\"goal\": \"g\", \"steps\": [\"ls\"]}",
            (1, 25),
            "steps[0]",
            "this is a text, not a table",
            "",
        ),
        ("{\"goal\": \"g\", \"steps\": [{}]}", (1, 25), "steps[0]", "there is no `command`", ""),
        (
            "{\"goal\": \"g\", \"steps\": [{\"command\": \"\"}]}",
            (1, 37),
            "steps[0].command",
            "empty",
            "",
        ),
        (
            "{\"goal\": \"g\", \"steps\": [{\"command\": \"ls |\"}]}",
            (1, 37),
            "steps[0].command",
            "syntax error",
            "shell",
        ),
        (
            "{\"goal\": \"g\", \"steps\": [{\"command\": \"echo 'x\"}]}",
            (1, 37),
            "steps[0].command",
            "unexpected EOF",
            "shell",
        ),
    ] {
        wrong(text, place, field, message, hint);
    }
}

/// Fields of a step; column, field, message and hint of what is wrong with them.
const STEPS: &[(&str, u32, &str, &str, &str)] = &[
    ("\"timeout\": 0", 30, "timeout", "0 is no time at all", "90s"),
    ("\"timeout\": -1", 30, "timeout", "-1 is no length of time", "90s"),
    ("\"timeout\": \"soon\"", 30, "timeout", "\"soon\" is no length of time", "90s"),
    ("\"timeout\": []", 30, "timeout", "this is a list, not a length of time", ""),
    ("\"idempotent\": \"yes\"", 33, "idempotent", "not true or false", ""),
    ("\"retry\": {\"attempts\": 101}", 41, "retry.attempts", "101 cannot be", "from 0 to 100"),
    ("\"retry\": {\"attempts\": 1.5}", 41, "retry.attempts", "1.5 cannot be", "from 0 to 100"),
    ("\"retry\": {\"backof\": 1}", 29, "retry", "unknown field `backof`", "is `backoff` meant?"),
    ("\"expect\": {\"exit_code\": 256}", 43, "expect.exit_code", "256 cannot be", "from 0 to 255"),
    ("\"expect\": {\"stdout_contains\": \"\"}", 49, "expect.stdout_contains", "in every text", ""),
    (
        "\"expect\": {\"stdout_contains\": 1}",
        49,
        "expect.stdout_contains",
        "a text or a list of texts",
        "",
    ),
    (
        "\"expect\": {\"stdout_matches\": [\"a\", \"(\"]}",
        54,
        "expect.stdout_matches[1]",
        "no regular expression: unclosed group",
        "regular",
    ),
    (
        "\"expect\": {\"stderr_matches\": \"*\"}",
        48,
        "expect.stderr_matches",
        "no regular expression",
        "regular",
    ),
    (
        "\"expect\": {\"files_exist\": \"/etc/passwd\"}",
        45,
        "expect.files_exist",
        "root of the project",
        "path",
    ),
    (
        "\"expect\": {\"files_absent\": [\"../x\"]}",
        47,
        "expect.files_absent[0]",
        "leads out",
        "path",
    ),
    (
        "\"expect\": {\"changed_only\": [\"a[\"]}",
        47,
        "expect.changed_only[0]",
        "without its `]`",
        "patterns",
    ),
    (
        "\"expect\": {\"stdout_contain\": \"x\"}",
        30,
        "expect",
        "unknown field `stdout_contain`",
        "is `stdout_contains` meant?",
    ),
    ("\"args\": []", 19, "", "unknown field `args`", "known here: command"),
];

#[test]
fn what_is_wrong_in_a_step_is_pointed_at() {
    for (fields, column, field, message, hint) in STEPS {
        let field = match *field {
            "" => "steps[0]".to_owned(),
            field => format!("steps[0].{field}"),
        };
        wrong(&step(fields), (2, *column), &field, message, hint);
    }
}

fn wrong(text: &str, place: (u32, u32), field: &str, message: &str, hint: &str) {
    let error = Plan::read(text, Format::Json).unwrap_err();
    assert_eq!((error.place.line, error.place.column), place, "{text}\n{error}");
    assert_eq!(error.field, field, "{text}\n{error}");
    assert!(error.place.message.contains(message), "{text}\n{error}");
    assert!(error.place.hint.contains(hint), "{text}\n{error}");
}

#[test]
fn toml_is_pointed_at_too() {
    for (text, place, field, message) in [
        ("goal = \"g\"\nsteps = []\n", (2, 9), "steps", "there are no steps"),
        (
            "goal = \"g\"\n[[steps]]\ncommand = \"ls (\"\n",
            (3, 11),
            "steps[0].command",
            "syntax error",
        ),
        (
            "goal = \"g\"\n[[steps]]\ncommand = \"ls\"\ntimeout = 1979-05-27\n",
            (4, 11),
            "steps[0].timeout",
            "this is a date",
        ),
        ("goal = \"g\"\n[[step]]\ncommand = \"ls\"\n", (2, 3), "", "unknown field `step`"),
        ("goal = \"g\n", (1, 10), "", "invalid basic string"),
        ("goal = 0x10\nsteps = []\n", (1, 8), "goal", "this is a number"),
    ] {
        let error = Plan::read(text, Format::Toml).unwrap_err();
        assert_eq!((error.place.line, error.place.column), place, "{text}\n{error}");
        assert_eq!(error.field, field, "{text}\n{error}");
        assert!(error.place.message.contains(message), "{text}\n{error}");
    }
}

#[test]
fn the_place_is_shown() {
    let error = Plan::read("{\"goal\": \"ä\",\n  \"steps\": 1}", Format::Json).unwrap_err();
    assert_eq!(
        error.named("plan.json").to_string(),
        "plan.json:2:12: steps: this is a number, not a list of steps\n  |\n2 |   \"steps\": 1}\n  |            ^"
    );
}

#[test]
fn a_plan_has_an_end() {
    let steps = |count: usize| vec!["{\"command\": \"ls\"}"; count].join(",");
    let plan = |count: usize| format!("{{\"goal\": \"g\", \"steps\": [{}]}}", steps(count));
    assert!(Plan::read(&plan(MOST_STEPS), Format::Json).is_ok());
    let error = Plan::read(&plan(MOST_STEPS + 1), Format::Json).unwrap_err();
    assert!(error.place.message.contains("101 steps are too many"), "{error}");
    let long = format!("{{\"goal\": \"{}\"}}", "g".repeat(LARGEST));
    let error = Plan::read(&long, Format::Json).unwrap_err();
    assert!(error.place.message.contains("too long"), "{error}");
}

/// Every beginning of a plan, and a few that only somebody who means harm would write.
#[test]
fn no_text_is_too_much() {
    for (text, format) in [(JSON, Format::Json), (TOML, Format::Toml)] {
        for end in 0..text.len() {
            let _any = Plan::read(text.get(..end).unwrap_or_default(), format);
        }
    }
    for text in [
        "[".repeat(100_000),
        format!("{{\"goal\": {}", "[".repeat(100_000)),
        format!("{{\"goal\": {}{}}}", "[".repeat(100), "]".repeat(100)),
        format!("{{\"goal\": \"g\", \"steps\": [{{\"command\": \"{}\"}}]}}", "(".repeat(100_000)),
        "{\"goal\": 1e999}".to_owned(),
        "{\"go\\u0061l\": 1}".to_owned(),
        "\u{feff}{}".to_owned(),
        "goal = 99999999999999999999".to_owned(),
        "goal = inf".to_owned(),
        format!("a = {}", "[".repeat(10_000)),
    ] {
        assert!(Plan::read(&text, Format::of_text(&text)).is_err());
    }
}

#[test]
fn formats_are_told_by_names_and_beginnings() {
    assert_eq!(Format::of_name("a/b.JSON"), Some(Format::Json));
    assert_eq!(Format::of_name("plan.toml"), Some(Format::Toml));
    assert_eq!(Format::of_name("plan"), None);
    assert_eq!(Format::of_text(" \n{"), Format::Json);
    assert_eq!(Format::of_text("goal = 1"), Format::Toml);
}
