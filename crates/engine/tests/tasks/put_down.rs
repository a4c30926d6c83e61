//! Put down by whoever works on it, who has to go: it stays what it is, and somebody else takes it up.

use std::thread;
use std::time::{Duration, Instant};

use exacta::tasks::{Answer, Event, Manner, PlannedStep, State, StepState, Stopper, Task, Tasks};

use crate::scene::{Programs, Scene, Seen, advance, anna, create, run, step};

pub const ALL: &[(&str, fn())] = &[
    ("put_down_while_a_step_runs", while_a_step_runs),
    ("put_down_while_it_waits_for_its_turn", while_it_waits_for_its_turn),
    ("what_stays_is_looked_at", what_stays_is_looked_at),
    ("what_may_run_twice_does", what_may_run_twice_does),
    ("who_ends_it_comes_first", who_ends_it_comes_first),
];

fn leaving(tasks: &Tasks, id: &str, when: impl Fn(&Event<'_>) -> bool + Send + Sync) -> Task {
    let stopper = Stopper::default();
    let watcher = Seen::and(|event: &Event<'_>| {
        if when(event) {
            let stopper = stopper.clone();
            thread::spawn(move || {
                // Programs take a moment to begin.
                thread::sleep(Duration::from_millis(600));
                stopper.leave();
            });
        }
    });
    let begun = Instant::now();
    let task = tasks.advance(id, &Manner { planner: None, watcher: &watcher, stopper: &stopper });
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    task.unwrap()
}

fn second_begins(event: &Event<'_>) -> bool {
    matches!(event, Event::StepBegins { step: 1, .. })
}

fn while_a_step_runs() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let steps = vec![step("echo 1 >> log"), step("echo 2 >> log; sleep 2"), step("echo 3 >> log")];
    let task = leaving(&tasks, &create(&tasks, steps).id, second_begins);
    assert_eq!((task.state, scene.read("log").as_str()), (State::Running, "1\n"));
    let states: Vec<StepState> = task.steps.iter().map(|step| step.state).collect();
    assert_eq!(states, [StepState::Done, StepState::Waiting, StepState::Waiting]);
    let other = scene.tasks();
    assert!(!other.is_worked_on(&task.id).unwrap());
    assert_eq!(other.unfinished().unwrap().len(), 1);
    let task = advance(&other, &task.id);
    assert_eq!((task.state, scene.read("log").as_str()), (State::Completed, "1\n2\n3\n"));
    let attempts: Vec<usize> = task.steps.iter().map(|step| step.attempts.len()).collect();
    assert_eq!(attempts, [1, 2, 1]);
    assert!(other.unfinished().unwrap().is_empty());
}

fn while_it_waits_for_its_turn() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let first = create(&tasks, vec![step("touch a")]);
    let second = create(&tasks, vec![step("touch b")]);
    let task = leaving(&tasks, &second.id, |event| matches!(event, Event::Queued { .. }));
    assert_eq!((task.state, scene.has("b")), (State::Pending, false));
    assert_eq!(advance(&tasks, &first.id).state, State::Completed);
    assert_eq!(advance(&tasks, &second.id).state, State::Completed);
}

/// A program that writes directly, which needs a yes: nobody can take that back.
fn direct(tasks: &Tasks, scene: &Scene, lasting: PlannedStep) -> Task {
    scene.write("add.pl", "open(my $out, '>>', 'log'); print $out qq(x\\n);");
    let task = run(tasks, vec![lasting]);
    assert_eq!(task.state, State::PendingApproval, "{}", task.reason);
    tasks.decide(&task.id, Answer::Approve, &anna()).unwrap();
    leaving(tasks, &task.id, |event| matches!(event, Event::StepBegins { .. }))
}

fn writing_directly() -> Scene {
    let mut scene = Scene::with_programs();
    scene.programs = Programs::Direct;
    scene
}

fn what_stays_is_looked_at() {
    let scene = writing_directly();
    let tasks = scene.tasks();
    let task = direct(&tasks, &scene, step("perl add.pl; sleep 60"));
    assert_eq!(task.state, State::NeedsReview, "{}", task.reason);
    assert!(task.reason.starts_with("step 1 was stopped when it had begun"), "{}", task.reason);
    assert_eq!((task.steps[0].state, scene.read("log").as_str()), (StepState::Failed, "x\n"));
}

fn what_may_run_twice_does() {
    let scene = writing_directly();
    let tasks = scene.tasks();
    let lasting = PlannedStep { idempotent: true, ..step("perl add.pl; sleep 2") };
    let task = direct(&tasks, &scene, lasting);
    assert_eq!(task.state, State::Running, "{}", task.reason);
    assert_eq!(advance(&tasks, &task.id).state, State::Completed);
    assert_eq!(scene.read("log"), "x\nx\n");
}

fn who_ends_it_comes_first() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let task = create(&tasks, vec![step("touch a")]);
    let stopper = Stopper::default();
    stopper.leave();
    let manner = Manner { planner: None, watcher: &(), stopper: &stopper };
    assert_eq!(tasks.advance(&task.id, &manner).unwrap().state, State::Pending);
    tasks.cancel(&task.id, "anna").unwrap();
    assert_eq!(tasks.get(&task.id).unwrap().state, State::Cancelled);
    assert!(!scene.has("a"));
}
