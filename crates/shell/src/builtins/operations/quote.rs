//! Names in messages, quoted such that a shell would read them back: `'a b'`, `"it's"`, `'a'$'\n''b'`.

use bstr::{BStr, BString, ByteSlice};

/// The name in quotes, always.
pub(in crate::builtins) fn quoted(name: &BStr) -> BString {
    if name.contains(&b'\'') && name.chars().all(|character| fits_double_quotes(character, name)) {
        return [b"\"", name.as_bytes(), b"\""].concat().into();
    }
    let mut text = BString::from("'");
    let mut escaping = false;
    for (start, end, character) in name.char_indices() {
        let bytes = name.get(start..end).unwrap_or_default();
        if is_printable(character, bytes) {
            if escaping {
                text.extend_from_slice(b"''");
                escaping = false;
            }
            if character == '\'' {
                text.extend_from_slice(b"'\\''");
            } else {
                text.extend_from_slice(bytes);
            }
        } else {
            if !escaping {
                text.extend_from_slice(b"'$'");
                escaping = true;
            }
            for byte in bytes {
                text.extend_from_slice(escape(*byte).as_bytes());
            }
        }
    }
    text.push(b'\'');
    text
}

/// Inside double quotes these mean nothing to a shell, with or without history expansion.
fn fits_double_quotes(character: char, name: &BStr) -> bool {
    match character {
        '\'' | ' ' | '%' | '+' | ',' | '-' | '.' | '/' | ':' | '@' | ']' | '_' => true,
        character if character.is_ascii() => character.is_ascii_alphanumeric(),
        '\u{fffd}' => name.to_str().is_ok(),
        character => !character.is_control(),
    }
}

fn is_printable(character: char, bytes: &[u8]) -> bool {
    let invalid = character == '\u{fffd}' && bytes != "\u{fffd}".as_bytes();
    !invalid && !character.is_control()
}

fn escape(byte: u8) -> String {
    match byte {
        0x07 => "\\a".to_owned(),
        0x08 => "\\b".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\n' => "\\n".to_owned(),
        0x0b => "\\v".to_owned(),
        0x0c => "\\f".to_owned(),
        b'\r' => "\\r".to_owned(),
        byte => format!("\\{byte:03o}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_as_gnu_does() {
        for (name, expected) in [
            (&b"x/a"[..], &b"'x/a'"[..]),
            (b"it's", b"\"it's\""),
            (b"it's$x", b"'it'\\''s$x'"),
            (b"q\"q", b"'q\"q'"),
            (b"q\"'q", b"'q\"'\\''q'"),
            (b"a\nb", b"'a'$'\\n''b'"),
            (b"a\n\nb", b"'a'$'\\n\\n''b'"),
            (b"x\n", b"'x'$'\\n'"),
            (b"x\x01", b"'x'$'\\001'"),
            (b"x\xff", b"'x'$'\\377'"),
            ("\u{e9}".as_bytes(), "'\u{e9}'".as_bytes()),
            ("\u{e9}'".as_bytes(), "\"\u{e9}'\"".as_bytes()),
            (b"a'\nb", b"'a'\\'''$'\\n''b'"),
            (b"a'b c", b"\"a'b c\""),
            (b"a'*b", b"'a'\\''*b'"),
            (b"", b"''"),
        ] {
            assert_eq!(quoted(name.as_bstr()).as_bstr(), expected.as_bstr());
        }
    }
}
