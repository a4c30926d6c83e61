//! Mutated snippets: nothing panics, and whatever still parses survives the round trip.

use exacta_syntax::ParseOptions;

use crate::corpus;
use crate::round_trip::broken;

/// A small generator, so that every run is the same.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

const INSERTIONS: [&str; 48] = [
    "$", "{", "}", "(", ")", "((", "))", "[", "]", "[[", "]]", "<", ">", "<<E", "\nE\n", "'", "\"",
    "`", "\\", "\n", ";", ";;", "&", "&&", "|", "||", " ", "\t", "#", "~", "!", "*", "=", "+=",
    ",", "..", ":-", "/", "@", "$(", "${", "$((", "$'", "\\\n", "a", "1", "\u{e9}", "\0",
];

fn mutate(text: &mut Vec<u8>, random: &mut Random) {
    let place = random.below(text.len() + 1);
    match random.below(5) {
        0 | 1 => {
            let insertion = INSERTIONS[random.below(INSERTIONS.len())];
            text.splice(place..place, insertion.bytes());
        }
        2 => {
            let end = (place + 1 + random.below(3)).min(text.len());
            text.drain(place..end);
        }
        3 => {
            let end = (place + random.below(8)).min(text.len());
            let piece = text[place..end].to_vec();
            let target = random.below(text.len() + 1);
            text.splice(target..target, piece);
        }
        _ => {
            if let Some(byte) = text.get_mut(place) {
                *byte = random.below(256) as u8;
            }
        }
    }
}

#[test]
fn mutated_snippets_survive() {
    let snippets = corpus::snippets();
    let mut random = Random(setting("MUTATION_SEED", 0x2545_f491_4f6c_dd1d));
    let mut failures = Vec::new();
    for _ in 0..setting("MUTATIONS", 30_000) {
        let mut text = snippets[random.below(snippets.len())].as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            mutate(&mut text, &mut random);
        }
        let options = ParseOptions { extglob: random.below(2) == 0, posix: false };
        if let Some(reason) = broken(&text, options) {
            failures.push(format!("=== {}\n--- {reason}", String::from_utf8_lossy(&text)));
        }
    }
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} broken:\n{shown}", failures.len());
}

/// More with `MUTATIONS=1000000 MUTATION_SEED=7 cargo test --release`.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
