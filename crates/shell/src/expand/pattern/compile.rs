//! The text of a pattern to its nodes. Every text is a pattern: what is not well formed stands for itself.

use std::cell::Cell;

use super::characters::{self, Encoding};
use super::set::{CharacterSet, Class};
use super::{GroupKind, Node, PatternOptions};

/// Groups inside each other beyond this stand for themselves: patterns come from data, and the matcher recurses.
const DEEPEST_GROUP: usize = 64;

/// How often a byte may be looked at on average. A text full of brackets that never close would take the square of
/// its length; beyond this they stand for themselves.
const LOOKS: usize = 16;

pub(super) fn compile(text: &[u8], options: PatternOptions) -> Vec<Node> {
    let mut nodes = Vec::new();
    let PatternOptions { extglob, encoding, .. } = options;
    let looks = Cell::new(LOOKS.saturating_mul(text.len().saturating_add(1000)));
    Compiler { text, extglob, encoding, looks }.sequence(0, text.len(), 0, &mut nodes);
    nodes
}

struct Compiler<'a> {
    text: &'a [u8],
    extglob: bool,
    encoding: Encoding,
    /// Bytes that may still be looked at in search of what closes.
    looks: Cell<usize>,
}

impl Compiler<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    /// `None` when enough has been searched.
    fn look(&self, bytes: usize) -> Option<()> {
        self.looks.set(self.looks.get().checked_sub(bytes)?);
        Some(())
    }

    fn sequence(&self, mut at: usize, end: usize, depth: usize, nodes: &mut Vec<Node>) {
        while at < end {
            let Some(byte) = self.byte(at) else { return };
            if let Some((kind, close)) = self.group_at(at, end, depth) {
                nodes.push(Node::Group(kind, self.alternatives(at + 2, close, depth + 1)));
                at = close + 1;
                continue;
            }
            at = match byte {
                b'*' => {
                    if !matches!(nodes.last(), Some(Node::Star)) {
                        nodes.push(Node::Star);
                    }
                    at + 1
                }
                b'?' => {
                    nodes.push(Node::AnyOne);
                    at + 1
                }
                b'[' => match self.set(at, end) {
                    Some((set, next)) => {
                        nodes.push(Node::Set(Box::new(set)));
                        next
                    }
                    None => literal(nodes, b'[', at + 1),
                },
                b'\\' if at + 1 < end => literal(nodes, self.byte(at + 1).unwrap_or(b'\\'), at + 2),
                other => literal(nodes, other, at + 1),
            };
        }
    }

    /// `@(` and its kin with a closing parenthesis: the kind and where it closes.
    fn group_at(&self, at: usize, end: usize, depth: usize) -> Option<(GroupKind, usize)> {
        if !self.extglob || depth >= DEEPEST_GROUP || self.byte(at + 1) != Some(b'(') {
            return None;
        }
        let kind = match self.byte(at)? {
            b'@' => GroupKind::One,
            b'?' => GroupKind::Optional,
            b'*' => GroupKind::Any,
            b'+' => GroupKind::Some,
            b'!' => GroupKind::Not,
            _ => return None,
        };
        let close = self.closing(at + 2, end)?;
        Some((kind, close))
    }

    /// The `)` that belongs to a group whose content begins at `at`.
    fn closing(&self, mut at: usize, end: usize) -> Option<usize> {
        let mut open = 1_usize;
        while at < end {
            self.look(1)?;
            match self.byte(at)? {
                b'\\' => at += 1,
                b'[' => {
                    if let Some((_, next)) = self.set(at, end) {
                        at = next;
                        continue;
                    }
                }
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    fn alternatives(&self, start: usize, end: usize, depth: usize) -> Vec<Vec<Node>> {
        let mut all = Vec::new();
        let (mut from, mut at, mut open) = (start, start, 0_usize);
        loop {
            let byte = if at < end { self.byte(at) } else { None };
            match byte {
                Some(b'\\') => at += 1,
                Some(b'[') => {
                    if let Some((_, next)) = self.set(at, end) {
                        at = next;
                        continue;
                    }
                }
                Some(b'(') => open += 1,
                Some(b')') => open = open.saturating_sub(1),
                Some(b'|') if open == 0 => {
                    all.push(self.alternative(from, at, depth));
                    from = at + 1;
                }
                None => {
                    all.push(self.alternative(from, end, depth));
                    return all;
                }
                Some(_) => {}
            }
            at += 1;
        }
    }

    fn alternative(&self, start: usize, end: usize, depth: usize) -> Vec<Node> {
        let mut nodes = Vec::new();
        self.sequence(start, end, depth, &mut nodes);
        nodes
    }

    /// The set that begins with the `[` at `at`, and where the pattern goes on; `None` if it never closes.
    fn set(&self, at: usize, end: usize) -> Option<(CharacterSet, usize)> {
        let mut set = CharacterSet::default();
        let mut at = at + 1;
        if matches!(self.byte(at), Some(b'!' | b'^')) && at < end {
            set.negated = true;
            at += 1;
        }
        let first = at;
        loop {
            if at >= end {
                return None;
            }
            self.look(1)?;
            if self.byte(at) == Some(b']') && at > first {
                return Some((set, at + 1));
            }
            if let Some(next) = self.class(at, end, &mut set) {
                at = next;
                continue;
            }
            let (low, next) = self.set_character(at, end)?;
            at = next;
            let ranges = self.byte(at) == Some(b'-')
                && at + 1 < end
                && self.byte(at + 1).is_some_and(|byte| byte != b']');
            if ranges {
                let (high, next) = self.set_character(at + 1, end)?;
                // A range that runs backwards contains nothing.
                if low <= high {
                    set.ranges.push((low, high));
                }
                at = next;
            } else {
                set.ranges.push((low, low));
            }
        }
    }

    /// `[:alpha:]`; an unknown class matches nothing.
    fn class(&self, at: usize, end: usize, set: &mut CharacterSet) -> Option<usize> {
        let (name, next) = self.bracketed(at, end, b':')?;
        if let Some(class) = Class::named(name) {
            set.classes.push(class);
        }
        Some(next)
    }

    /// What stands between `[:` and `:]` (or `=`, or `.`), and where it ends.
    fn bracketed(&self, at: usize, end: usize, mark: u8) -> Option<(&[u8], usize)> {
        if self.byte(at) != Some(b'[') || self.byte(at + 1) != Some(mark) {
            return None;
        }
        let inside = self.text.get(at + 2..end)?;
        let length = inside.windows(2).position(|pair| pair == [mark, b']']);
        self.look(length.unwrap_or(inside.len()))?;
        let length = length?;
        Some((inside.get(..length)?, at + 2 + length + 2))
    }

    /// One character of a set: itself, escaped, `[=a=]` or `[.a.]`.
    fn set_character(&self, at: usize, end: usize) -> Option<(u32, usize)> {
        for mark in [b'=', b'.'] {
            if let Some((name, next)) = self.bracketed(at, end, mark) {
                let (character, length) = characters::decode(name, self.encoding)?;
                if length == name.len() {
                    return Some((character, next));
                }
                return collating(name).map(|character| (character, next));
            }
        }
        let at = if self.byte(at) == Some(b'\\') && at + 1 < end { at + 1 } else { at };
        let (character, length) = characters::decode(self.text.get(at..end)?, self.encoding)?;
        Some((character, at + length))
    }
}

fn literal(nodes: &mut Vec<Node>, byte: u8, next: usize) -> usize {
    match nodes.last_mut() {
        Some(Node::Literal(text)) => text.push(byte),
        _ => nodes.push(Node::Literal(vec![byte])),
    }
    next
}

/// The POSIX names of characters that people write in `[.name.]`.
fn collating(name: &[u8]) -> Option<u32> {
    let character = match name {
        b"hyphen" | b"hyphen-minus" => '-',
        b"period" | b"full-stop" => '.',
        b"slash" | b"solidus" => '/',
        b"space" => ' ',
        b"tab" => '\t',
        b"newline" => '\n',
        b"comma" => ',',
        b"colon" => ':',
        b"semicolon" => ';',
        b"underscore" | b"low-line" => '_',
        b"left-square-bracket" => '[',
        b"right-square-bracket" => ']',
        b"asterisk" => '*',
        b"question-mark" => '?',
        b"backslash" | b"reverse-solidus" => '\\',
        b"circumflex" | b"circumflex-accent" => '^',
        b"exclamation-mark" => '!',
        b"plus-sign" => '+',
        b"equals-sign" => '=',
        b"dollar-sign" => '$',
        _ => return None,
    };
    Some(u32::from(character))
}
