//! PHP: functions are called by name, by variable and by text, so only functions known to be harmless are.

mod names;
mod scan;

use std::ops::Range;

use super::findings::Findings;
use super::tokens::{Kind, Tokens, among};
use super::values::is_url;
use crate::event::Access;
use names::{CALLBACKS, CLASSES, DANGEROUS, HARMLESS, KEYWORDS};

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let Some(tokens) = scan::scan(text) else {
        findings.unclear("PHP code that cannot be read");
        return;
    };
    Reader { tokens: &tokens, findings }.run();
}

struct Reader<'t, 'a, 'f> {
    tokens: &'t Tokens<'a>,
    findings: &'f mut Findings,
}

impl Reader<'_, '_, '_> {
    fn run(&mut self) {
        for index in 0..self.tokens.len() {
            match self.tokens.get(index).map(|token| (token.kind, token.text.as_ref())) {
                Some((Kind::Sign, b"`")) => {
                    self.findings.danger("`…`");
                    if let Some(command) = self.tokens.literal(index + 1) {
                        self.findings.shell(command);
                    }
                }
                Some((Kind::Name, _)) => self.name(index),
                // A function named by a text: `array_map("system", …)`
                Some((Kind::Text, text)) => {
                    let name = text.trim_ascii().to_ascii_lowercase();
                    let name = name.strip_prefix(b"\\").unwrap_or(&name);
                    if among(DANGEROUS, name) {
                        self.findings.danger(name);
                    }
                    if self.tokens.is(index + 1, b"(") {
                        self.findings.danger("a function with a computed name");
                    }
                }
                Some((Kind::Number, name))
                    if name.starts_with(b"$")
                        && self.tokens.is(index + 1, b"(")
                        && !self.is_closure(index) =>
                {
                    self.findings.unclear([name, b"()"].concat());
                }
                Some((Kind::Sign, b")" | b"]" | b"}")) if self.tokens.is(index + 1, b"(") => {
                    self.findings.unclear("a computed function");
                }
                _ => {}
            }
        }
    }

    /// `$f = fn(…) => …; $f(…)`
    fn is_closure(&self, index: usize) -> bool {
        let name = self.tokens.text(index);
        let near = (0..self.tokens.len().min(512)).filter(|at| {
            self.tokens.kind(*at) == Some(Kind::Number)
                && self.tokens.text(*at) == name
                && self.tokens.is(at + 1, b"=")
        });
        let mut any = false;
        for at in near {
            any = true;
            if !matches!(self.tokens.name(at + 2), Some(b"fn" | b"function" | b"static")) {
                return false;
            }
        }
        any && self.tokens.len() <= 512
    }

    fn name(&mut self, index: usize) {
        let lower = self.tokens.text(index).to_ascii_lowercase();
        let name = lower.as_slice();
        let open = index + 1;
        if self.tokens.follows(index, &[b"->", b"?"]) && !self.tokens.follows(index, &[b"?"]) {
            return;
        }
        let after_word = index.checked_sub(1).and_then(|before| self.tokens.name(before));
        if matches!(after_word, Some(b"function" | b"fn" | b"class" | b"namespace" | b"const")) {
            return;
        }
        if among(CLASSES, name) || name.starts_with(b"reflection") {
            self.findings.danger(name);
            return;
        }
        match name {
            b"include" | b"require" | b"include_once" | b"require_once" => self.include(index),
            b"eval" => self.findings.danger("eval"),
            _ if after_word == Some(b"new") || self.tokens.follows(index, &[b"::"]) => {}
            _ if !self.tokens.is(open, b"(") => {}
            _ if among(KEYWORDS, name) => {}
            _ if among(DANGEROUS, name) => {
                self.findings.danger(name);
                self.command(name, open);
            }
            _ if among(CALLBACKS, name) => self.callbacks(name, open),
            b"preg_replace" => self.preg_replace(open),
            b"assert" if matches!(self.tokens.kind(open + 1), Some(Kind::Text | Kind::Mixed)) => {
                self.findings.danger("assert");
            }
            _ if self.file(name, open) => {}
            _ if among(HARMLESS, name) || self.defined(name) => {}
            _ => self.findings.unclear(name),
        }
    }

    /// A function of the code itself, looked for near its beginning.
    fn defined(&self, name: &[u8]) -> bool {
        (0..self.tokens.len().min(1024)).any(|at| {
            self.tokens.is_name(at, b"function")
                && self.tokens.name(at + 1).is_some_and(|own| own.eq_ignore_ascii_case(name))
        })
    }

    fn lone(&self, range: Option<&Range<usize>>) -> Option<Vec<u8>> {
        let range = range?;
        // Literals put together with dots.
        let mut text = Vec::new();
        for (place, at) in range.clone().enumerate() {
            if place % 2 == 0 {
                text.extend_from_slice(self.tokens.literal(at)?);
            } else if !self.tokens.is(at, b".") {
                return None;
            }
        }
        Some(text)
    }

    fn include(&mut self, index: usize) {
        let at = if self.tokens.is(index + 1, b"(") { index + 2 } else { index + 1 };
        let here = self.tokens.is_name(at, b"__DIR__") && self.tokens.is(at + 1, b".");
        let at = if here { at + 2 } else { at };
        match self.tokens.literal(at).map(<[u8]>::to_vec) {
            Some(path) if path.contains(&b':') || self.tokens.is(at + 1, b".") => {
                self.findings.danger("include");
            }
            Some(path) if here => {
                let path = path.strip_prefix(b"/").unwrap_or(&path).to_vec();
                self.findings.open(&path, Access::Read);
            }
            Some(path) => self.findings.open(&path, Access::Read),
            None => self.findings.danger("include of a computed path"),
        }
    }

    fn command(&mut self, name: &[u8], open: usize) {
        let arguments = self.tokens.arguments(open);
        let Some(text) = self.lone(arguments.first()) else { return };
        if matches!(
            name,
            b"system" | b"exec" | b"shell_exec" | b"passthru" | b"popen" | b"proc_open"
        ) {
            self.findings.shell(&text);
        } else if is_url(&text) || name == b"fsockopen" {
            self.findings.connect(&text);
        }
    }

    /// What is handed to them is called: only closures and texts, which are looked at by themselves, are plain.
    fn callbacks(&mut self, name: &[u8], open: usize) {
        let arguments = self.tokens.arguments(open);
        let place = match name {
            b"array_map" => 0,
            _ => 1,
        };
        let Some(argument) = arguments.get(place) else { return };
        let closure =
            matches!(self.tokens.name(argument.start), Some(b"fn" | b"function" | b"static"));
        let text = self
            .lone(Some(argument))
            .is_some_and(|text| among(HARMLESS, &text.to_ascii_lowercase()));
        if !closure && !text {
            self.findings.unclear([name, b" with a computed function"].concat());
        }
    }

    /// Old PHP runs the replacement of `/…/e`.
    fn preg_replace(&mut self, open: usize) {
        let arguments = self.tokens.arguments(open);
        match self.lone(arguments.first()) {
            Some(pattern) => {
                let flags = pattern.iter().rev().take_while(|byte| byte.is_ascii_alphabetic());
                if flags.copied().any(|flag| flag == b'e') {
                    self.findings.danger("preg_replace with /e");
                }
            }
            None => self.findings.unclear("preg_replace with a computed pattern"),
        }
    }

    /// A function on files. Returns whether it was one.
    fn file(&mut self, name: &[u8], open: usize) -> bool {
        let arguments = self.tokens.arguments(open);
        let places: &[(usize, Access)] = match name {
            b"file_get_contents"
            | b"file"
            | b"readfile"
            | b"parse_ini_file"
            | b"scandir"
            | b"simplexml_load_file"
            | b"highlight_file"
            | b"show_source"
            | b"php_strip_whitespace"
            | b"hash_file"
            | b"md5_file"
            | b"sha1_file" => &[(0, Access::Read)],
            b"file_put_contents" | b"mkdir" | b"touch" | b"chmod" => &[(0, Access::Write)],
            b"unlink" | b"rmdir" => &[(0, Access::Delete)],
            b"rename" => &[(0, Access::Delete), (1, Access::Write)],
            b"copy" => &[(0, Access::Read), (1, Access::Write)],
            b"chdir" => &[(0, Access::Enter)],
            b"fopen" => {
                let mode = self.lone(arguments.get(1));
                if mode.is_some_and(|mode| mode.starts_with(b"r") && !mode.contains(&b'+')) {
                    &[(0, Access::Read)]
                } else {
                    &[(0, Access::Write)]
                }
            }
            _ => return false,
        };
        for (place, access) in places {
            let argument = arguments.get(*place);
            let constant = argument.is_some_and(|range| {
                range.len() == 1
                    && matches!(self.tokens.name(range.start), Some(b"STDIN" | b"__FILE__"))
            });
            match self.lone(argument) {
                _ if constant => {}
                Some(path)
                    if path.starts_with(b"php://")
                        && matches!(
                            path.get(6..),
                            Some(
                                b"stdin"
                                    | b"stdout"
                                    | b"stderr"
                                    | b"memory"
                                    | b"temp"
                                    | b"output"
                                    | b"input"
                            )
                        ) => {}
                Some(path) if path.windows(3).any(|part| part == b"://") => {
                    self.findings.danger(name);
                    self.findings.connect(&path);
                }
                Some(path) => self.findings.open(&path, *access),
                None => self.findings.unclear([name, b" of a computed path"].concat()),
            }
        }
        true
    }
}
