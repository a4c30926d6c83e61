//! `[[ … ]]`: an expression grammar over ordinary words.

use super::Parsed;
use super::cursor::Reader;
use super::words::WordKind;
use crate::ast::{CompoundKind, Conditional, ConditionalOperator, Word};

/// The letters that `test` knows as unary operators.
const UNARY: &[u8] = b"abcdefghknoprstuvwxzGLNORS";

impl Reader<'_, '_> {
    /// Behind `[[`.
    pub fn conditional_command(&mut self, place: &mut CompoundKind) -> Parsed<()> {
        *place = CompoundKind::Conditional(self.conditional_or()?);
        self.skip_newlines()?;
        match self.end_of_exact_word(b"]]") {
            Some(end) => {
                self.input.position = end;
                Ok(())
            }
            None if self.peek().is_none() => self.unexpected(),
            None if self.at_word() => self.other("syntax error in conditional expression".into()),
            None => {
                let mark = self.mark();
                let token = self.token_text()?;
                let words =
                    format!("syntax error in conditional expression: unexpected token `{token}'");
                self.other_since(mark, words)
            }
        }
    }

    fn conditional_or(&mut self) -> Parsed<Conditional> {
        let first = self.conditional_and()?;
        let mut terms = vec![first];
        while self.conditional_operator(b"||")? {
            terms.push(self.conditional_and()?);
        }
        Ok(single_or(terms, Conditional::Or))
    }

    fn conditional_and(&mut self) -> Parsed<Conditional> {
        let first = self.nested(Self::conditional_term)?;
        let mut terms = vec![first];
        while self.conditional_operator(b"&&")? {
            terms.push(self.nested(Self::conditional_term)?);
        }
        Ok(single_or(terms, Conditional::And))
    }

    fn conditional_operator(&mut self, operator: &[u8]) -> Parsed<bool> {
        self.skip_newlines()?;
        Ok(self.accept_text(operator))
    }

    fn conditional_term(&mut self) -> Parsed<Conditional> {
        self.skip_newlines()?;
        if self.accept(b'(') {
            return self.conditional_group();
        }
        if let Some(end) = self.end_of_exact_word(b"!") {
            self.input.position = end;
            let term = self.nested(Self::conditional_term)?;
            return Ok(match term {
                Conditional::Not(inner) => *inner,
                other => Conditional::Not(Box::new(other)),
            });
        }
        if self.end_of_exact_word(b"]]").is_some() {
            return self.unexpected();
        }
        if !self.at_word() {
            if self.peek().is_none() {
                return self.unexpected();
            }
            let mark = self.mark();
            let token = self.token_text()?;
            let words = format!("unexpected token `{token}' in conditional command");
            return self.other_since(mark, words);
        }
        if let Some(operator) = self.unary_operator() {
            let operand = self.operand("unary", WordKind::Plain)?;
            return Ok(Conditional::Unary { operator, operand });
        }
        self.conditional_word()
    }

    fn conditional_group(&mut self) -> Parsed<Conditional> {
        let inner = self.conditional_or()?;
        self.skip_newlines()?;
        if self.accept(b')') {
            return Ok(inner);
        }
        if self.peek().is_none() {
            return self.unexpected();
        }
        let mark = self.mark();
        let token = self.token_text()?;
        self.other_since(mark, format!("unexpected token `{token}', expected `)'"))
    }

    /// `-f` and the like, consumed.
    fn unary_operator(&mut self) -> Option<u8> {
        if self.peek() != Some(b'-') {
            return None;
        }
        let letter = self.peek_second().filter(|letter| UNARY.contains(letter))?;
        let end = self.end_of_exact_word(&[b'-', letter])?;
        self.input.position = end;
        Some(letter)
    }

    /// A word on its own, or the left side of a binary operator.
    fn conditional_word(&mut self) -> Parsed<Conditional> {
        let left = self.plain_word()?;
        self.skip_blanks();
        let alone = match self.peek() {
            Some(b')') => true,
            Some(b'&') => self.looking_at(b"&&"),
            Some(b'|') => self.looking_at(b"||"),
            _ => self.end_of_exact_word(b"]]").is_some(),
        };
        if alone {
            // Bash sees and shows a lone word as `-n word`.
            return Ok(Conditional::Unary { operator: b'n', operand: left });
        }
        let Some(operator) = self.binary_operator() else {
            return self.no_binary_operator();
        };
        let kind = match operator {
            ConditionalOperator::Matches | ConditionalOperator::Differs => WordKind::Pattern,
            ConditionalOperator::Regex => WordKind::Regex,
            _ => WordKind::Plain,
        };
        let right = self.operand("binary", kind)?;
        Ok(Conditional::Binary { operator, left, right })
    }

    fn binary_operator(&mut self) -> Option<ConditionalOperator> {
        let substitution = self.peek_second() == Some(b'(');
        match self.peek()? {
            b'<' if !substitution => {
                self.bump();
                return Some(ConditionalOperator::Before);
            }
            b'>' if !substitution => {
                self.bump();
                return Some(ConditionalOperator::After);
            }
            _ => {}
        }
        for (text, operator) in BINARY {
            if let Some(end) = self.end_of_exact_word(text) {
                self.input.position = end;
                return Some(operator);
            }
        }
        None
    }

    fn no_binary_operator<T>(&mut self) -> Parsed<T> {
        let is_word = self.at_word();
        let mark = self.mark();
        let token = self.token_or_newline()?;
        let words = if is_word {
            "conditional binary operator expected".into()
        } else {
            format!("unexpected token `{token}', conditional binary operator expected")
        };
        self.other_since(mark, words)
    }

    /// Bash sees a newline at the end of the text.
    fn token_or_newline(&mut self) -> Parsed<String> {
        let token = self.token_text()?;
        Ok(if token.is_empty() { "newline".into() } else { token })
    }

    fn operand(&mut self, arity: &str, kind: WordKind) -> Parsed<Word> {
        self.skip_blanks();
        let regex_group = kind == WordKind::Regex && matches!(self.peek(), Some(b'(' | b'|'));
        if (self.at_word() || regex_group) && self.end_of_exact_word(b"]]").is_none() {
            return self.word(kind);
        }
        let mark = self.mark();
        let token = self.token_or_newline()?;
        let words = format!("unexpected argument `{token}' to conditional {arity} operator");
        self.other_since(mark, words)
    }
}

const BINARY: [(&[u8], ConditionalOperator); 13] = [
    (b"==", ConditionalOperator::Matches),
    (b"=", ConditionalOperator::Matches),
    (b"!=", ConditionalOperator::Differs),
    (b"=~", ConditionalOperator::Regex),
    (b"-eq", ConditionalOperator::Equal),
    (b"-ne", ConditionalOperator::NotEqual),
    (b"-lt", ConditionalOperator::Less),
    (b"-le", ConditionalOperator::LessOrEqual),
    (b"-gt", ConditionalOperator::Greater),
    (b"-ge", ConditionalOperator::GreaterOrEqual),
    (b"-nt", ConditionalOperator::Newer),
    (b"-ot", ConditionalOperator::Older),
    (b"-ef", ConditionalOperator::SameFile),
];

fn single_or(
    mut terms: Vec<Conditional>,
    combine: impl FnOnce(Vec<Conditional>) -> Conditional,
) -> Conditional {
    match terms.pop() {
        Some(only) if terms.is_empty() => only,
        Some(last) => {
            terms.push(last);
            combine(terms)
        }
        None => combine(terms),
    }
}
