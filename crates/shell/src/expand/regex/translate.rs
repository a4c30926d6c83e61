//! POSIX extended syntax, with the escapes glibc adds, to that of the `regex` crate.

use std::fmt::Write;

use bstr::ByteSlice;

/// `None`: no valid expression, or a back-reference.
pub(super) fn translate(regex: &[u8]) -> Option<String> {
    let mut translator =
        Translator { rest: regex, out: String::new(), atom: None, groups: Vec::new() };
    while !translator.rest.is_empty() {
        translator.next()?;
    }
    translator.groups.is_empty().then_some(translator.out)
}

struct Translator<'a> {
    rest: &'a [u8],
    out: String,
    /// Where the last thing that can be repeated begins, and whether it has a repetition already.
    atom: Option<(usize, bool)>,
    /// Where the open groups begin.
    groups: Vec<usize>,
}

impl Translator<'_> {
    fn next(&mut self) -> Option<()> {
        let start = self.out.len();
        let (letter, length) = self.character();
        self.advance(length);
        match letter {
            Some('\\') => self.escape(),
            Some('[') => self.bracket(),
            Some('(') => {
                self.groups.push(start);
                self.out.push('(');
                self.atom = None;
                Some(())
            }
            Some(')') if !self.groups.is_empty() => {
                let open = self.groups.pop()?;
                self.out.push(')');
                self.atom = Some((open, false));
                Some(())
            }
            Some('|') => {
                self.out.push('|');
                self.atom = None;
                Some(())
            }
            Some('^') => {
                self.out.push_str("\\A");
                self.atom = None;
                Some(())
            }
            Some('$') => {
                self.out.push_str("\\z");
                self.atom = Some((start, false));
                Some(())
            }
            Some('.') => {
                self.out.push('.');
                self.atom = Some((start, false));
                Some(())
            }
            Some(sign @ ('*' | '+' | '?')) => self.repeat(&sign.to_string()),
            Some('{') => {
                let interval = self.interval()?;
                self.repeat(&interval)
            }
            Some(other) => {
                self.literal(other);
                Some(())
            }
            None => {
                // A byte that is no character can only be named as a byte, which no text of characters matches.
                self.out.push_str("[^\\x00-\\u{10FFFF}]");
                self.atom = Some((start, false));
                Some(())
            }
        }
    }

    /// The next character; `None` with length 1 for a byte that is none.
    fn character(&self) -> (Option<char>, usize) {
        let (letter, length) = bstr::decode_utf8(self.rest);
        (letter, if letter.is_some() { length } else { 1 })
    }

    fn advance(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
    }

    fn literal(&mut self, letter: char) {
        self.atom = Some((self.out.len(), false));
        push_literal(&mut self.out, letter);
    }

    fn escape(&mut self) -> Option<()> {
        let start = self.out.len();
        let (letter, length) = self.character();
        let letter = letter.filter(|_| !self.rest.is_empty())?;
        self.advance(length);
        let (text, repeatable) = match letter {
            '1'..='9' => return None,
            'w' => ("[\\p{Alphabetic}\\p{N}_]", true),
            'W' => ("[^\\p{Alphabetic}\\p{N}_]", true),
            's' => ("\\s", true),
            'S' => ("\\S", true),
            'b' => ("\\b", false),
            'B' => ("\\B", false),
            '<' => ("\\<", false),
            '>' => ("\\>", false),
            '`' => ("\\A", false),
            '\'' => ("\\z", false),
            other => {
                self.literal(other);
                return Some(());
            }
        };
        self.out.push_str(text);
        self.atom = repeatable.then_some((start, false));
        Some(())
    }

    /// A repetition of a repetition is one of a group: `a+?` is not the lazy `a+`.
    fn repeat(&mut self, sign: &str) -> Option<()> {
        let (start, repeated) = self.atom?;
        if repeated {
            self.out.insert_str(start, "(?:");
            self.out.push(')');
        }
        self.out.push_str(sign);
        self.atom = Some((start, true));
        Some(())
    }

    /// `{2}`, `{2,}`, `{,3}`, `{2,3}`; the brace is already read.
    fn interval(&mut self) -> Option<String> {
        let end = self.rest.find_byte(b'}')?;
        let inside = self.rest.get(..end)?.to_str().ok()?;
        let number = |text: &str| text.parse::<u16>().ok().filter(|number| *number <= 0x7fff);
        let interval = match inside.split_once(',') {
            None => format!("{{{}}}", number(inside)?),
            Some(("", "")) => return None,
            Some(("", most)) => format!("{{0,{}}}", number(most)?),
            Some((least, "")) => format!("{{{},}}", number(least)?),
            Some((least, most)) => {
                let (least, most) = (number(least)?, number(most)?);
                if least > most {
                    return None;
                }
                format!("{{{least},{most}}}")
            }
        };
        self.advance(end + 1);
        Some(interval)
    }

    fn bracket(&mut self) -> Option<()> {
        let start = self.out.len();
        let mut set = String::from("[");
        if self.rest.first() == Some(&b'^') {
            set.push('^');
            self.advance(1);
        }
        let mut first = true;
        loop {
            if self.rest.first()? == &b']' && !first {
                self.advance(1);
                break;
            }
            first = false;
            if let Some(name) = self.named(b':') {
                set.push_str(class(&name)?);
                continue;
            }
            let low = self.member()?;
            if self.rest.first() == Some(&b'-')
                && self.rest.get(1).is_some_and(|next| *next != b']')
            {
                self.advance(1);
                let high = self.member()?;
                if low > high {
                    return None;
                }
                push_literal(&mut set, low);
                set.push('-');
                push_literal(&mut set, high);
            } else {
                push_literal(&mut set, low);
            }
        }
        set.push(']');
        self.out.push_str(&set);
        self.atom = Some((start, false));
        Some(())
    }

    /// `[:name:]`, `[=x=]`, `[.x.]`: what is between the marks.
    fn named(&mut self, mark: u8) -> Option<String> {
        let inside = self.rest.strip_prefix(&[b'[', mark])?;
        let end = inside.find([mark, b']'])?;
        let name = inside.get(..end)?.to_str().ok()?.to_owned();
        self.advance(end + 4);
        Some(name)
    }

    fn member(&mut self) -> Option<char> {
        for mark in [b'=', b'.'] {
            if let Some(name) = self.named(mark) {
                let mut letters = name.chars();
                return match (letters.next(), letters.next()) {
                    (Some(only), None) => Some(only),
                    _ => None,
                };
            }
        }
        let (letter, length) = self.character();
        self.advance(length);
        letter
    }
}

fn push_literal(out: &mut String, letter: char) {
    if letter.is_ascii() && !letter.is_ascii_alphanumeric() && letter != '_' {
        // Writing to a String cannot fail.
        let _ = write!(out, "\\x{:02X}", u32::from(letter));
    } else {
        out.push(letter);
    }
}

fn class(name: &str) -> Option<&'static str> {
    Some(match name {
        "alnum" => "\\p{Alphabetic}\\p{N}",
        "alpha" => "\\p{Alphabetic}",
        "blank" => " \\t",
        "cntrl" => "\\p{Cc}",
        "digit" => "0-9",
        "graph" => "[\\P{Cc}--\\s]",
        "lower" => "\\p{Lowercase}",
        "print" => "\\P{Cc}",
        "punct" => "\\p{P}\\p{S}",
        "space" => "\\s",
        "upper" => "\\p{Uppercase}",
        "xdigit" => "0-9A-Fa-f",
        _ => return None,
    })
}

/// Adds quoted text: every character stands for itself.
pub(super) fn push_escaped(regex: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        if b"\\.[]()*+?{}^$|".contains(&byte) {
            regex.push(b'\\');
        }
        regex.push(byte);
    }
}

/// Follows unquoted text to know whether a bracket expression is open.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    open: bool,
    /// Bytes since the bracket opened.
    length: usize,
    escaped: bool,
    /// Inside `[:`…`:]`.
    named: Option<u8>,
    last: u8,
}

impl Brackets {
    pub fn inside(&self) -> bool {
        self.open
    }

    pub fn follow(&mut self, text: &[u8]) {
        for &byte in text {
            self.step(byte);
            self.last = byte;
        }
    }

    fn step(&mut self, byte: u8) {
        if !self.open {
            let escaped = self.escaped;
            self.escaped = !escaped && byte == b'\\';
            if byte == b'[' && !escaped {
                *self = Brackets { open: true, ..Brackets::default() };
            }
            return;
        }
        self.length += 1;
        match (self.named, byte) {
            (Some(mark), b']') if self.last == mark => self.named = None,
            (None, b':' | b'=' | b'.') if self.last == b'[' && self.length > 1 => {
                self.named = Some(byte);
            }
            (None, b'^') if self.length == 1 => self.length = 0,
            (None, b']') if self.length > 1 => *self = Brackets::default(),
            _ => {}
        }
    }
}
