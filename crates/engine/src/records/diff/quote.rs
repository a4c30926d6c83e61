//! Names in headers of a diff, as git writes them with `core.quotePath` off: plain where every character can be seen.

use bstr::{BString, ByteSlice};

/// In quotes with octal escapes if there is a control character, a quote, a backslash or what is no text.
pub fn quoted(name: &[u8]) -> BString {
    let plain = |character: char| !character.is_control() && !matches!(character, '"' | '\\');
    if name.to_str().is_ok_and(|name| name.chars().all(plain)) {
        return name.into();
    }
    let mut quoted = BString::from("\"");
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            let mut bytes = [0; 4];
            let text = character.encode_utf8(&mut bytes);
            if plain(character) {
                quoted.extend_from_slice(text.as_bytes());
            } else {
                text.bytes().for_each(|byte| escape(&mut quoted, byte));
            }
        }
        chunk.invalid().iter().for_each(|byte| escape(&mut quoted, *byte));
    }
    quoted.push(b'"');
    quoted
}

fn escape(quoted: &mut BString, byte: u8) {
    let letter = match byte {
        b'"' | b'\\' => Some(char::from(byte)),
        7 => Some('a'),
        8 => Some('b'),
        b'\t' => Some('t'),
        b'\n' => Some('n'),
        11 => Some('v'),
        12 => Some('f'),
        b'\r' => Some('r'),
        _ => None,
    };
    let text = letter.map_or_else(|| format!("\\{byte:03o}"), |letter| format!("\\{letter}"));
    quoted.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_git_quotes() {
        assert_eq!(quoted("a b/ä".as_bytes()), "a b/ä");
        assert_eq!(quoted(b"a\"b\\"), r#""a\"b\\""#);
        assert_eq!(quoted(b"a\n\t\x1b\xff\xc3"), r#""a\n\t\033\377\303""#);
        assert_eq!(quoted("\u{9b}ü\n".as_bytes()), r#""\302\233ü\n""#);
    }
}
