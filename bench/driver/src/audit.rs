//! What a record adds to a request in a warm session, by the median: the same session with and without.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use exacta::audit::AuditOptions;
use exacta::gate::Judgement;
use exacta::programs::ProgramOptions;
use exacta::{Request, Session, SessionOptions};

/// A pause like that of an agent between two requests: what is gathered is written meanwhile.
const PAUSE: Duration = Duration::from_millis(6);

pub fn measure(folder: &str) -> Result<(), Box<dyn Error>> {
    let root = Path::new(folder);
    let cases = [
        ("echo hi", 20_000, Duration::ZERO),
        ("echo hi", 200, PAUSE),
        ("echo x > file", 200, PAUSE),
        ("./nothing", 100, PAUSE),
    ];
    println!("{:<34} {:>14} {:>14}", "median in us", "not recorded", "recorded");
    for (script, count, pause) in cases {
        let without = median(root, None, script, count, pause)?;
        let keys = Some(root.join("user"));
        let recorded = AuditOptions { keys, ..AuditOptions::default() };
        let with = median(root, Some(recorded), script, count, pause)?;
        let manner = if pause.is_zero() { "without a pause" } else { "with pauses" };
        println!("{:<34} {without:>14.1} {with:>14.1}", format!("{script}, {manner}"));
    }
    Ok(())
}

fn median(
    root: &Path,
    audit: Option<AuditOptions>,
    script: &str,
    count: usize,
    pause: Duration,
) -> Result<f64, Box<dyn Error>> {
    let mut options = SessionOptions::new(root.join("project"));
    options.judgement = Some(Judgement::none());
    options.audit = audit;
    let path: Vec<PathBuf> =
        std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect();
    options.programs = Some(ProgramOptions { path, ..ProgramOptions::default() });
    let mut session = Session::new(options)?;
    session.run(&Request::new(script));
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        std::thread::sleep(pause);
        let started = Instant::now();
        let outcome = session.run(&Request::new(script));
        times.push(started.elapsed().as_secs_f64() * 1e6);
        if !outcome.status.success() {
            return Err(String::from_utf8_lossy(&outcome.stderr).into());
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times.get(count / 2).copied().unwrap_or_default())
}
