//! A line cut into words at the characters of `IFS`, one word at a time.

use bstr::BString;

use crate::expand::{Kind, Separators};

/// A line that was read, without its delimiter.
#[derive(Debug, Default)]
pub(in crate::builtins) struct Line {
    pub text: Vec<u8>,
    /// Places of characters that a backslash protects from being separators, ascending.
    pub escaped: Vec<usize>,
}

pub(super) struct Splitter<'a> {
    line: &'a Line,
    separators: &'a Separators,
    at: usize,
}

impl<'a> Splitter<'a> {
    pub fn new(line: &'a Line, separators: &'a Separators) -> Self {
        let mut splitter = Splitter { line, separators, at: 0 };
        splitter.skip_white();
        splitter
    }

    /// The next word; what separates it from the following one is gone, too. `None` at the end.
    pub fn next_word(&mut self) -> Option<BString> {
        if self.at >= self.line.text.len() {
            return None;
        }
        let start = self.at;
        while let Some((Kind::Text, length)) = self.peek() {
            self.at += length;
        }
        let word = self.line.text.get(start..self.at).unwrap_or_default();
        // White space, one hard separator, white space.
        self.skip_white();
        if let Some((Kind::Hard, length)) = self.peek() {
            self.at += length;
            self.skip_white();
        }
        Some(word.into())
    }

    /// What the last variable gets: one word without its separator, or all the rest with separators inside,
    /// but without white space at its end.
    pub fn remainder(mut self) -> BString {
        let start = self.at;
        let word = self.next_word().unwrap_or_default();
        if self.at >= self.line.text.len() {
            return word;
        }
        let mut end = self.line.text.len();
        while end > start && self.is_white_at(end - 1) {
            end -= 1;
        }
        self.line.text.get(start..end).unwrap_or_default().into()
    }

    fn is_white_at(&self, at: usize) -> bool {
        self.line.text.get(at).is_some_and(|byte| self.separators.is_white(*byte))
            && !self.is_escaped(at)
    }

    fn is_escaped(&self, at: usize) -> bool {
        !self.line.escaped.is_empty() && self.line.escaped.binary_search(&at).is_ok()
    }

    /// What stands here, and how long it is. `None` at the end.
    fn peek(&self) -> Option<(Kind, usize)> {
        let rest = self.line.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        if self.separators.none() {
            return Some((Kind::Text, rest.len()));
        }
        if self.is_escaped(self.at) {
            return Some((Kind::Text, 1));
        }
        Some(self.separators.next(rest))
    }

    fn skip_white(&mut self) {
        while let Some((Kind::White, length)) = self.peek() {
            self.at += length;
        }
    }
}
