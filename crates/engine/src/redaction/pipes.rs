//! What is sent to programs that read a password: through a pipe, or as a string after `<<<`.

use super::commands;
use super::found::{Found, Hit};
use super::lines::{is_real, string_or_word};
use super::reading::{Stops, after_spaces, at, unquoted_end};
use super::values::{Makeup, is_slug};

/// What `echo` or `printf` sends into the pipe that ends here.
pub fn piped(hit: &Hit<'_>, found: &mut Found<'_>) {
    let before = hit.line.get(..hit.at).unwrap_or_default();
    let Some(pipe) = before.iter().rposition(|byte| *byte == b'|') else { return };
    let front = before.get(..pipe).unwrap_or_default();
    // Others read something else: `git update-ref --stdin`.
    let reader = hit.line.get(pipe..hit.at + 10).unwrap_or(before.get(pipe..).unwrap_or_default());
    let has = |word: &[u8]| reader.windows(word.len()).any(|window| window == word);
    let words = [&b"pass"[..], b"token", b"key", b"secret", b"login"];
    if hit.rest().starts_with(b"-stdin") && !words.iter().any(|word| has(word)) {
        return;
    }
    // `grep passwd file` reads something else as well.
    let changed = before.get(pipe + 1..).unwrap_or_default().trim_ascii();
    if hit.rest().starts_with(b"passwd ") && !matches!(changed, b"" | b"sudo" | b"smb") {
        return;
    }
    let Some((start, end)) = echoed(front) else { return };
    let text = front.get(start..end).unwrap_or_default();
    // What else is sent to such a program is an answer, or a line of a file.
    let word = text.iter().all(u8::is_ascii_alphabetic) && text.len() < 8;
    if [&b"sudo"[..], b"kinit", b"crypt"].iter().any(|one| hit.rest().starts_with(one))
        && (word || text.contains(&b' '))
    {
        return;
    }
    let name = if hit.rest().starts_with(b"chpasswd") {
        text.iter().position(|byte| *byte == b':').map_or(0, |colon| colon + 1)
    } else {
        0
    };
    if text.get(name..).is_some_and(is_real) {
        found.add(start + name, end, "password-argument");
    }
}

/// The same for programs that read a token, where other things may be sent as well.
pub fn piped_token(hit: &Hit<'_>, found: &mut Found<'_>) {
    let before = hit.line.get(..hit.at).unwrap_or_default();
    let Some(pipe) = before.iter().rposition(|byte| *byte == b'|') else { return };
    let front = before.get(..pipe).unwrap_or_default();
    let Some((start, end)) = echoed(front) else { return };
    if front.get(start..end).is_some_and(is_token) {
        found.add(start, end, "token");
    }
}

fn is_token(text: &[u8]) -> bool {
    Makeup::of(text).is_random() && is_real(text) && !is_slug(text)
}

/// What the last `echo` or `printf` here prints.
pub fn echoed(front: &[u8]) -> Option<(usize, usize)> {
    let find = |word: &[u8]| {
        front.windows(word.len()).rposition(|window| window == word).map(|place| place + word.len())
    };
    let place = find(b"echo ").or_else(|| find(b"printf "))?;
    let mut start = after_spaces(front, place);
    while at(front, start) == b'-' {
        start = after_spaces(front, unquoted_end(front, start, Stops::Word));
    }
    let (start, end) = string_or_word(front, start);
    // `printf '%s\n' …`
    if at(front, start) == b'%' {
        return Some(string_or_word(front, after_spaces(front, end + 1)));
    }
    Some((start, end))
}

/// What is sent to a program that reads a password.
pub fn here_string(hit: &Hit<'_>, found: &mut Found<'_>) {
    let before = hit.line.get(..hit.at).unwrap_or_default();
    let readers = [
        &b"kinit"[..],
        b"word-stdin",
        b"passwd --stdin",
        b"--with-token",
        b"sudo -S",
        b"passphrase-fd",
        b"cryptsetup",
        b"chpasswd",
        b"vncpasswd",
        b"load-key",
        b"secret put",
        b"lpass login",
        b"keepassxc-cli",
    ];
    let reads = readers.iter().any(|one| before.windows(one.len()).any(|window| window == *one));
    let written = || commands::is_written_to_secret_file(before);
    let (mut start, end) = string_or_word(hit.line, after_spaces(hit.line, hit.at + 3));
    let text = hit.line.get(start..end).unwrap_or_default();
    if before.windows(8).any(|window| window == b"chpasswd") {
        start += text.iter().position(|byte| *byte == b':').map_or(0, |colon| colon + 1);
    }
    if (reads || written()) && hit.line.get(start..end).is_some_and(is_real) {
        found.add(start, end, "password-argument");
    }
}
