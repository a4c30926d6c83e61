//! Patterns: `*?[…]` and, where they are on, `@(…|…)` and its kin. One matcher serves `case`, `[[ == ]]`,
//! `${x#…}`, file names and `find -name`.
//!
//! Matching never blows up: without groups the text is passed over once for each star ([`stretches`]); with groups
//! a set of positions moves through the pattern, each looked at once per step ([`positions`]).

mod compile;
mod one;
mod positions;
mod set;
mod stretches;

use std::sync::Arc;

use bstr::BStr;

use super::characters::{self, Encoding};
use crate::control::Control;
use set::CharacterSet;

/// What is in force when a pattern is compiled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PatternOptions {
    /// `@(a|b)`, `?(…)`, `*(…)`, `+(…)`, `!(…)`
    pub extglob: bool,
    pub ignore_case: bool,
    /// A dot at the beginning is matched only by a dot: file names.
    pub leading_dot: bool,
    pub encoding: Encoding,
}

/// A compiled pattern. Characters are those of UTF-8; a byte that is none counts as one character.
#[derive(Clone)]
pub struct Pattern {
    nodes: Vec<Node>,
    options: PatternOptions,
    has_groups: bool,
    control: Option<Arc<Control>>,
}

#[derive(Debug, Clone)]
enum Node {
    /// Bytes that stand for themselves.
    Literal(Vec<u8>),
    /// `?`
    AnyOne,
    /// `*`
    Star,
    /// `[…]`
    Set(Box<CharacterSet>),
    Group(GroupKind, Vec<Vec<Node>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GroupKind {
    /// `@(…)`
    One,
    /// `?(…)`
    Optional,
    /// `*(…)`
    Any,
    /// `+(…)`
    Some,
    /// `!(…)`
    Not,
}

/// Where a pattern may begin and end in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Shortest,
    Longest,
}

impl Pattern {
    pub fn new(text: &BStr, options: PatternOptions) -> Self {
        let nodes = compile::compile(text, options);
        let has_groups = nodes.iter().any(|node| matches!(node, Node::Group(..)));
        Pattern { nodes, options, has_groups, control: None }
    }

    /// The text that alone matches, if the pattern has no active character.
    pub fn as_literal(&self) -> Option<&[u8]> {
        match self.nodes.as_slice() {
            [] => Some(b""),
            [Node::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The same pattern, for names that a wildcard never means: `.` and `..`.
    pub fn with_explicit_dot(&self) -> Self {
        let mut pattern = self.clone();
        pattern.options.leading_dot = true;
        pattern
    }

    pub fn begins_with_star(&self) -> bool {
        matches!(self.nodes.first(), Some(Node::Star | Node::Group(GroupKind::Any, _)))
    }

    /// Has it parts that match texts of different lengths?
    pub fn varies(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node, Node::Star | Node::Group(..)))
    }

    /// Lets a long search with groups notice that the request is over. Its answer does not matter then.
    pub fn watched_by(mut self, control: &Arc<Control>) -> Self {
        if self.has_groups {
            self.control = Some(Arc::clone(control));
        }
        self
    }

    /// Does the whole text match?
    pub fn matches(&self, text: &[u8]) -> bool {
        if self.has_groups { self.whole_by_positions(text) } else { self.whole_by_stretches(text) }
    }

    /// The end of a match that begins where the text begins.
    pub fn prefix(&self, text: &[u8], reach: Reach) -> Option<usize> {
        if !self.has_groups {
            return self.end_by_stretches(text, 0, reach);
        }
        let ends = self.ends_from(text, 0);
        match reach {
            Reach::Shortest => ends.first().copied(),
            Reach::Longest => ends.last().copied(),
        }
    }

    /// The beginning of a match that ends where the text ends.
    pub fn suffix(&self, text: &[u8], reach: Reach) -> Option<usize> {
        if !self.has_groups {
            return self.start_by_stretches(text, reach);
        }
        let starts = self.starts_to_end(text);
        match reach {
            Reach::Shortest => starts.last().copied(),
            Reach::Longest => starts.first().copied(),
        }
    }

    /// Every match from left to right, each as long as it can be, none inside another: what `${x//p/r}` replaces.
    /// A pattern that may match nothing does so before every character. `visit` answers whether to go on.
    pub fn find_each(&self, text: &[u8], mut visit: impl FnMut(usize, usize) -> bool) {
        if !self.has_groups {
            self.each_by_stretches(text, &mut visit);
            return;
        }
        let mut done = 0;
        for start in self.all_starts(text) {
            if start < done || start == text.len() {
                continue;
            }
            let Some(end) = self.ends_from(text, start).last().copied() else { continue };
            if !visit(start, end) {
                return;
            }
            done = end;
        }
    }
}

/// Is anything in this text active in a pattern? Quick, and never wrong when it says no.
pub fn looks_active(text: &[u8], extglob: bool) -> bool {
    if memchr::memchr3(b'*', b'?', b'[', text).is_some() {
        return true;
    }
    extglob
        && memchr::memchr_iter(b'(', text)
            .any(|at| at > 0 && matches!(text.get(at - 1), Some(b'@' | b'+' | b'!')))
}

/// Adds text to a pattern so that it stands for itself.
pub fn push_escaped(pattern: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        if is_special(byte) {
            pattern.push(b'\\');
        }
        pattern.push(byte);
    }
}

fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b'*' | b'?' | b'[' | b']' | b'\\' | b'(' | b')' | b'|' | b'!' | b'+' | b'@' | b'-' | b'^'
    )
}

fn same_letter(one: u32, other: u32) -> bool {
    one == other || fold(one) == fold(other)
}

/// Lower case, where that is one character.
fn fold(character: u32) -> u32 {
    let Some(letter) = char::from_u32(character) else { return character };
    let mut lower = letter.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => u32::from(one),
        _ => character,
    }
}

fn unfold(character: u32) -> u32 {
    let Some(letter) = char::from_u32(character) else { return character };
    let mut upper = letter.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) => u32::from(one),
        _ => character,
    }
}

#[cfg(test)]
mod tests;
