//! Values on the lines below their name: heredocs, block scalars of YAML, strings over several lines, lines that go on after a
//! backslash, strings and the content of elements on a line of their own.

use super::assignment::Context;
use super::blocks::{Begun, Block, Part};
use super::expected::{Expected, only_word};
use super::found::Hit;
use super::lines::{is_real, string_or_word};
use super::names::{Name, Promise};
use super::reading::{Quote, after_spaces, at, closing_quote, opening_quote};
use super::sure::is_given;
use super::values::{Form, Makeup, is_secret, is_slug};
use super::{chosen, vocabulary};

/// What the lines below a name may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Below {
    name: Name,
    pub kind: &'static str,
    way: Way,
    /// So many empty lines may still come first.
    left: u8,
    seen: bool,
}

/// How the value is brought to the next line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// `<<EOT`, `"""`: lines as they are.
    Text,
    /// `|`, `>-`: lines deeper than this.
    Scalar(usize),
    /// A word or a string after a backslash.
    Continued(Form),
    /// A string, and nothing else on its line.
    Quoted,
    /// `<password>`
    Element,
}

/// What begins below a line that ends with the name and a sign.
pub fn look(context: &Context<'_>) -> Begun {
    let Some(way) = way(context) else { return Begun::Nothing };
    let (name, kind) = (context.named.name, context.kind());
    let left = if matches!(way, Way::Text | Way::Scalar(_)) { 2 } else { 0 };
    Begun::Block(Block::Expected(Expected::Below(Below { name, kind, way, left, seen: false })))
}

fn way(context: &Context<'_>) -> Option<Way> {
    let line = context.line();
    let from = context.operator_at;
    let signs = line.get(from..)?.iter().take(2).take_while(|byte| b"=:>".contains(byte)).count();
    let rest = line.get(after_spaces(line, from + signs)..)?.trim_ascii_end();
    // Nearly always there is more on the line, and it begins like nothing of this.
    if !matches!(at(rest, 0), 0 | b'<' | b'|' | b'>' | b'"' | b'\'' | b'`' | b'\\' | b'(' | b'$')
        && rest.len() > 5
        && !matches!(at(rest, 0), b'!' | b'&')
    {
        return None;
    }
    match line.get(from..from + signs)? {
        b"" => {
            (context.named.dashes > 0 && rest == b"\\").then_some(Way::Continued(Form::Argument))
        }
        b">" => (is_tag(context) && rest.is_empty()).then_some(Way::Element),
        b"=" | b":" | b"=>" | b":=" if is_text(rest) => Some(Way::Text),
        b"=" | b":" | b":=" if rest == b"\\" => Some(Way::Continued(Form::Spaced)),
        b":" if is_scalar(rest) => Some(Way::Scalar(after_spaces(line, 0))),
        b"=" | b":" | b"=>" | b":=" if matches!(rest, b"" | b"(") => Some(Way::Quoted),
        _ => None,
    }
}

/// The line has nothing before the tag: `template <Password>` is code.
fn is_tag(context: &Context<'_>) -> bool {
    let before = context.line().get(..context.named.start).unwrap_or_default();
    context.is_element() && before.trim_ascii_start().starts_with(b"<")
}

/// `<<EOT`, `<<-EOT`, `<<~EOT`, `<<<EOT`, `$(cat <<'EOF'`, `"""`, a lone backtick; and nothing behind it.
fn is_text(rest: &[u8]) -> bool {
    let quotes = [&b"\"\"\""[..], b"'''", b"`"];
    let opened = quotes.iter().find_map(|quotes| rest.strip_suffix(*quotes));
    if let Some(prefix) = opened {
        return prefix.len() <= 2 && prefix.iter().all(u8::is_ascii_alphabetic);
    }
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    is_heredoc(rest.strip_prefix(b"$(cat ").unwrap_or(rest))
}

fn is_heredoc(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"<<") else { return false };
    let rest = rest.strip_prefix(b"-").or(rest.strip_prefix(b"~")).unwrap_or(rest);
    let rest = rest.strip_prefix(b"<").unwrap_or(rest).trim_ascii_start();
    let tag = rest.iter().skip_while(|byte| b"'\"".contains(byte));
    let length = tag.clone().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
    let length = length.count();
    tag.clone().next().is_some_and(u8::is_ascii_alphabetic)
        && (2..33).contains(&length)
        && tag.skip(length).all(|byte| b"'\"".contains(byte))
}

/// `|`, `>-`, `|2+`, with an anchor or a type before it and a comment behind it.
fn is_scalar(rest: &[u8]) -> bool {
    let comment = rest.windows(2).position(|pair| pair == b" #").unwrap_or(rest.len());
    let text = rest.get(..comment).unwrap_or_default().trim_ascii_end();
    let header = text.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    // What is under `!vault` is known by its first line.
    let marked = header.len() == text.len() || text.starts_with(b"!!") || text.starts_with(b"&");
    let (first, signs) = header.split_first().unwrap_or((&0, b""));
    let is_sign = |byte: &u8| matches!(byte, b'+' | b'-' | b'1'..=b'9');
    marked && matches!(first, b'|' | b'>') && signs.len() <= 2 && signs.iter().all(is_sign)
}

impl Below {
    /// What the next line is.
    pub fn line(&mut self, line: &[u8]) -> Part {
        if line.trim_ascii().is_empty() && self.left > 0 && !self.seen {
            self.left -= 1;
            return Part::Nothing;
        }
        if std::mem::replace(&mut self.seen, true) {
            return if self.goes_on(line) { Part::Whole } else { Part::Over };
        }
        self.first(line).map_or(Part::Over, |(from, to)| Part::Piece(from, to))
    }

    /// A long one has several lines.
    fn goes_on(&self, line: &[u8]) -> bool {
        let text = line.trim_ascii();
        let lines = matches!(self.way, Way::Text | Way::Scalar(_));
        let random = text.len() >= 32 && Makeup::of(text).is_random();
        lines && random && is_secret(text, self.name, Form::Quoted)
    }

    fn first(&self, line: &[u8]) -> Option<(usize, usize)> {
        let start = after_spaces(line, 0);
        match self.way {
            Way::Scalar(indent) if start <= indent => None,
            Way::Text | Way::Scalar(_) => {
                let text = line.get(start..)?.trim_ascii_end();
                let ends = [&b"\"\"\""[..], b"'''", b"`"];
                let text = ends.iter().find_map(|end| text.strip_suffix(*end)).unwrap_or(text);
                self.is_value(text).then_some((start, start + text.len()))
            }
            Way::Continued(form) => self.continued(line, start, form),
            Way::Quoted => {
                let quote = opening_quote(line, start)?;
                let from = start + quote.length();
                let to = closing_quote(line, from, quote)?;
                let rest = line.get(to + quote.length()..)?;
                let alone = rest.iter().all(|byte| b" \t\r,;)".contains(byte));
                let text = line.get(from..to)?;
                // `'PROXY_PASSWORD': ↵ 'PROXY_PASSWORD_value'`, as tests have it.
                let repeats = text.windows(5).any(|part| part.eq_ignore_ascii_case(b"passw"));
                (alone && !repeats && self.is_value(text)).then_some((from, to))
            }
            Way::Element => {
                let (from, to) = only_word(line)?;
                let text = line.get(from..to)?;
                let odd = text.iter().any(|byte| !byte.is_ascii_alphabetic());
                (odd && is_secret(text, self.name, Form::Quoted)).then_some((from, to))
            }
        }
    }

    fn continued(&self, line: &[u8], start: usize, form: Form) -> Option<(usize, usize)> {
        let quote = opening_quote(line, start).map_or(0, Quote::length);
        let (from, to) = string_or_word(line, start);
        let rest = line.get(to + quote..)?.trim_ascii();
        let form = if quote > 0 { Form::Quoted } else { form };
        let value = line.get(from..to)?;
        let chosen = chosen::is_no_name(value) && is_given(value, self.name);
        let ended = matches!(rest, b"" | b"\\");
        (ended && (chosen || is_secret(value, self.name, form))).then_some((from, to))
    }

    /// Here it is a value and nothing else, so words will do for a password.
    fn is_value(&self, text: &[u8]) -> bool {
        let name = self.name;
        let password = name.promise == Promise::Password && name.last;
        // A word with a capital may be the label of a field.
        let words = chosen::is_joined(text) || chosen::is_slashed(text);
        let data = self.way != Way::Quoted && name.capitals && !text.contains(&b' ');
        // What a machine made has a number; what else is in quotes may be a path in a document.
        let made = name.promise != Promise::Secret || text.iter().any(u8::is_ascii_digit);
        // `some-reference-1`
        let slug = self.way != Way::Quoted && is_slug(text);
        let plain = slug && !text.iter().any(u8::is_ascii_uppercase);
        let form = if plain { Form::Plain } else { Form::Quoted };
        if text.starts_with(b"$ANSIBLE_VAULT;") {
            return false;
        }
        password && (words && !plain || data) && is_given(text, name)
            || made && is_secret(text, name, form)
    }
}

/// `chpasswd <<EOF`: users and their passwords on the next lines.
pub fn users(hit: &Hit<'_>) -> Begun {
    let heredoc = hit.line.windows(2).position(|pair| pair == b"<<");
    let tag = heredoc.and_then(|place| hit.line.get(place..)).unwrap_or_default();
    let tag = tag.split(|byte| matches!(byte, b' ' | b'|' | b'>')).next().unwrap_or_default();
    if hit.rest().starts_with(b"chpasswd") && is_heredoc(tag.trim_ascii_end()) {
        return Begun::Block(Block::Expected(Expected::Users));
    }
    Begun::Nothing
}

/// `ftp -n host <<EOF`: the login is on one of the next lines.
pub fn transfer(hit: &Hit<'_>) -> Begun {
    let heredoc = hit.line.windows(2).rposition(|pair| pair == b"<<");
    let tag = heredoc.and_then(|place| hit.line.get(place..)).unwrap_or_default();
    if is_heredoc(tag.trim_ascii_end()) {
        return Begun::Block(Block::Expected(Expected::Transfer { left: 4 }));
    }
    Begun::Nothing
}

/// `user name password`
pub fn transfer_login(line: &[u8]) -> Option<(usize, usize)> {
    let rest = line.trim_ascii_start().strip_prefix(b"user ")?;
    let from = line.len() - rest.len();
    let space = from + rest.trim_ascii_end().iter().rposition(|byte| *byte == b' ')?;
    let text = line.get(space + 1..)?.trim_ascii_end();
    is_real(text).then_some((space + 1, space + 1 + text.len()))
}

/// `user:password`
pub fn user(line: &[u8]) -> Part {
    let Some((start, end)) = only_word(line) else { return Part::Over };
    let text = line.get(start..end).unwrap_or_default();
    let is_user = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    let user = text.iter().take_while(|byte| is_user(byte)).count();
    let password = text.get(user + 1..).unwrap_or_default();
    if user == 0 || at(text, user) != b':' {
        return Part::Over;
    }
    if is_real(password) && !vocabulary::is_placeholder(password) {
        return Part::Piece(start + user + 1, end);
    }
    Part::Nothing
}
