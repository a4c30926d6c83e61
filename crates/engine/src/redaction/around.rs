//! What the line around a value says about it: data, code or a sentence, and where the value ends.

use super::assignment::Context;
use super::names::{self, Promise};
use super::reading::{
    Stops, after_escapes, after_spaces, at, is_name_byte, opening_quote, unquoted_end,
};
use super::references::is_identifier;
use super::values::{APPLICATION_PASSWORD, Form, is_application_password};
use super::{chosen, prompts, vocabulary};

impl Context<'_> {
    /// `encryption_passphrase: violet tractor sings 42 songs`, the rest of the line.
    pub fn phrase(&self, start: usize) -> Option<usize> {
        let name = self.named.name;
        if name.kind != names::PASSPHRASE {
            return None;
        }
        let text = self.line().get(start..)?.trim_ascii_end();
        let words = text.split(|byte| *byte == b' ').count();
        let sure = match at(self.line(), self.operator_at) {
            b':' => words > 3 && (name.capitals || text.iter().any(u8::is_ascii_digit)),
            // Where quotes are not known, as in the files of access points.
            b'=' => self.hit.begins && self.line().starts_with(b"wpa_passphrase="),
            _ => false,
        };
        (sure && chosen::is_phrase(text, name)).then_some(text.len())
    }

    /// A value with spaces in it: how long it is.
    pub fn groups(&self, start: usize) -> Option<usize> {
        let length = self.phrase(start).or_else(|| self.application_password(start));
        length.or_else(|| second_factor(self.line().get(start..)?))
    }

    /// `EMAIL_HOST_PASSWORD=abcd efgh ijkl mnop`, the rest of the line.
    pub fn application_password(&self, start: usize) -> Option<usize> {
        let text = self.line().get(start..start + APPLICATION_PASSWORD)?;
        let rest = self.line().get(start + APPLICATION_PASSWORD..)?.trim_ascii();
        let mut groups = text.split(|byte| *byte == b' ');
        let prose = groups.clone().any(vocabulary::is_of_prose);
        let vowel = |byte: &u8| b"aeiou".contains(byte);
        let odd = groups.any(|group| !group.iter().any(vowel));
        let sure = self.named.name.promise == Promise::Password
            && (rest.is_empty() || matches!(rest.first(), Some(b'#' | b'"' | b'\'' | b',')))
            && !prose
            && (odd || self.named.name.capitals);
        (sure && is_application_password(text)).then_some(APPLICATION_PASSWORD)
    }

    /// What stands between these places is given to a program as it is: `NAME=value program`, `-e NAME=value`, `--password='…'`.
    pub fn is_literal(&self, start: usize, end: usize, form: Form) -> bool {
        let line = self.line();
        if self.named.dashes == 2 {
            let password = self.named.name.promise == Promise::Password && !self.is_ambiguous();
            return self.is_tight(form) && (password || opening_quote(line, start).is_some());
        }
        let before = line.get(..self.named.start).unwrap_or_default();
        let rest = line.get(end..).unwrap_or_default();
        // A field of a connection string.
        if before.ends_with(b";") && before.contains(&b'=') && rest.starts_with(b";") {
            return self.is_tight(form);
        }
        let program = matches!(rest, [b' ', first, ..]
            if first.is_ascii_alphanumeric() || b"./$\"'-".contains(first));
        self.named.name.capitals
            && self.named.name.last
            && self.is_tight(form)
            && program
            && self.quote.is_none()
            && is_environment(before, self.hit.begins)
    }

    /// `session({ secret: '…' })`, `app.secret_key = '…'`: what frameworks sign with, which people make up.
    pub fn is_of_sessions(&self) -> bool {
        let name = self.line().get(self.named.start..self.named.end).unwrap_or_default();
        let name = name.to_ascii_lowercase();
        let signing = [
            &b"secret_key"[..],
            b"secretkey",
            b"jwt_secret",
            b"jwtsecret",
            b"session_secret",
            b"sessionsecret",
            b"cookie_secret",
            b"cookiesecret",
            b"auth_secret",
            b"app_secret",
            b"token_secret",
            b"signing_secret",
            b"jwt_key",
            b"signing_key",
            b"secret_key_base",
            b"csrf_secret",
            b"hash_secret",
        ];
        if signing.iter().any(|one| name.ends_with(one)) {
            return true;
        }
        let before = self.line().get(..self.named.start).unwrap_or_default();
        let near = before.get(before.len().saturating_sub(64)..).unwrap_or_default();
        near.windows(8).any(|window| window == b"session(" || window == b"Session(")
    }

    /// `PASS`, `pwd`: names of other things too, of a folder or of a step.
    pub fn is_ambiguous(&self) -> bool {
        let name = self.line().get(self.named.start..self.named.end).unwrap_or_default();
        let word = name.split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
        let rest = name.get(word.len()..).unwrap_or_default();
        ["pass", "pwd", "pw"].iter().any(|one| word.eq_ignore_ascii_case(one.as_bytes()))
            && rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b'_')
    }

    /// `--- PASS: TestLogin_V2 (0.00s)`: what a test came to, and which one it was.
    pub fn is_verdict(&self) -> bool {
        let line = self.line();
        if line.get(self.named.start..self.named.end) != Some(b"PASS") {
            return false;
        }
        let start = after_spaces(line, self.operator_at + 1);
        let end = unquoted_end(line, start, Stops::Word);
        let value = line.get(start..end).unwrap_or_default();
        let named = value.iter().all(|byte| is_name_byte(*byte) || b"/:[]#,".contains(byte));
        let begins =
            [&b"Test"[..], b"test", b"Bench", b"Fuzz"].iter().any(|one| value.starts_with(one));
        let timed = line.get(after_spaces(line, end)..).is_some_and(|rest| rest.starts_with(b"("));
        let marked = line.get(..self.named.start).is_some_and(|front| front.ends_with(b"--- "));
        let joined = value.contains(&b'_') && is_identifier(value);
        named && (begins || timed || marked || joined || value.contains(&b'/'))
    }

    /// `registry.test/acme/session-secret:main-70a5a2ed`: a path, and which one of its builds.
    pub fn is_image(&self) -> bool {
        let line = self.line();
        let start = self.operator_at + 1;
        let tag = line.get(start..unquoted_end(line, start, Stops::Word)).unwrap_or_default();
        let before = line.get(..self.named.start).unwrap_or_default();
        self.operator_at == self.named.end
            && before.ends_with(b"/")
            && !tag.iter().any(u8::is_ascii_uppercase)
            && tag.iter().all(|byte| is_name_byte(*byte))
            && tag.iter().any(|byte| b"-._".contains(byte))
    }

    /// `NAME=value`, also of a small name.
    pub fn is_tight(&self, form: Form) -> bool {
        form == Form::Plain && at(self.line(), self.operator_at) == b'='
    }

    /// `password=Brave.Otter12` anywhere, `password: Brave.Otter12` and `password = Brave-Otter12` if nothing follows.
    pub fn may_be_mixed(&self, form: Form, start: usize, end: usize) -> bool {
        let rest = self.line().get(end..).unwrap_or_default().trim_ascii();
        let value = self.line().get(start..end).unwrap_or_default();
        let password = self.named.name.promise == Promise::Password && self.quote.is_none();
        let alone = match form {
            Form::Plain => true,
            Form::Spaced => !value.contains(&b'.'),
            _ => false,
        };
        if self.is_ambiguous() {
            return self.is_tight(form) && !self.named.name.capitals;
        }
        self.is_tight(form) || password && alone && rest.is_empty()
    }

    /// What looks like code or the name of something is a value here: `DB_PASSWORD=Brave.Otter`, `Password: Brave-Otter`.
    pub fn is_data(&self, form: Form, end: usize) -> bool {
        let line = self.line();
        let rest = line.get(end..).unwrap_or_default().trim_ascii();
        let value = line.get(self.operator_at..end).unwrap_or_default();
        let alone = form == Form::Plain && (rest.is_empty() || rest.starts_with(b"#"));
        // In an object of a program it may be a member of another: `PASSWORD: Kind.Hidden`.
        let member = value.contains(&b'.') && !value.iter().any(u8::is_ascii_digit);
        let capitals = self.named.name.capitals && self.quote.is_none();
        if self.is_ambiguous() && self.named.dashes == 0 {
            return false;
        }
        let option = self.named.dashes > 0;
        let tight = self.is_tight(form);
        // A line of a file of properties, which is not indented.
        let property = alone && tight && self.hit.begins && self.named.start == 0 && !member;
        // `db.password = winter-sun-3`: nobody subtracts like this.
        let hyphens = (tight || matches!(form, Form::Spaced | Form::Plain) && rest.is_empty())
            && self.named.name.kind == "password"
            && value.contains(&b'-')
            && value.iter().any(u8::is_ascii_digit)
            && !value.iter().any(|byte| b"._([".contains(byte));
        let before = line.get(..self.named.start).unwrap_or_default();
        let near = before.get(before.len().saturating_sub(256)..).unwrap_or_default();
        let printed = near.windows(4).any(|window| window == b"map[");
        capitals && (tight || alone && !member)
            || option && tight
            || property
            || hyphens
            || printed && at(line, self.operator_at) == b':'
            || alone && prompts::begins(self.hit, self.named.start)
    }

    /// `Password=%PASSWORD%;User Id=app;`: the first field of a connection string.
    fn begins_fields(&self) -> bool {
        let rest = self.line().get(self.operator_at..).unwrap_or_default();
        let rest = rest.get(..160.min(rest.len())).unwrap_or_default();
        if !rest.starts_with(b"=") || rest.starts_with(b"==") {
            return false;
        }
        let Some(semicolon) = rest.iter().position(|byte| *byte == b';') else { return false };
        let next = rest.get(semicolon + 1..).unwrap_or_default();
        let name = next
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b'_'))
            .count();
        name > 1 && at(next, name) == b'='
    }

    pub fn stops(&self, form: Form) -> Stops {
        let line = self.line();
        let before = self.named.start.checked_sub(1).map(|place| at(line, place));
        let first = line.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(0);
        let lead = line.get(first..self.named.start).unwrap_or_default();
        let leads = [
            &b""[..],
            b"export ",
            b"set ",
            b"ENV ",
            b"- ",
            b"SET ",
            b"declare -x ",
            b"env ",
            b"$env:",
        ];
        if form == Form::Query {
            Stops::Query
        } else if before == Some(b';') || form == Form::Plain && self.begins_fields() {
            Stops::Semicolon
        } else if form == Form::Plain
            && self.hit.begins
            && leads.contains(&lead)
            && (first == 0 || !lead.is_empty())
            && self.quote.is_none()
            && at(line, self.operator_at) == b'='
        {
            Stops::Line
        } else {
            Stops::Word
        }
    }

    /// What follows the value on the line says whether the line is data, code or a sentence.
    pub fn sharpened(&self, form: Form, start: usize, end: usize) -> Form {
        let line = self.line();
        let colon = at(line, self.operator_at) == b':' || at(line, self.operator_at + 1) == b':';
        if !(colon || form == Form::Spaced) || form == Form::Query {
            return form;
        }
        let rest = line.get(after_escapes(line, end)..).unwrap_or_default().trim_ascii();
        let done = rest.is_empty()
            || matches!(
                rest.first(),
                Some(b'#' | b',' | b'}' | b']' | b'"' | b'\'' | b'\\' | b'<' | b'&' | b'|')
            )
            || rest.starts_with(b"//");
        // `token:value`, as in a list of parameters.
        let tight = colon && start == self.operator_at + 1;
        match (form, done) {
            (Form::Plain, true) if tight && !self.named.quoted => Form::Spaced,
            (_, true) => form,
            _ => Form::Amid,
        }
    }
}

/// `JBSW Y3DP EHPK 3PXP`, the rest of the line.
fn second_factor(text: &[u8]) -> Option<usize> {
    let text = text.get(..160.min(text.len()))?.trim_ascii_end();
    let is_base32 = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'2'..=b'7');
    let mut groups = text.split(|byte| *byte == b' ');
    let one_case =
        !(text.iter().any(u8::is_ascii_lowercase) && text.iter().any(u8::is_ascii_uppercase));
    let numbered = text.iter().filter(|byte| byte.is_ascii_digit()).count() > 1;
    (numbered
        && one_case
        && groups.clone().count() >= 4
        && groups.all(|group| group.len() == 4 && group.iter().all(is_base32)))
    .then_some(text.len())
}

/// Nothing but what may stand before the variables of a command.
fn is_environment(before: &[u8], begins: bool) -> bool {
    let before = before.trim_ascii_end();
    let separated =
        [&b"&&"[..], b"||", b";", b"|", b" -e", b" --env", b"$", b"#", b"%", b"$(", b"`"];
    let word = before.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    let leads = matches!(
        word,
        b"sudo" | b"env" | b"exec" | b"time" | b"nohup" | b"-E" | b"RUN" | b"run:" | b"+"
    );
    // Another variable before it: `PGUSER=app PGPASSWORD=…`.
    let variable = word.iter().position(|byte| *byte == b'=').is_some_and(|equals| {
        equals > 0
            && word
                .iter()
                .take(equals)
                .all(|byte| byte.is_ascii_uppercase() || *byte == b'_' || byte.is_ascii_digit())
    });
    before.is_empty() && begins
        || leads
        || variable
        || separated.iter().any(|one| before.ends_with(one))
}

/// What makes a value of a literal without changing what it is: the last word of the call.
const WRAPS: [&[u8]; 28] = [
    b"FromBase64String",
    b"FromHexString",
    b"GetBytes",
    b"DecodeString",
    b"b64decode",
    b"urlsafe_b64decode",
    b"base64_decode",
    b"decode64",
    b"strict_decode64",
    b"decode",
    b"fromhex",
    b"unhexlify",
    b"hex2bin",
    b"hexToBytes",
    b"atob",
    b"from",
    b"new",
    b"byte",
    b"SecretStr",
    b"SecureString",
    b"String",
    b"str",
    b"bytes",
    b"Some",
    b"Secret",
    b"SecretString",
    b"string",
    b"sensitive",
];

/// `b"…"`, `String::from("…")`, `[]byte("…")`: to the quote, where a literal is only wrapped.
pub fn after_wrapper(line: &[u8], start: usize) -> usize {
    let rest = line.get(start..).unwrap_or_default();
    let head = rest
        .iter()
        .take(48)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"_.:[]@$!".contains(byte))
        .count();
    let word = rest.get(..head).unwrap_or_default();
    if matches!(word, b"b" | b"r" | b"u" | b"br" | b"rb" | b"@" | b"L" | b"u8" | b"B" | b"N")
        && matches!(at(rest, head), b'"' | b'\'')
    {
        return start + head;
    }
    // `r#"…"#`, `"""…"""`: the last quote of those that open it.
    let hashes = rest.iter().skip(1).take(3).take_while(|byte| **byte == b'#').count();
    if word == b"r" && hashes > 0 && at(rest, 1 + hashes) == b'"' {
        return start + 1 + hashes;
    }
    if rest.starts_with(b"\"\"\"") || rest.starts_with(b"'''") {
        return start + 2;
    }
    // As PHP shows a string with its length.
    if word == b"string" && rest.get(head..).is_some_and(|rest| rest.starts_with(b" '")) {
        return start + head + 1;
    }
    // `Base64.getDecoder().decode("…")`
    let called = word.ends_with(b"getDecoder") || word.ends_with(b"getUrlDecoder");
    let head = if called && rest.get(head..).is_some_and(|rest| rest.starts_with(b"().decode(")) {
        head + b"().decode".len()
    } else {
        head
    };
    let word = rest.get(..head).unwrap_or_default();
    let last = word.rsplit(|byte| matches!(byte, b'.' | b':' | b']')).next().unwrap_or_default();
    if at(rest, head) == b'(' && WRAPS.contains(&last) {
        let inner = start + head + 1;
        if opening_quote(line, inner).is_some() {
            return inner;
        }
    }
    start
}

/// `password = "x" if …`: no. `token = "TOKEN" in os.environ`, `"password"]`: a key, not a value.
pub fn is_lookup(line: &[u8], start: usize, end: usize) -> bool {
    let rest = line.get(end + 1..).unwrap_or_default();
    rest.starts_with(b"]") && start.checked_sub(1).is_some_and(|before| at(line, before) == b'[')
}
