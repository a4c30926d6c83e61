//! What does harm in a file whose language nobody here reads, or that a tool loads in ways nobody here knows.
//!
//! No single name in it tells: programs find the home, talk to servers and decode texts for good reasons. What counts
//! is what comes together: the home and what is secret there, a secret and a connection, a text that is decoded and
//! evaluated. Looked at only if this very text has written the file and something runs that may load it.

mod lists;

use bstr::{BStr, ByteSlice};

use crate::hosts::{host_of, is_loopback};

/// Longer files are no settings that somebody types.
const LONGEST: usize = 256 << 10;

/// When the code in a file runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loaded {
    /// With the tool that finds it: settings, plugins, tasks.
    AtOnce,
    /// When the program runs of which it is a part.
    WithProgram,
    /// It is data, in which code stands as texts.
    AsData,
}

/// What the file would do that no project needs; `None`: nothing that can be seen.
pub(super) fn harm(text: &BStr, loaded: Loaded) -> Option<&'static str> {
    let text = text.get(..LONGEST).unwrap_or(text).as_bstr();
    let home = reads_home(text);
    let home_or_text = home || any(text, lists::HOME_TEXT);
    let secret = any(text, lists::SECRET);
    let raw = any(text, lists::RAW);
    let connects = raw || any(text, lists::CONNECTING);
    // Data may well name a key (`identity_file: ~/.ssh/id_rsa`), and so may a test.
    let does = || {
        loaded == Loaded::AtOnce
            || connects
            || any(text, lists::WRITING)
            || any(text, lists::READING)
    };
    if home_or_text && (secret || any(text, lists::STARTUP)) && does() {
        return Some("what is secret or obeyed in the home");
    }
    if loaded == Loaded::AtOnce && any(text, lists::SYSTEM_STARTUP) {
        return Some("files of the system");
    }
    if removes_home(text, home) {
        return Some("removes what is in the home");
    }
    if loaded == Loaded::AtOnce && home && any(text, lists::WRITING) {
        return Some("writes into the home");
    }
    if connects && (secret || reads_settings(text) || any(text, lists::ENVIRONMENT)) {
        return Some("sends what is secret");
    }
    if evaluates_hidden(text, connects) {
        return Some("evaluates text that it decodes or fetches");
    }
    if raw && any(text, lists::SHELLS) && any(text, lists::HANDING_OVER) {
        return Some("a shell on a connection");
    }
    let strange = || names_a_stranger(text) || (raw && !names_this_machine(text));
    (loaded == Loaded::AtOnce && connects && !any(text, lists::PRETENDING) && strange())
        .then_some("connects while it is loaded")
}

/// Does the line start a program, in a language that is read here?
pub(super) fn starts_something(line: &[u8]) -> bool {
    any(line.as_bstr(), lists::STARTING)
}

/// … where backquotes do so as well.
pub(super) fn starts_something_quoted(line: &[u8]) -> bool {
    line.contains(&b'`') || starts_something(line)
}

fn any(text: &BStr, sights: &[&str]) -> bool {
    sights.iter().any(|sight| places(text, sight).next().is_some())
}

/// Where the sight stands as a name or a path of its own: `.profile` is none in `user.profile`.
fn places<'t>(text: &'t BStr, sight: &'t str) -> impl Iterator<Item = usize> + 't {
    let bytes = sight.as_bytes();
    let first = bytes.first().copied().unwrap_or_default();
    let last = bytes.last().copied().unwrap_or_default();
    text.find_iter(sight).filter(move |at| {
        let before = at.checked_sub(1).and_then(|at| text.get(at)).copied();
        let after = text.get(at + sight.len()).copied();
        let begins = match first {
            // A file, not a property: `/.x`, `".x`, ` .x`. Escaped quotes end in one as well.
            b'.' if !sight.ends_with('(') && !sight.ends_with(')') => {
                before.is_none_or(|byte| b"/\"'`~ (=:>,;[{*\\|@\n\t".contains(&byte))
            }
            byte if is_part(byte) => before.is_none_or(|byte| !is_part(byte)),
            _ => true,
        };
        begins && (!is_part(last) || after.is_none_or(|byte| !is_part(byte)))
    })
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Asks where the home is. Who sets `HOME` for what it starts, as tests do, does not.
fn reads_home(text: &BStr) -> bool {
    lists::HOME.iter().any(|sight| {
        places(text, sight).any(|at| *sight != "HOME" || !is_set(text, at, at + sight.len()))
    })
}

/// `HOME=x`, `env["HOME"] = x`, `{ HOME: x }`, `setenv("HOME", x)`
fn is_set(text: &BStr, start: usize, end: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    if before.ends_with(b"$") || before.ends_with(b"${") {
        return false;
    }
    let called = before.trim_end_with(|c| matches!(c, '"' | '\'' | ' '));
    if ["setenv(", "Setenv(", "set_var(", "setProperty("].iter().any(|it| called.ends_with_str(it))
    {
        return true;
    }
    let rest = text.get(end..).unwrap_or_default();
    let rest = rest.trim_start_with(|c| matches!(c, '"' | '\'' | ']' | '}' | ' '));
    match rest.first() {
        Some(b'=') => !matches!(rest.get(1), Some(b'=' | b'~')),
        Some(b':') => !matches!(rest.get(1), Some(b'-' | b'/' | b'=')),
        _ => false,
    }
}

/// The home is asked for and something is removed, or both stand in one line as texts.
fn removes_home(text: &BStr, home: bool) -> bool {
    if !any(text, lists::REMOVING) {
        return false;
    }
    home || text.lines().any(|line| {
        let line = line.as_bstr();
        any(line, lists::HOME_TEXT) && any(line, lists::REMOVING)
    })
}

/// `readFileSync('.env')`, `Path(".env").read_text()`: not what a library loads for the program.
fn reads_settings(text: &BStr) -> bool {
    const READING: [&str; 8] =
        ["read", "Read", "open", "slurp", "Bun.file", "File.", "fromFile", "file_get"];
    places(text, ".env").any(|at| {
        let around = text.get(at.saturating_sub(64)..(at + 48).min(text.len())).unwrap_or_default();
        READING.iter().any(|sight| around.contains_str(sight))
    })
}

/// Text is made readable and run, or fetched and run.
fn evaluates_hidden(text: &BStr, connects: bool) -> bool {
    let evaluates = any(text, lists::EVALUATING)
        || places(text, "exec(").any(|at| {
            // `pattern.exec(x)` looks for something.
            !matches!(at.checked_sub(1).and_then(|at| text.get(at)), Some(b'.'))
        });
    if evaluates && (connects || any(text, lists::DECODING)) {
        // Both in one statement, or one after the other in a file that does little else.
        return true;
    }
    text.lines().any(|line| {
        let line = line.as_bstr();
        any(line, lists::DECODING) && any(line, &["execSync", "os.system", "os.popen", "system("])
    })
}

/// An address on the internet: a name with a dot, or a number, that is not this machine.
fn names_a_stranger(text: &BStr) -> bool {
    const SCHEMES: [&str; 6] = ["http://", "https://", "tcp://", "ws://", "wss://", "ftp://"];
    SCHEMES.iter().any(|scheme| {
        text.find_iter(scheme).any(|at| {
            let rest = text.get(at..).unwrap_or_default();
            let ends = |byte: &u8| b"\"'`<>)\\".contains(byte) || byte.is_ascii_whitespace();
            let end = rest.iter().position(ends).unwrap_or(rest.len());
            let address = rest.get(..end).unwrap_or(rest).as_bstr();
            let host = host_of(address);
            host.contains(&b'.') && !is_loopback(host)
        })
    }) || numbers(text).any(|host| !is_loopback(host) && host != "0.0.0.0")
}

fn names_this_machine(text: &BStr) -> bool {
    text.contains_str("localhost") || text.contains_str("127.0.0.1") || text.contains_str("::1")
}

/// `203.0.113.9` in quotes.
fn numbers(text: &BStr) -> impl Iterator<Item = &BStr> {
    text.split(|byte| b"\"'`".contains(byte)).map(ByteSlice::as_bstr).filter(|part| {
        let fields = part.split_str(".").count();
        let digits = |field: &[u8]| {
            !field.is_empty() && field.len() < 4 && field.iter().all(u8::is_ascii_digit)
        };
        fields == 4 && part.len() < 16 && part.split_str(".").all(digits)
    })
}

#[cfg(test)]
mod tests;
