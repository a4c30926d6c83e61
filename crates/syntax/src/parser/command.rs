//! Simple commands, function definitions, and the choice between them and compound commands.

use std::sync::Arc;

use bstr::BString;

use super::Parsed;
use super::cursor::Reader;
use super::input::Mark;
use super::reserved::Reserved;
use super::words::WordKind;
use crate::ast::{
    AndOr, Argument, Command, CompoundCommand, CompoundKind, FunctionDefinition, List, ListItem,
    Pipeline, SimpleCommand, Stage, WordPart,
};

/// What the command word means for arguments that look like assignments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arguments {
    /// They are words.
    Words,
    /// `declare` and its kin: they are assignments.
    Assignments,
    /// `eval`, `let`, `alias`: words, but `name=(…)` is allowed and kept as written.
    WrittenArrays,
}

impl Arguments {
    fn of_command(name: &[u8]) -> Self {
        match name {
            b"declare" | b"typeset" | b"local" | b"export" | b"readonly" => Arguments::Assignments,
            b"eval" | b"let" | b"alias" => Arguments::WrittenArrays,
            _ => Arguments::Words,
        }
    }
}

/// Bash shows every body in braces, so every body is a group.
fn as_group(body: CompoundCommand) -> CompoundCommand {
    if matches!(body.kind, CompoundKind::Group(_)) {
        return body;
    }
    let span = body.span;
    let stage = Stage { command: Command::Compound(body), pipes_errors: false };
    let first = Pipeline { negated: false, timed: None, stages: vec![stage], span };
    let chain = AndOr { first, rest: Vec::new() };
    let list = List { items: vec![ListItem { chain, background: false }] };
    CompoundCommand { kind: CompoundKind::Group(list), redirects: Vec::new(), span }
}

impl Reader<'_, '_> {
    /// One stage of a pipeline.
    pub fn command(&mut self) -> Parsed<Command> {
        self.skip_blanks();
        let mark = self.mark();
        if self.peek() == Some(b'(') {
            return Ok(Command::Compound(self.compound(mark)?));
        }
        match self.reserved_word() {
            None | Some((Reserved::In, _)) => self.simple_command(mark),
            Some((Reserved::Time, _)) => self.simple_command(mark),
            Some((Reserved::Function, end)) => {
                self.input.position = end;
                self.function_after_keyword(mark)
            }
            Some((Reserved::Coproc, _)) => Err(self.other("coproc: unsupported construct".into())),
            Some(_) => Ok(Command::Compound(self.compound(mark)?)),
        }
    }

    fn simple_command(&mut self, mark: Mark) -> Parsed<Command> {
        let mut command = SimpleCommand::default();
        let mut arguments = Arguments::Words;
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                command.redirects.push(redirect);
                continue;
            }
            if command.words.is_empty() {
                self.expand_aliases()?;
            } else {
                self.expand_argument_alias()?;
            }
            if !self.at_word() {
                break;
            }
            if command.words.is_empty() {
                let start = self.input.position;
                arguments = self.assignment_or_command_word(&mut command)?;
                let alone = command.assignments.is_empty() && command.redirects.is_empty();
                if alone && command.words.len() == 1 {
                    let end = self.input.position;
                    self.skip_blanks();
                    if self.peek() == Some(b'(') {
                        let name = self.written(start, end);
                        return self.function_after_name(name, mark);
                    }
                }
            } else {
                let argument = self.argument(arguments)?;
                command.words.push(argument);
            }
        }
        self.finish_simple(command, mark)
    }

    fn finish_simple(&mut self, mut command: SimpleCommand, mark: Mark) -> Parsed<Command> {
        let empty = command.words.is_empty()
            && command.assignments.is_empty()
            && command.redirects.is_empty();
        if empty || self.peek() == Some(b'(') {
            return self.unexpected();
        }
        command.span = self.span_since(mark);
        Ok(Command::Simple(command))
    }

    fn assignment_or_command_word(&mut self, command: &mut SimpleCommand) -> Parsed<Arguments> {
        if let Some(assignment) = self.assignment()? {
            match assignment {
                Argument::Assignment(assignment) => command.assignments.push(assignment),
                word @ Argument::Word(_) => command.words.push(word),
            }
            return Ok(Arguments::Words);
        }
        let word = self.word(WordKind::Argument)?;
        let arguments = match word.parts.as_slice() {
            [WordPart::Literal(name)] => Arguments::of_command(name),
            _ => Arguments::Words,
        };
        command.words.push(Argument::Word(word));
        Ok(arguments)
    }

    fn argument(&mut self, arguments: Arguments) -> Parsed<Argument> {
        match arguments {
            Arguments::Words => {}
            Arguments::Assignments => {
                if let Some(argument) = self.assignment()? {
                    return Ok(argument);
                }
            }
            Arguments::WrittenArrays => {
                if let Some(word) = self.written_array()? {
                    return Ok(Argument::Word(word));
                }
            }
        }
        Ok(Argument::Word(self.word(WordKind::Argument)?))
    }

    /// `name ()`: the position is at the opening parenthesis.
    fn function_after_name(&mut self, name: BString, mark: Mark) -> Parsed<Command> {
        self.bump();
        self.skip_blanks();
        if !self.accept(b')') {
            return self.unexpected_in_line();
        }
        self.function_body(name, mark)
    }

    /// `function name` with or without `()`.
    fn function_after_keyword(&mut self, mark: Mark) -> Parsed<Command> {
        self.skip_blanks();
        if !self.at_word() {
            return self.unexpected_in_line();
        }
        let start = self.input.position;
        self.plain_word()?;
        let name = self.written(start, self.input.position);
        self.skip_blanks();
        if self.peek() == Some(b'(') && self.empty_parentheses() {
            self.bump();
            self.skip_blanks();
            self.bump();
        }
        self.function_body(name, mark)
    }

    /// Whether `()` follows rather than a subshell as the body.
    fn empty_parentheses(&mut self) -> bool {
        let start = self.input.position;
        self.bump();
        self.skip_blanks();
        let empty = self.peek() == Some(b')');
        self.input.position = start;
        empty
    }

    fn function_body(&mut self, name: BString, mark: Mark) -> Parsed<Command> {
        self.skip_newlines()?;
        let body_mark = self.mark();
        let begins_compound = self.peek() == Some(b'(')
            || self.reserved_word().is_some_and(|(word, _)| word.opens_compound());
        if !begins_compound {
            return self.unexpected();
        }
        let body = self.nested(|reader| reader.compound(body_mark))?;
        let body = Arc::new(as_group(body));
        let span = self.span_since(mark);
        Ok(Command::Function(FunctionDefinition { name, body, span }))
    }
}
