//! A text split into words as `env -S` and the like do: blanks, quotes and backslashes, nothing else.

use bstr::{BStr, BString};

pub fn split(text: &BStr) -> Vec<BString> {
    let mut words = Vec::new();
    let mut word: Option<BString> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (None | Some(b'"'), b'\\') => {
                // `\_` is a blank and `\c` ends the text, for env.
                match bytes.next() {
                    Some(b'_') if quote.is_none() => words.extend(word.take()),
                    Some(b'_') => word.get_or_insert_default().push(b' '),
                    Some(b'c') => break,
                    Some(b'n') => word.get_or_insert_default().push(b'\n'),
                    Some(b't') => word.get_or_insert_default().push(b'\t'),
                    Some(other) => word.get_or_insert_default().push(other),
                    None => {}
                }
            }
            (None, b' ' | b'\t' | b'\n' | b'\r') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let words =
            |text: &str| split(text.into()).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(words("  sh -c 'a b'\t\"c d\"e "), ["sh", "-c", "a b", "c de"]);
        assert_eq!(words("a\\_b c\\ d '' \\c x"), ["a", "b", "c d", ""]);
        assert_eq!(words("'open"), ["open"]);
        assert!(words("  ").is_empty());
    }
}
