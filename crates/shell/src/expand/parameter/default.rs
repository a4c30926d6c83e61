//! `${x-w}`, `${x=w}`, `${x?w}`, `${x+w}` and, with a colon, those that take empty for unset.

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{DefaultKind, Word};

use super::subject::{Place, Reference, Subject};
use crate::expand::field::Expansion;
use crate::expand::parts::{Lists, Mode};
use crate::shell::Shell;
use crate::status::{Interrupt, Running};

impl Shell {
    pub(super) fn expand_default(
        &mut self,
        (kind, colon, word): (DefaultKind, bool, &Word),
        reference: Reference,
        mode: Mode,
        out: &mut Expansion,
    ) -> Running<()> {
        let present = self.is_present(&reference, colon, mode);
        match (kind, present) {
            (DefaultKind::Alternative, true) | (DefaultKind::Use, false) => {
                let outer = out.vanished;
                self.expand_parts(&word.parts, Mode { nested: true, ..mode }, out)?;
                out.vanished = outer;
                Ok(())
            }
            (DefaultKind::Alternative, false) => {
                // `"${@+w}"` without arguments is no argument, as `"$@"` is none.
                out.vanished |= matches!(reference.place, Place::List { star: false, .. });
                Ok(())
            }
            (_, true) => self.push_subject(reference.subject, &reference.place, mode, out),
            (DefaultKind::Assign, false) => {
                let value = self.assign_default(&reference.place, word)?;
                out.push(mode.origin(), &value)
            }
            (DefaultKind::Fail, false) => Err(self.fail_for(&reference.place, colon, word)),
        }
    }

    fn is_present(&self, reference: &Reference, colon: bool, mode: Mode) -> bool {
        match &reference.subject {
            Subject::Unset => false,
            Subject::One(text) => !(colon && text.is_empty()),
            Subject::List(values) => match values.as_slice() {
                [] => false,
                _ if !colon => true,
                [only] => !only.is_empty(),
                // Two empty elements still have a separator between them.
                many => {
                    many.iter().any(|value| !value.is_empty())
                        || !reference.place.is_star()
                        || (!mode.quoted && mode.lists == Lists::Fields)
                        || !self.separators().joiner().is_empty()
                }
            },
        }
    }

    fn assign_default(&mut self, place: &Place, word: &Word) -> Running<BString> {
        let value = self.expand_to_string(word)?;
        match place {
            Place::Variable(name) => {
                self.assign_scalar(name.as_bstr(), value)?;
                Ok(self
                    .scalar_of(name.as_bstr())
                    .map(std::borrow::Cow::into_owned)
                    .unwrap_or_default())
            }
            Place::Element(name, key, _) => {
                self.assign_element(name.as_bstr(), key.clone(), value)?;
                Ok(self.element_or_complain(name.as_bstr(), key)?.unwrap_or_default())
            }
            other => {
                let mut message = other.label_with_dollar();
                message.extend_from_slice(b": cannot assign in this way");
                Err(self.refuse(&message))
            }
        }
    }

    fn fail_for(&mut self, place: &Place, colon: bool, word: &Word) -> Interrupt {
        let text = match self.expand_to_string(word) {
            Ok(text) => text,
            Err(interrupt) => return interrupt,
        };
        let mut message = place.label();
        message.extend_from_slice(b": ");
        match (text.is_empty(), colon) {
            (false, _) => message.extend_from_slice(&text),
            (true, true) => message.extend_from_slice(b"parameter null or not set"),
            (true, false) => message.extend_from_slice(b"parameter not set"),
        }
        self.complain(&message);
        self.fatal()
    }
}
