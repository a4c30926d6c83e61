//! `${!x}`: the value of one parameter names another.

use std::borrow::Cow;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{Operation, Parameter, ParameterExpansion};

use super::subject::{self, Place, Subject};
use crate::shell::Shell;
use crate::status::Running;
use crate::variables::{Reference, is_name, parse_reference};

pub(super) enum Found {
    Reference(subject::Reference),
    /// Of a nameref, `${!r}` is the name it refers to.
    Name(BString),
}

impl Shell {
    pub(super) fn indirect_reference(&mut self, expansion: &ParameterExpansion) -> Running<Found> {
        if let (Parameter::Variable(name), None, Operation::Plain) =
            (&expansion.parameter, &expansion.selector, &expansion.operation)
            && self
                .variables
                .get(name.as_bstr())
                .is_some_and(|variable| variable.attributes.nameref)
        {
            return Ok(Found::Name(self.name_referred_to(name)));
        }
        let reference = self.reference(&expansion.parameter, expansion.selector.as_ref())?;
        let text = match reference.subject {
            Subject::One(text) => text,
            Subject::List(values) => self.joined(&values),
            Subject::Unset => {
                // A variable that is declared names nothing, which is no error.
                if let Place::Variable(name) = &reference.place
                    && self.variables.get(name.as_bstr()).is_some()
                {
                    let (place, subject) = (Place::Special(b'!'), Subject::Unset);
                    return Ok(Found::Reference(subject::Reference { place, subject }));
                }
                let mut message = reference.place.label();
                message.extend_from_slice(b": invalid indirect expansion");
                return Err(self.refuse(&message));
            }
        };
        self.late_reference(text.as_bstr()).map(Found::Reference)
    }

    fn name_referred_to(&self, name: &BString) -> BString {
        let target = self.resolve_name(name.as_bstr());
        let mut text = target.name;
        if let Some(subscript) = target.subscript {
            text.push(b'[');
            text.extend_from_slice(&subscript);
            text.push(b']');
        }
        text
    }

    fn joined(&self, values: &[BString]) -> BString {
        bstr::join(self.separators().joiner(), values).into()
    }

    /// A parameter that is known only as text.
    fn late_reference(&mut self, text: &BStr) -> Running<subject::Reference> {
        if let Some(Reference { name, subscript: Some(subscript) }) = parse_reference(text) {
            let name = BString::from(name);
            let (place, subject) = match subscript.as_bytes() {
                b"@" => self.array_list(&name, false)?,
                b"*" => self.array_list(&name, true)?,
                _ => {
                    let key = self.element_key_of_text(name.as_bstr(), subscript)?;
                    self.element_reference(&name, key, subscript.into())?
                }
            };
            return Ok(subject::Reference { place, subject });
        }
        match late_parameter(text) {
            Some(parameter) => self.reference(&parameter, None),
            None => Err(self.refuse([text.as_bytes(), b": invalid variable name"].concat())),
        }
    }
}

fn late_parameter(text: &BStr) -> Option<Parameter> {
    Some(match text.as_bytes() {
        b"@" => Parameter::All,
        b"*" => Parameter::Joined,
        b"#" => Parameter::Count,
        b"?" => Parameter::Status,
        b"-" => Parameter::Options,
        b"$" => Parameter::ProcessId,
        b"!" => Parameter::BackgroundId,
        name if is_name(name) => Parameter::Variable(name.into()),
        digits => {
            let digits: Cow<'_, str> = digits.to_str_lossy();
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            Parameter::Positional(digits.parse().ok()?)
        }
    })
}
