//! Patterns: `*?[…]` and, where they are on, `@(…|…)` and its kin. One matcher serves `case`, `[[ == ]]`,
//! `${x#…}`, file names and `find -name`.
//!
//! Matching never blows up: without groups it remembers one star; with groups it moves a set of positions
//! through the pattern, so that each position is looked at once per step.

mod compile;
mod positions;
mod set;

use bstr::BStr;
use memchr::memmem;

use super::characters::{self, Encoding};
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
#[derive(Debug, Clone)]
pub struct Pattern {
    nodes: Vec<Node>,
    options: PatternOptions,
    has_groups: bool,
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
        Pattern { nodes, options, has_groups }
    }

    /// The text that alone matches, if the pattern has no active character.
    pub fn as_literal(&self) -> Option<&[u8]> {
        match self.nodes.as_slice() {
            [] => Some(b""),
            [Node::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Does it begin with a dot, so that `.` and `..` may be meant?
    pub fn begins_with_dot(&self) -> bool {
        match self.nodes.first() {
            Some(Node::Literal(text)) => text.first() == Some(&b'.'),
            Some(Node::Group(..)) => true,
            _ => false,
        }
    }

    pub fn begins_with_star(&self) -> bool {
        matches!(self.nodes.first(), Some(Node::Star | Node::Group(GroupKind::Any, _)))
    }

    /// Has it parts that match texts of different lengths?
    pub fn varies(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node, Node::Star | Node::Group(..)))
    }

    /// Does the whole text match?
    pub fn matches(&self, text: &[u8]) -> bool {
        if self.has_groups { self.matches_by_positions(text) } else { self.matches_by_star(text) }
    }

    /// The end of a match that begins where the text begins.
    pub fn prefix(&self, text: &[u8], reach: Reach) -> Option<usize> {
        if let (Some(literal), false) = (self.as_literal(), self.options.ignore_case) {
            return text.starts_with(literal).then_some(literal.len());
        }
        let ends = self.ends_from(text, 0);
        match reach {
            Reach::Shortest => ends.first().copied(),
            Reach::Longest => ends.last().copied(),
        }
    }

    /// The beginning of a match that ends where the text ends.
    pub fn suffix(&self, text: &[u8], reach: Reach) -> Option<usize> {
        if let (Some(literal), false) = (self.as_literal(), self.options.ignore_case) {
            return text.ends_with(literal).then(|| text.len() - literal.len());
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
        if let (Some(literal), false) = (self.as_literal(), self.options.ignore_case) {
            if literal.is_empty() {
                return;
            }
            for start in memmem::find_iter(text, literal) {
                if !visit(start, start + literal.len()) {
                    return;
                }
            }
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

    /// Without groups only the last star can give back: two pointers and one place to return to.
    fn matches_by_star(&self, text: &[u8]) -> bool {
        if self.hides_leading_dot(text) {
            return false;
        }
        let (mut node, mut at) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let stepped = match self.nodes.get(node) {
                None if at == text.len() => return true,
                None => None,
                Some(Node::Star) => {
                    if node + 1 == self.nodes.len() {
                        return true;
                    }
                    retry = Some((node, at));
                    Some(at)
                }
                Some(one) => self.forward(one, text, at),
            };
            if let Some(next) = stepped {
                node += 1;
                at = next;
                continue;
            }
            let Some((star, from)) = retry else { return false };
            if from >= text.len() {
                return false;
            }
            let from = from + self.length_at(text, from);
            retry = Some((star, from));
            node = star + 1;
            at = from;
        }
    }

    fn decode(&self, text: &[u8]) -> Option<(u32, usize)> {
        characters::decode(text, self.options.encoding)
    }

    fn length_at(&self, text: &[u8], at: usize) -> usize {
        characters::length_at(text, at, self.options.encoding)
    }

    /// Would a dot at the beginning have to be matched by something other than a dot?
    fn hides_leading_dot(&self, text: &[u8]) -> bool {
        self.options.leading_dot
            && text.first() == Some(&b'.')
            && matches!(self.nodes.first(), Some(Node::AnyOne | Node::Star | Node::Set(_)))
    }

    /// One step over a node that takes at most one stretch of text.
    fn forward(&self, node: &Node, text: &[u8], at: usize) -> Option<usize> {
        let rest = text.get(at..)?;
        match node {
            Node::Literal(literal) => self.literal_length(literal, rest).map(|length| at + length),
            Node::AnyOne if rest.is_empty() => None,
            Node::AnyOne => Some(at + self.length_at(text, at)),
            Node::Set(set) => {
                let (character, length) = self.decode(rest)?;
                set.contains(character, self.options.ignore_case).then_some(at + length)
            }
            Node::Star | Node::Group(..) => None,
        }
    }

    /// How much of the text the literal covers.
    fn literal_length(&self, literal: &[u8], rest: &[u8]) -> Option<usize> {
        if rest.starts_with(literal) {
            return Some(literal.len());
        }
        if !self.options.ignore_case {
            return None;
        }
        let (mut wanted, mut found) = (literal, rest);
        while let Some((one, length)) = self.decode(wanted) {
            let (other, other_length) = self.decode(found)?;
            if !same_letter(one, other) {
                return None;
            }
            wanted = wanted.get(length..)?;
            found = found.get(other_length..)?;
        }
        Some(rest.len() - found.len())
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
