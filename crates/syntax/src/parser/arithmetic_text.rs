//! Arithmetic and subscripts as bash first sees them: text with expansions, up to its closing mark.

use bstr::ByteSlice;

use super::Parsed;
use super::cursor::Reader;
use super::dollar::Quoting;
use super::expression;
use super::input::Mark;
use super::parts::Parts;
use super::scan::{ARITHMETIC_STOPS, BRACED_SUBSCRIPT_STOPS, ByteSet, SUBSCRIPT_STOPS};
use crate::SyntaxErrorKind;
use crate::ast::{Arithmetic, Subscript, Word, WordPart};

/// What closes the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArithmeticEnd {
    /// `$((…))` and `((…))`
    Parenthesis,
    /// `$[…]`
    Bracket,
    /// A part of `for ((…; …; …))`
    Semicolon,
    /// The offset of `${x:…:…}`
    Colon,
    /// The length of `${x:…:…}`
    Brace,
}

/// Open parentheses or brackets, and `?` without its `:`.
#[derive(Default)]
struct Nesting {
    level: usize,
    questions: usize,
}

impl Nesting {
    /// Takes a structural byte into account; true if it closes the text.
    fn closes(&mut self, byte: u8, end: ArithmeticEnd) -> bool {
        let bracket = end == ArithmeticEnd::Bracket;
        match byte {
            b'(' if !bracket => self.level += 1,
            b'[' if bracket => self.level += 1,
            b')' if !bracket && self.level > 0 => self.level -= 1,
            b']' if bracket && self.level > 0 => self.level -= 1,
            b')' => return matches!(end, ArithmeticEnd::Parenthesis | ArithmeticEnd::Semicolon),
            b']' => return bracket,
            b';' => return end == ArithmeticEnd::Semicolon,
            b'}' => return matches!(end, ArithmeticEnd::Colon | ArithmeticEnd::Brace),
            b'?' => self.questions += 1,
            b':' if self.questions > 0 => self.questions -= 1,
            b':' => return end == ArithmeticEnd::Colon && self.level == 0,
            _ => {}
        }
        false
    }
}

impl ArithmeticEnd {
    fn mark(self) -> char {
        match self {
            ArithmeticEnd::Parenthesis | ArithmeticEnd::Semicolon => ')',
            ArithmeticEnd::Bracket => ']',
            ArithmeticEnd::Colon | ArithmeticEnd::Brace => '}',
        }
    }
}

impl Reader<'_, '_> {
    /// Arithmetic up to its closing mark, which stays.
    pub fn arithmetic(&mut self, end: ArithmeticEnd) -> Parsed<Box<Arithmetic>> {
        let text = self.arithmetic_text(end)?;
        self.with_expression(text)
    }

    /// Behind `((`: arithmetic if it ends in `))`, which is consumed.
    pub fn arithmetic_in_parentheses(&mut self) -> Parsed<Option<Box<Arithmetic>>> {
        let text = self.arithmetic_text(ArithmeticEnd::Parenthesis)?;
        if !self.accept_text(b"))") {
            return Ok(None);
        }
        self.with_expression(text).map(Some)
    }

    /// `$[…]`
    pub fn bracket_arithmetic(&mut self, parts: &mut Parts, mark: Mark) -> Parsed<()> {
        self.accept_text(b"$[");
        let mut arithmetic = self.nested(|reader| reader.arithmetic(ArithmeticEnd::Bracket))?;
        self.accept(b']');
        arithmetic.span = self.span_since(mark);
        parts.push(WordPart::Arithmetic(arithmetic));
        Ok(())
    }

    fn with_expression(&mut self, text: Word) -> Parsed<Box<Arithmetic>> {
        let Ok(expression) = expression::of_parts(&text.parts, self.depth_left()) else {
            return self.error(SyntaxErrorKind::TooDeep(self.limits.depth));
        };
        let expression = expression.map(Box::new);
        let span = text.span;
        Ok(Box::new(Arithmetic { text, expression, span }))
    }

    /// Reads as inside double quotes, except that double quotes themselves vanish.
    fn arithmetic_text(&mut self, end: ArithmeticEnd) -> Parsed<Word> {
        let mark = self.mark();
        let mut parts = Parts::default();
        let mut nesting = Nesting::default();
        // Up to here single quotes hide what would close the text; they stay in it all the same.
        let mut hidden_until = 0;
        while let Some(stop) = self.literal_run(&ARITHMETIC_STOPS, &mut parts) {
            match stop {
                b'\\' if self.escaped_quote(&mut parts) => {}
                b'\\' => self.quoted_backslash(&mut parts, b"$`\"\\"),
                b'"' => parts.extend(self.double_quoted()?),
                b'$' => self.dollar(&mut parts, Quoting::Double)?,
                b'`' => self.backquoted(&mut parts, Quoting::Double)?,
                b'\'' if self.input.position >= hidden_until => {
                    hidden_until = self.closing_quote()?;
                    self.literal_byte(stop, &mut parts);
                }
                _ if self.input.position < hidden_until => self.literal_byte(stop, &mut parts),
                _ if nesting.closes(stop, end) => {
                    return Ok(parts.into_word(self.span_since(mark)));
                }
                _ => {
                    self.check_depth(nesting.level)?;
                    self.literal_byte(stop, &mut parts);
                }
            }
        }
        self.unclosed(end.mark(), mark)
    }

    /// The position behind the quote that closes the one at the position.
    pub fn closing_quote(&mut self) -> Parsed<usize> {
        let start = self.input.position + 1;
        if let Some(length) = self.input.slice(start, self.input.end).find_byte(b'\'') {
            return Ok(start + length + 1);
        }
        let mark = self.mark();
        self.unclosed('\'', mark)
    }

    /// `[…]` at the position. Quotes stay parts: to an associative array this is a key.
    pub fn subscript(&mut self) -> Parsed<Subscript> {
        self.nested(|reader| reader.subscript_until(&SUBSCRIPT_STOPS))
    }

    /// The same inside `${…}`, which ends at the first `}`.
    pub fn subscript_in_braces(&mut self) -> Parsed<Subscript> {
        self.nested(|reader| reader.subscript_until(&BRACED_SUBSCRIPT_STOPS))
    }

    fn subscript_until(&mut self, stops: &ByteSet) -> Parsed<Subscript> {
        let opening = self.mark();
        self.bump();
        let mark = self.mark();
        let mut parts = Parts::default();
        let mut level = 0;
        while let Some(stop) = self.literal_run(stops, &mut parts) {
            match stop {
                b'[' => {
                    level += 1;
                    self.check_depth(level)?;
                    self.literal_byte(stop, &mut parts);
                }
                b']' if level == 0 => {
                    let text = parts.into_word(self.span_since(mark));
                    self.bump();
                    return self.subscript_of(text);
                }
                b']' => {
                    level -= 1;
                    self.literal_byte(stop, &mut parts);
                }
                b'}' => break,
                _ => {
                    self.quote_or_expansion(stop, &mut parts)?;
                }
            }
        }
        self.unclosed(']', opening)
    }

    fn subscript_of(&mut self, text: Word) -> Parsed<Subscript> {
        let mut subscript = *self.with_expression(text)?;
        if subscript.text.parts.is_empty() {
            subscript.expression = None;
        }
        Ok(subscript)
    }
}

/// Nothing but blanks.
pub(super) fn is_blank(text: &Word) -> bool {
    text.parts.iter().all(|part| match part {
        WordPart::Literal(text) => text.iter().all(u8::is_ascii_whitespace),
        _ => false,
    })
}
