//! The verbs that look at exacta and decide, as data: `shell`, `approvals`, `trust`, `init`, `doctor`, those about records,
//! `redact`, `serve`, `mcp` and `completions`.

use std::path::PathBuf;

use bstr::{BString, ByteSlice};
use exacta::approvals::Scope;

use super::audit::{self, AuditVerb, History};
use super::definition::{AGENTS, SHELLS, Verb};
use super::records::{self, RecordVerb};
use super::tasks::{self, TaskVerb};
use super::{McpInvocation, Reader, ServeInvocation, one_text, split_option};

#[derive(Debug)]
pub enum Manage {
    Shell(ShellVerb),
    Approvals(ApprovalsVerb),
    /// `exacta doctor [--json]`
    Doctor,
    /// `exacta trust [--yes] [--forget]`
    Trust {
        yes: bool,
        forget: bool,
    },
    /// `exacta init [--import FILE] [--force]`
    Init {
        import: Option<PathBuf>,
        force: bool,
    },
    Records(RecordVerb),
    Audit(AuditVerb),
    Task(TaskVerb),
    /// `exacta redact [--json]`
    Redact,
    Serve(ServeInvocation),
    Mcp(McpInvocation),
    /// `exacta completions SHELL`, by the name of the shell.
    Completions(&'static str),
    /// `exacta hook claude-code [--rewrite]`
    Hook {
        rewrite: bool,
    },
    Setup(SetupInvocation),
    /// `exacta man [VERB]`
    Man(Option<&'static Verb>),
}

/// `exacta setup AGENT [--write] [--yes] [--mcp] [--scope project|user]`
#[derive(Debug)]
pub struct SetupInvocation {
    pub agent: &'static str,
    pub write: bool,
    pub yes: bool,
    pub mcp: bool,
    /// `None`: where the agent's users usually have it.
    pub scope: Option<Scale>,
}

/// Whose configuration it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Project,
    User,
}

#[derive(Debug)]
pub enum ShellVerb {
    Status,
    Allowlist,
    Blocklist,
    Rules,
    History(History),
    Test(BString),
    /// One JSON string a line.
    TestBatch,
}

#[derive(Debug)]
pub enum ApprovalsVerb {
    List,
    Show {
        id: String,
        /// With what it would change.
        dry_run: bool,
    },
    Approve {
        id: String,
        scope: Scope,
    },
    Deny {
        id: String,
        never: bool,
    },
}

pub fn parse(verb: &Verb, reader: &mut Reader<'_>) -> Result<Manage, String> {
    let given = given(reader, verb)?;
    match verb.name {
        "shell" => shell(&given),
        "approvals" => approvals(&given),
        "doctor" => {
            given.no_words("doctor")?;
            Ok(Manage::Doctor)
        }
        "trust" => {
            given.no_words("trust")?;
            Ok(Manage::Trust { yes: given.has("yes"), forget: given.has("forget") })
        }
        "init" => {
            given.no_words("init")?;
            let import = given.value("import").map(PathBuf::from);
            Ok(Manage::Init { import, force: given.has("force") })
        }
        "redact" => {
            given.no_words("redact")?;
            Ok(Manage::Redact)
        }
        "serve" => {
            given.no_words("serve")?;
            Ok(Manage::Serve(serve(&given)))
        }
        "mcp" => {
            given.no_words("mcp")?;
            Ok(Manage::Mcp(McpInvocation {
                listen: given.value("listen").map(|text| text.to_string_lossy().into_owned()),
                projects: given.all("project").map(PathBuf::from).collect(),
            }))
        }
        "completions" => completions(&given),
        "hook" => hook(&given),
        "setup" => setup(&given).map(Manage::Setup),
        "man" => super::help::named(&given.words).map(|topic| Manage::Man(topic.verb)),
        "audit" => audit::parse(&given).map(Manage::Audit),
        "task" => tasks::parse(&given).map(Manage::Task),
        name => records::parse(name, &given).map(Manage::Records),
    }
}

fn serve(given: &Given) -> ServeInvocation {
    ServeInvocation {
        listen: given.value("listen").map(|text| text.to_string_lossy().into_owned()),
        socket: given.value("socket").map(PathBuf::from),
        projects: given.all("project").map(PathBuf::from).collect(),
        print_token: given.has("print-token"),
    }
}

fn hook(given: &Given) -> Result<Manage, String> {
    match given.words.as_slice() {
        [agent] if agent == "claude-code" => Ok(Manage::Hook { rewrite: given.has("rewrite") }),
        _ => Err("hook needs an agent: claude-code".into()),
    }
}

fn setup(given: &Given) -> Result<SetupInvocation, String> {
    let agent = match given.words.as_slice() {
        [word] => AGENTS.iter().find(|(agent, _)| word == agent),
        _ => None,
    };
    let (agent, _) =
        agent.ok_or("setup needs an agent: claude-code, codex, gemini, goose or opencode")?;
    let scope = given.value("scope").map(|scope| match scope.to_str() {
        Some("project") => Ok(Scale::Project),
        Some("user") => Ok(Scale::User),
        _ => Err(format!("--scope takes project or user, not {}", scope.display())),
    });
    let mcp = given.has("mcp");
    if mcp && *agent != "claude-code" {
        return Err(format!("--mcp is for claude-code; {agent} gets the MCP server anyway"));
    }
    let (write, yes) = (given.has("write"), given.has("yes"));
    Ok(SetupInvocation { agent, write, yes, mcp, scope: scope.transpose()? })
}

fn completions(given: &Given) -> Result<Manage, String> {
    let shell = match given.words.as_slice() {
        [word] => SHELLS.iter().find(|(shell, _)| word == shell),
        _ => None,
    };
    let (shell, _) = shell.ok_or("completions needs a shell: bash, zsh or fish")?;
    Ok(Manage::Completions(shell))
}

fn shell(given: &Given) -> Result<Manage, String> {
    let Some((verb, rest)) = given.words.split_first() else {
        return Err("shell needs one of: status, allowlist, blocklist, rules, history, test".into());
    };
    let verb = match (verb.as_bytes(), rest) {
        (b"status", []) => ShellVerb::Status,
        (b"allowlist", []) => ShellVerb::Allowlist,
        (b"blocklist", []) => ShellVerb::Blocklist,
        (b"rules", []) => ShellVerb::Rules,
        (b"history", words) => ShellVerb::History(audit::history(given, words)?),
        (b"test", []) if given.has("batch") => ShellVerb::TestBatch,
        (b"test", words) => ShellVerb::Test(
            one_text(words).ok_or("test needs a command: exacta shell test 'COMMAND'")?,
        ),
        (verb, _) => return Err(format!("unknown: shell {}", verb.as_bstr())),
    };
    Ok(Manage::Shell(verb))
}

fn approvals(given: &Given) -> Result<Manage, String> {
    let words: Vec<String> =
        given.words.iter().map(|word| word.to_str_lossy().into_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let scope = match (given.has("always"), given.has("session")) {
        (true, _) => Scope::Always,
        (_, true) => Scope::Session,
        _ => Scope::Once,
    };
    let verb = match words.as_slice() {
        [] | ["list"] => ApprovalsVerb::List,
        ["show", id] => ApprovalsVerb::Show { id: (*id).to_owned(), dry_run: given.has("dry-run") },
        ["approve", id] => ApprovalsVerb::Approve { id: (*id).to_owned(), scope },
        ["deny", id] => ApprovalsVerb::Deny { id: (*id).to_owned(), never: given.has("never") },
        _ => return Err("approvals: list, show ID, approve ID or deny ID".into()),
    };
    Ok(Manage::Approvals(verb))
}

/// What follows a verb.
pub struct Given {
    flags: Vec<String>,
    values: Vec<(String, std::ffi::OsString)>,
    pub words: Vec<BString>,
}

impl Given {
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|given| given == flag)
    }

    pub fn value(&self, name: &str) -> Option<std::ffi::OsString> {
        self.values.iter().find(|(given, _)| given == name).map(|(_, value)| value.clone())
    }

    /// The names of all that was given.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        let flags = self.flags.iter().map(String::as_str);
        flags.chain(self.values.iter().map(|(name, _)| name.as_str()))
    }

    /// Of an option that may be repeated.
    pub fn all(&self, name: &str) -> impl Iterator<Item = std::ffi::OsString> {
        self.values.iter().filter(move |(given, _)| given == name).map(|(_, value)| value.clone())
    }

    pub fn no_words(&self, verb: &str) -> Result<(), String> {
        match self.words.first() {
            None => Ok(()),
            Some(word) => Err(format!("{verb} takes no {word}")),
        }
    }
}

/// Options of the verb and of the operator in any place, up to `--` or to the words of a command, which stand for
/// themselves.
fn given(reader: &mut Reader<'_>, verb: &Verb) -> Result<Given, String> {
    let mut given = Given { flags: Vec::new(), values: Vec::new(), words: Vec::new() };
    while let Some(word) = reader.peek() {
        reader.advance();
        let in_command =
            given.words.len() > 1 && given.words.first().is_some_and(|it| it == "test");
        if word == "--" {
            given.words.extend(reader.rest.iter().map(|word| super::bytes(word)));
            reader.rest = &[];
            break;
        }
        let Some(text) = word.strip_prefix(b"--").filter(|_| !in_command) else {
            given.words.push(word);
            continue;
        };
        let text = text.to_str_lossy().into_owned();
        let (name, inline) = split_option(&text);
        if verb.takes_flag(name) {
            given.flags.push(name.to_owned());
        } else if verb.takes_value(name) {
            let value = reader.value(name, inline)?;
            given.values.push((name.to_owned(), value));
        } else {
            reader.global_option(&text)?;
        }
    }
    Ok(given)
}
