//! Something more in a JSON text, whose every other byte stays as it is. The text has been read as JSON before.

use std::ops::Range;

/// A value and the keys that lead to it.
pub struct Insertion {
    pub path: &'static [&'static str],
    pub into: Into,
    /// Indented by two spaces.
    pub value: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Into {
    /// The last key is the value's own.
    Object,
    /// The last key is that of an array of which it becomes an element.
    Array,
}

/// An object or array in the text.
struct Container {
    open: usize,
    close: usize,
    /// Of an object with their keys.
    items: Vec<(Option<String>, Range<usize>)>,
}

pub fn inserted(text: &str, insertion: &Insertion) -> Result<String, String> {
    let start = skip_space(text, 0);
    let mut container = object(text, start, "the whole")?;
    let unit = unit(text, &container);
    for (depth, key) in insertion.path.iter().enumerate() {
        let rest = insertion.path.get(depth + 1..).unwrap_or_default();
        let found = container.items.iter().rev().find(|(name, _)| name.as_deref() == Some(key));
        let Some((_, value)) = found else {
            let item = format!("\"{key}\": {}", nested(rest, insertion));
            return Ok(with_item(text, &container, &item, &unit));
        };
        let place = value.start;
        match (rest.is_empty(), insertion.into) {
            (true, Into::Object) => return Err(format!("{key} is there already")),
            (true, Into::Array) => {
                let array =
                    container_at(text, place).filter(|_| text.get(place..=place) == Some("["));
                let array = array.ok_or_else(|| format!("{key} is not an array"))?;
                return Ok(with_item(text, &array, insertion.value, &unit));
            }
            (false, _) => container = object(text, place, key)?,
        }
    }
    Err("nothing leads to it".to_owned())
}

/// The value in the objects that are missing around it.
fn nested(rest: &[&str], insertion: &Insertion) -> String {
    match rest {
        [] if insertion.into == Into::Array => {
            format!("[\n  {}\n]", insertion.value.replace('\n', "\n  "))
        }
        [] => insertion.value.to_owned(),
        [key, rest @ ..] => {
            format!("{{\n  \"{key}\": {}\n}}", nested(rest, insertion).replace('\n', "\n  "))
        }
    }
}

/// One more at the end, indented as those before it.
fn with_item(text: &str, container: &Container, item: &str, unit: &str) -> String {
    let base = indentation(text, container.open);
    let first = container.items.first();
    let inner =
        first.filter(|(_, value)| line_of(text, value.start) != line_of(text, container.open));
    let inner = inner
        .map_or(format!("{base}{unit}"), |(_, value)| indentation(text, value.start).to_owned());
    let item = indented(item, &inner, unit);
    let end = container.items.last().map_or(container.open + 1, |(_, value)| value.end);
    let rest = text.get(end..container.close).unwrap_or_default();
    let comma = if container.items.is_empty() { "" } else { "," };
    let after =
        if rest.contains('\n') && comma == "," { rest.to_owned() } else { format!("\n{base}") };
    let (before, behind) =
        (text.get(..end).unwrap_or_default(), text.get(container.close..).unwrap_or_default());
    let new = format!("{comma}\n{inner}{item}{after}");
    let new =
        if text.contains("\r\n") { new.replace("\r\n", "\n").replace('\n', "\r\n") } else { new };
    format!("{before}{new}{behind}")
}

/// Its own two spaces become the file's unit, behind `inner`.
fn indented(item: &str, inner: &str, unit: &str) -> String {
    let lines = item.lines().enumerate().map(|(number, line)| {
        if number == 0 {
            return line.to_owned();
        }
        let rest = line.trim_start_matches(' ');
        let depth = (line.len() - rest.len()) / 2;
        format!("{inner}{}{rest}", unit.repeat(depth))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// By how much the file indents.
fn unit(text: &str, whole: &Container) -> String {
    let first = whole.items.first().map(|(_, value)| indentation(text, value.start));
    first.filter(|unit| !unit.is_empty()).unwrap_or("  ").to_owned()
}

fn line_of(text: &str, place: usize) -> usize {
    text.get(..place).unwrap_or_default().rfind('\n').map_or(0, |newline| newline + 1)
}

fn indentation(text: &str, place: usize) -> &str {
    let line = text.get(line_of(text, place)..).unwrap_or_default();
    let end = line.find(|character| character != ' ' && character != '\t').unwrap_or(0);
    line.get(..end).unwrap_or_default()
}

fn object(text: &str, place: usize, name: &str) -> Result<Container, String> {
    let found = container_at(text, place).filter(|_| text.get(place..=place) == Some("{"));
    found.ok_or_else(|| format!("{name} is not an object"))
}

/// `None`: something else begins there.
fn container_at(text: &str, open: usize) -> Option<Container> {
    let is_object = match text.as_bytes().get(open)? {
        b'{' => true,
        b'[' => false,
        _ => return None,
    };
    let mut items = Vec::new();
    let mut place = skip_space(text, open + 1);
    loop {
        match text.as_bytes().get(place)? {
            b'}' | b']' => return Some(Container { open, close: place, items }),
            b',' => place = skip_space(text, place + 1),
            _ => {
                let mut key = None;
                if is_object {
                    let end = value_end(text, place)?;
                    key = serde_json::from_str(text.get(place..end)?).ok();
                    place = skip_space(text, end);
                    // The colon.
                    place = skip_space(text, place + 1);
                }
                let end = value_end(text, place)?;
                items.push((key, place..end));
                place = skip_space(text, end);
            }
        }
    }
}

/// Behind the value that begins there.
fn value_end(text: &str, start: usize) -> Option<usize> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for (offset, byte) in text.as_bytes().get(start..)?.iter().enumerate() {
        let place = start + offset;
        if in_text {
            match (escaped, byte) {
                (true, _) => escaped = false,
                (false, b'\\') => escaped = true,
                (false, b'"') => {
                    in_text = false;
                    if depth == 0 {
                        return Some(place + 1);
                    }
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => return Some(place),
            b'}' | b']' if depth == 1 => return Some(place + 1),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    Some(text.len())
}

fn skip_space(text: &str, from: usize) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: Insertion =
        Insertion { path: &["a", "b"], into: Into::Object, value: "{\n  \"x\": [1]\n}" };
    const ELEMENT: Insertion =
        Insertion { path: &["h", "p"], into: Into::Array, value: "{\n  \"x\": 1\n}" };

    fn check(old: &str, insertion: &Insertion, new: &str) {
        let made = inserted(old, insertion).expect("a place for it");
        assert_eq!(made, new);
        serde_json::from_str::<serde_json::Value>(&made).expect("JSON");
    }

    #[test]
    fn everything_else_stays() {
        check("{}\n", &SERVER, "{\n  \"a\": {\n    \"b\": {\n      \"x\": [1]\n    }\n  }\n}\n");
        check(
            "{\n    \"z\": \"}\\\"{\",\n    \"a\": {}\n}",
            &SERVER,
            "{\n    \"z\": \"}\\\"{\",\n    \"a\": {\n        \"b\": {\n            \"x\": [1]\n        }\n    }\n}",
        );
        check(
            "{\n\t\"a\": {\n\t\t\"c\": 1\n\t},\n\t\"q\": 2\n}\n",
            &SERVER,
            "{\n\t\"a\": {\n\t\t\"c\": 1,\n\t\t\"b\": {\n\t\t\t\"x\": [1]\n\t\t}\n\t},\n\t\"q\": 2\n}\n",
        );
        check(
            "{\"q\":1}",
            &ELEMENT,
            "{\"q\":1,\n  \"h\": {\n    \"p\": [\n      {\n        \"x\": 1\n      }\n    ]\n  }\n}",
        );
        check(
            "{\n  \"h\": {\n    \"p\": [\n      2\n    ]\n  }\n}\n",
            &ELEMENT,
            "{\n  \"h\": {\n    \"p\": [\n      2,\n      {\n        \"x\": 1\n      }\n    ]\n  }\n}\n",
        );
        check(
            "{\r\n  \"q\": 1\r\n}",
            &SERVER,
            "{\r\n  \"q\": 1,\r\n  \"a\": {\r\n    \"b\": {\r\n      \"x\": [1]\r\n    }\r\n  }\r\n}",
        );
    }

    #[test]
    fn what_has_another_shape_is_left_alone() {
        for text in ["[]", "1", "{\"a\": 1}", "{\"a\": {\"b\": 1}}"] {
            assert!(inserted(text, &SERVER).is_err(), "{text}");
        }
        assert!(inserted("{\"h\": {\"p\": {}}}", &ELEMENT).is_err());
    }
}
