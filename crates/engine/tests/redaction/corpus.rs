//! The corpus of secrets and look-alikes: lines with made-up characters in the place of real ones, put together when they are
//! read, so that no file here has anything in it that looks like a token.

/// A text and what in it is secret.
#[derive(Debug, Clone)]
pub struct Case {
    /// What it should be reported as; empty for a look-alike.
    pub kind: String,
    pub text: String,
    /// Empty for a look-alike.
    pub secret: String,
    /// What it should become.
    pub redacted: String,
}

/// Cases of a file with secrets, or with look-alikes where no line has marks.
pub fn cases(file: &str) -> Vec<Case> {
    let lines = file.lines().filter(|line| !line.starts_with("////") && !line.is_empty());
    lines.map(case).collect()
}

fn case(line: &str) -> Case {
    let marked = line.contains('«');
    let (kind, text) = match line.split_once(" | ") {
        Some((kind, text)) if marked => (kind, text),
        _ => ("", line),
    };
    let text = filled(&text.replace('⏎', "\n").replace('␛', "\u{1b}"));
    let Some((before, rest)) = text.split_once('«').filter(|_| marked) else {
        return Case { kind: String::new(), redacted: text.clone(), text, secret: String::new() };
    };
    let (secret, after) = rest.split_once('»').unwrap_or((rest, ""));
    Case {
        kind: kind.to_owned(),
        text: format!("{before}{secret}{after}"),
        secret: secret.to_owned(),
        redacted: format!("{before}[REDACTED]{after}"),
    }
}

/// `{A20}` becomes twenty characters, always the same ones for the same text.
fn filled(text: &str) -> String {
    let mut state = text.bytes().fold(0xcbf2_9ce4_8422_2325, |state: u64, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut output = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        output.push_str(before);
        let field = after.split_once('}').and_then(|(field, tail)| {
            let (letter, number) = (field.chars().next()?, field.get(1..)?);
            Some((alphabet(letter)?, number.parse::<usize>().ok()?, tail))
        });
        match field {
            Some((alphabet, length, tail)) => {
                fill(&mut output, alphabet, length, &mut state);
                rest = tail;
            }
            None => {
                output.push('{');
                rest = after;
            }
        }
    }
    output + rest
}

fn fill(output: &mut String, alphabet: &str, length: usize, state: &mut u64) {
    let letters: Vec<char> = alphabet.chars().collect();
    let plain: Vec<char> = letters.iter().copied().filter(char::is_ascii_alphanumeric).collect();
    let digits: Vec<char> = letters.iter().copied().filter(char::is_ascii_digit).collect();
    for at in 0..length {
        // xorshift
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        // At both ends no sign, and a digit near the beginning.
        let from = match at {
            1 if !digits.is_empty() => &digits,
            at if at == 0 || at + 1 == length => &plain,
            _ => &letters,
        };
        output.push(from[(*state % from.len() as u64) as usize]);
    }
}

fn alphabet(letter: char) -> Option<&'static str> {
    Some(match letter {
        'A' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        'x' => "abcdefghijklmnopqrstuvwxyz0123456789",
        'u' => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        'h' => "0123456789abcdef",
        'H' => "0123456789ABCDEF",
        'd' => "0123456789",
        'l' => "abcdefghijklmnopqrstuvwxyz",
        'b' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        's' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        _ => return None,
    })
}
