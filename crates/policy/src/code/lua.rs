//! Lua: the libraries that reach outside are few and have names; what reaches them without is dangerous.

use super::findings::Findings;
use super::tokens::{Escapes, Kind, Scanner, Tokens, among, is_name, unescape};
use super::values::{Dialect, Evaluator, Scope, Value, dotted};
use crate::event::Access;

const ESCAPES: Escapes = Escapes { keep_unknown: false, decimal: true, unicode: true };

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let Some(tokens) = scan(text) else {
        findings.unclear("Lua code that cannot be read");
        return;
    };
    let mut scope = Scope::default();
    gather(&tokens, &mut scope);
    let evaluator = Evaluator { tokens: &tokens, scope: &scope, dialect: &Lua };
    Reader { tokens: &tokens, evaluator, findings }.run();
}

struct Lua;

impl Dialect for Lua {
    fn is_concatenation(&self, sign: &[u8]) -> bool {
        sign == b".."
    }

    fn full_name(&self, _name: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn call(&self, _path: &[u8], _arguments: &[Value]) -> Value {
        Value::Unknown
    }
}

/// Only a name that is given a value once, all alone on its side, keeps it.
fn gather<'t>(tokens: &'t Tokens<'_>, scope: &mut Scope<'t>) {
    for index in 0..tokens.len() {
        let Some(name) = tokens.name(index) else { continue };
        let before = index.checked_sub(1).and_then(|at| tokens.name(at));
        if tokens.is(index + 1, b"=") && !tokens.follows(index, &[b".", b","]) {
            // A statement needs no sign at its end: only one token is surely all of the value.
            let lone = matches!(tokens.kind(index + 3), None | Some(Kind::Newline | Kind::Name))
                || tokens.is(index + 3, b";");
            if lone { scope.assigned(name, index + 2..index + 3) } else { scope.lost(name) }
        } else if tokens.follows(index, &[b",", b"("])
            || tokens.is(index + 1, b",")
            || matches!(before, Some(b"for" | b"function"))
        {
            scope.lost(name);
        }
    }
}

fn scan(text: &[u8]) -> Option<Tokens<'_>> {
    let mut scanner = Scanner::new(text);
    if text.starts_with(b"#") {
        scanner.skip_line();
    }
    while let Some(byte) = scanner.peek() {
        match byte {
            b' ' | b'\t' | b'\r' | 11 | 12 => scanner.skip_space(),
            b'\n' => scanner.newline(),
            b'-' if scanner.peek_at(1) == Some(b'-') => {
                scanner.at += 2;
                if long(&mut scanner)?.is_none() {
                    scanner.take(|byte| byte != b'\n');
                }
            }
            b'[' if matches!(scanner.peek_at(1), Some(b'[' | b'=')) => match long(&mut scanner)? {
                Some(text) => scanner.push(Kind::Text, text),
                None => scanner.sign(),
            },
            b'"' | b'\'' => {
                scanner.at += 1;
                let raw = scanner.quoted(byte)?;
                match unescape(raw, ESCAPES) {
                    Some(text) => scanner.push(Kind::Text, text),
                    None => scanner.push(Kind::Mixed, raw),
                }
            }
            b'0'..=b'9' => scanner.number(),
            _ if is_name(byte) => scanner.name(b""),
            _ if !byte.is_ascii_punctuation() || matches!(byte, b'\\' | b'`' | b'$' | b'@') => {
                return None;
            }
            b'[' | b']' | b'{' | b'}' | b'(' | b')' => {
                let sign = scanner.slice(scanner.at..scanner.at + 1);
                scanner.at += 1;
                scanner.push(Kind::Sign, sign);
            }
            _ => scanner.sign(),
        }
    }
    scanner.finish()
}

/// `[==[…]==]`; `Some(None)` if none begins here.
#[expect(clippy::option_option, reason = "no long text and a broken one are two things")]
fn long<'a>(scanner: &mut Scanner<'a>) -> Option<Option<&'a [u8]>> {
    let rest = scanner.rest();
    let Some(after) = rest.strip_prefix(b"[") else { return Some(None) };
    let level = after.iter().take_while(|byte| **byte == b'=').count();
    if after.get(level) != Some(&b'[') {
        return Some(None);
    }
    let body = after.get(level + 1..)?;
    let mut end = Vec::with_capacity(level + 2);
    end.push(b']');
    end.resize(level + 1, b'=');
    end.push(b']');
    let length = body.windows(end.len()).position(|window| window == end.as_slice())?;
    scanner.at += 2 * (level + 2) + length;
    scanner.spaced = true;
    Some(body.get(..length))
}

struct Reader<'t, 'a, 'f> {
    tokens: &'t Tokens<'a>,
    evaluator: Evaluator<'t, 'a>,
    findings: &'f mut Findings,
}

impl Reader<'_, '_, '_> {
    fn run(&mut self) {
        for index in 0..self.tokens.len() {
            let Some(name) = self.tokens.name(index) else { continue };
            if self.tokens.follows(index, &[b".", b":"]) {
                if matches!(
                    name,
                    b"execute" | b"popen" | b"loadlib" | b"loadstring" | b"getregistry"
                ) {
                    self.findings.danger(name);
                }
                continue;
            }
            match name {
                b"os" | b"io" => {
                    let key = self.tokens.is(index + 1, b"=")
                        && self.tokens.follows(index, &[b"{", b","]);
                    if !key {
                        self.library(index, name);
                    }
                }
                b"load" | b"loadstring" | b"dofile" | b"loadfile" | b"debug" | b"package"
                | b"_G" | b"_ENV" | b"getfenv" | b"setfenv" | b"ffi" | b"jit" | b"module" => {
                    let shown = name == b"package"
                        && matches!(
                            self.tokens.name(index + 2),
                            Some(b"path" | b"cpath" | b"config")
                        )
                        && (!self.tokens.is(index + 3, b"=") || self.looks_inside(index + 4));
                    let traced = name == b"debug" && self.tokens.is_name(index + 2, b"traceback");
                    let version = name == b"jit" && self.tokens.is_name(index + 2, b"version");
                    let key = self.tokens.is(index + 1, b"=")
                        && self.tokens.follows(index, &[b"{", b","]);
                    if !shown && !traced && !version && !key {
                        self.findings.danger(name);
                    }
                }
                b"require" => self.require(index),
                b"vim" | b"redis" | b"ngx" | b"wezterm" | b"hs" => self.findings.unclear(name),
                _ => {}
            }
        }
    }

    /// `package.path = "./src/?.lua;" .. package.path`: modules of the project.
    fn looks_inside(&self, at: usize) -> bool {
        self.tokens.literal(at).is_some_and(|text| {
            let mut places = text.split(|byte| *byte == b';').filter(|place| !place.is_empty());
            places.all(super::values::is_inside)
        }) && self.tokens.is(at + 1, b"..")
            && self.tokens.is_name(at + 2, b"package")
    }

    /// The first argument, with brackets or without.
    fn argument(&self, at: usize) -> Value {
        if self.tokens.is(at, b"(") {
            let first = self.tokens.arguments(at).into_iter().next();
            return first.map_or(Value::Unknown, |range| self.evaluator.value(range));
        }
        self.tokens.literal(at).map_or(Value::Unknown, Value::text)
    }

    fn require(&mut self, index: usize) {
        let value = self.argument(index + 1);
        let Some(name) = value.single() else {
            self.findings.danger("require of a computed name");
            return;
        };
        let first = name.split(|byte| *byte == b'.').next().unwrap_or(name);
        if among(
            &[
                "alien", "copas", "curl", "ffi", "http", "lanes", "lapp", "lcurl", "lfs", "luv",
                "posix", "rex", "socket", "ssl", "sys", "uv",
            ],
            first,
        ) {
            self.findings.danger([b"require ", name].concat());
        }
    }

    fn library(&mut self, index: usize, library: &[u8]) {
        let (path, end) = dotted(self.tokens, index);
        if path.len() == library.len() {
            self.findings.danger([library, b" handed on"].concat());
            return;
        }
        let value = self.argument(end);
        match path.as_slice() {
            b"os.time" | b"os.date" | b"os.clock" | b"os.getenv" | b"os.difftime"
            | b"os.tmpname" | b"os.exit" | b"os.setlocale" | b"io.read" | b"io.write"
            | b"io.stdout" | b"io.stderr" | b"io.stdin" | b"io.type" | b"io.close"
            | b"io.flush" => {}
            b"os.execute" | b"io.popen" => {
                self.findings.danger(&path);
                if let Some(text) = value.single() {
                    self.findings.shell(text);
                }
            }
            b"os.remove" => self.touch(value, Access::Delete, &path),
            b"os.rename" => {
                self.touch(value, Access::Delete, &path);
                let second = if self.tokens.is(end, b"(") {
                    self.tokens.arguments(end).into_iter().nth(1)
                } else {
                    None
                };
                let second = second.map_or(Value::Unknown, |range| self.evaluator.value(range));
                self.touch(second, Access::Write, &path);
            }
            b"io.lines" | b"io.input" if self.tokens.is(end + 1, b")") => {}
            b"io.lines" | b"io.input" => self.touch(value, Access::Read, &path),
            b"io.output" => self.touch(value, Access::Write, &path),
            b"io.open" => {
                let mode = if self.tokens.is(end, b"(") {
                    self.tokens.arguments(end).into_iter().nth(1)
                } else {
                    None
                };
                let reads = mode.is_none_or(|range| {
                    let mode = self.evaluator.value(range);
                    mode.single()
                        .is_some_and(|mode| mode.starts_with(b"r") && !mode.contains(&b'+'))
                });
                self.touch(value, if reads { Access::Read } else { Access::Write }, &path);
            }
            _ => self.findings.unclear(&path),
        }
    }

    fn touch(&mut self, value: Value, access: Access, seen: &[u8]) {
        self.findings.open_any(&value, access, seen);
    }
}
