//! Reserved words: only in command position, only without quotes.

use super::Parsed;
use super::cursor::Reader;
use super::scan;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reserved {
    If,
    Then,
    Elif,
    Else,
    Fi,
    Case,
    Esac,
    For,
    Select,
    While,
    Until,
    Do,
    Done,
    In,
    Function,
    Time,
    Coproc,
    OpenBrace,
    CloseBrace,
    Bang,
    OpenBrackets,
    CloseBrackets,
}

/// The longest reserved word.
const LONGEST: usize = 8;

impl Reserved {
    fn from_text(text: &[u8]) -> Option<Self> {
        Some(match text {
            b"if" => Reserved::If,
            b"then" => Reserved::Then,
            b"elif" => Reserved::Elif,
            b"else" => Reserved::Else,
            b"fi" => Reserved::Fi,
            b"case" => Reserved::Case,
            b"esac" => Reserved::Esac,
            b"for" => Reserved::For,
            b"select" => Reserved::Select,
            b"while" => Reserved::While,
            b"until" => Reserved::Until,
            b"do" => Reserved::Do,
            b"done" => Reserved::Done,
            b"in" => Reserved::In,
            b"function" => Reserved::Function,
            b"time" => Reserved::Time,
            b"coproc" => Reserved::Coproc,
            b"{" => Reserved::OpenBrace,
            b"}" => Reserved::CloseBrace,
            b"!" => Reserved::Bang,
            b"[[" => Reserved::OpenBrackets,
            b"]]" => Reserved::CloseBrackets,
            _ => return None,
        })
    }

    /// Words that end the list before them instead of beginning a command.
    pub fn closes_list(self) -> bool {
        matches!(
            self,
            Reserved::Then
                | Reserved::Elif
                | Reserved::Else
                | Reserved::Fi
                | Reserved::Esac
                | Reserved::Do
                | Reserved::Done
                | Reserved::CloseBrace
        )
    }
}

impl Reserved {
    /// Words that begin a compound command.
    pub fn opens_compound(self) -> bool {
        matches!(
            self,
            Reserved::If
                | Reserved::Case
                | Reserved::For
                | Reserved::Select
                | Reserved::While
                | Reserved::Until
                | Reserved::OpenBrace
                | Reserved::OpenBrackets
        )
    }
}

impl Reader<'_, '_> {
    /// The reserved word at the position and where it ends.
    pub fn reserved_word(&mut self) -> Option<(Reserved, usize)> {
        let first = self.peek()?;
        if !matches!(
            first,
            b'i' | b't'
                | b'e'
                | b'f'
                | b'c'
                | b's'
                | b'w'
                | b'u'
                | b'd'
                | b'{'
                | b'}'
                | b'!'
                | b'['
                | b']'
        ) {
            return None;
        }
        let mut text = [0; LONGEST];
        let (length, end) = self.bare_word(&mut text)?;
        Some((Reserved::from_text(text.get(..length)?)?, end))
    }

    /// Copies the word at the position if it is short and nothing in it is quoted or expanded.
    fn bare_word(&mut self, text: &mut [u8; LONGEST]) -> Option<(usize, usize)> {
        let mut length = 0;
        let mut position = self.input.position;
        loop {
            position = self.after_continuations(position);
            match self.input.byte_at(position) {
                Some(b'\\' | b'\'' | b'"' | b'$' | b'`') => return None,
                // With extended patterns on, `!(` begins one.
                Some(b'(') if self.options.extglob && text.starts_with(b"!\0") => return None,
                Some(b'<' | b'>') if self.input.byte_at(position + 1) == Some(b'(') => return None,
                Some(byte) if !scan::contains(&scan::METACHARACTERS, byte) => {
                    *text.get_mut(length)? = byte;
                    length += 1;
                    position += 1;
                }
                _ => return Some((length, position)),
            }
        }
    }

    /// Where the word at the position ends, if it is exactly `word`.
    pub fn end_of_exact_word(&mut self, word: &[u8]) -> Option<usize> {
        self.peek()?;
        let mut text = [0; LONGEST];
        let (length, end) = self.bare_word(&mut text)?;
        (text.get(..length)? == word).then_some(end)
    }

    pub fn accept_reserved(&mut self, expected: Reserved) -> bool {
        match self.reserved_word() {
            Some((word, end)) if word == expected => {
                self.input.position = end;
                true
            }
            _ => false,
        }
    }

    pub fn expect_reserved(&mut self, expected: Reserved) -> Parsed<()> {
        if self.accept_reserved(expected) { Ok(()) } else { self.unexpected() }
    }
}
