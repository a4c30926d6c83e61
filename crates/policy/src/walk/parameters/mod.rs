//! `$x` and all that `${…}` can do, where its operands are known.

mod defaults;
mod lists;
mod operations;

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{DefaultKind, Operation, Parameter, ParameterExpansion, Selector};

use super::Walker;
use super::draft::Draft;
use super::state::Positional;
use super::values::Value;
use super::variables::{is_name, is_several};
use crate::word::Word;

/// One text that a parameter may have; `None` is unset.
type Text = Option<BString>;

impl Walker<'_> {
    pub(super) fn parameter(
        &mut self,
        expansion: &ParameterExpansion,
        quoted: bool,
        draft: &mut Draft<'_, '_>,
    ) {
        stacker::maybe_grow(64 << 10, 1 << 20, || {
            if let (Some(Selector::Index(subscript)), Parameter::Variable(name)) =
                (&expansion.selector, &expansion.parameter)
            {
                self.visit_subscript_of(name.as_bstr(), subscript);
            }
            if is_list(expansion) {
                let elements = self.elements(expansion);
                self.list_parameter(expansion, elements, quoted, draft);
            } else {
                self.scalar_parameter(expansion, quoted, draft);
            }
        });
    }

    fn scalar_parameter(
        &mut self,
        expansion: &ParameterExpansion,
        quoted: bool,
        draft: &mut Draft<'_, '_>,
    ) {
        let mut value = self.scalar(expansion);
        if expansion.indirect {
            value = self.indirect(&value);
        }
        let name = match &expansion.parameter {
            Parameter::Variable(name) if expansion.selector.is_none() && !expansion.indirect => {
                Some(name.as_bstr())
            }
            _ => None,
        };
        if let Operation::Default { kind, colon, word } = &expansion.operation {
            self.default(name, value, (*kind, *colon, word), quoted, draft);
            if let (DefaultKind::Assign, None, Parameter::Variable(name)) =
                (kind, name, &expansion.parameter)
            {
                self.assign_unknown(name.as_bstr(), "${…:=…}");
                if expansion.indirect {
                    self.state.forget_everything();
                }
            }
            return;
        }
        let value = self.operated(&expansion.operation, value);
        put(&value, quoted, draft);
    }

    fn scalar(&mut self, expansion: &ParameterExpansion) -> Value {
        match (&expansion.parameter, &expansion.selector) {
            (Parameter::Variable(name), None) => first_element(self.lookup(name.as_bstr())),
            (Parameter::Variable(name), Some(Selector::Index(subscript))) => {
                let value = self.lookup(name.as_bstr());
                if let Value::Keyed(pairs) = &value {
                    return match self.key(subscript) {
                        Some(key) => pairs.get(&key).map_or(Value::Unset, Value::of_word),
                        None => Value::unknown(),
                    };
                }
                let index = self.evaluated(subscript);
                match (index, value) {
                    (Some(index), Value::Array(elements)) => element(&elements, index),
                    (Some(0), value) => first_element(value),
                    (_, Value::Unset) => Value::Unset,
                    _ => Value::unknown(),
                }
            }
            (Parameter::Positional(0), _) => match &self.state.zero {
                Some(word) => Value::of_word(word),
                None => Value::unknown(),
            },
            (Parameter::Positional(number), _) => self.positional(*number as usize),
            (Parameter::Count, _) => match &self.state.positional {
                Positional::Known(words) if !words.iter().any(is_several) => {
                    Value::Text(BString::from(words.len().to_string()))
                }
                _ => Value::unknown(),
            },
            _ => Value::unknown(),
        }
    }

    /// `${!x}`: the value of the variable that the value names.
    fn indirect(&mut self, value: &Value) -> Value {
        let Value::Text(name) = value else {
            // A name that is none is an error.
            self.state.dropped = true;
            return Value::unknown();
        };
        if name.contains(&b'[') {
            // The subscript is evaluated, and may hold commands.
            self.evaluated_text(name.as_bstr());
            return Value::unknown();
        }
        match name.to_str().ok().and_then(|digits| digits.parse::<usize>().ok()) {
            Some(number @ 1..) => self.positional(number),
            _ if is_name(name) => first_element(self.lookup(name.as_bstr())),
            // `x=@; "${!x}"` is `$@`: each of them, as far as one word can tell.
            _ if matches!(name.as_slice(), b"@" | b"*") => self.any_positional(),
            _ => {
                self.state.dropped = true;
                Value::unknown()
            }
        }
    }
}

impl Walker<'_> {
    fn any_positional(&self) -> Value {
        let Positional::Known(words) = &self.state.positional else { return Value::unknown() };
        let texts: Option<Vec<Text>> =
            words.iter().map(|word| word.as_literal().map(|text| Some(text.into()))).collect();
        texts.map_or_else(Value::unknown, Value::of_possibilities)
    }
}

/// `$@`, `$*`, `${a[@]}`, `${a[*]}`
fn is_list(expansion: &ParameterExpansion) -> bool {
    matches!(expansion.parameter, Parameter::All | Parameter::Joined)
        || matches!(expansion.selector, Some(Selector::All | Selector::Joined))
}

/// Adds a value to a word.
fn put(value: &Value, quoted: bool, draft: &mut Draft<'_, '_>) {
    match value {
        Value::Unset => {
            if quoted {
                draft.begin();
            }
        }
        Value::Text(text) => draft.value(text, quoted),
        Value::OneOf(values) => {
            let values: Vec<BString> =
                values.iter().map(|value| value.clone().unwrap_or_default()).collect();
            draft.any_of(&values, quoted);
        }
        Value::Array(elements) => {
            if let Some(element) = elements.first() {
                draft.element(element, quoted);
            }
        }
        Value::Keyed(_) => draft.unknown(b"", quoted),
        Value::Unknown(prefix) => draft.unknown(prefix, quoted),
    }
}

fn first_element(value: Value) -> Value {
    match value {
        Value::Array(elements) => element(&elements, 0),
        Value::Keyed(_) => Value::unknown(),
        value => value,
    }
}

fn element(elements: &[Word], index: i64) -> Value {
    if elements.iter().any(is_several) {
        return Value::unknown();
    }
    let Some(index) = from_end(index, elements.len()) else { return Value::Unset };
    elements.get(index).map_or(Value::Unset, Value::of_word)
}

/// A negative index counts from the end.
fn from_end(index: i64, length: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}
