//! Collects the parts of a word; adjacent plain text becomes one part.

use bstr::BString;

use crate::Span;
use crate::ast::{Operation, Parameter, ParameterExpansion, Word, WordPart};

/// Most vectors of the tree hold one element, and its nodes are large: the first gets room for itself only.
pub(super) fn push_tight<T>(vector: &mut Vec<T>, element: T) {
    if vector.capacity() == 0 {
        vector.reserve_exact(1);
    }
    vector.push(element);
}

#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: Vec<WordPart>,
}

impl Parts {
    pub fn literal(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        if let Some(WordPart::Literal(last)) = self.parts.last_mut() {
            last.extend_from_slice(text);
        } else {
            push_tight(&mut self.parts, WordPart::Literal(BString::from(text)));
        }
    }

    pub fn push(&mut self, part: WordPart) {
        match part {
            WordPart::Literal(text) => self.literal(&text),
            other => push_tight(&mut self.parts, other),
        }
    }

    pub fn extend(&mut self, parts: impl IntoIterator<Item = WordPart>) {
        for part in parts {
            self.push(part);
        }
    }

    /// Text that bash accepts when it reads it and rejects when it expands it.
    pub fn bad(&mut self, text: &[u8], span: Span) {
        self.parts.push(WordPart::Parameter(Box::new(ParameterExpansion {
            parameter: Parameter::Variable(BString::default()),
            selector: None,
            indirect: false,
            operation: Operation::Bad(BString::from(text)),
            braced: true,
            span,
        })));
    }

    /// The byte in front of the position, if it is plain text.
    pub fn last_literal_byte(&self) -> Option<u8> {
        match self.parts.last() {
            Some(WordPart::Literal(text)) => text.last().copied(),
            _ => None,
        }
    }

    pub fn as_slice(&self) -> &[WordPart] {
        &self.parts
    }

    pub fn into_word(self, span: Span) -> Word {
        Word { parts: self.parts, span }
    }

    pub fn into_vec(self) -> Vec<WordPart> {
        self.parts
    }
}
