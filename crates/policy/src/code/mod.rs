//! What a piece of code in another language would do, as far as a careful reader can tell without running it.

use bstr::{BStr, BString};

use crate::effect::{Effect, Language};

/// Harmless is a proof, not a guess: whatever is not understood is [`Level::Unclear`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Computes and prints, reads files it names; nothing else.
    Harmless,
    Unclear,
    /// Starts programs, opens sockets, deletes trees, decodes and runs text.
    Dangerous,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub level: Level,
    /// What was seen, for the reason shown: `os.system`, `s///e`.
    pub seen: BString,
    /// What can be named: shell commands in literals, files written, hosts.
    pub effects: Vec<Effect>,
}

pub fn read(language: Language, text: &BStr) -> Reading {
    let _ = (language, text);
    Reading { level: Level::Unclear, seen: BString::default(), effects: Vec::new() }
}
