//! All short texts of a table as one.
//!
//! Thousands of pointers would have to be put right each time that the program starts, and with them every page that they
//! lie in would be its own.

use std::collections::BTreeMap;

#[derive(Default)]
pub struct Texts {
    pub all: String,
    known: BTreeMap<String, usize>,
}

impl Texts {
    /// Where it is, and how long: `(12, 4)`.
    pub fn place(&mut self, text: &str) -> String {
        let at = *self.known.entry(text.to_owned()).or_insert_with(|| {
            self.all.push_str(text);
            self.all.len() - text.len()
        });
        format!("({}, {})", number(at), number(text.len()))
    }
}

/// With separators, as the lints want it.
pub fn number(value: usize) -> String {
    match value {
        0..1000 => value.to_string(),
        _ => format!("{}_{:03}", number(value / 1000), value % 1000),
    }
}
