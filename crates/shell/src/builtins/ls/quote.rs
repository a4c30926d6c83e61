//! Quoting names, in the styles of GNU.

use bstr::ByteSlice;

use crate::width;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Literal,
    Shell,
    ShellAlways,
    ShellEscape,
    ShellEscapeAlways,
    C,
    CMaybe,
    Escape,
    Locale,
}

impl Style {
    pub(super) const NAMES: [(&'static str, Style); 10] = [
        ("literal", Style::Literal),
        ("shell", Style::Shell),
        ("shell-always", Style::ShellAlways),
        ("shell-escape", Style::ShellEscape),
        ("shell-escape-always", Style::ShellEscapeAlways),
        ("c", Style::C),
        ("c-maybe", Style::CMaybe),
        ("escape", Style::Escape),
        ("locale", Style::Locale),
        ("clocale", Style::Locale),
    ];

    /// Names that are quoted stand out among those that are not, so these get a space in front.
    pub(super) fn varies(self) -> bool {
        matches!(self, Style::Shell | Style::ShellEscape | Style::CMaybe)
    }
}

/// The name as it is shown and its width; `question_marks` replaces what cannot be shown.
pub(super) fn quote(name: &[u8], style: Style, question_marks: bool) -> (Vec<u8>, usize) {
    let mut quoted = match style {
        Style::Literal => name.to_vec(),
        Style::Shell => shell(name, false, false),
        Style::ShellAlways => shell(name, true, false),
        Style::ShellEscape => shell(name, false, true),
        Style::ShellEscapeAlways => shell(name, true, true),
        Style::C => c_style(name, b"\"", b"\"", b"\\\""),
        Style::Locale => c_style(name, "‘".as_bytes(), "’".as_bytes(), "\\’".as_bytes()),
        Style::CMaybe => {
            // A backslash alone is no reason for quotes.
            let others: Vec<u8> = name.iter().copied().filter(|byte| *byte != b'\\').collect();
            let plain = c_style(&others, b"\"", b"\"", b"\\\"").len() == others.len() + 2;
            if plain { name.to_vec() } else { c_style(name, b"\"", b"\"", b"\\\"") }
        }
        Style::Escape => escape(name),
    };
    let shows_raw = matches!(style, Style::Literal | Style::Shell | Style::ShellAlways);
    if question_marks && shows_raw {
        quoted = with_question_marks(&quoted);
    }
    let width = display_width(&quoted);
    (quoted, width)
}

/// The name of a directory above its listing: a colon must not be taken for the one behind it.
pub(super) fn quote_header(name: &[u8], style: Style, question_marks: bool) -> Vec<u8> {
    let (quoted, _) = match style {
        // Blanks are only escaped in lists.
        Style::Escape => {
            let parts: Vec<_> = name.split(|byte| *byte == b' ').map(escape).collect();
            (parts.join(&b' '), 0)
        }
        _ => quote(name, style, question_marks),
    };
    if !name.contains(&b':') {
        return quoted;
    }
    match style {
        Style::Shell if quoted == name => shell(name, true, false),
        Style::ShellEscape if quoted == name => shell(name, true, true),
        Style::Literal
        | Style::Shell
        | Style::ShellAlways
        | Style::ShellEscape
        | Style::ShellEscapeAlways => quoted,
        Style::CMaybe if quoted == name => {
            c_style(name, b"\"", b"\"", b"\\\"").replace(b":", b"\\:")
        }
        Style::C | Style::CMaybe | Style::Escape | Style::Locale => quoted.replace(b":", b"\\:"),
    }
}

/// Columns on a terminal: what cannot be shown has none, a byte that is no character one.
pub(super) fn display_width(text: &[u8]) -> usize {
    if text.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.len();
    }
    characters(text)
        .map(|(character, _)| match character {
            None => 1,
            Some(character) if character.is_control() => 0,
            Some(character) => width::columns(character).unwrap_or(1),
        })
        .sum()
}

/// The characters of a text with their bytes; `None` for a byte that is none.
fn characters(text: &[u8]) -> impl Iterator<Item = (Option<char>, &[u8])> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (character, length) = bstr::decode_utf8(rest);
        let length = if character.is_some() { length } else { 1 };
        let (bytes, after) = rest.split_at(length.min(rest.len()));
        rest = after;
        Some((character, bytes))
    })
}

fn is_shown(character: char) -> bool {
    !character.is_control() && width::columns(character).is_some()
}

/// What cannot be shown on a terminal becomes `?`.
pub(in crate::builtins) fn with_question_marks(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for (character, bytes) in characters(text) {
        match character {
            Some(character) if is_shown(character) => out.extend_from_slice(bytes),
            _ => out.push(b'?'),
        }
    }
    out
}

/// `\n` and the like, or octal digits for every byte.
fn push_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        match byte {
            0x07 => out.extend_from_slice(b"\\a"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x0b => out.extend_from_slice(b"\\v"),
            _ => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
}

fn c_style(name: &[u8], open: &[u8], close: &[u8], escaped_close: &[u8]) -> Vec<u8> {
    let mut out = open.to_vec();
    for (character, bytes) in characters(name) {
        match character {
            Some('\\') => out.extend_from_slice(b"\\\\"),
            Some(_) if bytes == close => out.extend_from_slice(escaped_close),
            Some(character) if is_shown(character) => out.extend_from_slice(bytes),
            _ => push_escaped(&mut out, bytes),
        }
    }
    out.extend_from_slice(close);
    out
}

fn escape(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    for (character, bytes) in characters(name) {
        match character {
            Some('\\') => out.extend_from_slice(b"\\\\"),
            Some(' ') => out.extend_from_slice(b"\\ "),
            Some(character) if is_shown(character) => out.extend_from_slice(bytes),
            _ => push_escaped(&mut out, bytes),
        }
    }
    out
}

/// Can the shell read the character as it is?
fn is_plain(at: usize, length: usize, character: char, escapes: bool) -> bool {
    match character {
        '\'' | '"' | '\\' | '`' | '$' | ' ' | '\t' | '\n' | '!' | '&' | '(' | ')' | '*' | ';'
        | '<' | '=' | '>' | '?' | '[' | '^' | '|' => false,
        '#' | '~' => at > 0,
        '{' | '}' => length > 1,
        character => !escapes || is_shown(character),
    }
}

/// For the shell; with `escapes`, what cannot be shown becomes `$'\n'`.
fn shell(name: &[u8], always: bool, escapes: bool) -> Vec<u8> {
    let mut at = 0;
    let mut plain = !name.is_empty();
    let mut shown = true;
    for (character, bytes) in characters(name) {
        let is = |character| is_plain(at, name.len(), character, escapes);
        plain &= character.map_or(!escapes, is);
        shown &= character.is_some_and(is_shown);
        at += bytes.len();
    }
    if plain && !always {
        return name.to_vec();
    }
    let single = name.contains(&b'\'');
    let breaks_double = name.iter().any(|byte| matches!(byte, b'"' | b'$' | b'`' | b'\\' | b'!'));
    if single && !breaks_double && (shown || !escapes) {
        return [b"\"".as_slice(), name, b"\""].concat();
    }
    let mut out = b"'".to_vec();
    let mut escaping = false;
    for (character, bytes) in characters(name) {
        let raw = !escapes || character.is_some_and(is_shown);
        if raw && escaping {
            out.extend_from_slice(b"''");
            escaping = false;
        } else if !raw && !escaping {
            out.extend_from_slice(b"'$'");
            escaping = true;
        }
        match character {
            _ if !raw => push_escaped(&mut out, bytes),
            Some('\'') => out.extend_from_slice(b"'\\''"),
            _ => out.extend_from_slice(bytes),
        }
    }
    out.push(b'\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(name: &str, style: Style) -> String {
        quote(name.as_bytes(), style, false).0.to_str_lossy().into_owned()
    }

    #[test]
    fn names_for_the_shell() {
        let table = [
            ("plain", "plain"),
            ("two words", "'two words'"),
            ("it's", "\"it's\""),
            ("it's $5", "'it'\\''s $5'"),
            ("a\nb", "'a'$'\\n''b'"),
            ("\n", "''$'\\n'"),
            ("#x", "'#x'"),
            ("x#", "x#"),
            ("{}", "{}"),
            ("é", "é"),
            ("", "''"),
        ];
        for (name, expected) in table {
            assert_eq!(quoted(name, Style::ShellEscape), expected);
        }
    }

    #[test]
    fn names_for_c() {
        assert_eq!(quoted("a\"b\\c\t\x01", Style::C), "\"a\\\"b\\\\c\\t\\001\"");
        assert_eq!(quoted("a b", Style::Escape), "a\\ b");
        assert_eq!(quoted("a b", Style::CMaybe), "a b");
    }
}
