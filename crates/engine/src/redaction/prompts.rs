//! Questions of programs and the answers that a terminal has shown: `AWS Secret Access Key [None]: …`, `[sudo] password for bob: …`,
//! `Unseal Key 3: …`.

use super::assignment::Context;
use super::chosen;
use super::found::{Found, Hit, Memory};
use super::lines::is_real;
use super::names::{PASSPHRASE, Promise, SECRET_ID};
use super::reading::{after_spaces, at, closing_quote, opening_quote};
use super::spaced::is_field;
use super::values::{Form, is_secret};

/// The line begins with words that end with the name: `Retype new password`. Not indented, and a capital first, which is how
/// programs ask and not how code is written.
pub fn begins(hit: &Hit<'_>, start: usize) -> bool {
    let front = hit.line.get(..start).unwrap_or_default();
    let front = front.strip_prefix(b"[sudo] ").unwrap_or(front);
    let owner = front.ends_with(b"'s ");
    let words = front.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b' ');
    let first = if front.is_empty() { at(hit.line, start) } else { at(front, 0) };
    let sudo = hit.line.starts_with(b"[sudo] ");
    hit.begins && start < 64 && (owner || sudo || words && first.is_ascii_uppercase())
}

/// What is asked for goes on after the name: `for bob:`, `[None]:`, `3:`.
pub fn look(context: &Context<'_>, found: &mut Found<'_>) -> bool {
    let line = context.hit.line;
    let mut name = context.named.name;
    if line.get(context.operator_at..).is_some_and(|rest| rest.starts_with(b"ID:")) {
        name.kind = SECRET_ID;
    }
    if name.promise == Promise::Perhaps || !begins(context.hit, context.named.start) {
        return false;
    }
    let Some(colon) = question_end(line, context.operator_at) else { return false };
    let start = after_spaces(line, colon + 1);
    let text = line.get(start..).unwrap_or_default().trim_ascii_end();
    let phrase = name.kind == PASSPHRASE && chosen::is_phrase(text, name);
    let form = if chosen::is_joined(text) { Form::Argument } else { Form::Plain };
    let other = text.contains(&b' ') || text.starts_with(b"\"") || is_field(text);
    let one = !other && is_secret(text, name, form);
    if start > colon + 1 && (phrase || one) {
        found.add(start, start + text.len(), context.kind());
        return true;
    }
    false
}

/// The colon that ends the question.
fn question_end(line: &[u8], from: usize) -> Option<usize> {
    let rest = line.get(from..)?;
    let rest = rest.get(..160.min(rest.len()))?;
    let number = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if (1..3).contains(&number) {
        return (at(rest, number) == b':').then_some(from + number);
    }
    if rest.starts_with(b"ID:") {
        return Some(from + 2);
    }
    let closing: &[u8] = match rest.first()? {
        b'[' => b"]:",
        b'(' => b"):",
        _ if rest.starts_with(b"for ") => b": ",
        _ => return None,
    };
    let end = rest.windows(2).position(|pair| pair == closing)?;
    Some(from + end + usize::from(closing != b": "))
}

/// `expect "password:"` and then `send "…\r"`: what a script answers for a person. The string begins at the end of the word.
pub fn dialog(hit: &Hit<'_>, length: usize, memory: &mut Memory, found: &mut Found<'_>) {
    let open = hit.at + length - 1;
    let Some(quote) = opening_quote(hit.line, open) else { return };
    let start = open + quote.length();
    let Some(end) = closing_quote(hit.line, start, quote) else { return };
    let text = hit.line.get(start..end).unwrap_or_default();
    if hit.rest().starts_with(b"expect") {
        // The first letter may be of either case, so that it is left out as a rule.
        let asks = [&b"assword"[..], b"assphrase"]
            .iter()
            .any(|word| text.windows(word.len()).any(|window| window == *word));
        memory.remember_question(asks.then(|| hit.absolute(end)));
        return;
    }
    let answer = text.strip_suffix(b"\\r").or(text.strip_suffix(b"\\n"));
    let answered = memory.answers(hit.absolute(hit.at));
    if let Some(answer) = answer.filter(|answer| answered && is_real(answer)) {
        found.add(start, start + answer.len(), "password");
    }
}
