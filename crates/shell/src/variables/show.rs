//! Variables as text that makes them again: `declare -p`, `declare`, `set`, `export -p`.

use bstr::{BStr, BString, ByteSlice};

use super::{Attributes, Value, Variable};
use crate::expand::quote;
use crate::shell::Shell;

impl Attributes {
    /// In the order in which `declare -p` shows them.
    fn letters(self) -> Vec<u8> {
        let letters = [
            (b'a', self.indexed),
            (b'A', self.associative),
            (b'i', self.integer),
            (b'n', self.nameref),
            (b'r', self.readonly),
            (b't', self.trace),
            (b'x', self.exported),
            (b'c', self.capitalize),
            (b'l', self.lowercase),
            (b'u', self.uppercase),
        ];
        letters.iter().filter(|(_, on)| *on).map(|(letter, _)| *letter).collect()
    }
}

impl Variable {
    /// What kind of variable it is, seen from outside.
    pub(crate) fn shown_attributes(&self) -> Attributes {
        let mut attributes = self.attributes;
        attributes.indexed |= matches!(self.value, Some(Value::Indexed(_)));
        attributes.associative |= matches!(self.value, Some(Value::Associative(_)));
        attributes
    }
}

impl Shell {
    /// `declare -ix n="5"` and a newline.
    pub(crate) fn declaration_of(&self, name: &BStr, variable: &Variable) -> BString {
        let letters = variable.shown_attributes().letters();
        let mut line = BString::from("declare -");
        line.extend_from_slice(if letters.is_empty() { b"-" } else { &letters });
        line.push(b' ');
        line.extend_from_slice(name);
        if let Some(value) = self.value_in(variable) {
            line.push(b'=');
            line.extend_from_slice(&match &*value {
                Value::Scalar(text) => quote::declared(text),
                list => list_text(list),
            });
        }
        line.push(b'\n');
        line
    }

    /// `n=5` and a newline, as `set` lists it; nothing if it has no value.
    pub(crate) fn listing_of(&self, name: &BStr, variable: &Variable) -> BString {
        let Some(value) = self.value_in(variable) else { return BString::default() };
        let text = match &*value {
            Value::Scalar(text) => quote::listed(text),
            list => list_text(list),
        };
        [name.as_bytes(), b"=", &text, b"\n"].concat().into()
    }
}

/// `([0]="a" [1]="b")`; after each pair of an associative array bash puts a space.
pub(crate) fn list_text(value: &Value) -> BString {
    let mut text = BString::from("(");
    match value {
        Value::Scalar(value) => return quote::declared(value),
        Value::Indexed(array) => {
            for (place, (index, value)) in array.iter().enumerate() {
                let space = if place > 0 { " " } else { "" };
                text.extend_from_slice(format!("{space}[{index}]=").as_bytes());
                text.extend_from_slice(&quote::declared(value));
            }
        }
        Value::Associative(map) => {
            for (key, value) in map.iter() {
                text.push(b'[');
                text.extend_from_slice(&key_text(key.as_bstr()));
                text.extend_from_slice(b"]=");
                text.extend_from_slice(&quote::declared(value));
                text.push(b' ');
            }
        }
    }
    text.push(b')');
    text
}

/// A key is quoted only where it must be.
pub(crate) fn key_text(key: &BStr) -> BString {
    let plain = !key.is_empty() && key != "@" && quote::listed(key) == key;
    if plain { key.into() } else { quote::declared(key) }
}
