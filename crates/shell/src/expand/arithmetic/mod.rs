//! `$((…))`, `((…))`, `let`, subscripts, `declare -i`: whole numbers of 64 bits that wrap around.
//!
//! An expression is evaluated as the tree the parser made whenever that cannot differ from what bash does,
//! which is to expand the text and parse the result.

mod error_token;
mod evaluator;
mod number;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{Arithmetic, Expression, WordPart};

use super::field::Origin;
use super::parts::Mode;
use crate::shell::Shell;
use crate::status::{ExitStatus, Interrupt, Running};
use evaluator::{Evaluator, Failure};

/// Variables whose values are expressions, inside each other.
const DEEPEST: u32 = 1024;

impl Shell {
    /// `$((…))`, offsets, numeric subscripts.
    pub fn evaluate(&mut self, arithmetic: &Arithmetic) -> Running<i64> {
        self.evaluate_for("", arithmetic)
    }

    /// The same for a command whose name is part of messages: `((`, `[[`, `let`.
    pub fn evaluate_for(&mut self, command: &str, arithmetic: &Arithmetic) -> Running<i64> {
        if let Some(expression) = &arithmetic.expression
            && let Some(expansions) = self.plain_expansions(expression)
        {
            let evaluated = Evaluator::new(self, command, 0, expansions).evaluate(expression);
            return evaluated.or_else(|failure| {
                // The text is made only now: it is needed for the message alone.
                let text = self.arithmetic_text(arithmetic)?;
                Err(self.arithmetic_failure(failure, command, text.as_bstr(), expression))
            });
        }
        let text = self.arithmetic_text(arithmetic)?;
        self.evaluate_text_at(command, text.as_bstr(), 0)
    }

    /// Late arithmetic: text that is already expanded (`let`, `declare -i`, `[[ a -eq b ]]`, values of variables).
    pub fn evaluate_text(&mut self, text: &BStr) -> Running<i64> {
        self.evaluate_text_at("", text, 0)
    }

    /// The same for a command whose name is part of messages.
    pub fn evaluate_text_for(&mut self, command: &str, text: &BStr) -> Running<i64> {
        self.evaluate_text_at(command, text, 0)
    }

    fn evaluate_text_at(&mut self, command: &str, text: &BStr, depth: u32) -> Running<i64> {
        if let Some(number) = number::plain(text) {
            return Ok(number);
        }
        if text.trim_ascii().is_empty() {
            return Ok(0);
        }
        if depth >= DEEPEST {
            let token = text.trim_ascii_start().as_bstr();
            return Err(self.arithmetic_error(
                command,
                text,
                "expression recursion level exceeded",
                token,
            ));
        }
        let limits = exacta_syntax::Limits::default();
        let expression = match exacta_syntax::parse_arithmetic(text, limits) {
            Ok(expression) => expression,
            Err(error) => {
                self.complain(with_command(command, error.to_string().as_bytes()));
                return Err(Interrupt::Discard(ExitStatus::FAILURE));
            }
        };
        let Some(expansions) = self.plain_expansions(&expression) else {
            // Text that is expanded has no `$` left; what looks like one is no operand.
            let token = text.find_byte(b'$').and_then(|at| text.get(at..)).unwrap_or_default();
            let words = "syntax error: operand expected";
            return Err(self.arithmetic_error(command, text, words, token.as_bstr()));
        };
        let evaluated = stacker::maybe_grow(64 << 10, 1 << 20, || {
            Evaluator::new(self, command, depth, expansions).evaluate(&expression)
        });
        evaluated.map_err(|failure| self.arithmetic_failure(failure, command, text, &expression))
    }

    fn arithmetic_text(&mut self, arithmetic: &Arithmetic) -> Running<BString> {
        let mut out = self.new_expansion();
        for part in &arithmetic.text.parts {
            // Inside `((…))` only double quotes are quotes.
            match part {
                WordPart::SingleQuoted(text) | WordPart::AnsiQuoted(text) => {
                    out.push(Origin::Quoted, &[b"'", text.as_slice(), b"'"].concat())?;
                }
                WordPart::Escaped(text) => {
                    out.push(Origin::Quoted, &[b"\\", text.as_slice()].concat())?;
                }
                _ => self.expand_part(part, Mode::QUOTED_STRING, &mut out)?,
            }
        }
        Ok(out.text_joined_by(b' '))
    }

    /// The values of every `$name` in the tree, from left to right; `None` if one is not a plain number.
    fn plain_expansions(&mut self, expression: &Expression) -> Option<Vec<i64>> {
        let mut values = Vec::new();
        evaluator::each_expansion(expression, &mut |expansion| {
            let value = self.plain_variable(expansion)?;
            values.push(number::plain(&value).filter(|number| *number >= 0)?);
            Some(())
        })?;
        Some(values)
    }

    fn arithmetic_failure(
        &self,
        failure: Failure,
        command: &str,
        text: &BStr,
        root: &Expression,
    ) -> Interrupt {
        match failure {
            Failure::Interrupted(interrupt) => interrupt,
            Failure::DivisionByZero(node) => {
                let token = error_token::of_division(text, root, node);
                self.arithmetic_error(command, text, "division by 0", token)
            }
            Failure::NegativeExponent(node) => {
                let token = error_token::of_exponent(text, root, node);
                self.arithmetic_error(command, text, "exponent less than 0", token)
            }
        }
    }

    fn arithmetic_error(&self, command: &str, text: &BStr, words: &str, token: &BStr) -> Interrupt {
        let mut message = BString::from(text.trim_ascii_start());
        message.extend_from_slice(b": ");
        message.extend_from_slice(words.as_bytes());
        message.extend_from_slice(b" (error token is \"");
        message.extend_from_slice(token);
        message.extend_from_slice(b"\")");
        self.complain(with_command(command, &message));
        Interrupt::Discard(ExitStatus::FAILURE)
    }
}

fn with_command(command: &str, message: &[u8]) -> BString {
    let mut all = BString::from(command);
    if !command.is_empty() {
        all.extend_from_slice(b": ");
    }
    all.extend_from_slice(message);
    all
}
