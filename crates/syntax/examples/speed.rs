//! How fast the parser is: `cargo run --release -p exacta-syntax --example speed`.
#![expect(clippy::print_stdout, reason = "its only purpose")]

use std::hint::black_box;
use std::time::Instant;

use exacta_syntax::{Limits, ParseOptions, parse, print_list};

const LINES: [&str; 8] = [
    "true",
    "echo hello world",
    "git status --short | head -n 20",
    "for f in *.rs; do wc -l \"$f\"; done",
    "if [ -f \"$x\" ]; then cat \"$x\" > out 2>&1; fi",
    "i=$((i + 1)); [[ $i -lt 10 && ${name%%.*} == foo* ]] || exit",
    "result=$(grep -rn 'pattern' src/ | awk '{print $1}' | sort -u)",
    "curl -sSf \"https://example.com/${version:-latest}/x.tar.gz\" -o /tmp/x.tar.gz",
];

const LONG_LINE: &str = "count=$((count + 1)); echo \"line $count: ${name:-none}\"\n";

fn main() {
    for line in LINES {
        println!("{:>8.0} ns  {line}", nanoseconds(|| parsed(line.as_bytes())));
    }
    let script = LONG_LINE.repeat(10_000 * 36 / LONG_LINE.len());
    let time = nanoseconds(|| parsed(script.as_bytes()));
    println!("{:>8.2} ms  {} KB of script", time / 1e6, script.len() / 1000);
    if let Ok(tree) = parse(script.as_bytes(), ParseOptions::default(), Limits::default()) {
        let time = nanoseconds(|| drop(black_box(print_list(&tree))));
        println!("{:>8.2} ms  printing it", time / 1e6);
    }
}

fn parsed(text: &[u8]) {
    drop(black_box(parse(black_box(text), ParseOptions::default(), Limits::default())));
}

/// The best of several rounds.
fn nanoseconds(work: impl Fn()) -> f64 {
    let mut best = f64::MAX;
    let mut repetitions = 1;
    for _ in 0..12 {
        let start = Instant::now();
        for _ in 0..repetitions {
            work();
        }
        let elapsed = start.elapsed();
        best = best.min(elapsed.as_nanos() as f64 / f64::from(repetitions));
        if elapsed.as_millis() < 20 {
            repetitions *= 4;
        }
    }
    best
}
