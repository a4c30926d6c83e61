//! `exacta undo`, `exacta redo`: requests taken back, or made again.

use std::fmt::Write as _;

use bstr::BString;
use exacta::records::{Action, Effect, Options, RecordId, Records, Report, Turn, UndoError, Which};
use serde_json::{Value, json};

use super::{Asked, log, name, refusal, shown};
use crate::exit::Exit;
use crate::terminal::visible;

/// More paths are only counted.
const PATHS: usize = 10;
const LONGEST: usize = 60;

pub fn perform(
    asked: &Asked,
    records: &Records,
    turn: Turn,
    which: &Which,
    options: Options,
) -> Exit {
    let told = match done(records, turn, which, options) {
        Ok(told) => told,
        Err(error) => return asked.refused(verb(turn), &error),
    };
    asked.progress.clear();
    let text = if asked.json { format!("{}\n", told.in_json()) } else { told.text() };
    asked.tell(&text, told.turned());
    // A dry run ends as the real one would.
    if told.would_be_refused() { Exit::Declined } else { Exit::Success }
}

pub fn verb(turn: Turn) -> &'static str {
    match turn {
        Turn::Undo => "undo",
        Turn::Redo => "redo",
    }
}

/// Does it, or finds out what it would do.
pub fn done<'a>(
    records: &'a Records,
    turn: Turn,
    which: &Which,
    options: Options,
) -> Result<Told<'a>, UndoError> {
    let report = records.turn(turn, which, options)?;
    let effects =
        if options.dry_run { records.preview(turn, &report.records)? } else { Vec::new() };
    Ok(Told { records, turn, options, report, effects })
}

/// What was done, or would be.
pub struct Told<'a> {
    records: &'a Records,
    turn: Turn,
    options: Options,
    report: Report,
    effects: Vec<Effect>,
}

impl Told<'_> {
    /// The records that it is about.
    pub fn turned(&self) -> &[RecordId] {
        &self.report.records
    }

    fn would_be_refused(&self) -> bool {
        self.options.dry_run && !self.options.force && !self.report.conflicts.is_empty()
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for id in &self.report.records {
            let _ = writeln!(text, "{} {id}{}", self.done(), self.command(*id));
        }
        if self.options.dry_run {
            self.tell_effects(&mut text);
        } else {
            let restored = if self.turn == Turn::Undo { "restored" } else { "changed again" };
            let _ = writeln!(text, "  {restored} {}", counted(&self.report.restored));
        }
        for kept in &self.report.kept {
            let _ = writeln!(text, "  kept {}: others have put something into it", shown(kept));
        }
        self.tell_conflicts(&mut text);
        for reason in self.irreversible() {
            let _ = writeln!(text, "  not taken back: {}", visible(&reason));
        }
        if !self.options.dry_run {
            let back = verb(if self.turn == Turn::Undo { Turn::Redo } else { Turn::Undo });
            let which = match self.report.records.as_slice() {
                [one] => one.to_string(),
                several => format!("--last {}", several.len()),
            };
            let _ = writeln!(text, "  exacta {back} {which} turns it back");
        }
        text
    }

    fn done(&self) -> &'static str {
        match (self.turn, self.options.dry_run) {
            (Turn::Undo, false) => "undone",
            (Turn::Redo, false) => "redone",
            (Turn::Undo, true) => "would undo",
            (Turn::Redo, true) => "would redo",
        }
    }

    /// What no undo reaches: it is said, so that nobody relies on it.
    fn irreversible(&self) -> Vec<String> {
        if self.turn == Turn::Redo {
            return Vec::new();
        }
        let records = self.report.records.iter().filter_map(|id| self.records.get(*id).ok());
        records.flat_map(|listed| listed.irreversible).collect()
    }

    fn command(&self, id: RecordId) -> String {
        let command = self.records.get(id).map(|listed| listed.command.to_string());
        match command {
            Ok(command) if !command.is_empty() => {
                format!(": {}", visible(&log::shortened(&command, LONGEST)))
            }
            _ => String::new(),
        }
    }

    fn tell_effects(&self, text: &mut String) {
        for effect in self.effects.iter().take(PATHS * 2) {
            let from = effect.from.as_ref().map(|from| format!("{} to ", shown(from)));
            let from = from.unwrap_or_default();
            let _ = writeln!(text, "  {} {from}{}", effect.action.name(), shown(&effect.path));
        }
        let more = self.effects.len().saturating_sub(PATHS * 2);
        if more > 0 {
            let _ = writeln!(text, "  and {more} more");
        }
        let count =
            |action: Action| self.effects.iter().filter(|effect| effect.action == action).count();
        let counts = [Action::Create, Action::Change, Action::Delete, Action::Move]
            .map(|action| format!("{} to {}", count(action), action.name()));
        let _ = writeln!(text, "  {}", counts.join(", "));
    }

    fn tell_conflicts(&self, text: &mut String) {
        if self.report.conflicts.is_empty() {
            return;
        }
        let what = match (self.options.dry_run, self.options.force) {
            (true, false) => "in the way, so it would be refused:",
            (true, true) => "would be kept for the way back:",
            (false, _) => "kept for the way back, as somebody has changed it meanwhile:",
        };
        let _ = writeln!(text, "  {what}");
        for conflict in &self.report.conflicts {
            let _ = writeln!(text, "    {} ({})", shown(&conflict.path), refusal::kind(conflict));
        }
    }

    /// For programs.
    pub fn in_json(&self) -> Value {
        let paths = |paths: &[BString]| -> Vec<Value> {
            paths.iter().map(|path| Value::Object(name("path", path))).collect()
        };
        let effects = self.effects.iter().map(|effect| {
            let mut named = name("path", &effect.path);
            named.insert("action".to_owned(), json!(effect.action.name()));
            if let Some(from) = &effect.from {
                named.extend(name("from", from));
            }
            Value::Object(named)
        });
        json!({
            "done": !self.options.dry_run,
            "action": verb(self.turn),
            "dry_run": self.options.dry_run,
            "refused": self.would_be_refused(),
            "records": self.report.records.iter().map(|id| id.0).collect::<Vec<u64>>(),
            "restored": paths(&self.report.restored),
            "kept": paths(&self.report.kept),
            "conflicts": refusal::conflicts(&self.report.conflicts),
            "not_taken_back": self.irreversible(),
            "changes": effects.collect::<Vec<Value>>(),
        })
    }
}

/// `3 paths: a, b, c`
pub fn counted(paths: &[BString]) -> String {
    let names: Vec<String> = paths.iter().take(PATHS).map(|path| shown(path)).collect();
    let more = paths.len().saturating_sub(PATHS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let noun = if paths.len() == 1 { "path" } else { "paths" };
    format!("{} {noun}: {}{more}", paths.len(), names.join(", "))
}
