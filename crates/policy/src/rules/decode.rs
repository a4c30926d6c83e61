//! One rule's table to the rule as written, with the place of every key and item.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::LoadError;
use super::error::Text;
use super::schema::Rule;

/// Where the parts of a rule stand in the text.
#[derive(Debug, Clone, Default)]
pub struct Places {
    pub rule: usize,
    keys: Vec<(String, usize, Vec<usize>)>,
}

impl Places {
    /// The place of an item, else of the key's value, else of the rule.
    pub fn of(&self, key: &str, item: Option<usize>) -> usize {
        match self.keys.iter().find(|(name, _, _)| name == key) {
            Some((_, value, items)) => {
                item.and_then(|item| items.get(item)).copied().unwrap_or(*value)
            }
            None => self.rule,
        }
    }
}

const KEYS: &[&str] = &[
    "id",
    "verdict",
    "profiles",
    "command",
    "variable",
    "value",
    "write",
    "read",
    "delete",
    "code",
    "level",
    "situation",
    "shape",
    "with",
    "without",
    "with_all",
    "except",
    "alone",
    "made",
    "operands_at_most",
    "piped_from",
    "irreversible",
    "reason",
    "hint",
    "overrides",
    "hosts",
    "private",
    "direct",
    "match",
    "not_match",
    "from",
];

pub fn decode(value: &Spanned<DeValue<'_>>, text: Text<'_>) -> Result<(Rule, Places), LoadError> {
    let start = value.span().start;
    let Some(table) = value.get_ref().as_table() else {
        return Err(text.error(start, "a rule must be a table", "rules are written as [[rule]]"));
    };
    fill(table, start, text)
}

fn fill(table: &DeTable<'_>, start: usize, text: Text<'_>) -> Result<(Rule, Places), LoadError> {
    let mut rule = Rule::default();
    let mut places = Places { rule: start, keys: Vec::new() };
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        let at = value.span().start;
        let mut items = Vec::new();
        let expected = if let Some(field) = text_of(&mut rule, name) {
            value.get_ref().as_str().map(|found| found.clone_into(field)).ok_or("a text")
        } else if let Some(field) = texts_of(&mut rule, name) {
            texts(value, field, &mut items)
        } else if let Some(field) = flag_of(&mut rule, name) {
            value.get_ref().as_bool().map(|found| *field = found).ok_or("true or false")
        } else if name == "operands_at_most" {
            let number = value.get_ref().as_integer().filter(|number| number.radix() == 10);
            let number = number.and_then(|number| number.as_str().parse().ok());
            number.map(|found| rule.operands_at_most = Some(found)).ok_or("a number")
        } else {
            let message = format!("unknown key `{name}` in a rule");
            return Err(text.error(key.span().start, message, suggestion(name)));
        };
        if let Err(expected) = expected {
            let message = format!("`{name}` must be {expected}");
            return Err(text.error(items.pop().unwrap_or(at), message, ""));
        }
        places.keys.push((name.to_owned(), at, items));
    }
    Ok((rule, places))
}

/// On an error the place of the wrong item is the last one.
fn texts(
    value: &Spanned<DeValue<'_>>,
    field: &mut Vec<String>,
    items: &mut Vec<usize>,
) -> Result<(), &'static str> {
    const EXPECTED: &str = "a list of texts: [\"…\", \"…\"]";
    let array = value.get_ref().as_array().ok_or(EXPECTED)?;
    for item in array {
        items.push(item.span().start);
        field.push(item.get_ref().as_str().ok_or(EXPECTED)?.to_owned());
    }
    Ok(())
}

fn text_of<'a>(rule: &'a mut Rule, key: &str) -> Option<&'a mut String> {
    Some(match key {
        "id" => &mut rule.id,
        "verdict" => &mut rule.verdict,
        "value" => &mut rule.value,
        "level" => &mut rule.level,
        "reason" => &mut rule.reason,
        "hint" => &mut rule.hint,
        "from" => &mut rule.from,
        _ => return None,
    })
}

fn texts_of<'a>(rule: &'a mut Rule, key: &str) -> Option<&'a mut Vec<String>> {
    Some(match key {
        "profiles" => &mut rule.profiles,
        "command" => &mut rule.command,
        "variable" => &mut rule.variable,
        "write" => &mut rule.write,
        "read" => &mut rule.read,
        "delete" => &mut rule.delete,
        "code" => &mut rule.code,
        "situation" => &mut rule.situation,
        "shape" => &mut rule.shape,
        "with" => &mut rule.with,
        "without" => &mut rule.without,
        "with_all" => &mut rule.with_all,
        "except" => &mut rule.except,
        "piped_from" => &mut rule.piped_from,
        "overrides" => &mut rule.overrides,
        "hosts" => &mut rule.hosts,
        "match" => &mut rule.matches,
        "not_match" => &mut rule.not_match,
        _ => return None,
    })
}

fn flag_of<'a>(rule: &'a mut Rule, key: &str) -> Option<&'a mut bool> {
    Some(match key {
        "irreversible" => &mut rule.irreversible,
        "alone" => &mut rule.alone,
        "made" => &mut rule.made,
        "private" => &mut rule.private,
        "direct" => &mut rule.direct,
        _ => return None,
    })
}

/// The key that was probably meant, else all of them.
fn suggestion(name: &str) -> String {
    let near = KEYS.iter().map(|key| (distance(name, key), *key)).min();
    match near {
        Some((distance, key)) if distance <= 2 => format!("did you mean `{key}`?"),
        _ => format!("known keys: {}", KEYS.join(", ")),
    }
}

/// Letters to change, add or take out, over names short enough to compare in full.
fn distance(one: &str, other: &str) -> usize {
    if one.len() > 2 * other.len() + 4 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (b, above) in other.bytes().zip(row.iter().skip(1)) {
            left = (diagonal + usize::from(a != b)).min(left + 1).min(above + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_letters() {
        for (one, other, expected) in [
            ("match", "match", 0),
            ("matches", "match", 2),
            ("verdit", "verdict", 1),
            ("x", "id", 2),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }
}
