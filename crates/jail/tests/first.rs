//! The first program of a jail, ordered before that stands: it runs when it is started, and not before.
#![expect(clippy::disallowed_methods, reason = "tests look at the host")]
#![expect(clippy::expect_used, reason = "a test that cannot go on says so")]

mod support;

use std::fs;
use std::path::Path;
use std::time::Duration;

use exacta_jail::plan::Limits;
use exacta_jail::{Ending, Level, Plan};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use support::{Project, again_as_ordinary_user, descendants, spawner};

/// Much longer than it takes to execute something.
const LONG: Duration = Duration::from_millis(300);

fn plan(project: &Project) -> Plan {
    project.plan(Limits { tasks: Some(50), ..Limits::default() })
}

#[test]
fn it_runs_when_it_is_started_and_not_before() {
    let (project, spawner) = (Project::new(), spawner());
    let made = project.start_first(
        (&spawner, &plan(&project), Level::Namespaces),
        "echo ran; echo $0 $X",
        &[("X", "y")],
        |_| {
            std::thread::sleep(LONG);
            assert_eq!(project.output(), "");
        },
    );
    let (cell, running) = made.expect("a program");
    assert_eq!(running.wait().expect("an end"), Ending::Exited(0));
    assert_eq!(project.output(), "ran\nsh y\n");
    let execs = cell.take_record().execs;
    let paths: Vec<_> = execs.iter().map(|exec| exec.path.to_string()).collect();
    assert_eq!(paths, ["/bin/sh"]);
}

#[test]
fn it_waits_inside_in_the_meantime() {
    let (project, spawner) = (Project::new(), spawner());
    let made =
        project.start_first((&spawner, &plan(&project), Level::Namespaces), ":", &[], |_| {
            // The warden, the init, and what will be the program.
            support::eventually("it is there", Duration::from_secs(5), || {
                descendants(spawner.process()).len() == 3
            });
        });
    let (_cell, running) = made.expect("a program");
    assert_eq!(running.wait().expect("an end"), Ending::Exited(0));
}

#[test]
fn limits_hold_it() {
    let (project, spawner) = (Project::new(), spawner());
    let limits =
        Limits { processes: Some(3), tasks: Some(50), open_files: Some(17), ..Limits::default() };
    let made = project.start_first(
        (&spawner, &project.plan(limits), Level::Namespaces),
        "ulimit -n; for i in 1 2 3 4 5; do sleep 20 & done; echo all",
        &[],
        // It is there before anybody could have told it.
        |_| std::thread::sleep(LONG),
    );
    let (cell, running) = made.expect("a program");
    running.wait().expect("an end");
    let output = project.output();
    assert!(output.starts_with("17\n") && output.contains("annot fork"), "{output}");
    assert!(!output.contains("all"), "{output}");
    drop(cell);
}

/// Until the host's root is let go it lies on the jail's, and whoever comes up to that from below lands there. On one processor
/// the parts of a jail stand in one another's way, so that there is time for it.
#[test]
fn it_is_nowhere_before_the_old_root_is_gone() {
    let mut one = CpuSet::new();
    one.set(0);
    let all = sched_getaffinity(None).expect("processors");
    sched_setaffinity(None, &one).expect("one processor");
    let (project, spawner) = (Project::new(), spawner());
    let up =
        std::iter::repeat_n("..", project.0.components().count()).collect::<Vec<_>>().join("/");
    std::os::unix::fs::symlink(up, project.0.join("up")).expect("a link");
    let place = (&spawner, &plan(&project), Level::Namespaces);
    for _ in 0..500 {
        let script = "[ . -ef / ] && echo inside";
        let made = project.start_first_in(place, "up", script);
        made.expect("a program").1.wait().expect("an end");
        assert_eq!(project.output(), "inside\n");
    }
    sched_setaffinity(None, &all).expect("all processors");
}

#[test]
fn another_one_ends_the_jail() {
    let (project, spawner) = (Project::new(), spawner());
    let made = project.start_first(
        (&spawner, &plan(&project), Level::Namespaces),
        "echo ran >marked",
        &[],
        |cell| {
            let failure = project.try_start(cell, "echo other >marked").expect_err("no program");
            assert_eq!(failure.errno, libc::EPIPE);
        },
    );
    assert!(made.is_err());
    assert!(!project.0.join("marked").exists());
}

#[test]
fn others_follow_it() {
    let (project, spawner) = (Project::new(), spawner());
    let place = (&spawner, &plan(&project), Level::Namespaces);
    let (mut cell, running) = project.start_first(place, "exit 3", &[], |_| {}).expect("a program");
    assert_eq!(running.wait().expect("an end"), Ending::Exited(3));
    for status in [4, 5] {
        let running = project.start(&mut cell, &format!("/bin/sh -c 'exit {status}'"));
        assert_eq!(running.wait().expect("an end"), Ending::Exited(status));
    }
}

#[test]
fn one_that_cannot_be_executed_says_so() {
    let (project, spawner) = (Project::new(), spawner());
    let mut plan = plan(&project);
    plan.view.links.clear();
    // Without `/bin` there is no `/bin/sh`.
    let made = project.start_first((&spawner, &plan, Level::Namespaces), ":", &[], |_| {});
    let Err(failure) = made else { panic!("a program") };
    assert_eq!((failure.step.as_str(), failure.errno), ("execute", libc::ENOENT));
}

#[test]
fn a_long_environment_is_sent_to_a_jail_that_stands() {
    let (project, spawner) = (Project::new(), spawner());
    let long = "x".repeat(100 << 10);
    let made = project.start_first(
        (&spawner, &plan(&project), Level::Namespaces),
        "echo ${#X}",
        &[("X", &long)],
        |_| {},
    );
    let (_cell, running) = made.expect("a program");
    assert_eq!(running.wait().expect("an end"), Ending::Exited(0));
    assert_eq!(project.output(), format!("{}\n", long.len()));
}

#[test]
fn the_view_stays_as_it_is_while_one_waits() {
    let (project, spawner) = (Project::new(), spawner());
    let made =
        project.start_first((&spawner, &plan(&project), Level::Namespaces), ":", &[], |cell| {
            let refused = cell.lay(&project.0, "folder".into()).expect_err("no layer");
            assert_eq!(refused.errno, libc::EBUSY);
        });
    assert_eq!(made.expect("a program").1.wait().expect("an end"), Ending::Exited(0));
}

#[test]
fn one_that_is_never_started_never_runs() {
    let (project, spawner) = (Project::new(), spawner());
    let place = (&spawner, &plan(&project), Level::Namespaces);
    let made = project.start_first(place, "echo ran >marked", &[], |cell| cell.kill());
    assert!(made.is_err());
    std::thread::sleep(LONG);
    assert!(!Path::new(&project.0).join("marked").exists());
    assert_eq!(fs::read_to_string(project.0.join("out")).expect("a file"), "");
}

#[test]
fn the_same_as_an_ordinary_user() {
    again_as_ordinary_user();
}
