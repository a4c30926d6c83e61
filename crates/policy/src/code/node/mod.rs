//! JavaScript as node, deno and bun run it: every name that the code writes is looked up.
//!
//! As in Python, harm is reached by names: globals, modules, properties. Besides, `x[k]` reaches a property whose
//! name is computed; that is harmless as long as what it gives is not called and the code puts no names together.

mod bindings;
mod calls;
mod names;
mod scan;

use super::findings::Findings;
use super::tokens::{Kind, Tokens, among};
use super::values::{Evaluator, dotted, receiver_start};
use bindings::{Bindings, module_name};

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let Some(tokens) = scan::scan(text) else {
        findings.unclear("JavaScript code that cannot be read");
        return;
    };
    let bindings = Bindings::gather(&tokens);
    let evaluator = Evaluator { tokens: &tokens, scope: &bindings.scope, dialect: &bindings };
    let mut reader = Reader {
        tokens: &tokens,
        bindings: &bindings,
        evaluator,
        findings,
        computed: false,
        assembled: false,
    };
    reader.run();
}

/// Names that code puts together only in order to hide them.
const HIDDEN: &[&[u8]] = &[
    b"constructor",
    b"__proto__",
    b"child_process",
    b"mainModule",
    b"getBuiltinModule",
    b"Function",
    b"process",
];

struct Reader<'t, 'a, 'f> {
    tokens: &'t Tokens<'a>,
    bindings: &'t Bindings<'t>,
    evaluator: Evaluator<'t, 'a>,
    findings: &'f mut Findings,
    /// A property is reached by a name that is computed.
    computed: bool,
    /// The code has means to put a name together.
    assembled: bool,
}

impl Reader<'_, '_, '_> {
    fn run(&mut self) {
        let mut index = 0;
        let mut covered = 0;
        while let Some(token) = self.tokens.get(index) {
            match (token.kind, token.text.as_ref()) {
                (Kind::Name, name) => {
                    if self.tokens.follows(index, &[b".", b"?."]) {
                        if index >= covered {
                            self.property(index, name);
                        }
                    } else {
                        covered = covered.max(self.root(index, name));
                    }
                }
                (Kind::Text, text) => self.text(index, text),
                (Kind::Sign, b"[") => self.subscript(index),
                _ => {}
            }
            index += 1;
        }
        if self.computed && self.assembled {
            self.findings.unclear("properties with names that are put together");
        }
    }

    fn text(&mut self, index: usize, text: &[u8]) {
        if index.checked_sub(1).is_some_and(|before| self.tokens.is_name(before, b"from")) {
            self.module(module_name(text));
        }
        let fragment = text.len() >= 3
            && HIDDEN.iter().any(|hidden| {
                *hidden == text
                    || hidden.len() > text.len()
                        && hidden.windows(text.len()).any(|part| part == text)
            });
        let holds = text.len() > 11
            && HIDDEN
                .iter()
                .take(4)
                .any(|hidden| text.windows(hidden.len()).any(|part| part == *hidden));
        let glued =
            self.tokens.is(index + 1, b"+") && self.tokens.kind(index + 2) == Some(Kind::Text);
        let decoded = matches!(text, b"base64" | b"hex" | b"latin1");
        self.assembled |= fragment || holds || glued || decoded;
    }

    /// Returns up to where its properties need no more looking at.
    fn root(&mut self, index: usize, name: &[u8]) -> usize {
        let next = index + 1;
        let key = self.tokens.is(next, b":") && self.tokens.follows(index, &[b"{", b","]);
        if name == b"import" {
            return self.import(index).max(next);
        }
        if self.bindings.renamed.contains(&index) && name != b"require" {
            return next;
        }
        if key || among(names::KEYWORDS, name) {
            if key
                && matches!(
                    name,
                    b"constructor" | b"toString" | b"valueOf" | b"then" | b"__proto__"
                )
            {
                self.findings.unclear(name);
            }
            return next;
        }
        if let Some(paths) = self.bindings.aliases.get(name) {
            return paths.iter().map(|path| self.chain(index, path)).min().unwrap_or(next);
        }
        if self.bindings.declared.contains(name) && !among(names::GLOBALS, name) {
            return next;
        }
        if among(names::MODULES, name) {
            return self.chain(index, name);
        }
        self.global(index, name)
    }

    fn global(&mut self, index: usize, name: &[u8]) -> usize {
        let next = index + 1;
        match name {
            b"require" => return self.require(index),
            b"module" => self.own_module(next),
            b"Deno" | b"Bun" => return self.chain(index, name),
            b"constructor" => {
                // The constructor of a class.
                let method = self.tokens.is(next, b"(")
                    && self.tokens.is(self.tokens.partner(next) + 1, b"{");
                if !method {
                    self.findings.danger(name);
                }
            }
            b"global" | b"globalThis" | b"self" | b"window" | b"root" => {
                if self.tokens.is(next, b"[") {
                    self.findings.danger(name);
                } else if !self.tokens.is(next, b".") && !self.tokens.is(next, b"?.") {
                    self.findings.unclear(name);
                } else if let Some(inner) = self.tokens.name(index + 2) {
                    if matches!(inner, b"global" | b"globalThis" | b"self" | b"window" | b"root") {
                        self.findings.danger(name);
                        return index + 3;
                    }
                    return self.root(index + 2, inner).max(index + 3);
                }
            }
            b"eval" | b"Function" | b"importScripts" => {
                let before = index.checked_sub(1).and_then(|before| self.tokens.name(before));
                if before != Some(b"instanceof") {
                    self.findings.danger(name);
                }
            }
            b"fetch" if self.asks_this_machine(next) => {}
            b"fetch" | b"WebSocket" | b"XMLHttpRequest" | b"EventSource" => {
                self.findings.danger(name);
                self.connect(next);
            }
            b"setTimeout" | b"setInterval" if self.tokens.kind(index + 2) == Some(Kind::Text) => {
                self.findings.unclear(name);
            }
            b"$" if matches!(self.tokens.kind(next), Some(Kind::Text | Kind::Mixed)) => {
                self.findings.danger("$`…`");
            }
            b"atob" | b"unescape" | b"decodeURIComponent" => self.assembled = true,
            b"with" => self.findings.unclear(name),
            // It has nothing but what the code hands it.
            b"WebAssembly" if self.tokens.is_name(next + 1, b"instantiate") => {}
            _ if among(names::GLOBALS, name) => self.findings.unclear(name),
            _ => {}
        }
        next
    }

    /// `require("module")`, and the module's parts that follow.
    fn require(&mut self, index: usize) -> usize {
        let open = index + 1;
        if self.tokens.is(open, b".") {
            if !matches!(self.tokens.name(open + 1), Some(b"resolve" | b"main" | b"cache")) {
                self.findings.danger("require");
            }
            return index + 1;
        }
        if !self.tokens.is(open, b"(") {
            self.findings.danger("require handed on");
            return index + 1;
        }
        let argument = self.tokens.arguments(open).into_iter().next().unwrap_or(0..0);
        let value = self.evaluator.value(argument);
        let Some(module) = value.single() else {
            self.findings.danger("require of a computed name");
            return index + 1;
        };
        let module = module_name(module).to_vec();
        let close = self.tokens.partner(open);
        let told = matches!(
            self.tokens.name(close + 2),
            Some(b"STATUS_CODES" | b"METHODS" | b"builtinModules" | b"VERSION" | b"version")
        );
        if !told && !self.is_plain_process(&module, close) {
            self.module(&module);
        }
        self.parts_of(module, index, close + 1)
    }

    /// `.part.of.it` behind a module, or the module as a whole.
    fn parts_of(&mut self, module: Vec<u8>, index: usize, from: usize) -> usize {
        let mut path = module;
        let mut at = from;
        while (self.tokens.is(at, b".") || self.tokens.is(at, b"?."))
            && let Some(name) = self.tokens.name(at + 1)
        {
            path.push(b'.');
            path.extend_from_slice(name);
            at += 2;
        }
        if at > from {
            return self.path(&path, index, at);
        }
        if is_listed(&path) && !self.bindings.renamed.contains(&index) {
            self.findings.unclear([path.as_slice(), b" handed on"].concat());
        }
        at
    }

    /// `module`: only what tells about it.
    fn own_module(&mut self, dot: usize) {
        let telling: &[&[u8]] =
            &[b"exports", b"filename", b"id", b"path", b"paths", b"children", b"loaded"];
        let member = self.tokens.name(dot + 1).filter(|_| self.tokens.is(dot, b"."));
        if !member.is_some_and(|member| telling.contains(&member)) {
            self.findings.danger("module");
        }
    }

    /// A module by its name.
    fn module(&mut self, module: &[u8]) {
        if among(names::DANGEROUS_MODULES, module) {
            self.findings.danger(module);
        } else if module.starts_with(b"/") || module.starts_with(b"../") || module.starts_with(b"~")
        {
            self.findings.open(module, crate::event::Access::Execute);
        } else if module.contains(&b':')
            && !module.starts_with(b"npm:")
            && !module.starts_with(b"bun:")
        {
            self.findings.danger([b"import of ", module].concat());
            self.findings.connect(module);
        }
    }

    fn import(&mut self, index: usize) -> usize {
        let next = index + 1;
        if self.tokens.is(next, b".") {
            return next;
        }
        let called = self.tokens.is(next, b"(");
        let value = if called {
            let argument = self.tokens.arguments(next).into_iter().next().unwrap_or(0..0);
            self.evaluator.value(argument)
        } else {
            // The first text of the statement.
            let from = (index + 1..index + 64)
                .take_while(|at| {
                    !self.tokens.is(*at, b";") && self.tokens.kind(*at) != Some(Kind::Newline)
                })
                .find(|at| self.tokens.kind(*at) == Some(Kind::Text));
            self.evaluator.value(from.map_or(0..0, |at| at..at + 1))
        };
        match value.single() {
            Some(module) => {
                let module = module_name(module).to_vec();
                self.module(&module);
                if called { self.imported(module, index) } else { next }
            }
            None => {
                self.findings.danger("import of a computed name");
                next
            }
        }
    }

    /// What is done with what `import(…)` promises: `(await import("module")).part`, `.then(name => …)`.
    fn imported(&mut self, module: Vec<u8>, index: usize) -> usize {
        let after = self.tokens.partner(index + 1) + 1;
        let in_brackets = index >= 2
            && self.tokens.is_name(index - 1, b"await")
            && self.tokens.is(index - 2, b"(")
            && self.tokens.is(after, b")");
        if in_brackets {
            return self.parts_of(module, index, after + 1);
        }
        if is_listed(&module) && !self.bindings.renamed.contains(&index) {
            self.findings.unclear([module.as_slice(), b" handed on"].concat());
        }
        after
    }

    /// A name of a module or of a part of it, with what follows.
    fn chain(&mut self, index: usize, path: &[u8]) -> usize {
        let (chain, end) = dotted(self.tokens, index);
        let own = self.tokens.text(index).len();
        let full = [path, chain.get(own..).unwrap_or_default()].concat();
        let bare = full.len() == path.len();
        let shown = self.tokens.follows(index, &[b"("])
            && self.tokens.is(end, b")")
            && matches!(
                index.checked_sub(2).and_then(|at| self.tokens.name(at)),
                Some(b"log" | b"dir")
            );
        if bare && is_listed(&full) && !shown && !self.bindings.renamed.contains(&index) {
            self.findings.unclear([path, b" handed on"].concat());
        }
        self.path(&full, index, end)
    }

    fn property(&mut self, index: usize, name: &[u8]) {
        match name {
            b"constructor"
                if self.tokens.is(index + 1, b".") && self.tokens.is_name(index + 2, b"name") =>
            {
                return;
            }
            b"constructor" => self.findings.danger(name),
            b"fromCharCode" | b"fromCodePoint" | b"reverse" => self.assembled = true,
            b"join" if self.tokens.literal(index + 2) == Some(b"") => self.assembled = true,
            b"toString" if self.tokens.literal(index + 2).is_some() => self.assembled = true,
            b"require" => {
                self.require(index);
                return;
            }
            _ => {}
        }
        if among(names::DANGEROUS_PROPERTIES, name) {
            self.findings.danger(name);
        } else if among(names::UNCLEAR_PROPERTIES, name) {
            self.findings.unclear(name);
        }
    }

    /// `x[k]`, where it is not a list.
    fn subscript(&mut self, open: usize) {
        let Some(before) = open.checked_sub(1) else { return };
        let close = self.tokens.partner(open);
        let follows = match self.tokens.kind(before) {
            Some(Kind::Name) => {
                !among(names::KEYWORDS, self.tokens.text(before))
                    || self.tokens.is_name(before, b"this")
            }
            Some(Kind::Sign) => matches!(self.tokens.text(before), b")" | b"]" | b"}" | b"?."),
            Some(Kind::Text | Kind::Mixed | Kind::Pattern) => true,
            _ => false,
        };
        // `{[k]: f} = x` takes a computed property too.
        if !follows {
            self.computed |= self.tokens.is(close + 1, b":");
            return;
        }
        if close == open + 2 {
            match self.tokens.get(open + 1).map(|token| (token.kind, token.text.as_ref())) {
                Some((Kind::Number, _)) => return,
                Some((Kind::Text, name)) => {
                    let name = name.to_vec();
                    self.property_text(&name);
                    return;
                }
                _ => {}
            }
        }
        self.computed = true;
        let called = self.tokens.is(close + 1, b"(")
            || matches!(self.tokens.kind(close + 1), Some(Kind::Text | Kind::Mixed));
        let module = self.tokens.name(before).is_some_and(|name| {
            let paths = self.bindings.aliases.get(name);
            paths.is_some_and(|paths| !paths.iter().all(|path| is_data(path)))
                || !self.bindings.declared.contains(name)
                    && (among(names::GLOBALS, name) || among(names::MODULES, name))
                || name == b"this"
        });
        let harmless = matches!(self.tokens.name(before), Some(b"argv" | b"env" | b"versions"));
        if module && !harmless {
            self.findings.danger([self.tokens.text(before), b"[\xe2\x80\xa6]"].concat());
        } else if called || self.is_callback(open, close) {
            self.findings.unclear("a computed property that is called");
        }
    }

    fn property_text(&mut self, name: &[u8]) {
        if name == b"constructor" || among(names::DANGEROUS_PROPERTIES, name) {
            self.findings.danger(name);
        } else if among(names::UNCLEAR_PROPERTIES, name) {
            self.findings.unclear(name);
        }
    }

    /// `list.map(x[k])`, `f = x[k]; f()`
    fn is_callback(&self, open: usize, close: usize) -> bool {
        let Some(before) = receiver_start(self.tokens, open).checked_sub(1) else { return false };
        let handed = self.tokens.is(close + 1, b")")
            && self.tokens.is(before, b"(")
            && before.checked_sub(1).is_some_and(|at| {
                self.tokens.follows(at, &[b"."])
                    && !matches!(
                        self.tokens.name(at),
                        Some(
                            b"log"
                                | b"error"
                                | b"push"
                                | b"stringify"
                                | b"parse"
                                | b"warn"
                                | b"info"
                                | b"write"
                                | b"keys"
                                | b"values"
                                | b"entries"
                                | b"isArray"
                                | b"max"
                                | b"min"
                                | b"includes"
                                | b"has"
                                | b"add"
                                | b"table"
                                | b"join"
                        )
                    )
            });
        let named = self.tokens.is(before, b"=")
            && before.checked_sub(1).and_then(|at| self.tokens.name(at)).is_some_and(|name| {
                (close..(close + 400).min(self.tokens.len())).any(|at| {
                    self.tokens.is_name(at, name)
                        && (self.tokens.is(at + 1, b"(") || self.tokens.is(at + 1, b"["))
                })
            });
        handed || named
    }
}

/// `./package.json`: what is required from it is no code.
fn is_data(path: &[u8]) -> bool {
    path.starts_with(b"./") && path.ends_with(b".json")
}

/// Modules of which only what is listed is harmless.
fn is_listed(path: &[u8]) -> bool {
    matches!(path, b"fs" | b"fs/promises" | b"fs.promises" | b"process" | b"Deno" | b"Bun")
        || among(names::DANGEROUS_MODULES, path)
}
