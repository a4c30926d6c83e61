//! The verbs and options of the command line as a table: what the parser takes and what completions offer.

/// A word in the place of the script.
#[derive(Debug)]
pub struct Verb {
    pub name: &'static str,
    pub about: &'static str,
    pub operands: Operands,
    pub flags: &'static [Flag],
    pub values: &'static [Valued],
    /// For exacta itself: taken, and never offered.
    pub hidden: &'static [&'static str],
    /// Behind which of its words a task is named.
    pub of_tasks: &'static [OfTask],
}

/// What stands behind a verb beside its options.
#[derive(Debug, Clone, Copy)]
pub enum Operands {
    Nothing,
    /// Anything: the words of a command.
    Command,
    /// One of these, with what it does.
    Words(&'static [(&'static str, &'static str)]),
    /// The id of a record in one of these states; of any if there are none.
    Record(&'static [&'static str]),
    /// The name of a verb.
    Verb,
}

/// A word behind which the id of a task is expected: in one of these states, or in any if there are none.
pub type OfTask = (&'static str, &'static [&'static str]);

/// `--name`
#[derive(Debug)]
pub struct Flag {
    pub name: &'static str,
    pub about: &'static str,
}

/// `--name VALUE`
#[derive(Debug)]
pub struct Valued {
    pub name: &'static str,
    pub about: &'static str,
    pub value: Value,
}

#[derive(Debug, Clone, Copy)]
pub enum Value {
    Directory,
    File,
    Text,
    OneOf(&'static [&'static str]),
}

pub const SHELLS: &[(&str, &str)] =
    &[("bash", "for bash"), ("zsh", "for zsh"), ("fish", "for fish")];

/// Whose configuration `setup` knows.
pub const AGENTS: &[(&str, &str)] = &[
    ("claude-code", "a hook in its settings"),
    ("codex", "an MCP server in its config.toml"),
    ("gemini", "an MCP server in its settings"),
    ("goose", "an extension in its config.yaml"),
    ("opencode", "an MCP server in its opencode.json"),
];

const fn flag(name: &'static str, about: &'static str) -> Flag {
    Flag { name, about }
}

const fn valued(name: &'static str, value: Value, about: &'static str) -> Valued {
    Valued { name, about, value }
}

/// Options of the operator, in front of a verb or behind it.
pub const GLOBAL_FLAGS: &[Flag] = &[
    flag("json", "report as JSON"),
    flag("inherit-env", "give the script the caller's whole environment"),
    flag("help", "show help"),
    flag("version", "show the version"),
];

pub const GLOBAL_VALUES: &[Valued] = &[
    valued("root", Value::Directory, "the project"),
    valued("profile", Value::OneOf(&["safe", "dev", "full-auto"]), "how much is asked"),
    valued("config", Value::File, "the operator's rules"),
    valued(
        "min-isolation",
        Value::OneOf(&["full", "namespaces", "landlock", "seccomp", "limits"]),
        "what programs need around them",
    ),
    valued("tools", Value::Directory, "a directory of your own programs"),
    valued("env", Value::Text, "give the script a variable"),
];

const DECISIONS: Value = Value::OneOf(&["allow", "confirm", "deny"]);

/// Of `shell history`.
const FILTERS: &[Valued] = &[
    valued("limit", Value::Text, "with history: only so many"),
    valued("since", Value::Text, "with history: from 10m, 2h, 7d ago, a day or a time on"),
    valued("until", Value::Text, "with history: before that"),
    valued("session", Value::Text, "with history: of one session"),
    valued("decision", DECISIONS, "with history: with this decision"),
    valued("grep", Value::Text, "with history: with this in the command"),
];

const AUDIT_VALUES: &[Valued] = &[
    valued("format", Value::OneOf(&["jsonl", "csv", "cef", "ocsf"]), "with export"),
    valued("head", Value::Text, "with verify: a line that was kept elsewhere"),
    valued("limit", Value::Text, "with tail, export: only so many"),
    valued("since", Value::Text, "with tail, export: from 10m, 2h, 7d ago, a day or a time on"),
    valued("until", Value::Text, "with tail, export: before that"),
    valued("session", Value::Text, "with tail, export: of one session"),
    valued("decision", DECISIONS, "with tail, export: with this decision"),
    valued("grep", Value::Text, "with tail, export: with this in the command"),
];

const TURN_FLAGS: &[Flag] = &[
    flag("force", "go on where somebody has changed something; their version is kept"),
    flag("dry-run", "show what would be done, and do nothing"),
];

const TURN_VALUES: &[Valued] = &[valued("last", Value::Text, "so many requests")];

const TASK_FLAGS: &[Flag] = &[
    flag("rollback-on-failure", "with run: undo what was done when it fails"),
    flag("step-by-step", "with run: every step that needs a yes is decided on its own"),
    flag("no-wait", "with run, approve, retry: leave a question on file, and end"),
    flag("yes", "with run, approve, retry: answer every question yes"),
    flag("no-input", "with run, approve, retry: answer every question no"),
    flag("follow", "with log: go on until the task ends"),
    flag("no-run", "with approve, retry: let somebody else go on with it"),
    flag("force", "with retry: also where a step may have taken effect"),
];

const TASK_VALUES: &[Valued] = &[
    valued("output", Value::File, "with plan, schema: write it into this file"),
    valued("goal", Value::Text, "with run: what is to be done; a planner makes the plan"),
    valued("agent", Value::Text, "with run, list: the agent that it is done for"),
    valued("wait", Value::Text, "with run, approve, retry: wait so long for an answer"),
    valued("step", Value::Text, "with approve: this step only"),
    valued(
        "state",
        Value::OneOf(&[
            "pending",
            "planning",
            "validating",
            "pending_approval",
            "running",
            "evaluating",
            "completed",
            "failed",
            "cancelled",
            "needs_review",
        ]),
        "with list: in this state",
    ),
    valued("limit", Value::Text, "with list: only so many"),
];

const TASK_WORDS: &[(&str, &str)] = &[
    ("run", "run a plan, or go on with a task"),
    ("list", "tasks, the newest first"),
    ("show", "one of them: steps, what was expected and found, the way it came"),
    ("log", "what it ran and what that wrote"),
    ("approve", "yes, and go on with it"),
    ("reject", "no"),
    ("cancel", "end it, whoever runs it"),
    ("retry", "begin anew with what is not done"),
    ("plan", "a plan of commands for a goal; nothing runs"),
    ("schema", "the JSON Schema of plans"),
];

const OF_TASKS: &[OfTask] = &[
    ("run", &["pending", "pending_approval", "running", "evaluating"]),
    ("show", &[]),
    ("log", &[]),
    ("approve", &["pending_approval"]),
    ("reject", &["pending_approval"]),
    (
        "cancel",
        &["pending", "planning", "validating", "pending_approval", "running", "needs_review"],
    ),
    ("retry", &["failed", "cancelled", "needs_review"]),
];

const fn verb(name: &'static str, operands: Operands, about: &'static str) -> Verb {
    Verb { name, about, operands, flags: &[], values: &[], hidden: &[], of_tasks: &[] }
}

pub const VERBS: &[Verb] = &[
    Verb {
        flags: &[
            flag("clear-env", "start with no variables but PATH, HOME and PWD"),
            flag("strict", "one plain command"),
            flag("yes", "answer every question yes"),
            flag("no-input", "refuse what would need a person"),
            flag("dry-run", "show what it would change, and change nothing"),
            flag("hold", "keep what it changes until it is committed or discarded"),
            flag("direct", "let programs write without undo"),
        ],
        values: &[
            valued("cwd", Value::Directory, "start there"),
            valued("timeout", Value::Text, "end it after 30s, 500ms, 2m"),
            valued(
                "wait",
                Value::Text,
                "wait so long until somebody has decided what needs a person",
            ),
            valued("goal", Value::Text, "what it is for, as whoever decides is told"),
            valued(
                "session",
                Value::Text,
                "go on with the directory, variables and functions of this name",
            ),
            valued("max-output", Value::Text, "keep the head and the tail of longer output"),
        ],
        ..verb("run", Operands::Command, "run one request and report on it")
    },
    Verb {
        flags: &[
            flag("batch", "with test: one JSON string a line"),
            flag("failed", "with history: what has not ended well"),
        ],
        values: FILTERS,
        ..verb(
            "shell",
            Operands::Words(&[
                ("status", "what is in force"),
                ("allowlist", "what is allowed"),
                ("blocklist", "what is denied"),
                ("rules", "all rules"),
                ("history", "what was run here, and what was not"),
                ("test", "would it be allowed?"),
            ]),
            "what the judge would say, and why",
        )
    },
    Verb {
        flags: &[flag("print-token", "print the address of the page with its token")],
        values: &[
            valued("listen", Value::Text, "127.0.0.1:PORT"),
            valued("socket", Value::File, "a Unix socket instead"),
            valued("project", Value::Directory, "a project to serve; may be repeated"),
        ],
        ..verb("serve", Operands::Nothing, "a daemon for people and agents: HTTP and a page")
    },
    Verb {
        values: &[
            valued("listen", Value::Text, "127.0.0.1:PORT, for streamable HTTP"),
            valued("project", Value::Directory, "a project to serve; may be repeated"),
        ],
        ..verb(
            "mcp",
            Operands::Nothing,
            "the tools for an agent: an MCP server on standard streams",
        )
    },
    Verb {
        flags: &[
            flag("always", "with approve: from now on"),
            flag("session", "with approve: for the session"),
            flag("never", "with deny: from now on"),
            flag("dry-run", "with show: run it apart, and show what it would change"),
        ],
        ..verb(
            "approvals",
            Operands::Words(&[
                ("list", "what waits"),
                ("show", "one of them"),
                ("approve", "yes"),
                ("deny", "no"),
            ]),
            "decide what waits for a person",
        )
    },
    Verb {
        flags: &[flag("yes", "without a question"), flag("forget", "trust it no longer")],
        ..verb("trust", Operands::Nothing, "let .exacta.toml loosen the rules, as it is now")
    },
    Verb {
        flags: &[flag("force", "replace the file that is there")],
        values: &[valued("import", Value::File, "take rules over, or from claude-code")],
        ..verb("init", Operands::Nothing, "write a first .exacta.toml")
    },
    verb("doctor", Operands::Nothing, "what holds programs on this machine, tried out"),
    Verb {
        flags: TURN_FLAGS,
        values: TURN_VALUES,
        ..verb("undo", Operands::Record(&["applied"]), "take the last request back, or another one")
    },
    Verb {
        flags: TURN_FLAGS,
        values: TURN_VALUES,
        ..verb("redo", Operands::Record(&["undone"]), "make again what was undone")
    },
    Verb {
        values: &[valued("limit", Value::Text, "only so many")],
        hidden: &["ids"],
        ..verb("log", Operands::Nothing, "what was recorded, newest first")
    },
    verb("diff", Operands::Record(&[]), "what a request changed, or would change"),
    verb("commit", Operands::Record(&["held"]), "apply what is held"),
    verb("discard", Operands::Record(&["held"]), "drop what is held"),
    Verb {
        flags: &[
            flag("follow", "with tail: go on"),
            flag("failed", "with tail, export: only what has not ended well"),
            flag("dry-run", "with prune: say what would go, and keep it"),
        ],
        values: AUDIT_VALUES,
        ..verb(
            "audit",
            Operands::Words(&[
                ("verify", "is the record what was written?"),
                ("head", "a line to keep elsewhere"),
                ("tail", "the last requests"),
                ("export", "for other systems"),
                ("prune", "remove what is older or more than the limits say"),
            ]),
            "the record of what was done",
        )
    },
    Verb {
        flags: TASK_FLAGS,
        values: TASK_VALUES,
        hidden: &["ids"],
        of_tasks: OF_TASKS,
        ..verb("task", Operands::Words(TASK_WORDS), "work as a plan of commands")
    },
    verb("redact", Operands::Nothing, "standard input without its secrets"),
    Verb {
        flags: &[flag(
            "rewrite",
            "let exacta run the commands: jailed, and undone with `exacta undo`",
        )],
        ..verb(
            "hook",
            Operands::Words(&[("claude-code", "a PreToolUse call on standard input")]),
            "judge what an agent is about to do with tools of its own",
        )
    },
    Verb {
        flags: &[
            flag("write", "change the file, after showing what would change"),
            flag("yes", "with --write: without a question"),
            flag("mcp", "for claude-code: the MCP server as well"),
        ],
        values: &[valued(
            "scope",
            Value::OneOf(&["project", "user"]),
            "whose file: that of this project, or yours for all of them",
        )],
        ..verb("setup", Operands::Words(AGENTS), "the configuration that makes an agent use exacta")
    },
    verb("completions", Operands::Words(SHELLS), "a script that completes all this"),
    verb("man", Operands::Verb, "a manual page: exacta man run | man -l -"),
    verb("help", Operands::Verb, "what a verb does, with its options and examples"),
];

/// The verb of this name.
pub fn find(name: &[u8]) -> Option<&'static Verb> {
    VERBS.iter().find(|verb| verb.name.as_bytes() == name)
}

impl Verb {
    pub fn takes_flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag.name == name) || self.hidden.contains(&name)
    }

    pub fn takes_value(&self, name: &str) -> bool {
        self.values.iter().any(|valued| valued.name == name)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::invocation::parse;
    use crate::invocation::tasks::TAKEN;

    /// The first that takes this option.
    fn taking(option: &str) -> &'static str {
        let name = option.trim_start_matches('-');
        let mut all = TAKEN.iter();
        let found = all.find(|(_, taken)| taken.contains(&name));
        found.map_or("schema", |(word, _)| *word)
    }

    #[test]
    fn every_word_of_task_is_known() {
        let words: Vec<&str> = TASK_WORDS.iter().map(|(word, _)| *word).collect();
        assert!(words.iter().all(|word| TAKEN.iter().any(|(name, _)| name == word)));
        assert_eq!(words.len(), TAKEN.len());
        assert!(OF_TASKS.iter().all(|(word, _)| words.contains(word)));
        let names: Vec<&str> = exacta::tasks::State::ALL.iter().map(|state| state.name()).collect();
        let offered = TASK_VALUES.iter().find(|valued| valued.name == "state").unwrap();
        assert!(matches!(offered.value, Value::OneOf(offered) if offered == names));
    }

    /// What completions offer is what is taken.
    #[test]
    fn every_option_of_the_table_is_taken() {
        for verb in VERBS {
            let flags = verb.flags.iter().chain(GLOBAL_FLAGS);
            let mut lines: Vec<Vec<String>> =
                flags.map(|flag| vec![format!("--{}", flag.name)]).collect();
            for valued in verb.values.iter().chain(GLOBAL_VALUES) {
                let value = match (valued.value, valued.name) {
                    (Value::OneOf(names), _) => names[0],
                    (_, "env") => "A=b",
                    _ => "2",
                };
                lines.push(vec![format!("--{}", valued.name), value.to_owned()]);
            }
            for line in lines {
                // Help and version are asked for before a verb.
                let global = ["--help", "--version"].contains(&line[0].as_str());
                let operand = match (verb.operands, verb.name) {
                    (Operands::Record(_), _) if line[0] != "--last" => Some("7"),
                    (Operands::Command, _) => Some("true"),
                    (Operands::Words(_), "completions") => Some("bash"),
                    (Operands::Words(_), "hook" | "setup") => Some("claude-code"),
                    (Operands::Words(_), "shell") => Some("status"),
                    (Operands::Words(_), "audit") => Some("head"),
                    (Operands::Words(_), "task") => Some(taking(&line[0])),
                    _ => None,
                };
                let mut words = vec![OsString::from(verb.name)];
                words.extend(line.iter().map(OsString::from));
                words.extend(operand.map(OsString::from));
                if operand.is_some_and(|word| {
                    matches!(word, "plan" | "run" | "log" | "approve" | "retry")
                }) && line[0] != "--goal"
                {
                    words.push("7".into());
                }
                if global {
                    words.remove(0);
                }
                parse(&words).unwrap_or_else(|problem| panic!("{words:?}: {problem}"));
            }
        }
    }
}
