//! Programs that fork, allocate, spin and write without end. They run in a jail, and the jail in a disposable world.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a test that cannot go on says so")]

mod support;

use std::time::{Duration, Instant};

use exacta_jail::outcome::{LimitHit, Tier};
use exacta_jail::plan::Limits;
use exacta_jail::{Cell, Ending, Finished, Spawner};

use support::{Project, descendants, eventually, groups, spawner};

exacta_world::tests! {
    what_has_no_end_is_ended_by_a_limit,
    forks_without_end_are_held_and_swept,
    forks_without_end_die_with_their_jail,
    forks_without_end_die_with_the_spawner,
}

const MEGABYTE: u64 = 1 << 20;

fn limits() -> Limits {
    Limits {
        processor_time: Some(Duration::from_secs(2)),
        memory: Some(96 * MEGABYTE),
        tasks: Some(64),
        ..Limits::default()
    }
}

/// Those that one of these limits must end.
const ENDED: [(&str, &str, &[LimitHit]); 7] = [
    ("memory", "tail /dev/zero", &[LimitHit::Memory]),
    (
        "memory of many",
        "for i in 1 2 3 4 5 6 7 8 9; do tail /dev/zero & done; wait",
        &[LimitHit::Memory],
    ),
    (
        "memory of a daemon",
        "setsid sh -c 'setsid tail /dev/zero & sleep 60' & sleep 60",
        &[LimitHit::Memory],
    ),
    ("time", "while :; do :; done", &[LimitHit::ProcessorTime]),
    (
        "time of many",
        "for i in 1 2 3 4 5; do (while :; do :; done) & done; wait",
        &[LimitHit::ProcessorTime],
    ),
    (
        "time of many that end, and that nobody buries",
        "trap '' CHLD; while :; do (i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done); done",
        &[LimitHit::ProcessorTime],
    ),
    (
        "files without end",
        "i=0; while :; do : >/tmp/$i; i=$((i+1)); done",
        &[LimitHit::ProcessorTime, LimitHit::Memory],
    ),
];

const FORKING: [(&str, &str); 4] = [
    ("forks", "b() { b | b & }; b; echo ready; sleep 60"),
    ("forks that stop", "b() { (b) & (kill -STOP $$; b) & b; }; echo ready; b"),
    (
        "forks in sessions of their own",
        "echo 'setsid sh ./b & setsid sh ./b & setsid sh ./b; sh ./b' >b; echo ready; sh ./b",
    ),
    (
        "forks that ignore",
        "trap '' TERM INT HUP CHLD; b() { b & b & b; }; echo ready; while :; do (b); done",
    ),
];

fn run(name: &str, script: &str) -> Finished {
    let (project, spawner) = (Project::new(), spawner());
    let mut cell = spawner.build(&project.plan(limits())).expect("a jail");
    let running = project.start(&mut cell, script);
    let ending = running.wait().expect("an end");
    let finished = cell.finished(ending);
    let took = eventually(name, Duration::from_secs(2), || !cell.is_alive());
    println!("{name}: over after {took:?}");
    finished
}

fn what_has_no_end_is_ended_by_a_limit() {
    for (name, script, expected) in ENDED {
        let begun = Instant::now();
        let finished = run(name, script);
        // Groups of the first version lose their largest process first, and a shell may be quick to say so.
        let ends = [Ending::Signalled(9), Ending::Exited(137)];
        assert!(ends.contains(&finished.ending), "{name}: {finished:?}");
        assert!(
            finished.limits_hit.iter().any(|hit| expected.contains(hit)),
            "{name}: {finished:?}"
        );
        assert!(begun.elapsed() < Duration::from_secs(30), "{name}");
    }
}

/// A jail in which something forks without end, for a while already.
fn exploded(script: &str) -> (Project, Spawner, Cell) {
    let (project, spawner) = (Project::new(), spawner());
    // Nothing but the number of tasks ends it.
    let limits = Limits { processor_time: None, ..limits() };
    let mut cell = spawner.build(&project.plan(limits)).expect("a jail");
    let running = project.start(&mut cell, script);
    project.await_word("ready");
    std::thread::sleep(Duration::from_millis(500));
    // It belongs to the jail from now on; dropped, it would be ended.
    std::mem::forget(running);
    (project, spawner, cell)
}

fn forks_without_end_are_held_and_swept() {
    for (name, script) in FORKING {
        let (project, spawner, mut cell) = exploded(script);
        let count = descendants(spawner.process()).len();
        assert!(count <= 66, "{name}: {count} processes");
        let begun = Instant::now();
        cell.sweep().expect("a swept jail");
        let took = begun.elapsed();
        println!("{name}: {count} processes swept in {took:?}");
        assert!(took < Duration::from_secs(2), "{name}: {took:?}");
        assert_eq!(descendants(spawner.process()).len(), 2, "{name}: the warden and the init");
        let usage = cell.usage();
        if cell.walls().limits != Tier::Sampled {
            assert!(usage.limits_hit.contains(&LimitHit::Tasks), "{name}: {usage:?}");
        }
        assert!(usage.tasks_peak <= 64, "{name}: {usage:?}");
        let running = project.start(&mut cell, "exit 9");
        assert_eq!(running.wait().expect("an end"), Ending::Exited(9), "{name}");
    }
}

fn forks_without_end_die_with_their_jail() {
    for (name, script) in FORKING {
        let (_project, spawner, cell) = exploded(script);
        drop(cell);
        let took = eventually(name, Duration::from_secs(2), || {
            descendants(spawner.process()).is_empty() && groups(spawner.process()).is_empty()
        });
        println!("{name}: {took:?}");
    }
}

fn forks_without_end_die_with_the_spawner() {
    for (name, script) in FORKING {
        let (_project, spawner, cell) = exploded(script);
        let all = descendants(spawner.process());
        let number = i32::try_from(spawner.process()).expect("a number");
        let number = rustix::process::Pid::from_raw(number).expect("a number");
        rustix::process::kill_process(number, rustix::process::Signal::KILL).expect("ours");
        let took = eventually(name, Duration::from_secs(2), || {
            !all.iter().any(|process| process.is_alive()) && !cell.is_alive()
        });
        println!("{name}: {took:?}");
    }
}
