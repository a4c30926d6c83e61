//! Any bytes as a script, in memory and with little of everything: no panic, no hang.

use std::sync::Arc;
use std::time::{Duration, Instant};

use exacta::filesystem::Memory;
use exacta::gate::Judgement;
use exacta::{Limits, Request, Session, SessionOptions};

/// Far beyond the wall time: whoever takes this long does not look at the clock.
const HANGING: Duration = Duration::from_secs(10);

pub fn check(bytes: &[u8]) {
    let mut options = SessionOptions::new("/project");
    options.limits = limits();
    let files = Arc::new(Memory::with_capacity("/project", 16 << 20));
    options.judgement = Some(Judgement::none());
    let mut session = Session::over(files, options).expect("a session in memory");
    let begun = Instant::now();
    let outcome = session.run_script(&Request::new(bytes).with_stdin("one\ntwo words\n"));
    assert!(begun.elapsed() < HANGING, "took {:?}", begun.elapsed());
    assert!(outcome.stdout.len() + outcome.stderr.len() < 1 << 20, "more output than allowed");
}

pub fn limits() -> Limits {
    Limits {
        steps: 2_000,
        loop_iterations: 500,
        recursion: 40,
        output_bytes: 64 << 10,
        open_files: 64,
        expansion_bytes: 1 << 20,
        pipeline_depth: 5,
        processes: 8,
        wall_time: Some(Duration::from_millis(300)),
    }
}
