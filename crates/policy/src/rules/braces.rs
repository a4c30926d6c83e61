//! Alternatives of patterns, written out: `{a,b}`, and lists by their names. Used by the build script as well.

use super::pattern::Lists;

/// All that a word can be once its lists and braces are written out.
pub(super) fn alternatives(text: &str, lists: &Lists, depth: usize) -> Result<Vec<String>, String> {
    if let Some(name) = text.strip_prefix('@') {
        let Some(list) = lists.get(name) else {
            return Err(format!("there is no list `{name}`"));
        };
        if depth >= LIST_DEPTH {
            return Err(format!("the list `{name}` contains itself"));
        }
        let mut all = Vec::new();
        for entry in list {
            all.extend(alternatives(entry, lists, depth + 1)?);
            few_enough(all.len())?;
        }
        return if all.is_empty() {
            Err(format!("the list `{name}` is empty, so this would never match"))
        } else {
            Ok(all)
        };
    }
    let mut all = vec![String::new()];
    expand_braces(text, &mut all, 0)?;
    if all.iter().any(String::is_empty) {
        Err("an empty alternative would match an empty word only".into())
    } else {
        Ok(all)
    }
}

/// Appends every expansion of `text` to every string in `all`.
pub(super) fn expand_braces(text: &str, all: &mut Vec<String>, depth: usize) -> Result<(), String> {
    if depth > BRACE_DEPTH {
        return Err("too many braces".into());
    }
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                let (_, next) = characters.next().ok_or("a backslash needs something after it")?;
                append(all, &format!("\\{next}"));
            }
            '{' => {
                let inside = text.get(at + 1..).unwrap_or_default();
                let end = closing(inside).ok_or("a `{` without its `}`")?;
                let (choices, after) = inside.split_at(end);
                let mut longer = Vec::new();
                for choice in choices_of(choices) {
                    let mut copies = all.clone();
                    expand_braces(choice, &mut copies, depth + 1)?;
                    longer.append(&mut copies);
                    few_enough(longer.len())?;
                }
                *all = longer;
                return expand_braces(after.get(1..).unwrap_or_default(), all, depth + 1);
            }
            '}' => return Err("a `}` without its `{`".into()),
            '|' => append(all, "\\|"),
            _ => append(all, character.encode_utf8(&mut [0; 4])),
        }
    }
    Ok(())
}

fn few_enough(count: usize) -> Result<(), String> {
    if count > MOST_ALTERNATIVES {
        Err(format!("more than {MOST_ALTERNATIVES} alternatives"))
    } else {
        Ok(())
    }
}

pub(super) fn append(all: &mut [String], text: &str) {
    for one in all {
        one.push_str(text);
    }
}

/// Where the brace that was opened before `text` closes.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut plain = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if plain => plain = false,
            b'\\' => plain = true,
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The parts between commas that stand in no inner braces.
fn choices_of(text: &str) -> Vec<&str> {
    let mut choices = Vec::new();
    let (mut start, mut depth, mut plain) = (0, 0_usize, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if plain => plain = false,
            b'\\' => plain = true,
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                choices.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    choices.push(text.get(start..).unwrap_or_default());
    choices
}

/// A list may name lists, but not forever.
const LIST_DEPTH: usize = 8;

/// More alternatives than anybody writes by hand.
const MOST_ALTERNATIVES: usize = 2000;

/// Braces in one word, in or after one another.
const BRACE_DEPTH: usize = 16;
