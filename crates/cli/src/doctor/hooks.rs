//! The hook of an agent, tried: the command line that is configured gets a call that has to be denied, and one that nobody can
//! read. A hook that lets either through is worse than none, because somebody relies on it.

#![expect(clippy::disallowed_methods, reason = "the hook is started as the agent would start it")]

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use exacta_jail::probe::Attempt;
use serde_json::{Value, json};

use super::promises::{Examined, State};
use crate::setup::claude_code::{self, Entry, GUARD};
use crate::setup::files;
use crate::{hook, launch};

/// A hook takes milliseconds, and gives up by itself.
const PATIENCE: Duration = Duration::from_secs(10);

/// A hook that was found, and what became of it.
pub struct Tried {
    pub file: PathBuf,
    pub command: String,
    pub state: State,
    pub problem: Option<String>,
    attempts: Vec<Attempt>,
}

/// Those of the project and of the person, in this order.
pub fn examine(root: &Path) -> Vec<Tried> {
    let mut files =
        vec![root.join(".claude/settings.json"), root.join(".claude/settings.local.json")];
    files.extend(launch::home().map(|home| home.join(".claude/settings.json")));
    files.dedup();
    let mut tried = Vec::new();
    for file in files {
        let Ok(Some(text)) = files::read(&file) else { continue };
        match serde_json::from_str::<Value>(&text) {
            Ok(settings) => {
                let entries = claude_code::entries(&settings);
                tried.extend(entries.into_iter().map(|entry| attempt(root, file.clone(), entry)));
            }
            // Perhaps there is no hook in it; but if one was meant, it is not there.
            Err(problem) if text.contains("exacta") => tried.push(Tried {
                file,
                command: String::new(),
                state: State::Broken,
                problem: Some(format!("the settings are not JSON: {problem}")),
                attempts: Vec::new(),
            }),
            Err(_) => {}
        }
    }
    tried
}

/// One more promise; the worst of all hooks stands for them. `None`: there is no hook to rely on.
pub fn promise(tried: &[Tried]) -> Option<Examined> {
    let worst = tried.iter().max_by_key(|tried| tried.state)?;
    let fix = "`exacta setup claude-code` shows how the hook should be";
    Some(Examined {
        name: "hook",
        text: "what the rules deny, the agent's own tools do not do",
        state: worst.state,
        by: tried.iter().map(|tried| tried.file.display().to_string()).collect(),
        attempts: worst.attempts.clone(),
        missing: worst.problem.clone(),
        remedy: (worst.state != State::Holds).then(|| fix.to_owned()),
    })
}

fn attempt(root: &Path, file: PathBuf, entry: Entry) -> Tried {
    // A line in a file of the project may be anybody's; one in the person's own home is theirs.
    let strange = file.starts_with(root).then(|| wrong_shape(&entry.command, root)).flatten();
    let (state, problem, attempts) = match strange {
        Some(problem) => (State::Broken, Some(problem), Vec::new()),
        None => outcome(root, &entry),
    };
    Tried { file, command: entry.command, state, problem, attempts }
}

/// What else a line would start is not started here.
fn wrong_shape(command: &str, root: &Path) -> Option<String> {
    let call = command.trim().strip_suffix(GUARD).unwrap_or(command).trim();
    let plain =
        |character: char| character.is_ascii_alphanumeric() || " _-./,:=@%+".contains(character);
    let program = Path::new(call.split(' ').next().unwrap_or_default());
    let is_exacta = program.file_name().is_some_and(|name| name == "exacta");
    if !call.chars().all(plain) || !is_exacta {
        return Some(format!(
            "not tried: it is more than a call of exacta (and perhaps `{GUARD}`)"
        ));
    }
    let named = call.contains('/') && program.components().count() > 1;
    let real = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    if named && (!program.is_absolute() || real.starts_with(root)) {
        return Some("not tried: its program is a file of the project".to_owned());
    }
    None
}

fn outcome(root: &Path, entry: &Entry) -> (State, Option<String>, Vec<Attempt>) {
    let denied = run(root, &entry.command, &must_be_denied(root));
    let blocked = run(root, &entry.command, "{");
    let attempts = vec![
        Attempt::new("hook-deny", 0, denied.words()),
        Attempt::new("hook-failure", 0, blocked.words()),
    ];
    let (state, problem) = if !denied.stops() {
        (State::Broken, Some(format!("the hook let it through: {}", denied.words())))
    } else if blocked != Answer::Blocked {
        let words = blocked.words();
        (State::Broken, Some(format!("a call that cannot be read is let through: {words}")))
    } else if let Some(flaw) = entry.flaw {
        (State::Broken, Some(flaw.to_owned()))
    } else if denied == Answer::Blocked {
        (
            State::Weaker,
            Some("it judges nothing, and blocks every call: is exacta on the PATH?".to_owned()),
        )
    } else if !asked_about_commands(&entry.matcher) {
        (
            State::Broken,
            Some(format!("it is not asked about commands: matcher {:?}", entry.matcher)),
        )
    } else if entry.timeout.is_some_and(|seconds| seconds <= hook::PATIENCE.as_secs_f64()) {
        let problem =
            "its timeout is shorter than the hook's own patience, and lets the call through";
        (State::Weaker, Some(problem.to_owned()))
    } else if !entry.blocks && !entry.command.trim_end().ends_with(GUARD) {
        let problem = format!(
            "if exacta cannot be started the call goes through: neither `{GUARD}` nor \"onFailure\": \"block\""
        );
        (State::Weaker, Some(problem))
    } else {
        (State::Holds, None)
    };
    (state, problem, attempts)
}

fn asked_about_commands(matcher: &str) -> bool {
    ["", "*", ".*"].contains(&matcher) || matcher.split('|').any(|tool| tool == "Bash")
}

/// A path that is nobody's: no rule of an operator opens it.
fn must_be_denied(root: &Path) -> String {
    let call = json!({
        "session_id": "exacta-doctor",
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
        "cwd": root.to_string_lossy(),
        "tool_name": "Bash",
        "tool_input": { "command": "cat /exacta-doctor-probe/secret" },
    });
    call.to_string()
}

#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Denied,
    /// Status 2.
    Blocked,
    /// Anything else, as it was.
    Other(String),
}

impl Answer {
    fn stops(&self) -> bool {
        matches!(self, Answer::Denied | Answer::Blocked)
    }

    fn words(&self) -> String {
        match self {
            Answer::Denied => "denied".to_owned(),
            Answer::Blocked => "blocked".to_owned(),
            Answer::Other(words) => words.clone(),
        }
    }
}

/// As the agent would: by a shell, in the project.
fn run(root: &Path, command: &str, input: &str) -> Answer {
    let spawned = Command::new("/bin/sh")
        .args(["-c", command])
        .current_dir(root)
        .env("CLAUDE_PROJECT_DIR", root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return Answer::Other(format!("it cannot be started: {error}")),
    };
    if let Some(mut stdin) = child.stdin.take() {
        // It may end without reading.
        let _ = stdin.write_all(input.as_bytes());
    }
    let Some(status) = ended(&mut child) else {
        let _it_may_have_ended = child.kill();
        let _ = child.wait();
        return Answer::Other(format!("no answer after {} s", PATIENCE.as_secs()));
    };
    let mut text = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        let _ = stdout.by_ref().take(1 << 16).read_to_string(&mut text);
    }
    let decision = serde_json::from_str::<Value>(&text).ok();
    let decision = decision.as_ref().and_then(|it| {
        it.pointer("/hookSpecificOutput/permissionDecision").and_then(Value::as_str)
    });
    match (status.code(), decision) {
        (Some(2), _) => Answer::Blocked,
        (Some(0), Some("deny")) => Answer::Denied,
        (Some(0), Some(other)) => Answer::Other(other.to_owned()),
        (Some(0), None) => Answer::Other("no decision".to_owned()),
        (Some(status), _) => Answer::Other(format!("status {status}")),
        (None, _) => Answer::Other("ended by a signal".to_owned()),
    }
}

/// Its status; `None`: it goes on.
fn ended(child: &mut Child) -> Option<ExitStatus> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(_) => return None,
        }
    }
    None
}
