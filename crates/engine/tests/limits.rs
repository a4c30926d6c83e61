//! Limits are values with clear errors, and a request can be stopped from another thread.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make the directories they run in"
)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use exacta::{Limits, Outcome, Request, Session, SessionOptions, Stop};

exacta_world::tests! {
    each_limit_stops_the_request_and_says_which,
    too_many_open_files_is_an_error_of_the_redirect,
    nothing_in_a_script_catches_a_limit,
    the_session_goes_on_after_a_limit,
    cancelling_stops_everything_at_once,
    a_killed_reader_of_a_fifo_ends_at_once,
}

struct Project(PathBuf);

static SERIAL: AtomicU32 = AtomicU32::new(0);

impl Project {
    fn new() -> Self {
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("exacta-limits-{}-{serial}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary directory");
        Project(path.canonicalize().expect("a real path"))
    }

    fn session(&self, limits: Limits) -> Session {
        let mut options = SessionOptions::new(&self.0);
        // The commands are the question, not what the judge would say of them.
        options.judgement = Some(exacta::gate::Judgement::none());
        options.limits = limits;
        Session::new(options).expect("a session")
    }

    fn run(&self, limits: Limits, script: &str) -> Outcome {
        self.session(limits).run(&Request::new(script))
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn stderr(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.stderr).into_owned()
}

/// A limit, a script that exceeds it, and the words that say so.
fn limited() -> Vec<(Limits, &'static str, &'static str)> {
    let defaults = Limits::default;
    vec![
        (
            Limits { steps: 100, ..defaults() },
            "while true; do :; done",
            "step limit exceeded (max 100)",
        ),
        (
            Limits { loop_iterations: 50, ..defaults() },
            "for ((;;)); do :; done",
            "loop iteration limit exceeded (max 50)",
        ),
        (
            Limits { recursion: 60, ..defaults() },
            "f() { f; }; f",
            "recursion limit exceeded (max 60)",
        ),
        (
            Limits { recursion: 60, ..defaults() },
            "f() { $(f); }; f",
            "recursion limit exceeded (max 60)",
        ),
        (
            Limits { output_bytes: 1000, ..defaults() },
            "while :; do echo 0123456789; done",
            "output limit exceeded (max 1000 bytes)",
        ),
        (
            Limits { output_bytes: 1000, ..defaults() },
            "yes",
            "output limit exceeded (max 1000 bytes)",
        ),
        (
            Limits { expansion_bytes: 10_000, ..defaults() },
            "echo {1..1000000}",
            "expansion limit exceeded (max 10000 bytes)",
        ),
        (
            Limits { expansion_bytes: 10_000, ..defaults() },
            "x=$(yes)",
            "expansion limit exceeded (max 10000 bytes)",
        ),
        (
            Limits { pipeline_depth: 2, ..defaults() },
            "true | true | true",
            "pipe depth exceeded (max 2)",
        ),
        (
            Limits { wall_time: Some(Duration::from_millis(50)), ..defaults() },
            "while :; do :; done",
            "timed out",
        ),
        (
            Limits { wall_time: Some(Duration::from_millis(50)), ..defaults() },
            "sleep 60",
            "timed out",
        ),
    ]
}

fn each_limit_stops_the_request_and_says_which() {
    let project = Project::new();
    for (limits, script, words) in limited() {
        let outcome = project.run(limits, script);
        assert!(stderr(&outcome).contains(words), "{script}: {}", stderr(&outcome));
        assert!(outcome.stopped.is_some(), "{script}");
        assert!(!outcome.status.success(), "{script}");
    }
}

/// A script can handle this one, as it can under `ulimit -n`.
fn too_many_open_files_is_an_error_of_the_redirect() {
    let project = Project::new();
    let limits = Limits { open_files: 20, ..Limits::default() };
    let outcome = project.run(limits, "while exec {fd}</dev/null; do :; done");
    assert!(stderr(&outcome).contains("Too many open files"), "{}", stderr(&outcome));
    assert!(outcome.stopped.is_none());
}

fn nothing_in_a_script_catches_a_limit() {
    let project = Project::new();
    let limits = Limits { steps: 200, ..Limits::default() };
    let script =
        "trap 'echo trapped' EXIT ERR; { while :; do :; done; } || echo caught; echo after";
    let outcome = project.run(limits, script);
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), "");
    assert!(matches!(outcome.stopped, Some(Stop::Limit(..))));
}

fn the_session_goes_on_after_a_limit() {
    let project = Project::new();
    let mut session = project.session(Limits { steps: 200, ..Limits::default() });
    session.run(&Request::new("x=kept; while :; do :; done"));
    let outcome = session.run(&Request::new("echo $x"));
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), "kept\n");
}

/// Scripts that do not end by themselves, one on each line; `bench/run` stops the same.
const ENDLESS: &str = include_str!("endless.txt");

/// How often each of them is stopped, each time a little later.
const TIMES: u32 = 3;

fn cancelling_stops_everything_at_once() {
    let project = Project::new();
    fs::write(project.0.join("file"), "text\n").expect("a file");
    let made = Command::new("mkfifo").arg(project.0.join("fifo")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo of coreutils is needed");
    for script in ENDLESS.lines() {
        let mut took: Vec<Duration> =
            (1..=TIMES).map(|time| stop(&project, script, time)).collect();
        took.sort();
        let median = took.get(took.len() / 2).copied().unwrap_or_default();
        // The promise is 10 ms; a loaded machine that does not schedule us gets ten times that before we call it broken.
        assert!(median < Duration::from_millis(100), "{script} took {took:?}");
    }
}

/// Cancels the script after a while and says how long it took to end.
fn stop(project: &Project, script: &'static str, time: u32) -> Duration {
    let mut session = project.session(Limits::default());
    let canceller = session.prepare();
    let worker = thread::spawn(move || (session.run(&Request::new(script)), Instant::now()));
    thread::sleep(Duration::from_millis(25) * time);
    assert!(!worker.is_finished(), "{script} ended by itself: {}", ended(worker));
    let asked = Instant::now();
    canceller.cancel();
    let (outcome, end) = worker.join().expect("a stopped request");
    assert_eq!(outcome.stopped, Some(Stop::Cancelled), "{script}");
    end.saturating_duration_since(asked)
}

fn ended(worker: thread::JoinHandle<(Outcome, Instant)>) -> String {
    stderr(&worker.join().expect("a finished request").0)
}

/// What waits for a FIFO is a process to the script: a signal ends it, and the rest goes on.
fn a_killed_reader_of_a_fifo_ends_at_once() {
    let project = Project::new();
    let made = Command::new("mkfifo").arg(project.0.join("fifo")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo of coreutils is needed");
    let limits = Limits { wall_time: Some(Duration::from_secs(20)), ..Limits::default() };
    for reader in
        ["cat <&3", "read -r x <&3", "tee copy <&3", "sort <&3", "(cat <&3) | cat", "cat fifo"]
    {
        let script =
            format!("exec 3<>fifo; {{ {reader}; }} & sleep 0.05; kill $!; wait $!; echo $?");
        let outcome = project.run(limits.clone(), &script);
        assert_eq!(outcome.stopped, None, "{reader}");
        assert_eq!(String::from_utf8_lossy(&outcome.stdout), "143\n", "{reader}");
        assert!(outcome.duration < Duration::from_secs(10), "{reader} took {:?}", outcome.duration);
    }
}
