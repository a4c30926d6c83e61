//! Values given to names that promise a secret, in whatever notation: shells, YAML, JSON (also JSON within JSON), TOML, INI,
//! XML, code, URLs, arguments of programs, SQL.

use bstr::ByteSlice;

use super::around::{after_wrapper, is_lookup};
use super::blocks::Begun;
use super::found::{Found, Hit, Memory};
use super::names::{self, Name, Promise};
use super::naming::{Named, after_bracket, classify, extent, is_worth_it};
use super::reading::{
    Quote, Stops, after_escapes, after_spaces, at, closing_quote, opening_quote, unquoted_end,
};
use super::sure::is_given;
use super::values::{self, Form, is_secret};
use super::{
    announced, below, chosen, code, commands, devices, forms, headers, inserts, logins, prompts,
    siblings, spaced,
};

pub fn look(hit: &Hit<'_>, memory: &mut Memory, found: &mut Found<'_>) -> Begun {
    if let begun @ Begun::Block(_) = commands::look(hit, memory, found) {
        return begun;
    }
    let (start, end) = extent(hit.line, hit.at);
    // Several hints in one name: once is enough.
    if !memory.is_new_name(hit.absolute(end)) {
        return Begun::Nothing;
    }
    if at(hit.line, end) == b'\t' && headers::look_for_jar(hit, found) {
        return Begun::Nothing;
    }
    let quote = opening_quote(hit.line, end);
    let behind = quote.map_or(end, |quote| end + quote.length());
    let behind = after_bracket(hit.line, after_escapes(hit.line, behind));
    let operator_at = after_spaces(hit.line, behind);
    if !is_worth_it(hit.line, start, behind, operator_at) {
        return Begun::Nothing;
    }
    let Some(named) = classify(hit.line, start, end, quote) else {
        if hit.line.get(start..end).is_some_and(|name| name.eq_ignore_ascii_case(b"keyname")) {
            memory.remember_name(hit.absolute(end), KEY_BESIDE);
        }
        if let Some((from, to)) = devices::secret(hit, (start, end), memory) {
            found.add(from, to, "password");
        }
        return Begun::Nothing;
    };
    let context = Context { hit, named, quote, behind, operator_at };
    let login = named.name.kind == "credential"
        || hit.line.get(..named.start).is_some_and(|before| before.ends_with(b"/"));
    if login && quote.is_none() && logins::look(hit, end, found) {
        return Begun::Nothing;
    }
    if !context.assigned(memory, found) {
        let made = hit.line.get(start..end) == Some(b"random_password");
        memory.remember_name(hit.absolute(end), if made { MADE } else { named.name });
    }
    announced::look(&context, found)
}

/// `"type": "random_password", … "result": "…"`, as the state of Terraform keeps what it has made.
const MADE: Name =
    Name { promise: Promise::Password, kind: "generated-password", capitals: true, last: true };

/// `{"keyName": "key1", … "value": "…"}`, as a cloud lists the keys of an account.
const KEY_BESIDE: Name =
    Name { promise: Promise::Perhaps, kind: "api-key", capitals: false, last: true };

/// `value:` or `value=` after a line or an attribute that gave the name.
pub fn look_for_value(hit: &Hit<'_>, memory: &mut Memory, found: &mut Found<'_>) -> Begun {
    // `variable "db_password" { default = "…" }`: first on its line.
    let front = hit.line.get(..hit.at).unwrap_or_default();
    let default = hit.rest().starts_with(b"default");
    if default && !front.iter().all(|byte| b" \t\"'{".contains(byte)) {
        return Begun::Nothing;
    }
    let (start, end) = extent(hit.line, hit.at);
    let word = hit.line.get(start..end).unwrap_or_default();
    let result = word == b"result";
    let value = word.to_ascii_lowercase().ends_with(b"value");
    if !default && !value && !result || default && word != b"default" {
        return Begun::Nothing;
    }
    if !result && siblings::look(hit, end, found) {
        return Begun::Nothing;
    }
    let Some(name) = memory.name_near(hit.absolute(start)) else {
        return Begun::Nothing;
    };
    if result && name.kind != MADE.kind {
        return Begun::Nothing;
    }
    if code::is_of_digest(hit.line.get(..start).unwrap_or_default(), word) {
        return Begun::Nothing;
    }
    // Who writes `name:` and `value:` writes data, as the variables of an environment are.
    let before = hit.line.get(..start).unwrap_or_default().trim_ascii_end();
    let alone = before.iter().all(|byte| b" -{\"'".contains(byte)) || before.ends_with(b",");
    let field = alone && word.eq_ignore_ascii_case(b"value")
        || word.eq_ignore_ascii_case(b"parametervalue");
    let name = Name { capitals: name.capitals || field, ..name };
    let quote = opening_quote(hit.line, end);
    let behind = quote.map_or(end, |quote| end + quote.length());
    let behind = after_escapes(hit.line, behind);
    let operator_at = after_spaces(hit.line, behind);
    // `--name /db/password --value …`
    let dashes = word.iter().take_while(|byte| **byte == b'-').count();
    let named = Named { start, end, name, dashes, in_query: false, quoted: quote.is_some() };
    let context = Context { hit, named, quote, behind, operator_at };
    if context.assigned(memory, found) {
        memory.forget_name();
    }
    if name.promise == Promise::Perhaps { Begun::Nothing } else { below::look(&context) }
}

pub struct Context<'a> {
    pub hit: &'a Hit<'a>,
    pub named: Named,
    pub quote: Option<Quote>,
    /// The first place after the name and its quote.
    pub behind: usize,
    pub operator_at: usize,
}

impl Context<'_> {
    pub fn line(&self) -> &[u8] {
        self.hit.line
    }

    /// The name as it is written.
    fn text(&self) -> &[u8] {
        self.line().get(self.named.start..self.named.end).unwrap_or_default()
    }

    /// Whose secret it is if the name says so, else what it promises.
    pub fn kind(&self) -> &'static str {
        names::issuer(self.text()).unwrap_or(self.named.name.kind)
    }

    /// Finds the operator, then the value. False: nothing is given to the name here.
    fn assigned(&self, memory: &Memory, found: &mut Found<'_>) -> bool {
        let line = self.line();
        let spaced = self.operator_at > self.behind;
        let next = at(line, self.operator_at + 1);
        if forms::look_for_default(self, found) || inserts::look(self, found) {
            return true;
        }
        if let Some(place) = forms::value_at(self) {
            self.value(place, Form::Plain, found);
            return true;
        }
        match at(line, self.operator_at) {
            b'=' => self.after_equals(spaced, found),
            b':' if next == b':' || self.is_verdict() => return false,
            b':' if next == b'=' => self.value(self.operator_at + 2, Form::Spaced, found),
            b':' if self.quote.is_none() && code::is_selector(line, self.operator_at) => {
                return false;
            }
            b':' if self.is_image() => return false,
            b':' => self.after_colon(self.operator_at + 1, found),
            b'?' | b'!' if next == b':' => self.after_colon(self.operator_at + 2, found),
            b',' if self.quote.is_some() => return self.argument(found),
            b',' => return self.first_of_two(found),
            b'>' if self.quote.is_some() || self.is_element() => {
                self.content(self.operator_at, found);
            }
            b'|' if spaced => self.cell(self.operator_at + 1, found),
            0xe2 if spaced
                && line
                    .get(self.operator_at..)
                    .is_some_and(|rest| rest.starts_with("│".as_bytes())) =>
            {
                self.cell(self.operator_at + 3, found);
            }
            b'[' if next == b']' || next.is_ascii_digit() => self.after_array(found),
            _ if self.is_element() => {
                let close =
                    line.iter().skip(self.operator_at).take(200).position(|byte| *byte == b'>');
                if let Some(close) = close {
                    self.content(self.operator_at + close, found);
                }
            }
            _ if (spaced || at(line, self.operator_at) == b'[') && prompts::look(self, found) => {}
            _ if spaced || at(line, self.operator_at) == b'(' => {
                return spaced::look(self, memory, found);
            }
            _ => return false,
        }
        true
    }

    /// `key, err := hex.DecodeString("…")`, as Go has it.
    fn first_of_two(&self, found: &mut Found<'_>) -> bool {
        let rest = self.line().get(self.operator_at..).unwrap_or_default();
        let ways = [&b", err := "[..], b", _ := ", b", err = ", b", _ = ", b", ok := "];
        let Some(way) = ways.iter().find(|way| rest.starts_with(way)) else { return false };
        self.value(self.operator_at + way.len(), Form::Spaced, found);
        true
    }

    /// `char password[32] = "…"`
    fn after_array(&self, found: &mut Found<'_>) {
        let line = self.line();
        let digits =
            line.iter().skip(self.operator_at + 1).take_while(|byte| byte.is_ascii_digit());
        let close = self.operator_at + 1 + digits.take(8).count();
        let equals = after_spaces(line, close + 1);
        if at(line, close) == b']' && at(line, equals) == b'=' {
            self.value(equals + 1, Form::Spaced, found);
        }
    }

    /// The next cell of a table, or the one after it where that only names a type.
    fn cell(&self, from: usize, found: &mut Found<'_>) {
        let line = self.line();
        // `{{ .Values.password | b64enc }}`: no table, a template.
        let before = line.get(..self.named.start).unwrap_or_default();
        let of_template = |open: &[u8], close: &[u8]| before.rfind(open) > before.rfind(close);
        if of_template(b"{{", b"}}") || of_template(b"{%", b"%}") || of_template(b"<%", b"%>") {
            return;
        }
        let start = after_spaces(line, from);
        // `'new-password' | 'one-time-code'`: one of several strings, and no table.
        let table = line.trim_ascii_start().starts_with(b"|");
        if self.quote.is_some() && !table && opening_quote(line, start).is_some() {
            return;
        }
        let typed = ["string ", "secret ", "str ", "text ", "plain "]
            .iter()
            .find(|kind| line.get(start..).is_some_and(|rest| rest.starts_with(kind.as_bytes())));
        let bar = typed.map(|kind| after_spaces(line, start + kind.len()));
        let from = bar.filter(|bar| at(line, *bar) == b'|').map_or(from, |bar| bar + 1);
        let start = after_spaces(line, from);
        let end = unquoted_end(line, start, Stops::Word);
        let value = line.get(start..end).unwrap_or_default();
        let rest = line.get(end..).unwrap_or_default().trim_ascii();
        let ended = rest.is_empty() || rest.starts_with(b"|") || rest.starts_with("│".as_bytes());
        if ended && chosen::is_mixed(value) && is_secret(value, self.named.name, Form::Argument) {
            found.add(start, end, self.kind());
            return;
        }
        self.value(from, Form::Amid, found);
    }

    /// `<password>`
    pub fn is_element(&self) -> bool {
        let before = self.line().get(..self.named.start).unwrap_or_default();
        let tag = before
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b':')
            .count();
        before.len().checked_sub(tag + 1).is_some_and(|place| at(self.line(), place) == b'<')
    }

    /// What is between `>` and `<`.
    fn content(&self, bracket: usize, found: &mut Found<'_>) {
        let line = self.line();
        if bracket.checked_sub(1).is_some_and(|before| at(line, before) == b'/') {
            return;
        }
        let start = after_spaces(line, bracket + 1);
        let start = if line.get(start..).is_some_and(|rest| rest.starts_with(b"<![CDATA[")) {
            start + 9
        } else {
            start
        };
        let length = line.iter().skip(start).position(|byte| matches!(byte, b'<' | b']'));
        // Without an end tag there is nothing but the rest of the line.
        let Some(length) = length else { return };
        // `<user>:<password>@<host>`: nothing is ended here, the next gap begins.
        let behind = line.get(start + length..).unwrap_or_default();
        if behind.first() == Some(&b'<') && behind.get(1) != Some(&b'/') {
            return;
        }
        let text = line.get(start..start + length).unwrap_or_default().trim_ascii_end();
        // `<a href="…/token-1password">token-1password</a>`
        if self.text().ends_with(text) {
            return;
        }
        let chosen = self.is_chosen_in_quotes(text) && is_given(text, self.named.name);
        if chosen || is_secret(text, self.named.name, Form::Quoted) {
            found.add(start, start + text.len(), self.kind());
        }
    }

    fn after_equals(&self, spaced: bool, found: &mut Found<'_>) {
        let line = self.line();
        let mut from = self.operator_at + 1;
        let compared = at(line, from) == b'=';
        while matches!(at(line, from), b'=' | b'>') {
            from += 1;
        }
        let start = after_spaces(line, from);
        let form = if self.named.in_query {
            Form::Query
        } else if spaced || start > from || compared {
            Form::Spaced
        } else {
            Form::Plain
        };
        self.value(from, form, found);
    }

    fn after_colon(&self, from: usize, found: &mut Found<'_>) {
        let line = self.line();
        let start = after_spaces(line, from);
        // `password: str = "…"`
        if self.quote.is_none() && opening_quote(line, start).is_none() {
            let kind =
                line.iter().skip(start).take(60).take_while(|byte| {
                    byte.is_ascii_alphanumeric() || b"_&'<>[]|?.: ,".contains(byte)
                });
            let equals = start + kind.count();
            let typed = at(line, equals) == b'=' && at(line, equals.wrapping_sub(1)) == b' ';
            if typed && at(line, equals + 1) == b' ' {
                return self.value(equals + 1, Form::Spaced, found);
            }
        }
        self.value(from, Form::Plain, found);
    }

    /// `define('DB_PASSWORD', '…')`
    fn argument(&self, found: &mut Found<'_>) -> bool {
        let start = after_spaces(self.line(), self.operator_at + 1);
        let Some(quote) = opening_quote(self.line(), start) else { return false };
        let from = start + quote.length();
        let Some(end) = closing_quote(self.line(), from, quote) else { return false };
        let value = self.line().get(from..end).unwrap_or_default();
        let before = self.line().get(..self.named.start).unwrap_or_default();
        let before =
            before.get(..before.len().saturating_sub(1)).unwrap_or_default().trim_ascii_end();
        let called = matches!(before.last(), Some(b'(' | b'['));
        let odd = value.iter().any(|byte| !byte.is_ascii_alphabetic()) && !values::is_slug(value);
        let name = self.named.name;
        let words = chosen::is_chosen(value) || chosen::is_own_word(value);
        let variable = name.capitals && name.promise == Promise::Password && name.last;
        let given = variable && words && is_given(value, name);
        if called && (given || odd && is_secret(value, name, Form::Quoted)) {
            found.add(from, end, self.kind());
            return true;
        }
        false
    }

    /// The value in the quotes that open here.
    fn quoted_value(&self, start: usize, quote: Quote, form: Form, found: &mut Found<'_>) {
        let line = self.line();
        let inner = start + quote.length();
        let end = closing_quote(line, inner, quote);
        let end = end.unwrap_or_else(|| unquoted_end(line, inner, Stops::Word));
        let value = line.get(inner..end).unwrap_or_default();
        let name = self.named.name;
        let cased = value.iter().any(u8::is_ascii_uppercase);
        let constant = name.capitals && name.last && !self.is_ambiguous();
        let joined = (constant || (name.capitals || cased) && self.is_tight(form))
            && chosen::is_joined(value)
            && is_secret(value, name, Form::Argument);
        let behind = end + quote.length();
        let sure = self.is_sure(behind, form) || self.is_literal(start, behind, form);
        let literal = (sure || self.is_chosen_in_quotes(value)) && is_given(value, name);
        let session = name.promise == Promise::Secret
            && self.is_of_sessions()
            && chosen::is_joined(value)
            && is_given(value, name);
        let secret = joined || literal || session || is_secret(value, name, Form::Quoted);
        if secret && !is_lookup(line, start, end) && !code::is_key_id(self.text(), value) {
            found.add(inner, end, self.kind());
        }
    }

    /// The value from here, in quotes or not.
    pub fn value(&self, from: usize, form: Form, found: &mut Found<'_>) {
        let line = self.line();
        let start = after_escapes(line, after_spaces(line, after_escapes(line, from)));
        let start = after_wrapper(line, start);
        if let Some(quote) = opening_quote(line, start) {
            self.quoted_value(start, quote, form, found);
            return;
        }
        if let Some(length) = self.groups(start) {
            found.add(start, start + length, self.kind());
            return;
        }
        let end = unquoted_end(line, start, self.stops(form));
        let value = line.get(start..end).unwrap_or_default();
        let form_given = form;
        let sharp = self.sharpened(form, start, end);
        let capitals = self.named.name.capitals && !self.is_ambiguous();
        let form = if self.is_data(sharp, end) && chosen::is_joined(value)
            || capitals && self.is_tight(sharp) && chosen::is_compound(value)
            || self.may_be_mixed(sharp, start, end) && chosen::is_mixed(value)
        {
            Form::Argument
        } else {
            sharp
        };
        let sure = self.is_sure(end, form_given) || self.is_literal(start, end, sharp);
        let alone = self.is_chosen_alone(value, end, sharp);
        let literal = (sure || alone) && is_given(value, self.named.name);
        let secret = literal || is_secret(value, self.named.name, form);
        if secret && !code::is_key_id(self.text(), value) {
            let prefix = if value.starts_with(b"pass:") { 5 } else { 0 };
            found.add(start + prefix, end, self.kind());
        }
    }
}
