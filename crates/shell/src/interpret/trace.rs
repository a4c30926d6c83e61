//! `set -x`: what is about to run, as bash prints it.

use std::borrow::Cow;

use bstr::{BString, ByteSlice, ByteVec};
use exacta_syntax::ast::{Arithmetic, Assignment, Command, ForLoop, SimpleCommand, Word};

use crate::expand::quote;
use crate::shell::Shell;

impl Shell {
    pub(super) fn trace_words(&mut self, words: &[BString]) {
        let mut line = BString::default();
        for word in words {
            if !line.is_empty() {
                line.push(b' ');
            }
            line.extend_from_slice(&quote::traced(word));
        }
        self.trace(&line);
    }

    /// `value` is that of a scalar, already expanded.
    pub(super) fn trace_assignment(&mut self, assignment: &Assignment, value: Option<&BString>) {
        let mut line = assignment.name.clone();
        if let Some(subscript) = &assignment.subscript {
            line.push(b'[');
            line.extend_from_slice(&exacta_syntax::print_word(&subscript.text));
            line.push(b']');
        }
        line.extend_from_slice(if assignment.append { b"+=" } else { b"=" });
        match value {
            Some(value) if value.is_empty() => {}
            Some(value) => line.extend_from_slice(&quote::traced(value)),
            None => line = as_written(assignment),
        }
        self.trace(&line);
    }

    pub(super) fn trace_for(&mut self, command: &ForLoop) {
        let mut line = BString::from("for ");
        line.extend_from_slice(&command.variable);
        line.extend_from_slice(b" in");
        match &command.words {
            Some(written) => {
                for word in written {
                    line.push(b' ');
                    line.extend_from_slice(&exacta_syntax::print_word(word));
                }
            }
            None => line.extend_from_slice(b" \"$@\""),
        }
        self.trace(&line);
    }

    /// As written, unlike the words of a command.
    pub(super) fn trace_case(&mut self, subject: &Word) {
        let mut line = BString::from("case ");
        line.extend_from_slice(&exacta_syntax::print_word(subject));
        line.extend_from_slice(b" in");
        self.trace(&line);
    }

    pub(super) fn trace_arithmetic(&mut self, expression: &Arithmetic) {
        let mut line = BString::from("(( ");
        line.extend_from_slice(&exacta_syntax::print_word(&expression.text));
        line.extend_from_slice(b" ))");
        self.trace(&line);
    }

    /// One test of `[[ … ]]`, expanded.
    pub(super) fn trace_test(&mut self, words: &[&[u8]]) {
        let mut line = BString::from("[[");
        for word in words {
            line.push(b' ');
            line.extend_from_slice(if word.is_empty() { b"''" } else { word });
        }
        line.extend_from_slice(b" ]]");
        self.trace(&line);
    }

    /// One line behind the prompt, to `BASH_XTRACEFD` or standard error.
    pub(super) fn trace(&mut self, line: &[u8]) {
        let mut text = self.trace_prompt();
        text.extend_from_slice(line);
        text.push(b'\n');
        let descriptor = self.variables.scalar("BASH_XTRACEFD");
        let descriptor = descriptor.and_then(|number| number.to_str().ok()?.parse::<u32>().ok());
        match descriptor.and_then(|number| self.file(number)) {
            Some(file) => {
                let _ = file.write_all(&text);
            }
            None => self.write_error(&text),
        }
    }

    /// `PS4`, its first character once for every level of indirection.
    fn trace_prompt(&mut self) -> BString {
        let Some(prompt) = self.scalar_of("PS4".into()).map(Cow::into_owned) else {
            return BString::default();
        };
        let expanded = self.expand_trace_prompt(prompt);
        let Some(first) = expanded.chars().next() else { return expanded };
        let mut text = BString::default();
        for _ in 0..self.transient.trace_depth {
            text.push_char(first);
        }
        text.extend_from_slice(&expanded);
        text
    }

    /// What the prompt runs is not traced, and `$?` stays as it is.
    fn expand_trace_prompt(&mut self, prompt: BString) -> BString {
        if prompt.find_byteset(b"$`\\").is_none() {
            return prompt;
        }
        self.options.xtrace = false;
        let (status, substitution_status) = (self.status, self.substitution_status);
        let expanded = self.expand_prompt(prompt.as_bstr());
        self.status = status;
        self.substitution_status = substitution_status;
        self.options.xtrace = true;
        expanded.unwrap_or(prompt)
    }
}

/// `a=(1 $x)`: bash shows arrays unexpanded.
fn as_written(assignment: &Assignment) -> BString {
    let command =
        SimpleCommand { assignments: vec![assignment.clone()], ..SimpleCommand::default() };
    exacta_syntax::print_command(&Command::Simple(command))
}
