//! What ends programs from outside: the time of a request, whoever cancels it, the end of the session.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use exacta::approvals::{Answer, Standard};
use exacta::policy::rules::RuleSet;
use exacta::policy::{Policy, Profile};
use exacta::programs::ProgramOptions;
use exacta::programs::limits::Chosen;
use exacta::{Request, Stop};
use exacta_jail::outcome::LimitHit;
use libtest_mimic::{Failed, Trial};

use crate::scene::Scene;

/// All of a tree is gone this soon, in the middle of several tries. A machine that is busy with other things gets some
/// more tries, and what was measured is said.
const SOON: Duration = Duration::from_millis(100);
const TRIES: usize = 5;
const ROUNDS: usize = 3;

/// Holds the middle of several delays to the promise, and no single one beyond all reason.
fn expect_soon(mut measure: impl FnMut() -> Result<Duration, Failed>) -> Result<(), Failed> {
    let mut all = Vec::new();
    for _ in 0..ROUNDS {
        let mut delays = (0..TRIES).map(|_| measure()).collect::<Result<Vec<_>, _>>()?;
        delays.sort();
        let middle = delays.get(TRIES / 2).copied().unwrap_or(Duration::MAX);
        all.push(delays);
        if middle <= SOON {
            return Ok(());
        }
    }
    Err(format!("not within {SOON:?}: {all:?}").into())
}

pub fn trials() -> Vec<Trial> {
    type Check = fn() -> Result<(), Failed>;
    let all: [(&str, Check); 14] = [
        ("waiting costs nothing", waiting_costs_nothing),
        ("time is over", time_is_over),
        ("cancelled", cancelled),
        ("ignoring signals does not help", ignoring),
        ("daemons end with the request", daemons),
        ("jobs end with the request", jobs),
        ("a flood ends with the request", flood),
        ("the next request of a session", next_request),
        ("memory", memory),
        ("processes", processes),
        ("processor time", processor_time),
        ("open files", open_files),
        ("builds get more", builds_get_more),
        ("output over its limit", output),
    ];
    all.into_iter().map(|(name, check)| Trial::test(format!("bounds::{name}"), check)).collect()
}

fn expect(condition: bool, what: &str) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(what.into()) }
}

/// How long after its time a request ends, and how.
fn delay(scene: &Scene, script: &str) -> Result<(exacta::Outcome, Duration), Failed> {
    let limit = Duration::from_millis(400);
    let mut options = scene.options();
    options.limits.wall_time = Some(limit);
    let mut session = Scene::session(options);
    // The jail itself is not what is measured.
    session.run(&Request::new("perl -e 1"));
    let began = Instant::now();
    let outcome = session.run(&Request::new(script));
    let took = began.elapsed();
    expect(outcome.stopped == Some(Stop::TimedOut), "not timed out")?;
    expect(took >= limit, &format!("too early: {took:?}"))?;
    Ok((outcome, took.saturating_sub(limit)))
}

fn time_is_over() -> Result<(), Failed> {
    let scene = Scene::new();
    expect_soon(|| {
        let script = "perl -e '$|=1; print qq(begun\\n); sleep 60'";
        let (outcome, late) = delay(&scene, script)?;
        expect(outcome.stdout == b"begun\n", "what was written before is lost")?;
        Ok(late)
    })
}

fn ignoring() -> Result<(), Failed> {
    let scene = Scene::new();
    let script = "perl -e '$SIG{$_} = q(IGNORE) for keys %SIG; fork; fork; sleep 60 while 1' | cat";
    expect_soon(|| Ok(delay(&scene, script)?.1))
}

fn cancelled() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = Scene::session(scene.options());
    session.run(&Request::new("perl -e 1"));
    expect_soon(|| {
        let canceller = session.prepare();
        let ended = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            canceller.cancel();
            Instant::now()
        });
        let outcome = session.run(&Request::new("perl -e 'sleep 60' | perl -e 'sleep 60'"));
        let now = Instant::now();
        let late = now.saturating_duration_since(ended.join().expect("the thread"));
        expect(outcome.stopped == Some(Stop::Cancelled), "not cancelled")?;
        Ok(late)
    })
}

/// Whoever waits for a program wakes up for nothing but what happens.
fn waiting_costs_nothing() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = Scene::session(scene.options());
    session.run(&Request::new("perl -e 1"));
    let switches = || {
        let text = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.and_then(|count| count.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    let before = switches();
    session.run(&Request::new("perl -e 'sleep 1'"));
    let woken = switches() - before;
    expect(woken < 60, &format!("woken {woken} times in a second"))
}

/// A daemon that has left its session, its parents and its output behind still writes a file every moment.
const DAEMON: &str = "perl -e 'use POSIX; exit if fork; setsid; exit if fork; close STDOUT; close STDERR; close STDIN; \
     while (1) { open F, q(>>beats); print F q(x); close F; select undef,undef,undef,0.02 }'; sleep 0.3";

fn daemons() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = Scene::session(scene.options());
    session.run(&Request::new(DAEMON));
    let beats = || fs::read(scene.project.join("beats")).map_or(0, |beats| beats.len());
    let before = beats();
    expect(before > 0, "the daemon never ran")?;
    std::thread::sleep(Duration::from_millis(200));
    expect(beats() == before, "the daemon still runs")
}

fn jobs() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = Scene::session(scene.options());
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
    let mut session = Scene::session(options);
    let outcome = session.run(&Request::new("perl -e 'print q(x) x 65536 while 1'"));
    expect(outcome.stopped.is_some(), "nothing has ended it")?;
    expect(outcome.stdout.len() <= 2 << 20, &format!("{} bytes were kept", outcome.stdout.len()))
}

/// A session under `dev`, without rules.
fn dev(scene: &Scene, limits: Chosen) -> exacta::Session {
    let mut options = scene.options();
    let mut judgement = exacta::gate::Judgement::none();
    judgement.policy = Arc::new(Policy::new(RuleSet::none(), Profile::Dev));
    judgement.approver = Arc::new(Standard { answer: Answer::Once, name: "the test" });
    options.judgement = Some(judgement);
    options.programs = Some(ProgramOptions { limits, ..ProgramOptions::default() });
    Scene::session(options)
}

/// Runs it, and expects these words of the message and this limit in the report.
fn expect_reached(outcome: &exacta::Outcome, hit: LimitHit, words: &[&str]) -> Result<(), Failed> {
    let stderr = String::from_utf8_lossy(&outcome.stderr);
    for word in words {
        expect(stderr.contains(word), &format!("{word:?} is not in {stderr:?}"))?;
    }
    let programs = outcome.programs.as_ref().ok_or("no report on programs")?;
    expect(programs.limits_hit.contains(&hit), "the report does not name the limit")
}

fn memory() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = dev(&scene, Chosen { memory_megabytes: Some(64), ..Chosen::default() });
    let script = "perl -e 'push @x, q(x) x 1000000 while 1'; echo $?; perl -e 'print qq(next\\n)'";
    let outcome = session.run(&Request::new(script));
    expect(outcome.stdout == b"137\nnext\n", &format!("{:?}", outcome.stdout))?;
    expect_reached(&outcome, LimitHit::Memory, &["memory limit", "64 MB", "memory_mb"])
}

fn processes() -> Result<(), Failed> {
    let scene = Scene::new();
    let script = "perl -e 'for (1..8) { my $p = fork; if (!defined $p) { print qq(no\\n); select undef,undef,undef,0.3; exit 3 } if (!$p) { sleep 5; exit } }'";
    let outcome = dev(&scene, Chosen::default()).run(&Request::new(script));
    expect(outcome.stdout == b"no\n", "eight processes were made")?;
    expect_reached(&outcome, LimitHit::Processes, &["process limit", "5 at one time", "processes"])
}

fn processor_time() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut session = dev(&scene, Chosen { processor_seconds: Some(1), ..Chosen::default() });
    let outcome = session.run(&Request::new("perl -e '1 while 1'; perl -e 'print 1'"));
    expect(outcome.stdout.is_empty(), "another program ran on used up time")?;
    expect_reached(&outcome, LimitHit::ProcessorTime, &["processor time", "1 s", "cpu_seconds"])?;
    let outcome = session.run(&Request::new("perl -e 'print 1'"));
    expect(outcome.stdout == b"1", "the next request has no time")
}

fn open_files() -> Result<(), Failed> {
    let scene = Scene::new();
    let script = "perl -e 'my @f; while (open my $f, q(<), q(/dev/null)) { push @f, $f } print scalar(@f) < 100 ? 1 : 0'";
    let outcome = dev(&scene, Chosen::default()).run(&Request::new(script));
    expect(outcome.stdout == b"1", "a hundred files can be open")
}

fn builds_get_more() -> Result<(), Failed> {
    let scene = Scene::new();
    scene.write("Makefile", "N = 1 2 3 4 5 6 7 8\nall: $(N)\n$(N):\n\t@sleep 0.2; echo $@\n");
    let outcome = dev(&scene, Chosen::default()).run(&Request::new("make -s -j8 | wc -l"));
    expect(outcome.stdout == b"8\n", &String::from_utf8_lossy(&outcome.stderr))?;
    let limits = outcome.programs.ok_or("no report on programs")?.limits;
    expect(limits.processes > Some(5), "the report does not say what was in force")
}

fn output() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut options = scene.options();
    let (root, name) = (Some(scene.project.clone()), "output-test".to_owned());
    options.output = Some(exacta::OutputLimit::new(1000, root, name));
    let mut session = Scene::session(options);
    let script = "perl -e 'print qq($_\\n) for 1..100000'; echo ${PIPESTATUS[0]}";
    let outcome = session.run(&Request::new(script));
    let text = String::from_utf8_lossy(&outcome.stdout);
    expect(outcome.truncated && text.len() < 1100, "it was not cut")?;
    expect(text.starts_with("1\n2\n") && text.ends_with("100000\n0\n"), &text)?;
    let path = outcome.spill.ok_or("nothing was spilled")?;
    let whole = session.run(&Request::new(format!("wc -l < {path}; tail -2 {path}")));
    expect(whole.stdout == b"100001\n100000\n0\n", &String::from_utf8_lossy(&whole.stdout))
}

fn next_request() -> Result<(), Failed> {
    let scene = Scene::new();
    let mut options = scene.options();
    options.limits.wall_time = Some(Duration::from_secs(2));
    let mut session = Scene::session(options);
    session.run(&Request::new("perl -e 'sleep 60'"));
    let outcome = session.run(&Request::new("perl -e 'print qq(still here\\n)'"));
    expect(outcome.stdout == b"still here\n", "no program runs after one was ended")
}
