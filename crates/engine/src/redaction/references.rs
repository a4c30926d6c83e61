//! Values that are no secret but say where it is, or are code that makes it.

use super::code::is_expression;
use super::values::{Form, Makeup, is_slug};
use super::vocabulary;

/// A name as programs have them, made of words.
pub fn is_identifier(value: &[u8]) -> bool {
    is_name(value) && Makeup::of(value).is_wordy(value)
}

fn is_name(value: &[u8]) -> bool {
    value.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Where the secret is, or code that makes it, instead of the secret.
pub fn is_reference(value: &[u8], form: Form) -> bool {
    // `-pass pass:$PASSWORD`
    let value = value.strip_prefix(b"pass:").unwrap_or(value);
    let has = |needle: &str| value.windows(needle.len()).any(|window| window == needle.as_bytes());
    if INSERTED.iter().any(|one| has(one)) {
        return true;
    }
    let (Some(first), Some(last)) = (value.first(), value.last()) else { return true };
    let rest = value.get(1..).unwrap_or_default();
    let name = |text: &[u8]| {
        text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.:>-[]".contains(byte))
    };
    match (first, last) {
        (b'<', b'>') | (b'{', b'}') | (b'[', b']') | (b'%', b'%') | (b'(', b')') => return true,
        (b'(' | b'[' | b'{' | b'&', _) if form != Form::Quoted => return true,
        (b'$', _) => return !is_crypted(value) && (form != Form::Quoted || name(rest)),
        // An alias of YAML.
        (b'*', _) if form == Form::Plain && rest.contains(&b'-') && is_slug(rest) => return true,
        (b'&' | b'*' | b'@' | b'!' | b'%' | b'#' | b'?' | b'|' | b'>' | b'\\', _) => {
            let word = rest
                .iter()
                .take_while(|byte| byte.is_ascii_alphabetic() || b"_:.&'<>*".contains(byte))
                .count();
            if rest.len() < 4 || word == rest.len() {
                return true;
            }
        }
        (b'/' | b'~' | b'.', _) if is_path(value) => return true,
        _ => {}
    }
    if PATTERNS.iter().any(|one| has(one)) {
        return true;
    }
    if vocabulary::is_validation(value) {
        return true;
    }
    if REFERENCES.iter().any(|one| value.starts_with(one.as_bytes())) {
        return true;
    }
    if is_path(value) {
        return true;
    }
    if form != Form::Quoted && is_expression(value, form == Form::Spaced) {
        return true;
    }
    form != Form::Quoted && form != Form::Argument && is_code(value)
        || is_call(value, form == Form::Quoted)
}

/// Where something is put in when it is run.
#[rustfmt::skip]
const INSERTED: &[&str] = &[
    "${", "$(", "{{", "<%", "#{", "%(", "}}", "://", "%{", "$env:", "$ENV{", "%s", "{}", "{0}", "\\$",
];

/// Patterns of `sed` and `grep`.
#[rustfmt::skip]
const PATTERNS: &[&str] = &[
    ".*", ".+", "[^", "[A-Z", "[a-z", "[0-9", "[a-f", "[A-F", "[\\w", "\\w", "\\S", "\\s", "(?",
];

/// What points to a place where secrets are kept, or is sealed already.
#[rustfmt::skip]
const REFERENCES: &[&str] = &[
    "arn:", "projects/", "vault:", "op://", "file:", "env:", "ENC[", "ENC(", "secretsmanager",
    "ssm:", "sops:", "sha256:", "sha512:", "sha1:", "sha256-", "sha384-", "sha512-", "sha256=",
    "sha1=", "md5:", "!Ref", "!Sub", "!vault", "!GetAtt", "keyring:", "gcp-secret:", "awskms:",
    "data:", "npm:", "workspace:", "link:", "git+", "github:", "ref+", "secret:", "secretref:", "kms:", "pkcs11:", "0x0000", "AgA", "sealed:",
    "sb_publishable_", "pk_live_", "pk_test_", "pk.",
    "process.env", "os.environ", "System.getenv", "std::env", "import.meta", "ssh-rsa", "ssh-ed",
    "\\f[", "\\fI", "\\fB", "\\fR", "\\fP", "\\-",
    "AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2Vj", "age1", "@Microsoft.KeyVault",
];

/// `$2b$12$…`, `$6$…`: a crypted password.
pub fn is_crypted(value: &[u8]) -> bool {
    let Some(rest) = value.strip_prefix(b"$") else { return false };
    let tag = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    (1..=16).contains(&tag) && rest.get(tag) == Some(&b'$') && value.len() > 20
}

fn is_path(value: &[u8]) -> bool {
    let drive = matches!(value, [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    let starts = drive
        || [&b"/"[..], b"./", b"../", b"~/", b"\\\\"].iter().any(|one| value.starts_with(one));
    let parts = value.split(|byte| *byte == b'/');
    let named = |part: &[u8]| {
        part.len() <= 40
            && part.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-@*~".contains(byte))
            && !Makeup::of(part).is_random()
    };
    if starts {
        return drive || parts.clone().all(named);
    }
    // `config/keys/server.pem`
    let count = parts.clone().count();
    let ending = value.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    let file = ending.len() < value.len() && vocabulary::is_ending(ending);
    count > 1 && parts.clone().all(|part| named(part) && is_slug(part))
        || file && (parts.clone().all(named) || count == 1 && Makeup::of(value).is_wordy(value))
}

/// `user.password`, `config['x']`, `args.token`, `a ? b : c`
fn is_code(value: &[u8]) -> bool {
    let end = value.iter().rev().take_while(|byte| b"),;:]}".contains(byte)).count();
    let value = value.get(..value.len() - end).unwrap_or_default();
    let identifier = |part: &[u8]| {
        let part = part.strip_suffix(b"?").or(part.strip_suffix(b"!")).unwrap_or(part);
        let part = part.strip_prefix(b"#").unwrap_or(part);
        // `this$1`, `$Type`
        let part = part.strip_prefix(b"$").unwrap_or(part);
        let dollar = part.windows(2).position(|two| two[0] == b'$' && two[1].is_ascii_digit());
        let part = part.get(..dollar.unwrap_or(part.len())).unwrap_or_default();
        part.len() < 12 && is_name(part) || is_identifier(part)
    };
    let joined =
        value.contains(&b'.') || value.windows(2).any(|pair| pair == b"::" || pair == b"->");
    let mut parts = value.split(|byte| b".:->".contains(byte)).filter(|part| !part.is_empty());
    let chain = joined && parts.all(identifier);
    // `name(`: a call, whatever its arguments are.
    let call = value.iter().position(|byte| *byte == b'(').is_some_and(|at| {
        let name = value.get(..at).unwrap_or_default();
        let mut parts = name.split(|byte| b".:->#+".contains(byte)).filter(|part| !part.is_empty());
        at > 1 && parts.all(identifier)
    });
    let indexed = value.iter().position(|byte| *byte == b'[').is_some_and(|at| {
        at > 0
            && value.get(..at).is_some_and(|head| head.split(|byte| *byte == b'.').all(identifier))
    });
    let generic = value
        .iter()
        .position(|byte| *byte == b'<')
        .is_some_and(|at| at > 0 && value.ends_with(b">"));
    let arrow = value.windows(2).any(|pair| {
        pair == b"->" || pair == b"::" || pair == b"=>" || pair == b"&&" || pair == b"||"
    });
    chain
        || call
        || indexed
        || generic
        || arrow
            && !Makeup::of(value).is_random()
            && value.first().is_some_and(u8::is_ascii_alphabetic)
}

/// `getpass()`, `env("X")`. Without quotes it may be cut off at a space; in them it is whole.
fn is_call(value: &[u8], quoted: bool) -> bool {
    let head = value
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"_.:!?->".contains(byte))
        .count();
    let name = value.get(..head).unwrap_or_default();
    head >= 2
        && value.get(head) == Some(&b'(')
        && name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && (value.ends_with(b")")
            || value.ends_with(b"(")
            || value.ends_with(b");")
            || value.contains(&b'"')
            || value.contains(&b'\'')
            || !quoted && !value.contains(&b')'))
}
