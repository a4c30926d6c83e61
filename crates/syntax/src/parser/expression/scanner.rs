//! The tokens of arithmetic. Which operator `++` is depends on the token before it.

use bstr::BString;

use super::super::cursor::Reader;
use super::super::input::Input;
use super::super::numbers::parse_integer;
use super::super::parts::Parts;
use super::super::scan::{is_name_byte, is_name_start};
use super::super::{NoAliases, ParseOptions};
use crate::ast::{
    Arithmetic, BinaryOperator, Operation, Parameter, ParameterExpansion, Subscript, WordPart,
};
use crate::{Limits, Span};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    End,
    Number(i64),
    Name,
    /// A `$name` in the text.
    Expansion,
    Binary(BinaryOperator),
    /// `=`, or `+=` and the like.
    Assign(Option<BinaryOperator>),
    StepBefore {
        increment: bool,
    },
    StepAfter {
        increment: bool,
    },
    Not,
    Complement,
    Question,
    Colon,
    Comma,
    Open,
    Close,
}

#[derive(Debug)]
pub(super) enum Failure {
    TooDeep,
    /// Depends on the value of an expansion.
    Unknown,
    /// Bash's words and the token it shows.
    Invalid {
        words: &'static str,
        start: usize,
        end: usize,
    },
}

/// The failure is boxed because rules nest, and each holds a few of these on the stack.
pub(super) type Scanned<T> = Result<T, Box<Failure>>;

pub(super) struct Scanner<'text> {
    parts: &'text [WordPart],
    /// The part being read and the position in it.
    part: usize,
    position: usize,
    pub current: Token,
    /// The token before the current one is a variable's name.
    pub after_name: bool,
    /// Where the current token begins.
    start: (usize, usize),
    depth_left: usize,
}

/// Operators, longest first.
const OPERATORS: [(&[u8], Token); 33] = [
    (b"<<=", Token::Assign(Some(BinaryOperator::ShiftLeft))),
    (b">>=", Token::Assign(Some(BinaryOperator::ShiftRight))),
    (b"==", Token::Binary(BinaryOperator::Equal)),
    (b"!=", Token::Binary(BinaryOperator::NotEqual)),
    (b">=", Token::Binary(BinaryOperator::GreaterOrEqual)),
    (b"<=", Token::Binary(BinaryOperator::LessOrEqual)),
    (b"<<", Token::Binary(BinaryOperator::ShiftLeft)),
    (b">>", Token::Binary(BinaryOperator::ShiftRight)),
    (b"&&", Token::Binary(BinaryOperator::And)),
    (b"||", Token::Binary(BinaryOperator::Or)),
    (b"**", Token::Binary(BinaryOperator::Power)),
    (b"*=", Token::Assign(Some(BinaryOperator::Multiply))),
    (b"/=", Token::Assign(Some(BinaryOperator::Divide))),
    (b"%=", Token::Assign(Some(BinaryOperator::Remainder))),
    (b"+=", Token::Assign(Some(BinaryOperator::Add))),
    (b"-=", Token::Assign(Some(BinaryOperator::Subtract))),
    (b"&=", Token::Assign(Some(BinaryOperator::BitAnd))),
    (b"^=", Token::Assign(Some(BinaryOperator::BitXor))),
    (b"|=", Token::Assign(Some(BinaryOperator::BitOr))),
    (b"=", Token::Assign(None)),
    (b">", Token::Binary(BinaryOperator::Greater)),
    (b"<", Token::Binary(BinaryOperator::Less)),
    (b"*", Token::Binary(BinaryOperator::Multiply)),
    (b"/", Token::Binary(BinaryOperator::Divide)),
    (b"%", Token::Binary(BinaryOperator::Remainder)),
    (b"&", Token::Binary(BinaryOperator::BitAnd)),
    (b"^", Token::Binary(BinaryOperator::BitXor)),
    (b"|", Token::Binary(BinaryOperator::BitOr)),
    (b"!", Token::Not),
    (b"~", Token::Complement),
    (b"?", Token::Question),
    (b":", Token::Colon),
    (b",", Token::Comma),
];

impl<'text> Scanner<'text> {
    pub fn new(parts: &'text [WordPart], depth_left: usize) -> Self {
        Scanner {
            parts,
            part: 0,
            position: 0,
            current: Token::End,
            after_name: false,
            start: (0, 0),
            depth_left,
        }
    }

    pub fn enter(&mut self) -> Scanned<()> {
        self.depth_left = self.depth_left.checked_sub(1).ok_or(Box::new(Failure::TooDeep))?;
        Ok(())
    }

    pub fn leave(&mut self, levels: usize) {
        self.depth_left += levels;
    }

    /// A complaint that shows everything from the current token on.
    pub fn invalid<T>(&self, words: &'static str) -> Scanned<T> {
        Err(Box::new(Failure::Invalid { words, start: self.start.1, end: self.text_end() }))
    }

    fn text_end(&self) -> usize {
        match self.parts.get(self.start.0) {
            Some(WordPart::Literal(text)) => text.len(),
            _ => self.start.1,
        }
    }

    /// What is left of the literal part at the position; empty between parts.
    fn rest(&self) -> &'text [u8] {
        match self.parts.get(self.part) {
            Some(WordPart::Literal(text)) => text.get(self.position..).unwrap_or_default(),
            _ => &[],
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blanks =
                rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n')).count();
            self.position += blanks;
            let literal = matches!(self.parts.get(self.part), Some(WordPart::Literal(_)));
            if blanks < rest.len() || !literal {
                return;
            }
            self.part += 1;
            self.position = 0;
        }
    }

    /// Reads the next token.
    pub fn advance(&mut self) -> Scanned<()> {
        let before = self.current;
        self.after_name = before == Token::Name;
        if let (Token::Expansion, Some(WordPart::Parameter(_))) =
            (before, self.parts.get(self.part))
        {
            self.part += 1;
            self.position = 0;
        }
        self.skip_blanks();
        self.current = match self.parts.get(self.part) {
            None => {
                self.current = Token::End;
                return Ok(());
            }
            Some(WordPart::Literal(_)) => {
                self.start = (self.part, self.position);
                self.literal_token(before)?
            }
            Some(WordPart::Parameter(_)) => {
                self.start = (self.part, 0);
                Token::Expansion
            }
            Some(_) => return Err(Box::new(Failure::Unknown)),
        };
        Ok(())
    }

    fn literal_token(&mut self, before: Token) -> Scanned<Token> {
        let rest = self.rest();
        let Some(first) = rest.first().copied() else { return Ok(Token::End) };
        if is_name_start(first) {
            return Ok(Token::Name);
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        if matches!(first, b'+' | b'-') && rest.get(1) == Some(&first) {
            return Ok(self.step_or_sign(first, before));
        }
        if let Some((text, token)) = OPERATORS.iter().find(|(text, _)| rest.starts_with(text)) {
            self.position += text.len();
            return Ok(*token);
        }
        self.position += 1;
        match first {
            b'+' => Ok(Token::Binary(BinaryOperator::Add)),
            b'-' => Ok(Token::Binary(BinaryOperator::Subtract)),
            b'(' => Ok(Token::Open),
            b')' => Ok(Token::Close),
            _ => self.invalid(match before {
                Token::Number(_) | Token::Name | Token::Expansion => {
                    "syntax error: invalid arithmetic operator"
                }
                _ => "syntax error: operand expected",
            }),
        }
    }

    /// `++` or `--`: behind a name it steps that; before one, the next; else it is two signs.
    fn step_or_sign(&mut self, sign: u8, before: Token) -> Token {
        let increment = sign == b'+';
        let behind = self.rest().get(2..).unwrap_or_default();
        let next = behind.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\n'));
        if before == Token::Name {
            self.position += 2;
            Token::StepAfter { increment }
        } else if next.is_some_and(|byte| is_name_start(*byte)) {
            self.position += 2;
            Token::StepBefore { increment }
        } else {
            self.position += 1;
            let sign = if increment { BinaryOperator::Add } else { BinaryOperator::Subtract };
            Token::Binary(sign)
        }
    }

    /// `--x++` has nothing to step a second time.
    pub fn forbid_step_after(&mut self) -> Scanned<()> {
        let rest = self.rest().trim_ascii_start();
        let words = match rest {
            [b'+', b'+', ..] => "++: assignment requires lvalue",
            [b'-', b'-', ..] => "--: assignment requires lvalue",
            _ => return Ok(()),
        };
        self.skip_blanks();
        self.start = (self.part, self.position);
        self.invalid(words)
    }

    fn number(&mut self) -> Scanned<Token> {
        let rest = self.rest();
        let belongs =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'#' | b'@' | b'_');
        let length = rest.iter().position(|byte| !belongs(byte)).unwrap_or(rest.len());
        let start = self.position;
        self.position += length;
        parse_integer(rest.get(..length).unwrap_or_default())
            .map(Token::Number)
            .map_err(|words| Box::new(Failure::Invalid { words, start, end: start + length }))
    }

    /// The `$name` that is the current token.
    pub fn expansion(&self) -> Scanned<ParameterExpansion> {
        match self.parts.get(self.part) {
            Some(WordPart::Parameter(expansion)) if is_plain(expansion) => {
                Ok((**expansion).clone())
            }
            _ => Err(Box::new(Failure::Unknown)),
        }
    }

    /// Reads the variable whose name is the current token.
    pub fn variable(&mut self) -> Scanned<(BString, Option<Box<Subscript>>)> {
        let rest = self.rest();
        let length = rest.iter().position(|byte| !is_name_byte(*byte)).unwrap_or(rest.len());
        let name = BString::from(rest.get(..length).unwrap_or_default());
        self.position += length;
        if self.rest().first() != Some(&b'[') {
            return Ok((name, None));
        }
        Ok((name, Some(self.subscript()?)))
    }

    /// `[…]` at the position. It may span parts if nothing in it is quoted; text that is quoted or holds a
    /// dollar sign is read as the shell reads it.
    fn subscript(&mut self) -> Scanned<Box<Subscript>> {
        let (start_part, start) = (self.part, self.position + 1);
        let mut inside = Parts::default();
        let mut level = 0_usize;
        let mut from = start;
        for (index, part) in self.parts.iter().enumerate().skip(start_part) {
            let text = match part {
                WordPart::Literal(text) => text,
                WordPart::Parameter(_) => {
                    inside.push(part.clone());
                    from = 0;
                    continue;
                }
                _ => return Err(Box::new(Failure::Unknown)),
            };
            for (position, byte) in text.iter().enumerate().skip(from) {
                match byte {
                    b'\'' | b'"' | b'\\' | b'$' | b'`' if index == start_part => {
                        return self.shell_subscript();
                    }
                    b'\'' | b'"' | b'\\' | b'$' | b'`' => return Err(Box::new(Failure::Unknown)),
                    b'[' => level += 1,
                    b']' if level == 0 => {
                        inside.literal(text.get(from..position).unwrap_or_default());
                        self.part = index;
                        self.position = position + 1;
                        return self.subscript_of(inside);
                    }
                    b']' => level -= 1,
                    _ => {}
                }
            }
            inside.literal(text.get(from..).unwrap_or_default());
            from = 0;
        }
        self.invalid("bad array subscript")
    }

    fn subscript_of(&mut self, inside: Parts) -> Scanned<Box<Subscript>> {
        self.enter()?;
        let text = inside.into_word(Span::default());
        let expression = match super::of_parts(&text.parts, self.depth_left) {
            Ok(_) if text.parts.is_empty() => None,
            Ok(expression) => expression.map(Box::new),
            Err(super::TooDeep) => return Err(Box::new(Failure::TooDeep)),
        };
        self.leave(1);
        Ok(Box::new(Arithmetic { text, expression, span: Span::default() }))
    }

    fn shell_subscript(&mut self) -> Scanned<Box<Subscript>> {
        let input = Input::new(self.rest(), 1);
        let limits = Limits { depth: self.depth_left, bytes: usize::MAX };
        let mut reader = Reader::new(input, ParseOptions::default(), limits, &NoAliases);
        match reader.subscript() {
            Ok(subscript) => {
                self.position += reader.input.position;
                Ok(Box::new(subscript))
            }
            Err(error) if matches!(error.kind, crate::SyntaxErrorKind::TooDeep(_)) => {
                Err(Box::new(Failure::TooDeep))
            }
            Err(_) => self.invalid("bad array subscript"),
        }
    }
}

/// `$name`, `${name}` or a positional parameter.
fn is_plain(expansion: &ParameterExpansion) -> bool {
    expansion.operation == Operation::Plain
        && expansion.selector.is_none()
        && !expansion.indirect
        && matches!(expansion.parameter, Parameter::Variable(_) | Parameter::Positional(_))
}
