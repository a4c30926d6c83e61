//! Simple commands, function definitions, and the choice between them and compound commands.

use std::sync::Arc;

use bstr::BString;

use super::Parsed;
use super::cursor::Reader;
use super::input::Mark;
use super::parts::push_tight;
use super::reserved::Reserved;
use super::words::WordKind;
use crate::Span;
use crate::ast::{
    AndOr, Argument, Command, CompoundCommand, CompoundKind, Coprocess, FunctionDefinition, List,
    ListItem, Pipeline, SimpleCommand, Stage, WordPart,
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

/// A place to read a command into.
pub(super) fn empty_command() -> Command {
    Command::Simple(SimpleCommand::default())
}

fn empty_compound() -> CompoundCommand {
    let kind = CompoundKind::Group(List::default());
    CompoundCommand { kind, redirects: Vec::new(), span: Span::default() }
}

/// Bash shows every body in braces, so every body is a group.
fn make_group(body: &mut CompoundCommand) {
    if matches!(body.kind, CompoundKind::Group(_)) {
        return;
    }
    let span = body.span;
    let command = Command::Compound(std::mem::replace(body, empty_compound()));
    body.kind = CompoundKind::Group(list_of(command, span));
    body.span = span;
}

fn list_of(command: Command, span: Span) -> List {
    let stages = vec![Stage { command, pipes_errors: false }];
    let first = Pipeline { negated: false, timed: None, stages, span };
    let chain = AndOr { first, rest: Vec::new() };
    List { items: vec![ListItem { chain, background: false }] }
}

impl Reader<'_, '_> {
    /// One stage of a pipeline, into `place`.
    pub fn command(&mut self, place: &mut Command) -> Parsed<()> {
        self.skip_blanks();
        let mark = self.mark();
        if self.peek() == Some(b'(') {
            return self.compound_into(place, mark);
        }
        match self.reserved_word() {
            None | Some((Reserved::Time, _)) => self.simple_or_function(place, mark),
            Some((Reserved::Function, end)) => {
                self.input.position = end;
                self.function_after_keyword(place, mark)
            }
            Some((Reserved::Coproc, end)) => {
                self.input.position = end;
                self.coprocess(place, mark)
            }
            Some(_) => self.compound_into(place, mark),
        }
    }

    fn compound_into(&mut self, place: &mut Command, mark: Mark) -> Parsed<()> {
        *place = Command::Compound(empty_compound());
        match place {
            Command::Compound(compound) => self.compound(compound, mark),
            _ => Ok(()),
        }
    }

    /// What follows `coproc`: a compound command, perhaps with a name in front, or a simple command.
    fn coprocess(&mut self, place: &mut Command, mark: Mark) -> Parsed<()> {
        self.skip_blanks();
        let name = self.coprocess_name();
        let body_mark = self.mark();
        let mut command = empty_command();
        if name.is_some() || self.begins_compound() {
            self.nested(|reader| reader.compound_into(&mut command, body_mark))?;
        } else {
            let mut simple = SimpleCommand::default();
            if self.simple_command(&mut simple)?.is_some() {
                self.bump();
                return self.unexpected_in_line();
            }
            simple.span = self.span_since(body_mark);
            command = Command::Simple(simple);
        }
        let name = name.unwrap_or_else(|| "COPROC".into());
        let body = list_of(command, self.span_since(body_mark));
        let kind = CompoundKind::Coprocess(Coprocess { name, body });
        let span = self.span_since(mark);
        *place = Command::Compound(CompoundCommand { kind, redirects: Vec::new(), span });
        Ok(())
    }

    /// A word in front of a compound command; the position is behind it then.
    fn coprocess_name(&mut self) -> Option<BString> {
        let start = self.input.position;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.bump();
        }
        let end = self.input.position;
        self.skip_blanks();
        if end > start && self.input.position > end && self.begins_compound() {
            return Some(self.written(start, end));
        }
        self.input.position = start;
        None
    }

    fn begins_compound(&mut self) -> bool {
        self.peek() == Some(b'(')
            || self.reserved_word().is_some_and(|(word, _)| word.opens_compound())
    }

    fn simple_or_function(&mut self, place: &mut Command, mark: Mark) -> Parsed<()> {
        let mut command = SimpleCommand::default();
        if let Some(name) = self.simple_command(&mut command)? {
            return self.function_after_name(place, name, mark);
        }
        command.words.shrink_to_fit();
        command.span = self.span_since(mark);
        *place = Command::Simple(command);
        Ok(())
    }

    /// Assignments, words and redirects. If one word turns out to be a function's name, returns it; the position
    /// is at the parenthesis then.
    fn simple_command(&mut self, command: &mut SimpleCommand) -> Parsed<Option<BString>> {
        let mut arguments = Arguments::Words;
        loop {
            self.skip_blanks();
            if self.redirect(&mut command.redirects)? {
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
            if !command.words.is_empty() {
                self.argument(arguments, &mut command.words)?;
                continue;
            }
            let start = self.input.position;
            arguments = self.assignment_or_command_word(command)?;
            let alone = command.assignments.is_empty() && command.redirects.is_empty();
            if alone && let Some(name) = self.function_name(start) {
                return Ok(Some(name));
            }
        }
        let empty = command.words.is_empty()
            && command.assignments.is_empty()
            && command.redirects.is_empty();
        if empty || self.peek() == Some(b'(') { self.unexpected() } else { Ok(None) }
    }

    /// The word that was read from `start` on, if a parenthesis follows.
    fn function_name(&mut self, start: usize) -> Option<BString> {
        let end = self.input.position;
        self.skip_blanks();
        (self.peek() == Some(b'(')).then(|| self.written(start, end))
    }

    fn assignment_or_command_word(&mut self, command: &mut SimpleCommand) -> Parsed<Arguments> {
        if self.at_assignment() {
            self.assignment(&mut command.words)?;
            if let Some(Argument::Assignment(_)) = command.words.last()
                && let Some(Argument::Assignment(assignment)) = command.words.pop()
            {
                push_tight(&mut command.assignments, assignment);
            }
            return Ok(Arguments::Words);
        }
        let word = self.word(WordKind::Argument)?;
        let arguments = match word.parts.as_slice() {
            [WordPart::Literal(name)] => Arguments::of_command(name),
            _ => Arguments::Words,
        };
        push_tight(&mut command.words, Argument::Word(word));
        Ok(arguments)
    }

    fn argument(&mut self, arguments: Arguments, words: &mut Vec<Argument>) -> Parsed<()> {
        match arguments {
            Arguments::Assignments if self.at_assignment() => return self.assignment(words),
            Arguments::WrittenArrays if self.written_array(words)? => return Ok(()),
            _ => {}
        }
        self.word_argument(words)
    }

    fn word_argument(&mut self, words: &mut Vec<Argument>) -> Parsed<()> {
        let word = self.word(WordKind::Argument)?;
        words.push(Argument::Word(word));
        Ok(())
    }

    /// `name ()`: the position is at the opening parenthesis.
    fn function_after_name(
        &mut self,
        place: &mut Command,
        name: BString,
        mark: Mark,
    ) -> Parsed<()> {
        self.bump();
        self.skip_blanks();
        if !self.accept(b')') {
            return self.unexpected_in_line();
        }
        self.function_body(place, name, mark)
    }

    /// `function name` with or without `()`.
    fn function_after_keyword(&mut self, place: &mut Command, mark: Mark) -> Parsed<()> {
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
        self.function_body(place, name, mark)
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

    fn function_body(&mut self, place: &mut Command, name: BString, mark: Mark) -> Parsed<()> {
        self.skip_newlines()?;
        let body_mark = self.mark();
        if !self.begins_compound() {
            return self.unexpected();
        }
        let mut body = Arc::new(empty_compound());
        let compound = Arc::make_mut(&mut body);
        self.nested(|reader| reader.compound(compound, body_mark))?;
        make_group(compound);
        let span = self.span_since(mark);
        *place = Command::Function(FunctionDefinition { name, body, span });
        Ok(())
    }
}
