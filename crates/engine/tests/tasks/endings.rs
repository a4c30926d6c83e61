//! Ended by somebody: while it runs, waits, pauses or asks, here or from another process.

use std::thread;
use std::time::{Duration, Instant};

use exacta::approvals::{PendingStore, State as Answered};
use exacta::tasks::{
    Again, Event, Manner, Origin, Plan, PlannedStep, Planner, PlanningFailed, Retry, State,
    StepState, Stopper, Task, TaskError, Tasks, Wishes,
};

use crate::scene::{Scene, Seen, advance, create, plan, run, step, tried};

pub const ALL: &[(&str, fn())] = &[
    ("while_a_step_runs", while_a_step_runs),
    ("from_elsewhere", from_elsewhere),
    ("while_it_is_planned", while_it_is_planned),
    ("while_it_waits_for_its_turn", while_it_waits_for_its_turn),
    ("while_it_pauses", while_it_pauses),
    ("while_it_asks", while_it_asks),
    ("before_it_begins", before_it_begins),
    ("what_has_ended_cannot_be_ended", what_has_ended_cannot_be_ended),
    ("two_do_not_work_on_one", two_do_not_work_on_one),
];

fn stopping(tasks: &Tasks, id: &str, when: impl Fn(&Event<'_>) -> bool + Send + Sync) -> Task {
    let stopper = Stopper::default();
    let watcher = Seen::and(|event: &Event<'_>| {
        if when(event) {
            let stopper = stopper.clone();
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(150));
                stopper.stop("anna");
            });
        }
    });
    let begun = Instant::now();
    let task = tasks.advance(id, &Manner { planner: None, watcher: &watcher, stopper: &stopper });
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    task.unwrap()
}

fn while_a_step_runs() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let task = create(&tasks, vec![step("touch a"), step("touch b; sleep 60"), step("touch c")]);
    let task =
        stopping(&tasks, &task.id, |event| matches!(event, Event::StepBegins { step: 1, .. }));
    assert_eq!((task.state, task.reason.as_str()), (State::Cancelled, "cancelled by anna"));
    assert!(scene.has("a") && !scene.has("b") && !scene.has("c"));
    let states: Vec<StepState> = task.steps.iter().map(|step| step.state).collect();
    assert_eq!(states, [StepState::Done, StepState::Failed, StepState::Skipped]);
}

fn from_elsewhere() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let task = create(&tasks, vec![step("sleep 60")]);
    thread::scope(|scope| {
        let running = scope.spawn(|| advance(&tasks, &task.id));
        let other = scene.tasks();
        while other.get(&task.id).unwrap().state != State::Running {
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(50));
        assert!(other.is_worked_on(&task.id).unwrap());
        let asked = Instant::now();
        other.cancel(&task.id, "bob").unwrap();
        let task = running.join().unwrap();
        assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
        assert_eq!((task.state, task.reason.as_str()), (State::Cancelled, "cancelled by bob"));
    });
}

/// Thinks until nobody wants it to any more.
struct Thinking;

impl Planner for Thinking {
    fn plan(&self, _: &str, _: &str, stopper: &Stopper) -> Result<Plan, PlanningFailed> {
        let begun = Instant::now();
        while !stopper.is_stopped() && begun.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(5));
        }
        Err(PlanningFailed { message: "no plan".into(), hint: String::new() })
    }
}

fn while_it_is_planned() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let goal = || Origin::Goal { goal: "goal".into(), agent: "agent".into() };
    let task = tasks.create(goal(), Wishes::default()).unwrap();
    let begun = Instant::now();
    let stopper = Stopper::default();
    thread::scope(|scope| {
        let planned = scope.spawn(|| {
            let manner = Manner { planner: Some(&Thinking), watcher: &(), stopper: &stopper };
            tasks.advance(&task.id, &manner).unwrap()
        });
        let other = scene.tasks();
        while other.get(&task.id).unwrap().state != State::Planning {
            thread::sleep(Duration::from_millis(5));
        }
        other.cancel(&task.id, "bob").unwrap();
        let task = planned.join().unwrap();
        assert_eq!((task.state, task.reason.as_str()), (State::Cancelled, "cancelled by bob"));
    });
    // Who only leaves lets others plan.
    let task = tasks.create(goal(), Wishes::default()).unwrap();
    let stopper = Stopper::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(150));
            stopper.leave();
        });
        let manner = Manner { planner: Some(&Thinking), watcher: &(), stopper: &stopper };
        assert_eq!(tasks.advance(&task.id, &manner).unwrap().state, State::Planning);
    });
    assert_eq!(advance(&tasks, &task.id).state, State::Completed);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

fn while_it_waits_for_its_turn() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let first = create(&tasks, vec![step("touch a")]);
    let second = create(&tasks, vec![step("touch b")]);
    let task = stopping(&tasks, &second.id, |event| matches!(event, Event::Queued { ahead: 1 }));
    assert_eq!((task.state, scene.has("b")), (State::Cancelled, false));
    assert_eq!(advance(&tasks, &first.id).state, State::Completed);
}

fn while_it_pauses() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let retry = Retry { attempts: 3, backoff: Duration::from_secs(60) };
    let slow = PlannedStep { retry, ..tried("false", 3) };
    let task = create(&tasks, vec![slow]);
    let task = stopping(&tasks, &task.id, |event| matches!(event, Event::Pausing { .. }));
    assert_eq!((task.state, task.steps[0].attempts.len()), (State::Cancelled, 1));
}

fn while_it_asks() {
    let scene = Scene::new();
    scene.write("a", "");
    let tasks = scene.tasks();
    let task = run(&tasks, vec![step("rm a")]);
    let task = tasks.cancel(&task.id, "anna").unwrap();
    assert_eq!(task.state, State::Cancelled);
    let question = PendingStore::of(&scene.root).get(task.approval.as_deref().unwrap()).unwrap();
    assert_eq!(question.state, Answered::Expired);
}

fn before_it_begins() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let goal = Origin::Goal { goal: "goal".into(), agent: "agent".into() };
    let task = tasks.create(goal, Wishes::default()).unwrap();
    assert_eq!(tasks.cancel(&task.id, "anna").unwrap().state, State::Cancelled);
    // Its place in the queue is free again.
    let other = tasks.create(Origin::Plan(plan(vec![step("touch a")])), Wishes::default()).unwrap();
    assert_eq!(advance(&tasks, &other.id).state, State::Completed);
}

fn what_has_ended_cannot_be_ended() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let task = run(&tasks, vec![step("touch a")]);
    let error = tasks.cancel(&task.id, "anna").unwrap_err();
    assert!(matches!(error, TaskError::Not { state: State::Completed, .. }), "{error}");
    assert!(error.next().is_some());
    let error = tasks.retry(&task.id, Again::IfSafe, "anna").unwrap_err();
    assert!(matches!(error, TaskError::Not { state: State::Completed, .. }), "{error}");
}

fn two_do_not_work_on_one() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let task = create(&tasks, vec![step("sleep 0.5")]);
    thread::scope(|scope| {
        scope.spawn(|| advance(&tasks, &task.id));
        let other = scene.tasks();
        while other.get(&task.id).unwrap().state != State::Running {
            thread::sleep(Duration::from_millis(5));
        }
        let stopper = Stopper::default();
        let manner = Manner { planner: None, watcher: &(), stopper: &stopper };
        let error = other.advance(&task.id, &manner).unwrap_err();
        assert!(matches!(error, TaskError::Busy(_)), "{error}");
        assert!(other.recover().unwrap().is_empty());
    });
}
