//! Redaction: `exacta-bench redaction FOLDER` prints the corpus as JSON, one case a line with what became of it, and then how many
//! megabytes a second go through on log-like text without and with secrets.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use exacta::redaction::{Redactor, Rules};
use serde_json::json;

use crate::corpus::{Case, cases};

const ROUNDS: usize = 7;
const SIZE: usize = 64 << 20;
const PIECE: usize = 64 << 10;

pub fn measure(folder: &str) -> Result<(), Box<dyn Error>> {
    let mut output = std::io::stdout().lock();
    let rules = Rules::new();
    let mut secrets = Vec::new();
    for file in files(folder)? {
        let set = if file.ends_with("lookalikes.txt") { "lookalikes" } else { "secrets" };
        for case in cases(&std::fs::read_to_string(format!("{folder}/{file}"))?) {
            let changed = rules.redact(case.text.as_bytes()).0.into_owned();
            let right = if set == "secrets" {
                is_covered(&case, &changed)
            } else {
                changed == case.text.as_bytes()
            };
            let row = json!({ "set": set, "file": file, "kind": case.kind, "text": case.text, "right": right });
            writeln!(output, "{row}")?;
            if set == "secrets" {
                secrets.push(case.text);
            }
        }
    }
    let plain = log(&[]);
    let mixed = log(&secrets);
    for (name, text) in
        [("log without secrets", plain), ("log with a secret in every 20th line", mixed)]
    {
        let (rate, found) = rate(&rules, &text);
        writeln!(
            output,
            "{}",
            json!({ "rate": name, "megabytes_per_second": rate, "found": found })
        )?;
    }
    Ok(())
}

/// The texts of the corpus, by name.
fn files(folder: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with("secrets.txt") || name.ends_with("lookalikes.txt") {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

/// Nothing of six bytes is left of the secret.
fn is_covered(case: &Case, output: &[u8]) -> bool {
    let secret = case.secret.as_bytes();
    if output == case.redacted.as_bytes() {
        return true;
    }
    let left = |piece: &[u8]| output.windows(piece.len()).any(|window| window == piece);
    !secret.windows(secret.len().min(6)).any(left)
}

/// Lines as servers and tests print them; words that secrets are known by are among them.
fn log(secrets: &[String]) -> Vec<u8> {
    const MESSAGES: &[&str] = &[
        "request completed",
        "cache key users:42 missed",
        "connection pool resized to 20",
        "token bucket refilled",
        "session expired for user",
        "authorization granted",
        "passing through to the backend",
        "retrying in 250 ms",
        "test auth::tests::rejects_expired_token ... ok",
    ];
    let mut text = Vec::with_capacity(SIZE + 4096);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut number = 0;
    while text.len() < SIZE {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        number += 1;
        let message = MESSAGES[state as usize % MESSAGES.len()];
        let line = format!(
            "2024-03-01T12:{:02}:{:02}.{:03}Z INFO [worker-{}] {message} method=GET path=/api/v1/orders/{} status=200 duration_ms={} request_id={state:016x} user_agent=\"Mozilla/5.0 (X11; Linux x86_64)\" referer=https://shop.example/home?page={}\n",
            state % 60,
            (state >> 8) % 60,
            (state >> 16) % 1000,
            state % 16,
            (state >> 24) % 10_000,
            (state >> 32) % 500,
            state % 9
        );
        text.extend_from_slice(line.as_bytes());
        if let Some(secret) =
            secrets.get(number / 20 % secrets.len().max(1)).filter(|_| number % 20 == 0)
        {
            text.extend_from_slice(secret.as_bytes());
            text.push(b'\n');
        }
    }
    text
}

/// The fastest of some rounds, in pieces as they come from a pipe.
fn rate(rules: &Rules, text: &[u8]) -> (f64, u64) {
    let (mut best, mut found) = (f64::INFINITY, 0);
    let mut output = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut redactor = Redactor::new(rules.clone());
        for piece in text.chunks(PIECE) {
            output.clear();
            redactor.push(piece, &mut output);
        }
        found = redactor.finish(&mut output).total();
        best = best.min(start.elapsed().as_secs_f64());
    }
    (text.len() as f64 / 1e6 / best, found)
}
