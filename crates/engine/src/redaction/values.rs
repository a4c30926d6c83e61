//! Whether a value can be the secret that its name promises: no placeholder, no reference to where the secret is, no code,
//! no prose, and of sensible entropy.

use bstr::ByteSlice;

use super::chosen;
use super::literals::from_base64;
use super::names::{
    ACCESS_TOKEN, ERLANG_COOKIE, LISTED_KEY, Name, Promise, ROUTING_KEY, SECRET_ID, WEAK_KEY,
};
use super::references::{is_identifier, is_reference};
use super::versions::{is_semantic, is_version};
use super::vocabulary;

/// Where a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// In quotes.
    Quoted,
    /// `NAME=value`, `name: value` with nothing else on the line.
    Plain,
    /// `name = value`, which may be a line of code.
    Spaced,
    /// Among other words: a log line, a sentence.
    Amid,
    /// An argument of a program.
    Argument,
    /// `?name=value&`
    Query,
}

/// What a value is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct Makeup {
    pub length: usize,
    pub lower: usize,
    pub upper: usize,
    pub digits: usize,
    pub hex: usize,
    pub other: usize,
    pub spaces: usize,
    /// How often the kind of character changes.
    pub changes: usize,
    /// Bits a character.
    pub entropy: f32,
}

impl Makeup {
    pub fn of(value: &[u8]) -> Self {
        let mut makeup = Makeup { length: value.len(), ..Makeup::default() };
        let mut counts = [0_u16; 256];
        let mut before = 0;
        for byte in value {
            let slot = &mut counts[usize::from(*byte)];
            *slot = slot.saturating_add(1);
            let kind = match byte {
                b'a'..=b'z' => 1,
                b'A'..=b'Z' => 2,
                b'0'..=b'9' => 3,
                b' ' | b'\t' => 4,
                _ => 5,
            };
            makeup.changes += usize::from(before != 0 && kind != before);
            before = kind;
            match kind {
                1 => makeup.lower += 1,
                2 => makeup.upper += 1,
                3 => makeup.digits += 1,
                4 => makeup.spaces += 1,
                _ => makeup.other += 1,
            }
            makeup.hex += usize::from(byte.is_ascii_hexdigit());
        }
        let all = value.len().max(1) as f32;
        makeup.entropy = counts
            .iter()
            .filter(|count| **count > 0)
            .map(|count| f32::from(*count) / all)
            .map(|share| -share * share.log2())
            .sum();
        makeup
    }

    pub fn letters(&self) -> usize {
        self.lower + self.upper
    }

    /// Words joined in the way of programs: `Ed25519PrivateKey`, `resource_owner_key`. Most letters stand with two others
    /// of the same case, which is rare where they were drawn at random.
    pub fn is_wordy(&self, value: &[u8]) -> bool {
        let same = |a: &u8, b: &u8| {
            a.is_ascii_lowercase() && b.is_ascii_lowercase()
                || a.is_ascii_uppercase() && b.is_ascii_uppercase()
                || a.is_ascii_digit() && b.is_ascii_digit()
        };
        let (mut digits, mut together) = (0, 0);
        for group in value.chunk_by(same) {
            match group.first() {
                Some(byte) if byte.is_ascii_digit() => digits += 1,
                Some(byte) if byte.is_ascii_alphabetic() && group.len() >= 3 => {
                    together += group.len();
                }
                _ => {}
            }
        }
        digits <= 2 + self.other
            && self.changes * 2 <= self.length + 2 * self.other
            && together * 2 >= self.letters()
    }

    /// Nobody would write this as a word or a name of something.
    pub fn is_random(&self) -> bool {
        let mixed = self.lower > 0 && self.upper > 0 && self.digits > 0;
        self.spaces == 0
            && self.length >= 16
            && self.entropy >= 3.0
            && self.digits > 0
            && self.letters() > 0
            && (mixed || self.changes * 4 >= self.length || self.hex == self.length)
    }
}

/// The longest value that is looked at.
pub const LONGEST: usize = 8192;
/// So much of it is looked at.
const LOOKED_AT: usize = 512;

pub fn is_secret(value: &[u8], name: Name, form: Form) -> bool {
    if value.len() < 4 || value.len() > LONGEST {
        return false;
    }
    // What so many bytes do not show, the rest does not show either.
    let value = value.get(..LOOKED_AT.min(value.len())).unwrap_or_default();
    if vocabulary::is_placeholder(value) || is_reference(value, form) || is_technical(value) {
        return false;
    }
    let makeup = Makeup::of(value);
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    match name.kind {
        SECRET_ID => return is_uuid(value),
        ROUTING_KEY => return is_hex(value, 32),
        WEAK_KEY => {
            let hex = value.len() >= 32 && makeup.hex == makeup.length;
            return hex && makeup.digits > 0 && makeup.letters() > 0;
        }
        LISTED_KEY => return value.ends_with(b"=") && value.len() >= 40 && makeup.is_random(),
        ERLANG_COOKIE if value.len() >= 16 && value.iter().all(is_word) => {
            return true;
        }
        ACCESS_TOKEN if value.len() < 20 || !value.iter().all(is_word) => return false,
        _ => {}
    }
    match name.promise {
        Promise::Password => is_password(value, &makeup, name, form),
        Promise::Secret => is_machine_made(value, &makeup, form),
        Promise::Perhaps => {
            let signed = name.kind == "signature"
                && form == Form::Plain
                && makeup.hex == 64
                && makeup.length == 64;
            signed || is_login(value) || is_beyond_doubt(value, &makeup, form)
        }
        Promise::Mnemonic => makeup.spaces >= 11 && makeup.lower + makeup.spaces == makeup.length,
    }
}

/// The same where a value is plainly given as it is, so that a word will do.
pub fn is_literal(value: &[u8], name: Name) -> bool {
    let least = match name.promise {
        Promise::Password => 5,
        Promise::Secret => 8,
        _ => return false,
    };
    let makeup = Makeup::of(value);
    let path = matches!(value.first(), Some(b'/' | b'.' | b'~' | b'-' | b'@' | b'`' | b'$'));
    let words = if makeup.spaces > 0 { chosen::is_plain_phrase(value) } else { true };
    makeup.length >= least
        && makeup.length <= 128
        && makeup.letters() > 0
        && !path
        && words
        && !vocabulary::is_placeholder(value)
        && !is_reference(value, Form::Argument)
        && !is_technical(value)
}

fn is_password(value: &[u8], makeup: &Makeup, name: Name, form: Form) -> bool {
    if makeup.spaces > 0 {
        return is_application_password(value)
            || form == Form::Quoted && chosen::is_phrase(value, name);
    }
    // `"password": "Пароль"`: the label of a field in another language.
    if value.iter().filter(|byte| !byte.is_ascii()).count() + makeup.letters() == makeup.length
        && !value.is_ascii()
    {
        return false;
    }
    if makeup.digits == makeup.length {
        return name.last && makeup.length >= 8 && !matches!(form, Form::Spaced | Form::Amid);
    }
    if form != Form::Quoted
        && value.iter().all(|byte| byte.is_ascii_uppercase() || b"_".contains(byte))
    {
        return false;
    }
    if form != Form::Quoted && makeup.digits == 0 && makeup.other > 0 && is_identifier(value) {
        return form == Form::Argument && name.capitals && chosen::is_joined(value);
    }
    let plain_word = makeup.letters() == makeup.length;
    if plain_word {
        let jumbled = makeup.changes >= 4 && makeup.length >= 8 && !is_identifier(value);
        let chosen = makeup.upper == 0 && makeup.length >= 8;
        return match form {
            Form::Argument if name.capitals && chosen::is_compound(value) => true,
            Form::Quoted | Form::Argument | Form::Query => jumbled || chosen,
            Form::Plain => jumbled || chosen && (name.capitals || makeup.length >= 16),
            Form::Spaced => jumbled && makeup.length >= 12,
            Form::Amid => false,
        };
    }
    if is_slug(value) {
        return is_password_of_words(value, makeup, name, form);
    }
    match form {
        Form::Amid => {
            makeup.length >= 6 && (makeup.digits > 0 || makeup.other > 1) && !is_sentence_end(value)
        }
        Form::Spaced => {
            makeup.length >= 5 && (makeup.digits + makeup.other) > 0 && !is_variable(value)
        }
        _ => makeup.length >= 5,
    }
}

/// What looks like the name of something and is a password all the same.
fn is_password_of_words(value: &[u8], makeup: &Makeup, name: Name, form: Form) -> bool {
    let words = value.split(|byte| b"-_.".contains(byte)).filter(|word| !word.is_empty());
    let words = words.filter(|word| word.iter().all(u8::is_ascii_alphabetic)).count();
    if makeup.digits == 0 && words_refer(value) {
        return false;
    }
    // A name of something may be written like this too, but not often as what a password is.
    if form == Form::Quoted && name.last && makeup.digits > 0 && chosen::is_joined(value) {
        return true;
    }
    let data = name.capitals || matches!(form, Form::Quoted | Form::Argument | Form::Query);
    let joined = !value.contains(&b'_') || form == Form::Quoted;
    let enough = if data { 3 } else { 4 };
    joined && words >= enough && !matches!(form, Form::Amid)
        || makeup.digits > 0 && is_word_with_number(value) && !is_variable(value)
        || makeup.digits >= 4 && makeup.length >= 10 && data
        || form == Form::Argument && chosen::is_joined(value)
        || matches!(form, Form::Quoted | Form::Query) && chosen::is_mixed(value)
}

/// `see-the-vault`, `from-secret-store`
fn words_refer(value: &[u8]) -> bool {
    let first = value.split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    ["see", "from", "in", "use", "via", "managed", "stored", "injected", "set", "read", "defined"]
        .iter()
        .any(|one| first.eq_ignore_ascii_case(one.as_bytes()))
}

/// `hunter2`
fn is_word_with_number(value: &[u8]) -> bool {
    value.len() >= 6 && value.iter().all(u8::is_ascii_alphanumeric)
}

/// `password2`, `arg1`: a name with a number.
fn is_variable(value: &[u8]) -> bool {
    let letters = value.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'_');
    let letters = letters.count();
    let (word, number) = value.split_at(letters.min(value.len()));
    number.len() <= 2 && number.iter().all(u8::is_ascii_digit) && vocabulary::is_of_variables(word)
}

fn is_sentence_end(value: &[u8]) -> bool {
    let end = value.iter().rev().take_while(|byte| b".,!?;:)".contains(byte)).count();
    let rest = value.get(..value.len() - end).unwrap_or_default();
    rest.iter().all(u8::is_ascii_alphabetic)
}

fn is_hex(value: &[u8], length: usize) -> bool {
    value.len() == length && value.iter().all(u8::is_ascii_hexdigit)
}

fn is_uuid(value: &[u8]) -> bool {
    let groups = value.split(|byte| *byte == b'-').map(<[u8]>::len);
    groups.eq([8, 4, 4, 4, 12])
        && value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

/// How long it is.
pub const APPLICATION_PASSWORD: usize = 19;

/// Four groups of four letters, as large mail providers print them.
pub fn is_application_password(value: &[u8]) -> bool {
    value.len() == APPLICATION_PASSWORD
        && value
            .split(|byte| *byte == b' ')
            .all(|group| group.len() == 4 && group.iter().all(u8::is_ascii_lowercase))
}

fn is_machine_made(value: &[u8], makeup: &Makeup, form: Form) -> bool {
    // `define('AUTH_KEY', 'vX3 }k…')`: from an alphabet of all that can be typed.
    let typed = makeup.length >= 40 && makeup.other >= 10 && makeup.spaces <= 4;
    if form == Form::Quoted && typed && makeup.digits > 0 && makeup.entropy >= 5.0 {
        return value.is_ascii() && !value.contains_str("-----");
    }
    // No machine makes `API-Schlüssel`.
    if !value.is_ascii() {
        return false;
    }
    if makeup.spaces > 0 || makeup.length < 8 || makeup.digits == makeup.length || is_slug(value) {
        return false;
    }
    // `DistributionList.NextMarker`: a place in a document.
    let path = makeup.digits == 0
        && value.contains(&b'.')
        && value.split(|byte| *byte == b'.').all(is_identifier);
    if path {
        return false;
    }
    if is_version(value) {
        return false;
    }
    // The name of something in a program.
    let word = is_identifier(value);
    if word && (makeup.digits == 0 || matches!(form, Form::Spaced | Form::Amid)) {
        return false;
    }
    let jumbled = makeup.changes >= 6 && makeup.length >= 20;
    let mixed = makeup.digits > 0 && makeup.letters() > 0;
    let entropy = if makeup.length >= 16 { 2.8 } else { 2.5 };
    let strong =
        makeup.entropy >= entropy && (mixed || jumbled || makeup.other > 2 && makeup.changes >= 4);
    match form {
        Form::Amid => strong && makeup.length >= 16 && makeup.digits >= 2,
        Form::Spaced => strong && !is_variable(value) && (makeup.length >= 12 || makeup.other > 0),
        _ => strong,
    }
}

fn is_beyond_doubt(value: &[u8], makeup: &Makeup, form: Form) -> bool {
    if makeup.length < 16 || makeup.spaces > 0 || is_slug(value) || is_slug_with_hash(value) {
        return false;
    }
    // `user:42:session:…`: the key of something in a cache.
    let first = value.split(|byte| *byte == b':').next().unwrap_or_default();
    if value.split(|byte| *byte == b':').count() > 2 && first.iter().all(u8::is_ascii_lowercase) {
        return false;
    }
    // `user:password@tcp(host)/database`: only the password of it is one.
    if [&b"@tcp"[..], b"@unix("].iter().any(|one| value.contains_str(one)) {
        return false;
    }
    let word = value.strip_suffix(b":").unwrap_or(value);
    if form != Form::Quoted && form != Form::Query && is_identifier(word) {
        return false;
    }
    let mixed = makeup.lower > 0 && makeup.upper > 0 && makeup.digits > 0;
    let symbols = makeup.other >= 4 && makeup.letters() > 0;
    let signed = makeup.hex == makeup.length
        && makeup.length >= 32
        && makeup.digits > 0
        && makeup.letters() > 0;
    if signed && form == Form::Query {
        return true;
    }
    // A program in an address: `?code=fn+main()%0A`.
    let has = |needle: &[u8]| value.windows(needle.len()).any(|window| window == needle);
    if form == Form::Query && (has(b"%0A") || has(b"(") || has(b"%7B") || has(b"%3C") || has(b"++"))
    {
        return false;
    }
    let enough = if form == Form::Query { 3.0 } else { 3.5 };
    (mixed || symbols) && makeup.entropy >= enough && makeup.changes * 5 >= makeup.length
}

/// `user:password` in Base64, as registries keep it.
fn is_login(value: &[u8]) -> bool {
    value.len() >= 12
        && value.len().is_multiple_of(4)
        && from_base64(value).is_some_and(|plain| {
            plain.contains(&b':') && plain.iter().all(|byte| (32..127).contains(byte))
        })
}

/// `node-modules-linux-x64-0c0305…`: the name of something by its content.
fn is_slug_with_hash(value: &[u8]) -> bool {
    let hash = value.rsplit(|byte| b"-_./:".contains(byte)).next().unwrap_or_default();
    let name = value.get(..value.len().saturating_sub(hash.len() + 1)).unwrap_or_default();
    let hashed = [32, 40, 64, 128].into_iter().any(|length| is_hex(hash, length));
    hashed && name.len() >= 3 && name.iter().any(u8::is_ascii_alphabetic) && is_slug(name)
}

/// Words and small numbers joined by signs: the name of something.
pub fn is_slug(value: &[u8]) -> bool {
    let mut words = value.split(|byte| b"-_./:".contains(byte));
    words.all(|word| {
        let letters = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (head, tail) = word.split_at(letters.min(word.len()));
        let one_case = head.iter().all(u8::is_ascii_lowercase)
            || head.iter().all(u8::is_ascii_uppercase)
            || head.iter().skip(1).all(u8::is_ascii_lowercase);
        one_case && tail.len() <= 4 && tail.iter().all(u8::is_ascii_digit)
    })
}

/// `0x8009_0301u32`, `-2147`, `15usize`
fn is_number(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"-").unwrap_or(value);
    let kinds =
        [&b"u8"[..], b"u16", b"u32", b"u64", b"i32", b"i64", b"usize", b"UL", b"L", b"U", b"LL"];
    let plain = kinds.iter().find_map(|kind| value.strip_suffix(*kind)).unwrap_or(value);
    if let Some(digits) = plain.strip_prefix(b"0x").or(plain.strip_prefix(b"0X")) {
        return digits.len() <= 18
            && digits.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'_');
    }
    plain.len() < value.len()
        && !plain.is_empty()
        && plain.iter().all(|byte| byte.is_ascii_digit() || *byte == b'_')
}

/// `sha256`, `int32`, `v1.2.3`, `2024-05-01`, `10MB`: digits that are no secret.
fn is_technical(value: &[u8]) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let marks = value.iter().filter(|byte| b".:-+/T _Zv,".contains(byte)).count();
    is_number(value)
        || is_semantic(value)
        || digits > 0
            && letters <= 2
            && value.len() < 32
            && digits + letters + marks >= value.len()
            && marks > 0
        || vocabulary::is_technical(value)
}
