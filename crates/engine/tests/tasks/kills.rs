//! `kill -9` at everything that happens to a task, and in the middle of what it runs. Whoever comes next brings it to an end
//! that a person would call right, and nothing that is not idempotent takes effect twice.

use std::thread;
use std::time::{Duration, Instant};

use exacta::records::{Records, Watch};
use exacta::tasks::{
    Again, Answer, Origin, PlannedStep, State, StepState, Task, TaskError, Tasks, Wishes,
};

use crate::child::Process;
use crate::scene::{Programs, Scene, advance, anna, create, create_with, run, step, tried};

pub const ALL: &[(&str, fn())] = &[
    ("at_everything_that_happens", at_everything_that_happens),
    ("at_everything_with_programs", at_everything_with_programs),
    ("at_everything_with_much_output", at_everything_with_much_output),
    ("at_everything_of_a_goal", at_everything_of_a_goal),
    ("at_everything_of_a_retry", at_everything_of_a_retry),
    ("at_everything_of_a_rollback", at_everything_of_a_rollback),
    ("at_everything_behind_the_gate", at_everything_behind_the_gate),
    ("in_the_middle_of_a_step", in_the_middle_of_a_step),
    ("in_the_middle_of_a_program", in_the_middle_of_a_program),
    ("what_may_last_is_looked_at", what_may_last_is_looked_at),
    ("what_is_idempotent_runs_again", what_is_idempotent_runs_again),
    ("what_somebody_built_upon_is_looked_at", what_somebody_built_upon_is_looked_at),
];

/// Kills whoever works on a task at what happens there for the n-th time, for every n until it comes to its end by itself.
fn everywhere(
    programs: bool,
    make: impl Fn(&Scene, &Tasks) -> Task,
    check: impl Fn(&Scene, &Tasks, &Task, &str),
) {
    for number in 0..200 {
        let scene = if programs { Scene::with_programs() } else { Scene::new() };
        let tasks = scene.tasks();
        let task = make(&scene, &tasks);
        tasks.leave(&task.id);
        let mut child = Process::start(&scene, &scene.root, &format!("advance {}", task.id));
        let mut heard = String::new();
        for _ in 0..=number {
            heard = child.hear().expect("it has not ended");
            if heard.starts_with("over") {
                break;
            }
            if heard != "over" {
                child.tell("go on");
            }
        }
        if heard.starts_with("over") {
            child.end();
            assert!(number > 5, "it was killed at many places");
            return;
        }
        child.kill();
        let ended = to_its_end(&tasks, &task.id);
        check(&scene, &tasks, &ended, &format!("killed at {number}: {heard}"));
    }
    panic!("it never came to its end");
}

/// As somebody who comes later does it.
fn to_its_end(tasks: &Tasks, id: &str) -> Task {
    let begun = Instant::now();
    while tasks.is_worked_on(id).unwrap() {
        assert!(begun.elapsed() < Duration::from_secs(10), "its lock is free when it is dead");
        thread::sleep(Duration::from_millis(5));
    }
    tasks.recover().unwrap();
    let found = tasks.get(id).unwrap();
    assert!(tasks.recover().unwrap().is_empty(), "it is told once");
    assert_eq!(tasks.get(id).unwrap(), found, "the second look changes nothing");
    advance(tasks, id)
}

fn steps() -> Vec<PlannedStep> {
    vec![step("echo 1 >> count"), step("cat count"), step("echo 2 >> count; mkdir d; touch d/e")]
}

fn at_everything_that_happens() {
    everywhere(
        false,
        |_, tasks| create(tasks, steps()),
        |scene, tasks, task, at| {
            assert_eq!(task.state, State::Completed, "{at}: {}", task.reason);
            assert_eq!(scene.read("count"), "1\n2\n", "{at}");
            assert!(scene.has("d/e") && tasks.recover().unwrap().is_empty(), "{at}");
        },
    );
}

/// Writes its words to the end of a file, one after the other.
const ADDING: &str = "for (@ARGV) {\n  open(my $out, '>>', 'count');\n  print $out \"$_\\n\";\n  close($out);\n  select(undef, undef, undef, 0.02) if @ARGV > 1;\n}\n";

fn at_everything_with_programs() {
    everywhere(
        true,
        |scene, tasks| {
            scene.write("add.pl", ADDING);
            let steps = vec![
                step("echo 1 >> count"),
                step("perl add.pl 2"),
                step("echo 3 >> count; perl add.pl 4"),
            ];
            create(tasks, steps)
        },
        |scene, _, task, at| {
            assert_eq!(task.state, State::Completed, "{at}: {}", task.reason);
            assert_eq!(scene.read("count"), "1\n2\n3\n4\n", "{at}");
        },
    );
}

/// What is expected is in the middle of what is not kept.
fn at_everything_with_much_output() {
    everywhere(
        false,
        |_, tasks| {
            // On one line: each is told of.
            let mut long = step("echo $(seq 1 5000)");
            long.expect.stdout_contains = vec![" 2500 ".into()];
            create(tasks, vec![long])
        },
        |_, _, task, at| assert_eq!(task.state, State::Completed, "{at}: {}", task.reason),
    );
}

fn at_everything_of_a_goal() {
    everywhere(
        false,
        |_, tasks| {
            let goal = Origin::Goal { goal: "a goal".into(), agent: "agent".into() };
            tasks.create(goal, Wishes::default()).unwrap()
        },
        |scene, _, task, at| {
            assert_eq!(task.state, State::Completed, "{at}: {}", task.reason);
            assert_eq!((scene.read("count").as_str(), scene.has("a")), ("1\n", true), "{at}");
        },
    );
}

fn at_everything_of_a_retry() {
    everywhere(
        false,
        |scene, tasks| {
            scene.write("count", "0\n");
            create(tasks, vec![tried("echo 1 >> count; false", 2), step("touch never")])
        },
        |scene, _, task, at| {
            assert_eq!(task.state, State::Failed, "{at}: {}", task.reason);
            assert!(task.reason.contains("tried 3 times"), "{at}: {}", task.reason);
            assert_eq!(
                (scene.read("count").as_str(), scene.has("never")),
                ("0\n1\n", false),
                "{at}"
            );
            assert_eq!(task.steps[1].state, StepState::Skipped, "{at}");
        },
    );
}

fn at_everything_of_a_rollback() {
    everywhere(
        false,
        |scene, tasks| {
            scene.write("count", "0\n");
            let wishes = Wishes { rollback_on_failure: true, ..Wishes::default() };
            let steps = vec![step("echo 1 >> count"), step("touch a"), step("touch b; false")];
            create_with(tasks, steps, wishes)
        },
        |scene, _, task, at| {
            assert_eq!(task.state, State::Failed, "{at}: {}", task.reason);
            assert_eq!(scene.read("count"), "0\n", "{at}");
            assert!(task.rolled_back && !scene.has("a") && !scene.has("b"), "{at}");
        },
    );
}

fn at_everything_behind_the_gate() {
    everywhere(
        false,
        |scene, tasks| {
            scene.write("a", "a\n");
            let task =
                run(tasks, vec![step("echo 1 >> count"), step("rm a"), step("echo 2 >> count")]);
            assert_eq!(task.state, State::PendingApproval, "{}", task.reason);
            tasks.decide(&task.id, Answer::Approve, &anna()).unwrap()
        },
        |scene, _, task, at| {
            assert_eq!(task.state, State::Completed, "{at}: {}", task.reason);
            assert_eq!((scene.read("count").as_str(), scene.has("a")), ("1\n2\n", false), "{at}");
        },
    );
}

/// Kills it while a command runs, somewhat later each time.
fn during(programs: bool, command: &str, check: impl Fn(&Scene, &Task, &str)) {
    let mut again = 0;
    for number in 0..16 {
        let scene = if programs { Scene::with_programs() } else { Scene::new() };
        scene.write("add.pl", ADDING);
        let tasks = scene.tasks();
        let task = create(&tasks, vec![step(command)]);
        tasks.leave(&task.id);
        let mut child = Process::start(&scene, &scene.root, &format!("advance {}", task.id));
        loop {
            let heard = child.hear().expect("it has not ended");
            child.tell("go on");
            if heard == "logged command" {
                break;
            }
        }
        thread::sleep(Duration::from_millis(number * 15));
        child.kill();
        let ended = to_its_end(&tasks, &task.id);
        again += usize::from(ended.steps[0].attempts.len() > 1);
        check(&scene, &ended, &format!("killed after {} ms", number * 15));
    }
    assert!(again > 4, "many were killed in the middle: {again}");
}

const SLOW: &str = "for i in 1 2 3 4 5 6 7 8; do echo $i >> count; touch f$i; sleep 0.02; done";

fn in_the_middle_of_a_step() {
    during(false, SLOW, |scene, task, at| {
        assert_eq!(task.state, State::Completed, "{at}: {}", task.reason);
        assert_eq!(scene.read("count"), "1\n2\n3\n4\n5\n6\n7\n8\n", "{at}");
        assert!(scene.has("f8"), "{at}");
    });
}

fn in_the_middle_of_a_program() {
    during(true, "echo 0 >> count; perl add.pl 1 2 3 4 5 6 7 8", |scene, task, at| {
        assert_eq!(task.state, State::Completed, "{at}: {}", task.reason);
        assert_eq!(scene.read("count"), "0\n1\n2\n3\n4\n5\n6\n7\n8\n", "{at}");
    });
}

/// Kills it when its command has been running for a while.
fn killed_in(scene: &Scene, tasks: &Tasks, task: &Task) {
    tasks.leave(&task.id);
    let mut child = Process::start(scene, &scene.root, &format!("advance {}", task.id));
    loop {
        let heard = child.hear().expect("it has not ended");
        child.tell("go on");
        if heard == "logged command" {
            break;
        }
    }
    let begun = Instant::now();
    while scene.read("count").is_empty() && begun.elapsed() < Duration::from_secs(10) {
        thread::sleep(Duration::from_millis(5));
    }
    child.kill();
}

/// What writes directly needs a yes.
fn approved(tasks: &Tasks, steps: Vec<PlannedStep>) -> Task {
    let task = run(tasks, steps);
    assert_eq!(task.state, State::PendingApproval, "{}", task.reason);
    tasks.decide(&task.id, Answer::Approve, &anna()).unwrap()
}

fn what_may_last_is_looked_at() {
    let mut scene = Scene::with_programs();
    scene.programs = Programs::Direct;
    scene.write("add.pl", ADDING);
    let tasks = scene.tasks();
    let task = approved(&tasks, vec![step("perl add.pl 1 ; sleep 5"), step("touch never")]);
    killed_in(&scene, &tasks, &task);
    assert_eq!(scene.read("count"), "1\n");
    let task = to_its_end(&tasks, &task.id);
    assert_eq!(task.state, State::NeedsReview, "{}", task.reason);
    assert!(!scene.has("never") && task.steps[0].attempts.len() == 1);
    assert_eq!(scene.read("count"), "1\n");
    let again = tasks.retry(&task.id, Again::IfSafe, "anna");
    assert!(matches!(again, Err(TaskError::Unsafe { step: 0, .. })), "{again:?}");
    assert_eq!(tasks.cancel(&task.id, "anna").unwrap().state, State::Cancelled);
}

/// Declared idempotent, it runs again whatever it did.
fn what_is_idempotent_runs_again() {
    let mut scene = Scene::with_programs();
    scene.programs = Programs::Direct;
    scene.write("add.pl", ADDING);
    let tasks = scene.tasks();
    let again = PlannedStep { idempotent: true, ..step("perl add.pl 1; sleep 1") };
    let task = approved(&tasks, vec![again]);
    killed_in(&scene, &tasks, &task);
    let task = to_its_end(&tasks, &task.id);
    assert_eq!((task.state, task.steps[0].attempts.len()), (State::Completed, 2));
    assert_eq!(scene.read("count"), "1\n1\n");
}

fn what_somebody_built_upon_is_looked_at() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let task = create(&tasks, vec![step("echo 1 > count; sleep 5"), step("touch never")]);
    killed_in(&scene, &tasks, &task);
    // Whoever opens the journal next settles what is in it; what is changed from then on is somebody else's.
    Records::open(&scene.root, Watch::default()).unwrap();
    scene.write("count", "of somebody else\n");
    let task = to_its_end(&tasks, &task.id);
    assert_eq!(task.state, State::NeedsReview, "{}", task.reason);
    assert_eq!(scene.read("count"), "of somebody else\n");
    assert!(!scene.has("never") && task.steps[0].attempts.len() == 1);
}
