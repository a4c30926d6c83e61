//! What ends programs from outside: the time of a request, whoever cancels it, the end of the session.

use std::fs;
use std::time::{Duration, Instant};

use exacta::{Request, Stop};
use libtest_mimic::{Failed, Trial};

use crate::scene::Scene;

/// All of a tree is gone this soon, and as much again for a machine that is busy.
const SOON: Duration = Duration::from_millis(500);

pub fn trials() -> Vec<Trial> {
    type Check = fn() -> Result<(), Failed>;
    let all: [(&str, Check); 7] = [
        ("time is over", time_is_over),
        ("cancelled", cancelled),
        ("ignoring signals does not help", ignoring),
        ("daemons end with the request", daemons),
        ("jobs end with the request", jobs),
        ("a flood ends with the request", flood),
        ("the next request of a session", next_request),
    ];
    all.into_iter().map(|(name, check)| Trial::test(format!("bounds::{name}"), check)).collect()
}

fn expect(condition: bool, what: &str) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(what.into()) }
}

fn run_for(scene: &Scene, script: &str, time: Duration) -> (exacta::Outcome, Duration) {
    let mut options = scene.options();
    options.limits.wall_time = Some(time);
    let mut session = scene.session(options);
    // The jail itself is not what is measured.
    session.run(&Request::new("perl -e 1"));
    let began = Instant::now();
    let outcome = session.run(&Request::new(script));
    (outcome, began.elapsed())
}

fn time_is_over() -> Result<(), Failed> {
    let limit = Duration::from_millis(600);
    let (outcome, took) =
        run_for(&Scene::new(), "perl -e '$|=1; print qq(begun\\n); sleep 60'", limit);
    expect(outcome.stopped == Some(Stop::TimedOut), "not timed out")?;
    expect(outcome.stdout == b"begun\n", "what was written before is lost")?;
    expect(took < limit + SOON, &format!("took {took:?}"))
}

fn ignoring() -> Result<(), Failed> {
    let limit = Duration::from_millis(600);
    let script = "perl -e '$SIG{$_} = q(IGNORE) for keys %SIG; fork; fork; sleep 60 while 1' | cat";
    let (outcome, took) = run_for(&Scene::new(), script, limit);
    expect(outcome.stopped == Some(Stop::TimedOut), "not timed out")?;
    expect(took < limit + SOON, &format!("took {took:?}"))
}

fn cancelled() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = scene.session(scene.options());
    session.run(&Request::new("perl -e 1"));
    let canceller = session.prepare();
    let ended = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        canceller.cancel();
        Instant::now()
    });
    let outcome = session.run(&Request::new("perl -e 'sleep 60' | perl -e 'sleep 60'"));
    let took = ended.join().expect("the thread").elapsed();
    expect(outcome.stopped == Some(Stop::Cancelled), "not cancelled")?;
    expect(took < SOON, &format!("took {took:?}"))
}

/// A daemon that has left its session, its parents and its output behind still writes a file every moment.
const DAEMON: &str = "perl -e 'use POSIX; exit if fork; setsid; exit if fork; close STDOUT; close STDERR; close STDIN; \
     while (1) { open F, q(>>beats); print F q(x); close F; select undef,undef,undef,0.02 }'; sleep 0.3";

fn daemons() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = scene.session(scene.options());
    session.run(&Request::new(DAEMON));
    let beats = || fs::read(scene.project.join("beats")).map_or(0, |beats| beats.len());
    let before = beats();
    expect(before > 0, "the daemon never ran")?;
    std::thread::sleep(Duration::from_millis(200));
    expect(beats() == before, "the daemon still runs")
}

fn jobs() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = scene.session(scene.options());
    let job = "perl -e 'while (1) { open F, q(>>beats); print F q(x); close F; select undef,undef,undef,0.02 }' & sleep 0.3";
    let began = Instant::now();
    session.run(&Request::new(job));
    expect(began.elapsed() < Duration::from_secs(10), "the request waited for its job")?;
    let beats = || fs::read(scene.project.join("beats")).map_or(0, |beats| beats.len());
    let before = beats();
    expect(before > 0, "the job never ran")?;
    std::thread::sleep(Duration::from_millis(200));
    expect(beats() == before, "the job still runs")
}

fn flood() -> Result<(), Failed> {
    let limit = Duration::from_secs(1);
    let mut options = Scene::new().options();
    options.limits.output_bytes = 1 << 20;
    let scene = Scene::new();
    options.root.clone_from(&scene.project);
    options.limits.wall_time = Some(limit);
    let mut session = scene.session(options);
    let outcome = session.run(&Request::new("perl -e 'print q(x) x 65536 while 1'"));
    expect(outcome.stopped.is_some(), "nothing has ended it")?;
    expect(outcome.stdout.len() <= 2 << 20, &format!("{} bytes were kept", outcome.stdout.len()))
}

fn next_request() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut options = scene.options();
    options.limits.wall_time = Some(Duration::from_secs(2));
    let mut session = scene.session(options);
    session.run(&Request::new("perl -e 'sleep 60'"));
    let outcome = session.run(&Request::new("perl -e 'print qq(still here\\n)'"));
    expect(outcome.stdout == b"still here\n", "no program runs after one was ended")
}
