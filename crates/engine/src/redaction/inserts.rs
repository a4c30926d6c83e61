//! `INSERT INTO users (name, password) VALUES ('bob', '…')`: a column and its value in the same statement.

use super::assignment::Context;
use super::calls::argument;
use super::chosen;
use super::found::Found;
use super::names::Promise;
use super::reading::{at, closing_quote, opening_quote};
use super::sure::is_given;
use super::values::{Form, is_secret};

/// So far the names of columns may be from the statement's beginning, and the values from them.
const REACH: usize = 600;

/// The name is a column of a statement; its value is covered if it is on the same line.
pub fn look(context: &Context<'_>, found: &mut Found<'_>) -> bool {
    let line = context.line();
    let name = context.named.name;
    if name.promise == Promise::Perhaps || !matches!(at(line, context.operator_at), b',' | b')') {
        return false;
    }
    let before = line.get(..context.named.start).unwrap_or_default();
    let near = before.get(before.len().saturating_sub(REACH)..).unwrap_or_default();
    let Some(open) = near.iter().rposition(|byte| *byte == b'(') else { return false };
    if !has(near.get(..open).unwrap_or_default(), b"insert ") {
        return false;
    }
    let columns = near.get(open..).unwrap_or_default();
    let number = columns.split(|byte| *byte == b',').count();
    let rest = line.get(context.operator_at..).unwrap_or_default();
    let rest = rest.get(..REACH.min(rest.len())).unwrap_or_default();
    let values = rest.windows(6).position(|window| window.eq_ignore_ascii_case(b"values"));
    let Some(values) = values else { return false };
    let row = rest.iter().skip(values).position(|byte| *byte == b'(');
    let Some(row) = row else { return false };
    let from = context.operator_at + values + row + 1;
    let Some(place) = argument(line, from, number) else { return false };
    let Some(quote) = opening_quote(line, place) else { return false };
    let start = place + quote.length();
    let Some(end) = closing_quote(line, start, quote) else { return false };
    let text = line.get(start..end).unwrap_or_default();
    let chosen = name.promise == Promise::Password && chosen::is_chosen(text);
    if chosen && is_given(text, name) || is_secret(text, name, Form::Quoted) {
        found.add(start, end, context.kind());
        return true;
    }
    false
}

fn has(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}
