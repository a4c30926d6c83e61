//! `exacta shell history`: what was asked, newest first, or one request as a whole.

use std::ops::ControlFlow;

use bstr::ByteSlice;
use exacta::audit::store::{Filter, Order, Recorded};
use exacta::records::Zone;
use serde_json::Value;

use super::{json, refused, show, trail};
use crate::exit::Exit;
use crate::invocation::{Global, History};
use crate::table::{Look, painted_table};
use crate::{launch, output};

pub const HEADINGS: [&str; 8] =
    ["ID", "TIME", "DECISION", "RULE", "EXIT", "DURATION", "UNDO", "COMMAND"];

/// A longer command is cut, also in a pipe.
const LONGEST: usize = 200;

pub fn perform(global: &Global, history: &History) -> Exit {
    let trail = match trail(global) {
        Ok(trail) => trail,
        Err(exit) => return exit,
    };
    let reader = match trail.open() {
        Ok(reader) => reader,
        Err(error) => {
            if global.json {
                output::print("[]\n");
            }
            return refused(&error);
        }
    };
    let look = Look::of_output(launch::no_colour());
    match history {
        History::Show(id) => {
            match reader.find(id).and_then(|recorded| reader.with_starts(recorded)) {
                Ok(recorded) => show::perform(global, &reader, &recorded, look),
                Err(error) => refused(&error),
            }
        }
        History::List(filter) => {
            if filter.grep.is_some() {
                trail.prepare_search(&reader);
            }
            let mut all = Vec::new();
            let each = &mut |recorded: Recorded| {
                all.push(recorded);
                ControlFlow::Continue(())
            };
            match reader.requests(filter, Order::NewestFirst, each) {
                Ok(()) => list(global, &all, look, filter),
                Err(error) => refused(&error),
            }
        }
    }
}

fn list(global: &Global, all: &[Recorded], look: Look, filter: &Filter) -> Exit {
    if global.json {
        let all: Vec<Value> = all.iter().map(json::request).collect();
        output::print(&format!("{}\n", Value::Array(all)));
        return Exit::Success;
    }
    if all.is_empty() {
        output::error("nothing that was recorded matches\n");
        return Exit::Success;
    }
    let zone = Zone::of_operator();
    let rows: Vec<Vec<String>> = all.iter().map(|recorded| row(recorded, &zone)).collect();
    output::print(&painted_table(look, &HEADINGS, &rows, &colour));
    if filter.limit == Some(all.len()) && look.width.is_some() {
        output::error("hint: there may be more: --limit N, --since 2h, --grep TEXT\n");
    }
    Exit::Success
}

pub fn row(recorded: &Recorded, zone: &Zone) -> Vec<String> {
    let dash = || "-".to_owned();
    let asked = recorded.asked();
    let ruling = recorded.ruling();
    let outcome = recorded.outcome.as_ref();
    let command = asked.map(|asked| asked.command.to_str_lossy().into_owned());
    vec![
        recorded.number.to_string(),
        asked.map_or_else(dash, |asked| zone.show(asked.time.div_euclid(1_000_000))),
        ruling.map_or_else(dash, |ruling| ruling.verdict.name().to_owned()),
        ruling.map_or_else(dash, |ruling| ruling.rule.clone()),
        outcome.map_or_else(dash, |outcome| outcome.exit.to_string()),
        outcome.map_or_else(dash, |outcome| duration(outcome.duration)),
        outcome.and_then(|it| it.undo.as_ref()).map_or_else(dash, |undo| format!("#{}", undo.id)),
        crate::verbs::records::shortened(&command.unwrap_or_default(), LONGEST),
    ]
}

pub fn duration(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{:.1} ms", micros as f64 / 1e3),
        _ => format!("{:.1} s", micros as f64 / 1e6),
    }
}

pub fn colour(column: usize, cell: &str) -> Option<&'static str> {
    match (column, cell) {
        (2, "allow") => Some("32"),
        (2, "confirm") => Some("33"),
        (2, "deny") => Some("31"),
        (4, exit) if exit != "0" => Some("31"),
        (5 | 6, _) => Some("2"),
        _ => None,
    }
}
