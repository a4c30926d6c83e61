//! Comparing names that carry version numbers: `file-2.txt` before `file-10.txt` (`sort -V`, `ls -v`).

use std::cmp::Ordering;

/// Compares as GNU tools do. Names are first compared without their suffixes (`.tar.gz`), then with them.
pub fn compare(one: &[u8], other: &[u8]) -> Ordering {
    let rank = rank(one).cmp(&rank(other));
    if rank != Ordering::Equal {
        return rank;
    }
    let (one_stem, other_stem) = (stem(one), stem(other));
    let result = compare_parts(one_stem, other_stem);
    let is_whole = one_stem.len() == one.len() && other_stem.len() == other.len();
    if result != Ordering::Equal || is_whole { result } else { compare_parts(one, other) }
}

/// The empty name comes first, then `.`, `..`, hidden names, all others.
fn rank(name: &[u8]) -> u8 {
    match name {
        b"" => 0,
        b"." => 1,
        b".." => 2,
        [b'.', ..] => 3,
        _ => 4,
    }
}

/// The name without the longest row of suffixes at its end, which may be all of it. A suffix is a dot, a letter or
/// tilde, and any number of letters, digits and tildes.
fn stem(name: &[u8]) -> &[u8] {
    let byte = |at: usize| name.get(at).copied().unwrap_or(0);
    let mut length = 0;
    let mut at = 0;
    loop {
        while byte(at) == b'.' && (byte(at + 1).is_ascii_alphabetic() || byte(at + 1) == b'~') {
            at += 2;
            while byte(at).is_ascii_alphanumeric() || byte(at) == b'~' {
                at += 1;
            }
        }
        if at >= name.len() {
            return name.get(..length).unwrap_or(name);
        }
        at += 1;
        length = at;
    }
}

/// Compares text and numbers in turn.
fn compare_parts(mut one: &[u8], mut other: &[u8]) -> Ordering {
    while !one.is_empty() || !other.is_empty() {
        loop {
            let (first, second) = (weight(one), weight(other));
            // Digits weigh nothing: here they only end the text.
            if is_digit_or_end(one) && is_digit_or_end(other) {
                break;
            }
            if first != second {
                return first.cmp(&second);
            }
            one = one.get(1..).unwrap_or_default();
            other = other.get(1..).unwrap_or_default();
        }
        let (first, rest) = split_number(one);
        one = rest;
        let (second, rest) = split_number(other);
        other = rest;
        let order = first.len().cmp(&second.len()).then_with(|| first.cmp(second));
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

fn is_digit_or_end(text: &[u8]) -> bool {
    text.first().is_none_or(u8::is_ascii_digit)
}

/// Tilde comes before the end, the end before digits, then letters, then everything else.
fn weight(text: &[u8]) -> i32 {
    match text.first() {
        Some(b'~') => -2,
        None => -1,
        Some(digit) if digit.is_ascii_digit() => 0,
        Some(letter) if letter.is_ascii_alphabetic() => i32::from(*letter),
        Some(other) => i32::from(*other) + 256,
    }
}

/// The digits at the start without leading zeros, and what is behind them.
fn split_number(text: &[u8]) -> (&[u8], &[u8]) {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
    (digits.get(zeros..).unwrap_or_default(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_order() {
        let sorted = [
            "",
            ".",
            "..",
            ".a",
            "a~",
            "a",
            "a.b",
            "a1",
            "a2.txt",
            "a10.txt",
            "abc-1.01a.tgz",
            "abc-1.2.3.4.tgz",
            "abc-1.10.tgz",
            "b",
            "foo-0.4.tar.gz",
        ];
        let mut names: Vec<&[u8]> = sorted.iter().map(|name| name.as_bytes()).collect();
        names.reverse();
        names.sort_by(|one, other| compare(one, other));
        let names: Vec<_> = names.iter().map(|name| String::from_utf8_lossy(name)).collect();
        assert_eq!(names, sorted);
    }
}
