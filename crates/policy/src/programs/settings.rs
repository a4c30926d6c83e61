//! Settings given on the command line: `git -c core.pager=…`, `ssh -o ProxyCommand=…`.

use bstr::{BStr, BString, ByteSlice};

use super::effects::{Sink, is_one_of, may_execute};
use super::names::matches;
use super::options::tail;
use super::table;
use crate::word::{Dynamic, Word};

/// `name=value`, or `name value` in one word.
pub fn pair(sink: &mut Sink<'_>, name: &str, word: &Word, option: &BStr) {
    let text = word.prefix();
    match text.find_byteset(b"= ") {
        Some(at) => {
            let key = text.get(..at).unwrap_or_default();
            let value = unquoted(tail(word, at + 1));
            apply(sink, name, BStr::new(key), &value, option);
        }
        None if word.as_literal().is_some() => {
            // Without a value it is switched on.
            apply(sink, name, text, &Word::literal("true"), option);
        }
        None => sink.executes(option, "which setting it changes is not known"),
    }
}

/// `name=VARIABLE`: the value is in the environment.
pub fn from_variable(sink: &mut Sink<'_>, name: &str, word: &Word, option: &BStr) {
    let text = word.prefix();
    let at = text.find_byte(b'=').unwrap_or(text.len());
    let written = tail(word, at + 1).shown().to_owned();
    let value = Word::Dynamic(Box::new(Dynamic { written, ..Dynamic::default() }));
    let key = text.get(..at).unwrap_or_default();
    apply(sink, name, BStr::new(key), &value, option);
}

pub fn apply(sink: &mut Sink<'_>, name: &str, key: &BStr, value: &Word, option: &BStr) {
    let key = BString::from(key.trim_ascii().to_ascii_lowercase());
    let found = table::settings().iter().find(|row| {
        row.table == name && row.keys.iter().any(|pattern| matches(pattern.as_bytes(), &key))
    });
    let Some(row) = found else {
        return;
    };
    if is_one_of(value, &row.unless) {
        return;
    }
    if let Some(reason) = &row.executes
        && may_execute(Some(value), &row.unless, &row.only, Some(&row.value))
    {
        let mut shown = option.to_owned();
        if shown != key {
            shown.push(b' ');
            shown.extend_from_slice(&key);
        }
        sink.executes(shown.as_bstr(), reason);
    }
    sink.apply(&row.value, value, &[], option);
}

fn unquoted(value: Word) -> Word {
    let Some(text) = value.as_literal() else {
        return value;
    };
    let text = text.trim_ascii();
    let inner = text
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""))
        .or_else(|| text.strip_prefix(b"'").and_then(|rest| rest.strip_suffix(b"'")));
    match inner {
        Some(inner) => Word::literal(inner),
        None => value,
    }
}
