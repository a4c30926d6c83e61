//! Awk: commands in pipes and `system`, files behind `>` and `<`, loaded extensions.

use std::collections::HashSet;
use std::ops::Range;

use super::findings::Findings;
use super::tokens::{Escapes, Kind, Scanner, Tokens, among, is_name, unescape};
use crate::event::Access;

const ESCAPES: Escapes = Escapes { keep_unknown: false, decimal: false, unicode: false };

/// All of them compute and nothing else. Sorted.
const FUNCTIONS: &[&str] = &[
    "and",
    "asort",
    "asorti",
    "atan2",
    "bindtextdomain",
    "close",
    "compl",
    "cos",
    "dcgettext",
    "dcngettext",
    "exp",
    "fflush",
    "gensub",
    "gsub",
    "index",
    "int",
    "isarray",
    "length",
    "log",
    "lshift",
    "match",
    "mkbool",
    "mktime",
    "or",
    "patsplit",
    "rand",
    "rshift",
    "sin",
    "split",
    "sprintf",
    "sqrt",
    "srand",
    "strftime",
    "strtonum",
    "sub",
    "substr",
    "systime",
    "tolower",
    "toupper",
    "typeof",
    "xor",
];

/// A command that only passes its input on, as writers of awk have it: `print | "sort -rn"`.
const FILTERS: &[&str] = &["cat", "column", "head", "nl", "sort", "tac", "tail", "uniq", "wc"];

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let Some(tokens) = scan(text) else {
        findings.unclear("awk code that cannot be read");
        return;
    };
    let functions = (0..tokens.len())
        .filter(|index| matches!(tokens.name(*index), Some(b"function" | b"func")))
        .filter_map(|index| tokens.name(index + 1))
        .collect();
    Reader { tokens: &tokens, functions, findings }.run();
}

fn scan(text: &[u8]) -> Option<Tokens<'_>> {
    let mut scanner = Scanner::new(text);
    while let Some(byte) = scanner.peek() {
        match byte {
            b' ' | b'\t' | b'\r' => scanner.skip_space(),
            b'\n' if continues(&scanner) => scanner.skip_space(),
            b'\n' => scanner.newline(),
            b'#' => skip_comment(&mut scanner),
            b'\\' => {
                // Only a continued line.
                let rest = scanner.rest();
                let length = if rest.starts_with(b"\\\r\n") { 3 } else { 2 };
                if !rest.starts_with(b"\\\n") && length == 2 {
                    return None;
                }
                scanner.at += length;
                scanner.spaced = true;
            }
            b'"' => {
                scanner.at += 1;
                let raw = scanner.quoted(b'"')?;
                scanner.push(Kind::Text, unescape(raw, ESCAPES)?);
            }
            b'/' if pattern_may_begin(&scanner)? => {
                scanner.at += 1;
                pattern(&mut scanner)?;
            }
            b'0'..=b'9' => scanner.number(),
            _ if is_name(byte) => scanner.name(b""),
            _ if byte.is_ascii_punctuation() && !matches!(byte, b'`' | b'\'') => sign(&mut scanner),
            _ => return None,
        }
    }
    scanner.finish()
}

/// A line that ends so goes on in the next one.
fn continues(scanner: &Scanner<'_>) -> bool {
    scanner.last().is_some_and(|last| {
        last.kind == Kind::Sign && matches!(last.text.as_ref(), b"," | b"&&" | b"||" | b"?" | b":")
    })
}

/// Awk's own signs; `|&` and `>>` matter.
fn sign(scanner: &mut Scanner<'_>) {
    let rest = scanner.rest();
    let known: [&[u8]; 18] = [
        b"**=", b"&&", b"||", b"|&", b">>", b"==", b"!=", b"<=", b">=", b"+=", b"-=", b"*=", b"/=",
        b"%=", b"^=", b"++", b"--", b"::",
    ];
    let length = known.iter().find(|sign| rest.starts_with(sign)).map_or(1, |sign| sign.len());
    let sign = rest.get(..length).unwrap_or_default();
    scanner.at += sign.len();
    scanner.push(Kind::Sign, sign);
}

/// Is a slash here the beginning of a pattern? `None`: awks may disagree.
fn pattern_may_begin(scanner: &Scanner<'_>) -> Option<bool> {
    let Some(last) = scanner.last() else { return Some(true) };
    match last.kind {
        Kind::Name => match last.text.as_ref() {
            b"print" | b"printf" | b"return" | b"in" | b"case" | b"if" | b"while" | b"do"
            | b"else" => Some(true),
            b"getline" | b"next" | b"exit" | b"delete" => None,
            _ => Some(false),
        },
        Kind::Number | Kind::Text | Kind::Mixed | Kind::Pattern => Some(false),
        Kind::Sign => match last.text.as_ref() {
            b")" | b"]" | b"$" => Some(false),
            b"++" | b"--" => None,
            _ => Some(true),
        },
        Kind::Newline => Some(true),
    }
}

fn pattern(scanner: &mut Scanner<'_>) -> Option<()> {
    let start = scanner.at;
    let mut bracket = false;
    let mut doubtful = false;
    loop {
        match scanner.peek()? {
            b'\n' => return None,
            b'\\' => {
                scanner.at += 1;
                if scanner.peek()? == b'\n' {
                    return None;
                }
            }
            // Awks disagree on whether a slash in brackets ends the pattern; such code is not claimed to be read.
            b'/' if bracket => doubtful = true,
            b'/' => break,
            b'[' if !bracket => {
                bracket = true;
                if scanner.peek_at(1) == Some(b'^') {
                    scanner.at += 1;
                }
                if scanner.peek_at(1) == Some(b']') {
                    scanner.at += 1;
                }
            }
            b']' => bracket = false,
            _ => {}
        }
        scanner.at += 1;
    }
    let raw = scanner.slice(start..scanner.at);
    scanner.at += 1;
    // `/[/]/` is common; what is not is a pattern in which the other reading would be code with a quote in it.
    if doubtful && raw.iter().any(|byte| matches!(byte, b'"' | b'|' | b'(' | b'>')) {
        return None;
    }
    scanner.push(Kind::Pattern, raw);
    Some(())
}

struct Reader<'t, 'a, 'f> {
    tokens: &'t Tokens<'a>,
    /// Functions of this very code.
    functions: HashSet<&'t [u8]>,
    findings: &'f mut Findings,
}

impl Reader<'_, '_, '_> {
    fn run(&mut self) {
        // The print statement that we are in, and the sign in it that sends its output elsewhere.
        let mut printing = 0..0;
        let mut redirect = None;
        let mut index = 0;
        while let Some(token) = self.tokens.get(index) {
            match (token.kind, token.text.as_ref()) {
                (Kind::Name, b"print" | b"printf") if printing.contains(&index) => {
                    self.findings.unclear("print within print");
                }
                (Kind::Name, b"print" | b"printf") => {
                    printing = index..self.tokens.statement_end(index);
                    redirect = self.print(printing.clone());
                }
                (Kind::Name, _) => self.name(index),
                (Kind::Sign, b"@") => {
                    self.findings.danger([b"@", self.tokens.text(index + 1)].concat());
                }
                (Kind::Sign, b"|" | b"|&") if redirect != Some(index) => self.pipe(index),
                (Kind::Sign, b"::") => self.findings.unclear("a namespace"),
                _ => {}
            }
            index += 1;
        }
    }

    fn name(&mut self, index: usize) {
        let name = self.tokens.text(index);
        match name {
            b"system" => {
                self.findings.danger("system");
                let open = index + 1;
                if self.tokens.is(open, b"(")
                    && let Some(command) = self.tokens.literal(open + 1)
                    && self.tokens.partner(open) == open + 2
                {
                    self.findings.shell(command);
                }
            }
            b"getline" => self.getline(index),
            b"ENVIRON" => {
                let named = self.tokens.is(index + 1, b"[")
                    && self.tokens.literal(index + 2).is_some()
                    && self.tokens.is(index + 3, b"]");
                if !named {
                    self.findings.unclear("ENVIRON");
                }
            }
            b"ARGV" | b"ARGC" if self.assigned(index) => self.findings.unclear("ARGV"),
            b"SYMTAB" | b"FUNCTAB" => self.findings.danger(name),
            b"extension" => self.findings.danger("extension"),
            _ => {
                let called = self.tokens.is(index + 1, b"(")
                    && self.tokens.get(index + 1).is_some_and(|open| !open.spaced);
                if called
                    && !among(FUNCTIONS, name)
                    && !is_keyword(name)
                    && !self.functions.contains(name)
                {
                    self.findings.unclear(name);
                }
            }
        }
    }

    fn assigned(&self, index: usize) -> bool {
        let mut after = index + 1;
        if self.tokens.is(after, b"[") {
            after = self.tokens.partner(after) + 1;
        }
        let change: [&[u8]; 7] = [b"=", b"++", b"--", b"+=", b"-=", b"*=", b"/="];
        change.iter().any(|sign| self.tokens.is(after, sign))
            || self.tokens.follows(index, &[b"++", b"--"])
            || self.tokens.follows(index, &[b"(", b","])
                && !self.tokens.is(after, b"[")
                && self.tokens.is_name(index, b"ARGV")
    }

    /// `getline [variable] < file`. What is piped into it is found at the pipe.
    fn getline(&mut self, index: usize) {
        let mut at = index + 1;
        while self.tokens.is(at, b"$") {
            at += 1;
        }
        if matches!(self.tokens.kind(at), Some(Kind::Name | Kind::Number)) {
            at += 1;
            if self.tokens.is(at, b"[") {
                at = self.tokens.partner(at) + 1;
            }
        } else if self.tokens.is(at, b"(") && at > index + 1 {
            at = self.tokens.partner(at) + 1;
        }
        if self.tokens.is(at, b"<") {
            self.file(at + 1, Access::Read);
        }
    }

    /// Where its output goes, and by which sign.
    fn print(&mut self, statement: Range<usize>) -> Option<usize> {
        let mut index = statement.start + 1;
        while index < statement.end {
            if self.tokens.is(index, b">") || self.tokens.is(index, b">>") {
                self.file(index + 1, Access::Write);
                return Some(index);
            }
            if self.tokens.is(index, b"|") {
                self.command(index + 1);
                return Some(index);
            }
            index = self.tokens.partner(index).max(index) + 1;
        }
        None
    }

    /// The literal at `index`, if nothing is put behind it.
    fn lone(&self, index: usize) -> Option<&[u8]> {
        let (at, after) = if self.tokens.is(index, b"(") && self.tokens.partner(index) == index + 2
        {
            (index + 1, index + 3)
        } else {
            (index, index + 1)
        };
        let ends = match self.tokens.get(after) {
            None => true,
            Some(token) => match token.kind {
                Kind::Newline => true,
                Kind::Sign => {
                    !matches!(token.text.as_ref(), b"$" | b"(" | b"-" | b"+" | b"!" | b"++" | b"--")
                }
                _ => false,
            },
        };
        self.tokens.literal(at).filter(|_| ends)
    }

    fn file(&mut self, index: usize, access: Access) {
        let Some(path) = self.lone(index) else {
            self.findings.unclear(if access == Access::Read {
                "getline from a computed name"
            } else {
                "output to a computed name"
            });
            return;
        };
        let path = path.to_vec();
        if path.starts_with(b"/inet") {
            let host = path.split(|byte| *byte == b'/').nth(4).unwrap_or(&path);
            self.findings.danger("/inet");
            self.findings.connect(host);
        } else {
            self.findings.open(&path, access);
        }
    }

    /// `print | command`
    fn command(&mut self, index: usize) {
        let Some(command) = self.lone(index) else {
            self.findings.danger("print | command");
            return;
        };
        let command = command.to_vec();
        if !is_filter(&command) {
            self.findings.danger("print | command");
        }
        self.findings.shell(&command);
    }

    /// `command | getline`, or a coprocess.
    fn pipe(&mut self, index: usize) {
        let coprocess = self.tokens.is(index, b"|&");
        let command = index
            .checked_sub(1)
            .and_then(|before| self.tokens.literal(before))
            .filter(|_| {
                index.checked_sub(2).is_none_or(|before| match self.tokens.get(before) {
                    None => true,
                    Some(token) => match token.kind {
                        Kind::Newline => true,
                        Kind::Sign => !matches!(token.text.as_ref(), b")" | b"]"),
                        Kind::Name => {
                            matches!(token.text.as_ref(), b"BEGIN" | b"END" | b"if" | b"while")
                        }
                        _ => false,
                    },
                })
            })
            .map(<[u8]>::to_vec);
        self.findings.danger(if coprocess { "|&" } else { "command | getline" });
        if let Some(command) = command {
            if command.starts_with(b"/inet") {
                let host = command.split(|byte| *byte == b'/').nth(4).unwrap_or(&command);
                self.findings.connect(host);
            } else {
                self.findings.shell(&command);
            }
        }
    }
}

/// A well-known filter with nothing but plain words: what it does is still judged as a command.
fn is_filter(command: &[u8]) -> bool {
    let plain = command.strip_suffix(b"1>&2").or_else(|| command.strip_suffix(b">&2"));
    let plain = plain.unwrap_or(command);
    let name = plain.split(|byte| *byte == b' ').next().unwrap_or_default();
    among(FILTERS, name)
        && plain.iter().all(|byte| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b' ' | b'-' | b',' | b':' | b'=' | b'_' | b'.')
        })
        && !plain.windows(2).any(|pair| pair == b"-o" || pair == b"--")
}

/// Only a newline ends a comment: a carriage return does not, to awk.
fn skip_comment(scanner: &mut Scanner<'_>) {
    scanner.take(|byte| byte != b'\n');
}

fn is_keyword(name: &[u8]) -> bool {
    matches!(
        name,
        b"if"
            | b"while"
            | b"for"
            | b"switch"
            | b"return"
            | b"in"
            | b"do"
            | b"else"
            | b"exit"
            | b"delete"
            | b"case"
            | b"function"
            | b"func"
            | b"BEGIN"
            | b"END"
            | b"next"
    )
}
