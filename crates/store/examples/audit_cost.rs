//! What records cost: `cargo run --release -p exacta-store --example audit_cost -- [DIR]`.
//!
//! Opening and closing, a record that is handed over, one that waits for the disk, a million of them searched and verified.

#![expect(clippy::disallowed_methods, reason = "a measurement, in a directory of its own")]
#![expect(clippy::print_stdout, reason = "its only output")]

use std::error::Error;
use std::fs;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use exacta_store::Watch;
use exacta_store::audit::{
    Anchor, Asked, Captured, Cleanser, Database, Entry, Filter, Intent, Known, Ledger, Limits,
    Order, Outcome, Reader, Recorded, Ruling, Signing, Verdict, Writer, public_key, verify,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ROOT: &[u8] = b"/measured";

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let rows: u64 = words.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let folder = words.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = folder.join(format!("exacta-audit-cost-{}", std::process::id()));
    fs::create_dir_all(folder.join("state"))?;
    let measured =
        processes(&folder).and_then(|()| one_process(&folder)).and_then(|()| many(&folder, rows));
    fs::remove_dir_all(&folder)?;
    measured
}

fn signing(folder: &Path) -> Signing {
    Signing { folder: Some(folder.join("user")), project: ROOT.to_vec() }
}

fn writer(folder: &Path) -> Result<Writer> {
    let state = fs::File::open(folder.join("state"))?;
    let signing = signing(folder);
    let open = move || {
        let database = Database::open(state.as_fd(), &signing)?;
        Ok(Box::new(database) as Box<dyn Ledger>)
    };
    Ok(Writer::new(Box::new(open), Limits { days: 9_999, bytes: u64::MAX }))
}

/// As many different letters side by side as commands of people have, and more.
fn words(number: u64) -> String {
    let mut random = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut letter = || {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + ((random >> 33) % 26) as u8)
    };
    (0..13).map(|at| if at == 6 { '/' } else { letter() }).collect()
}

fn asked(number: u64) -> Asked {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&number.to_be_bytes());
    Asked {
        id,
        session: format!("0199a000-0000-7000-8000-{:012}", number / 100).into(),
        agent: "agent".into(),
        command: format!("grep -rn 'word{number}' src/{} | head -5", words(number)).into(),
        directory: "/home/somebody/project".into(),
        time: 1_700_000_000_000_000 + number as i64,
        profile: "dev".into(),
    }
}

fn outcome(number: u64, intended: bool) -> Entry {
    let denied = number.is_multiple_of(1000);
    let verdict = if denied { Verdict::Deny } else { Verdict::Allow };
    let ruling = Ruling {
        verdict,
        rule: "builtin".into(),
        reason: "part of the shell".into(),
        ..Ruling::default()
    };
    let exit = i32::from(number.is_multiple_of(50));
    Entry::Outcome(Box::new(Outcome {
        asked: asked(number),
        intended,
        ruling,
        exit,
        duration: 12,
        ..Outcome::default()
    }))
}

fn intent(number: u64) -> Entry {
    Entry::Intent(Box::new(Intent {
        asked: asked(number),
        effect: "change".into(),
        ..Intent::default()
    }))
}

fn captured() -> Option<Box<[Captured; 2]>> {
    Some(Box::new([Captured::whole(b"src/main.rs:7: fn main() {\n".to_vec()), Captured::default()]))
}

/// What a process that runs one command adds.
fn processes(folder: &Path) -> Result<()> {
    let mut times = Vec::new();
    for number in 0..200 {
        let started = Instant::now();
        let writer = writer(folder)?;
        writer.submit(outcome(1_000_000_000 + number, false), captured(), &plain())?;
        writer.close()?;
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    say("open, one record, close", &mut times);
    let mut times = Vec::new();
    for number in 0..100 {
        let started = Instant::now();
        let writer = writer(folder)?;
        writer.commit(intent(2_000_000_000 + number), &plain())?;
        writer.submit(outcome(2_000_000_000 + number, true), captured(), &plain())?;
        writer.close()?;
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    say("open, intent on the disk, outcome, close", &mut times);
    Ok(())
}

fn one_process(folder: &Path) -> Result<()> {
    let writer = writer(folder)?;
    writer.commit(intent(3_000_000_000), &plain())?;
    let mut times = Vec::new();
    for number in 0..2_000 {
        let entry = outcome(4_000_000_000 + number, false);
        let started = Instant::now();
        writer.submit(entry, captured(), &plain())?;
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    say("handing one over", &mut times);
    let started = Instant::now();
    for number in 0..100_000 {
        writer.submit(outcome(5_000_000_000 + number, false), captured(), &plain())?;
    }
    writer.flush()?;
    println!(
        "{:<44} {:>10.1} us each, without a pause",
        "one after the other",
        started.elapsed().as_secs_f64() * 1e6 / 1e5
    );
    let mut times = Vec::new();
    for number in 0..200 {
        let entry = intent(6_000_000_000 + number);
        let started = Instant::now();
        writer.commit(entry, &plain())?;
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    say("an intent on the disk", &mut times);
    writer.close()?;
    Ok(())
}

fn many(folder: &Path, rows: u64) -> Result<()> {
    let started = Instant::now();
    let writer = writer(folder)?;
    for number in 0..rows {
        writer.submit(outcome(number, false), captured(), &plain())?;
    }
    writer.close()?;
    println!("{:<44} {:>10.1} s", format!("{rows} written"), started.elapsed().as_secs_f64());
    let size = fs::metadata(folder.join("state/exacta.db"))?.len();
    println!("{:<44} {:>10.1} MB", "size", size as f64 / 1e6);
    let state = fs::File::open(folder.join("state"))?;
    let session = Some(asked(rows / 2).session.to_string());
    let filters = [
        ("the last 50", Filter::default()),
        ("--failed", Filter { failed: true, ..Filter::default() }),
        ("--decision deny", Filter { verdict: Some(Verdict::Deny), ..Filter::default() }),
        ("--session", Filter { session, ..Filter::default() }),
        (
            "--since",
            Filter {
                since: Some(1_700_000_000_000_000 + (rows - 100) as i64),
                ..Filter::default()
            },
        ),
        ("--until", Filter { until: Some(1_700_000_000_000_100), ..Filter::default() }),
        (
            "--grep of three letters, in 0.06 %",
            Filter { grep: Some("xyz".into()), ..Filter::default() },
        ),
        ("--grep, often there", Filter { grep: Some("grep".into()), ..Filter::default() }),
        ("--grep, once there", Filter { grep: Some("word77'".into()), ..Filter::default() }),
        ("--grep, not there", Filter { grep: Some("nowhere".into()), ..Filter::default() }),
    ];
    for (name, filter) in &filters {
        search(&format!("history {name}"), &state, filter)?;
    }
    verified(folder, &state)?;
    // What it was before there were outlines, and is in a database of that version until somebody writes to it.
    rusqlite::Connection::open(folder.join("state/exacta.db"))?
        .execute("DELETE FROM outlines", [])?;
    for (name, filter) in
        filters.iter().filter(|(name, _)| name.contains("there") || *name == "--until")
    {
        search(&format!("without outlines {name}"), &state, filter)?;
    }
    let started = Instant::now();
    let made = Database::open(state.as_fd(), &signing(folder))?.outline_all()?;
    println!(
        "{:<44} {:>10.1} ms",
        format!("{made} outlines made"),
        started.elapsed().as_secs_f64() * 1e3
    );
    Ok(())
}

fn search(what: &str, state: &fs::File, filter: &Filter) -> Result<()> {
    let filter = Filter { limit: Some(50), ..filter.clone() };
    let mut times = Vec::new();
    for _ in 0..9 {
        let started = Instant::now();
        let reader = Reader::open(state.as_fd())?;
        let mut count = 0;
        reader.requests(&filter, Order::NewestFirst, &mut |_: Recorded| {
            count += 1;
            ControlFlow::Continue(())
        })?;
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    say(what, &mut times);
    Ok(())
}

fn verified(folder: &Path, state: &fs::File) -> Result<()> {
    let started = Instant::now();
    let user = folder.join("user");
    let anchors = Anchor::read_of(&user, ROOT)?.into_iter().collect();
    let known = Known { key: public_key(&user)?, anchors };
    let report = verify(&Reader::open(state.as_fd())?, &known, &Watch::default())?;
    let took = started.elapsed().as_secs_f64();
    println!(
        "{:<44} {took:>10.1} s, {} problems",
        format!("verify of {}", report.records),
        report.problems.len()
    );
    for problem in report.problems.iter().take(3) {
        println!("{problem}");
    }
    Ok(())
}

fn say(what: &str, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
    println!("{what:<44} {:>10.1} us median, {:.1} us 90 %, {:.1} us 99 %", at(50), at(90), at(99));
}

/// What is looked for in texts is measured elsewhere.
fn plain() -> Arc<dyn Cleanser> {
    Arc::new(())
}
