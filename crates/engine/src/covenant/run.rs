//! A permitted command in a session of its own, and how it ended in the words of S1.

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::builtins::{self, Run};
use exacta_shell::filesystem::{Follow, OpenFile};
use exacta_shell::pipe::Bytes;
use exacta_shell::status::{LimitKind, Stop};

use super::ExecuteOptions;
use super::answer::{RunError, RunErrorKind, RunResult, RunValue};
use super::check::{Checked, Tier};
use super::output::{Combined, TooLarge};
use crate::approvals::{Answer, Standard};
use crate::background::Cancellation;
use crate::gate::Judgement;
use crate::session::{Outcome, Request, Session, SessionOptions};

pub(super) fn run(
    checked: &Checked,
    options: &ExecuteOptions,
    cancellation: &Cancellation,
) -> RunResult {
    let mut settings = SessionOptions::new(&checked.root);
    settings.environment.clone_from(&options.environment);
    settings.limits.wall_time = Some(options.time_limit);
    settings.trust = Arc::clone(&options.trust);
    settings.judgement = Some(approved(&checked.judgement));
    let mut session = Session::over_opened(checked.opened.clone(), settings)
        .map_err(|problem| RunError::internal(&problem))?;
    session.start_in(checked.directory.as_bstr());
    if let Some(name) = checked.words.first()
        && !is_tool_of_tier_one(checked.tier, name)
        && is_missing(&mut session, name.as_bytes().as_bstr())
    {
        return Err(not_found(name));
    }
    let combined = Arc::new(Combined::new(options.output_limit));
    let output = Arc::clone(&combined) as Arc<dyn OpenFile>;
    let request = Request::new(text(checked)).with_streams(
        Arc::new(Bytes::new(Vec::new())),
        Arc::clone(&output),
        output,
    );
    cancellation.watch(session.prepare());
    let outcome = session.run_script(&request);
    ended(checked, &outcome, combined.take())
}

/// A person has said yes to the command as a whole, or it needs no yes: whatever it starts is part of that. A deny is
/// still a deny.
fn approved(judgement: &Judgement) -> Judgement {
    let approver = Standard { answer: Answer::Once, name: "the question about the whole command" };
    Judgement { approver: Arc::new(approver), ..judgement.clone() }
}

/// The words, each of them quoted: nothing in them means anything to a shell. A tool of tier 1 is named by its path,
/// so that no file of the project can stand in for it.
fn text(checked: &Checked) -> BString {
    let mut text = String::new();
    for (index, word) in checked.words.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        if index == 0 && is_tool_of_tier_one(checked.tier, word) {
            text.push_str("/usr/bin/");
        }
        text.push_str(&crate::executor::quoted(word));
    }
    text.into()
}

fn is_tool_of_tier_one(tier: Tier, name: &str) -> bool {
    let command = builtins::find(name.as_bytes());
    tier == Tier::One && command.is_some_and(|command| matches!(command.run, Run::Tool(_)))
}

/// Asked beforehand: afterwards 127 may as well be the command's own.
fn is_missing(session: &mut Session, name: &BStr) -> bool {
    let shell = session.shell_mut();
    if name.contains(&b'/') {
        let path = shell.absolute(name);
        return shell.host.files().metadata(path.as_bstr(), Follow::Yes).is_err();
    }
    shell.find_builtin(name).is_none() && !shell.is_program(name)
}

fn not_found(name: &str) -> RunError {
    RunError::new(RunErrorKind::NotFound, format!("Command failed: {name}: command not found"))
}

fn ended(checked: &Checked, outcome: &Outcome, output: Result<Vec<u8>, TooLarge>) -> RunResult {
    match &outcome.stopped {
        None | Some(Stop::Killed(_)) => {}
        Some(stop) => return Err(stopped(checked, stop)),
    }
    let Ok(output) = output else {
        return Err(RunError::new(RunErrorKind::TooLarge, "Output too large"));
    };
    let output = String::from_utf8_lossy(&output).into_owned();
    let code = outcome.status.0;
    if code == 0 {
        return Ok(RunValue { output });
    }
    let error = format!("Command failed with exit code {code}");
    Err(RunError { error, output: Some(output), kind: RunErrorKind::Failed(code) })
}

/// Ended from outside.
fn stopped(checked: &Checked, stop: &Stop) -> RunError {
    match stop {
        Stop::TimedOut => RunError::new(RunErrorKind::TimedOut, "Command timed out"),
        Stop::Cancelled => RunError::new(RunErrorKind::Cancelled, "Command cancelled"),
        Stop::Limit(LimitKind::OutputBytes, _) => {
            RunError::new(RunErrorKind::TooLarge, "Output too large")
        }
        Stop::Refused(refusal) => RunError::new(
            RunErrorKind::Blocked,
            format!("Command blocked: {}\n{}", checked.command, refusal.reason),
        ),
        Stop::Limit(..) | Stop::Killed(_) | Stop::Unrecorded(_) => {
            RunError::new(RunErrorKind::Internal, format!("Command failed: {stop}"))
        }
    }
}
