//! How languages write that a name has a value, other than with `=` and `:`: `password <- "…"`, `(setq password "…")`,
//! `.password("…")`, `val PASS by extra("…")`, `process.env.PASS || "…"`, `${PASS:-…}`.

use super::assignment::Context;
use super::chosen;
use super::found::Found;
use super::names::Promise;
use super::reading::{after_spaces, at, opening_quote};
use super::sure::is_given;
use super::values::{Form, is_secret};

/// Signs between a name and a string, for any name.
const SIGNS: &[&str] =
    &["<-", "?=", ":=", "||=", "by extra(", "as string =", "as string=", "by lazy {"];

/// Signs before what holds if a variable is not set: variables only, for messages are written like this too.
const OTHERWISE: &[&str] = &["||", "??", "or ", "?:", "//", "|>"];

/// What stands before the name where its string follows after a space.
const BEFORE: &[&[u8]] = &[
    b"(setq ",
    b"(def ",
    b"(defvar ",
    b"(defconst ",
    b"(defparameter ",
    b"(define ",
    b"set(",
    b"setq-default ",
    b":",
    b"(setenv \"",
    b"(defcustom ",
];

/// Where the value stands that such a sign gives to the name: a string, but for `?=`.
pub fn value_at(context: &Context<'_>) -> Option<usize> {
    let line = context.line();
    let from = context.operator_at;
    // Most names are followed by a plain sign, or stand in a sentence.
    match at(line, from) {
        b'<' | b'?' | b'|' | b'(' | b'{' | b',' | b'"' | b'\'' | b'/' => {}
        b'b' | b'a' | b'A' | b'o' if at(line, from + 2) == b' ' => {}
        b':' if at(line, from + 1) == b'=' => {}
        _ => return None,
    }
    let rest = line.get(from..)?;
    let rest = rest.get(..16.min(rest.len()))?;
    let starts = |sign: &str| {
        rest.get(..sign.len()).is_some_and(|text| text.eq_ignore_ascii_case(sign.as_bytes()))
    };
    let place = if let Some(sign) = SIGNS.iter().find(|sign| starts(sign)) {
        let place = after_spaces(line, from + sign.len());
        if *sign == "?=" && context.named.name.capitals {
            return Some(place);
        }
        place
    } else if is_variable(context) && context.quote.is_none() {
        let sign = OTHERWISE.iter().find(|sign| starts(sign));
        sign.map_or_else(|| string_at(context), |sign| Some(after_spaces(line, from + sign.len())))?
    } else {
        string_at(context)?
    };
    opening_quote(line, place).map(|_| place)
}

/// `DB_PASSWORD`, also with what it is taken from before it: `process.env.DB_PASSWORD`.
fn is_variable(context: &Context<'_>) -> bool {
    let name = context.line().get(context.named.start..context.named.end).unwrap_or_default();
    let last = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    !last.iter().any(u8::is_ascii_lowercase)
}

/// `name("…")`, `name "…"`, `{name, "…"}`, `{name, <<"…">>}`
fn string_at(context: &Context<'_>) -> Option<usize> {
    let line = context.line();
    let from = context.operator_at;
    let before = line.get(..context.named.start)?;
    match at(line, from) {
        b'(' | b'{' if is_set(context, before) => Some(after_spaces(line, from + 1)),
        b',' if before.ends_with(b"{") && context.quote.is_none() => {
            let place = after_spaces(line, from + 1);
            let binary = line.get(place..)?.starts_with(b"<<");
            Some(if binary { place + 2 } else { place })
        }
        // `dotnet user-secrets set "DbPassword" "…"`
        b'"' | b'\'' if before.windows(9).any(|window| window == b"rets set ") => Some(from),
        b'"' | b'\'' if context.quote.is_none() && from > context.behind => {
            let alone = before.iter().all(|byte| matches!(byte, b' ' | b'\t'));
            let quote = opening_quote(line, from)?;
            let close = super::reading::closing_quote(line, from + quote.length(), quote)?;
            let ended = line.get(close + 1..)?.trim_ascii().is_empty();
            let directive = alone && ended && context.named.name.promise == Promise::Password;
            (directive || BEFORE.iter().any(|one| before.ends_with(one))).then_some(from)
        }
        _ => None,
    }
}

/// `setPassword("…")`, `.password("…")`, `std::string password("…")`: not `checkPassword("…")`, nor a label's `password("…")`.
fn is_set(context: &Context<'_>, before: &[u8]) -> bool {
    let name = context.named;
    let text = context.line().get(name.start..name.end).unwrap_or_default();
    // A name with points has all of the chain before it: `db.setPassword`.
    let last = text.rsplit(|byte| *byte == b'.').next().unwrap_or_default().to_ascii_lowercase();
    let chained = last.len() < text.len() || before.ends_with(b".") || before.ends_with(b"->");
    let setter = last.starts_with(b"set") || last.starts_with(b"with") || last.starts_with(b"use");
    let short = matches!(&*last, b"password" | b"passwd" | b"pwd" | b"passphrase" | b"keypassword");
    let declared = [&b"string "[..], b"String ", b"str ", b"auto ", b"QString ", b"char "]
        .iter()
        .any(|kind| before.ends_with(kind));
    name.name.promise == Promise::Password && (setter || chained && short || declared)
}

/// `${DB_PASSWORD:-…}`, `${DB_PASSWORD:…}`: what holds if the variable is not set.
pub fn look_for_default(context: &Context<'_>, found: &mut Found<'_>) -> bool {
    let line = context.line();
    let name = context.named.name;
    let before = line.get(..context.named.start).unwrap_or_default();
    if !before.ends_with(b"${") || name.promise != Promise::Password {
        return false;
    }
    let rest = line.get(context.operator_at..).unwrap_or_default();
    let sign = rest.iter().take(2).take_while(|byte| b":-=".contains(byte)).count();
    let start = context.operator_at + sign;
    let length = rest.iter().skip(sign).take(128).position(|byte| *byte == b'}');
    let Some(length) = length.filter(|_| sign > 0) else { return false };
    let text = line.get(start..start + length).unwrap_or_default();
    let chosen = chosen::is_chosen(text) || chosen::is_own_word(text);
    if chosen && is_given(text, name) || is_secret(text, name, Form::Argument) {
        found.add(start, start + length, context.kind());
    }
    true
}
