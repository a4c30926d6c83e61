//! `name=value`, `name+=value`, `name[subscript]=value`, `name=(…)`.

use bstr::BString;

use super::Parsed;
use super::cursor::Reader;
use super::input::Mark;
use super::parts::Parts;
use super::scan;
use super::words::WordKind;
use crate::ast::{Argument, ArrayElement, AssignedValue, Assignment, Subscript, Word, WordPart};

impl Reader<'_, '_> {
    /// The assignment at the position, if one begins there. `name[…]` without `=` behind it is a word, but one
    /// whose brackets may hold blanks.
    pub fn assignment(&mut self) -> Parsed<Option<Argument>> {
        let Some((name, name_end)) = self.assigned_name() else { return Ok(None) };
        let mark = self.mark();
        let start = std::mem::replace(&mut self.input.position, name_end);
        if self.peek() != Some(b'[') {
            let Some(append) = self.assignment_operator() else {
                self.input.position = start;
                return Ok(None);
            };
            return Ok(Some(Argument::Assignment(self.assigned(name, None, append, mark)?)));
        }
        let subscript = self.subscript()?;
        if let Some(append) = self.assignment_operator() {
            let assignment = self.assigned(name, Some(subscript), append, mark)?;
            return Ok(Some(Argument::Assignment(assignment)));
        }
        let mut parts = Parts::default();
        parts.literal(&name);
        self.word_after_subscript(parts, subscript, mark).map(|word| Some(Argument::Word(word)))
    }

    /// Goes on with a word that began like a subscripted assignment.
    fn word_after_subscript(
        &mut self,
        mut parts: Parts,
        subscript: Subscript,
        mark: Mark,
    ) -> Parsed<Word> {
        parts.literal(b"[");
        parts.extend(subscript.text.parts);
        parts.literal(b"]");
        self.rest_of_word(parts, mark, WordKind::Argument)
    }

    /// A name in front of `=`, `+=` or `[`, and where it ends.
    fn assigned_name(&mut self) -> Option<(BString, usize)> {
        let first = self.peek()?;
        if !scan::is_name_start(first) {
            return None;
        }
        let start = self.input.position;
        let mut end = start;
        loop {
            end = self.after_continuations(end);
            match self.input.byte_at(end)? {
                byte if scan::is_name_byte(byte) => end += 1,
                b'=' | b'[' => break,
                b'+' if self.input.byte_at(self.after_continuations(end + 1)) == Some(b'=') => {
                    break;
                }
                _ => return None,
            }
        }
        Some((self.written(start, end), end))
    }

    /// `=` or `+=`, and whether it appends.
    fn assignment_operator(&mut self) -> Option<bool> {
        if self.accept(b'=') {
            return Some(false);
        }
        self.accept_text(b"+=").then_some(true)
    }

    fn assigned(
        &mut self,
        name: BString,
        subscript: Option<Subscript>,
        append: bool,
        mark: Mark,
    ) -> Parsed<Assignment> {
        let value = if self.peek() == Some(b'(') {
            AssignedValue::Array(self.nested(Self::array)?)
        } else {
            AssignedValue::Scalar(self.word(WordKind::Value)?)
        };
        Ok(Assignment { name, subscript, append, value, span: self.span_since(mark) })
    }

    /// `(…)` behind the `=`.
    fn array(&mut self) -> Parsed<Vec<ArrayElement>> {
        let mark = self.mark();
        self.bump();
        let mut elements = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.accept(b')') {
                return Ok(elements);
            }
            if self.peek().is_none() {
                return Err(self.unclosed(')', mark));
            }
            if !self.at_word() {
                return self.unexpected();
            }
            elements.push(self.array_element()?);
        }
    }

    fn array_element(&mut self) -> Parsed<ArrayElement> {
        let mark = self.mark();
        if self.peek() != Some(b'[') {
            let value = self.word(WordKind::Argument)?;
            return Ok(ArrayElement { subscript: None, append: false, value });
        }
        let subscript = self.subscript()?;
        if let Some(append) = self.assignment_operator() {
            let value = self.word(WordKind::Value)?;
            return Ok(ArrayElement { subscript: Some(subscript), append, value });
        }
        let value = self.word_after_subscript(Parts::default(), subscript, mark)?;
        Ok(ArrayElement { subscript: None, append: false, value })
    }

    /// `name=(…)` behind `eval`, `let` or `alias`: one word, as written.
    pub fn written_array(&mut self) -> Parsed<Option<Word>> {
        let Some((_, end)) = self.assigned_name() else { return Ok(None) };
        let start = self.input.position;
        let mark = self.mark();
        self.input.position = end;
        if self.assignment_operator().is_none() || self.peek() != Some(b'(') {
            self.input.position = start;
            return Ok(None);
        }
        self.nested(Self::array)?;
        let text = self.written(start, self.input.position);
        let parts = vec![WordPart::Literal(text)];
        Ok(Some(Word { parts, span: self.span_since(mark) }))
    }
}
