//! `exacta approvals …`: questions that nobody was there to answer.

use std::fmt::Write as _;

use exacta::approvals::{Pending, PendingStore, State};
use exacta::commands_file::{CommandsFile, Entered};
use serde_json::json;

use super::failed;
use crate::exit::Exit;
use crate::invocation::{ApprovalsVerb, Global};
use crate::launch::{self, Launch};
use crate::output;
use crate::table::{Look, table};
use crate::terminal::visible;

pub fn perform(global: &Global, verb: &ApprovalsVerb) -> Exit {
    let launch = match Launch::new(global) {
        Ok(launch) => launch,
        Err(problem) => return failed(&problem),
    };
    let store = PendingStore::of(&launch.options.root);
    let done = match verb {
        ApprovalsVerb::List => list(global, &store),
        ApprovalsVerb::Show(id) => store.get(id).map(|pending| show(global, &pending)),
        ApprovalsVerb::Approve { id, scope } => match approve(&launch, &store, id, scope) {
            Ok(decided) => decided,
            Err(problem) => return failed(&problem),
        },
        ApprovalsVerb::Deny { id, never } => match deny(&launch, &store, id, *never) {
            Ok(decided) => decided,
            Err(problem) => return failed(&problem),
        },
    };
    match done {
        Ok(text) => {
            output::print(&text);
            Exit::Success
        }
        Err(problem) => failed(&problem),
    }
}

type Done = Result<String, exacta::approvals::PendingError>;

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
        let _ =
            writeln!(text, "  why {}: {} [{}]", visible(&asked.command), asked.reason, asked.rule);
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

fn approve(launch: &Launch, store: &PendingStore, id: &str, scope: &str) -> Result<Done, String> {
    if scope == "always" {
        let pending = store.get(id).map_err(|problem| problem.to_string())?;
        let Some(text) = &pending.always else {
            return Err("always is not offered for this: what it runs can be anything".into());
        };
        let file = CommandsFile::of(&launch.options.root);
        match file.allow(text, &*launch.options.trust) {
            Ok(Entered::Allowed) => {}
            Ok(Entered::Blocked) => {
                return Err(format!("{text:?} is blocked in {}", exacta::commands_file::NAME));
            }
            Err(problem) => return Err(problem.to_string()),
        }
    }
    let decided = store.decide(id, State::Approved, scope, "command line");
    Ok(decided.map(|pending| format!("approved {}: run the same command again\n", pending.id)))
}

fn deny(launch: &Launch, store: &PendingStore, id: &str, never: bool) -> Result<Done, String> {
    if never {
        let pending = store.get(id).map_err(|problem| problem.to_string())?;
        let file = CommandsFile::of(&launch.options.root);
        file.block(&pending.command, &*launch.options.trust).map_err(|error| error.to_string())?;
    }
    let decided = store.decide(id, State::Denied, "", "command line");
    Ok(decided.map(|pending| format!("denied {}\n", pending.id)))
}
