//! Quotes in a regular expression: what they hold stands for itself.

use bstr::BString;

use crate::expand::field::{Expansion, Mark, Origin};

/// The expression with everything quoted made literal, as bash hands it on.
pub(in crate::expand) fn quoted_as_literal(expansion: &Expansion) -> BString {
    let mut all = Vec::with_capacity(expansion.text.len() + 8);
    let mut brackets = Brackets::default();
    for (mark, text) in expansion.stretches() {
        match mark {
            Mark::Break => all.push(b' '),
            // Inside `[…]` nothing but the brackets has a meaning.
            Mark::Text(Origin::Quoted) if brackets.open => all.extend_from_slice(text),
            Mark::Text(Origin::Quoted) => push_escaped(&mut all, text),
            Mark::Text(_) => {
                brackets.follow(text);
                all.extend_from_slice(text);
            }
        }
    }
    all.into()
}

/// Adds quoted text: every character stands for itself.
fn push_escaped(regex: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        if b"\\.[]()*+?{}^$|".contains(&byte) {
            regex.push(b'\\');
        }
        regex.push(byte);
    }
}

/// Follows unquoted text to know whether a bracket expression is open.
#[derive(Debug, Default)]
struct Brackets {
    open: bool,
    /// Bytes since the bracket opened.
    length: usize,
    escaped: bool,
    /// Inside `[:`…`:]`.
    named: Option<u8>,
    last: u8,
}

impl Brackets {
    fn follow(&mut self, text: &[u8]) {
        for &byte in text {
            self.step(byte);
            self.last = byte;
        }
    }

    fn step(&mut self, byte: u8) {
        if !self.open {
            let escaped = self.escaped;
            self.escaped = !escaped && byte == b'\\';
            if byte == b'[' && !escaped {
                *self = Brackets { open: true, ..Brackets::default() };
            }
            return;
        }
        self.length += 1;
        match (self.named, byte) {
            (Some(mark), b']') if self.last == mark => self.named = None,
            (None, b':' | b'=' | b'.') if self.last == b'[' && self.length > 1 => {
                self.named = Some(byte);
            }
            (None, b'^') if self.length == 1 => self.length = 0,
            (None, b']') if self.length > 1 => *self = Brackets::default(),
            _ => {}
        }
    }
}
