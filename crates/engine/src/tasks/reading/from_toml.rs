//! TOML with its places.

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::tree::{Entry, Node, Value, Wrong};

pub fn tree(text: &str) -> Result<Node, Wrong> {
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let message = error.message().trim().replace('\n', ": ");
        Wrong::new(at, message, "this is no TOML; JSON begins with `{`")
    })?;
    Ok(Node { at: 0, value: table_of(table.get_ref()) })
}

fn table_of(table: &DeTable<'_>) -> Value {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            at: key.span().start,
            node: node(value),
        })
        .collect();
    // The first that is wrong is told of, and people read from the top.
    entries.sort_by_key(|entry| entry.at);
    Value::Table(entries)
}

fn node(spanned: &Spanned<DeValue<'_>>) -> Node {
    let value = match spanned.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => integer(number),
        DeValue::Float(number) => number
            .as_str()
            .replace('_', "")
            .parse()
            .map_or(Value::Other("no number"), Value::Number),
        DeValue::Boolean(value) => Value::Boolean(*value),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(items) => Value::List(items.iter().map(node).collect()),
        DeValue::Table(table) => table_of(table),
    };
    Node { at: spanned.span().start, value }
}

/// Exact as far as anything in a plan can be large.
fn integer(number: &DeInteger<'_>) -> Value {
    let digits = number.as_str().replace('_', "");
    i64::from_str_radix(&digits, number.radix())
        .map_or(Value::Other("a number that is too large"), |number| Value::Number(number as f64))
}
