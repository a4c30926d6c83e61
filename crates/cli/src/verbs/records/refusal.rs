//! Why something was not undone, applied or shown: what, why, what next, and with which status.

use std::fmt::Write as _;

use exacta::records::{Conflict, ConflictKind, UndoError};
use serde_json::{Value, json};

use super::{name, shown};
use crate::exit::Exit;
use crate::output;

/// More are only counted.
const SHOWN: usize = 40;

/// Refused because of how things are, or could not be done at all.
pub fn exit(error: &UndoError) -> Exit {
    match error {
        UndoError::Conflicts(_)
        | UndoError::Later { .. }
        | UndoError::Running { .. }
        | UndoError::NoSuchRecord(_)
        | UndoError::NothingToUndo
        | UndoError::NothingToRedo
        | UndoError::WrongPhase { .. } => Exit::Declined,
        UndoError::Refused(_)
        | UndoError::Damaged { .. }
        | UndoError::OtherTree { .. }
        | UndoError::OtherFileSystem
        | UndoError::NotPrivate
        | UndoError::InvalidPath { .. }
        | UndoError::CannotKeep { .. }
        | UndoError::OverBudget { .. }
        | UndoError::CopySpoilt { .. }
        | UndoError::OnlyLength { .. }
        | UndoError::NoRoom { .. }
        | UndoError::System { .. } => Exit::Failed,
    }
}

/// `what` is what was to be done: `undo`, `commit 12`.
pub fn tell(as_json: bool, what: &str, error: &UndoError) {
    if as_json {
        output::print(&format!("{}\n", in_json(error)));
    } else {
        output::error(&text(what, error));
    }
}

fn text(what: &str, error: &UndoError) -> String {
    let mut text = match error {
        UndoError::Conflicts(conflicts) => {
            let lines = conflicts.iter().map(|one| format!("{} ({})", shown(&one.path), kind(one)));
            list(&format!("cannot {what}: changed meanwhile, and nothing was touched"), lines)
        }
        UndoError::Refused(refusals) => {
            let lines = refusals.iter().map(|one| format!("{}: {}", shown(&one.path), one.why));
            list(&format!("cannot {what}: this may not come into the project"), lines)
        }
        error => format!("exacta: {}\n", crate::terminal::visible(&error.to_string())),
    };
    if let Some(hint) = hint(what, error) {
        let _ = write!(text, "\nhint: {hint}\n");
    }
    text
}

fn list(title: &str, lines: impl ExactSizeIterator<Item = String>) -> String {
    let more = lines.len().saturating_sub(SHOWN);
    let mut text = format!("exacta: {title}\n");
    for line in lines.take(SHOWN) {
        let _ = writeln!(text, "  {line}");
    }
    if more > 0 {
        let _ = writeln!(text, "  and {more} more");
    }
    text
}

fn hint(what: &str, error: &UndoError) -> Option<&'static str> {
    match error {
        UndoError::Conflicts(_) if what.starts_with("commit") => Some(
            "the layer is still held: put these paths back and commit again, or discard it and run the command again",
        ),
        UndoError::Refused(_) => Some("the layer is still held: exacta discard drops it"),
        error => error.next(),
    }
}

pub fn kind(conflict: &Conflict) -> &'static str {
    match conflict.kind {
        ConflictKind::Changed => "changed",
        ConflictKind::Deleted => "deleted",
        ConflictKind::Appeared => "appeared",
    }
}

/// For programs.
pub fn in_json(error: &UndoError) -> Value {
    let mut answer = json!({
        "done": false,
        "error": error.to_string(),
        "hint": error.next(),
    });
    let more = match error {
        UndoError::Conflicts(found) => Some(("conflicts", conflicts(found))),
        UndoError::Refused(found) => {
            let refusals = found.iter().map(|one| {
                let mut named = name("path", &one.path);
                named.insert("reason".to_owned(), json!(one.why));
                Value::Object(named)
            });
            Some(("refusals", refusals.collect()))
        }
        UndoError::Later { later, .. } => {
            Some(("later", later.iter().map(|id| json!(id.0)).collect()))
        }
        _ => None,
    };
    if let (Some((key, value)), Some(object)) = (more, answer.as_object_mut()) {
        object.insert(key.to_owned(), value);
    }
    answer
}

pub fn conflicts(found: &[Conflict]) -> Value {
    let conflict = |one: &Conflict| {
        let mut named = name("path", &one.path);
        named.insert("kind".to_owned(), json!(kind(one)));
        Value::Object(named)
    };
    found.iter().map(conflict).collect()
}
