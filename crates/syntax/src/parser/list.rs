//! Lists, chains and pipelines.

use super::Parsed;
use super::command::empty_command;
use super::cursor::Reader;
use super::parts::push_tight;
use super::reserved::Reserved;
use crate::ast::{AndOr, AndOrOperator, List, ListItem, Pipeline, Stage, TimeFormat};

/// What follows a chain in a list.
enum Separator {
    Sequence,
    Background,
    None,
}

impl Reader<'_, '_> {
    /// One line's worth of commands at the top level; `None` at the end of the text.
    pub fn complete_command(&mut self) -> Parsed<Option<List>> {
        self.skip_newlines()?;
        if self.peek().is_none() {
            return Ok(None);
        }
        let mut list = List::default();
        loop {
            let separator = self.list_item(&mut list.items)?;
            self.skip_blanks();
            if self.accept_newline()? || self.peek().is_none() {
                break;
            }
            if matches!(separator, Separator::None) {
                return self.unexpected();
            }
        }
        self.read_pending_documents()?;
        self.fill_documents(&mut list);
        Ok(Some(list))
    }

    /// Commands up to something that cannot begin one: a closing word or operator, or the end.
    /// It may turn out empty.
    pub fn list(&mut self) -> Parsed<List> {
        let mut list = List::default();
        loop {
            self.skip_newlines()?;
            self.expand_aliases()?;
            if self.at_list_end() {
                return Ok(list);
            }
            let separator = self.list_item(&mut list.items)?;
            self.skip_blanks();
            if matches!(separator, Separator::None) && self.peek() != Some(b'\n') {
                return Ok(list);
            }
        }
    }

    fn list_item(&mut self, items: &mut Vec<ListItem>) -> Parsed<Separator> {
        let chain = self.and_or()?;
        let separator = self.separator();
        let background = matches!(separator, Separator::Background);
        push_tight(items, ListItem { chain, background });
        Ok(separator)
    }

    /// A list with at least one command.
    pub fn required_list(&mut self) -> Parsed<List> {
        let list = self.list()?;
        if list.items.is_empty() { self.unexpected() } else { Ok(list) }
    }

    fn at_list_end(&mut self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.peek_second(), Some(b';' | b'&')),
            Some(_) => self.reserved_word().is_some_and(|(word, _)| word.closes_list()),
        }
    }

    fn separator(&mut self) -> Separator {
        self.skip_blanks();
        match (self.peek(), self.peek_second()) {
            (Some(b';'), Some(b';' | b'&')) | (Some(b'&'), Some(b'&')) => Separator::None,
            (Some(b';'), _) => {
                self.bump();
                Separator::Sequence
            }
            (Some(b'&'), _) => {
                self.bump();
                Separator::Background
            }
            _ => Separator::None,
        }
    }

    fn and_or(&mut self) -> Parsed<AndOr> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let operator = match self.peek() {
                Some(b'&') if self.accept_text(b"&&") => AndOrOperator::And,
                Some(b'|') if self.accept_text(b"||") => AndOrOperator::Or,
                _ => return Ok(AndOr { first, rest }),
            };
            self.skip_newlines()?;
            rest.push((operator, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        self.skip_blanks();
        self.expand_aliases()?;
        let mark = self.mark();
        let mut pipeline = Pipeline {
            negated: false,
            timed: None,
            stages: Vec::new(),
            span: self.span_since(mark),
        };
        let bare_allowed = self.pipeline_prefix(&mut pipeline)?;
        if !(bare_allowed && self.at_bare_end()) {
            self.stages(&mut pipeline.stages)?;
        }
        pipeline.span = self.span_since(mark);
        Ok(pipeline)
    }

    /// Any number of `!` and `time`; true if there was one.
    fn pipeline_prefix(&mut self, pipeline: &mut Pipeline) -> Parsed<bool> {
        let mut found = false;
        loop {
            match self.reserved_word() {
                Some((Reserved::Bang, end)) => {
                    self.input.position = end;
                    pipeline.negated = !pipeline.negated;
                }
                Some((Reserved::Time, end)) => {
                    self.input.position = end;
                    pipeline.timed = Some(self.time_format());
                }
                _ => return Ok(found),
            }
            found = true;
            self.skip_blanks();
            self.expand_aliases()?;
        }
    }

    /// `time -p`, `time --` or plain `time`.
    fn time_format(&mut self) -> TimeFormat {
        let mut format = TimeFormat::Bash;
        for option in [b"-p", b"--"] {
            self.skip_blanks();
            if let Some(end) = self.end_of_exact_word(option) {
                self.input.position = end;
                format = TimeFormat::Posix;
            }
        }
        format
    }

    /// A bare `time` or `!` is a command where a list may end.
    fn at_bare_end(&mut self) -> bool {
        match self.peek() {
            None | Some(b'\n') => true,
            Some(b';') => !matches!(self.peek_second(), Some(b';' | b'&')),
            Some(b')') => self.in_substitution,
            Some(_) => false,
        }
    }

    fn stages(&mut self, stages: &mut Vec<Stage>) -> Parsed<()> {
        loop {
            // Commands are read in place: moving them from rule to rule would cost more stack than reading.
            push_tight(stages, Stage { command: empty_command(), pipes_errors: false });
            let Some(stage) = stages.last_mut() else { return Ok(()) };
            self.command(&mut stage.command)?;
            self.skip_blanks();
            match (self.peek(), self.peek_second()) {
                (Some(b'|'), Some(b'|')) => return Ok(()),
                (Some(b'|'), Some(b'&')) => stage.pipes_errors = self.accept_text(b"|&"),
                (Some(b'|'), _) => self.bump(),
                _ => return Ok(()),
            }
            self.skip_newlines()?;
            self.expand_aliases()?;
            if matches!(self.reserved_word(), Some((Reserved::Bang, _))) {
                return self.unexpected();
            }
        }
    }
}
