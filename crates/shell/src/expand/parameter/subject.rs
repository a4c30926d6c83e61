//! What a parameter stands for.

use std::borrow::Cow;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{Parameter, Selector};

use crate::expand::field;
use crate::long::{self, Pace};
use crate::release::Heavy;
use crate::shell::Shell;
use crate::status::{Interrupt, Running};
use crate::variables::{ElementKey, Value};

/// Where a value is, for messages and `${x:=…}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::expand) enum Place {
    Variable(BString),
    /// The name, the element and how the subscript is written.
    Element(BString, ElementKey, BString),
    Positional(u32),
    /// `$#`, `$?` and their kin.
    Special(u8),
    /// `$@`, or with a name `${name[@]}`.
    List {
        name: Option<BString>,
        star: bool,
    },
}

#[derive(Debug)]
pub(super) enum Subject {
    Unset,
    One(BString),
    List(Heavy<Vec<BString>>),
}

#[derive(Debug)]
pub(super) struct Reference {
    pub place: Place,
    pub subject: Subject,
}

impl Place {
    /// As messages name it.
    pub fn label(&self) -> BString {
        match self {
            Place::Variable(name) => name.clone(),
            Place::Element(name, _, subscript) => bracketed(name, subscript),
            Place::Positional(number) => number.to_string().into(),
            Place::Special(letter) => vec![*letter].into(),
            Place::List { name: None, star } => if *star { "*" } else { "@" }.into(),
            Place::List { name: Some(name), star } => {
                bracketed(name, if *star { b"*" } else { b"@" })
            }
        }
    }

    /// Parameters without a name are shown with their dollar.
    pub fn label_with_dollar(&self) -> BString {
        let mut label = self.label();
        if matches!(self, Place::Positional(_) | Place::Special(_) | Place::List { name: None, .. })
        {
            label.insert(0, b'$');
        }
        label
    }

    pub fn is_star(&self) -> bool {
        matches!(self, Place::List { star: true, .. })
    }
}

fn bracketed(name: &[u8], subscript: &[u8]) -> BString {
    let mut label = BString::from(name);
    label.push(b'[');
    label.extend_from_slice(subscript);
    label.push(b']');
    label
}

impl Subject {
    pub fn list(values: Vec<BString>) -> Self {
        Subject::List(Heavy::new(values))
    }

    pub fn from_option(value: Option<BString>) -> Self {
        value.map_or(Subject::Unset, Subject::One)
    }

    /// The same change to one value or to each of a list.
    pub fn map(
        self,
        shell: &mut Shell,
        mut change: impl FnMut(&mut Shell, &[u8]) -> Running<BString>,
    ) -> Running<Subject> {
        Ok(match self {
            Subject::Unset => Subject::Unset,
            Subject::One(text) => {
                let text = Heavy::new(text);
                Subject::One(change(shell, &text)?)
            }
            Subject::List(values) => {
                let limit = shell.control.limits.expansion_bytes;
                let mut bytes = 0;
                let mut changed = Heavy::new(Vec::with_capacity(values.len()));
                let mut pace = Pace::default();
                for value in values.iter() {
                    pace.walked(value.len())?;
                    let value = change(shell, value)?;
                    bytes += value.len() as u64;
                    field::check_limit(bytes, limit)?;
                    changed.push(value);
                }
                Subject::List(changed)
            }
        })
    }
}

impl Shell {
    pub(super) fn reference(
        &mut self,
        parameter: &Parameter,
        selector: Option<&Selector>,
    ) -> Running<Reference> {
        let (place, subject) = match (parameter, selector) {
            (Parameter::Variable(name), None) => {
                let value = match self.scalar_of(name.as_bstr()) {
                    Some(Cow::Borrowed(text)) => Some(long::copy(text)?),
                    Some(Cow::Owned(text)) => Some(text),
                    None => None,
                };
                (Place::Variable(name.clone()), Subject::from_option(value))
            }
            (Parameter::Variable(name), Some(Selector::All)) => self.array_list(name, false)?,
            (Parameter::Variable(name), Some(Selector::Joined)) => self.array_list(name, true)?,
            (Parameter::Variable(name), Some(Selector::Index(subscript))) => {
                let key = self.element_key(name.as_bstr(), subscript)?;
                let written = exacta_syntax::print_word(&subscript.text);
                self.element_reference(name, key, written)?
            }
            (Parameter::Positional(number), _) => {
                let value = self.positional_value(*number).map(BString::from);
                (Place::Positional(*number), Subject::from_option(value))
            }
            (Parameter::All, _) => self.positional_list(false)?,
            (Parameter::Joined, _) => self.positional_list(true)?,
            (special, _) => {
                let (letter, value) = self.special_value(special);
                (Place::Special(letter), Subject::from_option(value))
            }
        };
        Ok(Reference { place, subject })
    }

    pub(super) fn positional_value(&self, number: u32) -> Option<&BStr> {
        match number {
            0 => Some(self.name.as_bstr()),
            _ => self.positional.get(number as usize - 1).map(|value| value.as_bstr()),
        }
    }

    pub(super) fn positional_list(&self, star: bool) -> Running<(Place, Subject)> {
        let values = long::collect(self.positional.iter())?;
        Ok((Place::List { name: None, star }, Subject::List(values)))
    }

    pub(super) fn array_list(&self, name: &BString, star: bool) -> Running<(Place, Subject)> {
        let place = Place::List { name: Some(name.clone()), star };
        Ok((place, Subject::List(self.elements_of(name.as_bstr())?)))
    }

    /// Every value of an array; of a scalar, its one value.
    pub(in crate::expand) fn elements_of(&self, name: &BStr) -> Running<Heavy<Vec<BString>>> {
        Ok(match self.value_of(name).as_deref() {
            None => Heavy::default(),
            Some(_) if self.refers_to_element(name) => Heavy::default(),
            Some(Value::Scalar(text)) => long::collect([text])?,
            Some(Value::Indexed(array)) => long::collect(array.iter().map(|(_, value)| value))?,
            Some(Value::Associative(array)) => long::collect(array.iter().map(|(_, value)| value))?,
        })
    }

    pub(super) fn element_reference(
        &self,
        name: &BString,
        key: ElementKey,
        written: BString,
    ) -> Running<(Place, Subject)> {
        let value = self.element_or_complain(name.as_bstr(), &key)?;
        Ok((Place::Element(name.clone(), key, written), Subject::from_option(value)))
    }

    /// One element. A negative index before the first is a message, which only `set -e` takes for an end.
    pub(crate) fn element_or_complain(
        &self,
        name: &BStr,
        key: &ElementKey,
    ) -> Running<Option<BString>> {
        let value = self.value_of(name).filter(|_| !self.refers_to_element(name));
        let found = value.as_deref().and_then(|value| value.element(key).cloned());
        if found.is_none()
            && let ElementKey::Index(index) = key
            && *index < 0
            && !is_inside(value.as_deref(), *index)
        {
            let refused = self.refuse([name.as_bytes(), b": bad array subscript"].concat());
            if matches!(refused, Interrupt::Exit(_)) {
                return Err(refused);
            }
        }
        Ok(found)
    }
}

/// Does a negative index reach an element, set or not?
fn is_inside(value: Option<&Value>, index: i64) -> bool {
    match value {
        Some(Value::Indexed(array)) => array.resolve_index(index).is_some(),
        Some(Value::Scalar(_)) => index == -1,
        Some(Value::Associative(_)) | None => false,
    }
}
