//! `name=value`, `name+=value`, `name[subscript]=value`, `name=(…)`.

use super::Parsed;
use super::cursor::Reader;
use super::input::Mark;
use super::parts::Parts;
use super::scan;
use super::words::WordKind;
use crate::ast::{Argument, ArrayElement, AssignedValue, Assignment, Subscript, Word, WordPart};

impl Reader<'_, '_> {
    /// Whether a name in front of `=`, `+=` or `[` begins here.
    pub fn at_assignment(&mut self) -> bool {
        self.end_of_assigned_name().is_some()
    }

    /// The assignment at the position, where [`Self::at_assignment`]. `name[…]` without `=` behind it is a word,
    /// but one whose brackets may hold blanks.
    pub fn assignment(&mut self, arguments: &mut Vec<Argument>) -> Parsed<()> {
        let mark = self.mark();
        let name = self.name();
        let subscript = if self.peek() == Some(b'[') { Some(self.subscript()?) } else { None };
        match (self.assignment_operator(), subscript) {
            (Some(append), subscript) => {
                let value = AssignedValue::Scalar(Word::default());
                let span = self.span_since(mark);
                let assignment = Assignment { name, subscript, append, value, span };
                arguments.push(Argument::Assignment(assignment));
                self.assigned_value(arguments.last_mut(), mark)
            }
            (None, Some(subscript)) => {
                let mut parts = Parts::default();
                parts.literal(&name);
                let word = self.word_after_subscript(parts, subscript, mark)?;
                arguments.push(Argument::Word(word));
                Ok(())
            }
            (None, None) => self.unexpected(),
        }
    }

    fn assigned_value(&mut self, argument: Option<&mut Argument>, mark: Mark) -> Parsed<()> {
        let Some(Argument::Assignment(assignment)) = argument else { return Ok(()) };
        assignment.value = if self.peek() == Some(b'(') {
            AssignedValue::Array(self.nested(Self::array)?)
        } else {
            AssignedValue::Scalar(self.word(WordKind::Value)?)
        };
        assignment.span = self.span_since(mark);
        Ok(())
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

    fn end_of_assigned_name(&mut self) -> Option<usize> {
        let first = self.peek()?;
        if !scan::is_name_start(first) {
            return None;
        }
        let mut end = self.input.position;
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
        Some(end)
    }

    /// `=` or `+=`, and whether it appends.
    fn assignment_operator(&mut self) -> Option<bool> {
        if self.accept(b'=') {
            return Some(false);
        }
        self.accept_text(b"+=").then_some(true)
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
                return self.unclosed(')', mark);
            }
            if !self.at_word() {
                return self.unexpected();
            }
            self.array_element(&mut elements)?;
        }
    }

    fn array_element(&mut self, elements: &mut Vec<ArrayElement>) -> Parsed<()> {
        if self.peek() == Some(b'[') {
            return self.subscripted_element(elements);
        }
        let value = self.word(WordKind::Argument)?;
        elements.push(ArrayElement { subscript: None, append: false, value });
        Ok(())
    }

    fn subscripted_element(&mut self, elements: &mut Vec<ArrayElement>) -> Parsed<()> {
        let mark = self.mark();
        let subscript = self.subscript()?;
        elements.push(if let Some(append) = self.assignment_operator() {
            let value = self.word(WordKind::Element)?;
            ArrayElement { subscript: Some(subscript), append, value }
        } else {
            let value = self.word_after_subscript(Parts::default(), subscript, mark)?;
            ArrayElement { subscript: None, append: false, value }
        });
        Ok(())
    }

    /// `name=(…)` behind `eval`, `let` or `alias`: one word, as written. False if there is none.
    pub fn written_array(&mut self, arguments: &mut Vec<Argument>) -> Parsed<bool> {
        let Some(end) = self.end_of_assigned_name() else { return Ok(false) };
        let start = self.input.position;
        let mark = self.mark();
        self.input.position = end;
        if self.assignment_operator().is_none() || self.peek() != Some(b'(') {
            self.input.position = start;
            return Ok(false);
        }
        self.nested(Self::array)?;
        let text = self.written(start, self.input.position);
        let parts = vec![WordPart::Literal(text)];
        arguments.push(Argument::Word(Word { parts, span: self.span_since(mark) }));
        Ok(true)
    }
}
