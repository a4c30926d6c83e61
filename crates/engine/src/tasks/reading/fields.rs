//! The fields of a table, taken one by one. What is left in the end means nothing.

use super::tree::{Entry, Node, Value, Wrong};

/// A table whose fields are known by name.
pub struct Fields<'a> {
    at: usize,
    entries: &'a [Entry],
}

impl<'a> Fields<'a> {
    /// The table, if it is one and has no field but these.
    pub fn of(node: &'a Node, known: &'static [&'static str]) -> Result<Self, Wrong> {
        let Value::Table(entries) = &node.value else {
            let message = format!("this is {}, not a table", node.kind());
            return Err(Wrong::new(node.at, message, format!("with {}", known.join(", "))));
        };
        for entry in entries {
            if !known.contains(&entry.key.as_str()) {
                let message = format!("unknown field `{}`", shown(&entry.key));
                return Err(Wrong::new(entry.at, message, meant(&entry.key, known)));
            }
        }
        Ok(Fields { at: node.at, entries })
    }

    /// The field, unless it is absent or null.
    pub fn get(&self, name: &str) -> Option<&'a Node> {
        let entry = self.entries.iter().find(|entry| entry.key == name)?;
        (entry.node.value != Value::Null).then_some(&entry.node)
    }

    /// A field that must be there.
    pub fn required(&self, name: &str, hint: &str) -> Result<&'a Node, Wrong> {
        self.get(name).ok_or_else(|| Wrong::new(self.at, format!("there is no `{name}`"), hint))
    }

    /// What the field says, read by `read`; what is wrong with it is said to be wrong there.
    pub fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'a Node) -> Result<T, Wrong>,
    ) -> Result<Option<T>, Wrong> {
        let found = self.get(name).map(|node| read(node).map_err(|wrong| wrong.within(name)));
        found.transpose()
    }
}

pub fn text(node: &Node) -> Result<&str, Wrong> {
    match &node.value {
        Value::Text(text) => Ok(text),
        _ => Err(unlike(node, "a text")),
    }
}

/// A text that says something.
pub fn said<'a>(node: &'a Node, hint: &str) -> Result<&'a str, Wrong> {
    let said = text(node)?;
    if said.trim().is_empty() {
        return Err(Wrong::new(node.at, "this is empty", hint));
    }
    Ok(said)
}

pub fn boolean(node: &Node) -> Result<bool, Wrong> {
    match &node.value {
        Value::Boolean(value) => Ok(*value),
        _ => Err(unlike(node, "true or false")),
    }
}

/// A whole number up to `most`.
pub fn whole(node: &Node, most: u32) -> Result<u32, Wrong> {
    let Value::Number(number) = &node.value else { return Err(unlike(node, "a whole number")) };
    if number.fract() == 0.0 && *number >= 0.0 && *number <= f64::from(most) {
        Ok(*number as u32)
    } else {
        Err(Wrong::new(node.at, format!("{number} cannot be"), format!("from 0 to {most}")))
    }
}

/// A text or a list of texts, each of which `check` lets pass.
pub fn texts(
    node: &Node,
    hint: &str,
    check: impl Fn(&str) -> Result<(), String>,
) -> Result<Vec<String>, Wrong> {
    let one = |node: &Node| {
        let text = text(node)?;
        check(text).map_err(|message| Wrong::new(node.at, message, hint))?;
        Ok(text.to_owned())
    };
    match &node.value {
        Value::List(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(at, item)| one(item).map_err(|it: Wrong| it.within(&format!("[{at}]"))))
                .collect()
        }
        Value::Text(_) => Ok(vec![one(node)?]),
        _ => Err(unlike(node, "a text or a list of texts")),
    }
}

pub fn unlike(node: &Node, wanted: &str) -> Wrong {
    Wrong::new(node.at, format!("this is {}, not {wanted}", node.kind()), "")
}

/// The known field that is most like it, or all of them.
fn meant(key: &str, known: &[&str]) -> String {
    let lower = key.to_lowercase();
    let nearest = known.iter().min_by_key(|name| distance(&lower, name));
    match nearest.filter(|name| distance(&lower, name) <= name.len() / 2) {
        Some(name) => format!("is `{name}` meant? known here: {}", known.join(", ")),
        None => format!("known here: {}", known.join(", ")),
    }
}

/// So many letters must be put in, taken out or changed.
fn distance(one: &str, other: &str) -> usize {
    const LONGEST: usize = 64;
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().take(LONGEST).enumerate() {
        let mut before = line;
        let mut left = line + 1;
        for (column, wanted) in other.iter().enumerate() {
            let above = row.get(column + 1).copied().unwrap_or_default();
            let changed = before + usize::from(letter != *wanted);
            let cost = changed.min(above + 1).min(left + 1);
            if let Some(cell) = row.get_mut(column) {
                *cell = left;
            }
            (before, left) = (above, cost);
        }
        if let Some(cell) = row.last_mut() {
            *cell = left;
        }
    }
    row.last().copied().unwrap_or_default() + one.chars().count().saturating_sub(LONGEST)
}

/// A name of a stranger's choice, on one line.
fn shown(key: &str) -> String {
    const LONGEST: usize = 60;
    key.chars().take(LONGEST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted() {
        for (one, other, expected) in [
            ("", "", 0),
            ("goal", "goal", 0),
            ("gaol", "goal", 2),
            ("gol", "goal", 1),
            ("goals", "goal", 1),
            ("kitten", "sitting", 3),
            ("", "abc", 3),
            ("abc", "", 3),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }
}
