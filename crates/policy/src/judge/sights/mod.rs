//! What does harm in a file whose language nobody here reads, or that a tool loads in ways nobody here knows.
//!
//! No single name in it tells: programs find the home, talk to servers and decode texts for good reasons. What counts
//! is what comes together: the home and what is secret there, a secret and a connection, a text that is decoded and
//! evaluated. Looked at only if this very text has written the file and something runs that may load it.

mod lists;
mod table;

use bstr::{BStr, ByteSlice};

use crate::hosts::{host_of, is_loopback};
use table::Kinds;

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
    let kinds = table::kinds(text);
    let has = |wanted: Kinds| kinds & wanted != 0;
    let at_once = loaded == Loaded::AtOnce;
    let connects = has(table::CONNECTING | table::RAW);
    // Data may well name a key (`identity_file: ~/.ssh/id_rsa`), and so may a test.
    let does = at_once || connects || has(table::WRITING | table::READING);
    let asks_for_home = has(table::HOME) && loaded != Loaded::AsData;
    let home = asks_for_home || does && has(table::HOME | table::HOME_TEXT);
    if home && has(table::SECRET | table::STARTUP) {
        return Some("what is secret or obeyed in the home");
    }
    if at_once && has(table::SYSTEM_STARTUP) {
        return Some("files of the system");
    }
    if has(table::REMOVING) && has(table::HOME) || removes_home(text, kinds) {
        return Some("removes what is in the home");
    }
    if at_once && has(table::HOME) && has(table::WRITING) {
        return Some("writes into the home");
    }
    if connects && (has(table::SECRET | table::ENVIRONMENT) || reads_settings(text)) {
        return Some("sends what is secret");
    }
    if evaluates_hidden(text, kinds) {
        return Some("evaluates text that it decodes or fetches");
    }
    if has(table::RAW) && has(table::SHELLS) && has(table::HANDING_OVER) {
        return Some("a shell on a connection");
    }
    // What comes in is run: `subprocess.run(s.recv(4096), shell=True)`.
    let obeys = has(table::RAW) && has(table::STARTING) && text.contains_str("recv(");
    if obeys && !names_this_machine(text) {
        return Some("does what it is told over a connection");
    }
    if loaded != Loaded::WithProgram && loads_from_elsewhere(text) {
        return Some("loads code from outside of the project");
    }
    let strange = || names_a_stranger(text) || (has(table::RAW) && !names_this_machine(text));
    (at_once && connects && !has(table::PRETENDING) && strange())
        .then_some("connects while it is loaded")
}

/// `pythonpath = /tmp/x`, `setupFiles: ['/tmp/x.js']`: settings that lead to code which is not the project's.
fn loads_from_elsewhere(text: &BStr) -> bool {
    const PLACES: [&str; 4] = ["/tmp/", "/var/tmp/", "/dev/shm/", "~/"];
    const CODE: [&str; 12] =
        [".js", ".cjs", ".mjs", ".ts", ".py", ".rb", ".so", ".lua", ".php", ".pl", ".sh", ".jar"];
    const SEARCHED: [&str; 6] =
        ["pythonpath", "python_path", "PYTHONPATH", "sys.path", "NODE_PATH", "modulePaths"];
    text.lines().any(|line| {
        let searched = SEARCHED.iter().any(|sight| line.contains_str(sight));
        PLACES.iter().any(|place| {
            line.find_iter(place).any(|at| {
                let alone = at.checked_sub(1).and_then(|at| line.get(at));
                let rest = line.get(at..).unwrap_or_default();
                let ends = |byte: &u8| b"\"'`,;:)]} \t".contains(byte);
                let path = rest.split(ends).next().unwrap_or_default();
                alone.is_none_or(|byte| !table::is_part(*byte) && *byte != b'.')
                    && (searched || CODE.iter().any(|end| path.ends_with_str(end)))
            })
        })
    })
}

/// Does the line start a program, in a language that is read here?
pub(super) fn starts_something(line: &[u8]) -> bool {
    table::kinds(line.as_bstr()) & table::STARTING != 0
}

/// … where backquotes do so as well.
pub(super) fn starts_something_quoted(line: &[u8]) -> bool {
    line.contains(&b'`') || starts_something(line)
}

/// Is there something in it that a harmful command would have?
pub(super) fn may_hold_a_command(line: &[u8]) -> bool {
    line.contains(&b'~') || table::kinds(line.as_bstr()) & table::COMMAND != 0
}

/// Makes itself a directory for what it does, and names nothing of the home.
pub(super) fn has_place_of_its_own(text: &BStr) -> bool {
    const MAKING: [&str; 6] =
        ["tmp_path", "mkdtemp", "TemporaryDirectory", "tmpdir", "mktmpdir", "tempdir"];
    MAKING.iter().any(|sight| text.contains_str(sight))
        && table::kinds(text) & (table::HOME | table::HOME_TEXT) == 0
}

/// Names the home, the root or the project as a whole: what is removed may be that.
pub(super) fn names_elsewhere(text: &BStr) -> bool {
    const WHOLE: [&str; 14] = [
        "\"/\"", "'/'", "\"/\\\"", "\"..\"", "'..'", "\".\"", "'.'", "getcwd", "cwd()", "\"/home",
        "'/home", "\"/etc", "'/etc", "Dir.pwd",
    ];
    table::kinds(text) & (table::HOME | table::HOME_TEXT) != 0
        || WHOLE.iter().any(|sight| text.contains_str(sight))
}

/// Starts programs, and makes texts of what nobody can read or has what is secret in it.
pub(super) fn starts_hidden(text: &BStr) -> bool {
    const HIDDEN: [&str; 22] = [
        "a85decode",
        "atob(",
        "b32decode",
        "b64decode",
        "b85decode",
        "base64_decode",
        "bytes([",
        "codecs.decode",
        "chr, [",
        "decode64",
        "decompress(",
        "fromCharCode",
        "fromhex(",
        "gzinflate",
        "hex2bin",
        "map(chr",
        "pack('H",
        "pack(\"H",
        "rot13",
        "strrev",
        "unhexlify",
        "[::-1]",
    ];
    let kinds = table::kinds(text);
    let of_bytes = || {
        let letters = ["'base64'", "\"base64\"", "'hex'", "\"hex\""];
        text.lines().any(|line| {
            line.contains_str("Buffer.from(") && letters.iter().any(|it| line.contains_str(it))
        })
    };
    let home = kinds & (table::HOME | table::HOME_TEXT) != 0;
    kinds & table::STARTING != 0
        && (home && kinds & table::SECRET != 0
            || HIDDEN.iter().any(|sight| text.contains_str(sight))
            || of_bytes())
}

/// Connects, and not only to this machine.
pub(super) fn talks_to_others(text: &BStr) -> bool {
    let kinds = table::kinds(text);
    kinds & (table::CONNECTING | table::RAW) != 0
        && (names_a_stranger(text) || kinds & table::PRETENDING == 0 && !names_this_machine(text))
}

/// Where the sight stands as a name or a path of its own.
fn places<'t>(text: &'t BStr, sight: &'t str) -> impl Iterator<Item = usize> + 't {
    text.find_iter(sight).filter(move |at| table::stands_alone(text, *at, sight.as_bytes()))
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

/// The home and what removes stand in one line; a command that removes counts beside what starts it.
fn removes_home(text: &BStr, kinds: Kinds) -> bool {
    const STARTED: Kinds = table::REMOVING_TEXT | table::STARTING;
    let both = |kinds: Kinds| {
        kinds & (table::HOME | table::HOME_TEXT) != 0
            && (kinds & table::REMOVING != 0 || kinds & STARTED == STARTED)
    };
    both(kinds) && text.lines().any(|line| both(table::kinds(line.as_bstr())))
}

/// `readFileSync('.env')`, `Path(".env").read_text()`: not what a library loads for the program.
fn reads_settings(text: &BStr) -> bool {
    const READING: [&str; 9] =
        ["read", "Read", "open", "slurp", "Bun.file", "File.", "File(", "fromFile", "file_get"];
    places(text, ".env").any(|at| {
        let around = text.get(at.saturating_sub(64)..(at + 48).min(text.len())).unwrap_or_default();
        READING.iter().any(|sight| around.contains_str(sight))
    })
}

/// Text is made readable and run, or fetched and run.
fn evaluates_hidden(text: &BStr, kinds: Kinds) -> bool {
    const HIDDEN: Kinds = table::CONNECTING | table::RAW | table::DECODING;
    const DECODED_AND_STARTED: Kinds = table::DECODING | table::STARTING;
    if kinds & HIDDEN == 0 {
        return false;
    }
    let evaluates = kinds & table::EVALUATING != 0
        || places(text, "exec(").any(|at| {
            // `pattern.exec(x)` looks for something.
            !matches!(at.checked_sub(1).and_then(|at| text.get(at)), Some(b'.'))
        });
    let decoded = |line: &[u8]| {
        table::kinds(line.as_bstr()) & DECODED_AND_STARTED == DECODED_AND_STARTED
            && ["execSync", "os.system", "popen", "system("].iter().any(|it| line.contains_str(it))
    };
    evaluates || kinds & DECODED_AND_STARTED == DECODED_AND_STARTED && text.lines().any(decoded)
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
