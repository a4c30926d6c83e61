//! What the names of JavaScript code stand for: modules, parts of them, texts.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::names;
use crate::code::tokens::{Kind, Tokens, among};
use crate::code::values::{Dialect, Scope, Value, dotted, receiver_start};

#[derive(Debug, Default)]
pub(super) struct Bindings<'t> {
    pub aliases: HashMap<&'t [u8], Vec<Vec<u8>>>,
    /// Names that the code gives a value of its own.
    pub declared: HashSet<&'t [u8]>,
    /// Tokens at which a module is only given another name.
    pub renamed: HashSet<usize>,
    pub scope: Scope<'t>,
}

impl<'t> Bindings<'t> {
    pub fn gather(tokens: &'t Tokens<'_>) -> Self {
        let mut bindings = Bindings::default();
        for index in 0..tokens.len() {
            match tokens.kind(index) {
                Some(Kind::Name) if !tokens.follows(index, &[b".", b"?."]) => {
                    bindings.name(tokens, index);
                }
                Some(Kind::Sign) => bindings.sign(tokens, index),
                _ => {}
            }
        }
        bindings
    }

    fn name(&mut self, tokens: &'t Tokens<'_>, index: usize) {
        let name = tokens.text(index);
        match name {
            b"import" if tokens.is(index + 1, b"(") => self.imported_later(tokens, index),
            b"import" => self.import(tokens, index),
            b"for" if tokens.is(index + 1, b"(") => self.loop_name(tokens, index + 1),
            b"class" | b"function" | b"const" | b"let" | b"var" => {
                if let Some(name) = tokens.name(index + 1) {
                    self.declared.insert(name);
                    if !tokens.is(index + 2, b"=") && !tokens.is_name(index + 2, b"of") {
                        self.scope.lost(name);
                    }
                }
            }
            _ if tokens.is(index + 1, b"=") => self.assignment(tokens, index, name),
            _ if tokens.is(index + 1, b"=>") => self.parameter(tokens, index, index),
            _ => {
                let changed: &[&[u8]] = &[b"+=", b"++", b"--", b"||=", b"??=", b"&&=", b"-="];
                if changed.iter().any(|sign| tokens.is(index + 1, sign)) {
                    self.scope.lost(name);
                }
            }
        }
    }

    fn sign(&mut self, tokens: &'t Tokens<'_>, index: usize) {
        let partner = tokens.partner(index);
        if tokens.is(index, b"(") {
            let arrow = tokens.is(partner + 1, b"=>");
            if arrow && partner == index + 2 && tokens.name(index + 1).is_some() {
                self.parameter(tokens, index + 1, index);
            } else if arrow || tokens.is(partner + 1, b"{") && !is_condition(tokens, index) {
                self.lose(tokens, index..partner);
            }
        } else if (tokens.is(index, b"{") || tokens.is(index, b"[")) && tokens.is(partner + 1, b"=")
        {
            self.destructuring(tokens, index, partner);
        }
    }

    /// Names may be parameters: they have any value.
    fn lose(&mut self, tokens: &'t Tokens<'_>, range: Range<usize>) {
        if range.len() > 256 {
            self.scope.forget();
            return;
        }
        for index in range {
            if let Some(name) = tokens.name(index) {
                self.scope.lost(name);
                self.declared.insert(name);
            }
        }
    }

    /// `list.forEach(name => …)`: one after the other of the list.
    fn parameter(&mut self, tokens: &'t Tokens<'_>, name: usize, start: usize) {
        let text = tokens.text(name);
        self.declared.insert(text);
        let method = start.checked_sub(2).filter(|_| tokens.follows(start, &[b"("]));
        let each = method.filter(|method| {
            let each: &[&[u8]] =
                &[b"forEach", b"map", b"filter", b"flatMap", b"some", b"every", b"find"];
            each.iter().any(|name| tokens.is_name(*method, name))
                && tokens.follows(*method, &[b"."])
        });
        match each {
            Some(method) => {
                let dot = method - 1;
                self.scope.each(text, receiver_start(tokens, dot)..dot);
            }
            None => self.scope.lost(text),
        }
    }

    fn assignment(&mut self, tokens: &'t Tokens<'_>, index: usize, name: &'t [u8]) {
        self.declared.insert(name);
        let default = tokens.follows(index, &[b"(", b","])
            && !matches!(index.checked_sub(2).and_then(|before| tokens.name(before)), Some(b"for"));
        let Some(end) = tokens.near_statement_end(index + 2) else {
            self.scope.lost(name);
            return;
        };
        let parts = tokens.split(index + 2..end);
        let Some(value) = parts.into_iter().next() else { return };
        if let Some((path, at)) = self.module_path(tokens, value.clone()) {
            self.alias(name, path);
            self.renamed.insert(at);
            self.renamed.insert(index);
        } else if default {
            self.scope.lost(name);
        } else {
            self.scope.assigned(name, value);
        }
    }

    /// `{a, b: c} = module`
    fn destructuring(&mut self, tokens: &'t Tokens<'_>, open: usize, close: usize) {
        let end = tokens.near_statement_end(close + 2).unwrap_or(close + 2);
        let value = tokens.split(close + 2..end).into_iter().next().unwrap_or(0..0);
        let Some((path, at)) = self.module_path(tokens, value) else {
            self.lose(tokens, open..close);
            return;
        };
        self.renamed.insert(at);
        self.parts(tokens, open, &path);
    }

    /// The names in braces, each a part of the module.
    fn parts(&mut self, tokens: &'t Tokens<'_>, open: usize, path: &[u8]) {
        for part in tokens.arguments(open) {
            let Some(name) = tokens.name(part.start) else { continue };
            let renamed = tokens.is(part.start + 1, b":") || tokens.is_name(part.start + 1, b"as");
            let bound = if renamed { tokens.name(part.start + 2) } else { Some(name) };
            if let Some(bound) = bound {
                self.alias(bound, [path, b".", name].concat());
                self.renamed.insert(part.start);
                self.renamed.insert(part.start + 2);
            }
        }
    }

    /// The module that an expression is, or a part of one; and where its name stands.
    fn module_path(&self, tokens: &Tokens<'_>, range: Range<usize>) -> Option<(Vec<u8>, usize)> {
        let start =
            if tokens.is_name(range.start, b"await") { range.start + 1 } else { range.start };
        let name = tokens.name(start)?;
        if matches!(name, b"require" | b"import") && tokens.is(start + 1, b"(") {
            let close = tokens.partner(start + 1);
            let module = tokens.literal(start + 2).filter(|_| close == start + 3)?;
            let mut path = module_name(module).to_vec();
            let mut at = close + 1;
            while tokens.is(at, b".") {
                path.push(b'.');
                path.extend_from_slice(tokens.name(at + 1)?);
                at += 2;
            }
            return (at == range.end).then_some((path, start));
        }
        let (chain, end) = dotted(tokens, start);
        if end != range.end {
            return None;
        }
        let root = self.full_name(name)?;
        let rest = chain.get(name.len()..).unwrap_or_default();
        Some(([root.as_slice(), rest].concat(), start))
    }

    fn alias(&mut self, name: &'t [u8], path: Vec<u8>) {
        self.declared.insert(name);
        self.scope.lost(name);
        let paths = self.aliases.entry(name).or_default();
        if !paths.contains(&path) && paths.len() < 32 {
            paths.push(path);
        }
    }

    /// `import a, {b as c}, * as d from "module"`
    fn import(&mut self, tokens: &'t Tokens<'_>, index: usize) {
        let mut at = index + 1;
        let mut whole = Vec::new();
        let mut braces = None;
        for _ in 0..8 {
            if tokens.is_name(at, b"from") {
                break;
            }
            if tokens.is(at, b"{") {
                braces = Some(at);
            } else if let Some(name) = tokens.name(at)
                && name != b"as"
                && name != b"type"
            {
                whole.push(name);
            }
            at = tokens.partner(at).max(at) + 1;
        }
        let Some(module) = tokens.literal(at + 1).filter(|_| tokens.is_name(at, b"from")) else {
            return;
        };
        let path = module_name(module).to_vec();
        for name in whole {
            self.alias(name, path.clone());
        }
        if let Some(open) = braces {
            self.parts(tokens, open, &path);
        }
        self.renamed.extend(index..at);
    }

    /// `import("module").then(name => …)`, also with `function (name) {…}` and with parts of it in braces.
    fn imported_later(&mut self, tokens: &'t Tokens<'_>, index: usize) {
        let close = tokens.partner(index + 1);
        let Some(module) = tokens.literal(index + 2).filter(|_| close == index + 3) else { return };
        let then = tokens.is(close + 1, b".")
            && tokens.is_name(close + 2, b"then")
            && tokens.is(close + 3, b"(");
        if !then {
            return;
        }
        let path = module_name(module).to_vec();
        let mut at = close + 4;
        while matches!(tokens.name(at), Some(b"async" | b"function")) {
            at += 1;
        }
        let has_name = tokens.name(at).is_some() && tokens.is(at + 1, b"(");
        at += usize::from(has_name);
        let in_brackets = tokens.is(at, b"(") && {
            let after = tokens.partner(at) + 1;
            tokens.is(after, b"=>") || tokens.is(after, b"{")
        };
        at += usize::from(in_brackets);
        if in_brackets && tokens.is(at, b"{") {
            self.parts(tokens, at, &path);
        } else if let Some(name) = tokens.name(at)
            && (in_brackets || tokens.is(at + 1, b"=>"))
        {
            self.alias(name, path);
            self.renamed.insert(at);
        } else {
            // A function of another place.
            return;
        }
        self.renamed.insert(index);
    }

    /// `for (const name of …)`
    fn loop_name(&mut self, tokens: &'t Tokens<'_>, open: usize) {
        let close = tokens.partner(open);
        let declared = matches!(tokens.name(open + 1), Some(b"const" | b"let" | b"var"));
        let at = if declared { open + 2 } else { open + 1 };
        if let Some(name) = tokens.name(at)
            && tokens.is_name(at + 1, b"of")
        {
            self.declared.insert(name);
            self.scope.each(name, at + 2..close);
        } else {
            let end =
                (at..close.min(at + 64)).find(|at| matches!(tokens.name(*at), Some(b"of" | b"in")));
            if let Some(end) = end {
                self.lose(tokens, at..end);
            }
        }
    }
}

fn is_condition(tokens: &Tokens<'_>, open: usize) -> bool {
    let before = open.checked_sub(1).and_then(|before| tokens.name(before));
    matches!(before, Some(b"if" | b"while" | b"for" | b"switch" | b"with"))
}

pub(super) fn module_name(module: &[u8]) -> &[u8] {
    module.strip_prefix(b"node:").unwrap_or(module)
}

impl Dialect for Bindings<'_> {
    fn is_concatenation(&self, sign: &[u8]) -> bool {
        sign == b"+"
    }

    fn full_name(&self, name: &[u8]) -> Option<Vec<u8>> {
        match self.aliases.get(name).map(Vec::as_slice) {
            Some([path]) => Some(path.clone()),
            Some(_) => None,
            None => {
                let global = !self.declared.contains(name) && among(names::MODULES, name);
                global.then(|| name.to_vec())
            }
        }
    }

    fn call(&self, path: &[u8], arguments: &[Value]) -> Value {
        match path {
            b"path.join" | b"path.resolve" | b"path.posix.join" => arguments
                .iter()
                .cloned()
                .reduce(|left, right| left.concat(&right, b"/"))
                .unwrap_or(Value::Unknown),
            b"path.normalize" | b"String" => arguments.first().cloned().unwrap_or(Value::Unknown),
            b"process.cwd" | b"Deno.cwd" => Value::text(b"."),
            b"fs.readdirSync"
            | b"fs.promises.readdir"
            | b"fs/promises.readdir"
            | b"fs.globSync" => match arguments.first() {
                Some(argument) if argument.is_inside() => Value::Inside,
                _ => Value::Unknown,
            },
            _ => Value::Unknown,
        }
    }

    fn method(&self, receiver: &Value, name: &[u8]) -> Value {
        match name {
            b"filter" | b"sort" | b"slice" | b"trim" if *receiver == Value::Inside => Value::Inside,
            _ => Value::Unknown,
        }
    }

    fn constant(&self, path: &[u8]) -> Value {
        match path {
            b"__dirname" => Value::text(b"."),
            _ => Value::Unknown,
        }
    }
}
