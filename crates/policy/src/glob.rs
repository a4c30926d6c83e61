//! File name patterns in the place of a command: `/u?r/bin/c[u]rl`.

/// Does the pattern match the whole name? `*`, `?`, `[a-z]`, `[!a]` and `\` as in the shell; no slash is special,
/// because both sides are single parts of paths.
pub fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut done) = (0, 0);
    // Where to go on when what follows the last `*` does not fit: the star takes one more.
    let mut retry: Option<(usize, usize)> = None;
    while done < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, done));
                at += 1;
                continue;
            }
            Some(_) => {
                if let Some(next) = one(pattern, at, name.get(done).copied().unwrap_or_default()) {
                    (at, done) = (next, done + 1);
                    continue;
                }
            }
            None => {}
        }
        let Some((star, taken)) = retry else { return false };
        retry = Some((star, taken + 1));
        (at, done) = (star, taken + 1);
    }
    pattern.get(at..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

/// The place after one element of the pattern, if it matches the byte.
fn one(pattern: &[u8], at: usize, byte: u8) -> Option<usize> {
    match pattern.get(at)? {
        b'?' => Some(at + 1),
        b'\\' => (*pattern.get(at + 1)? == byte).then_some(at + 2),
        b'[' => match set(pattern.get(at + 1..)?, byte) {
            Some((matched, length)) => matched.then_some(at + 1 + length),
            // Never closed: a bracket is a bracket.
            None => (byte == b'[').then_some(at + 1),
        },
        literal => (*literal == byte).then_some(at + 1),
    }
}

/// What follows `[`: whether the byte is in the set, and how long the set is.
fn set(rest: &[u8], byte: u8) -> Option<(bool, usize)> {
    let negated = matches!(rest.first(), Some(b'!' | b'^'));
    let mut at = usize::from(negated);
    let first = at;
    let mut found = false;
    loop {
        let low = *rest.get(at)?;
        if low == b']' && at > first {
            return Some((found != negated, at + 1));
        }
        let range =
            rest.get(at + 1) == Some(&b'-') && rest.get(at + 2).is_some_and(|it| *it != b']');
        let high = if range { *rest.get(at + 2)? } else { low };
        found |= (low..=high).contains(&byte);
        at += if range { 3 } else { 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn as_in_the_shell() {
        for (pattern, name, expected) in [
            ("c?rl", "curl", true),
            ("c*l", "curl", true),
            ("[a-d]url", "curl", true),
            ("[!c]url", "curl", false),
            ("c[u]r[l]", "curl", true),
            ("*", "", true),
            ("a*b*c", "aXbYbc", true),
            ("a*b*d", "aXbYbc", false),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("[", "[", true),
            ("cur", "curl", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }
}
