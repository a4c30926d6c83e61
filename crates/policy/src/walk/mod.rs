//! Which commands a tree would run, and with which words, as far as that is known before it runs.

use exacta_syntax::ast::List;

use crate::event::{Directory, Event, Input, Via};
use crate::surroundings::Surroundings;
use crate::word::Word;

/// Where a tree begins: a whole text, or one found inside a command.
#[derive(Debug, Clone, Default)]
pub struct Start {
    pub directory: Directory,
    pub input: Input,
    pub via: Via,
    /// `$0`, `$1`, …: of `sh -c TEXT NAME ARGUMENT…`. Empty: not known.
    pub positional: Vec<Word>,
}

/// Calls `emit` for everything the tree would do, in the order of the text. Every branch is taken, every function
/// body is walked, nothing is left out however long the text is.
pub fn walk(
    list: &List,
    start: &Start,
    surroundings: &dyn Surroundings,
    emit: &mut dyn FnMut(Event),
) {
    let _ = (list, start, surroundings, emit);
}
