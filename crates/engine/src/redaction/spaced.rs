//! Values with nothing but a space before them: arguments, `ENV NAME value`, SQL, netrc, directives of configuration files,
//! and sentences that give a password away.

use super::assignment::Context;
use super::code::is_key_id;
use super::found::{Found, Memory};
use super::lines::is_real;
use super::names::{PASSPHRASE, Promise};
use super::reading::{
    Stops, after_escapes, after_spaces, at, closing_quote, opening_quote, unquoted_end,
};
use super::sure::is_given;
use super::values::{Form, Makeup, is_secret};
use super::versions::{is_tag, is_version};
use super::{announced, chosen, devices, vocabulary};

/// True if a value was found.
pub fn look(context: &Context<'_>, memory: &Memory, found: &mut Found<'_>) -> bool {
    let line = context.hit.line;
    let named = &context.named;
    let Some(value) = Value::at(line, context.operator_at) else { return false };
    if is_class(line, named.start) {
        return false;
    }
    if let Some((start, end)) = devices::look(context, memory) {
        found.add(start, end, context.kind());
        return true;
    }
    let text = line.get(value.start..value.end).unwrap_or_default();
    let word = line.get(named.start..named.end).unwrap_or_default();
    let name = named.name;
    let accepted = if named.dashes > 0 {
        is_argument(line, &value, text, context)
    } else if context.quote.is_some() {
        false
    } else if is_set_by(line, named.start) {
        let chosen = name.promise == Promise::Password && chosen::is_chosen(text);
        chosen && is_given(text, name) || is_secret(text, name, Form::Argument)
    } else if let Some(typed) = declared(line, context.operator_at) {
        context.value(typed, Form::Spaced, found);
        return true;
    } else if value.quoted {
        let called = at(line, context.operator_at) == b'('
            && name.promise == Promise::Secret
            && Makeup::of(text).is_random();
        let wifi = name.kind == PASSPHRASE && word.to_ascii_lowercase().ends_with(b"psk");
        let rest = line.get(value.end + 1..).unwrap_or_default();
        let directive = name.promise == Promise::Secret
            && rest.trim_ascii_start().starts_with(b";")
            && Makeup::of(text).is_random();
        let sql = is_sql(line, word, context);
        sql && is_statement(line, named.start) && is_real(text)
            || (called || wifi || directive || sql) && is_secret(text, name, Form::Quoted)
    } else if memory.login_is_near(context.hit.absolute(named.start))
        && is_word(word, &["password", "passwd", "account"])
    {
        is_of_netrc(context, &value, text)
    } else if let Some(accepted) = is_configured(context, &value, text, word) {
        accepted
    } else if let Some((start, end)) = last_column(context) {
        found.add(start, end, context.kind());
        return true;
    } else {
        return said(context, &value, text, found) || announced::told(context, found);
    };
    let accepted = accepted && !is_key_id(word, text);
    if accepted {
        let prefix = if text.starts_with(b"pass:") { 5 } else { 0 };
        found.add(value.start + prefix, value.end, context.kind());
    }
    accepted
}

/// A line of a configuration file: a directive and its value, if it is one.
fn is_configured(context: &Context<'_>, value: &Value, text: &[u8], word: &[u8]) -> Option<bool> {
    let line = context.hit.line;
    let name = context.named.name;
    if !ends_line(line, value.end) {
        return None;
    }
    let password = name.promise == Promise::Password;
    let first = starts_line(line, context.named.start);
    if first && is_word(word, DIRECTIVES) {
        let chosen = password && chosen::is_chosen(text) && is_given(text, name);
        return Some(chosen || is_secret(text, name, Form::Argument));
    }
    // `auth_pass …`
    let joined = word.contains(&b'_') || word.contains(&b'-');
    if first && password && name.last && joined && chosen::is_no_name(text) {
        return Some(is_given(text, name));
    }
    None
}

/// `password …` after `machine …` and `login …`.
fn is_of_netrc(context: &Context<'_>, value: &Value, text: &[u8]) -> bool {
    let line = context.hit.line;
    let next = line.get(value.end..).unwrap_or_default().trim_ascii();
    let netrc = next.is_empty()
        || [&b"machine"[..], b"account", b"default", b"macdef", b"port ", b"#", b"protocol "]
            .iter()
            .any(|one| next.starts_with(one));
    netrc
        && at(line, context.operator_at) != b'('
        && !vocabulary::is_placeholder(text)
        && text.len() > 2
}

struct Value {
    start: usize,
    end: usize,
    quoted: bool,
}

impl Value {
    fn at(line: &[u8], place: usize) -> Option<Value> {
        let place = if at(line, place) == b'(' { place + 1 } else { place };
        let place = after_escapes(line, place);
        if let Some(quote) = opening_quote(line, place) {
            let start = place + quote.length();
            return closing_quote(line, start, quote).map(|end| Value { start, end, quoted: true });
        }
        let end = unquoted_end(line, place, Stops::Word);
        (end > place).then_some(Value { start: place, end, quoted: false })
    }
}

fn is_word(word: &[u8], list: &[&str]) -> bool {
    list.iter().any(|one| word.eq_ignore_ascii_case(one.as_bytes()))
}

/// `<div class="token operator1">`: names of styles, one after the other.
fn is_class(line: &[u8], start: usize) -> bool {
    let before = line.get(..start).unwrap_or_default();
    let open = before.iter().rposition(|byte| matches!(byte, b'"' | b'\''));
    let front = open.and_then(|open| before.get(..open)).unwrap_or_default();
    let front = front.strip_suffix(b"{").unwrap_or(front);
    front.ends_with(b"class=") || front.ends_with(b"className=")
}

/// Configuration files whose values follow a space.
#[rustfmt::skip]
const DIRECTIVES: &[&str] = &[
    "requirepass", "masterauth", "bindpw", "rootpw", "password", "passwd", "pass", "passphrase",
    "secret", "ldap_bind_password", "oldpassword", "auth-token", "auth",
];

fn starts_line(line: &[u8], start: usize) -> bool {
    line.get(..start).unwrap_or_default().iter().all(|byte| matches!(byte, b' ' | b'\t' | b'>'))
}

fn ends_line(line: &[u8], end: usize) -> bool {
    line.get(end..).unwrap_or_default().trim_ascii().is_empty()
}

/// `--password VALUE`; but `--password PASSWORD  what it is` is a line of help.
fn is_argument(line: &[u8], value: &Value, text: &[u8], context: &Context<'_>) -> bool {
    if text.starts_with(b"-") && !value.quoted || at(line, context.operator_at) == b'(' {
        return false;
    }
    let rest = line.get(value.end..).unwrap_or_default();
    let rest = if value.quoted { rest.get(1..).unwrap_or_default() } else { rest };
    let help = rest.starts_with(b"  ") || rest.starts_with(b"\t");
    let word = text.iter().all(u8::is_ascii_alphabetic);
    let rest = rest.trim_ascii_start();
    let ended = rest.is_empty()
        || matches!(rest.first(), Some(b'-' | b'|' | b'&' | b';' | b'>' | b'\\' | b'"' | b'\''));
    if word && !value.quoted && (help || !ended) {
        return false;
    }
    // `-pass source`, alone on its line: an option in a text of help, and what it takes.
    let alone = starts_line(line, context.named.start.saturating_sub(context.named.dashes));
    if word && !value.quoted && alone && rest.is_empty() {
        return false;
    }
    let short = context.named.name.promise == Promise::Password
        && text.len() >= 6
        && !vocabulary::is_placeholder(text)
        && word
        && ended
        && text.iter().all(u8::is_ascii_lowercase);
    let literal = context.named.dashes == 2
        && (value.quoted
            || context.named.name.promise == Promise::Password && chosen::is_chosen(text))
        && is_given(text, context.named.name);
    short || literal || is_secret(text, context.named.name, Form::Argument)
}

/// `consul kv put db/password …`: programs that store what follows a name.
fn is_stored(before: &[u8]) -> bool {
    let mut words = before.rsplit(|byte| *byte == b' ').take(3);
    let (Some(last), Some(verb)) = (words.next(), words.next()) else { return false };
    let of_verb = |verb: &[u8], program: &[u8]| {
        matches!(
            (program, verb),
            (b"kv" | b"etcdctl" | b"secret", b"put")
                | (b"etcdctl" | b"config" | b"redis-cli", b"set")
                | (b"git", b"config")
        )
    };
    // With or without the front of a path before the name.
    of_verb(last, verb) || words.next().is_some_and(|program| of_verb(verb, program))
}

/// `ENV NAME value`, `setx NAME value`, `set -gx NAME value`, `configure set NAME value`
fn is_set_by(line: &[u8], start: usize) -> bool {
    let before = line.get(..start).unwrap_or_default().trim_ascii_end();
    let word = before
        .rsplit(|byte| matches!(byte, b' ' | b'\t' | b';' | b'&' | b'/' | b':'))
        .next()
        .unwrap_or_default();
    is_word(
        word,
        &[
            "env", "arg", "setx", "setenv", "set", "-x", "-gx", "-ux", "-xg", "-gux", "put",
            "#define", "define",
        ],
    ) || before.ends_with(b":") && before.windows(11).any(|window| window == b"config set ")
        || is_stored(before)
}

/// `password string = "…"`: the place after the sign.
fn declared(line: &[u8], place: usize) -> Option<usize> {
    let rest = line.get(place..)?;
    let kind = ["string", "[]byte", "String", "str", "NVARCHAR", "text"]
        .iter()
        .find(|kind| rest.starts_with(kind.as_bytes()))?;
    let equals = after_spaces(line, place + kind.len());
    match (at(line, equals), at(line, equals + 1)) {
        (b'=', _) => Some(equals + 1),
        (b':', b'=') => Some(equals + 2),
        _ => None,
    }
}

/// `DB_PASSWORD     string    value`: columns with more than one space between them, as programs list variables.
fn last_column(context: &Context<'_>) -> Option<(usize, usize)> {
    let line = context.hit.line;
    let name = context.named.name;
    let is_gap = |gap: &[u8]| gap.len() > 1 || gap == b"\t";
    let gap = is_gap(line.get(context.behind..context.operator_at)?);
    let variable = name.capitals && name.last && starts_line(line, context.named.start);
    if !gap || !variable {
        return None;
    }
    let mut place = context.operator_at;
    for _ in 0..4 {
        let rest = line.get(place..)?;
        let end =
            place + rest.iter().take_while(|byte| !matches!(byte, b' ' | b'\t' | b'\r')).count();
        let next = after_spaces(line, end);
        let word = line.get(place..end)?;
        if line.get(next..)?.trim_ascii().is_empty() {
            let joined = chosen::is_joined(word) && is_secret(word, name, Form::Argument);
            let mixed = Makeup::of(word).digits > 0 || joined;
            let secret = mixed && (joined || is_secret(word, name, Form::Plain));
            return secret.then_some((place, end));
        }
        if !is_gap(line.get(end..next)?) {
            return None;
        }
        place = next;
    }
    None
}

/// `… WITH PASSWORD '…'`, `PASSWORD('…')`
fn is_sql(line: &[u8], word: &[u8], context: &Context<'_>) -> bool {
    let sql = ["create ", "alter ", "identified", "with ", "set ", "user ", "role ", "encrypted "];
    let before = line.get(..context.named.start).unwrap_or_default().to_ascii_lowercase();
    is_word(word, &["password", "secret", "passphrase"])
        && sql.iter().any(|one| before.windows(one.len()).any(|window| window == one.as_bytes()))
}

/// `CREATE USER app …`: with `PASSWORD` behind it, what is in quotes is nothing else.
fn is_statement(line: &[u8], end: usize) -> bool {
    let before = line.get(end.saturating_sub(160)..end).unwrap_or_default().to_ascii_lowercase();
    let has = |word: &[u8]| before.windows(word.len()).any(|window| window == word);
    (has(b"create ") || has(b"alter "))
        && [&b"user "[..], b"role ", b"login "].iter().any(|one| has(one))
        || has(b"set password for ")
}

/// `dial;349.00;7`: the last word of a cell, and the cells behind it.
fn is_cell(text: &[u8]) -> bool {
    let mut cells = text.split(|byte| matches!(byte, b';' | b'\t' | b'|'));
    let word = cells.next().unwrap_or_default().iter().all(u8::is_ascii_alphabetic);
    let number =
        |cell: &[u8]| cell.iter().all(|byte| byte.is_ascii_digit() || b".,-".contains(byte));
    let rest: Vec<&[u8]> = cells.collect();
    word && !rest.is_empty() && rest.into_iter().all(number)
}

/// `the password is …`, `password …` in a log; `password 7 …` of a router.
fn said(context: &Context<'_>, value: &Value, text: &[u8], found: &mut Found<'_>) -> bool {
    let line = context.hit.line;
    let name = context.named.name;
    // `pass` is a verb more often than not.
    let verb = line
        .get(context.named.start..context.named.end)
        .is_some_and(|word| is_word(word, &["pass"]));
    if verb || name.promise == Promise::Perhaps || at(line, context.operator_at) == b'(' {
        return false;
    }
    if is_program(context) {
        return false;
    }
    let level = matches!(text, [digit] if digit.is_ascii_digit());
    let verb = is_word(text, &["is", "was", "to", "of", "value", "set"]);
    let mut value = Value { start: value.start, end: value.end, quoted: value.quoted };
    let mut steps = 0;
    while (level || verb) && steps < 2 {
        steps += 1;
        let next = after_spaces(line, value.end);
        let Some(later) = Value::at(line, next) else { return false };
        let word = line.get(later.start..later.end).unwrap_or_default();
        let again = verb && is_word(word, &["to", "is", ":"]);
        value = later;
        if !again {
            break;
        }
    }
    let text = line.get(value.start..value.end).unwrap_or_default();
    let text = trimmed(text);
    // `SRP_user_pwd *SRP_get(SRP *vb`: a type and what is declared with it.
    if text.starts_with(b"*") || text.contains(&b'(') && !value.quoted {
        return false;
    }
    // `trace:…` is one here too: a password that is said has its colon elsewhere as a rule.
    let field = is_field(text) || is_named(text, b':') || is_cell(text);
    if !value.quoted && (field || is_version(text) || is_tag(text) || is_file(text)) {
        return false;
    }
    let makeup = Makeup::of(text);
    let kinds = [makeup.lower, makeup.upper, makeup.digits, makeup.other];
    let kinds = kinds.iter().filter(|count| **count > 0).count();
    let strong = if level || value.quoted && verb {
        makeup.length >= 6
    } else {
        makeup.length >= 8 && kinds >= 3 && makeup.digits > 0 && makeup.changes >= 3
            || verb && makeup.length >= 6 && makeup.digits > 0 && kinds >= 2
    };
    let told = name.promise == Promise::Password && chosen::is_no_name(text);
    let told = told && makeup.digits > 0 && makeup.length >= 9 && is_given(text, name);
    if told || strong && is_secret(text, name, if level { Form::Argument } else { Form::Amid }) {
        found.add(value.start, value.start + text.len(), context.kind());
        return true;
    }
    false
}

/// `password-rotator to 0a3f…`: the name of a program or a package, which goes on after the promise.
pub fn is_program(context: &Context<'_>) -> bool {
    let line = context.hit.line;
    let word = line.get(context.named.start..context.named.end).unwrap_or_default();
    // `pypi-token.pypi` is a setting.
    let joined = word.contains(&b'-') && !word.contains(&b'.');
    // `api-token-prod`: whose it is, not what it is.
    let owners: [&[u8]; 6] = [b"-prod", b"-production", b"-staging", b"-dev", b"-test", b"-live"];
    let owned = owners.iter().any(|one| word.ends_with(one));
    !context.named.name.last && !context.named.name.capitals && joined && !owned
}

/// `b/token-0a3f.txt`: a path, whatever its parts are.
fn is_file(text: &[u8]) -> bool {
    let ending = text.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    text.contains(&b'/') && ending.len() < text.len() && vocabulary::is_ending(ending)
}

/// `request_id=…`: the next field of a log line and not what the word before it has.
pub fn is_field(text: &[u8]) -> bool {
    is_named(text, b'=')
}

/// A name, the sign and something more.
fn is_named(text: &[u8], sign: u8) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphabetic() || b"_-.".contains(byte);
    let length = text.iter().take_while(|byte| is_name(byte)).count();
    let value = text.get(length + 1..).unwrap_or_default();
    length > 1
        && at(text, length) == sign
        && text.first().is_some_and(u8::is_ascii_alphabetic)
        // `…==` is the end of Base64.
        && value.iter().any(|byte| *byte != b'=')
}

/// Without the stop of a sentence.
fn trimmed(text: &[u8]) -> &[u8] {
    let end = text.iter().rev().take_while(|byte| b".,:;)".contains(byte)).count();
    text.get(..text.len() - end).unwrap_or_default()
}
