//! Tokens common to the languages: names, numbers, literal texts, signs; and the brackets that belong together.
//!
//! A language's own reader decides what begins a token; this has the pieces: how a name or a quoted text goes on,
//! what escapes mean. A text that the scanner does not understand to its end is no token list at all.

use std::borrow::Cow;
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    Number,
    /// A text known to the last byte; escapes are already resolved.
    Text,
    /// A text with code in it. The code follows as tokens, in round brackets.
    Mixed,
    /// A regular expression literal.
    Pattern,
    Sign,
    Newline,
}

#[derive(Debug, Clone)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    pub text: Cow<'a, [u8]>,
    /// White space is before it.
    pub spaced: bool,
}

/// A scan in progress.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    pub text: &'a [u8],
    pub at: usize,
    pub tokens: Vec<Token<'a>>,
    pub spaced: bool,
    /// How deep in texts with code in them.
    pub depth: usize,
}

/// Longest first, as far as they begin alike.
const SIGNS: &[&[u8]] = &[
    b">>>=", b"===", b"!==", b"**=", b"<=>", b"...", b">>>", b"<<=", b">>=", b"&&=", b"||=",
    b"??=", b"//=", b"==", b"!=", b"<=", b">=", b"=>", b"->", b"::", b"&&", b"||", b"??", b"?.",
    b"+=", b"-=", b"*=", b"/=", b"%=", b"^=", b"|=", b"&=", b"~=", b".=", b"//", b"**", b":=",
    b"<<", b">>", b"=~", b"!~", b"..", b"++", b"--", b"|&", b"&.", b"<-",
];

impl<'a> Scanner<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        let tokens = Vec::with_capacity(text.len() / 3 + 8);
        Scanner { text, at: 0, tokens, spaced: false, depth: 0 }
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub fn peek_at(&self, offset: usize) -> Option<u8> {
        self.text.get(self.at + offset).copied()
    }

    pub fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub fn slice(&self, range: Range<usize>) -> &'a [u8] {
        self.text.get(range).unwrap_or_default()
    }

    pub fn push(&mut self, kind: Kind, text: impl Into<Cow<'a, [u8]>>) {
        let spaced = std::mem::take(&mut self.spaced);
        self.tokens.push(Token { kind, text: text.into(), spaced });
    }

    pub fn last(&self) -> Option<&Token<'a>> {
        self.tokens.last()
    }

    pub fn skip_space(&mut self) {
        self.at += 1;
        self.spaced = true;
    }

    pub fn newline(&mut self) {
        self.at += 1;
        self.push(Kind::Newline, &b"\n"[..]);
    }

    /// To the end of the line; the newline stays.
    pub fn skip_line(&mut self) {
        let rest = self.rest();
        self.at += rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        self.spaced = true;
    }

    /// Over `…end`; `None` if there is no end.
    pub fn skip_past(&mut self, end: &[u8]) -> Option<()> {
        let found = self.rest().windows(end.len()).position(|window| window == end)?;
        self.at += found + end.len();
        self.spaced = true;
        Some(())
    }

    pub fn take(&mut self, which: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|byte| !which(*byte)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    pub fn name(&mut self, more: &[u8]) {
        let name = self.take(|byte| is_name(byte) || more.contains(&byte));
        self.push(Kind::Name, name);
    }

    /// Numbers matter only as numbers: anything that begins with a digit and goes on like one.
    pub fn number(&mut self) {
        let start = self.at;
        self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if self.peek() == Some(b'.') && self.peek_at(1).is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
            self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        }
        let number = self.slice(start..self.at);
        let scientific = number.ends_with(b"e") || number.ends_with(b"E");
        if scientific && matches!(self.peek(), Some(b'+' | b'-')) && !number.starts_with(b"0x") {
            self.at += 1;
            self.take(|byte| byte.is_ascii_digit());
        }
        let number = self.slice(start..self.at);
        self.push(Kind::Number, number);
    }

    pub fn sign(&mut self) {
        let rest = self.rest();
        let length = SIGNS.iter().find(|sign| rest.starts_with(sign)).map_or(1, |sign| sign.len());
        let sign = rest.get(..length).unwrap_or_default();
        self.at += sign.len();
        self.push(Kind::Sign, sign);
    }

    /// The raw inside of a text that ends with `end`; a backslash takes the next byte with it. The opening quote is
    /// behind; afterwards the closing one is too.
    pub fn quoted(&mut self, end: u8) -> Option<&'a [u8]> {
        let start = self.at;
        loop {
            let byte = self.peek()?;
            if byte == end {
                let raw = self.slice(start..self.at);
                self.at += 1;
                return Some(raw);
            }
            self.at += if byte == b'\\' { 2 } else { 1 };
        }
    }

    pub fn finish(self) -> Option<Tokens<'a>> {
        Tokens::new(self.tokens)
    }
}

pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// How a language reads backslashes in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Escapes {
    /// An unknown escape keeps its backslash.
    pub keep_unknown: bool,
    /// `\065` is decimal.
    pub decimal: bool,
    /// `\u0041`, `\u{41}`, `\U00000041`
    pub unicode: bool,
}

/// What a raw text means. `None`: it has an escape that is not understood.
pub(super) fn unescape(raw: &[u8], escapes: Escapes) -> Option<Cow<'_, [u8]>> {
    if !raw.contains(&b'\\') {
        return Some(Cow::Borrowed(raw));
    }
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let (&escape, after) = rest.split_first()?;
        rest = after;
        match escape {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'v' => out.push(11),
            b'\n' => {}
            b'0'..=b'9' => rest = numeric(&mut out, escape, rest, escapes)?,
            b'x' => rest = hexadecimal(&mut out, rest, 2)?,
            b'u' if escapes.unicode => rest = hexadecimal(&mut out, rest, 4)?,
            b'U' if escapes.unicode => rest = hexadecimal(&mut out, rest, 8)?,
            b'N' | b'c' | b'C' | b'M' | b'z' | b'Q' | b'E' | b'L' | b'l' if escapes.unicode => {
                return None;
            }
            _ => {
                if escapes.keep_unknown && escape.is_ascii_alphanumeric() {
                    out.push(b'\\');
                }
                out.push(escape);
            }
        }
    }
    Some(Cow::Owned(out))
}

fn numeric<'a>(
    out: &mut Vec<u8>,
    first: u8,
    mut rest: &'a [u8],
    escapes: Escapes,
) -> Option<&'a [u8]> {
    let base = if escapes.decimal { 10 } else { 8 };
    let mut value = char::from(first).to_digit(base)?;
    for _ in 0..2 {
        let Some(digit) = rest.first().and_then(|byte| char::from(*byte).to_digit(base)) else {
            break;
        };
        value = value * base + digit;
        rest = rest.get(1..).unwrap_or_default();
    }
    push_character(out, value)?;
    Some(rest)
}

/// `41`, or `{41}` of any length.
fn hexadecimal<'a>(out: &mut Vec<u8>, rest: &'a [u8], digits: usize) -> Option<&'a [u8]> {
    let (body, after) = if let Some(braced) = rest.strip_prefix(b"{") {
        let end = braced.iter().position(|byte| *byte == b'}')?;
        (braced.get(..end)?, braced.get(end + 1..)?)
    } else {
        let length = rest.iter().take(digits).take_while(|byte| byte.is_ascii_hexdigit()).count();
        (rest.get(..length)?, rest.get(length..)?)
    };
    let value = u32::from_str_radix(std::str::from_utf8(body).ok()?, 16).ok()?;
    push_character(out, value)?;
    Some(after)
}

fn push_character(out: &mut Vec<u8>, value: u32) -> Option<()> {
    let mut buffer = [0; 4];
    out.extend_from_slice(char::from_u32(value)?.encode_utf8(&mut buffer).as_bytes());
    Some(())
}

/// All tokens of a text.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    list: Vec<Token<'a>>,
    /// For each bracket the index of its partner; for all else its own.
    partners: Vec<usize>,
}

impl<'a> Tokens<'a> {
    /// `None` if brackets do not match.
    pub fn new(list: Vec<Token<'a>>) -> Option<Self> {
        let mut partners: Vec<usize> = (0..list.len()).collect();
        let mut open: Vec<(usize, u8)> = Vec::new();
        for (index, token) in list.iter().enumerate() {
            let (Kind::Sign, [byte]) = (token.kind, token.text.as_ref()) else { continue };
            match byte {
                b'(' => open.push((index, b')')),
                b'[' => open.push((index, b']')),
                b'{' => open.push((index, b'}')),
                b')' | b']' | b'}' => {
                    let (start, wanted) = open.pop()?;
                    if wanted != *byte {
                        return None;
                    }
                    *partners.get_mut(start)? = index;
                    *partners.get_mut(index)? = start;
                }
                _ => {}
            }
        }
        open.is_empty().then_some(Tokens { list, partners })
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn get(&self, index: usize) -> Option<&Token<'a>> {
        self.list.get(index)
    }

    pub fn kind(&self, index: usize) -> Option<Kind> {
        self.list.get(index).map(|token| token.kind)
    }

    /// Empty beyond the end.
    pub fn text(&self, index: usize) -> &[u8] {
        self.list.get(index).map_or(&[], |token| token.text.as_ref())
    }

    pub fn is(&self, index: usize, sign: &[u8]) -> bool {
        self.list
            .get(index)
            .is_some_and(|token| token.kind == Kind::Sign && token.text.as_ref() == sign)
    }

    pub fn is_name(&self, index: usize, name: &[u8]) -> bool {
        self.name(index) == Some(name)
    }

    pub fn name(&self, index: usize) -> Option<&[u8]> {
        self.list.get(index).filter(|token| token.kind == Kind::Name).map(|token| &*token.text)
    }

    pub fn literal(&self, index: usize) -> Option<&[u8]> {
        self.list.get(index).filter(|token| token.kind == Kind::Text).map(|token| &*token.text)
    }

    /// The sign before, if it is one of these; also `false` at the beginning.
    pub fn follows(&self, index: usize, signs: &[&[u8]]) -> bool {
        index.checked_sub(1).is_some_and(|before| signs.iter().any(|sign| self.is(before, sign)))
    }

    /// The other bracket of a pair.
    pub fn partner(&self, index: usize) -> usize {
        self.partners.get(index).copied().unwrap_or(index)
    }

    /// Where the statement that goes on at `index` ends: a newline or `;` outside of brackets, or a closing bracket.
    pub fn statement_end(&self, mut index: usize) -> usize {
        while let Some(token) = self.list.get(index) {
            match (token.kind, token.text.as_ref()) {
                (Kind::Newline, _) | (Kind::Sign, b";" | b")" | b"]" | b"}") => return index,
                (Kind::Sign, b"(" | b"[" | b"{") => index = self.partner(index) + 1,
                _ => index += 1,
            }
        }
        index
    }

    /// The same, but only if it is not far away: texts that matter are short, and many long searches are slow.
    pub fn near_statement_end(&self, start: usize) -> Option<usize> {
        let mut index = start;
        for _ in 0..64 {
            let Some(token) = self.list.get(index) else { return Some(index) };
            match (token.kind, token.text.as_ref()) {
                (Kind::Newline, _) | (Kind::Sign, b";" | b")" | b"]" | b"}") => return Some(index),
                (Kind::Sign, b"(" | b"[" | b"{") => index = self.partner(index) + 1,
                _ => index += 1,
            }
        }
        None
    }

    /// The parts between commas of a range, newlines at their edges left out.
    pub fn split(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut start = range.start;
        let mut index = range.start;
        while index < range.end {
            if self.is(index, b",") {
                parts.push(self.trim(start..index));
                start = index + 1;
                index += 1;
            } else {
                index = self.partner(index).max(index) + 1;
            }
        }
        let last = self.trim(start..range.end);
        if !last.is_empty() {
            parts.push(last);
        }
        parts
    }

    /// The arguments of the bracket that opens at `open`.
    pub fn arguments(&self, open: usize) -> Vec<Range<usize>> {
        self.split(open + 1..self.partner(open))
    }

    pub fn trim(&self, mut range: Range<usize>) -> Range<usize> {
        while range.start < range.end && self.kind(range.start) == Some(Kind::Newline) {
            range.start += 1;
        }
        while range.start < range.end && self.kind(range.end - 1) == Some(Kind::Newline) {
            range.end -= 1;
        }
        range
    }
}

/// Is the name in a sorted list?
pub(super) fn among(list: &[&str], name: &[u8]) -> bool {
    // A table out of order would hide some of its entries; every test would stumble over it here.
    debug_assert!(list.is_sorted(), "a table is not sorted");
    list.binary_search_by(|entry| entry.as_bytes().cmp(name)).is_ok()
}
