//! Lines, indentation, and the here-documents that wait for the end of a line.

use bstr::BString;

use super::word::Surroundings;
use crate::ast::HereDocument;

/// What bash adds per level.
const INDENTATION: usize = 4;

#[derive(Default)]
pub(super) struct Printer<'tree> {
    output: Vec<u8>,
    level: usize,
    /// Inside a function every command has its own line; elsewhere lists stay on one.
    pub in_function: bool,
    pending: Vec<&'tree HereDocument>,
}

impl<'tree> Printer<'tree> {
    pub fn text(&mut self, text: &[u8]) {
        self.output.extend_from_slice(text);
    }

    pub fn ends_with(&self, text: &[u8]) -> bool {
        self.output.ends_with(text)
    }

    pub fn deeper(&mut self) {
        self.level += 1;
    }

    pub fn shallower(&mut self) {
        self.level = self.level.saturating_sub(1);
    }

    pub fn defer(&mut self, document: &'tree HereDocument) {
        self.pending.push(document);
    }

    /// Ends the line; here-documents announced on it follow at once.
    pub fn end_line(&mut self) {
        self.output.push(b'\n');
        for document in std::mem::take(&mut self.pending) {
            self.word(&document.body, Surroundings::of_document(document));
            self.text(&document.delimiter);
            self.output.push(b'\n');
        }
    }

    pub fn indent(&mut self) {
        let width = self.output.len() + self.level * INDENTATION;
        self.output.resize(width, b' ');
    }

    /// A new line at the current level that begins with `text`.
    pub fn line(&mut self, text: &[u8]) {
        self.end_line();
        self.indent();
        self.text(text);
    }

    /// Prints what is pending before something that has to follow on a line of its own.
    pub fn end_documents(&mut self) -> bool {
        let any = !self.pending.is_empty();
        if any {
            self.end_line();
        }
        any
    }

    /// `;` unless the text before ends a command by itself.
    pub fn semicolon(&mut self) {
        if !self.ends_with(b" &") && !self.ends_with(b"\n") {
            self.text(b";");
        }
    }

    /// Prints with a fresh layout, as bash does inside `$(…)`.
    pub fn separately(&mut self, print: impl FnOnce(&mut Self)) {
        let level = std::mem::take(&mut self.level);
        let in_function = std::mem::take(&mut self.in_function);
        let pending = std::mem::take(&mut self.pending);
        print(self);
        self.end_documents();
        self.level = level;
        self.in_function = in_function;
        self.pending = pending;
    }

    /// What `print` writes, instead of printing it.
    pub fn captured(&mut self, print: impl FnOnce(&mut Self)) -> Vec<u8> {
        let output = std::mem::take(&mut self.output);
        print(self);
        std::mem::replace(&mut self.output, output)
    }

    pub fn finish(mut self) -> BString {
        self.end_documents();
        BString::from(self.output)
    }
}
