//! What is known of a variable. Whoever is wrong here must be wrong towards "not known".

use std::collections::BTreeMap;
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};

use crate::word::{Dynamic, Word};

/// More possible values than this are as good as none.
const MOST_VALUES: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Unset,
    Text(BString),
    /// One of these, at least two; `None` is unset.
    OneOf(Rc<Vec<Option<BString>>>),
    /// Elements from 0 on, without holes.
    Array(Rc<Vec<Word>>),
    /// An associative array of which all is known.
    Keyed(Rc<BTreeMap<BString, Word>>),
    /// Set or not, to anything that begins with this.
    Unknown(BString),
}

impl Value {
    pub fn unknown() -> Self {
        Value::Unknown(BString::default())
    }

    /// What a variable has after a word was assigned to it.
    pub fn of_word(word: &Word) -> Self {
        match word {
            Word::Literal(text) => Value::Text(text.clone()),
            Word::Dynamic(dynamic) if dynamic.values.len() > 1 => {
                Value::OneOf(Rc::new(dynamic.values.iter().cloned().map(Some).collect()))
            }
            Word::Dynamic(dynamic) => Value::Unknown(dynamic.prefix.clone()),
        }
    }

    /// For events: the value as a word.
    pub fn to_word(&self, name: &BStr) -> Word {
        let mut written = BString::from("$");
        written.extend_from_slice(name);
        let dynamic = match self {
            Value::Text(text) => return Word::Literal(text.clone()),
            Value::Unset => return Word::Literal(BString::default()),
            Value::OneOf(values) => {
                let values: Vec<BString> =
                    values.iter().map(|value| value.clone().unwrap_or_default()).collect();
                Dynamic { prefix: common_prefix(&values), written, values, ..Dynamic::default() }
            }
            Value::Array(_) | Value::Keyed(_) => Dynamic { written, ..Dynamic::default() },
            Value::Unknown(prefix) => {
                Dynamic { written, prefix: prefix.clone(), ..Dynamic::default() }
            }
        };
        Word::Dynamic(Box::new(dynamic))
    }

    /// Every text it can have; `None` if that is not known.
    pub fn possibilities(&self) -> Option<Vec<Option<BString>>> {
        match self {
            Value::Unset => Some(vec![None]),
            Value::Text(text) => Some(vec![Some(text.clone())]),
            Value::OneOf(values) => Some(values.to_vec()),
            Value::Array(elements) => match elements.first() {
                None => Some(vec![None]),
                Some(Word::Literal(text)) => Some(vec![Some(text.clone())]),
                Some(Word::Dynamic(dynamic)) if !dynamic.values.is_empty() => {
                    Some(dynamic.values.iter().cloned().map(Some).collect())
                }
                Some(Word::Dynamic(_)) => None,
            },
            Value::Keyed(pairs) => match pairs.get(b"0".as_bstr()) {
                None => Some(vec![None]),
                Some(word) => word.as_literal().map(|text| vec![Some(text.into())]),
            },
            Value::Unknown(_) => None,
        }
    }

    pub fn of_possibilities(mut values: Vec<Option<BString>>) -> Self {
        values.sort();
        values.dedup();
        match values.len() {
            0 => Value::unknown(),
            1 => values.pop().flatten().map_or(Value::Unset, Value::Text),
            count if count > MOST_VALUES => {
                let texts: Vec<BString> =
                    values.into_iter().map(Option::unwrap_or_default).collect();
                Value::Unknown(common_prefix(&texts))
            }
            _ => Value::OneOf(Rc::new(values)),
        }
    }

    /// What is known when it is either of two.
    pub fn join(self, other: &Value) -> Value {
        if self == *other {
            return self;
        }
        let unknown = |one: &BStr, two: &BStr| {
            Value::Unknown(common_prefix(&[BString::from(one), BString::from(two)]))
        };
        match (&self, other) {
            (Value::Array(one), Value::Array(two)) => beginning(one, two),
            (Value::Unknown(one), Value::Unknown(two)) => unknown(one.as_bstr(), two.as_bstr()),
            (Value::Unknown(one), Value::Text(two)) | (Value::Text(two), Value::Unknown(one)) => {
                unknown(one.as_bstr(), two.as_bstr())
            }
            (Value::Unknown(_) | Value::Array(_) | Value::Keyed(_), _)
            | (_, Value::Unknown(_) | Value::Array(_) | Value::Keyed(_)) => Value::unknown(),
            _ => match (self.possibilities(), other.possibilities()) {
                (Some(mut one), Some(two)) => {
                    one.extend(two);
                    Value::of_possibilities(one)
                }
                _ => Value::unknown(),
            },
        }
    }
}

/// The elements that both begin with, and then something or nothing.
fn beginning(one: &[Word], two: &[Word]) -> Value {
    let same = one.iter().zip(two).take_while(|(one, two)| one == two).count();
    if same == 0 {
        return Value::unknown();
    }
    let rest = Dynamic { written: "…".into(), splits: true, ..Dynamic::default() };
    let mut elements: Vec<Word> = one.iter().take(same).cloned().collect();
    elements.push(Word::Dynamic(Box::new(rest)));
    Value::Array(Rc::new(elements))
}

/// What all of them begin with.
pub(super) fn common_prefix(texts: &[BString]) -> BString {
    let Some((first, rest)) = texts.split_first() else { return BString::default() };
    let mut length = first.len();
    for text in rest {
        let same = first.iter().zip(text.iter()).take_while(|(one, two)| one == two).count();
        length = length.min(same);
    }
    BString::from(first.get(..length).unwrap_or_default())
}
