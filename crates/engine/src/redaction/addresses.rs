//! Passwords in addresses: `scheme://user:password@host`, and keys that stand where the user would.

use super::found::{Found, Hit};
use super::reading::at;
use super::values::Makeup;
use super::vocabulary;

/// The longest name and password that is looked for.
const LONGEST: usize = 1024;

/// `://` begins here.
pub fn look(hit: &Hit<'_>, found: &mut Found<'_>) {
    let start = hit.at + 3;
    let rest = hit.line.get(start..).unwrap_or_default();
    let rest = rest.get(..LONGEST.min(rest.len())).unwrap_or_default();
    let end = rest.iter().position(|byte| {
        matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | 0..=31)
    });
    let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    let scheme = scheme(hit.line, hit.at);
    let kind = kind(scheme);
    let Some(sign) = sign(word, kind) else { return };
    let user = word.get(..sign).unwrap_or_default();
    match user.iter().position(|byte| *byte == b':') {
        Some(colon) => {
            let (name, password) = (&user[..colon], user.get(colon + 1..).unwrap_or_default());
            if is_password(name, password) {
                found.add(start + colon + 1, start + sign, kind);
                // A token in the place of the user, as in `https://TOKEN:x-oauth-basic@`.
            } else if is_key(name) {
                found.add(start, start + colon, kind);
            }
        }
        None if is_key(user) && !is_announced(word.get(sign + 1..).unwrap_or_default()) => {
            found.add(start, start + sign, kind);
        }
        None => {}
    }
}

/// Where the `@` is that ends name and password. A password may contain `@` or `/`, if somebody has not encoded it.
fn sign(word: &[u8], kind: &str) -> Option<usize> {
    // Addresses of databases have no `@` behind the host.
    if kind == DATABASE {
        let path = word.iter().position(|byte| *byte == b'?').unwrap_or(word.len());
        return word.get(..path)?.iter().rposition(|byte| *byte == b'@');
    }

    let slash =
        word.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(word.len());
    let authority = word.get(..slash).unwrap_or_default();
    if let Some(sign) = authority.iter().rposition(|byte| *byte == b'@') {
        return Some(sign);
    }
    // `user:pa/ss@host`: no port is made of anything but digits.
    let colon = authority.iter().position(|byte| *byte == b':')?;
    let port = authority.get(colon + 1..).unwrap_or_default();
    if authority.starts_with(b"[") || port.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let sign = word.iter().position(|byte| *byte == b'@')?;
    let password = word.get(colon + 1..sign)?;
    (password.len() <= 128 && !password.contains(&b'&') && !password.contains(&b'='))
        .then_some(sign)
}

fn is_password(user: &[u8], password: &[u8]) -> bool {
    let code = |byte: &u8| b"{}$<>()".contains(byte);
    let variable = matches!(password.first(), Some(b'$' | b'{' | b'<' | b'%' | b'['))
        && (password.iter().filter(|byte| code(byte)).count() > 1
            || !password.starts_with(b"%")
                && password.iter().skip(1).all(|byte| byte.is_ascii_uppercase() || *byte == b'_'));
    // `<password>` in a page.
    let variable = variable || password.starts_with(b"&lt;");
    let directive = matches!(password, b"%s" | b"%v" | b"%d" | b"%q");
    !(password.len() < 3
        || variable
        || directive
        || user == password
        || vocabulary::is_placeholder(password)
        || password.eq_ignore_ascii_case(b"x-oauth-basic")
        || password.contains(&b'{') && password.contains(&b'}'))
}

/// `user:password@tcp(host:3306)/database`, as drivers of databases take it: the sign of the host is here.
pub fn of_driver(hit: &Hit<'_>, found: &mut Found<'_>) {
    let before = hit.line.get(..hit.at).unwrap_or_default();
    let before = before.get(before.len().saturating_sub(LONGEST)..).unwrap_or_default();
    let open = before.iter().rposition(|byte| b" \t\"'`".contains(byte));
    let word = before.get(open.map_or(0, |open| open + 1)..).unwrap_or_default();
    let Some(colon) = word.iter().position(|byte| *byte == b':') else { return };
    let (user, password) = (&word[..colon], word.get(colon + 1..).unwrap_or_default());
    // `DSN=user`
    let user = user.rsplit(|byte| *byte == b'=').next().unwrap_or_default();
    let address = user.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    if !address && !password.starts_with(b"/") && is_password(user, password) {
        found.add(hit.at - password.len(), hit.at, DATABASE);
    }
}

/// Where reports of errors are sent: every page that sends them has that address, and its key opens nothing else.
fn is_announced(host: &[u8]) -> bool {
    let host = host.split(|byte| b"/:?".contains(byte)).next().unwrap_or_default();
    host == b"sentry.io" || host.ends_with(b".sentry.io")
}

/// Long and random: no name of a person.
fn is_key(user: &[u8]) -> bool {
    user.len() >= 20
        && Makeup::of(user).is_random()
        && user.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte))
        && !vocabulary::is_placeholder(user)
}

fn scheme(line: &[u8], end: usize) -> &[u8] {
    let mut start = end;
    while start > 0
        && end - start < 32
        && (at(line, start - 1).is_ascii_alphanumeric() || b"+.-".contains(&at(line, start - 1)))
    {
        start -= 1;
    }
    line.get(start..end).unwrap_or_default()
}

const DATABASE: &str = "connection-string";

fn kind(scheme: &[u8]) -> &'static str {
    let known = [
        &b"postgres"[..],
        b"mysql",
        b"mariadb",
        b"mongodb",
        b"redis",
        b"amqp",
        b"mssql",
        b"sqlserver",
        b"oracle",
        b"clickhouse",
        b"cockroach",
        b"jdbc",
        b"ldap",
        b"smtp",
        b"nats",
        b"kafka",
        b"cassandra",
        b"couchdb",
        b"snowflake",
        b"bolt",
        b"neo4j",
        b"elastic",
        b"influx",
    ];
    let lower = scheme.to_ascii_lowercase();
    if known.iter().any(|one| lower.starts_with(one)) { DATABASE } else { "url-password" }
}
