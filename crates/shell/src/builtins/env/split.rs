//! `env -S`: one string into words, with quotes, escapes and `${NAME}`.

use bstr::{BStr, BString, ByteSlice};

/// Splits the string; `variable` gives the value of a name. The error is GNU's message.
pub fn split(
    text: &[u8],
    variable: impl Fn(&BStr) -> Option<BString>,
) -> Result<Vec<BString>, String> {
    let mut splitter = Splitter { words: Vec::new(), word: None, quote: None };
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        let used = match byte {
            b'\'' | b'"' if splitter.quote.is_none() => {
                splitter.open();
                splitter.quote = Some(byte);
                1
            }
            quote if splitter.quote == Some(quote) => {
                splitter.quote = None;
                1
            }
            b' ' | b'\t' | b'\n' | b'\r' | 11 | 12 if splitter.quote.is_none() => {
                splitter.close();
                1
            }
            b'#' if splitter.quote.is_none() && splitter.word.is_none() => break,
            b'\\' => match splitter.escape(behind)? {
                Some(used) => used,
                None => break,
            },
            b'$' if splitter.quote != Some(b'\'') => {
                let (name, used) = variable_name(rest)?;
                let value = variable(name).unwrap_or_default();
                splitter.open().extend_from_slice(&value);
                used
            }
            byte => {
                splitter.open().push(byte);
                1
            }
        };
        rest = rest.get(used..).unwrap_or_default();
    }
    if splitter.quote.is_some() {
        return Err("no terminating quote in -S string".to_owned());
    }
    splitter.close();
    Ok(splitter.words)
}

struct Splitter {
    words: Vec<BString>,
    /// `None` between words.
    word: Option<BString>,
    quote: Option<u8>,
}

impl Splitter {
    fn open(&mut self) -> &mut BString {
        self.word.get_or_insert_default()
    }

    fn close(&mut self) {
        self.words.extend(self.word.take());
    }

    /// What a backslash does; how many bytes it took, or `None` if all is over (`\c`).
    fn escape(&mut self, behind: &[u8]) -> Result<Option<usize>, String> {
        let Some(&byte) = behind.first() else {
            return Err("invalid backslash at end of string in -S".to_owned());
        };
        let in_single = self.quote == Some(b'\'');
        let value = match byte {
            b'\\' | b'\'' => byte,
            _ if in_single => {
                self.open().extend_from_slice(&[b'\\', byte]);
                return Ok(Some(2));
            }
            b'_' if self.quote.is_none() => {
                self.close();
                return Ok(Some(2));
            }
            b'_' => b' ',
            b'c' if self.quote.is_some() => {
                return Err("'\\c' must not appear in double-quoted -S string".to_owned());
            }
            b'c' => return Ok(None),
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'"' | b'#' | b'$' => byte,
            other => {
                return Err(format!("invalid sequence '\\{}' in -S", char::from(other)));
            }
        };
        self.open().push(value);
        Ok(Some(2))
    }
}

/// `${NAME}` at the start: the name, and how many bytes all of it takes.
fn variable_name(text: &[u8]) -> Result<(&BStr, usize), String> {
    let wrong = || {
        let text = text.to_str_lossy();
        format!("only ${{VARNAME}} expansion is supported, error at: {text}")
    };
    let inside = text.strip_prefix(b"${").ok_or_else(wrong)?;
    let length = inside.find_byte(b'}').ok_or_else(wrong)?;
    let name = inside.get(..length).unwrap_or_default();
    let is_name = name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if is_name { Ok((name.as_bstr(), length + 3)) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let variable = |name: &BStr| (name == "X").then(|| BString::from("v w"));
        let cases: [(&str, &[&str]); 8] = [
            ("a  b\tc", &["a", "b", "c"]),
            ("a 'b c' \"d e\"", &["a", "b c", "d e"]),
            ("a\\_b \"a\\_b\"", &["a", "b", "a b"]),
            ("${X} x${X}y '${X}'", &["v w", "xv wy", "${X}"]),
            ("a # b", &["a"]),
            ("a#b \\#c", &["a#b", "#c"]),
            ("a \\c b", &["a"]),
            ("'' \"\"", &["", ""]),
        ];
        for (text, expected) in cases {
            assert_eq!(split(text.as_bytes(), variable).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn errors() {
        let none = |_: &BStr| None;
        for (text, message) in [
            ("a \"b", "no terminating quote in -S string"),
            ("\\q", "invalid sequence '\\q' in -S"),
            ("$X", "only ${VARNAME} expansion is supported, error at: $X"),
            ("a\\", "invalid backslash at end of string in -S"),
        ] {
            assert_eq!(split(text.as_bytes(), none), Err(message.to_owned()));
        }
    }
}
