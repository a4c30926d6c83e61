//! How long a script without end goes on after another thread has cancelled it.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use exacta::gate::Judgement;
use exacta::{Request, Session, SessionOptions};

/// The scripts that the tests stop as well. They read `file` and `fifo`.
const ENDLESS: &str = include_str!("../../../crates/engine/tests/endless.txt");
/// How often each is stopped, each time a little later.
const TIMES: u32 = 5;

/// How many of the slowest are named.
const SHOWN: usize = 20;

/// A thread that only sleeps has waited so long for its turn: the machine itself stood still.
const STANDSTILL: Duration = Duration::from_millis(4);
/// How often a time is taken again because of that.
const REPEATS: u32 = 10;

const PROMISED: Duration = Duration::from_millis(10);

/// Prints, in microseconds, the median and the longest of all times, and the script that took longest.
pub fn measure(root: &str) -> Result<(), Box<dyn Error>> {
    let root = Path::new(root);
    std::fs::write(root.join("file"), "text\n")?;
    if !root.join("fifo").exists()
        && !Command::new("mkfifo").arg(root.join("fifo")).status()?.success()
    {
        return Err("mkfifo failed".into());
    }
    let mut took = Vec::new();
    for script in ENDLESS.lines() {
        for time in 1..=TIMES {
            took.push((stop_undisturbed(root, script, Duration::from_millis(25) * time)?, script));
        }
    }
    took.sort();
    let middle = took.get(took.len() / 2).ok_or("no scripts")?.0;
    let (longest, script) = took.last().ok_or("no scripts")?;
    let promised = took.iter().filter(|(time, _)| *time <= PROMISED).count();
    let report = serde_json::json!({
        "scripts": ENDLESS.lines().count(),
        "times": took.len(),
        "in_time": promised,
        "median": middle.as_micros(),
        "longest": longest.as_micros(),
        "script": script,
        "slowest": took.iter().rev().take(SHOWN).map(|(time, script)| {
            format!("{} µs: {script}", time.as_micros())
        }).collect::<Vec<_>>(),
    });
    println!("{report}");
    Ok(())
}

/// Again while the machine stands still in between, which says nothing about us.
fn stop_undisturbed(
    root: &Path,
    script: &'static str,
    after: Duration,
) -> Result<Duration, Box<dyn Error>> {
    let mut took = stop(root, script, after)?;
    for _ in 0..REPEATS {
        match took {
            (time, gap) if time <= PROMISED || gap < STANDSTILL => return Ok(time),
            _ => took = stop(root, script, after)?,
        }
    }
    Ok(took.0)
}

/// How long it took, and the longest that a thread without any work had to wait for its turn meanwhile.
fn stop(
    root: &Path,
    script: &'static str,
    after: Duration,
) -> Result<(Duration, Duration), Box<dyn Error>> {
    let mut options = SessionOptions::new(root);
    // Some of these would be asked about; this is about stopping what runs.
    options.judgement = Some(Judgement::none());
    let mut session = Session::new(options)?;
    let canceller = session.prepare();
    let worker = thread::spawn(move || {
        session.run(&Request::new(script));
        Instant::now()
    });
    thread::sleep(after);
    if worker.is_finished() {
        return Err(format!("{script}: ended by itself").into());
    }
    let over = Arc::new(AtomicBool::new(false));
    let watcher = {
        let over = Arc::clone(&over);
        thread::spawn(move || watch(&over))
    };
    let asked = Instant::now();
    canceller.cancel();
    let ended = worker.join().map_err(|_| format!("{script}: panicked"))?;
    over.store(true, Ordering::Release);
    let gap = watcher.join().map_err(|_| "the watcher panicked")?;
    Ok((ended.saturating_duration_since(asked), gap))
}

fn watch(over: &AtomicBool) -> Duration {
    let mut longest = Duration::ZERO;
    let mut before = Instant::now();
    while !over.load(Ordering::Acquire) {
        thread::sleep(Duration::from_micros(200));
        let now = Instant::now();
        longest = longest.max(now - before);
        before = now;
    }
    longest
}
