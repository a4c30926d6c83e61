//! Perl: every word must be known to be harmless. Its builtins start programs in many spellings, among them `open`
//! with two arguments, so there is no list of bad words but one of good ones.

mod names;
mod quotes;
mod scan;

use std::collections::HashSet;
use std::ops::Range;

use super::findings::Findings;
use super::tokens::{Kind, Tokens, among};
use crate::event::Access;
use bstr::ByteSlice;

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    if is_import(text) {
        return;
    }
    let Some(tokens) = scan::scan(text) else {
        findings.unclear("Perl code that cannot be read");
        return;
    };
    let mut own = HashSet::new();
    for index in 0..tokens.len() {
        let named = match tokens.name(index) {
            Some(b"sub" | b"package") => tokens.name(index + 1),
            // A handle, if a word of capitals follows.
            Some(b"open" | b"opendir") => {
                let at = if tokens.is(index + 1, b"(") { index + 2 } else { index + 1 };
                tokens.name(at).filter(|name| name.iter().all(u8::is_ascii_uppercase))
            }
            _ => None,
        };
        own.extend(named);
    }
    Reader { tokens: &tokens, own, findings }.run();
}

/// `List::Util=sum,max`, as in `-MList::Util=sum,max`: a module that only computes, and names out of it.
fn is_import(text: &[u8]) -> bool {
    let (module, names) = text.split_once_str("=").unwrap_or((text, b""));
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b',' | b':');
    is_module(module) && names.iter().all(plain)
}

struct Reader<'t, 'a, 'f> {
    tokens: &'t Tokens<'a>,
    /// Subroutines, packages and handles of the code itself.
    own: HashSet<&'t [u8]>,
    findings: &'f mut Findings,
}

impl Reader<'_, '_, '_> {
    fn run(&mut self) {
        let mut index = 0;
        while let Some(token) = self.tokens.get(index) {
            match (token.kind, token.text.as_ref()) {
                (Kind::Name, name) => index = self.word(index, name).max(index),
                (Kind::Sign, b"`") => {
                    self.findings.danger("`…`");
                    if let Some(command) = self.tokens.literal(index + 1) {
                        self.findings.shell(command);
                    }
                }
                (Kind::Sign, b"(?{") => self.findings.danger("(?{…})"),
                (Kind::Sign, b"s///ee") => self.findings.danger("s///ee"),
                (Kind::Sign, b"->") => self.arrow(index),
                (Kind::Number, variable) => self.variable(index, variable),
                _ => {}
            }
            index += 1;
        }
    }

    /// Returns the last token that is understood with it.
    fn word(&mut self, index: usize, name: &[u8]) -> usize {
        let next = index + 1;
        let key = self.tokens.is(next, b"=>")
            || self.tokens.follows(index, &[b"{"])
                && self.tokens.is(next, b"}")
                && index >= 2
                && self.is_subscript(index - 1);
        if key || self.tokens.follows(index, &[b"->"]) {
            return index;
        }
        match name {
            b"use" | b"no" | b"require" => return self.module(index, name),
            b"eval" | b"do" if self.tokens.is(next, b"{") => {}
            b"eval" => self.findings.danger("eval"),
            b"do" => self.findings.danger("do FILE"),
            b"open" => self.open(index),
            b"unlink" | b"rmdir" | b"rename" => self.files(index, Access::Delete),
            b"mkdir" | b"chmod" | b"utime" | b"truncate" => self.files(index, Access::Write),
            b"opendir" | b"readdir" | b"closedir" | b"glob" | b"chdir" => self.look(index, name),
            b"system" | b"exec" => {
                self.findings.danger(name);
                self.command(index);
            }
            b"CORE" | b"CORE::GLOBAL" => self.findings.danger(name),
            b"STDIN" | b"STDOUT" | b"STDERR" | b"ARGV" | b"DATA" => {}
            _ if among(names::DANGEROUS, name) => self.findings.danger(name),
            _ if among(names::HARMLESS, name) || self.own.contains(name) => {}
            // `sub name`, a label, a class.
            _ if self.tokens.follows(index, &[b"\\"]) => self.findings.unclear(name),
            _ if self.is_label(index) => {}
            _ if self.tokens.is(next, b"->") && is_module(name) => {}
            _ => self.qualified(name),
        }
        index
    }

    /// `Module::function`
    fn qualified(&mut self, name: &[u8]) {
        let parts = name.windows(2).rposition(|pair| pair == b"::");
        let last = parts.and_then(|at| name.get(at + 2..)).unwrap_or(name);
        let module = parts.and_then(|at| name.get(..at)).unwrap_or_default();
        if among(names::DANGEROUS, last) || matches!(last, b"system" | b"exec" | b"eval") {
            self.findings.danger(name);
        } else if !(self.own.contains(name) || is_module(module) && among(names::HARMLESS, last)) {
            self.findings.unclear(name);
        }
    }

    fn is_label(&self, index: usize) -> bool {
        let name = self.tokens.text(index);
        let capitals = name
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || *byte == b'_' || byte.is_ascii_digit());
        let jumped = index
            .checked_sub(1)
            .and_then(|before| self.tokens.name(before))
            .is_some_and(|before| matches!(before, b"next" | b"last" | b"redo"));
        capitals && (self.tokens.is(index + 1, b":") || jumped)
    }

    /// The brace before `{name}` belongs to a variable.
    fn is_subscript(&self, brace: usize) -> bool {
        let Some(before) = brace.checked_sub(1) else { return false };
        self.tokens.kind(before) == Some(Kind::Number)
            || ["->", "]", "}"].iter().any(|sign| self.tokens.is(before, sign.as_bytes()))
    }

    /// `use Module LIST`
    fn module(&mut self, index: usize, word: &[u8]) -> usize {
        let end = self.statement_end(index);
        match self.tokens.get(index + 1).map(|token| (token.kind, token.text.as_ref())) {
            Some((Kind::Number, number)) if number.first().is_some_and(u8::is_ascii_digit) => {}
            Some((Kind::Name, name))
                if name.starts_with(b"v") && name.get(1).is_some_and(u8::is_ascii_digit) => {}
            Some((Kind::Name, name)) if is_module(name) => {
                // What a module is told may be code of its own kind; plain words are not.
                if name == b"open" && word == b"use" {
                    return index + 1;
                }
                return index + 1;
            }
            Some((Kind::Name, name)) => {
                let seen = [word, b" ", name].concat();
                let bad: &[&[u8]] = &[
                    b"IO::Socket",
                    b"LWP",
                    b"Net::",
                    b"IPC::",
                    b"HTTP::",
                    b"Socket",
                    b"DynaLoader",
                    b"XSLoader",
                    b"FFI",
                    b"Inline",
                    b"Storable",
                    b"DB_File",
                    b"Safe",
                    b"Opcode",
                    b"IO::Pipe",
                    b"IO::File",
                    b"threads",
                ];
                if bad.iter().any(|prefix| name.starts_with(prefix)) {
                    self.findings.danger(seen);
                } else {
                    self.findings.unclear(seen);
                }
                return index + 1;
            }
            _ => self.findings.danger([word, b" of a computed name"].concat()),
        }
        index.max(end.min(index + 1))
    }

    fn statement_end(&self, index: usize) -> usize {
        let mut at = index;
        // A statement that matters here is short.
        for _ in 0..64 {
            let ends = at >= self.tokens.len()
                || [";", ")", "]", "}", "||"]
                    .iter()
                    .any(|sign| self.tokens.is(at, sign.as_bytes()))
                || matches!(
                    self.tokens.name(at),
                    Some(b"or" | b"and" | b"if" | b"unless" | b"for" | b"foreach" | b"while")
                );
            if ends {
                return at;
            }
            at = self.tokens.partner(at).max(at) + 1;
        }
        at
    }

    /// The arguments of a function, with brackets or without.
    fn arguments(&self, index: usize) -> Vec<Range<usize>> {
        if self.tokens.is(index + 1, b"(") {
            return self.tokens.arguments(index + 1);
        }
        self.tokens.split(index + 1..self.statement_end(index + 1))
    }

    fn lone(&self, range: &Range<usize>) -> Option<&[u8]> {
        self.tokens.literal(range.start).filter(|_| range.len() == 1)
    }

    fn open(&mut self, index: usize) {
        let arguments = self.arguments(index);
        let texts: Vec<Option<Vec<u8>>> =
            arguments.iter().map(|range| self.lone(range).map(<[u8]>::to_vec)).collect();
        match texts.as_slice() {
            [_, Some(text)] => self.open_two(text),
            [_, Some(mode), path, rest @ ..] => self.open_three(mode, path.as_deref(), rest),
            _ => self.findings.danger("open of a computed text"),
        }
    }

    /// The old form: what is to be done is written into the name.
    fn open_two(&mut self, text: &[u8]) {
        let text = text.trim_ascii();
        if let Some(command) = text.strip_prefix(b"|").or_else(|| text.strip_suffix(b"|")) {
            self.findings.danger("open of a command");
            self.findings.shell(command.trim_ascii());
            return;
        }
        let name = text.trim_start_with(|c| matches!(c, '<' | '>' | '+' | ' '));
        let writes = text
            .iter()
            .take_while(|byte| matches!(byte, b'<' | b'>' | b'+'))
            .any(|byte| matches!(byte, b'>' | b'+'));
        self.findings.open(name, if writes { Access::Write } else { Access::Read });
    }

    fn open_three(&mut self, mode: &[u8], path: Option<&[u8]>, rest: &[Option<Vec<u8>>]) {
        let mode = mode.trim_ascii();
        let mode = mode.split(|byte| *byte == b':').next().unwrap_or(mode).trim_ascii();
        match mode {
            b"-|" | b"|-" => {
                self.findings.danger("open of a command");
                let words: Option<Vec<Vec<u8>>> = rest.iter().cloned().collect();
                match (path, words) {
                    (Some(command), Some(words)) if words.is_empty() => {
                        self.findings.shell(command);
                    }
                    (Some(program), Some(words)) => {
                        let mut all = vec![program.to_vec()];
                        all.extend(words);
                        self.findings.run(&all);
                    }
                    _ => {}
                }
            }
            b"<" | b">" | b">>" | b"+<" | b"+>" | b"+>>" => {
                let access = if mode == b"<" { Access::Read } else { Access::Write };
                match path {
                    Some(path) => self.findings.open(path, access),
                    None => self.findings.unclear("open of a computed path"),
                }
            }
            _ => self.findings.danger("open"),
        }
    }

    /// A function on files that it names.
    fn files(&mut self, index: usize, access: Access) {
        let name = self.tokens.text(index).to_vec();
        let arguments = self.arguments(index);
        if arguments.is_empty() {
            self.findings.unclear(&name);
        }
        for (place, argument) in arguments.iter().enumerate() {
            if argument.len() == 1
                && self.tokens.kind(argument.start) == Some(Kind::Number)
                && !self.tokens.text(argument.start).starts_with(b"$")
                && !self.tokens.text(argument.start).starts_with(b"@")
            {
                continue;
            }
            let access = if name == b"rename" && place == 1 { Access::Write } else { access };
            match self.lone(argument).map(<[u8]>::to_vec) {
                Some(path) => self.findings.open(&path, access),
                None => self.findings.unclear([name.as_slice(), b" of a computed path"].concat()),
            }
        }
    }

    fn look(&mut self, index: usize, name: &[u8]) {
        if name == b"readdir" || name == b"closedir" {
            return;
        }
        let arguments = self.arguments(index);
        let path = arguments.last().and_then(|range| self.lone(range)).map(<[u8]>::to_vec);
        let access = if name == b"chdir" { Access::Enter } else { Access::Read };
        match path {
            Some(path) if name != b"glob" => self.findings.open(&path, access),
            Some(_) => {}
            None => self.findings.unclear([name, b" of a computed path"].concat()),
        }
    }

    /// The words of `system` and `exec`.
    fn command(&mut self, index: usize) {
        let arguments = self.arguments(index);
        let words: Option<Vec<Vec<u8>>> =
            arguments.iter().map(|range| self.lone(range).map(<[u8]>::to_vec)).collect();
        match words.as_deref() {
            Some([text]) => self.findings.shell(text),
            Some(words) if !words.is_empty() => self.findings.run(words),
            _ => {}
        }
    }

    /// What follows `->`.
    fn arrow(&mut self, index: usize) {
        let class =
            index.checked_sub(1).is_some_and(|before| self.tokens.kind(before) == Some(Kind::Text));
        match self.tokens.get(index + 1).map(|token| (token.kind, token.text.as_ref())) {
            Some((
                Kind::Name,
                b"open" | b"fdopen" | b"exec" | b"system" | b"spawn" | b"can" | b"import" | b"load",
            )) => {
                self.findings.unclear("a method that can start programs");
            }
            Some((Kind::Number, _)) => self.findings.unclear("a method with a computed name"),
            _ if class => self.findings.unclear("a class with a computed name"),
            _ => {}
        }
    }

    fn variable(&mut self, index: usize, variable: &[u8]) {
        let name = variable.get(1..).unwrap_or_default();
        if !matches!(name, b"ENV" | b"ARGV" | b"INC" | b"^I" | b"ISA") {
            return;
        }
        let mut after = index + 1;
        while self.tokens.is(after, b"{") || self.tokens.is(after, b"[") {
            after = self.tokens.partner(after) + 1;
        }
        let changed = self.tokens.is(after, b"=")
            || self.tokens.is(after, b".=")
            || self.tokens.is(after, b"||=");
        let before = index
            .checked_sub(1)
            .map(|at| if self.tokens.is(at, b"(") { at.saturating_sub(1) } else { at });
        let pushed = before.and_then(|at| self.tokens.name(at)).is_some_and(|word| {
            matches!(
                word,
                b"push" | b"unshift" | b"splice" | b"local" | b"for" | b"foreach" | b"map"
            )
        });
        let loops = pushed
            && variable.starts_with(b"@")
            && !changed
            && name == b"ARGV"
            && matches!(
                before.and_then(|at| self.tokens.name(at)),
                Some(b"for" | b"foreach" | b"map")
            );
        if (changed || pushed) && !loops {
            if name == b"ENV"
                && let (Some(key), Some(value)) =
                    (key(self.tokens, index + 1), self.tokens.literal(after + 1))
            {
                self.findings.assign(key, value);
                return;
            }
            self.findings.unclear([variable, b" is changed"].concat());
        }
    }
}

/// `{NAME}` or `{"NAME"}`
fn key<'t>(tokens: &'t Tokens<'_>, open: usize) -> Option<&'t [u8]> {
    let inside = tokens.is(open, b"{") && tokens.partner(open) == open + 2;
    tokens.name(open + 1).or_else(|| tokens.literal(open + 1)).filter(|_| inside)
}

fn is_module(name: &[u8]) -> bool {
    among(names::MODULES, name)
}
