//! `exacta approvals …`: questions that nobody was there to answer.

use std::fmt::Write as _;

use exacta::approvals::{DecideError, Desk, Pending, PendingStore, Ruling, Scope, Tried, Who};
use serde_json::json;

use super::deeds::{self, Told};
use super::{failed, preview};
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
    let desk = launch.desk();
    match verb {
        ApprovalsVerb::List => told(list(global, &desk.store)).0,
        ApprovalsVerb::Show { id, dry_run: true } => told(tried(global, launch, id)).0,
        ApprovalsVerb::Show { id, .. } => told(shown(global, &desk.store, id)).0,
        ApprovalsVerb::Approve { id, scope } => {
            let words = ["approvals", "approve", id, &format!("--{}", scope.name())];
            let words = words.map(str::to_owned);
            let plain = if *scope == Scope::Once { &words[..3] } else { &words };
            deeds::recorded(global, "approve", plain, || told(approve(&desk, id, *scope)))
        }
        ApprovalsVerb::Deny { id, never } => {
            let words = ["approvals", "deny", id, "--never"].map(str::to_owned);
            let plain = if *never { &words } else { &words[..3] };
            deeds::recorded(global, "deny", plain, || told(deny(&desk, id, *never)))
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
    vec![pending.id.clone(), pending.state.name().to_owned(), pending.command.clone(), why]
}

fn shown(global: &Global, store: &PendingStore, id: &str) -> Done {
    Ok(show(global, &store.get(id)?))
}

/// With what came of a try.
fn tried(global: &Global, launch: Launch, id: &str) -> Done {
    let mut pending = launch.desk().store.get(id)?;
    let tried = preview::of(launch, &pending);
    pending.tried = Some(tried.map_err(|why| DecideError::First(why.to_string()))?);
    Ok(show(global, &pending))
}

fn show(global: &Global, pending: &Pending) -> String {
    if global.json {
        return format!("{}\n", json!(pending));
    }
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{} ({})", pending.id, pending.state.name());
    for (label, said) in [("who", &pending.agent), ("for", &pending.goal)] {
        if !said.is_empty() {
            let _ = writeln!(text, "  {label} {}", visible(said));
        }
    }
    for (number, step) in pending.plan.iter().enumerate() {
        let _ = writeln!(text, "  {:>3} {}", number + 1, visible(step));
    }
    for line in pending.command.lines() {
        let _ = writeln!(text, "  | {}", visible(line));
    }
    let _ = writeln!(text, "  in  {}", visible(&pending.directory));
    for asked in &pending.asks {
        let (command, reason) = (visible(&asked.command), visible(&asked.reason));
        let _ = writeln!(text, "  why {command}: {reason} [{}]", visible(&asked.rule));
    }
    if let Some(lasting) = &pending.irreversible {
        let _ = writeln!(text, "  cannot be undone: {}", visible(lasting));
    }
    if let Some(tried) = &pending.tried {
        result(&mut text, tried);
    }
    if let Some(task) = &pending.task {
        let _ = writeln!(text, "  it is about task {0}: exacta task show {0}", visible(task));
    }
    if let (Some(by), Some(door)) = (&pending.by, &pending.door) {
        let _ = writeln!(text, "  decided by {} ({})", visible(by), visible(door));
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

/// What came of a trial, every line marked: none of it can pass for a line of ours.
pub(crate) fn result(text: &mut String, tried: &Tried) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  it has run apart, with exit code {}", tried.exit);
    if tried.paths == 0 {
        text.push_str("  it would change nothing in the project\n");
    } else {
        let _ = writeln!(text, "  it would change {} paths:", tried.paths);
    }
    for (mark, said) in [(':', &tried.changes), ('>', &tried.stdout), ('!', &tried.stderr)] {
        for line in said.lines() {
            let _ = writeln!(text, "  {mark} {}", visible(line));
        }
    }
}

fn approve(desk: &Desk, id: &str, scope: Scope) -> Done {
    let pending = desk.decide(id, Ruling::Approve(scope), &person())?;
    if let Some(task) = &pending.task {
        return Ok(format!("approved {}: exacta task run {task} goes on with it\n", pending.id));
    }
    Ok(match pending.tried.map(|tried| tried.held) {
        None => format!("approved {}: run the same command again\n", pending.id),
        Some(None) => format!("approved {}: it changes nothing\n", pending.id),
        Some(Some(held)) => format!(
            "approved {}: what it changes is in the project; exacta undo {held} takes it back\n",
            pending.id
        ),
    })
}

fn deny(desk: &Desk, id: &str, never: bool) -> Done {
    let ruling = if never { Ruling::Never } else { Ruling::Deny };
    let pending = desk.decide(id, ruling, &person())?;
    Ok(format!("denied {}\n", pending.id))
}

/// Whoever types this.
fn person() -> Who {
    Who { door: "command line", name: deeds::person().to_string() }
}
