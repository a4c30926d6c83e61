//! What the table of verbs has no room for: how each is called, a longer text, examples, exit status. Help and manual pages
//! are made of both. A table, and nothing else.

/// One verb at length.
pub struct Explained {
    pub verb: &'static str,
    /// Behind `exacta`, each with what it is for; that may be empty.
    pub usage: &'static [(&'static str, &'static str)],
    /// Paragraphs with an empty line between them.
    pub text: &'static str,
    pub examples: &'static [(&'static str, &'static str)],
    pub exits: &'static [(&'static str, &'static str)],
}

/// Of what runs a script.
pub const RUN_EXITS: &[(&str, &str)] = &[
    ("124", "timed out"),
    ("125", "exacta could not run it"),
    ("126", "refused by a rule or a person, or not executable"),
    ("127", "not found"),
    ("128+n", "ended by signal n"),
];

const RECORD_EXITS: &[(&str, &str)] =
    &[("0", "done"), ("1", "not as things are; nothing was done"), ("125", "it failed")];

const USUAL_EXITS: &[(&str, &str)] = &[("0", "done"), ("2", "wrong use"), ("125", "it failed")];

/// Of this verb.
pub fn find(verb: &str) -> Option<&'static Explained> {
    EXPLAINED.iter().find(|explained| explained.verb == verb)
}

pub const EXPLAINED: &[Explained] = &[
    Explained {
        verb: "run",
        usage: &[("run [OPTIONS] -- COMMAND", "one text, or words that stand for themselves")],
        text: "Runs one request: the whole text is judged before anything of it runs, and every command once more with its real \
               words. What needs a person is asked on the terminal; without one it is filed (`exacta approvals`), and the same \
               command run again after a yes uses it. What the request changes is one record for `exacta undo`.\n\n\
               Standard input is empty. Without --json output goes straight through; with --json there is one object at the end, \
               and a line on a terminal says that it still runs.",
        examples: &[
            ("exacta run -- 'npm test | tail -20'", "a text with operators"),
            ("exacta run --json --timeout 2m -- cargo test", "for a program that reads the report"),
            ("exacta run --dry-run -- ./migrate.sh", "what would it change?"),
            ("exacta run --hold -- make fmt", "look with `exacta diff`, then commit or discard"),
        ],
        exits: &[
            ("n", "that of the command"),
            ("124", "timed out"),
            ("125", "exacta could not run it"),
            ("126", "refused, not approved, or not executable"),
            ("127", "not found"),
            ("128+n", "ended by signal n"),
        ],
    },
    Explained {
        verb: "shell",
        usage: &[
            ("shell test [--json] COMMAND", "would it be allowed? nothing is run"),
            ("shell test --json --batch", "one JSON string a line in, one verdict a line out"),
            ("shell status [--json]", "profile, rules, isolation, limits"),
            ("shell allowlist | blocklist | rules", "the rules with their files and lines"),
            (
                "shell history [ID] [FILTERS]",
                "what was asked here, newest first; one of them as a whole",
            ),
        ],
        text: "Looks at the judge and changes nothing. `test` shows each step of the decision with the rule that made it.",
        examples: &[
            ("exacta shell test 'git push --force'", "why does it ask?"),
            ("exacta shell history --decision deny --since 1d", "what was refused since yesterday"),
        ],
        exits: &[
            ("0", "done; of test: allow"),
            ("2", "wrong use"),
            ("3", "of test: confirm"),
            ("4", "of test: deny"),
            ("125", "it failed"),
        ],
    },
    Explained {
        verb: "serve",
        usage: &[(
            "serve [--listen 127.0.0.1:7300 | --socket PATH] [--project DIR]... [--print-token]",
            "",
        )],
        text: "HTTP for agents and a page for people, on this machine only. docs/serve.md lists what it answers.",
        examples: &[(
            "exacta serve --project . --print-token",
            "the page, with its token in the address",
        )],
        exits: USUAL_EXITS,
    },
    Explained {
        verb: "mcp",
        usage: &[("mcp", "")],
        text: "Serves exacta to an agent over the Model Context Protocol. `exacta setup` writes it into an agent's configuration.",
        examples: &[],
        exits: USUAL_EXITS,
    },
    Explained {
        verb: "approvals",
        usage: &[
            ("approvals [list]", "what waits"),
            (
                "approvals show ID [--dry-run]",
                "one of them, with all that asks, and what it would change",
            ),
            (
                "approvals approve ID [--session | --always]",
                "yes: once, for the session, or from now on",
            ),
            ("approvals deny ID [--never]", "no, or never"),
        ],
        text: "Decides what was filed because nobody was there to be asked. An answer is bound to the text, the directory, the \
               changed variables and the version of the rules: whoever changes one of them is asked again.\n\n\
               With --dry-run the command runs apart, if it can change nothing but the project, and what it changed and said is \
               shown and dropped. It begins anew: variables and functions of the session that asked are missing.",
        examples: &[("exacta approvals approve 4f1a", "the first characters of an id are enough")],
        exits: USUAL_EXITS,
    },
    Explained {
        verb: "trust",
        usage: &[("trust [--yes | --forget]", "")],
        text: "A project's own .exacta.toml can only tighten the rules until a person trusts exactly its content. This shows what it \
               would loosen, and asks.",
        examples: &[
            ("exacta trust", "look, and answer"),
            ("exacta trust --forget", "take it back"),
        ],
        exits: USUAL_EXITS,
    },
    Explained {
        verb: "init",
        usage: &[("init [--import FILE|claude-code] [--force]", "")],
        text: "Writes a commented .exacta.toml to begin with. With --import, permissions of another agent's settings become rules; \
               those that allow count after `exacta trust`.",
        examples: &[("exacta init --import claude-code", "from .claude/settings.json")],
        exits: USUAL_EXITS,
    },
    Explained {
        verb: "doctor",
        usage: &[("doctor [--json]", "")],
        text: "Tries in a real jail what must not work there, and says which promises hold, by what, and what this machine lacks. \
               Where the settings of Claude Code name exacta as a hook, exactly that command line is run with a call that has to be \
               denied, and with one that cannot be read.",
        examples: &[("exacta doctor", "a table"), ("exacta doctor --json", "for programs")],
        exits: &[
            ("0", "all of it"),
            ("1", "something is broken that should hold"),
            ("10-13", "a lower rung: namespaces, landlock, seccomp, limits"),
            ("125", "no jail at all"),
        ],
    },
    Explained {
        verb: "undo",
        usage: &[("undo [ID | --last N] [--force] [--dry-run] [--json]", "")],
        text: "Takes back what the last request changed, or another one, or several. Only what the record lists is touched. Where \
               somebody has changed something since, it refuses and says where; --force goes on and keeps their version.",
        examples: &[
            ("exacta undo", "the last request"),
            ("exacta undo --last 3 --dry-run", "what would be taken back?"),
        ],
        exits: RECORD_EXITS,
    },
    Explained {
        verb: "redo",
        usage: &[("redo [ID | --last N] [--force] [--dry-run] [--json]", "")],
        text: "Makes again what was undone.",
        examples: &[("exacta redo", "what was undone last")],
        exits: RECORD_EXITS,
    },
    Explained {
        verb: "log",
        usage: &[("log [--limit N] [--json]", "")],
        text: "The records of what was changed, newest first: id, state, when, what was asked.",
        examples: &[("exacta log --limit 5", "the last five")],
        exits: RECORD_EXITS,
    },
    Explained {
        verb: "diff",
        usage: &[("diff [ID] [--json]", "")],
        text: "What a request changed, or would change if it is held; the last one without an id.",
        examples: &[("exacta diff 12", "a patch for people")],
        exits: RECORD_EXITS,
    },
    Explained {
        verb: "commit",
        usage: &[("commit ID [--json]", "")],
        text: "Applies what `exacta run --hold` has kept.",
        examples: &[("exacta commit 12", "")],
        exits: RECORD_EXITS,
    },
    Explained {
        verb: "discard",
        usage: &[("discard ID [--json]", "")],
        text: "Drops what `exacta run --hold` has kept.",
        examples: &[("exacta discard 12", "")],
        exits: RECORD_EXITS,
    },
    Explained {
        verb: "audit",
        usage: &[
            ("audit verify [--head LINE]", "is the record what was written?"),
            ("audit head", "a signed line, to be kept elsewhere"),
            ("audit tail [-f] [FILTERS]", "the last requests, and those that come"),
            ("audit export [--format jsonl|csv|cef|ocsf] [FILTERS]", "for other systems"),
            ("audit prune [--dry-run]", "remove what is older or more than the limits say"),
        ],
        text: "The record of what was asked, decided and done: a chain of hashes, signed, and anchored outside of the project.",
        examples: &[
            ("exacta audit verify", "has somebody rewritten it?"),
            ("exacta audit export --format csv --since 7d > week.csv", "the last week"),
        ],
        exits: &[
            ("0", "done"),
            ("1", "of verify: it is not what was written"),
            ("2", "wrong use"),
            ("125", "it failed"),
        ],
    },
    Explained {
        verb: "task",
        usage: &[
            (
                "task run FILE|- [--agent NAME] [--rollback-on-failure] [--step-by-step]",
                "run a plan, JSON or TOML",
            ),
            ("task run --goal DESCRIPTION", "the same with a plan that a planner makes"),
            ("task run ID [--wait TIME | --no-wait | --yes | --no-input]", "go on with a task"),
            ("task list [--state STATE] [--agent NAME] [--limit N]", "tasks, the newest first"),
            ("task show ID", "its steps, what was expected and found, attempts, the way it came"),
            ("task log ID [-f]", "what it ran and what that wrote; -f until it ends"),
            (
                "task approve ID [--step N] [--no-run]",
                "yes, to all or to one step, and go on with it",
            ),
            ("task reject ID", "no"),
            ("task cancel ID", "end it, whoever runs it"),
            ("task retry ID [--force] [--no-run]", "begin anew with what is not done"),
            (
                "task plan DESCRIPTION [-o FILE] [--json]",
                "a plan for it, as TOML or JSON; nothing runs",
            ),
            ("task schema [-o FILE]", "the JSON Schema of plans"),
        ],
        text: "Work as a plan: commands in their order, each with what is expected of it. docs/tasks.md has it at length.\n\n\
               run looks at all steps before anything runs. What is denied fails the task; what cannot be undone halts it: you are \
               asked on the terminal, and without one the question is on file for any door (task approve, approvals, the page). The \
               steps then run one after the other, each in the jail and as one record for undo, and are held against what was \
               expected. A step that failed is tried again where that is safe. An interrupt ends the task in order, a second one \
               ends the process at once. What a process that died has left is brought in order by the next one, and never run twice \
               without need.\n\n\
               plan asks a planner: the endpoint or the program of [planner] in your configuration, else the one whose key is in the \
               environment (ANTHROPIC_API_KEY, OPENAI_API_KEY). It is told the goal, names of files, the beginning of the README and \
               the names of scripts, without secrets. The plan is on standard output; what the rules say of its steps is on standard \
               error.",
        examples: &[
            ("exacta task run examples/tidy.toml", "a plan from a file"),
            ("exacta task run --goal 'make the tests pass' --rollback-on-failure", "by a planner"),
            ("exacta task plan 'make the tests pass' -o plan.toml", "look at it, change it"),
            ("exacta task log -f 0199", "the first characters of an id are enough"),
            ("exacta task schema > plan.schema.json", "for an editor"),
        ],
        exits: &[
            ("0", "completed; of the others: done"),
            ("1", "failed, cancelled or to be looked at; there is no plan; not as things are"),
            ("2", "wrong use, or a text that is no plan"),
            ("3", "waits for an approval"),
            ("4", "a rule or a person said no"),
            ("125", "exacta could not"),
            ("128+n", "of run: cancelled by signal n"),
        ],
    },
    Explained {
        verb: "redact",
        usage: &[("redact [--json]", "")],
        text: "Copies standard input to standard output without its secrets. With --json their kinds and counts are on standard error.",
        examples: &[("kubectl logs pod | exacta redact", "before somebody else reads it")],
        exits: USUAL_EXITS,
    },
    Explained {
        verb: "hook",
        usage: &[(
            "hook claude-code [--rewrite]",
            "a PreToolUse call on standard input, a decision on standard output",
        )],
        text: "Judges a call of a tool before Claude Code makes it, by the rules of the project that the call's directory is in. \
               Denied: what the rules deny, and files outside of the project. Asked: what needs a person, and files that run code \
               later. Allowed: what changes nothing. About the rest, and about other tools, it has no opinion: the agent's own \
               settings decide.\n\n\
               With --rewrite a command that is not denied becomes `exacta -c '...'`: it runs in the jail, exacta asks what needs a \
               person when the words are known (`exacta approvals`), and `exacta undo` takes it back.\n\n\
               Whatever goes wrong (no JSON, a call of an unknown shape, a broken configuration, five seconds without a decision) \
               blocks the call: status 2, with the reason on standard error.",
        examples: &[
            ("exacta setup claude-code --write", "puts it into the settings"),
            ("exacta doctor", "tries the hook that is configured"),
        ],
        exits: &[("0", "a decision, or no opinion"), ("2", "blocked: it could not be judged")],
    },
    Explained {
        verb: "setup",
        usage: &[(
            "setup claude-code|codex|gemini|goose|opencode [--scope project|user] [--write [--yes]] [--mcp]",
            "",
        )],
        text: "Prints what makes an agent use exacta, and for which file. With --write the change is shown and, on a terminal, asked \
               about; without a terminal --yes is needed. What is in the file stays as it is, the old content is kept beside it as \
               .bak, and what is there already is not added again. A file that cannot be read as what it should be is not touched.",
        examples: &[
            ("exacta setup claude-code", "look at it"),
            ("exacta setup claude-code --write --scope user", "the hook, for all projects"),
            ("exacta setup codex --write --yes", "without a question"),
        ],
        exits: &[
            ("0", "done, or nothing to do"),
            ("1", "not written: no yes, or a file that has to be changed by hand"),
            ("2", "wrong use"),
            ("125", "it failed"),
        ],
    },
    Explained {
        verb: "completions",
        usage: &[("completions bash|zsh|fish", "")],
        text: "A script for the shell in which you type: verbs, options, values, ids of records.",
        examples: &[
            ("source <(exacta completions bash)", "for this shell"),
            ("exacta completions fish | source", "for fish"),
        ],
        exits: USUAL_EXITS,
    },
    Explained {
        verb: "man",
        usage: &[("man [VERB]", "")],
        text: "Prints a manual page, of exacta or of one verb.",
        examples: &[
            ("exacta man run | man -l -", "read it"),
            ("exacta man > ~/.local/share/man/man1/exacta.1", "keep it"),
        ],
        exits: USUAL_EXITS,
    },
    Explained {
        verb: "help",
        usage: &[("help [VERB [WORD]]", ""), ("VERB --help", "")],
        text: "What a verb does, with its options, examples and exit status; without a verb all of them.",
        examples: &[("exacta help shell test", "one word of a verb")],
        exits: USUAL_EXITS,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invocation::definition::{Operands, VERBS};

    #[test]
    fn every_verb_is_explained() {
        for verb in VERBS {
            let explained = find(verb.name).unwrap_or_else(|| panic!("{} is not", verb.name));
            assert!(!explained.usage.is_empty() && !explained.text.is_empty(), "{}", verb.name);
            assert!(!explained.exits.is_empty(), "{}", verb.name);
            let usage: Vec<&str> = explained.usage.iter().map(|(usage, _)| *usage).collect();
            let usage = usage.join("\n");
            if let Operands::Words(words) = verb.operands {
                for (word, _) in words {
                    assert!(usage.contains(word), "{}: {word}", verb.name);
                }
            }
        }
    }
}
