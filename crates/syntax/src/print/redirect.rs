//! Redirects.

use super::layout::Printer;
use super::statement::single_quoted;
use super::word::Surroundings;
use crate::ast::{
    DuplicateDirection, FileOperator, HereDocument, Redirect, RedirectDescriptor, RedirectKind,
};

impl<'tree> Printer<'tree> {
    pub fn redirect(&mut self, redirect: &'tree Redirect) {
        match &redirect.descriptor {
            None => {}
            Some(RedirectDescriptor::Number(number)) => self.text(number.to_string().as_bytes()),
            Some(RedirectDescriptor::Variable(name)) => {
                self.text(b"{");
                self.text(name);
                self.text(b"}");
            }
        }
        match &redirect.kind {
            RedirectKind::File { operator, target } => {
                self.text(file_operator(*operator));
                self.text(b" ");
                self.word(target, Surroundings::Unquoted);
            }
            RedirectKind::Duplicate { direction, target } => {
                self.text(match direction {
                    DuplicateDirection::Input => b"<&",
                    DuplicateDirection::Output => b">&",
                });
                self.duplicate_target(target);
            }
            RedirectKind::HereString(word) => {
                self.text(b"<<< ");
                self.word(word, Surroundings::Unquoted);
            }
            RedirectKind::HereDocument(document) => self.here_document(document),
        }
    }

    /// `>&` in front of a process substitution would be read as another operator.
    fn duplicate_target(&mut self, target: &'tree crate::ast::Word) {
        if matches!(target.parts.first(), Some(crate::ast::WordPart::Process(_))) {
            self.text(b" ");
        }
        self.word(target, Surroundings::Unquoted);
    }

    /// The operator and the delimiter; the body waits for the end of the line.
    fn here_document(&mut self, document: &'tree HereDocument) {
        self.text(if document.strip_tabs { b"<<-" } else { b"<<" });
        if document.quoted {
            self.text(&single_quoted(&document.delimiter));
        } else {
            if matches!(document.delimiter.first(), Some(b'-' | b'<' | b'>')) {
                // Not another operator.
                self.text(b" ");
            }
            self.text(&document.delimiter);
        }
        self.defer(document);
    }
}

fn file_operator(operator: FileOperator) -> &'static [u8] {
    match operator {
        FileOperator::Read => b"<",
        FileOperator::Write => b">",
        FileOperator::Clobber => b">|",
        FileOperator::Append => b">>",
        FileOperator::ReadWrite => b"<>",
        FileOperator::WriteBoth => b"&>",
        FileOperator::AppendBoth => b"&>>",
    }
}
