//! What code, style sheets and checksums look like where a value would stand: expressions, selectors, digests.

use super::reading::at;

/// Pieces that programs have, also when all their spaces were taken out, and passwords have not.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    ";for(", ";if(", ";return", ";var ", ";let ", ";const ", ";else", ";break", ";this.", ";function", ",function",
    ",this.", "&&(", "||(", "){", "=>", "===", "!==", ".prototype", "function(", ".push(", ".call(", ".apply(", ".length",
    "?void", "?null", ":void",
];

/// `e,this.show()`, `0;for(let`, `!!(match[3]`, `qr/…/`, `true|false`: an expression without quotes.
pub fn is_expression(value: &[u8], spaced: bool) -> bool {
    let pattern: [&[u8]; 4] = [b"qr/", b"qr{", b"qr(", b"qw("];
    let has = |needle: &str| value.windows(needle.len()).any(|window| window == needle.as_bytes());
    pattern.iter().any(|one| value.starts_with(one))
        || PIECES.iter().any(|one| has(one))
        || is_packed(value)
        || is_type(value)
        || spaced && (is_negated(value) || is_choice(value))
}

/// `o,t.setToken(138)`, `!1,n(e)`: statements one after the other, with names of few letters.
fn is_packed(value: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$.".contains(byte);
    let first = value.strip_prefix(b"!").unwrap_or(value);
    let first = first.iter().take_while(|byte| is_name(byte)).count() + value.len() - first.len();
    let rest = value.get(first..).unwrap_or_default();
    let signs = rest.iter().take_while(|byte| b"),;}".contains(byte)).count();
    let next = rest.get(signs..).unwrap_or_default();
    let name = next.iter().take_while(|byte| byte.is_ascii_alphabetic() || b"_$".contains(byte));
    let name = name.count();
    let called = next.iter().any(|byte| b"(=".contains(byte));
    (1..24).contains(&first)
        && (1..4).contains(&signs)
        && (1..4).contains(&name)
        && matches!(next.get(name), Some(b'.' | b'('))
        && called
}

/// `AtomicU32`, `Uint8Array`
fn is_type(value: &[u8]) -> bool {
    let value = value.strip_suffix(b",").or(value.strip_suffix(b";")).unwrap_or(value);
    let digits = value.iter().position(u8::is_ascii_digit).unwrap_or(value.len());
    let (head, tail) = value.split_at(digits);
    let width = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (width, tail) = tail.split_at(width);
    head.len() > 2
        && head.first().is_some_and(u8::is_ascii_uppercase)
        && head.iter().all(u8::is_ascii_alphabetic)
        && [&b"8"[..], b"16", b"32", b"64", b"128", b"256"].contains(&width)
        && matches!(tail, b"" | b"Array" | b"Vec")
        && [&b"U"[..], b"I", b"F", b"nt", b"loat"].iter().any(|one| head.ends_with(one))
}

/// `!yargs.parsed.aliases[key]`
fn is_negated(value: &[u8]) -> bool {
    let bare = value.iter().take_while(|byte| **byte == b'!').count();
    let rest = value.get(bare..).unwrap_or_default();
    let word = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_$".contains(byte));
    bare > 0 && matches!(rest.get(word.count()), Some(b'(' | b'[' | b'.'))
}

/// `true|false`, `auto|manual|none`: which values there are.
fn is_choice(value: &[u8]) -> bool {
    value.contains(&b'|')
        && value
            .split(|byte| *byte == b'|')
            .all(|word| word.len() > 1 && word.iter().all(u8::is_ascii_lowercase))
}

/// What may follow the colon of a selector.
#[rustfmt::skip]
const PSEUDO: &[&str] = &[
    "hover", "focus", "active", "visited", "checked", "disabled", "enabled", "before", "after", "not", "nth-child",
    "nth-last-child", "nth-of-type", "first-child", "last-child", "only-child", "first-of-type", "last-of-type",
    "empty", "target", "root", "host", "is", "where", "has", "placeholder", "placeholder-shown", "valid", "invalid",
    "focus-within", "focus-visible", "required", "optional", "read-only", "read-write", "autofill", "-webkit-autofill",
    "link", "lang", "dir", "first-letter", "first-line", "default", "indeterminate", "in-range", "out-of-range",
    "-moz-placeholder", "-ms-input-placeholder", "global", "local", "deep", "hidden",
];

/// `._secret_bQNfR_31:hover{…}`: the colon here is one of a selector.
pub fn is_selector(line: &[u8], colon: usize) -> bool {
    let rest = line.get(colon + 1..).unwrap_or_default();
    let length =
        rest.iter().take(24).take_while(|byte| byte.is_ascii_lowercase() || **byte == b'-').count();
    let word = rest.get(..length).unwrap_or_default();
    length > 1
        && matches!(
            at(rest, length),
            b'{' | b',' | b'.' | b':' | b'>' | b'+' | b'~' | b'(' | b' ' | b'[' | 0
        )
        && PSEUDO.iter().any(|one| one.as_bytes() == word)
}

/// `sha256=qaN-fw_…`, `sha512-…`: what stands before this place belongs to a digest in Base64.
pub fn is_in_digest(before: &[u8]) -> bool {
    let run = before
        .iter()
        .rev()
        .take(128)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"-_+/".contains(byte))
        .count();
    let (front, run) = before.split_at(before.len() - run);
    let digests: [&[u8]; 4] = [b"sha1", b"sha256", b"sha384", b"sha512"];
    run.len() > 1
        && digests.iter().any(|one| {
            front.strip_suffix(b"=").is_some_and(|front| front.ends_with(one))
                || run
                    .strip_prefix(*one)
                    .is_some_and(|rest| rest.starts_with(b"-") && rest.len() > 1)
        })
}

/// `<sha256 value="…"/>`, `"checksumValue": "…"`: the value of a digest, whatever the names before it are.
pub fn is_of_digest(before: &[u8], word: &[u8]) -> bool {
    let digests: [&[u8]; 7] =
        [b"sha", b"md5", b"checksum", b"hash", b"digest", b"pgp", b"fingerprint"];
    let open = before.iter().rposition(|byte| matches!(byte, b'<' | b'>' | b'{'));
    let element = before.get(open.map_or(before.len(), |open| open + 1)..).unwrap_or_default();
    let inside = open.is_some_and(|open| at(before, open) != b'>');
    let (element, word) = (element.to_ascii_lowercase(), word.to_ascii_lowercase());
    let algorithm = element.windows(3).any(|window| window == b"alg");
    digests.iter().any(|one| inside && element.starts_with(one) || word.starts_with(one))
        || inside && algorithm
}

/// `signingkey = C1A8D28ABCB2FD95`: the id or the fingerprint of a key, by which anybody may ask for its public half.
pub fn is_key_id(name: &[u8], value: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    let names: [&[u8]; 5] = [b"signingkey", b"signing-key", b"gpgkey", b"gpg_key", b"local-user"];
    let plain = value.strip_prefix(b"0x").unwrap_or(value);
    let plain = plain.strip_suffix(b"!").unwrap_or(plain);
    let upper = !plain.iter().any(u8::is_ascii_lowercase) || name.starts_with(b"user.");
    matches!(plain.len(), 8 | 16 | 40)
        && upper
        && plain.iter().all(u8::is_ascii_hexdigit)
        && names.iter().any(|one| name.ends_with(one))
}
