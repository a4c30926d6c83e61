//! Any bytes as a text to redact: no panic, in bounded time; pieces make no difference; a known secret and a token in a line
//! of their own are gone whatever stands before; nothing but secrets is lost.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use exacta::redaction::{Redactor, Report, Rules};

/// Far beyond what the longest input may take.
const HANGING: Duration = Duration::from_secs(10);

const KNOWN: &[u8] = b"kn0wn-value-of-mine";

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let rules = Rules::new().with_secret("known", KNOWN);
    rules.with_pattern("ticket", "TICKET-([0-9]{4,})").expect("a pattern")
});

pub fn check(bytes: &[u8]) {
    let begun = Instant::now();
    let (whole, report) = pieces(&[bytes]);
    assert!(begun.elapsed() < HANGING, "took {:?}", begun.elapsed());
    if report.is_empty() {
        assert!(whole == bytes, "nothing was found, and something has changed");
    }
    let size = 1 + bytes.first().map_or(0, |first| usize::from(*first) % 97);
    let cut: Vec<&[u8]> = bytes.chunks(size).collect();
    assert!(pieces(&cut) == (whole, report), "pieces of {size} differ");
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let behind = [bytes, b"\n\n;\n", KNOWN, b" ", token.as_bytes(), b"\n"].concat();
    let (output, _) = pieces(&[&behind]);
    let has = |text: &[u8]| output.windows(text.len()).any(|window| window == text);
    let before = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    assert!(!has(KNOWN), "a known secret is left");
    assert!(!has(token.as_bytes()) || before(token.as_bytes()), "a token is left");
}

fn pieces(pieces: &[&[u8]]) -> (Vec<u8>, Report) {
    let mut redactor = Redactor::new(RULES.clone());
    let mut output = Vec::new();
    for piece in pieces {
        redactor.push(piece, &mut output);
    }
    let report = redactor.finish(&mut output);
    (output, report)
}
