//! Files that calls and methods of Python open.

use std::ops::Range;

use super::Reader;
use crate::code::tokens::Kind;
use crate::code::values::{Value, is_url, receiver_start};
use crate::effect::Language;
use crate::event::Access;

impl Reader<'_, '_, '_> {
    /// `open(path, mode)`, whatever module it is of.
    pub(super) fn open_call(&mut self, open: usize, seen: &[u8]) {
        if !self.tokens.is(open, b"(") {
            self.findings.unclear([seen, b" handed on"].concat());
            return;
        }
        let arguments = self.tokens.arguments(open);
        let named = |name: &[u8]| {
            arguments.iter().find(|range| {
                self.tokens.is_name(range.start, name) && self.tokens.is(range.start + 1, b"=")
            })
        };
        let positional = |place: usize| {
            arguments.get(place).filter(|range| !self.tokens.is(range.start + 1, b"="))
        };
        let Some(path) = positional(0).or_else(|| named(b"file")) else {
            self.findings.unclear(seen);
            return;
        };
        let mode = positional(1).or_else(|| named(b"mode")).cloned();
        let path = self.after_keyword(path.clone());
        let access = self.mode(mode);
        // Descriptors 0 to 2, or a stream that is already open.
        let number = path.len() == 1 && self.tokens.kind(path.start) == Some(Kind::Number);
        if number && matches!(self.tokens.text(path.start), b"0" | b"1" | b"2") {
            return;
        }
        self.touch(self.evaluator.value(path), access, seen);
    }

    pub(super) fn mode(&self, mode: Option<Range<usize>>) -> Access {
        let Some(mode) = mode else { return Access::Read };
        let value = self.evaluator.value(self.after_keyword(mode));
        let reads = value.texts().is_some_and(|modes| {
            modes.iter().all(|mode| !mode.iter().any(|byte| b"wax+cn".contains(byte)))
        });
        if reads { Access::Read } else { Access::Write }
    }

    /// A method that works on the path it belongs to, or on the one it is given.
    pub(super) fn method(&mut self, index: usize, name: &[u8]) {
        let open = index + 1;
        if !self.tokens.is(open, b"(") {
            return;
        }
        match name {
            b"read_text" | b"read_bytes" => self.touch(self.receiver(index), Access::Read, name),
            b"write_text" | b"write_bytes" | b"touch" | b"mkdir" | b"chmod" => {
                self.touch(self.receiver(index), Access::Write, name);
            }
            b"unlink" | b"rmdir" => self.touch(self.receiver(index), Access::Delete, name),
            b"rmtree" => self.delete_tree(self.receiver(index), name),
            b"rename" | b"replace" => self.rename(index, open),
            b"open" => self.open_method(index, open),
            b"extractall" | b"extract" => {
                let arguments = self.tokens.arguments(open);
                let place = usize::from(name == b"extract");
                let value = arguments
                    .get(place)
                    .map(|range| self.evaluator.value(self.after_keyword(range.clone())));
                self.touch(value.unwrap_or_else(|| Value::text(b".")), Access::Write, name);
            }
            b"to_csv" | b"to_json" | b"to_excel" | b"to_parquet" | b"to_feather" | b"to_hdf"
            | b"to_html" | b"savefig" | b"save" | b"savetxt" | b"savez" | b"imsave"
            | b"imwrite" | b"write_image" | b"write_html" | b"to_file" | b"save_pretrained" => {
                self.given_path(open, Access::Write, name);
            }
            b"read_csv" | b"read_json" | b"read_excel" | b"read_parquet" | b"read_html"
            | b"imread" | b"read_table" | b"loadtxt" | b"genfromtxt" | b"fromfile" => {
                self.given_path(open, Access::Read, name);
            }
            b"execute" | b"executescript"
                if self.bindings.aliases.contains_key(&b"sqlite3"[..]) =>
            {
                if let Some(text) = self.argument(open, 0).single() {
                    self.findings.code(Language::Sql, text);
                }
            }
            b"timeit" | b"repeat" => {
                let text = self.tokens.literal(open + 1);
                if text.is_some() || self.tokens.kind(open + 1) == Some(Kind::Mixed) {
                    self.findings.unclear(name);
                }
            }
            b"load" | b"read" | b"parse" | b"load_file" | b"read_file" | b"from_file"
            | b"parse_file" | b"main" => self.reads_elsewhere(open, name),
            _ => {}
        }
    }

    /// Many libraries read the file they are given. Inside the project that is nothing; elsewhere it is worth a
    /// question, and no more, since texts that look like paths are often none.
    fn reads_elsewhere(&mut self, open: usize, name: &[u8]) {
        let elsewhere = self.argument(open, 0).texts().is_some_and(|texts| {
            texts.iter().any(|text| {
                text.starts_with(b"/")
                    || text.starts_with(b"~/")
                    || text.starts_with(b"../")
                    || is_url(text)
            })
        });
        // `timeit.main` runs the code it is given.
        let told = name == b"main" && self.bindings.aliases.contains_key(&b"timeit"[..]);
        if elsewhere || told {
            self.findings.unclear(name);
        }
    }

    /// The value before the dot.
    pub(super) fn receiver(&self, index: usize) -> Value {
        let end = index.saturating_sub(1);
        self.evaluator.value(receiver_start(self.tokens, end)..end)
    }

    /// Texts and tables have methods of these names too: only a path is renamed by one plain argument.
    pub(super) fn rename(&mut self, index: usize, open: usize) {
        let arguments = self.tokens.arguments(open);
        let [argument] = arguments.as_slice() else { return };
        if self.tokens.is(argument.start + 1, b"=") || self.tokens.is(argument.start, b"{") {
            return;
        }
        let target = self.evaluator.value(argument.clone());
        let name = self.tokens.text(index).to_vec();
        self.touch(self.receiver(index), Access::Delete, &name);
        self.touch(target, Access::Write, &name);
    }

    /// `path.open(mode)` or `module.open(path, mode)`
    fn open_method(&mut self, index: usize, open: usize) {
        let receiver = self.receiver(index);
        if receiver == Value::Unknown {
            self.open_call(open, b"open");
            return;
        }
        let mode = self.tokens.arguments(open).into_iter().next();
        let access = self.mode(mode);
        self.touch(receiver, access, b"open");
    }

    fn given_path(&mut self, open: usize, access: Access, name: &[u8]) {
        let Some(argument) = self.tokens.arguments(open).into_iter().next() else { return };
        match self.evaluator.value(self.after_keyword(argument.clone())) {
            Value::Texts(texts) => {
                for text in &texts {
                    if is_url(text) {
                        self.findings.danger(name);
                        self.findings.connect(text);
                    } else {
                        self.findings.open(text, access);
                    }
                }
            }
            Value::Inside => {}
            Value::Unknown => {
                let built = argument
                    .clone()
                    .any(|at| matches!(self.tokens.kind(at), Some(Kind::Text | Kind::Mixed)));
                if built || access == Access::Write && argument.len() == 1 {
                    self.findings.unclear([name, b" of a computed path"].concat());
                }
            }
        }
    }
}
