//! JSON with its places. `serde_json` tells where it stops but not where a value stands; a raw value is a piece of the text
//! itself, and so has its place.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::tree::{Entry, Node, Value, Wrong};

/// A plan is nested four deep; what is deeper is wrong in a way that is found without looking at it.
const DEEPEST: usize = 16;

pub fn tree(text: &str) -> Result<Node, Wrong> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        // It is pointed at anyway.
        let message = message.split(" at line ").next().unwrap_or_default();
        let hint = "this is no JSON; `exacta task schema` tells what a plan is";
        Wrong::new(offset(text, error.line(), error.column()), message, hint)
    })?;
    node(text, raw.get(), 0)
}

/// The place of a line and a column in bytes, both counted from one.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
    let start: usize = lines.map(str::len).sum();
    start + column.saturating_sub(1)
}

/// Where a piece of the text stands in it.
fn place(text: &str, piece: &str) -> Option<usize> {
    let at = (piece.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    (at + piece.len() <= text.len()).then_some(at)
}

fn node(text: &str, raw: &str, depth: usize) -> Result<Node, Wrong> {
    let at = place(text, raw).unwrap_or_default();
    let wrong = |error: serde_json::Error| Wrong::new(at, error.to_string(), "");
    let value = match raw.bytes().next() {
        Some(b'{' | b'[') if depth >= DEEPEST => Value::Other("something nested too deep"),
        Some(b'{') => {
            let Pairs(pairs) = serde_json::from_str(raw).map_err(wrong)?;
            Value::Table(entries(text, pairs, depth)?)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(raw).map_err(wrong)?;
            let items = items.into_iter().map(|item| node(text, item.get(), depth + 1));
            Value::List(items.collect::<Result<_, Wrong>>()?)
        }
        Some(b'"') => Value::Text(serde_json::from_str(raw).map_err(wrong)?),
        Some(b't') => Value::Boolean(true),
        Some(b'f') => Value::Boolean(false),
        Some(b'n') => Value::Null,
        _ => Value::Number(raw.parse().map_err(|_| Wrong::new(at, "no number", ""))?),
    };
    Ok(Node { at, value })
}

fn entries(
    text: &str,
    pairs: Vec<(Key<'_>, &RawValue)>,
    depth: usize,
) -> Result<Vec<Entry>, Wrong> {
    let mut entries: Vec<Entry> = Vec::new();
    for (Key(key), raw) in pairs {
        let node = node(text, raw.get(), depth + 1)?;
        // A key with escapes is no piece of the text: then the value's place will do.
        let at = match &key {
            Cow::Borrowed(key) => place(text, key).map(|at| at.saturating_sub(1)),
            Cow::Owned(_) => None,
        };
        let at = at.unwrap_or(node.at);
        if entries.iter().any(|entry| entry.key == key) {
            let hint = "which of the two is meant nobody can tell: take one out";
            return Err(Wrong::new(at, format!("`{key}` is there twice"), hint));
        }
        entries.push(Entry { key: key.into_owned(), at, node });
    }
    Ok(entries)
}

/// An object in the order of the text, keys that are there twice included.
struct Pairs<'a>(Vec<(Key<'a>, &'a RawValue)>);

struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Key<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("the name of a field")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(Keys)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Objects;
        impl<'de> Visitor<'de> for Objects {
            type Value = Pairs<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Objects)
    }
}
