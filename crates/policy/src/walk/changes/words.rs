//! Expansions that set: `${x:=…}`, `$((x = 1))`.

use bstr::BString;
use exacta_syntax::ast::{
    Arithmetic, DefaultKind, Expression, Operation, Parameter, ParameterExpansion, Selector, Word,
    WordPart,
};

use super::Search;
use crate::walk::variables;

impl Search<'_> {
    pub(super) fn word(&mut self, word: &Word) {
        self.parts(&word.parts);
    }

    fn parts(&mut self, parts: &[WordPart]) {
        for part in parts {
            match part {
                WordPart::DoubleQuoted(parts) | WordPart::LocaleQuoted(parts) => self.parts(parts),
                WordPart::Parameter(expansion) => self.parameter(expansion),
                WordPart::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
                _ => {}
            }
        }
    }

    fn parameter(&mut self, expansion: &ParameterExpansion) {
        if let Some(Selector::Index(subscript)) = &expansion.selector {
            self.arithmetic(subscript);
        }
        stacker::maybe_grow(64 << 10, 1 << 20, || match &expansion.operation {
            Operation::Default { kind, word, .. } => {
                if let (DefaultKind::Assign, Parameter::Variable(name)) =
                    (kind, &expansion.parameter)
                {
                    self.found.names.insert(name.clone());
                    self.found.everything |= expansion.indirect;
                }
                self.word(word);
            }
            Operation::RemovePrefix { pattern, .. } | Operation::RemoveSuffix { pattern, .. } => {
                self.word(pattern);
            }
            Operation::Replace { pattern, replacement, .. } => {
                self.word(pattern);
                if let Some(replacement) = replacement {
                    self.word(replacement);
                }
            }
            Operation::Slice { offset, length } => {
                self.arithmetic(offset);
                if let Some(length) = length {
                    self.arithmetic(length);
                }
            }
            _ => {}
        });
    }

    pub(super) fn arithmetic(&mut self, arithmetic: &Arithmetic) {
        match &arithmetic.expression {
            Some(expression) => self.expression(expression),
            None => {
                self.word(&arithmetic.text);
                // What it sets is known only after expansion; every name in it may be.
                let text = exacta_syntax::print_word(&arithmetic.text);
                self.found.everything |= text.contains(&b'$') && text.contains(&b'=');
                let pieces = text.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
                for piece in pieces.filter(|piece| variables::is_name(piece)) {
                    self.found.names.insert(BString::from(piece));
                }
            }
        }
    }

    fn expression(&mut self, expression: &Expression) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match expression {
            Expression::Number(_) | Expression::Variable(_) | Expression::Expansion(_) => {}
            Expression::Unary(_, operand) => self.expression(operand),
            Expression::Chain(first, links) => {
                self.expression(first);
                for (_, operand) in links {
                    self.expression(operand);
                }
            }
            Expression::Assign { target, value, .. } => {
                self.found.names.insert(target.name.clone());
                self.expression(value);
            }
            Expression::Step { target, .. } => {
                self.found.names.insert(target.name.clone());
            }
            Expression::Ternary(condition, yes, no) => {
                self.expression(condition);
                self.expression(yes);
                self.expression(no);
            }
            Expression::Comma(all) => {
                for expression in all {
                    self.expression(expression);
                }
            }
        });
    }
}
