//! Text to shell words that give the text back: `${x@Q}`, `printf %q`, `declare -p`, `set`, `set -x`, `alias`.
//! Each place has its own style in bash; all of them are here.

use bstr::{BString, ByteSlice};

use crate::control;
use crate::long::{self, STRETCH};

/// `${x@Q}`: single quotes, or `$'…'` if something is not printable.
pub fn reusable(text: &[u8]) -> BString {
    if needs_ansi(text) { ansi(text) } else { single(text) }
}

/// `printf %q`: backslashes, or `$'…'` if something is not printable.
pub fn percent_q(text: &[u8]) -> BString {
    match text {
        b"" => "''".into(),
        _ if needs_ansi(text) => ansi(text),
        _ => backslashed(text),
    }
}

/// The values `declare -p` and `${a[@]@A}` show: double quotes, or `$'…'` if something is not printable.
pub fn declared(text: &[u8]) -> BString {
    if needs_ansi(text) { ansi(text) } else { double(text) }
}

/// The values `set` lists: quoted only where needed.
pub fn listed(text: &[u8]) -> BString {
    if needs_ansi(text) {
        ansi(text)
    } else if has_meta(text) {
        single(text)
    } else {
        text.into()
    }
}

/// The words `set -x` shows.
pub fn traced(text: &[u8]) -> BString {
    if text.is_empty() || has_meta(text) {
        single(text)
    } else if needs_ansi(text) {
        ansi(text)
    } else {
        text.into()
    }
}

/// `'…'` whatever it holds: `alias`, `trap`, `export -p` of functions.
pub fn single(text: &[u8]) -> BString {
    if text == b"'" {
        return "\\'".into();
    }
    let mut quoted = Vec::with_capacity(text.len() + 2);
    quoted.push(b'\'');
    for (at, part) in text.split_str(b"'").enumerate() {
        if at > 0 {
            quoted.extend_from_slice(b"'\\''");
        }
        // A request that is stopped looks at nothing of this any more.
        if long::extend(&mut quoted, part).is_err() {
            break;
        }
    }
    quoted.push(b'\'');
    quoted.into()
}

/// `"…"`
pub fn double(text: &[u8]) -> BString {
    let mut quoted = Vec::with_capacity(text.len() + 2);
    quoted.push(b'"');
    for &byte in text {
        if matches!(byte, b'"' | b'\\' | b'$' | b'`') {
            quoted.push(b'\\');
        }
        quoted.push(byte);
    }
    quoted.push(b'"');
    quoted.into()
}

/// `$'…'`
pub fn ansi(text: &[u8]) -> BString {
    let mut quoted = b"$'".to_vec();
    for (start, end, letter) in text.char_indices() {
        let bytes = text.get(start..end).unwrap_or_default();
        let escape = match letter {
            '\u{1b}' => b'E',
            '\u{7}' => b'a',
            '\u{8}' => b'b',
            '\u{c}' => b'f',
            '\n' => b'n',
            '\r' => b'r',
            '\t' => b't',
            '\u{b}' => b'v',
            '\\' => b'\\',
            '\'' => b'\'',
            _ if is_printable(letter, bytes) => {
                quoted.extend_from_slice(bytes);
                continue;
            }
            _ => {
                for byte in bytes {
                    quoted.extend_from_slice(format!("\\{byte:03o}").as_bytes());
                }
                continue;
            }
        };
        quoted.extend_from_slice(&[b'\\', escape]);
    }
    quoted.push(b'\'');
    quoted.into()
}

/// Only printable ASCII; what comes of a request that is stopped does not matter.
fn is_plain(part: &[u8]) -> bool {
    part.len() == STRETCH && control::check_here().is_err()
        || part.iter().all(|byte| (0x20..0x7f).contains(byte))
}

pub fn needs_ansi(text: &[u8]) -> bool {
    if text.chunks(STRETCH).all(is_plain) {
        return false;
    }
    text.char_indices()
        .any(|(start, end, letter)| !is_printable(letter, text.get(start..end).unwrap_or_default()))
}

fn is_printable(letter: char, bytes: &[u8]) -> bool {
    let broken = letter == char::REPLACEMENT_CHARACTER && bytes != "\u{fffd}".as_bytes();
    !broken && !letter.is_control()
}

/// Characters that mean something to the shell where they stand.
fn has_meta(text: &[u8]) -> bool {
    text.iter().enumerate().any(|(at, byte)| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        match byte {
            b'~' => matches!(before, None | Some(b'=' | b':')),
            b'#' => before.is_none(),
            _ => is_meta(*byte),
        }
    })
}

fn is_meta(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'
            | b'\n'
            | b'\''
            | b'"'
            | b'\\'
            | b'|'
            | b'&'
            | b';'
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'!'
            | b'{'
            | b'}'
            | b'*'
            | b'['
            | b']'
            | b'?'
            | b'^'
            | b'$'
            | b'`'
    )
}

fn backslashed(text: &[u8]) -> BString {
    let mut quoted = Vec::with_capacity(text.len() + 8);
    let mut before = None;
    for &byte in text {
        let special = match byte {
            b'~' => matches!(before, None | Some(b'=' | b':')),
            b'#' => before.is_none(),
            b',' => true,
            _ => is_meta(byte),
        };
        if special {
            quoted.push(b'\\');
        }
        quoted.push(byte);
        before = Some(byte);
    }
    quoted.into()
}

#[cfg(test)]
mod tests {
    use super::{declared, listed, percent_q, reusable, traced};

    /// Text, `@Q`, `%q`, `declare -p`, `set`, `set -x`: what bash 5.2 prints.
    const TABLE: &[[&str; 6]] = &[
        ["'", "\\'", "\\'", "\"'\"", "\\'", "\\'"],
        ["a'b", "'a'\\''b'", "a\\'b", "\"a'b\"", "'a'\\''b'", "'a'\\''b'"],
        ["", "''", "''", "\"\"", "", "''"],
        ["a b", "'a b'", "a\\ b", "\"a b\"", "'a b'", "'a b'"],
        ["a\nb", "$'a\\nb'", "$'a\\nb'", "$'a\\nb'", "$'a\\nb'", "'a\nb'"],
        ["~x", "'~x'", "\\~x", "\"~x\"", "'~x'", "'~x'"],
        ["a~", "'a~'", "a~", "\"a~\"", "a~", "a~"],
        ["a=~", "'a=~'", "a=\\~", "\"a=~\"", "'a=~'", "'a=~'"],
        ["#a", "'#a'", "\\#a", "\"#a\"", "'#a'", "'#a'"],
        ["a#b", "'a#b'", "a#b", "\"a#b\"", "a#b", "a#b"],
        ["a,b", "'a,b'", "a\\,b", "\"a,b\"", "a,b", "a,b"],
        ["$x", "'$x'", "\\$x", "\"\\$x\"", "'$x'", "'$x'"],
        ["é", "'é'", "é", "\"é\"", "é", "é"],
        ["\u{1}", "$'\\001'", "$'\\001'", "$'\\001'", "$'\\001'", "$'\\001'"],
        [
            "\u{85}",
            "$'\\302\\205'",
            "$'\\302\\205'",
            "$'\\302\\205'",
            "$'\\302\\205'",
            "$'\\302\\205'",
        ],
    ];

    #[test]
    fn as_bash_quotes() {
        for [text, at_q, percent, declare, set, trace] in TABLE {
            assert_eq!(reusable(text.as_bytes()), *at_q, "@Q of {text:?}");
            assert_eq!(percent_q(text.as_bytes()), *percent, "%q of {text:?}");
            assert_eq!(declared(text.as_bytes()), *declare, "declare -p of {text:?}");
            assert_eq!(listed(text.as_bytes()), *set, "set of {text:?}");
            assert_eq!(traced(text.as_bytes()), *trace, "set -x of {text:?}");
        }
    }
}
