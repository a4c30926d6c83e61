//! `$(…)`, `<(…)`, `>(…)` and backquotes.

use std::sync::Arc;

use super::Parsed;
use super::cursor::Reader;
use super::dollar::Quoting;
use super::heredoc::PendingDocument;
use super::input::{Checkpoint, Input, Mark};
use super::parts::Parts;
use crate::SyntaxErrorKind;
use crate::ast::{CommandSubstitution, List, ProcessDirection, ProcessSubstitution, WordPart};

/// A point of the whole reader to come back to.
pub(super) struct Attempt {
    input: Checkpoint,
    pending: Vec<PendingDocument>,
    bodies: usize,
}

impl<'source> Reader<'_, 'source> {
    pub fn attempt(&self) -> Attempt {
        Attempt {
            input: self.input.checkpoint(),
            pending: self.pending.clone(),
            bodies: self.bodies.len(),
        }
    }

    pub fn abandon(&mut self, attempt: Attempt) {
        self.input.go_back(attempt.input);
        self.pending = attempt.pending;
        self.bodies.truncate(attempt.bodies);
    }

    /// Tries to read `((…))` as arithmetic; the position is at the second parenthesis. Whether it is one is
    /// known only at its end. A failure is remembered, or nested ones would be tried again and again.
    pub fn try_arithmetic<T>(
        &mut self,
        rule: impl FnOnce(&mut Self) -> Parsed<Option<T>>,
    ) -> Parsed<Option<T>> {
        self.peek();
        let start = self.input.position;
        if self.input.dead_ends.contains(&start) {
            return Ok(None);
        }
        let attempt = self.attempt();
        match rule(self) {
            Ok(Some(arithmetic)) => return Ok(Some(arithmetic)),
            Err(error) if matches!(error.kind, SyntaxErrorKind::TooDeep(_)) => return Err(error),
            Ok(None) | Err(_) => {}
        }
        self.abandon(attempt);
        self.input.dead_ends.insert(start);
        Ok(None)
    }

    /// `$((…))` if it is one, else `$(…)`.
    pub fn dollar_parenthesis(&mut self, parts: &mut Parts, mark: Mark) -> Parsed<()> {
        let start = self.input.position;
        self.accept_text(b"$(");
        if self.peek() != Some(b'(') {
            return self.command_substitution(parts, mark);
        }
        if !self.input.dead_ends.contains(&start) {
            let found = self.try_arithmetic(|reader| {
                reader.bump();
                reader.nested(Self::arithmetic_in_parentheses)
            })?;
            if let Some(arithmetic) = found {
                parts.push(WordPart::Arithmetic(arithmetic));
                return Ok(());
            }
            let attempt = self.attempt();
            match self.command_substitution(parts, mark) {
                Err(error) if !matches!(error.kind, SyntaxErrorKind::TooDeep(_)) => {}
                other => return other,
            }
            self.abandon(attempt);
            self.input.dead_ends.insert(start);
        }
        self.broken_parenthesis(parts, start, mark)
    }

    /// `$((…)` that is neither arithmetic nor commands: bash finds out when it expands it, as long as the
    /// parentheses match.
    fn broken_parenthesis(&mut self, parts: &mut Parts, start: usize, mark: Mark) -> Parsed<()> {
        self.input.position = start;
        self.accept(b'$');
        self.peek();
        self.nested(|reader| reader.group(&mut Parts::default()))?;
        let span = self.span_since(mark);
        parts.bad(self.input.slice(start, self.input.position), span);
        Ok(())
    }

    fn command_substitution(&mut self, parts: &mut Parts, mark: Mark) -> Parsed<()> {
        let body = Arc::new(self.substituted_list(mark)?);
        let span = self.span_since(mark);
        parts.push(WordPart::Command(CommandSubstitution { body, backquoted: false, span }));
        Ok(())
    }

    pub fn process_substitution(&mut self, parts: &mut Parts) -> Parsed<()> {
        let mark = self.mark();
        let direction = match self.peek() {
            Some(b'<') => ProcessDirection::Read,
            _ => ProcessDirection::Write,
        };
        self.bump();
        self.accept(b'(');
        let body = Arc::new(self.substituted_list(mark)?);
        let span = self.span_since(mark);
        parts.push(WordPart::Process(ProcessSubstitution { direction, body, span }));
        Ok(())
    }

    /// Commands up to `)`, which is consumed.
    fn substituted_list(&mut self, mark: Mark) -> Parsed<List> {
        self.nested(|reader| {
            let outer = std::mem::replace(&mut reader.in_substitution, true);
            let mut pending = std::mem::take(&mut reader.pending);
            let list = reader.list_to_parenthesis();
            reader.in_substitution = outer;
            // A newline inside does not begin the documents of the line around it, but those announced inside
            // may still begin after that line.
            pending.append(&mut reader.pending);
            reader.pending = pending;
            match list {
                Err(error) if error.kind == SyntaxErrorKind::UnexpectedEnd => {
                    // Unlike with quotes, bash names the line where it gave up.
                    reader.unclosed(')', Mark { line: error.span.line, ..mark })
                }
                other => other,
            }
        })
    }

    fn list_to_parenthesis(&mut self) -> Parsed<List> {
        let list = self.list()?;
        if self.accept(b')') { Ok(list) } else { self.unexpected() }
    }

    /// Backquotes. Bash parses what is inside only when it runs, so an error in there is not one here.
    pub fn backquoted(&mut self, parts: &mut Parts, quoting: Quoting) -> Parsed<()> {
        let mark = self.mark();
        let start = self.input.position;
        let Some(end) = self.end_of_backquotes(start + 1) else {
            return self.unclosed('`', mark);
        };
        let inside = self.unescaped(start + 1, end, quoting, mark.line);
        let list = self.nested(|reader| reader.within(inside, Self::list_to_end));
        self.input.position = end + 1;
        let span = self.span_since(mark);
        match list {
            Ok(list) => {
                let body = Arc::new(list);
                parts.push(WordPart::Command(CommandSubstitution { body, backquoted: true, span }));
            }
            Err(error) if matches!(error.kind, SyntaxErrorKind::TooDeep(_)) => return Err(error),
            Err(_) => parts.bad(self.input.slice(start, end + 1), span),
        }
        Ok(())
    }

    fn end_of_backquotes(&self, mut position: usize) -> Option<usize> {
        loop {
            match self.input.byte_at(position)? {
                b'`' => return Some(position),
                b'\\' => position += 2,
                _ => position += 1,
            }
        }
    }

    /// The text between backquotes without the backslashes that only protect it from them.
    fn unescaped(&self, start: usize, end: usize, quoting: Quoting, line: u32) -> Input<'source> {
        let mut text = Vec::with_capacity(end - start);
        let mut offsets = vec![self.input.offset_step(0, start)];
        let mut position = start;
        while position < end {
            let byte = self.input.byte_at(position).unwrap_or_default();
            let next = self.input.byte_at(position + 1);
            let protects = match next {
                Some(b'\\' | b'$' | b'`') => true,
                Some(b'"') => quoting == Quoting::Double,
                _ => false,
            };
            if byte == b'\\' && protects {
                position += 1;
                text.extend(next);
                offsets.push(self.input.offset_step(text.len() - 1, position));
            } else {
                text.push(byte);
            }
            position += 1;
        }
        Input::replaced(text, offsets, line)
    }

    /// Runs a rule over another text, with here-documents of its own.
    pub fn within<T>(
        &mut self,
        input: Input<'source>,
        rule: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let outer = std::mem::replace(&mut self.input, input);
        if self.aliases.any() {
            self.input.make_room();
        }
        let pending = std::mem::take(&mut self.pending);
        let in_substitution = std::mem::replace(&mut self.in_substitution, false);
        let result = rule(self);
        self.input = outer;
        self.pending = pending;
        self.in_substitution = in_substitution;
        result
    }

    /// Commands up to the end of the text.
    fn list_to_end(&mut self) -> Parsed<List> {
        let list = self.list()?;
        if self.peek().is_some() {
            return self.unexpected();
        }
        self.read_pending_documents()?;
        Ok(list)
    }
}
