//! Regular expressions as POSIX tools and Perl write them.
//!
//! A parser per family gives one tree ([`Node`]). What a finite automaton can do runs on one
//! ([`automaton`]); back-references and look-around run on a backtracking machine with a budget
//! ([`backtrack`]). [`Matcher`] hides which of the two it is. POSIX asks for the longest of the leftmost
//! matches, Perl for the first in its own order: [`Preference`].

mod automaton;
mod backtrack;
mod bracket;
mod classes;
mod groups;
mod matcher;
mod perl;
mod posix;
mod program;
mod syntax;

use regex_syntax::hir::ClassUnicode;

pub use classes::{is_word, named as named_class, range as range_class};
pub use groups::GroupMatcher;
pub use matcher::{Matcher, Scratch};
pub use perl::parse as parse_perl;
pub use posix::parse as parse_posix;
pub use syntax::Syntax;

/// Groups inside each other. More is refused: the tree is walked recursively.
pub(crate) const DEPTH: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// In the words of the C library or PCRE.
    Invalid(&'static str),
    /// Right, but not here: the real program may know it.
    Unsupported(&'static str),
    /// The budget of the backtracking machine is used up.
    TooComplex,
    /// The request was cancelled meanwhile.
    Stopped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preference {
    Longest,
    First,
}

/// A regular expression.
#[derive(Debug, Clone)]
pub enum Node {
    Empty,
    Char(char),
    /// A byte that is no part of a character.
    Byte(u8),
    Set(Set),
    Anchor(Anchor),
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
        mode: RepeatMode,
    },
    /// A group that is remembered.
    Group(u32, Box<Node>),
    Backreference {
        group: u32,
        fold: bool,
    },
    Around {
        behind: bool,
        negative: bool,
        node: Box<Node>,
    },
    /// `(?>…)`: once it has matched, it is not tried in another way.
    Atomic(Box<Node>),
    /// `\K`: what came before is not part of the match.
    Keep,
}

/// Characters, and bytes that are none.
#[derive(Debug, Clone)]
pub struct Set {
    pub characters: ClassUnicode,
    pub bytes: Vec<u8>,
}

impl From<ClassUnicode> for Set {
    fn from(characters: ClassUnicode) -> Self {
        Set { characters, bytes: Vec::new() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatMode {
    Greedy,
    Lazy,
    Possessive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    LineStart,
    LineEnd,
    /// `(?m)^` and `(?m)$`: at a newline inside a record too.
    InnerLineStart,
    InnerLineEnd,
    WordStart,
    WordEnd,
    WordBoundary,
    NotWordBoundary,
    /// No word character before.
    WordStartHalf,
    /// No word character after.
    WordEndHalf,
    /// The same for words of ASCII characters, as Perl has them.
    AsciiBoundary,
    NotAsciiBoundary,
    AsciiStartHalf,
    AsciiEndHalf,
}

impl Anchor {
    pub(crate) fn is_word(self) -> bool {
        !matches!(
            self,
            Anchor::LineStart | Anchor::LineEnd | Anchor::InnerLineStart | Anchor::InnerLineEnd
        )
    }
}

impl Node {
    /// `x` as part of a folded expression: every case of it.
    pub(crate) fn character(character: char, fold: bool) -> Node {
        if !fold {
            return Node::Char(character);
        }
        let mut class = classes::single(character);
        fold_case(&mut class);
        if class.ranges().len() == 1 && class.ranges().iter().all(|range| range.len() == 1) {
            return Node::Char(character);
        }
        Node::Set(class.into())
    }

    pub(crate) fn concat(mut nodes: Vec<Node>) -> Node {
        match (nodes.pop(), nodes.is_empty()) {
            (None, _) => Node::Empty,
            (Some(only), true) => only,
            (Some(last), false) => {
                nodes.push(last);
                Node::Concat(nodes)
            }
        }
    }

    pub fn alternate(mut nodes: Vec<Node>) -> Node {
        match (nodes.pop(), nodes.is_empty()) {
            (None, _) => Node::Empty,
            (Some(only), true) => only,
            (Some(last), false) => {
                nodes.push(last);
                Node::Alternate(nodes)
            }
        }
    }

    /// The text itself, byte by byte.
    pub fn text(text: &[u8], fold: bool) -> Node {
        use bstr::ByteSlice;
        let mut nodes = Vec::new();
        for (start, end, character) in text.char_indices() {
            let bytes = text.get(start..end).unwrap_or_default();
            if character == char::REPLACEMENT_CHARACTER && bytes != "\u{fffd}".as_bytes() {
                nodes.extend(bytes.iter().map(|byte| Node::Byte(*byte)));
            } else {
                nodes.push(Node::character(character, fold));
            }
        }
        Node::concat(nodes)
    }

    /// The node between two conditions: `-w` and `-x` of `grep`.
    pub fn between(self, before: Anchor, after: Anchor) -> Node {
        Node::Concat(vec![Node::Anchor(before), self, Node::Anchor(after)])
    }

    /// Moves every group by `offset`, so that expressions can be put side by side.
    pub fn renumber(&mut self, offset: u32) {
        match self {
            Node::Empty
            | Node::Char(_)
            | Node::Byte(_)
            | Node::Set(_)
            | Node::Anchor(_)
            | Node::Keep => {}
            Node::Concat(nodes) | Node::Alternate(nodes) => {
                for node in nodes {
                    node.renumber(offset);
                }
            }
            Node::Repeat { node, .. } | Node::Around { node, .. } | Node::Atomic(node) => {
                node.renumber(offset);
            }
            Node::Group(group, node) => {
                *group += offset;
                node.renumber(offset);
            }
            Node::Backreference { group, .. } => *group += offset,
        }
    }

    /// The highest group.
    pub fn groups(&self) -> u32 {
        match self {
            Node::Empty
            | Node::Char(_)
            | Node::Byte(_)
            | Node::Set(_)
            | Node::Anchor(_)
            | Node::Keep
            | Node::Backreference { .. } => 0,
            Node::Concat(nodes) | Node::Alternate(nodes) => {
                nodes.iter().map(Node::groups).max().unwrap_or(0)
            }
            Node::Repeat { node, .. } | Node::Around { node, .. } | Node::Atomic(node) => {
                node.groups()
            }
            Node::Group(group, node) => node.groups().max(*group),
        }
    }
}

/// Adds every other case of the characters. Only the data of the library could be missing, and it is not.
pub(crate) fn fold_case(class: &mut ClassUnicode) {
    let _ = class.try_case_fold_simple();
}

#[cfg(test)]
mod tests;
