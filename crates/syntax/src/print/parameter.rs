//! `$x` and `${…}`.

use super::layout::Printer;
use super::word::{ArithmeticPlace, Surroundings};
use crate::ast::{
    CaseChange, DefaultKind, Operation, Parameter, ParameterExpansion, ReplaceKind, Selector, Word,
};

impl<'tree> Printer<'tree> {
    pub fn parameter(&mut self, expansion: &'tree ParameterExpansion, surroundings: Surroundings) {
        if let Operation::Bad(text) = &expansion.operation {
            self.text(text);
            return;
        }
        if !expansion.braced {
            self.text(b"$");
            self.parameter_name(&expansion.parameter);
            return;
        }
        self.text(b"${");
        if matches!(expansion.operation, Operation::Length) {
            self.text(b"#");
        }
        if expansion.indirect || matches!(expansion.operation, Operation::NamesWithPrefix { .. }) {
            self.text(b"!");
        }
        self.parameter_name(&expansion.parameter);
        match &expansion.selector {
            None => {}
            Some(Selector::All) => self.text(b"[@]"),
            Some(Selector::Joined) => self.text(b"[*]"),
            Some(Selector::Index(subscript)) => self.subscript(subscript),
        }
        self.operation(&expansion.operation, surroundings);
        self.text(b"}");
    }

    fn parameter_name(&mut self, parameter: &Parameter) {
        match parameter {
            Parameter::Variable(name) => self.text(name),
            Parameter::Positional(number) => self.text(number.to_string().as_bytes()),
            Parameter::All => self.text(b"@"),
            Parameter::Joined => self.text(b"*"),
            Parameter::Count => self.text(b"#"),
            Parameter::Status => self.text(b"?"),
            Parameter::Options => self.text(b"-"),
            Parameter::ProcessId => self.text(b"$"),
            Parameter::BackgroundId => self.text(b"!"),
        }
    }

    fn operation(&mut self, operation: &'tree Operation, surroundings: Surroundings) {
        match operation {
            Operation::Plain | Operation::Length | Operation::Bad(_) => {}
            Operation::Default { kind, colon, word } => {
                if *colon {
                    self.text(b":");
                }
                self.text(match kind {
                    DefaultKind::Use => b"-",
                    DefaultKind::Assign => b"=",
                    DefaultKind::Fail => b"?",
                    DefaultKind::Alternative => b"+",
                });
                self.word(word, surroundings.parameter_word(word));
            }
            Operation::RemovePrefix { longest, pattern } => {
                self.text(if *longest { b"##" } else { b"#" });
                self.word(pattern, Surroundings::Unquoted);
            }
            Operation::RemoveSuffix { longest, pattern } => {
                self.text(if *longest { b"%%" } else { b"%" });
                self.word(pattern, Surroundings::Unquoted);
            }
            Operation::Replace { kind, pattern, replacement } => {
                self.replace(*kind, pattern, replacement.as_ref());
            }
            Operation::ChangeCase { change, all, pattern } => {
                let sign: &[u8] = match change {
                    CaseChange::Upper => b"^",
                    CaseChange::Lower => b",",
                    CaseChange::Toggle => b"~",
                };
                self.text(sign);
                if *all {
                    self.text(sign);
                }
                if let Some(pattern) = pattern {
                    self.word(pattern, Surroundings::Unquoted);
                }
            }
            Operation::Slice { offset, length } => {
                self.text(b":");
                self.slice(offset, length.as_ref());
            }
            Operation::Transform(letter) => self.text(&[b'@', *letter]),
            Operation::NamesWithPrefix { separate } => {
                self.text(if *separate { b"@" } else { b"*" });
            }
        }
    }

    fn slice(
        &mut self,
        offset: &'tree crate::ast::Arithmetic,
        length: Option<&'tree crate::ast::Arithmetic>,
    ) {
        match length {
            Some(length) => {
                if !offset.text.parts.is_empty() {
                    self.arithmetic(offset, ArithmeticPlace::SliceOffset);
                }
                self.text(b":");
                self.arithmetic(length, ArithmeticPlace::SliceLength);
            }
            None => self.arithmetic(offset, ArithmeticPlace::SliceOffset),
        }
    }

    fn replace(
        &mut self,
        kind: ReplaceKind,
        pattern: &'tree Word,
        replacement: Option<&'tree Word>,
    ) {
        self.text(match kind {
            ReplaceKind::First => b"/",
            ReplaceKind::All => b"//",
            ReplaceKind::Prefix => b"/#",
            ReplaceKind::Suffix => b"/%",
        });
        self.word(pattern, Surroundings::Unquoted);
        if let Some(replacement) = replacement {
            self.text(b"/");
            self.word(replacement, Surroundings::Unquoted);
        }
    }
}
