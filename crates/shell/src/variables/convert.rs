//! What attributes make of a value that is being assigned.

use bstr::{BStr, BString, ByteSlice};

use super::Attributes;
use super::assign::Mode;
use crate::shell::Shell;
use crate::status::{Interrupt, Running};

impl Shell {
    /// What attributes make of a value: arithmetic, letters, the old value in front.
    pub(super) fn convert(
        &mut self,
        attributes: Attributes,
        old: Option<BString>,
        value: BString,
        mode: Mode,
    ) -> Running<BString> {
        if attributes.integer {
            let before = match old {
                Some(old) if mode == Mode::Append => {
                    let evaluated = self.evaluate_text(old.as_bstr());
                    self.beyond_evals(evaluated)?
                }
                _ => 0,
            };
            let evaluated = self.evaluate_text(value.as_bstr());
            let number = self.beyond_evals(evaluated)?;
            return Ok(before.wrapping_add(number).to_string().into());
        }
        let value = match old {
            Some(mut old) if mode == Mode::Append => {
                old.extend_from_slice(&value);
                old
            }
            _ => value,
        };
        Ok(if attributes.changes_case() { change_case(attributes, value.as_bstr()) } else { value })
    }

    /// A broken expression in an integer or a subscript unwinds everything that is being read as a string:
    /// `eval`, and the text of `-c` itself, which ends the shell.
    pub(super) fn beyond_evals<T>(&self, evaluated: Running<T>) -> Running<T> {
        match evaluated {
            Err(Interrupt::Discard(status)) if self.options.command_string => {
                Err(Interrupt::Exit(status))
            }
            evaluated => evaluated,
        }
    }
}

/// `declare -l`, `-u`, `-c`: letter by letter, bytes that are no text as they are.
fn change_case(attributes: Attributes, value: &BStr) -> BString {
    let mut changed = BString::from(Vec::with_capacity(value.len()));
    for (start, end, letter) in value.char_indices() {
        let upper = attributes.uppercase || attributes.capitalize && start == 0;
        let bytes = value.get(start..end).unwrap_or_default();
        if letter == char::REPLACEMENT_CHARACTER {
            changed.extend_from_slice(bytes);
        } else if upper {
            push_single(&mut changed, letter, letter.to_uppercase());
        } else {
            push_single(&mut changed, letter, letter.to_lowercase());
        }
    }
    changed
}

/// Letters without a single counterpart (`ß`) stay.
fn push_single(into: &mut BString, letter: char, mut counterpart: impl Iterator<Item = char>) {
    let letter = match (counterpart.next(), counterpart.next()) {
        (Some(other), None) => other,
        _ => letter,
    };
    into.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
}
