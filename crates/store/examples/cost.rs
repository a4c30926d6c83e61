//! What undo costs, on a temporary tree: `cargo run -p exacta-store --example cost [DIRECTORY]`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "measures from outside, for whoever asks"
)]

use std::error::Error;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Instant;

use exacta_store::{About, Journal, Options, Outcome, Which};

type Done = Result<(), Box<dyn Error>>;

fn main() -> Done {
    let place = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = place.join(format!("exacta-store-cost-{}", std::process::id()));
    let measured = measure(&folder);
    fs::remove_dir_all(&folder)?;
    measured
}

fn measure(folder: &Path) -> Done {
    for files in [10, 27_000] {
        let root = folder.join(files.to_string());
        fs::create_dir_all(root.join(".clada"))?;
        for index in 0..files {
            let directory = root.join(format!("tree/{}", index / 100));
            fs::create_dir_all(&directory)?;
            fs::write(directory.join(index.to_string()), "x".repeat(1000))?;
        }
        println!("a tree of {files} files");
        small(&root)?;
        steps(&root)?;
        layer(&root)?;
        whole(&root)?;
    }
    Ok(())
}

fn open(root: &Path) -> Result<Journal, Box<dyn Error>> {
    let (root, state) = (File::open(root)?, File::open(root.join(".clada"))?);
    Ok(Journal::open(root.as_fd(), state.as_fd())?)
}

fn say(what: &str, times: u32, since: Instant) {
    let micros = since.elapsed().as_secs_f64() * 1e6 / f64::from(times);
    println!("  {what:<52} {micros:>12.1} µs");
}

/// Requests that change nothing or one file.
fn small(root: &Path) -> Done {
    const TIMES: u32 = 200;
    let since = Instant::now();
    for _ in 0..TIMES {
        open(root)?.begin(About::default()).finish(Outcome::default())?;
    }
    say("open, begin, nothing changed, finish", TIMES, since);
    let since = Instant::now();
    for index in 0..TIMES {
        let recording = open(root)?.begin(About::default());
        let name = format!("new{index}");
        let _made = recording.create(name.as_bytes())?;
        fs::write(root.join(name), "x")?;
        recording.finish(Outcome::default())?;
    }
    say("a whole request that makes one file", TIMES, since);
    Ok(())
}

/// Many steps of one request.
fn steps(root: &Path) -> Done {
    const TIMES: u32 = 1000;
    let journal = open(root)?;
    let recording = journal.begin(About::default());
    let since = Instant::now();
    for index in 0..TIMES {
        let _made = recording.create(format!("step{index}").as_bytes())?;
    }
    say("one create step", TIMES, since);
    for index in 0..TIMES {
        fs::write(root.join(format!("step{index}")), "x".repeat(1000))?;
    }
    recording.finish(Outcome::default())?;
    let recording = journal.begin(About::default());
    let since = Instant::now();
    for index in 0..TIMES {
        recording.before_write(format!("step{index}").as_bytes())?;
    }
    say("one write step (1,000 bytes kept)", TIMES, since);
    let since = Instant::now();
    recording.finish(Outcome::default())?;
    say("finish after 1,000 steps", 1, since);
    turn(&journal, "of 1,000 written files")
}

fn turn(journal: &Journal, what: &str) -> Done {
    let options = Options::default();
    let since = Instant::now();
    journal.undo(&Which::Last(1), options)?;
    say(&format!("undo {what}"), 1, since);
    let since = Instant::now();
    journal.redo(&Which::Last(1), options)?;
    say(&format!("redo {what}"), 1, since);
    Ok(())
}

/// A layer with 1,000 files, half of them new.
fn layer(root: &Path) -> Done {
    let journal = open(root)?;
    let layer = journal.layer(&About::default())?;
    let upper = root.join(".clada").join(layer.place().to_string()).join("upper");
    for index in 0..1000 {
        fs::write(upper.join(format!("step{}", index + 500)), "changed")?;
    }
    let recording = journal.begin(About::default());
    let since = Instant::now();
    recording.apply(&layer)?;
    recording.finish(Outcome::default())?;
    say("apply a layer of 1,000 files", 1, since);
    layer.discard()?;
    turn(&journal, "of it")
}

/// Everything deleted.
fn whole(root: &Path) -> Done {
    let journal = open(root)?;
    let recording = journal.begin(About::default());
    let since = Instant::now();
    recording.delete(b"tree")?;
    recording.finish(Outcome::default())?;
    say("delete the whole tree", 1, since);
    turn(&journal, "of that")
}
