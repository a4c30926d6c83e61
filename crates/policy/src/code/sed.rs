//! Sed scripts, parsed as GNU sed does: addresses, commands, blocks, the text of `a`, `i` and `c`.
//!
//! Seds disagree on one thing that matters, whether a delimiter inside `[…]` ends a pattern. A script that depends
//! on it is read in every way, and the worst reading that is a script at all counts.

use super::findings::Findings;
use crate::event::Access;

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let mut first = Script::new(text, Brackets::Plain);
    let understood = first.run();
    if !first.ambiguous {
        if !understood {
            first.findings.unclear("a sed script with an error");
        }
        findings.merge(first.findings);
        return;
    }
    let mut any = understood;
    if understood {
        findings.merge(first.findings);
    }
    for brackets in [Brackets::None, Brackets::Escaping] {
        let mut other = Script::new(text, brackets);
        if other.run() {
            any = true;
            findings.merge(other.findings);
        }
    }
    if !any {
        findings.unclear("a sed script with an error");
    }
}

/// What a bracket expression is to the search for the end of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brackets {
    /// Nothing: the delimiter ends the pattern wherever it is.
    None,
    /// A backslash in it is an ordinary character.
    Plain,
    /// A backslash in it keeps its meaning.
    Escaping,
}

struct Script<'a> {
    text: &'a [u8],
    at: usize,
    brackets: Brackets,
    /// A pattern has a bracket in it before its end: other seds may see another end.
    ambiguous: bool,
    /// Up to here no bracket is ever closed; without it every bracket of a long line would search all of it.
    unclosed: usize,
    findings: Findings,
}

impl<'a> Script<'a> {
    fn new(text: &'a [u8], brackets: Brackets) -> Self {
        Script {
            text,
            at: 0,
            brackets,
            ambiguous: false,
            unclosed: 0,
            findings: Findings::default(),
        }
    }

    /// Is it a script at all?
    fn run(&mut self) -> bool {
        let mut depth = 0usize;
        loop {
            self.skip(|byte| byte.is_ascii_whitespace() || byte == b';');
            if self.peek().is_none() {
                return depth == 0;
            }
            let Some(addressed) = self.addresses() else { return false };
            self.skip(|byte| matches!(byte, b' ' | b'\t' | b'!'));
            let Some(command) = self.next() else { return false };
            let fine = match command {
                b'{' => {
                    depth += 1;
                    true
                }
                b'}' if depth > 0 && !addressed => {
                    depth -= 1;
                    self.end_of_command()
                }
                b'}' => false,
                _ => self.command(command),
            };
            if !fine {
                return false;
            }
        }
    }

    fn command(&mut self, command: u8) -> bool {
        match command {
            b'#' => {
                self.line();
                true
            }
            b':' => {
                self.skip(|byte| matches!(byte, b' ' | b'\t'));
                let label = self.take(|byte| !byte.is_ascii_whitespace() && byte != b';');
                !label.is_empty() && !label.contains(&b'}') && self.end_of_command()
            }
            b'b' | b't' | b'T' | b'v' => {
                self.skip(|byte| matches!(byte, b' ' | b'\t'));
                self.take(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b';' | b'}'));
                self.end_of_command()
            }
            b'a' | b'i' | b'c' => self.text_block(),
            b'r' | b'R' => self.file(Access::Read),
            b'w' | b'W' => self.file(Access::Write),
            b'e' => {
                self.execute();
                true
            }
            b's' => self.substitute(),
            b'y' => self.transliterate(),
            b'=' | b'd' | b'D' | b'g' | b'G' | b'h' | b'H' | b'n' | b'N' | b'p' | b'P' | b'x'
            | b'z' | b'F' => self.end_of_command(),
            b'l' | b'L' | b'q' | b'Q' => {
                self.skip(|byte| byte == b' ' || byte == b'\t');
                self.take(|byte| byte.is_ascii_digit());
                self.end_of_command()
            }
            _ => false,
        }
    }

    /// Returns whether there was one; `None` is an error.
    fn addresses(&mut self) -> Option<bool> {
        if !self.address()? {
            return Some(false);
        }
        self.skip(|byte| byte == b' ' || byte == b'\t');
        if self.peek() == Some(b',') {
            self.at += 1;
            self.skip(|byte| byte == b' ' || byte == b'\t');
            if matches!(self.peek(), Some(b'+' | b'~')) {
                self.at += 1;
                let digits = self.take(|byte| byte.is_ascii_digit());
                return (!digits.is_empty()).then_some(true);
            }
            if !self.address()? {
                return None;
            }
        }
        Some(true)
    }

    fn address(&mut self) -> Option<bool> {
        match self.peek() {
            Some(b'$') => self.at += 1,
            Some(b'0'..=b'9') => {
                self.take(|byte| byte.is_ascii_digit());
                self.skip(|byte| byte == b' ');
                if self.peek() == Some(b'~') {
                    self.at += 1;
                    self.take(|byte| byte.is_ascii_digit());
                }
            }
            Some(b'/') => {
                self.at += 1;
                self.pattern(b'/')?;
                self.take(|byte| matches!(byte, b'I' | b'M'));
            }
            Some(b'\\') => {
                self.at += 1;
                let delimiter = self.next().filter(|byte| !matches!(byte, b'\n' | b'\\'))?;
                self.pattern(delimiter)?;
                self.take(|byte| matches!(byte, b'I' | b'M'));
            }
            _ => return Some(false),
        }
        Some(true)
    }

    /// Up to and over the delimiter.
    fn pattern(&mut self, delimiter: u8) -> Option<()> {
        while let Some(byte) = self.next() {
            match byte {
                _ if byte == delimiter => return Some(()),
                b'\n' => return None,
                b'\\' => {
                    self.next()?;
                }
                b'[' => {
                    self.ambiguous |= self.bracket_hides(delimiter);
                    if self.brackets != Brackets::None {
                        self.bracket();
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Could the end of the pattern depend on how the bracket is read?
    fn bracket_hides(&self, delimiter: u8) -> bool {
        // Only what is near; a long line is not searched for each of its brackets.
        let rest = self.text.get(self.at..).unwrap_or_default();
        let near = rest.get(..rest.len().min(64)).unwrap_or_default();
        let near = near.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let close = match near.iter().skip(1).position(|byte| *byte == b']') {
            Some(position) => position + 1,
            None => return true,
        };
        let inside = near.get(..close).unwrap_or_default();
        inside.iter().any(|byte| *byte == delimiter || matches!(byte, b'\\' | b'['))
    }

    /// Over a bracket expression; stays where it is if it is never closed.
    fn bracket(&mut self) {
        let start = self.at;
        if start < self.unclosed {
            return;
        }
        if self.peek() == Some(b'^') {
            self.at += 1;
        }
        if self.peek() == Some(b']') {
            self.at += 1;
        }
        while let Some(byte) = self.next() {
            match byte {
                b']' => return,
                b'\n' => break,
                b'\\' if self.brackets == Brackets::Escaping => self.at += 1,
                b'[' if matches!(self.peek(), Some(b':' | b'.' | b'=')) => {
                    let kind = self.peek();
                    let rest = self.text.get(self.at + 1..).unwrap_or_default();
                    let end = rest
                        .windows(2)
                        .take(40)
                        .position(|pair| pair.first().copied() == kind && pair.ends_with(b"]"));
                    if let Some(end) = end {
                        self.at += end + 3;
                    }
                }
                _ => {}
            }
        }
        self.unclosed = self.at;
        self.at = start;
    }

    fn substitute(&mut self) -> bool {
        let Some(delimiter) = self.next().filter(|byte| !matches!(byte, b'\n' | b'\\')) else {
            return false;
        };
        if self.pattern(delimiter).is_none() || !self.replacement(delimiter) {
            return false;
        }
        loop {
            match self.peek() {
                Some(b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9') => self.at += 1,
                Some(b'e') => {
                    self.at += 1;
                    self.findings.danger("s///e");
                }
                Some(b'w') => {
                    self.at += 1;
                    return self.file(Access::Write);
                }
                _ => return self.end_of_command(),
            }
        }
    }

    fn transliterate(&mut self) -> bool {
        let Some(delimiter) = self.next().filter(|byte| !matches!(byte, b'\n' | b'\\')) else {
            return false;
        };
        self.replacement(delimiter) && self.replacement(delimiter) && self.end_of_command()
    }

    fn replacement(&mut self, delimiter: u8) -> bool {
        while let Some(byte) = self.next() {
            if byte == delimiter {
                return true;
            }
            if byte == b'\\' {
                self.at += 1;
            } else if byte == b'\n' {
                return false;
            }
        }
        false
    }

    /// The text of `a`, `i`, `c`: up to a newline without a backslash before it.
    fn text_block(&mut self) -> bool {
        self.skip(|byte| byte == b' ' || byte == b'\t');
        if self.peek() == Some(b'\\') {
            self.at += 1;
            self.skip(|byte| byte == b' ' || byte == b'\t');
            if self.peek() == Some(b'\n') {
                self.at += 1;
            }
        }
        while let Some(byte) = self.next() {
            match byte {
                b'\\' => self.at += 1,
                b'\n' => break,
                _ => {}
            }
        }
        true
    }

    /// The rest of the line is a name, semicolons and braces included.
    fn file(&mut self, access: Access) -> bool {
        self.skip(|byte| byte == b' ' || byte == b'\t');
        let name = self.line();
        if !name.is_empty() {
            self.findings.open(name, access);
        }
        !name.is_empty()
    }

    fn execute(&mut self) {
        self.skip(|byte| byte == b' ' || byte == b'\t');
        let command = self.line();
        self.findings.danger("e");
        if !command.is_empty() {
            self.findings.shell(command);
        }
    }

    fn end_of_command(&mut self) -> bool {
        self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        match self.peek() {
            Some(b';' | b'\n') => {
                self.at += 1;
                true
            }
            None | Some(b'}' | b'#') => true,
            Some(_) => false,
        }
    }

    fn line(&mut self) -> &'a [u8] {
        self.take(|byte| byte != b'\n')
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, which: impl Fn(u8) -> bool) {
        self.take(which);
    }

    fn take(&mut self, which: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| !which(*byte)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }
}
