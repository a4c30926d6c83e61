//! Simple commands: expansion, assignments in front, and on to [`super::dispatch`].

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{Argument, AssignedValue, Assignment, SimpleCommand, Word, WordPart};

use crate::builtins::{self, DeclarationArgument, Run};
use crate::release::Heavy;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Running};
use crate::variables::{ScopeKind, list_as_text};
use crate::{long, release};

impl Shell {
    pub(super) fn run_simple(&mut self, command: &SimpleCommand) -> Flow {
        self.line = command.span.line;
        self.step()?;
        if !self.prepare(command)? {
            return Ok(ExitStatus::SUCCESS);
        }
        if self.options.keyword
            && let Some(command) = with_keywords(command)
        {
            return self.run_prepared(&command);
        }
        self.run_prepared(command)
    }

    fn run_prepared(&mut self, command: &SimpleCommand) -> Flow {
        let written = self.written.len();
        let open = self.transient.substitutions.len();
        let flow = self.expand_and_run(command);
        self.written.truncate(written);
        if self.transient.substitutions.len() > open {
            self.close_substitutions(open);
        }
        flow
    }

    /// The DEBUG trap and `BASH_COMMAND`. `false`: the trap wants the command skipped.
    fn prepare(&mut self, command: &SimpleCommand) -> Running<bool> {
        let asked_for = self.transient.names_command || self.traps.names_command;
        if asked_for && self.transient.traps_running == 0 {
            self.command_text = text_of(command);
        }
        if std::mem::take(&mut self.transient.announced) {
            return Ok(true);
        }
        self.announce_simple(command)
    }

    pub(super) fn announce_simple(&mut self, command: &SimpleCommand) -> Running<bool> {
        if self.traps.get(super::Condition::Debug).is_none() {
            return Ok(true);
        }
        self.run_debug_trap(|| text_of(command))
    }

    fn expand_and_run(&mut self, command: &SimpleCommand) -> Flow {
        self.substitution_status = None;
        if let Some((declaration, run)) = self.declaration(command) {
            return self.run_declaration(command, declaration, run);
        }
        let mut words = Heavy::new(Vec::with_capacity(command.words.len()));
        for argument in &command.words {
            match argument {
                Argument::Word(word) => self.expand_word_into(word, &mut words)?,
                Argument::Assignment(assignment) => {
                    let word = self.assignment_as_word(assignment)?;
                    words.push(word);
                }
            }
        }
        if words.is_empty() {
            return self.run_assignments(command);
        }
        self.in_temporary_scope(command, &words, |shell, words| {
            shell.dispatch(words, &command.redirects)
        })
    }

    /// Only assignments, perhaps with redirects: the status is that of the last substitution.
    fn run_assignments(&mut self, command: &SimpleCommand) -> Flow {
        for assignment in &command.assignments {
            self.assign_traced(assignment)?;
        }
        self.last_argument.clear();
        if command.redirects.is_empty() {
            return Ok(self.substitution_status.unwrap_or_default());
        }
        // `>file$(false)` fails as `x=$(false)` does.
        self.with_redirects(&command.redirects, |shell| {
            Ok(shell.substitution_status.unwrap_or_default())
        })
    }

    fn assign_traced(&mut self, assignment: &Assignment) -> Running<()> {
        if !self.options.xtrace {
            return self.assign(assignment);
        }
        let AssignedValue::Scalar(word) = &assignment.value else {
            self.trace_assignment(assignment, None);
            return self.assign(assignment);
        };
        let value = self.expand_to_string(word)?;
        self.trace_assignment(assignment, Some(&value));
        self.assign(&literally(assignment, value))
    }

    /// Assignments in front of a command are in force while it runs.
    fn in_temporary_scope(
        &mut self,
        command: &SimpleCommand,
        words: &[BString],
        run: impl FnOnce(&mut Self, &[BString]) -> Flow,
    ) -> Flow {
        if command.assignments.is_empty() {
            if self.options.xtrace {
                self.trace_words(words);
            }
            return run(self, words);
        }
        if self.options.posix && Self::is_special(words) {
            for assignment in &command.assignments {
                self.assign_traced(assignment)?;
            }
            return run(self, words);
        }
        self.variables.push_scope(ScopeKind::Temporary);
        let flow = self.assign_in_front(&command.assignments).and_then(|()| {
            if self.options.xtrace {
                self.trace_words(words);
            }
            run(self, words)
        });
        self.leave_scope();
        flow
    }

    fn assign_in_front(&mut self, assignments: &[Assignment]) -> Running<()> {
        for assignment in assignments {
            let value = match &assignment.value {
                AssignedValue::Scalar(word) => self.expand_to_string(word)?,
                AssignedValue::Array(elements) => list_as_text(elements),
            };
            if self.options.xtrace {
                self.trace_assignment(assignment, Some(&value));
            }
            self.assign_temporarily(assignment, value)?;
        }
        Ok(())
    }

    fn is_special(words: &[BString]) -> bool {
        let Some(name) = words.first() else { return false };
        builtins::find(name).is_some_and(|command| {
            matches!(
                command.run,
                Run::Builtin { special: true, .. } | Run::Declaration { special: true, .. }
            )
        })
    }

    /// `declare x=(…)` and its kin: only when the tree has an assignment among the arguments.
    fn declaration(
        &self,
        command: &SimpleCommand,
    ) -> Option<(&'static builtins::Command, builtins::DeclarationFunction)> {
        let has_assignment =
            command.words.iter().any(|argument| matches!(argument, Argument::Assignment(_)));
        if !has_assignment {
            return None;
        }
        let Some(Argument::Word(word)) = command.words.first() else { return None };
        let name = literal(word)?;
        if self.functions.contains_key::<[u8]>(name.as_ref()) {
            return None;
        }
        let declaration = builtins::find(name)?;
        match declaration.run {
            Run::Declaration { run, .. } if !self.disabled.contains(declaration.name) => {
                Some((declaration, run))
            }
            _ => None,
        }
    }

    fn run_declaration(
        &mut self,
        command: &SimpleCommand,
        declaration: &'static builtins::Command,
        run: builtins::DeclarationFunction,
    ) -> Flow {
        let mut arguments = Vec::with_capacity(command.words.len());
        let mut words = vec![BString::from(declaration.name)];
        for argument in command.words.iter().skip(1) {
            match argument {
                Argument::Word(word) => {
                    let mut expanded = Vec::new();
                    self.expand_word_into(word, &mut expanded)?;
                    words.extend(expanded.iter().cloned());
                    arguments.extend(expanded.into_iter().map(DeclarationArgument::Word));
                }
                Argument::Assignment(assignment) => {
                    let argument = self.declaration_argument(assignment)?;
                    words.push(Self::declaration_word(&argument));
                    arguments.push(argument);
                }
            }
        }
        self.in_temporary_scope(command, &words, |shell, words| {
            if shell.options.xtrace && matches!(declaration.name, "export" | "readonly") {
                shell.trace_declared(&arguments);
            }
            shell.judge(words, crate::host::Execution::InProcess)?;
            let flow = shell.with_redirects(&command.redirects, |shell| run(shell, &arguments));
            let last = long::copy(words.last().map_or(&[][..], |last| last))?;
            release::discard(std::mem::replace(&mut shell.last_argument, last));
            flow
        })
    }

    /// After `export x=1` and `readonly x=1` bash shows the assignment as well.
    fn trace_declared(&mut self, arguments: &[DeclarationArgument<'_>]) {
        for argument in arguments {
            if let DeclarationArgument::Scalar { assignment, value } = argument {
                self.trace_assignment(assignment, Some(value));
            }
        }
    }

    fn declaration_argument<'a>(
        &mut self,
        assignment: &'a Assignment,
    ) -> Running<DeclarationArgument<'a>> {
        Ok(match &assignment.value {
            AssignedValue::Array(_) => DeclarationArgument::Array(assignment),
            AssignedValue::Scalar(word) => {
                let value = self.expand_to_string(word)?;
                DeclarationArgument::Scalar { assignment, value }
            }
        })
    }

    /// The argument as text: for tracing and `$_`.
    fn declaration_word(argument: &DeclarationArgument<'_>) -> BString {
        match argument {
            DeclarationArgument::Word(word) => word.clone(),
            DeclarationArgument::Scalar { assignment, value } => {
                let mut word = assignment.name.clone();
                word.extend_from_slice(if assignment.append { b"+=" } else { b"=" });
                word.extend_from_slice(value);
                word
            }
            DeclarationArgument::Array(assignment) => assignment.name.clone(),
        }
    }

    /// What looked like an assignment to the parser, but belongs to a command that takes words.
    fn assignment_as_word(&mut self, assignment: &Assignment) -> Running<BString> {
        let argument = self.declaration_argument(assignment)?;
        Ok(Self::declaration_word(&argument))
    }
}

fn literal(word: &Word) -> Option<&[u8]> {
    match word.parts.as_slice() {
        [WordPart::Literal(text)] => Some(text),
        _ => None,
    }
}

/// The same assignment with a value that is already expanded.
fn literally(assignment: &Assignment, value: BString) -> Assignment {
    let mut literal = assignment.clone();
    let parts = vec![WordPart::SingleQuoted(value)];
    literal.value = AssignedValue::Scalar(Word { parts, span: assignment.span });
    literal
}

fn text_of(command: &SimpleCommand) -> BString {
    exacta_syntax::print_command(&exacta_syntax::ast::Command::Simple(command.clone()))
}

/// `set -k`: assignments among the arguments belong in front of the command.
fn with_keywords(command: &SimpleCommand) -> Option<SimpleCommand> {
    let mut changed = command.clone();
    changed.words.clear();
    for argument in &command.words {
        match argument {
            Argument::Word(word) => match as_assignment(word) {
                Some(assignment) => changed.assignments.push(assignment),
                None => changed.words.push(argument.clone()),
            },
            Argument::Assignment(assignment) => changed.assignments.push(assignment.clone()),
        }
    }
    (changed.words.len() < command.words.len()).then_some(changed)
}

fn as_assignment(word: &Word) -> Option<Assignment> {
    let (WordPart::Literal(first), rest) = word.parts.split_first()? else { return None };
    let at = first.find_byte(b'=')?;
    let (name, value) = (first.get(..at)?, first.get(at + 1..)?);
    let is_name = name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if !is_name {
        return None;
    }
    let mut parts = Vec::with_capacity(word.parts.len());
    if !value.is_empty() {
        parts.push(WordPart::Literal(value.into()));
    }
    parts.extend_from_slice(rest);
    Some(Assignment {
        name: name.into(),
        subscript: None,
        append: false,
        value: AssignedValue::Scalar(Word { parts, span: word.span }),
        span: word.span,
    })
}
