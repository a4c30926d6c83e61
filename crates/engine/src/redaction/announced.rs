//! Sentences and heads that say that a secret follows: `A temporary password is generated for root@localhost: …`, a line that
//! ends with the name and a colon, the head of a column.

use super::assignment::Context;
use super::blocks::{Begun, Block};
use super::expected::{Column, Expected, cells, listed};
use super::found::Found;
use super::names::Promise;
use super::reading::{after_spaces, at};
use super::spaced::{is_field, is_program};
use super::sure::is_given;
use super::values::{APPLICATION_PASSWORD, Form, Makeup, is_application_password, is_secret};
use super::{below, chosen};

/// How long a sentence may go on after the name.
const LONGEST: usize = 112;

/// What the next lines have, if this one announces something.
pub fn look(context: &Context<'_>, found: &mut Found<'_>) -> Begun {
    let line = context.hit.line;
    let name = context.named.name;
    let before = line.get(..context.named.start).unwrap_or_default();
    if before.ends_with(b"<key>") {
        let rest = line.get(context.named.end..).unwrap_or_default();
        let behind = after_spaces(line, context.named.end + b"</key>".len());
        if let Some((from, to)) = listed(line, behind, name) {
            found.add(from, to, context.kind());
        } else if rest.trim_ascii_end() == b"</key>" {
            return Begun::Block(Block::Expected(Expected::Listed(name)));
        }
        return Begun::Nothing;
    }
    if name.promise == Promise::Perhaps {
        return Begun::Nothing;
    }
    let rest = line.get(context.operator_at..).unwrap_or_default().trim_ascii_end();
    if rest == b"=>" && context.behind > context.named.end {
        return Begun::Block(Block::Expected(Expected::Dumped(name)));
    }
    if let Some(column) = column(context) {
        return Begun::Block(Block::Expected(Expected::Column(name, column)));
    }
    let sentence = context.operator_at > context.behind && rest.len() <= LONGEST
        || rest == b":" && at(line, context.named.start.saturating_sub(1)) == b' ';
    // Signs and pictures before the first word are no part of the sentence.
    let first = line.iter().find(|byte| byte.is_ascii_graphic()).copied().unwrap_or_default();
    // What is typed after a question is not shown.
    let asked = [&b"Enter "[..], b"Type ", b"Retype ", b"Confirm ", b"Repeat ", b"Verify "]
        .iter()
        .any(|one| line.trim_ascii_start().starts_with(one));
    let sentence = sentence && !asked && first.is_ascii_uppercase();
    if sentence && rest.ends_with(b":") && context.quote.is_none() {
        return Begun::Block(Block::Expected(Expected::Announced { name, left: 2 }));
    }
    below::look(context)
}

/// The name is all of a cell, and every cell of the line is a name.
fn column(context: &Context<'_>) -> Option<Column> {
    let line = context.hit.line;
    if !context.hit.begins || line.len() > 1024 {
        return None;
    }
    let bars = line.contains(&b'|');
    let separator = *[b'|', b'\t', b';', b','].iter().find(|one| line.contains(one))?;
    let is_head = |(start, end): (usize, usize)| {
        let cell = line.get(start..end).unwrap_or_default();
        let named = cell.first().is_some_and(u8::is_ascii_alphabetic) || bars && cell.is_empty();
        let sign = |byte: &u8| *byte == b'_' || bars && matches!(byte, b' ' | b'-');
        named && cell.iter().all(|byte| byte.is_ascii_alphanumeric() || sign(byte))
    };
    let number =
        cells(line, separator).position(|cell| cell == (context.named.start, context.named.end))?;
    let count = cells(line, separator).count();
    // Without bars nothing but the names may be there: `id,login,password`.
    let tight = bars || !line.trim_ascii_end().contains(&b' ');
    (count > 1 && tight && cells(line, separator).all(is_head)).then_some(Column {
        separator,
        number,
        count,
    })
}

/// `password is generated for root@localhost: …`: the last word, after a sentence that began with the name.
pub fn told(context: &Context<'_>, found: &mut Found<'_>) -> bool {
    let line = context.hit.line;
    let name = context.named.name;
    let text = line.get(context.operator_at..).unwrap_or_default().trim_ascii_end();
    if name.promise == Promise::Perhaps || context.quote.is_some() || text.len() > LONGEST + 64 {
        return false;
    }
    if !is_begun(text) || is_program(context) {
        return false;
    }
    if let Some(start) = text.len().checked_sub(APPLICATION_PASSWORD)
        && text.get(start..).is_some_and(is_application_password)
        && text.get(..start).is_some_and(|front| front.ends_with(b"is ") || front.ends_with(b": "))
    {
        found.add(context.operator_at + start, context.operator_at + text.len(), context.kind());
        return true;
    }
    let Some(space) = text.iter().rposition(|byte| *byte == b' ') else { return false };
    let (sentence, word) = text.split_at(space);
    let word = word.get(1..).unwrap_or_default();
    let verbs = [&b":"[..], b" is", b" to", b" was", b"is", b"was", b" =", b" as"];
    let ends = verbs.iter().any(|verb| sentence.ends_with(verb));
    let prose = sentence.len() <= LONGEST
        && sentence
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b" '@%.:_-()=`,/".contains(byte));
    let makeup = Makeup::of(word);
    let kinds = [makeup.lower, makeup.upper, makeup.digits, makeup.other];
    let kinds = kinds.iter().filter(|count| **count > 0).count();
    let prose = prose && word.iter().all(u8::is_ascii_graphic);
    let mail = word.contains(&b'@') && word.contains(&b'.');
    let strong = makeup.length >= 8 && kinds >= 3 && makeup.digits > 0 && makeup.changes >= 3
        || makeup.is_random()
        || chosen::is_no_name(word) && makeup.digits > 0
        || is_base32(word);
    let bracketed = word.ends_with(b")") || word.iter().any(|byte| b"(<>`\"".contains(byte));
    // `tF;7mb>xK!e`: with letters of both cases, a number and signs nobody takes it for anything else.
    let signed = kinds == 4 && strong && sentence.ends_with(b":") && at(word, 0) != b'<';
    if ends
        && prose
        && strong
        && !mail
        && !is_field(word)
        && (!bracketed || signed && is_secret(word, name, Form::Quoted))
        && (signed
            || is_secret(word, name, Form::Plain)
            || chosen::is_no_name(word) && is_given(word, name))
    {
        let start = context.operator_at + space + 1;
        found.add(start, start + word.len(), context.kind());
        return true;
    }
    false
}

/// The sentence goes on in a way that a value may end it: `is …`, `for root@localhost …`; or names a user, `PASSWORD kibana = …`.
fn is_begun(text: &[u8]) -> bool {
    let words = [
        "is",
        "is:",
        "was",
        "has",
        "for",
        "of",
        "to",
        "set",
        "on",
        "will",
        "generated",
        "assigned",
        "created",
        "changed",
    ];
    let first = text.split(|byte| *byte == b' ').next().unwrap_or_default();
    let mut all = text.split(|byte| *byte == b' ');
    let user = all.clone().count() == 3 && all.nth(1) == Some(b"=");
    user || first.starts_with(b"(") || words.iter().any(|word| word.as_bytes() == first)
}

/// As second factors are given.
fn is_base32(word: &[u8]) -> bool {
    let is = |byte: &u8| byte.is_ascii_uppercase() || matches!(byte, b'2'..=b'7');
    word.len() >= 16 && word.iter().all(is) && word.iter().any(u8::is_ascii_digit)
}
