//! Python: every name that the code writes is looked up.
//!
//! What does harm is reached by a builtin, an import or an attribute, and each of these is a name in the text. So
//! the names are checked where they stand, called or not, and an alias changes nothing. Reaching things by names
//! that the code puts together (`getattr`, `__dict__`, frames, importing by text) is dangerous by itself.
//! Modules of the project and libraries are taken for what running a file of the project would be.

mod bindings;
mod calls;
mod files;
mod here;
mod names;
mod scan;

use std::ops::Range;

use super::findings::Findings;
use super::tokens::{Kind, Tokens, among};
use super::values::{Dialect, Evaluator, Value, dotted, is_inside};
use bindings::Bindings;

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let Some(tokens) = scan::scan(text) else {
        findings.unclear("Python code that cannot be read");
        return;
    };
    let bindings = Bindings::gather(&tokens);
    let evaluator = Evaluator { tokens: &tokens, scope: &bindings.scope, dialect: &bindings };
    let mut reader = Reader { tokens: &tokens, bindings: &bindings, evaluator, findings };
    reader.imports();
    reader.names();
}

struct Reader<'t, 'a, 'f> {
    tokens: &'t Tokens<'a>,
    bindings: &'t Bindings<'t>,
    evaluator: Evaluator<'t, 'a>,
    findings: &'f mut Findings,
}

impl Reader<'_, '_, '_> {
    /// What is imported by name is looked at as if it were used: `from os import system`.
    fn imports(&mut self) {
        for import in &self.bindings.imports {
            if import.star
                && (is_listed(&import.path) || among(names::DANGEROUS_MODULES, first(&import.path)))
            {
                self.findings.danger([b"from ", import.path.as_slice(), b" import *"].concat());
            } else if import.path == b"antigravity" || import.path.starts_with(b"test.support") {
                self.findings.danger(&import.path);
            } else if import.member {
                self.path(&import.path, None);
                let last = import.path.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
                if !is_listed(&import.path) && !among(names::DANGEROUS_MODULES, first(&import.path))
                {
                    self.bad_attribute(last, &import.path);
                }
            }
        }
    }

    fn names(&mut self) {
        let mut index = 0;
        let mut covered = 0;
        let mut imports = self.bindings.imports.iter().map(|import| &import.range).peekable();
        while index < self.tokens.len() {
            while imports.next_if(|range| range.end <= index).is_some() {}
            if let Some(range) = imports.peek()
                && range.contains(&index)
            {
                index = range.end;
                continue;
            }
            if let Some(name) = self.tokens.name(index) {
                if self.tokens.follows(index, &[b"."]) {
                    if index >= covered {
                        self.attribute(index, name);
                    }
                } else if !among(names::KEYWORDS, name) && !self.is_keyword_argument(index) {
                    covered = covered.max(self.root(index, name));
                }
            }
            index += 1;
        }
    }

    /// `f(name=value)`
    fn is_keyword_argument(&self, index: usize) -> bool {
        self.tokens.is(index + 1, b"=") && self.tokens.follows(index, &[b"(", b","]) && {
            let name = self.tokens.text(index);
            name != b"opener" && name != b"allow_pickle" && name != b"trust_remote_code"
        }
    }

    /// A name that begins a chain; returns up to where its attributes need no more looking at.
    fn root(&mut self, index: usize, name: &[u8]) -> usize {
        let mut covered = index + 1;
        if let Some(paths) = self.bindings.aliases.get(name) {
            let (chain, end) = dotted(self.tokens, index);
            for path in paths {
                let mut full = path.clone();
                full.extend_from_slice(chain.get(name.len()..).unwrap_or_default());
                let known = self.path(&full, Some((index, end)));
                // Names before the last that is known are covered; each is two tokens.
                let own = path.split(|byte| *byte == b'.').count();
                covered = covered.max(index + 1 + 2 * known.saturating_sub(own));
            }
            if !among(&["eval", "exec", "getattr", "open", "setattr"], name) {
                return covered;
            }
        }
        match name {
            b"allow_pickle" | b"trust_remote_code" | b"opener"
                if self.tokens.is(index + 1, b"=") && !self.tokens.is_name(index + 2, b"False") =>
            {
                self.findings.unclear(name);
            }
            b"open" => self.open_call(index + 1, b"open"),
            b"getattr" | b"setattr" | b"hasattr" => self.reflection(index, name),
            b"eval" | b"exec" => {
                self.findings.danger(name);
                if self.tokens.is(index + 1, b"(")
                    && let Some(argument) = self.tokens.arguments(index + 1).into_iter().next()
                    && let Some(text) = self.evaluator.value(argument).single()
                {
                    self.findings.code(crate::effect::Language::Python, text);
                }
            }
            b"vars" | b"locals" | b"delattr" => self.findings.unclear(name),
            _ if among(names::DANGEROUS_BUILTINS, name) => self.findings.danger(name),
            _ if is_dunder(name) && !among(names::DUNDERS, name) => self.findings.unclear(name),
            _ if self.bindings.star && names::is_dangerous_attribute(name) => {
                self.findings.danger(name);
            }
            _ => {}
        }
        covered
    }

    /// `getattr(x, "name")` is `x.name`; with anything but a literal it reaches whatever it likes.
    fn reflection(&mut self, index: usize, name: &[u8]) {
        let arguments = if self.tokens.is(index + 1, b"(") {
            self.tokens.arguments(index + 1)
        } else {
            Vec::new()
        };
        let value = arguments.get(1).map(|argument| self.evaluator.value(argument.clone()));
        let Some(attribute) = value.as_ref().and_then(Value::single) else {
            if name != b"hasattr" {
                self.findings.danger([name, b" with a computed name"].concat());
            }
            return;
        };
        if name == b"hasattr" {
            return;
        }
        let object = arguments.first().map_or(0, |argument| argument.start);
        let mut path = Vec::new();
        if let Some(root) = self.tokens.name(object)
            && let Some(full) = self.bindings.full_name(root)
        {
            let (chain, _) = dotted(self.tokens, object);
            path = full;
            path.extend_from_slice(chain.get(root.len()..).unwrap_or_default());
            path.push(b'.');
        }
        path.extend_from_slice(attribute);
        if path.len() > attribute.len() {
            self.path(&path, None);
        }
        let listed = is_listed(&path) || among(names::DANGEROUS_MODULES, first(&path));
        if !listed || attribute.starts_with(b"__") {
            self.bad_attribute(attribute, attribute);
        }
    }

    fn bad_attribute(&mut self, attribute: &[u8], seen: &[u8]) -> bool {
        if names::is_dangerous_attribute(attribute) {
            self.findings.danger(seen);
        } else if among(names::UNCLEAR_ATTRIBUTES, attribute)
            || attribute.starts_with(b"__")
                && attribute.ends_with(b"__")
                && !among(names::DUNDERS, attribute)
        {
            self.findings.unclear(seen);
        } else {
            return false;
        }
        true
    }

    /// An attribute of anything.
    fn attribute(&mut self, index: usize, name: &[u8]) {
        let told =
            matches!(self.tokens.name(index + 2), Some(b"__name__" | b"__qualname__" | b"__doc__"));
        if name == b"__class__" && told && self.tokens.is(index + 1, b".") {
            return;
        }
        // Printed as a whole it is only looked at.
        if name == b"__dict__"
            && (self.tokens.is(index + 1, b")") || self.tokens.is(index + 1, b","))
        {
            return;
        }
        if self.bad_attribute(name, name) {
            return;
        }
        if matches!(name, b"eval" | b"exec") && !self.is_empty_call(index + 1) {
            self.findings.unclear(name);
            return;
        }
        self.method(index, name);
    }

    fn is_empty_call(&self, open: usize) -> bool {
        self.tokens.is(open, b"(") && self.tokens.partner(open) == open + 1
    }

    /// What an imported name with its attributes is. `at` is where it is used: the name, and the end of the chain;
    /// without it, it is only imported. Returns how many of its parts are understood.
    fn path(&mut self, path: &[u8], at: Option<(usize, usize)>) -> usize {
        let module = first(path);
        let rest = path.get(module.len() + 1..).unwrap_or_default();
        let member = first(rest);
        let parts = path.split(|byte| *byte == b'.').count();
        if member.is_empty() {
            if (is_listed(path) || among(names::DANGEROUS_MODULES, module))
                && at.is_some_and(|(index, end)| !self.is_looked_at(index, end))
            {
                self.findings.unclear([module, b" handed on"].concat());
            }
            return 1;
        }
        if member.starts_with(b"__") && self.bad_attribute(member, path) {
            return 2;
        }
        if among(names::DUNDERS, member) && member != b"__main__" && module != b"builtins" {
            return 2;
        }
        if let Some(understood) = self.known_call(path, at) {
            return understood;
        }
        match module {
            b"os" => {
                if let Some((_, end)) = at {
                    self.process_call(member, end);
                }
                let starts = among(names::STARTING, member);
                let dangerous = if starts { names::STARTING } else { names::OS_DANGEROUS };
                self.listed(path, member, names::OS, dangerous)
            }
            b"sys" => self.sys(path, member, at),
            b"platform" if member == b"system" => 2,
            _ if is_listed(module) => self.listed(path, member, harmless_of(module), &[]),
            _ if among(names::DANGEROUS_MODULES, module) => self.dangerous_module(path, at, parts),
            _ => {
                if member.starts_with(b"_") {
                    self.findings.unclear(path);
                }
                1
            }
        }
    }

    /// Is the bare module only shown? `dir(os)`
    fn is_looked_at(&self, index: usize, end: usize) -> bool {
        self.tokens.is(end, b")")
            && self.tokens.follows(index, &[b"("])
            && index
                .checked_sub(2)
                .and_then(|before| self.tokens.name(before))
                .is_some_and(|name| matches!(name, b"dir" | b"help" | b"print" | b"type"))
    }

    fn listed(&mut self, path: &[u8], member: &[u8], fine: &[&str], dangerous: &[&str]) -> usize {
        if among(dangerous, member) {
            self.findings.danger(path);
        } else if !among(fine, member) {
            self.findings.unclear(path);
        }
        2
    }

    fn sys(&mut self, path: &[u8], member: &[u8], at: Option<(usize, usize)>) -> usize {
        if path == b"sys.path.insert" || path == b"sys.path.append" {
            let outside = at.is_some_and(|(_, end)| {
                let last =
                    if self.tokens.is(end, b"(") { self.tokens.arguments(end).pop() } else { None };
                last.is_none_or(|argument| !self.is_own_folder(argument))
            });
            if outside {
                self.findings.unclear(path);
            }
            return 3;
        }
        if matches!(member, b"modules" | b"_getframe" | b"_current_frames" | b"breakpointhook") {
            self.findings.danger(path);
            return 2;
        }
        if path.starts_with(b"sys.path.") {
            self.findings.unclear(path);
        }
        self.listed(path, member, names::SYS, &[])
    }

    /// A folder of the project, or one found from the place of the code itself.
    fn is_own_folder(&self, argument: Range<usize>) -> bool {
        let value = self.evaluator.value(argument.clone());
        let here = value
            .texts()
            .is_some_and(|texts| texts.iter().all(|text| text.is_empty() || is_inside(text)));
        here || value == Value::Inside
            || argument.clone().any(|index| {
                self.tokens.is_name(index, b"getcwd") || self.tokens.is_name(index, b"__file__")
            }) && !argument.clone().any(|index| self.tokens.kind(index) == Some(Kind::Mixed))
                && argument
                    .into_iter()
                    .filter_map(|index| self.tokens.literal(index))
                    .all(|text| is_inside(text) || text == b"..")
    }

    fn dangerous_module(&mut self, path: &[u8], at: Option<(usize, usize)>, parts: usize) -> usize {
        let harmless = names::HARMLESS_PARTS.iter().any(|part| {
            path.strip_prefix(part.as_bytes())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
        });
        if harmless {
            return 2;
        }
        if at.is_some_and(|(_, end)| self.stays_here(path, end)) {
            return parts;
        }
        if !at.is_some_and(|(_, end)| self.is_plain_process(path, end)) {
            self.findings.danger(path);
        }
        if let Some((_, end)) = at {
            self.dangerous_call(path, end);
        }
        parts
    }
}

/// What small modules have that only looks.
fn harmless_of(module: &[u8]) -> &'static [&'static str] {
    match module {
        b"shutil" => &[
            "Error",
            "SameFileError",
            "disk_usage",
            "get_terminal_size",
            "ignore_patterns",
            "which",
        ],
        b"gc" => &["collect", "get_count", "get_stats", "get_threshold"],
        b"tempfile" => &[
            "NamedTemporaryFile",
            "SpooledTemporaryFile",
            "TemporaryDirectory",
            "TemporaryFile",
            "gettempdir",
            "mkdtemp",
            "mkstemp",
            "mktemp",
        ],
        b"resource" => &["RUSAGE_CHILDREN", "RUSAGE_SELF", "getpagesize", "getrlimit", "getrusage"],
        _ => &[],
    }
}

fn is_dunder(name: &[u8]) -> bool {
    name.len() > 4 && name.starts_with(b"__") && name.ends_with(b"__")
}

fn first(path: &[u8]) -> &[u8] {
    path.split(|byte| *byte == b'.').next().unwrap_or(path)
}

/// Modules of which only what is listed is harmless.
fn is_listed(path: &[u8]) -> bool {
    matches!(
        first(path),
        b"os"
            | b"sys"
            | b"shutil"
            | b"tempfile"
            | b"resource"
            | b"mmap"
            | b"pydoc"
            | b"netrc"
            | b"gc"
    )
}
