//! Keys and words of wallets, and codes for when a second factor is lost.

use sha2::{Digest, Sha256};

use super::blocks::{Begun, Block};
use super::expected::Expected;
use super::found::{Found, Hit};
use super::reading::{after_spaces, at};

pub const SEED_PHRASE: &str = "seed-phrase";
pub const WALLET_KEY: &str = "wallet-key";
pub const RECOVERY_CODES: &str = "recovery-codes";

/// `wallet`, `privkey`: a key on the same line, or on one of the next.
pub fn look_for_key(hit: &Hit<'_>, found: &mut Found<'_>) -> Begun {
    let rest = hit.rest();
    let rest = rest.get(..256.min(rest.len())).unwrap_or_default();
    for (start, end) in base58_words(rest) {
        found.add(hit.at + start, hit.at + end, WALLET_KEY);
    }
    Begun::Block(Block::Expected(Expected::WalletKey { left: 6 }))
}

/// A key on a line that does not say what it is: its checksum does.
pub fn key(line: &[u8]) -> Option<(usize, usize)> {
    let line = line.get(..256.min(line.len()))?;
    base58_words(line).find(|(start, end)| line.get(*start..*end).is_some_and(has_checksum))
}

/// Fifty-one or fifty-two characters of Base58 that begin as such keys do.
fn base58_words(text: &[u8]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut place = 0;
    text.split(|byte| !byte.is_ascii_alphanumeric()).filter_map(move |word| {
        let start = place;
        place += word.len() + 1;
        let begins = match word {
            [b'5', b'H' | b'J' | b'K', ..] => word.len() == 51,
            [b'K' | b'L', ..] => word.len() == 52,
            _ => false,
        };
        let has = |test: fn(&u8) -> bool| word.iter().any(test);
        let mixed = begins
            && has(u8::is_ascii_digit)
            && has(u8::is_ascii_lowercase)
            && has(u8::is_ascii_uppercase);
        (mixed && !word.iter().any(|byte| b"0OIl".contains(byte)))
            .then_some((start, start + word.len()))
    })
}

const BASE58: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// The last four bytes are the beginning of the hash of a hash of the others.
fn has_checksum(word: &[u8]) -> bool {
    let mut bytes = [0_u8; 40];
    for letter in word {
        let Some(digit) = BASE58.iter().position(|one| one == letter) else { return false };
        let mut carry = digit;
        for byte in bytes.iter_mut().rev() {
            carry += usize::from(*byte) * 58;
            *byte = (carry & 255) as u8;
            carry >>= 8;
        }
        if carry != 0 {
            return false;
        }
    }
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let Some((body, sum)) = bytes.get(zeros..).and_then(<[u8]>::split_last_chunk::<4>) else {
        return false;
    };
    Sha256::digest(Sha256::digest(body)).starts_with(sum)
}

/// `phrase`, `mnemonic`, `seed words`: the words follow, here or on the next line.
pub fn look_for_words(hit: &Hit<'_>, length: usize, found: &mut Found<'_>) -> Begun {
    let line = hit.line;
    let behind = hit.at + length;
    if at(line, behind).is_ascii_alphabetic() && at(line, behind - 1) != b' ' {
        return Begun::Nothing;
    }
    let start = after_label(line, behind);
    if let Some((from, to)) = words(line, start) {
        found.add(from, to, SEED_PHRASE);
        return Begun::Nothing;
    }
    if line.get(start..).is_some_and(|rest| rest.trim_ascii().is_empty()) && is_of_wallets(hit) {
        return Begun::Block(Block::Expected(Expected::Words { left: 2 }));
    }
    Begun::Nothing
}

/// A phrase may be any: on the next line only one of these is believed.
fn is_of_wallets(hit: &Hit<'_>) -> bool {
    let before = hit.line.get(..hit.at).unwrap_or_default();
    let near = before.get(before.len().saturating_sub(24)..).unwrap_or_default();
    let near = near.to_ascii_lowercase();
    hit.rest().get(..4).is_some_and(|word| !word.eq_ignore_ascii_case(b"phra"))
        || [&b"recovery"[..], b"seed", b"backup", b"secret", b"wallet", b"mnemonic"]
            .iter()
            .any(|one| near.windows(one.len()).any(|window| window == *one))
}

/// Over signs, and `is` or `are` and what is in brackets.
fn after_label(line: &[u8], from: usize) -> usize {
    let mut place = from;
    for _ in 0..8 {
        let rest = line.get(place..).unwrap_or_default();
        let sign = rest.iter().take(64).take_while(|byte| b" \t:=>\"'`\\*-".contains(byte)).count();
        place += sign;
        let rest = rest.get(sign..).unwrap_or_default();
        let verbs = [&b"is:"[..], b"is ", b"are:", b"are "];
        let word = verbs.iter().find(|one| rest.starts_with(one));
        let bracket = rest.iter().take(40).position(|byte| *byte == b')');
        match (word, bracket) {
            (Some(word), _) => place += word.len(),
            (None, Some(end)) if rest.first() == Some(&b'(') => place += end + 1,
            _ if sign == 0 => break,
            _ => {}
        }
    }
    place
}

/// Twelve to twenty-four small words and nothing else.
pub fn words(line: &[u8], start: usize) -> Option<(usize, usize)> {
    let text = line.get(start..)?;
    let text = text.get(..320.min(text.len()))?.trim_ascii_end();
    let text = match text {
        [head @ .., b'"' | b'\'' | b'`' | b'.'] => head,
        _ => text,
    };
    // What follows a closing quote is no part of it.
    let end = text.iter().position(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'\\'));
    let text = text.get(..end.unwrap_or(text.len()))?;
    let mut count = 0;
    for word in text.split(|byte| matches!(byte, b' ' | b',')).filter(|word| !word.is_empty()) {
        let number = word.strip_suffix(b".").or(word.strip_suffix(b")"));
        if number.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit)) {
            continue;
        }
        let small = (3..=8).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase);
        if !small || GRAMMAR.contains(&word) {
            return None;
        }
        count += 1;
    }
    matches!(count, 12 | 15 | 18 | 21 | 24 | 25).then_some((start, start + text.len()))
}

/// Words that sentences have and lists of words for wallets do not.
const GRAMMAR: &[&[u8]] = &[
    b"the", b"and", b"are", b"for", b"not", b"with", b"was", b"has", b"have", b"had", b"your",
    b"from", b"them", b"words", b"their", b"which", b"these", b"those", b"been", b"were", b"its",
    b"his", b"her",
];

/// `recovery codes`: they follow, here or on the next lines.
pub fn look_for_codes(hit: &Hit<'_>, length: usize, found: &mut Found<'_>) -> Begun {
    let line = hit.line;
    let start = after_label(line, hit.at + length);
    let rest = line.get(start..).unwrap_or_default();
    if let Some((from, to)) = codes(line, start) {
        found.add(from, to, RECOVERY_CODES);
        return Begun::Nothing;
    }
    let heading = rest.trim_ascii().is_empty() || rest.trim_ascii_end().ends_with(b":");
    if heading && rest.len() <= 80 {
        return Begun::Block(Block::Expected(Expected::Codes { seen: false, empty: 2 }));
    }
    Begun::Nothing
}

/// `- …`, `12. …`
pub fn after_bullet(line: &[u8]) -> usize {
    let start = after_spaces(line, 0);
    let rest = line.get(start..).unwrap_or_default();
    let digits = rest.iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
    match rest.get(digits) {
        Some(b'.' | b')') if digits > 0 => after_spaces(line, start + digits + 1),
        Some(b'-' | b'*') if digits == 0 => after_spaces(line, start + 1),
        _ => start,
    }
}

/// A line of codes: groups of a few letters and digits, with a digit in most.
pub fn codes(line: &[u8], start: usize) -> Option<(usize, usize)> {
    let text = line.get(start..)?.trim_ascii_end();
    if text.len() > 160 || text.len() < 8 {
        return None;
    }
    let (mut groups, mut numbered) = (0, 0);
    for group in text.split(|byte| matches!(byte, b' ' | b'\t' | b'-' | b',')) {
        if group.is_empty() {
            continue;
        }
        let one_case =
            !(group.iter().any(u8::is_ascii_lowercase) && group.iter().any(u8::is_ascii_uppercase));
        if !one_case
            || !(3..=16).contains(&group.len())
            || !group.iter().all(u8::is_ascii_alphanumeric)
        {
            return None;
        }
        groups += 1;
        numbered += usize::from(group.iter().any(u8::is_ascii_digit));
    }
    // A date has three, of which the first is a year.
    let dated = text.starts_with(b"20") && at(text, 4) == b'-';
    (groups > 0 && numbered * 2 >= groups && numbered > 0 && !dated)
        .then_some((start, start + text.len()))
}

#[cfg(test)]
mod tests {
    use super::super::Rules;
    use super::*;

    fn redacted(text: &str) -> String {
        Rules::new().redact_text(text).0
    }

    /// A key as wallets print it, of bytes that nobody has as a key.
    fn printed(body: &[u8]) -> String {
        let sum = Sha256::digest(Sha256::digest(body));
        let mut bytes = [body, &sum[..4]].concat();
        let mut letters = Vec::new();
        while bytes.iter().any(|byte| *byte != 0) {
            let mut rest = 0;
            for byte in &mut bytes {
                let value = rest * 256 + usize::from(*byte);
                *byte = (value / 58) as u8;
                rest = value % 58;
            }
            letters.push(BASE58[rest]);
        }
        letters.iter().rev().map(|letter| char::from(*letter)).collect()
    }

    #[test]
    fn keys_in_base58_beside_their_name() {
        let key = format!("5J{}", "mKx7pQ2".repeat(7));
        assert_eq!(redacted(&format!("wallet dump: {key}")), "wallet dump: [REDACTED]");
        let key = format!("L1{}", "mKx7pQ2wZa".repeat(5));
        assert_eq!(
            redacted(&format!("bitcoin key {key} imported")),
            "bitcoin key [REDACTED] imported"
        );
        let other = format!("wallet of {}0", "mKx7pQ2".repeat(7));
        assert_eq!(redacted(&other), other);
    }

    #[test]
    fn keys_below_a_heading_are_known_by_their_checksum() {
        let long = [&[0x80][..], &[0x5c; 31], &[9]].concat();
        let compressed = [&long[..], &[1]].concat();
        for key in [printed(&long), printed(&compressed)] {
            let text = format!("Dump of the wallet\n\naddress  {key} ok\n");
            assert_eq!(redacted(&text), "Dump of the wallet\n\naddress  [REDACTED] ok\n", "{key}");
            let swapped: String = key.chars().rev().collect();
            let other = format!("Dump of the wallet\n{}{}\n", &key[..2], &swapped[2..]);
            assert_eq!(redacted(&other), other);
        }
    }
}
