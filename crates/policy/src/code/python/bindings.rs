//! What the names of Python code stand for: imports, and the texts that names are given.

use std::collections::HashMap;
use std::ops::Range;

use crate::code::tokens::{Kind, Tokens};
use crate::code::values::{Dialect, Scope, Value, is_inside, receiver_start};

/// Something that is imported.
#[derive(Debug)]
pub(super) struct Import {
    pub path: Vec<u8>,
    /// By `from … import`: it may be something in a module.
    pub member: bool,
    pub star: bool,
    /// The tokens of its statement.
    pub range: Range<usize>,
}

#[derive(Debug, Default)]
pub(super) struct Bindings<'t> {
    pub aliases: HashMap<&'t [u8], Vec<Vec<u8>>>,
    pub imports: Vec<Import>,
    /// Names may come from anywhere.
    pub star: bool,
    pub scope: Scope<'t>,
}

impl<'t> Bindings<'t> {
    pub fn gather(tokens: &'t Tokens<'_>) -> Self {
        let mut bindings = Bindings::default();
        let mut index = 0;
        let mut statement = 0;
        // The closing bracket that we are inside of.
        let mut inside = 0;
        while let Some(token) = tokens.get(index) {
            match (token.kind, token.text.as_ref()) {
                (Kind::Newline, _) | (Kind::Sign, b";") => statement = index + 1,
                (Kind::Sign, b"(" | b"[" | b"{") => inside = inside.max(tokens.partner(index)),
                (Kind::Sign, b":") if index > inside => statement = index + 1,
                (Kind::Sign, b"=") if index > inside => {
                    bindings.assignment(tokens, statement, index);
                    statement = index + 1;
                }
                (Kind::Sign, sign) if is_augmented(sign) => bindings.lose_before(tokens, index),
                (Kind::Name, name) if !tokens.follows(index, &[b"."]) => {
                    bindings.mention(tokens, index);
                    let next = bindings.keyword(tokens, index, name);
                    if next > index {
                        index = next;
                        continue;
                    }
                }
                _ => {}
            }
            index += 1;
        }
        bindings
    }

    fn mention(&mut self, tokens: &'t Tokens<'_>, index: usize) {
        let name = tokens.text(index);
        let before = index.checked_sub(1);
        let gone_through = before.is_some_and(|at| tokens.is_name(at, b"in"))
            && ![&b"."[..], b"[", b"("].iter().any(|sign| tokens.is(index + 1, sign));
        self.scope.mentioned(
            name,
            tokens.is(index + 1, b"=") || gone_through || is_looked_at(tokens, index, index + 1),
        );
    }

    /// A keyword that gives names; returns where to go on.
    fn keyword(&mut self, tokens: &'t Tokens<'_>, index: usize, name: &[u8]) -> usize {
        match name {
            b"import" => return self.import(tokens, index),
            b"from" => return self.from(tokens, index).unwrap_or(index),
            b"for" => self.loop_names(tokens, index),
            b"as" => self.named_after(tokens, index),
            b"def" | b"class" => {
                let open = index + 2;
                let end = if tokens.is(open, b"(") { tokens.partner(open) } else { open };
                self.lose(tokens, index + 1..end.max(open));
            }
            b"lambda" | b"case" => {
                let end = find(tokens, index + 1, |at| tokens.is(at, b":"));
                self.lose(tokens, index + 1..end);
                return end;
            }
            _ => {}
        }
        index
    }

    /// `with f(x) as name`
    fn named_after(&mut self, tokens: &'t Tokens<'_>, index: usize) {
        if tokens.follows(index, &[b")"])
            && let Some(name) = tokens.name(index + 1)
        {
            self.scope.assigned(name, receiver_start(tokens, index)..index);
            return;
        }
        let end = if tokens.is(index + 1, b"(") { tokens.partner(index + 1) } else { index + 2 };
        self.lose(tokens, index + 1..end);
    }

    fn lose(&mut self, tokens: &'t Tokens<'_>, range: Range<usize>) {
        for index in range {
            if let Some(name) = tokens.name(index) {
                self.scope.lost(name);
            }
        }
    }

    fn lose_before(&mut self, tokens: &'t Tokens<'_>, index: usize) {
        if let Some(name) = index.checked_sub(1).and_then(|before| tokens.name(before)) {
            self.scope.lost(name);
        }
    }

    /// `name = …`; all names of any other target are lost.
    fn assignment(&mut self, tokens: &'t Tokens<'_>, start: usize, equals: usize) {
        match tokens.name(start) {
            Some(name) if start + 1 == equals => match tokens.near_statement_end(equals + 1) {
                Some(end) => self.scope.assigned(name, equals + 1..end),
                None => self.scope.lost(name),
            },
            _ => self.lose(tokens, start..equals),
        }
    }

    /// `for name in …`, `for one, other in …`: each of several is a part of an element, which is no less inside.
    fn loop_names(&mut self, tokens: &'t Tokens<'_>, index: usize) {
        let inside = find(tokens, index + 1, |at| tokens.is_name(at, b"in"));
        let plain = |at: usize| {
            tokens.name(at).is_some()
                || tokens.is(at, b",")
                || tokens.is(at, b"(")
                || tokens.is(at, b")")
        };
        if !tokens.is_name(inside, b"in") || !(index + 1..inside).all(plain) {
            self.lose(tokens, index + 1..inside);
            return;
        }
        let end = find(tokens, inside + 1, |at| {
            tokens.is(at, b":")
                || matches!(tokens.name(at), Some(b"if" | b"for" | b"async" | b"else"))
        });
        for name in (index + 1..inside).filter_map(|at| tokens.name(at)) {
            self.scope.each(name, inside + 1..end);
        }
    }

    /// `import a.b as c, d`
    fn import(&mut self, tokens: &'t Tokens<'_>, index: usize) -> usize {
        let end = tokens.statement_end(index);
        for part in tokens.split(index + 1..end) {
            let (path, after) = module(tokens, part.start);
            if tokens.is_name(after, b"as") {
                if let Some(name) = tokens.name(after + 1) {
                    self.alias(name, path.clone());
                }
            } else if let Some(name) = tokens.name(part.start) {
                self.alias(name, name.to_vec());
            }
            self.imports.push(Import { path, member: false, star: false, range: index..end });
        }
        end
    }

    /// `from a.b import c as d, e`
    fn from(&mut self, tokens: &'t Tokens<'_>, index: usize) -> Option<usize> {
        let (base, after) = module(tokens, index + 1);
        if base.is_empty() || !tokens.is_name(after, b"import") {
            return None;
        }
        let end = tokens.statement_end(after);
        let list = if tokens.is(after + 1, b"(") {
            after + 2..tokens.partner(after + 1)
        } else {
            after + 1..end
        };
        for part in tokens.split(list) {
            if tokens.is(part.start, b"*") {
                self.star = true;
                let path = base.clone();
                self.imports.push(Import { path, member: false, star: true, range: index..end });
                continue;
            }
            let Some(name) = tokens.name(part.start) else { continue };
            let path = [base.as_slice(), b".", name].concat();
            let bound = if tokens.is_name(part.start + 1, b"as") {
                tokens.name(part.start + 2).unwrap_or(name)
            } else {
                name
            };
            self.alias(bound, path.clone());
            self.imports.push(Import { path, member: true, star: false, range: index..end });
        }
        Some(end)
    }

    fn alias(&mut self, name: &'t [u8], path: Vec<u8>) {
        self.scope.lost(name);
        let paths = self.aliases.entry(name).or_default();
        if !paths.contains(&path) && paths.len() < 64 {
            paths.push(path);
        }
    }
}

/// `len(x)`: the list stays as it is.
fn is_looked_at(tokens: &Tokens<'_>, start: usize, end: usize) -> bool {
    let name = start.checked_sub(2).and_then(|at| tokens.name(at));
    tokens.follows(start, &[b"("])
        && tokens.is(end, b")")
        && matches!(name, Some(b"len" | b"print" | b"sorted" | b"enumerate"))
}

/// `+=`, `:=` and the like.
fn is_augmented(sign: &[u8]) -> bool {
    sign.len() > 1 && sign.ends_with(b"=") && !matches!(sign, b"==" | b"!=" | b"<=" | b">=")
}

/// A module's name, with the dots of a relative one as `.`.
fn module(tokens: &Tokens<'_>, start: usize) -> (Vec<u8>, usize) {
    let mut at = start;
    let mut path = Vec::new();
    while tokens.is(at, b".") || tokens.is(at, b"...") || tokens.is(at, b"..") {
        at += 1;
    }
    if at > start {
        path.extend_from_slice(b"<here>");
        if tokens.is_name(at, b"import") {
            return (path, at);
        }
        path.push(b'.');
    }
    while let Some(name) = tokens.name(at) {
        path.extend_from_slice(name);
        at += 1;
        if !tokens.is(at, b".") {
            break;
        }
        path.push(b'.');
        at += 1;
    }
    (path, at)
}

/// The first place outside of brackets that fits, or where the statement ends.
fn find(tokens: &Tokens<'_>, start: usize, fits: impl Fn(usize) -> bool) -> usize {
    let mut at = start;
    // Far away it is not found: then the names on the way are lost, or the value is not known.
    for _ in 0..512 {
        let ends = matches!(tokens.kind(at), Some(Kind::Newline))
            || tokens.is(at, b";")
            || tokens.is(at, b")")
            || tokens.is(at, b"]")
            || tokens.is(at, b"}");
        if ends || at >= tokens.len() || fits(at) {
            return at;
        }
        at = tokens.partner(at).max(at) + 1;
    }
    at
}

impl Dialect for Bindings<'_> {
    fn is_concatenation(&self, sign: &[u8]) -> bool {
        sign == b"+"
    }

    fn is_join(&self, sign: &[u8]) -> bool {
        sign == b"/"
    }

    fn full_name(&self, name: &[u8]) -> Option<Vec<u8>> {
        match self.aliases.get(name).map(Vec::as_slice) {
            Some([path]) => Some(path.clone()),
            _ => None,
        }
    }

    fn call(&self, path: &[u8], arguments: &[Value]) -> Value {
        let all = || {
            arguments
                .iter()
                .cloned()
                .reduce(|left, right| left.concat(&right, b"/"))
                .unwrap_or_else(|| Value::text(b"."))
        };
        // The code's own function of this name.
        if self.scope.is_given(path) {
            return Value::Unknown;
        }
        let part = || {
            let inside = arguments.first().is_some_and(Value::is_inside);
            if inside { Value::Inside } else { Value::Unknown }
        };
        match path {
            b"os.path.dirname" | b"os.path.basename" => part(),
            b"range" | b"len" | b"int" => Value::Inside,
            b"tempfile.mkdtemp"
            | b"tempfile.TemporaryDirectory"
            | b"tempfile.gettempdir"
            | b"tempfile.mktemp"
                if arguments.is_empty() =>
            {
                Value::text(b"/tmp/tmp")
            }
            b"os.path.join"
            | b"pathlib.Path"
            | b"pathlib.PurePath"
            | b"pathlib.PosixPath"
            | b"pathlib.Path.joinpath" => all(),
            b"str" | b"os.fspath" | b"os.path.normpath" | b"os.path.relpath" | b"sorted"
            | b"os.path.abspath" | b"os.path.realpath" | b"enumerate" | b"list" | b"set"
            | b"reversed" | b"tuple" | b"iter" => {
                arguments.first().cloned().unwrap_or(Value::Unknown)
            }
            b"pathlib.Path.cwd" | b"os.getcwd" => Value::text(b"."),
            b"glob.glob" | b"glob.iglob" | b"os.listdir" | b"os.walk" | b"os.scandir" => {
                let inside = arguments.first().is_none_or(|argument| {
                    argument.is_inside()
                        || argument
                            .texts()
                            .is_some_and(|texts| texts.iter().all(|text| is_inside(text)))
                });
                if inside { Value::Inside } else { Value::Unknown }
            }
            _ => Value::Unknown,
        }
    }

    fn passes_elements(&self, path: &[u8]) -> bool {
        matches!(path, b"sorted" | b"enumerate" | b"list" | b"reversed" | b"set" | b"tuple")
            && !self.scope.is_given(path)
    }

    fn pieces(&self, raw: &[u8]) -> Option<Vec<Vec<u8>>> {
        if raw.contains(&b'\\') || raw.contains(&b'\n') {
            return None;
        }
        let mut pieces = Vec::new();
        let mut rest = raw;
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'{' | b'}')) {
            // `{{` is a brace; an expression with braces of its own is nobody's path.
            let (before, inside) = (rest.get(..at)?, rest.get(at + 1..)?);
            let end = inside.iter().position(|byte| matches!(byte, b'{' | b'}'))?;
            if rest.get(at) != Some(&b'{') || end == 0 || inside.get(end) != Some(&b'}') {
                return None;
            }
            pieces.push(before.to_vec());
            rest = inside.get(end + 1..)?;
        }
        pieces.push(rest.to_vec());
        (pieces.len() > 1).then_some(pieces)
    }

    fn method(&self, receiver: &Value, name: &[u8]) -> Value {
        match name {
            b"glob" | b"rglob" | b"iterdir" | b"with_suffix" | b"with_name" | b"with_stem"
            | b"joinpath" | b"name" | b"stem" | b"path"
                if receiver.is_inside() =>
            {
                Value::Inside
            }
            b"resolve" | b"absolute" | b"as_posix" | b"expanduser" | b"strip" => match receiver {
                // Made absolute it is still the same file.
                Value::Unknown => Value::Unknown,
                known => known.clone(),
            },
            _ => Value::Unknown,
        }
    }
}
