//! `exacta approvals …`: questions that nobody was there to answer.

use std::fmt::Write as _;

use exacta::approvals::{DecideError, Decided, Pending, PendingStore, State};
use exacta::audit::Trail;
use exacta::audit::store::Answer;
use exacta::commands_file::{CommandsFile, Entered};
use serde_json::json;

use super::deeds::{self, Told};
use super::failed;
use crate::exit::Exit;
use crate::invocation::{ApprovalsVerb, Global};
use crate::launch::{self, Launch};
use crate::table::{Look, table};
use crate::terminal::visible;

pub fn perform(global: &Global, verb: &ApprovalsVerb) -> Exit {
    let launch = match Launch::new(global) {
        Ok(launch) => launch,
        Err(problem) => return failed(&problem),
    };
    let store = PendingStore::of(&launch.options.root);
    match verb {
        ApprovalsVerb::List => told(list(global, &store)).0,
        ApprovalsVerb::Show(id) => told(shown(global, &store, id)).0,
        ApprovalsVerb::Approve { id, scope } => {
            let words = ["approvals", "approve", id, &format!("--{scope}")].map(str::to_owned);
            let plain = if *scope == "once" { &words[..3] } else { &words };
            deeds::recorded(global, "approve", plain, || told(approve(&launch, &store, id, scope)))
        }
        ApprovalsVerb::Deny { id, never } => {
            let words = ["approvals", "deny", id, "--never"].map(str::to_owned);
            let plain = if *never { &words } else { &words[..3] };
            deeds::recorded(global, "deny", plain, || told(deny(&launch, &store, id, *never)))
        }
    }
}

fn told(done: Done) -> (Exit, Told) {
    let mut told = Told::default();
    let exit = match done {
        Ok(text) => {
            told.say(&text);
            Exit::Success
        }
        Err(problem) => told.failed(&problem),
    };
    (exit, told)
}

type Done = Result<String, DecideError>;

fn list(global: &Global, store: &PendingStore) -> Done {
    let all = store.list()?;
    if global.json {
        return Ok(format!("{}\n", json!(all)));
    }
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    if rows.is_empty() {
        return Ok("nothing waits for an approval\n".into());
    }
    let look = Look::of_output(launch::no_colour());
    Ok(table(look, &["ID", "STATE", "COMMAND", "WHY"], &rows))
}

fn row(pending: &Pending) -> Vec<String> {
    let why = pending.asks.first().map(|asked| asked.reason.clone()).unwrap_or_default();
    vec![pending.id.clone(), state(pending.state), pending.command.clone(), why]
}

fn state(state: State) -> String {
    format!("{state:?}").to_lowercase()
}

fn shown(global: &Global, store: &PendingStore, id: &str) -> Done {
    Ok(show(global, &store.get(id)?))
}

fn show(global: &Global, pending: &Pending) -> String {
    if global.json {
        return format!("{}\n", json!(pending));
    }
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{} ({})", pending.id, state(pending.state));
    for line in pending.command.lines() {
        let _ = writeln!(text, "  | {}", visible(line));
    }
    let _ = writeln!(text, "  in  {}", visible(&pending.directory));
    for asked in &pending.asks {
        let (command, reason) = (visible(&asked.command), visible(&asked.reason));
        let _ = writeln!(text, "  why {command}: {reason} [{}]", visible(&asked.rule));
    }
    if let Some(always) = &pending.always {
        let _ = writeln!(
            text,
            "  --always adds to {}, allowed: {always:?}",
            exacta::commands_file::NAME
        );
    }
    text
}

fn approve(launch: &Launch, store: &PendingStore, id: &str, scope: &str) -> Done {
    let by = by();
    let decided = Decided { state: State::Approved, scope: Some(scope), by: &by };
    let pending = store.decide(id, &decided, |pending| {
        note(launch, pending, &decided)?;
        if scope == "always" { always(launch, pending) } else { Ok(()) }
    })?;
    Ok(format!("approved {}: run the same command again\n", pending.id))
}

/// Who decides.
fn by() -> String {
    format!("{} on the command line", deeds::person())
}

/// A decision that nobody could look up later is none.
fn note(launch: &Launch, pending: &Pending, decided: &Decided<'_>) -> Result<(), String> {
    let answer = Answer {
        time: exacta::audit::store::now(),
        approval: pending.id.clone(),
        command: pending.command.as_str().into(),
        by: decided.by.to_owned(),
        answer: state(decided.state),
        scope: decided.scope.unwrap_or_default().to_owned(),
    };
    let trail = Trail::of(&launch.options.root, launch::keys(), launch.configuration.audit);
    trail.note(answer).map_err(|error| format!("the decision cannot be recorded: {error}"))
}

/// Stores exactly what `show` showed.
fn always(launch: &Launch, pending: &Pending) -> Result<(), String> {
    let Some(text) = &pending.always else {
        return Err("always is not offered for this: what it runs can be anything".into());
    };
    let file = CommandsFile::of(&launch.options.root);
    match file.allow(text, &*launch.options.trust) {
        Ok(Entered::Allowed) => Ok(()),
        Ok(Entered::Blocked) => {
            Err(format!("{text:?} is blocked in {}", exacta::commands_file::NAME))
        }
        Err(problem) => Err(problem.to_string()),
    }
}

fn deny(launch: &Launch, store: &PendingStore, id: &str, never: bool) -> Done {
    let by = by();
    let decided = Decided { state: State::Denied, scope: None, by: &by };
    let pending = store.decide(id, &decided, |pending| {
        note(launch, pending, &decided)?;
        if !never {
            return Ok(());
        }
        if pending.redacted {
            return Err(
                "the command has a secret in it, which no list is to keep: deny it once".to_owned()
            );
        }
        let file = CommandsFile::of(&launch.options.root);
        file.block(&pending.command, &*launch.options.trust).map_err(|error| error.to_string())
    })?;
    Ok(format!("denied {}\n", pending.id))
}
