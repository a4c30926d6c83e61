//! What turning a record would do to each path.

use bstr::BString;
use exacta_store::Change;

use super::Turn;

/// One path that would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    pub action: Action,
    pub path: BString,
    /// Where it would come from.
    pub from: Option<BString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Create,
    Change,
    Delete,
    Move,
}

impl Action {
    pub fn name(self) -> &'static str {
        match self {
            Action::Create => "create",
            Action::Change => "change",
            Action::Delete => "delete",
            Action::Move => "move",
        }
    }
}

pub(super) fn effect(turn: Turn, change: &Change) -> Option<Effect> {
    let path = change.path.clone();
    if let Some(source) = change.moved_from.clone() {
        let (from, path) = match turn {
            Turn::Undo => (path, source),
            Turn::Redo => (source, path),
        };
        return Some(Effect { action: Action::Move, path, from: Some(from) });
    }
    let (from, to) = match turn {
        Turn::Undo => (&change.after, &change.before),
        Turn::Redo => (&change.before, &change.after),
    };
    let action = match (from, to) {
        (None, Some(_)) => Action::Create,
        (Some(_), None) => Action::Delete,
        (Some(_), Some(_)) => Action::Change,
        (None, None) => return None,
    };
    Some(Effect { action, path, from: None })
}
