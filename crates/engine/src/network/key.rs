//! What a program shows to be let through: only those that were granted something have one, in their environment.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// The name that goes with every key.
const NAME: &str = "exacta";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    text: String,
    /// As HTTP sends it.
    encoded: String,
}

impl Key {
    /// One that nobody can guess.
    pub fn new() -> io::Result<Self> {
        let mut bytes = [0_u8; 16];
        if getrandom(&mut bytes, GetRandomFlags::empty())? != bytes.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let text = format!("{:032x}", u128::from_ne_bytes(bytes));
        let encoded = base64(format!("{NAME}:{text}").as_bytes());
        Ok(Key { text, encoded })
    }

    /// The address of the proxy, as variables name it.
    pub fn address(&self, port: u16) -> String {
        format!("http://{NAME}:{}@127.0.0.1:{port}", self.text)
    }

    /// Is this what HTTP would send?
    pub fn is_encoded(&self, shown: &[u8]) -> bool {
        same(self.encoded.as_bytes(), shown)
    }

    /// Is this what SOCKS would send?
    pub fn is_plain(&self, name: &[u8], password: &[u8]) -> bool {
        name == NAME.as_bytes() && same(self.text.as_bytes(), password)
    }
}

/// In a time that tells nothing of where they differ.
fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |differing, (one, other)| differing | (one ^ other)) == 0
}

pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let all = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS.get((all >> (18 - 6 * at) & 63) as usize).copied();
            let given = at <= three.len();
            text.push(if given { char::from(letter.unwrap_or(b'=')) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_everybody_writes_it() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
            ("~~~???", "fn5+Pz8/"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn a_key_is_known_by_both_of_its_forms_and_by_nothing_else() {
        let (key, other) = (Key::new().expect("a key"), Key::new().expect("a key"));
        assert!(
            key.is_encoded(key.encoded.as_bytes()) && key.is_plain(b"exacta", key.text.as_bytes())
        );
        assert!(!key.is_encoded(other.encoded.as_bytes()) && !key.is_encoded(b""));
        assert!(!key.is_plain(b"exacta", other.text.as_bytes()) && !key.is_plain(b"exacta", b""));
        assert!(!key.is_plain(b"x", key.text.as_bytes()));
    }
}
