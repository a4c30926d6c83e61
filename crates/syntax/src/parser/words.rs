//! Unquoted words: everything up to the next metacharacter.

use bstr::BString;

use super::cursor::Reader;
use super::input::Mark;
use super::parts::Parts;
use super::scan::{self, GROUP_STOPS, WORD_STOPS};
use super::{Parsed, brace, tilde};
use crate::ast::{Word, WordPart};

/// Where a word stands decides what is special in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordKind {
    /// A command's words, a loop's list, an array's elements: braces expand.
    Argument,
    /// The right side of an assignment: a tilde may also follow a colon.
    Value,
    /// The same for `[key]=` in an array: braces expand as well.
    Element,
    /// Everything else that is one word.
    Plain,
    /// The right side of `==` in `[[ ]]`: extended patterns are always on.
    Pattern,
    /// The right side of `=~`: parentheses and bars belong to the word.
    Regex,
}

impl Reader<'_, '_> {
    /// Whether a word begins here (blanks skipped).
    pub fn at_word(&mut self) -> bool {
        match self.peek() {
            None => false,
            Some(b'<' | b'>') => self.peek_second() == Some(b'('),
            Some(byte) => !scan::contains(&scan::METACHARACTERS, byte),
        }
    }

    pub fn plain_word(&mut self) -> Parsed<Word> {
        self.word(WordKind::Plain)
    }

    /// A word that must be there.
    pub fn required_word(&mut self, kind: WordKind) -> Parsed<Word> {
        self.skip_blanks();
        if self.at_word() { self.word(kind) } else { self.unexpected_in_line() }
    }

    /// The word at the position; without parts if there is none.
    pub fn word(&mut self, kind: WordKind) -> Parsed<Word> {
        let mark = self.mark();
        let mut parts = Parts::default();
        if self.peek() == Some(b'~') {
            self.tilde(&mut parts);
        }
        self.rest_of_word(parts, mark, kind)
    }

    /// Goes on with a word of which `parts` have been read.
    pub fn rest_of_word(&mut self, parts: Parts, mark: Mark, kind: WordKind) -> Parsed<Word> {
        let around = std::mem::replace(&mut self.in_value, kind == WordKind::Value);
        let word = self.parts_of_word(parts, mark, kind);
        self.in_value = around;
        word
    }

    fn parts_of_word(&mut self, mut parts: Parts, mark: Mark, kind: WordKind) -> Parsed<Word> {
        let mut braces = false;
        while let Some(stop) = self.literal_run(&WORD_STOPS, &mut parts) {
            match stop {
                b'{' => {
                    braces = true;
                    self.literal_byte(stop, &mut parts);
                }
                b'~' if tilde::may_follow(&parts, kind) => self.tilde(&mut parts),
                b'~' => self.literal_byte(stop, &mut parts),
                b'|' if kind == WordKind::Regex => self.literal_byte(stop, &mut parts),
                b'(' if self.group_may_follow(&parts, kind) => self.group(&mut parts)?,
                b'<' | b'>' if self.peek_second() == Some(b'(') => {
                    self.process_substitution(&mut parts)?;
                }
                _ if !self.quote_or_expansion(stop, &mut parts)? => break,
                _ => {}
            }
        }
        let span = self.span_since(mark);
        if braces && matches!(kind, WordKind::Argument | WordKind::Element) {
            let mut expanded = brace::expand(parts.into_vec(), self.depth_left(), self)?;
            tilde::in_alternatives(&mut expanded);
            return Ok(Word { parts: expanded, span });
        }
        Ok(parts.into_word(span))
    }

    /// What a backslash, a quote, a dollar sign or a backquote begins outside quotes. False if `byte` is
    /// none of them.
    pub fn quote_or_expansion(&mut self, byte: u8, parts: &mut Parts) -> Parsed<bool> {
        match byte {
            b'\\' => self.escape(parts),
            b'\'' => parts.push(WordPart::SingleQuoted(self.single_quoted()?)),
            b'"' => parts.push(WordPart::DoubleQuoted(self.double_quoted()?)),
            b'$' => self.unquoted_dollar(parts)?,
            b'`' => self.backquoted(parts, super::dollar::Quoting::None)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `\x` outside quotes. At the very end of the text a backslash stands for itself.
    pub fn escape(&mut self, parts: &mut Parts) {
        self.bump();
        let start = self.input.position;
        let Some(first) = self.input.byte_at(start) else {
            parts.push(WordPart::Escaped(BString::from("\\")));
            return;
        };
        // A character of several bytes stays together.
        let mut end = start + 1;
        for _ in 0..utf8_tail(first) {
            let next = self.after_continuations(end);
            if self.input.byte_at(next).is_none_or(|byte| byte & 0xc0 != 0x80) {
                break;
            }
            end = next + 1;
        }
        parts.push(WordPart::Escaped(self.written(start, end)));
        self.input.position = end;
    }

    fn group_may_follow(&self, parts: &Parts, kind: WordKind) -> bool {
        if kind == WordKind::Regex {
            return true;
        }
        (kind == WordKind::Pattern || self.options.extglob)
            && matches!(parts.last_literal_byte(), Some(b'?' | b'*' | b'+' | b'@' | b'!'))
    }

    /// Balanced parentheses, as part of a pattern or a regular expression: blanks and operators are plain text
    /// inside.
    pub fn group(&mut self, parts: &mut Parts) -> Parsed<()> {
        let mark = self.mark();
        let mut level = 0;
        loop {
            match self.literal_run(&GROUP_STOPS, parts) {
                None => return self.unclosed(')', mark),
                Some(b'(') => {
                    level += 1;
                    self.check_depth(level)?;
                    self.literal_byte(b'(', parts);
                }
                Some(b')') => {
                    level -= 1;
                    self.literal_byte(b')', parts);
                    if level == 0 {
                        return Ok(());
                    }
                }
                Some(stop) => {
                    self.quote_or_expansion(stop, parts)?;
                }
            }
        }
    }

    /// What was written between two positions, without line continuations.
    pub fn written(&self, start: usize, end: usize) -> BString {
        let text = self.input.slice(start, end);
        if has_continuation(text) { strip_continuations(text) } else { BString::from(text) }
    }
}

/// How many bytes follow the first of a character.
fn utf8_tail(first: u8) -> usize {
    match first {
        0xc0..=0xdf => 1,
        0xe0..=0xef => 2,
        0xf0..=0xf7 => 3,
        _ => 0,
    }
}

fn has_continuation(text: &[u8]) -> bool {
    text.windows(2).any(|pair| pair == b"\\\n")
}

fn strip_continuations(text: &[u8]) -> BString {
    let mut stripped = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.peek()) {
            (b'\\', Some(b'\n')) => {
                bytes.next();
            }
            (b'\\', Some(_)) => {
                stripped.push(byte);
                stripped.extend(bytes.next());
            }
            _ => stripped.push(byte),
        }
    }
    BString::from(stripped)
}
