//! Lines of routers, switches and firewalls: what stands before and after the name says that a secret follows, whatever it looks
//! like. Cisco and its kin, Juniper and others; and the dialogue of file transfers, which is written in the same way.

use super::assignment::Context;
use super::found::{Hit, Memory};
use super::names::{Name, Promise};
use super::reading::{
    Stops, after_spaces, at, closing_quote, is_name_byte, opening_quote, unquoted_end,
};
use super::references::is_crypted;
use super::sure::is_given;
use super::{chosen, vocabulary};

/// What begins the line, the name, and what stands between the name and the secret. `*` is one word; `…` is as many as there are.
#[rustfmt::skip]
const COMMANDS: &[(&str, &str, &str)] = &[
    ("crypto isakmp", "key", ""), ("set vpnd …", "key", ""),
    ("", "pre-shared-key", ""), ("", "pre-shared-key", "local"), ("", "pre-shared-key", "remote"),
    ("", "pre-shared-key", "address * key"), ("ikev1", "pre-shared-key", ""),
    ("ikev2 local-authentication", "pre-shared-key", ""), ("ikev2 remote-authentication", "pre-shared-key", ""),
    ("tacacs-server", "key", ""), ("tacacs-server host …", "key", ""), ("radius-server", "key", ""),
    ("radius-server host …", "key", ""), ("server-private …", "key", ""), ("server …", "shared-secret", ""),
    ("", "key-string", ""), ("standby …", "key-string", ""), ("vrrp …", "key-string", ""), ("glbp …", "key-string", ""),
    ("neighbor *", "password", ""), ("enable", "secret", ""), ("enable", "password", ""),
    ("enable …", "secret", ""),
    ("username * …", "password", ""), ("username * …", "secret", ""), ("user * …", "password", ""),
    ("user * …", "secret", ""), ("snmp-server user * …", "auth", "*"), ("ldap-server …", "password", ""),
    ("ip ospf", "message-digest-key", "* md5"), ("ip ospf", "authentication-key", ""),
    ("ospf", "message-digest-key", "* md5"), ("ospf", "authentication-key", ""), ("area …", "message-digest-key", "* md5"),
    ("ntp", "authentication-key", "* md5"), ("ntp", "authentication-key", "* sha1"),
    ("isis", "password", ""), ("", "wpa-psk", "ascii"), ("", "wpa-psk", "hex"),
    ("ppp chap", "password", ""), ("ppp pap …", "password", ""), ("", "set-key", ""),
    ("set system …", "plain-text-password-value", ""), ("set system …", "encrypted-password", ""),
    ("set system …", "plaintext-password", ""), ("set system …", "secret", ""), ("set access …", "secret", ""),
    ("set security …", "pre-shared-key", "ascii-text"), ("set security …", "pre-shared-key", "hexadecimal"),
    ("set protocols …", "authentication-key", ""), ("set protocols …", "key", ""), ("set protocols …", "password", ""),
    ("set interfaces …", "secret", ""), ("set vpn …", "pre-shared-secret", ""), ("set vpn …", "password", ""),
    ("set access …", "password", ""), ("set access …", "chap-secret", ""), ("set interfaces …", "default-chap-secret", ""), ("set service …", "password", ""), ("set interfaces …", "password", ""),
    ("quote", "PASS", ""), ("quote", "pass", ""),
];

/// No command has more before its secret.
const LONGEST: usize = 256;

/// A server is named on this line, and its key stands on one of the next: `tacacs server TAC1`.
pub fn server(hit: &Hit<'_>, memory: &mut Memory) {
    let before = hit.line.get(..hit.at).unwrap_or_default();
    if hit.begins && before.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
        memory.remember_server(hit.absolute(hit.at));
    }
}

/// Where the secret is that follows the name on such a line.
pub fn look(context: &Context<'_>, memory: &Memory) -> Option<(usize, usize)> {
    if context.named.dashes > 0 || context.quote.is_some() {
        return None;
    }
    let name = (context.named.start, context.named.end);
    secret(context.hit, name, memory)
}

/// The same for a name that promises nothing elsewhere.
pub fn secret(hit: &Hit<'_>, name: (usize, usize), memory: &Memory) -> Option<(usize, usize)> {
    let line = hit.line;
    let word = line.get(name.0..name.1)?;
    if !hit.begins || name.0 > LONGEST {
        return None;
    }
    let front = after_prompt(line.get(..name.0)?);
    let served = || {
        let first = hit.begins && front.trim_ascii().is_empty();
        word == b"key" && first && memory.server_is_near(hit.absolute(name.0))
    };
    let mut commands = COMMANDS.iter().filter(|(_, name, _)| name.as_bytes() == word).peekable();
    // Most names stand on lines of another kind.
    commands.peek()?;
    let of_server = served().then(|| after_spaces(line, name.1));
    let mut places = commands
        .filter(|(begin, _, _)| fits(front, begin))
        .filter_map(|(_, _, between)| after(line, name.1, between))
        .chain(of_server);
    places.find_map(|place| {
        let (start, end) = value(line, place)?;
        is_chosen(line.get(start..end)?).then_some((start, end))
    })
}

/// `R1(config)# `: what follows it.
fn after_prompt(front: &[u8]) -> &[u8] {
    let sign = front.iter().take(64).position(|byte| *byte == b'#');
    let prompt = sign.filter(|sign| {
        front.get(..*sign).is_some_and(|head| {
            !head.is_empty()
                && head.iter().all(|byte| is_name_byte(*byte) || b"()@~".contains(byte))
        })
    });
    front.get(prompt.map_or(0, |sign| sign + 1)..).unwrap_or_default()
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty())
}

/// The words before the name are these.
fn fits(front: &[u8], begin: &str) -> bool {
    let mut have = words(front);
    for wanted in words(begin.as_bytes()) {
        if wanted == "…".as_bytes() {
            return have.count() < 16;
        }
        if have.next().is_none_or(|word| wanted != b"*" && word != wanted) {
            return false;
        }
    }
    have.next().is_none()
}

/// After the words that stand between the name and the secret.
fn after(line: &[u8], end: usize, between: &str) -> Option<usize> {
    let mut place = after_spaces(line, end);
    for wanted in words(between.as_bytes()) {
        let end = unquoted_end(line, place, Stops::Word);
        let word = line.get(place..end)?;
        if word.is_empty() || wanted != b"*" && word != wanted {
            return None;
        }
        place = after_spaces(line, end);
    }
    Some(place)
}

/// In quotes or not; a digit before it says how it is encoded: `password 7 …`.
fn value(line: &[u8], place: usize) -> Option<(usize, usize)> {
    let level = at(line, place).is_ascii_digit() && at(line, place + 1) == b' ';
    let place = if level { after_spaces(line, place + 1) } else { place };
    match opening_quote(line, place) {
        Some(quote) => {
            let start = place + quote.length();
            closing_quote(line, start, quote).map(|end| (start, end))
        }
        None => Some((place, unquoted_end(line, place, Stops::Line))),
    }
}

/// No word of the command's own, as `local` or `address` are, and no gap to fill in.
fn is_chosen(text: &[u8]) -> bool {
    let name = Name { promise: Promise::Password, kind: "password", capitals: true, last: true };
    let odd = text.iter().any(u8::is_ascii_digit) || chosen::is_chosen(text);
    let sealed = is_crypted(text) || text.starts_with(b"$9$") && text.len() > 8;
    sealed
        || odd
            && text.len() > 3
            && !text.contains(&b' ')
            && !vocabulary::is_placeholder(text)
            && is_given(text, name)
}

/// `/ip ipsec identity add peer=hub secret=…`: a command of a router whose fields have names, or a line of what it exports.
pub fn is_defined(context: &Context<'_>) -> bool {
    let line = context.line();
    if context.named.start > LONGEST {
        return false;
    }
    let front = after_prompt(line.get(..context.named.start).unwrap_or_default());
    let begun = [
        &b"/ip "[..],
        b"/ppp ",
        b"/interface ",
        b"/user ",
        b"/radius ",
        b"/tool ",
        b"add ",
        b"set ",
    ]
    .iter()
    .any(|one| front.trim_ascii_start().starts_with(one));
    let name = line.get(context.named.start..context.named.end).unwrap_or_default();
    begun
        && matches!(name, b"secret" | b"password")
        && front.ends_with(b" ")
        && front.contains(&b'=')
}
