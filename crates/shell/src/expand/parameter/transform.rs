//! `${x@Q}` and the other letters.

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{CaseChange, ParameterExpansion};

use super::case;
use super::subject::{Place, Reference, Subject};
use crate::expand::field::Expansion;
use crate::expand::parts::{Lists, Mode};
use crate::expand::quote;
use crate::shell::Shell;
use crate::status::Running;
use crate::variables::{Attributes, Value};

impl Shell {
    pub(super) fn expand_transform(
        &mut self,
        letter: u8,
        expansion: &ParameterExpansion,
        reference: Reference,
        mode: Mode,
        out: &mut Expansion,
    ) -> Running<()> {
        // Attributes exist without a value.
        if self.options.nounset
            && matches!(reference.subject, Subject::Unset)
            && !(matches!(letter, b'a' | b'A')
                && matches!(reference.place, Place::Variable(_))
                && self.attributes_at(&reference.place).is_some())
        {
            return Err(self.unbound(&reference.place));
        }
        let place = reference.place;
        let changed = match letter {
            b'Q' => reference.subject.map(self, |_, text| Ok(quote::reusable(text)))?,
            b'U' => change_case(self, reference.subject, CaseChange::Upper, true)?,
            b'u' => change_case(self, reference.subject, CaseChange::Upper, false)?,
            b'L' => change_case(self, reference.subject, CaseChange::Lower, true)?,
            b'E' => reference.subject.map(self, |_, text| Ok(exacta_syntax::decode_ansi(text)))?,
            b'P' => {
                reference.subject.map(self, |shell, text| shell.expand_prompt(text.as_bstr()))?
            }
            b'a' => self.attribute_letters(&place, reference.subject),
            b'A' => {
                let text = self.assignment_text(&place, reference.subject);
                self.in_words(text, &place, mode)
            }
            b'K' => self.pairs(&place, reference.subject, true),
            b'k' => self.pairs(&place, reference.subject, false),
            // Bash does not look at the letter if there is nothing to change.
            _ if matches!(reference.subject, Subject::Unset) => Subject::Unset,
            _ => {
                return Err(self.bad_substitution(super::written(expansion).as_bstr()));
            }
        };
        self.push_subject(changed, &place, mode.after_operation(true), out)
    }

    /// The variable behind a place, namerefs followed.
    fn attributes_at(&self, place: &Place) -> Option<Attributes> {
        let name = match place {
            Place::Variable(name) | Place::Element(name, ..) => name,
            Place::List { name, .. } => name.as_ref()?,
            Place::Positional(_) | Place::Special(_) => return None,
        };
        let target = self.resolve_name(name.as_bstr()).name;
        let variable = self.variables.get(target.as_bstr())?;
        let mut attributes = variable.attributes;
        attributes.indexed |= matches!(variable.value, Some(Value::Indexed(_)));
        attributes.associative |= matches!(variable.value, Some(Value::Associative(_)));
        Some(attributes)
    }

    fn attribute_letters(&self, place: &Place, subject: Subject) -> Subject {
        let letters = self.attributes_at(place).map(letters_of).unwrap_or_default();
        match subject {
            Subject::List(values) => Subject::list(vec![letters; values.len()]),
            Subject::Unset | Subject::One(_) if letters.is_empty() => Subject::Unset,
            Subject::Unset | Subject::One(_) => Subject::One(letters),
        }
    }

    /// `declare -a x=([0]="1")`: what would make the variable again.
    fn assignment_text(&self, place: &Place, subject: Subject) -> Subject {
        if let (Place::List { name: None, .. }, Subject::List(values)) = (place, &subject) {
            let mut words = vec![BString::from("set"), BString::from("--")];
            words.extend(values.iter().map(|value| quote::reusable(value)));
            return if values.is_empty() { subject } else { Subject::list(words) };
        }
        let (name, whole) = match place {
            Place::Variable(name) | Place::Element(name, ..) => (name, false),
            Place::List { name: Some(name), .. } => (name, true),
            _ => return Subject::Unset,
        };
        let target = self.resolve_name(name.as_bstr()).name;
        let Some(attributes) = self.attributes_at(place) else { return Subject::Unset };
        let letters = letters_of(attributes);
        let value = match (whole, subject) {
            (true, _) => self.value_of(name.as_bstr()).map(|value| compound_text(&value)),
            (false, Subject::One(text)) => Some(quote::reusable(&text)),
            (false, _) => None,
        };
        if value.is_none() && letters.is_empty() {
            return Subject::Unset;
        }
        let mut text = BString::default();
        if !letters.is_empty() {
            text.extend_from_slice(b"declare -");
            text.extend_from_slice(&letters);
            text.push(b' ');
        }
        text.extend_from_slice(&target);
        if let Some(value) = value {
            text.push(b'=');
            text.extend_from_slice(&value);
        }
        Subject::One(text)
    }

    /// `"${a[@]@A}"` is three words: `declare`, the attributes and the assignment.
    fn in_words(&self, text: Subject, place: &Place, mode: Mode) -> Subject {
        let Subject::One(text) = text else { return text };
        let apart = match mode.lists {
            Lists::Fields if mode.quoted => !place.is_star(),
            Lists::Fields => self.separators().none(),
            Lists::Joined | Lists::JoinedAll | Lists::Spaced => false,
        };
        if !apart || !matches!(place, Place::List { .. }) {
            return Subject::One(text);
        }
        Subject::list(text.splitn_str(3, b" ").map(BString::from).collect())
    }

    /// Keys and values: as one quoted text (`@K`), or as separate words (`@k`).
    fn pairs(&self, place: &Place, subject: Subject, quoted: bool) -> Subject {
        let Place::List { name, .. } = place else {
            return match subject {
                Subject::One(text) => Subject::One(quote::reusable(&text)),
                other => other,
            };
        };
        let value = name.as_ref().and_then(|name| self.value_of(name.as_bstr()));
        let pairs: Vec<(BString, BString)> = match (value.as_deref(), subject) {
            (Some(Value::Indexed(array)), _) => array
                .iter()
                .map(|(index, value)| (index.to_string().into(), value.clone()))
                .collect(),
            (Some(Value::Associative(array)), _) => {
                array.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
            }
            (_, Subject::List(values)) => {
                let quoted = values.iter().map(|value| quote::reusable(value)).collect();
                return Subject::list(quoted);
            }
            (_, other) => return other,
        };
        if !quoted {
            return Subject::list(
                pairs.into_iter().flat_map(|(key, value)| [key, value]).collect(),
            );
        }
        let mut text = BString::default();
        let associative = matches!(value.as_deref(), Some(Value::Associative(_)));
        for (at, (key, value)) in pairs.iter().enumerate() {
            if at > 0 && !associative {
                text.push(b' ');
            }
            text.extend_from_slice(key_text(key, associative).as_ref());
            text.push(b' ');
            text.extend_from_slice(&quote::declared(value));
            if associative {
                text.push(b' ');
            }
        }
        if pairs.is_empty() { Subject::list(Vec::new()) } else { Subject::One(text) }
    }
}

fn change_case(
    shell: &mut Shell,
    subject: Subject,
    change: CaseChange,
    all: bool,
) -> Running<Subject> {
    let encoding = shell.encoding();
    subject.map(shell, |_, text| Ok(case::change(text, change, all, None, encoding)?))
}

/// In the order in which `declare -p` shows them.
fn letters_of(attributes: Attributes) -> BString {
    let letters = [
        (b'a', attributes.indexed && !attributes.associative),
        (b'A', attributes.associative),
        (b'i', attributes.integer),
        (b'n', attributes.nameref),
        (b'r', attributes.readonly),
        (b't', attributes.trace),
        (b'x', attributes.exported),
        (b'c', attributes.capitalize),
        (b'l', attributes.lowercase),
        (b'u', attributes.uppercase),
    ];
    letters.into_iter().filter(|(_, on)| *on).map(|(letter, _)| letter).collect::<Vec<u8>>().into()
}

fn key_text(key: &BString, associative: bool) -> BString {
    let plain =
        !associative || key.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if plain && !key.is_empty() { key.clone() } else { quote::declared(key) }
}

/// `([0]="a" [1]="b")`, as `declare -p` shows arrays.
fn compound_text(value: &Value) -> BString {
    let mut text = BString::from("(");
    match value {
        Value::Scalar(text) => return quote::reusable(text),
        Value::Indexed(array) => {
            for (at, (index, value)) in array.iter().enumerate() {
                let space = if at > 0 { " " } else { "" };
                text.extend_from_slice(format!("{space}[{index}]=").as_bytes());
                text.extend_from_slice(&quote::declared(value));
            }
        }
        Value::Associative(array) => {
            for (key, value) in array.iter() {
                text.push(b'[');
                text.extend_from_slice(&key_text(key, true));
                text.extend_from_slice(b"]=");
                text.extend_from_slice(&quote::declared(value));
                text.push(b' ');
            }
        }
    }
    text.push(b')');
    text
}
