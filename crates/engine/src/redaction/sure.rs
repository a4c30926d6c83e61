//! Places where nothing but a value can stand, so that any word counts which is no placeholder, no reference and no code: fields
//! of connection strings, definitions on a command line, defaults of variables, fields of an object with a login.

use super::assignment::Context;
use super::names::Promise;
use super::reading::at;
use super::values::{Form, is_literal};
use super::{chosen, devices};

/// So far the other fields may be.
const REACH: usize = 200;

/// Options whose next word is `name=value`.
#[rustfmt::skip]
const DEFINING: &[&str] = &[
    "--set", "--set-string", "--set-literal", "-var", "--var", "--build-arg", "--from-literal", "-e", "--env",
    "--extra-vars", "-o", "--opt", "--option", "-D", "-P", "--define", "--param", "--parameter", "-p",
    "--parameters", "--parameter-overrides", "--env-vars", "--set-env-vars", "--update-env-vars",
    "--set-secrets", "--settings", "--dart-define", "--variable", "-v", "-c", "--conf", "--config",
    "--arg", "--data", "-d", "--data-raw", "--data-urlencode", "-F", "--form", "--form-string",
    "--field", "-f", "--post-data", "--body-data", "--with", "--input", "--inputs",
];

/// What comes before the fields that a program stores.
const STORING: &[&[u8]] = &[
    b" kv put ",
    b" kv patch ",
    b"vault write ",
    b"config:set ",
    b"secrets set ",
    b"secret set ",
    b"set-environment ",
    b"setenv ",
    b"env:set ",
    b"env set ",
    b"config set ",
    b"variables set ",
    b"createuser ",
    b"user-add ",
    b"item create ",
    b"item edit ",
];

/// Other fields of a login.
const FIELDS: &[&[u8]] = &[
    b"host=",
    b"hostname=",
    b"server=",
    b"user=",
    b"uid=",
    b"user id=",
    b"userid=",
    b"username=",
    b"dbname=",
    b"database=",
    b"data source=",
    b"login=",
    b"ansible_host=",
    b"ansible_user=",
    b"hostaddr=",
    b"addr=",
    b"endpoint=",
    b"initial catalog=",
    b"servername=",
    b"account=",
    b"sslmode=",
    b"name=",
];

impl Context<'_> {
    /// Whatever is given to the name here is meant as it stands.
    pub fn is_sure(&self, end: usize, form: Form) -> bool {
        let name = self.named.name;
        if self.is_tight(form) && devices::is_defined(self) {
            return true;
        }
        name.promise == Promise::Password
            && name.last
            && match form {
                Form::Query => self.has_field(end),
                _ => self.is_tight(form) && (self.is_defined() || self.has_field(end)),
            }
    }

    /// `"password": "Kite-Magnet"`: what is in quotes is no name of something, unless its words are those of programs.
    pub fn is_chosen_in_quotes(&self, value: &[u8]) -> bool {
        let name = self.named.name;
        let text = self.line().get(self.named.start..self.named.end).unwrap_or_default();
        // `allPass: 'overEvery'`: a step of something.
        let whole = text.len() > 4
            && (text.contains(&b'_')
                || text.to_ascii_lowercase().ends_with(b"word")
                || name.capitals)
            || text.to_ascii_lowercase().ends_with(b"passwd");
        name.promise == Promise::Password
            && name.last
            && (!self.is_ambiguous() && (whole || !chosen::is_compound(value)) || self.has_login())
            && (chosen::is_chosen(value) || chosen::is_titled(value))
    }

    /// The same without quotes, if nothing else is on the line: `password: Kite-Magnet`, `jwt_secret=old-Walrus-Piano`.
    pub fn is_chosen_alone(&self, value: &[u8], end: usize, form: Form) -> bool {
        let name = self.named.name;
        let line = self.line();
        let rest = line.get(end..).unwrap_or_default().trim_ascii();
        if name.promise == Promise::Password && name.last && self.is_unlike_code(value, form) {
            return true;
        }
        if !(rest.is_empty() || rest.starts_with(b"#")) || !name.last || self.is_ambiguous() {
            return false;
        }
        if name.promise == Promise::Secret {
            let sign = self.is_tight(form) && self.is_of_sessions() && self.begins_line();
            return sign && chosen::is_joined(value);
        }
        if name.promise != Promise::Password || !matches!(form, Form::Plain | Form::Spaced) {
            return false;
        }
        let property = self.is_tight(form) && self.begins_line();
        if property && (chosen::is_chosen(value) || chosen::is_own_word(value)) {
            return true;
        }
        chosen::is_slashed(value) || chosen::is_no_name(value) || chosen::is_titled(value)
    }

    /// Amid other words: `password=Kite-Magnet, host=db`, `{User:bob Password:Kite-Magnet}`.
    fn is_unlike_code(&self, value: &[u8], form: Form) -> bool {
        if !chosen::is_no_name(value) {
            return false;
        }
        let numbered = value.iter().any(u8::is_ascii_digit);
        let tight = self.is_tight(form);
        if self.is_ambiguous() {
            // `PWD` is the folder that a shell is in.
            let folder = matches!(at(self.line(), self.named.end - 1), b'D' | b'd');
            return tight && numbered && self.begins_line() && !folder;
        }
        // What a line below joins may be the name of a variable.
        let called = self.near().contains(&b'(') && !value.contains(&b'-');
        let field = self.near().contains(&b'{') && at(self.line(), self.operator_at) == b':';
        let listed = form == Form::Plain && value.contains(&b'-');
        (tight || field || listed) && !called
    }

    /// Nothing but the sign of a difference stands before the name.
    fn begins_line(&self) -> bool {
        let before = self.line().get(..self.named.start).unwrap_or_default();
        self.hit.begins && matches!(before, b"" | b"+" | b"-" | b"export " | b"set " | b"SET ")
    }

    /// A user or a host is named in the same object: `{user: "app", pwd: "…"}`.
    fn has_login(&self) -> bool {
        let lower = self.near().to_ascii_lowercase();
        let inner = lower.iter().rposition(|byte| matches!(byte, b'{' | b'('));
        let lower = lower.get(inner.map_or(0, |inner| inner + 1)..).unwrap_or_default();
        inner.is_some()
            && [&b"user"[..], b"login", b"host", b"addr", b"email"]
                .iter()
                .any(|one| lower.windows(one.len()).any(|window| window == *one))
    }

    /// The last bytes before the name.
    fn near(&self) -> &[u8] {
        let before = self.line().get(..self.named.start).unwrap_or_default();
        before.get(before.len().saturating_sub(REACH)..).unwrap_or_default()
    }

    /// `--set db.password=…`, `-Drepo.password=…`, `-o username=bob,password=…`, `vault kv put secret/db password=…`
    fn is_defined(&self) -> bool {
        let near = self.near();
        let first = at(self.line(), self.named.start);
        if self.named.dashes == 1 {
            return matches!(first, b'D' | b'P');
        }
        let near = near.strip_suffix(b"\"").or(near.strip_suffix(b"'")).unwrap_or(near);
        if STORING.iter().any(|one| near.windows(one.len()).any(|window| window == *one)) {
            return true;
        }
        let mut words = near.rsplit(|byte| *byte == b' ');
        let word = words.next().unwrap_or_default();
        let flag = match word.iter().position(|byte| *byte == b'=') {
            Some(equals) if word.starts_with(b"--") => word.get(..equals),
            _ if word.is_empty() || word.ends_with(b",") => words.next(),
            _ => None,
        };
        flag.is_some_and(|flag| DEFINING.iter().any(|one| one.as_bytes() == flag))
    }

    /// `host=db user=app password=…`, `Server=db;Uid=sa;Pwd=…`; not the arguments of a call.
    fn has_field(&self, end: usize) -> bool {
        let near = self.near();
        let open = near.iter().rposition(|byte| matches!(byte, b'"' | b'\'' | b'('));
        let called = open.is_some_and(|open| at(near, open) == b'(');
        let near = near.get(open.map_or(0, |open| open + 1)..).unwrap_or_default();
        let separated = near.is_empty() || matches!(near.last(), Some(b' ' | b';' | b'&' | b'?'));
        let listed = near.trim_ascii_end().ends_with(b",");
        if called || listed || !separated {
            return false;
        }
        let rest = self.line().get(end..).unwrap_or_default();
        let rest = rest.get(..REACH.min(rest.len())).unwrap_or_default();
        // In the same string.
        let close = rest.iter().position(|byte| matches!(byte, b'"' | b'\'' | b')' | b','));
        let rest = rest.get(..close.unwrap_or(rest.len())).unwrap_or_default();
        has_any(near) || has_any(rest)
    }
}

fn has_any(text: &[u8]) -> bool {
    let lower = text.to_ascii_lowercase();
    memchr::memchr(b'=', &lower).is_some()
        && FIELDS.iter().any(|field| {
            lower.windows(field.len()).enumerate().any(|(place, window)| {
                let before = place.checked_sub(1).map_or(b' ', |place| at(&lower, place));
                window == *field && matches!(before, b' ' | b';' | b'&' | b'?' | b'\t')
            })
        })
}

/// No placeholder, no reference and no code, where anything else is the secret.
pub fn is_given(value: &[u8], name: super::names::Name) -> bool {
    is_literal(value, name) || name.promise == Promise::Password && chosen::is_slashed(value)
}
