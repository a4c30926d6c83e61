//! Versions and tags of builds, which have as many digits and letters as a token and follow the name of a thing.

/// `2.1.0-rc.3+build.77`, `v3.2.2+incompatible`, `20240611T101500-7fd2`, `1.8.0.dev12+g0a3`: numbers first, and then which build.
pub fn is_version(value: &[u8]) -> bool {
    let range = value.iter().take(2).take_while(|byte| b"^~<>=".contains(byte)).count();
    let rest = value.get(range..).unwrap_or_default();
    let rest = rest.strip_prefix(b"v").unwrap_or(rest);
    let numbers = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let (numbers, tail) = rest.split_at(numbers);
    let parts = numbers.split(|byte| *byte == b'.').filter(|part| !part.is_empty());
    let short = parts.clone().all(|part| part.len() <= 4);
    let dated = |part: &[u8]| {
        let (year, day) = part.split_at(part.len().min(4));
        part.len() == 8
            && matches!(year, [b'1', b'9', ..] | [b'2', b'0', ..])
            && matches!(day, [b'0', _, b'0'..=b'3', _] | [b'1', b'0'..=b'2', b'0'..=b'3', _])
    };
    let counted = short && parts.clone().count() > 1 && numbers.first() != Some(&b'.');
    let of_day = parts.clone().next().is_some_and(dated);
    let letter = tail.first().copied().unwrap_or(b'-');
    let goes_on = b"-+~_".contains(&letter)
        || counted && numbers.ends_with(b".")
        || counted && matches!(letter, b'a' | b'b' | b'r')
        || of_day && matches!(letter, b'T' | b'.');
    // Builds are called by small digits; letters of both cases in one long part were drawn at random.
    let drawn = tail.split(|byte| b".+~_-:".contains(byte)).any(|part| {
        part.len() >= 16
            && part.iter().any(u8::is_ascii_uppercase)
            && part.iter().any(u8::is_ascii_lowercase)
            && part.iter().any(u8::is_ascii_digit)
    });
    (counted || of_day)
        && !drawn
        && goes_on
        && tail.iter().all(|byte| byte.is_ascii_alphanumeric() || b".+~_-:".contains(byte))
}

/// Three numbers as versions have them and dates have not, and a sign behind them: no password either.
pub fn is_semantic(value: &[u8]) -> bool {
    let range = value.iter().take(2).take_while(|byte| b"^~<>=".contains(byte)).count();
    let rest = value.get(range..).unwrap_or_default();
    let numbers = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let (numbers, tail) = rest.split_at(numbers);
    let is_number =
        |part: &[u8]| matches!(part.len(), 1..=3) && (part == b"0" || part.first() != Some(&b'0'));
    numbers.split(|byte| *byte == b'.').count() == 3
        && numbers.split(|byte| *byte == b'.').all(is_number)
        && matches!(tail, [b'-' | b'+', letter, ..] if letter.is_ascii_alphanumeric())
        && is_version(value)
}

/// `main-70a5a2ed`, `token-svc-7d9f8b6c5d-x2k4q`: which one of several builds, in small letters.
pub fn is_tag(text: &[u8]) -> bool {
    let mut parts = text.split(|byte| b"-_.+".contains(byte));
    let word = parts.next().unwrap_or_default();
    let short = |part: &[u8]| part.len() <= 12 || matches!(part.len(), 40 | 64) && is_hex(part);
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let mut parts = parts.peekable();
    word.len() > 2
        && word.iter().all(u8::is_ascii_lowercase)
        && parts.peek().is_some()
        && parts.all(|part| short(part) && part.iter().all(plain))
}

fn is_hex(part: &[u8]) -> bool {
    part.iter().all(u8::is_ascii_hexdigit)
}
