//! `exacta -c`, `exacta FILE`, `exacta -s`: as bash is invoked.

use std::sync::Arc;

use bstr::{BString, ByteSlice};
use exacta::approvals::Unattended;
use exacta::gate::Face;
use exacta::{Request, Session};
use exacta_shell::builtins::Run;
use exacta_shell::shell::Shell;
use exacta_shell::status::{ExitStatus, Stop};

use super::{failed, not_recorded};
use crate::exit::Exit;
use crate::invocation::{Global, ScriptInvocation, Source};
use crate::launch::Launch;
use crate::signals::Interrupts;
use crate::{foresight, output, streams};

pub fn perform(global: &Global, script: ScriptInvocation) -> Exit {
    // First of all: what comes after this is the time that it saves.
    if let Source::Text(text) = &script.source {
        foresight::prepare(text);
    }
    let mut options = match Launch::new(global) {
        Ok(launch) => launch.session(Face::Shell, Arc::new(Unattended)),
        Err(problem) => return failed(&problem),
    };
    if let Some(name) = &script.name {
        options.name = name.clone();
    }
    options.arguments.clone_from(&script.arguments);
    let text = match &script.source {
        Source::Text(text) => Some(text.clone()),
        Source::File(path) => match exacta::project::read_operator_file(path) {
            Ok(text) => Some(text),
            Err(error) => {
                output::error(&format!(
                    "bash: {}: {}\n",
                    path.display(),
                    exacta_shell::errno::text(&error)
                ));
                return Exit::NotFound;
            }
        },
        Source::Stdin => None,
    };
    let mut session = match Session::new(options) {
        Ok(session) => session,
        Err(problem) => return failed(&problem),
    };
    if let Err(problem) = apply_options(&mut session, &script) {
        output::error(&format!("bash: {problem}\n"));
        return Exit::Usage;
    }
    let interrupts = match Interrupts::of_script(session.prepare()) {
        Ok(interrupts) => interrupts,
        Err(error) => return failed(&format!("cannot listen for signals: {error}")),
    };
    session.shell_mut().roomy = has_room();
    let request = streams::own(Request::new(text.clone().unwrap_or_default()));
    let outcome = if text.is_some() {
        session.run_script(&request)
    } else {
        session.run_from_input(&request)
    };
    if let Err(error) = session.leave() {
        return not_recorded(&error);
    }
    match (outcome.stopped, interrupts.received()) {
        (Some(Stop::Cancelled), Some(signal)) => Exit::Script(ExitStatus::from_signal(signal)),
        (Some(Stop::TimedOut), _) => Exit::TimedOut,
        _ => Exit::Script(outcome.status),
    }
}

/// Whether the stack of the first thread, which this is, can grow far beyond what the outermost text needs and the arguments take.
fn has_room() -> bool {
    const ENOUGH: u64 = 8 << 20;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Stack);
    limit.current.is_none_or(|bytes| bytes >= ENOUGH)
}

/// `-e`, `-o pipefail`, `-O extglob` from the command line.
pub fn apply_options(session: &mut Session, script: &ScriptInvocation) -> Result<(), String> {
    let shell = session.shell_mut();
    shell.options.command_string = matches!(script.source, Source::Text(_));
    shell.options.from_stdin = script.source == Source::Stdin;
    shell.options.login_shell = script.login;
    if script.interactive {
        shell.become_interactive();
        shell.startup_file.clone_from(&script.startup);
    }
    for words in script.set.chunk_by(|one, _| one.ends_with(b"o")) {
        run_builtin(shell, "set", words)?;
    }
    for (on, name) in &script.shopt {
        run_builtin(shell, "shopt", &[if *on { "-s" } else { "-u" }.into(), name.clone()])?;
    }
    Ok(())
}

/// Options of the command line are what `set` and `shopt` would take.
fn run_builtin(shell: &mut Shell, name: &str, words: &[BString]) -> Result<(), String> {
    let run = exacta_shell::builtins::find(name.as_bytes()).map(|command| command.run);
    let Some(Run::Builtin { run, .. }) = run else { return Ok(()) };
    match run(shell, words) {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("{}: invalid option name", bstr::join(" ", words).as_bstr())),
    }
}
