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

pub(super) fn count(option: &str, text: &std::ffi::OsStr) -> Result<usize, String> {
    let parsed = text.to_str().and_then(|text| text.parse().ok()).filter(|count| *count > 0);
    parsed.ok_or_else(|| format!("--{option} takes a number from 1 on, not {}", text.display()))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::invocation::{Manage, What, parse};

    fn parsed(words: &[&str]) -> Result<What, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        parse(&words).map(|invocation| invocation.what)
    }

    #[test]
    fn records_by_id_or_by_number() {
        let which = |words: &[&str]| match parsed(words) {
            Ok(What::Manage(Manage::Records(RecordVerb::Turn { which, options, .. }))) => {
                (which, options.force, options.dry_run)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(which(&["undo"]), (Which::Last(1), false, false));
        assert_eq!(which(&["redo", "--last=3", "--force"]), (Which::Last(3), true, false));
        let these = Which::These(vec![RecordId(12)]);
        for id in ["12", "#12", "000000012"] {
            assert_eq!(which(&["undo", "--dry-run", id]), (these.clone(), false, true));
        }
        for wrong in [
            &["undo", "x"][..],
            &["undo", "1", "2"],
            &["undo", "1", "--last", "2"],
            &["undo", "--last", "0"],
            &["undo", "-1"],
            &["log", "5"],
            &["log", "--limit", "many"],
            &["commit"],
            &["discard"],
            &["diff", "--force"],
            &["completions"],
            &["completions", "tcsh"],
        ] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
