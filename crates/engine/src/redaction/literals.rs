//! Secrets that are known: the values of variables with telling names and of configured secrets, as they are and as they
//! are commonly encoded.

use super::names::{self, Promise};
use super::vocabulary;

/// Shorter ones would blot out words of every text.
pub const SHORTEST: usize = 8;
/// Short ones of variables that are called passwords.
const SHORTEST_PASSWORD: usize = 6;
/// A longer value is found by its beginning.
const LONGEST: usize = 4096;

/// Is the value of a variable with this name a secret that should never be shown?
pub fn is_secret_variable(name: &[u8], value: &[u8]) -> bool {
    // Most values are none, whatever the name says.
    if value.len() < SHORTEST_PASSWORD || value.starts_with(b"/") {
        return false;
    }
    let Some(name) = names::classify(name) else { return false };
    let shortest = if name.promise == Promise::Password { SHORTEST_PASSWORD } else { SHORTEST };
    let common = value.iter().all(u8::is_ascii_digit) && value.len() < 12
        || vocabulary::is_placeholder(value)
        || value.windows(3).any(|window| window == b"://") && !value.contains(&b'@');
    // `SSH_AUTH_SOCK`, `KEYBOARD_KEY=us`: a promise that is only perhaps one needs a value that is beyond doubt.
    let doubtful =
        name.promise == Promise::Perhaps && !super::values::Makeup::of(value).is_random();
    value.len() >= shortest && !common && !doubtful
}

/// A value as it is, in Base64, and as it stands in an address; one for each line that is long enough.
pub fn forms(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    let mut add = |form: Vec<u8>| {
        if form.len() >= super::gate::SHORTEST && form.len() <= LONGEST && !forms.contains(&form) {
            forms.push(form);
        }
    };
    let lines: Vec<&[u8]> = value.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect();
    match lines.as_slice() {
        [line] => add(line.to_vec()),
        // The lines of a block are secret each by itself; short ones are not, and may stand anywhere.
        lines => lines
            .iter()
            .filter(|line| line.len() >= 16 && !line.starts_with(b"-----"))
            .for_each(|line| add(line.to_vec())),
    }
    let value = value.trim_ascii();
    let encoded = to_base64(value);
    add(encoded.strip_suffix(b"==").or(encoded.strip_suffix(b"=")).unwrap_or(&encoded).to_vec());
    add(encoded.clone());
    add(to_base64(&[value, b"\n"].concat()));
    let safe = encoded.iter().map(|byte| match byte {
        b'+' => b'-',
        b'/' => b'_',
        other => *other,
    });
    add(safe.filter(|byte| *byte != b'=').collect());
    if lines.len() == 1 {
        add(to_percent(value));
        add(to_json(value));
    }
    forms
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub fn to_base64(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = (0..3).fold(0_usize, |group, at| {
            (group << 8) | usize::from(chunk.get(at).copied().unwrap_or(0))
        });
        for at in 0..4 {
            let digit = DIGITS[(group >> (18 - 6 * at)) & 63];
            text.push(if at <= chunk.len() { digit } else { b'=' });
        }
    }
    text
}

/// Both alphabets, with or without padding.
pub fn from_base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.strip_suffix(b"==").or(text.strip_suffix(b"=")).unwrap_or(text);
    if text.is_empty() || text.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let mut group = 0_u32;
    let mut bits = 0;
    for byte in text {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        group = (group << 6) | u32::from(digit);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((group >> bits) as u8);
            group &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

fn to_percent(value: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for byte in value {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            text.push(*byte);
        } else {
            text.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    text
}

/// As it stands within the quotes of JSON.
fn to_json(value: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for byte in value {
        if matches!(byte, b'"' | b'\\') {
            text.push(b'\\');
        }
        text.push(*byte);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_there_and_back() {
        for (plain, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(to_base64(plain.as_bytes()), text.as_bytes());
            if !text.is_empty() {
                assert_eq!(from_base64(text.as_bytes()).as_deref(), Some(plain.as_bytes()));
            }
        }
        assert_eq!(from_base64(b"a b"), None);
    }

    #[test]
    fn short_or_common_values_are_not_looked_for_everywhere() {
        for (name, value) in [
            ("PASSWORD", "1"),
            ("PASSWORD", "changeme"),
            ("HOME", "/home/somebody"),
            ("SSH_AUTH_SOCK", "/tmp/agent.1"),
            ("TOKEN", "true"),
            ("API_KEY", ""),
        ] {
            assert!(!is_secret_variable(name.as_bytes(), value.as_bytes()), "{name}={value}");
        }
        for (name, value) in [("DB_PASSWORD", "hunter2x"), ("API_TOKEN", "q8w7e6r5t4")] {
            assert!(is_secret_variable(name.as_bytes(), value.as_bytes()), "{name}={value}");
        }
    }
}
