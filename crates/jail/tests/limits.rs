//! What a tree of processes may use, and what is said of what it used. Everything here is bounded by itself as well.
#![expect(clippy::expect_used, reason = "a test that cannot go on says so")]

mod support;

use std::time::{Duration, Instant};

use exacta_jail::outcome::{LimitHit, Tier};
use exacta_jail::plan::Limits;
use exacta_jail::{Ending, Finished};

use support::{Project, again_as_ordinary_user, spawner};

const KILLED: Ending = Ending::Signalled(9);
const MEGABYTE: u64 = 1 << 20;

/// Never for more than ten seconds of a processor.
const SPIN: &str = "ulimit -t 10; while :; do :; done";

fn run(limits: &Limits, script: &str) -> (Finished, bool) {
    let (project, spawner) = (Project::new(), spawner());
    let mut cell = spawner.build(&project.plan(limits.clone())).expect("a jail");
    let running = project.start(&mut cell, script);
    let ending = running.wait().expect("an end");
    let finished = cell.finished(ending);
    // What is ended because of a limit has been told to end, but a busy machine may take a while. The program may have
    // ended by itself before, when the kernel had taken one of its children.
    let ends = |hit: &LimitHit| matches!(hit, LimitHit::Memory | LimitHit::ProcessorTime);
    let told = ending == KILLED || finished.limits_hit.iter().any(ends);
    let begun = Instant::now();
    while cell.is_alive() && told && begun.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(1));
    }
    (finished, cell.is_alive())
}

#[test]
fn processor_time_is_of_the_whole_tree() {
    let limits = Limits { processor_time: Some(Duration::from_millis(400)), ..Limits::default() };
    let cases = [
        ("one", SPIN.to_owned()),
        ("its children", format!("({SPIN}) & ({SPIN}) & wait")),
        ("a daemon", format!("setsid sh -c '{SPIN}' & sleep 10")),
        // No process lives long enough to be seen using much.
        ("many short ones", "i=0; while [ $i -lt 5000 ]; do (j=0; while [ $j -lt 300 ]; do j=$((j+1)); done); i=$((i+1)); done".to_owned()),
    ];
    for (name, script) in cases {
        let begun = Instant::now();
        let (finished, alive) = run(&limits, &script);
        assert_eq!(finished.ending, KILLED, "{name}");
        assert_eq!(finished.limits_hit, [LimitHit::ProcessorTime], "{name}");
        assert!(!alive, "{name}");
        assert!(finished.processor_time >= Duration::from_millis(400), "{name}: {finished:?}");
        assert!(finished.processor_time < Duration::from_millis(900), "{name}: {finished:?}");
        assert!(begun.elapsed() < Duration::from_secs(9), "{name}: {:?}", begun.elapsed());
    }
}

#[test]
fn memory_is_of_the_whole_tree() {
    let limits = Limits { memory: Some(64 * MEGABYTE), ..Limits::default() };
    // Keeps what it reads until the end of its input; the input is slow enough to be looked at.
    let hold = |megabytes: u32| {
        format!("(head -c {megabytes}m /dev/zero; sleep 5) | tail -c {megabytes}m >/dev/null")
    };
    let cases = [
        ("one", hold(200)),
        ("several that are small", (0..8).map(|_| hold(20) + " & ").collect::<String>() + "wait"),
        ("a daemon", format!("setsid sh -c '{}' & sleep 10", hold(200))),
    ];
    for (name, script) in cases {
        let (finished, alive) = run(&limits, &script);
        assert_eq!(finished.ending, KILLED, "{name}: {finished:?}");
        assert_eq!(finished.limits_hit, [LimitHit::Memory], "{name}");
        assert!(!alive, "{name}");
        assert!(finished.memory_peak >= 60 * MEGABYTE, "{name}: {finished:?}");
    }
}

/// Where no control group counts what they hold, files without a name cannot be made: while one is on its way through a
/// socket, nobody could see it.
fn there_are_nameless_files() -> bool {
    let script = "import os\ntry: os.memfd_create('x')\nexcept OSError as e: exit(e.errno)";
    let (finished, _) = run(&Limits::default(), &format!("python3 -c \"{script}\""));
    let absent = finished.ending == Ending::Exited(libc::ENOSYS as u8);
    assert!(absent || finished.ending == Ending::Exited(0), "{finished:?}");
    !absent
}

#[test]
fn memory_that_belongs_to_no_process_counts() {
    if !there_are_nameless_files() {
        return;
    }
    let limits = Limits { memory: Some(64 * MEGABYTE), ..Limits::default() };
    let cases = [
        (
            "a file without a name",
            "import os, time\nf = os.memfd_create('x')\nfor i in range(200): os.write(f, bytes(1 << 20)); time.sleep(0.002)\ntime.sleep(2)",
        ),
        (
            "many of them",
            "import os, time\nfor i in range(200): os.write(os.memfd_create('x'), bytes(1 << 20)); time.sleep(0.002)\ntime.sleep(2)",
        ),
        (
            "one that is in nobody's memory any more",
            "import os, time, mmap\nf = os.memfd_create('x')\nos.truncate(f, 200 << 20)\nfor i in range(20):\n m = mmap.mmap(f, 10 << 20, offset=i * 10 << 20)\n m.write(bytes(10 << 20))\n m.close()\n time.sleep(0.02)\ntime.sleep(2)",
        ),
    ];
    for (name, script) in cases {
        let (finished, alive) = run(&limits, &format!("python3 -c \"{script}\""));
        assert_eq!(finished.limits_hit, [LimitHit::Memory], "{name}: {finished:?}");
        assert!(!alive, "{name}");
    }
}

#[test]
fn tasks_are_refused() {
    let limits = Limits { tasks: Some(10), ..Limits::default() };
    // A full house for a while, so that it is seen where it is only looked at; then one too many.
    let eight = "for i in 1 2 3 4 5 6 7 8; do sleep 1 & done";
    let script = &format!("{eight}; sleep 0.2; {eight}; echo never");
    let (finished, alive) = run(&limits, script);
    // The shell gives up when it cannot fork.
    assert_eq!(finished.ending, Ending::Exited(2));
    assert_eq!(finished.limits_hit, [LimitHit::Tasks]);
    assert!(alive, "nothing was killed");
    let few = "for i in 1 2 3 4 5 6 7 8; do sleep 0.1 & done; wait; exit 3";
    let (finished, _) = run(&limits, few);
    assert_eq!(finished.ending, Ending::Exited(3));
    assert_eq!(finished.limits_hit, []);
}

/// Room that was made for threads is not room for processes, also not in the moment after they have ended.
#[test]
fn processes_do_not_stay_where_threads_have_been() {
    const SCRIPT: &str = r"
import os, threading, time
threads = [threading.Thread(target=time.sleep, args=[0.05]) for _ in range(80)]
for thread in threads: thread.start()
for thread in threads: thread.join()
children = []
try:
    for _ in range(60):
        child = os.fork()
        if child == 0:
            time.sleep(2)
            os._exit(0)
        children.append(child)
except OSError: pass
time.sleep(1)
print(sum(os.waitpid(child, os.WNOHANG)[0] == 0 for child in children))
";
    let limits = Limits { processes: Some(8), ..Limits::default() };
    let (project, spawner) = (Project::new(), spawner());
    let mut cell = spawner.build(&project.plan(limits)).expect("a jail");
    let running =
        project.start_with(&mut cell, "exec python3 -c \"$SCRIPT\"", &[("SCRIPT", SCRIPT)]);
    let ending = running.wait().expect("an end");
    assert_eq!(ending, Ending::Exited(0), "{}", project.output());
    let alive: u32 = project.output().trim().parse().expect("a number");
    assert!(alive <= 7, "beside their parent {alive} were alive");
    assert_eq!(cell.finished(ending).limits_hit, [LimitHit::Processes]);
}

#[test]
fn what_was_used_is_measured() {
    let script = "(head -c 40m /dev/zero; sleep 0.2) | tail -c 40m >/dev/null; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exit 7";
    let (finished, alive) = run(&Limits::default(), script);
    assert_eq!(finished.ending, Ending::Exited(7));
    assert!(alive);
    assert_eq!(finished.limits_hit, []);
    assert!(finished.memory_peak > 35 * MEGABYTE, "{finished:?}");
    assert!(finished.memory_peak < 120 * MEGABYTE, "{finished:?}");
    assert!(finished.processor_time > Duration::from_millis(30), "{finished:?}");
}

#[test]
fn what_ends_before_anybody_looks_is_measured_too() {
    let (finished, _) = run(&Limits::default(), "head -c 20m /dev/zero | tail -c 20m >/dev/null");
    assert_eq!(finished.ending, Ending::Exited(0));
    assert!(finished.memory_peak > 15 * MEGABYTE, "{finished:?}");
    let (finished, _) = run(&Limits::default(), "exit 0");
    assert!(finished.memory_peak > 100 << 10, "{finished:?}");
    assert!(finished.memory_peak < 30 * MEGABYTE, "{finished:?}");
}

#[test]
fn limits_are_changed_between_requests() {
    let (project, spawner) = (Project::new(), spawner());
    let small = Limits {
        memory: Some(32 * MEGABYTE),
        tasks: Some(8),
        processor_time: Some(Duration::from_secs(10)),
        ..Limits::default()
    };
    let large = Limits {
        memory: Some(256 * MEGABYTE),
        tasks: Some(64),
        processor_time: Some(Duration::from_secs(200)),
        ..Limits::default()
    };
    let mut cell = spawner.build(&project.plan(small.clone())).expect("a jail");
    assert_eq!(cell.limits(), &small);
    cell.set_limits(&large).expect("other limits");
    let big = "(head -c 100m /dev/zero; sleep 0.2) | tail -c 100m >/dev/null; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let running = project.start(&mut cell, big);
    let finished = cell.finished(running.wait().expect("an end"));
    assert_eq!((finished.ending, &finished.limits_hit[..]), (Ending::Exited(0), &[][..]));
    assert_eq!(finished.limits, large);
    assert!(finished.memory_peak > 90 * MEGABYTE, "{finished:?}");
    let before = finished.processor_time;
    cell.sweep().expect("all quiet");
    // Counted anew, and held anew.
    cell.set_limits(&small).expect("the first limits");
    let running = project.start(&mut cell, "exit 4");
    let finished = cell.finished(running.wait().expect("an end"));
    assert_eq!((finished.ending, &finished.limits_hit[..]), (Ending::Exited(4), &[][..]));
    assert!(finished.memory_peak < 30 * MEGABYTE, "{finished:?}");
    assert!(finished.processor_time < before / 2, "{before:?} {finished:?}");
    let running = project.start(&mut cell, big);
    let finished = cell.finished(running.wait().expect("an end"));
    assert_eq!((finished.ending, &finished.limits_hit[..]), (KILLED, &[LimitHit::Memory][..]));
}

#[test]
fn the_walls_say_who_holds_the_limits() {
    let (finished, _) = run(&Limits::default(), "exit 0");
    let groups = support::mounts().contains(" - cgroup");
    let root = rustix::process::geteuid().is_root();
    if !groups {
        assert_eq!(finished.walls.limits, Tier::Sampled);
    } else if root && finished.walls.limits == Tier::Sampled {
        println!("there are control groups, but none could be made");
    }
    println!("{:?}", finished.walls);
}

#[test]
fn files_are_limited_each() {
    let (project, spawner) = (Project::new(), spawner());
    let limits = Limits { file_size: Some(MEGABYTE), open_files: Some(16), ..Limits::default() };
    let mut cell = spawner.build(&project.plan(limits)).expect("a jail");
    let script =
        "head -c 2m /dev/zero >big; wc -c <big; head -c 2m /dev/zero >more; wc -c <more; ulimit -n";
    let running = project.start(&mut cell, script);
    assert_eq!(running.wait().expect("an end"), Ending::Exited(0));
    let output = project.output();
    let numbers: Vec<&str> = output.lines().filter(|line| !line.contains("limit")).collect();
    assert_eq!(numbers, ["1048576", "1048576", "16"], "{output}");
    // More than the caller itself has is no error.
    let limits = Limits { open_files: Some(u64::MAX / 2), ..Limits::default() };
    assert_eq!(run(&limits, "exit 5").0.ending, Ending::Exited(5));
}

#[test]
fn the_same_holds_for_an_ordinary_user() {
    again_as_ordinary_user();
}
