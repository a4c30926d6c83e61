//! `exacta log`: what was recorded, newest first.

use exacta::records::{Listed, Records, State, Tally, Zone};
use serde_json::{Value, json};

use super::Asked;
use crate::exit::Exit;
use crate::output;
use crate::table::painted_table;
use crate::terminal::visible;

/// A longer command is cut, also in a pipe.
const LONGEST: usize = 200;
/// As far as a completion needs it.
const DESCRIPTION: usize = 60;

pub fn perform(asked: &Asked, records: &Records, limit: Option<usize>) -> Exit {
    let all = match records.list(limit) {
        Ok(all) => all,
        Err(error) => return asked.refused("list the records", &error),
    };
    asked.progress.clear();
    if asked.json {
        let all: Vec<Value> = all.iter().map(in_json).collect();
        output::print(&format!("{}\n", Value::Array(all)));
        return Exit::Success;
    }
    if all.is_empty() {
        output::error("nothing was recorded in this project\n");
        return Exit::Success;
    }
    let zone = Zone::of_operator();
    let rows: Vec<Vec<String>> = all.iter().map(|listed| row(listed, &zone)).collect();
    let headings = ["ID", "TIME", "STATE", "PATHS", "EXIT", "COMMAND"];
    output::print(&painted_table(asked.look, &headings, &rows, &colour));
    for held in all.iter().filter(|listed| listed.state == State::Held) {
        let id = held.id;
        output::error(&format!(
            "hint: {id} is held: exacta diff {id}, then exacta commit {id} or exacta discard {id}\n"
        ));
    }
    Exit::Success
}

/// One line each: id, state, command. For completions, so nothing is ever said on standard error.
pub fn ids(records: &Records) -> Exit {
    let Ok(all) = records.list(None) else { return Exit::Declined };
    let line = |listed: &Listed| {
        let command = shortened(&listed.command.to_string(), DESCRIPTION);
        format!("{}\t{}\t{}\n", listed.id, listed.state, visible(&command))
    };
    output::print(&all.iter().map(line).collect::<String>());
    Exit::Success
}

fn row(listed: &Listed, zone: &Zone) -> Vec<String> {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    vec![
        listed.id.to_string(),
        or_dash(listed.time.map(|seconds| zone.show(seconds))),
        listed.state.to_string(),
        or_dash(listed.tally.map(paths)),
        or_dash(listed.exit.map(|exit| exit.to_string())),
        shortened(&listed.command.to_string(), LONGEST),
    ]
}

/// `+2 ~1 -1 >1`: created, modified, deleted, moved.
pub fn paths(tally: Tally) -> String {
    let counts =
        [('+', tally.created), ('~', tally.modified), ('-', tally.deleted), ('>', tally.moved)];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(sign, count)| format!("{sign}{count}"))
        .collect();
    if counts.is_empty() { "-".to_owned() } else { counts.join(" ") }
}

pub fn shortened(command: &str, longest: usize) -> String {
    if command.chars().count() <= longest {
        return command.to_owned();
    }
    command.chars().take(longest.saturating_sub(1)).chain(['…']).collect()
}

fn colour(column: usize, cell: &str) -> Option<&'static str> {
    match (column, cell) {
        (2, "applied") => Some("32"),
        (2, "held") => Some("33"),
        (2, "damaged") => Some("31"),
        (2, _) => Some("2"),
        (4, exit) if exit != "0" && exit != "-" => Some("31"),
        _ => None,
    }
}

pub fn in_json(listed: &Listed) -> Value {
    let id = listed.id;
    let next = (listed.state == State::Held).then(|| {
        json!([
            format!("exacta diff {id}"),
            format!("exacta commit {id}"),
            format!("exacta discard {id}")
        ])
    });
    let paths = listed.tally.map(|tally| {
        json!({
            "created": tally.created,
            "modified": tally.modified,
            "deleted": tally.deleted,
            "moved": tally.moved,
        })
    });
    json!({
        "id": id.0,
        "time": listed.time.and_then(Zone::exact),
        "state": listed.state.name(),
        "paths": paths,
        "exit_code": listed.exit,
        "strategy": listed.strategy,
        "irreversible": listed.irreversible,
        "command": listed.command.to_string(),
        "working_dir": listed.directory.to_string(),
        "session": listed.session,
        "next": next,
    })
}
