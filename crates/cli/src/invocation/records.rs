//! The verbs about what was recorded, as data: `undo`, `redo`, `log`, `diff`, `commit`, `discard`.

use bstr::{BString, ByteSlice};
use exacta::records::{Options, RecordId, Turn, Which};

use super::manage::Given;

#[derive(Debug)]
pub enum RecordVerb {
    /// `exacta undo [ID | --last N] [--force] [--dry-run]`, `exacta redo …`
    Turn {
        turn: Turn,
        which: Which,
        options: Options,
    },
    /// `exacta log [--limit N]`
    Log {
        limit: Option<usize>,
    },
    /// `exacta log --ids`, for completions.
    Ids,
    /// `exacta diff [ID]`
    Diff(Option<RecordId>),
    Commit(RecordId),
    Discard(RecordId),
}

pub fn parse(name: &str, given: &Given) -> Result<RecordVerb, String> {
    let needed = || id(name, given)?.ok_or(format!("{name} needs an id: exacta {name} ID"));
    Ok(match name {
        "undo" => turn(name, Turn::Undo, given)?,
        "redo" => turn(name, Turn::Redo, given)?,
        "log" => {
            given.no_words(name)?;
            let limit = given.value("limit").map(|text| count("limit", &text)).transpose()?;
            if given.has("ids") { RecordVerb::Ids } else { RecordVerb::Log { limit } }
        }
        "diff" => RecordVerb::Diff(id(name, given)?),
        "commit" => RecordVerb::Commit(needed()?),
        _ => RecordVerb::Discard(needed()?),
    })
}

fn turn(name: &str, turn: Turn, given: &Given) -> Result<RecordVerb, String> {
    let last = given.value("last").map(|text| count("last", &text)).transpose()?;
    let which = match (id(name, given)?, last) {
        (Some(_), Some(_)) => return Err(format!("{name} takes an id or --last, not both")),
        (Some(id), None) => Which::These(vec![id]),
        (None, last) => Which::Last(last.unwrap_or(1)),
    };
    let options = Options { force: given.has("force"), dry_run: given.has("dry-run") };
    Ok(RecordVerb::Turn { turn, which, options })
}

fn id(name: &str, given: &Given) -> Result<Option<RecordId>, String> {
    match given.words.as_slice() {
        [] => Ok(None),
        [word] => number(word).map(Some),
        [_, more, ..] => Err(format!("{name} takes one id, and no {more}")),
    }
}

/// As it is printed, with or without the sign and the zeros of its file.
fn number(word: &BString) -> Result<RecordId, String> {
    let digits = word.strip_prefix(b"#").unwrap_or(word);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let parsed = digits.to_str().ok().filter(|_| is_number).and_then(|text| text.parse().ok());
    parsed.map(RecordId).ok_or_else(|| format!("not an id: {word} (exacta log shows them)"))
}

fn count(option: &str, text: &std::ffi::OsStr) -> Result<usize, String> {
    let parsed = text.to_str().and_then(|text| text.parse().ok()).filter(|count| *count > 0);
    parsed.ok_or_else(|| format!("--{option} takes a number from 1 on, not {}", text.display()))
}
