//! The way of a task that nothing stands against, and that of one that is denied.

use exacta::audit::Trail;
use exacta::audit::store::Limits;
use exacta::configuration::TaskSettings;
use exacta::records::Watch;
use exacta::tasks::{
    Expect, LogKind, Manner, Origin, Plan, Planner, PlanningFailed, State, StepState, Stopper,
    TaskError, Wishes,
};

use crate::scene::{Scene, advance, create, lines, plan, run, step, way};

pub const ALL: &[(&str, fn())] = &[
    ("every_step_runs_and_is_judged", every_step_runs_and_is_judged),
    ("a_denied_step_fails_it_before_anything_runs", a_denied_step_fails_it_before_anything_runs),
    ("expectations_are_held_against_what_is_found", expectations_are_held_against_what_is_found),
    ("a_goal_is_planned_first", a_goal_is_planned_first),
    ("without_a_state_nothing_runs", without_a_state_nothing_runs),
    ("the_way_is_in_the_chain", the_way_is_in_the_chain),
    ("what_is_found_by_a_beginning", what_is_found_by_a_beginning),
    ("secrets_are_not_in_what_is_kept", secrets_are_not_in_what_is_kept),
];

fn every_step_runs_and_is_judged() {
    use State::{Completed, Evaluating, Pending, Running, Validating};
    let scene = Scene::new();
    let tasks = scene.tasks();
    let task = run(
        &tasks,
        vec![step("echo one > a"), step("cat a; echo oops >&2"), step("mkdir sub && cp a sub/b")],
    );
    assert_eq!(task.state, State::Completed, "{}", task.reason);
    assert!(task.steps.iter().all(|step| step.state == StepState::Done));
    assert_eq!(scene.read("sub/b"), "one\n");
    assert_eq!(way(&tasks, &task.id), [Pending, Validating, Running, Evaluating, Completed]);
    let commands = lines(&tasks, &task.id, LogKind::Command);
    assert_eq!(commands, ["echo one > a", "cat a; echo oops >&2", "mkdir sub && cp a sub/b"]);
    assert_eq!(lines(&tasks, &task.id, LogKind::Output), ["one"]);
    assert_eq!(lines(&tasks, &task.id, LogKind::Error), ["oops"]);
    let attempt = &task.steps[1].attempts[0];
    assert_eq!((attempt.stdout.as_str(), attempt.stderr.as_str()), ("one\n", "oops\n"));
    assert_eq!(attempt.exit_code, Some(0));
    assert!(task.steps[0].attempts[0].undo.is_some() && attempt.undo.is_none());
}

fn a_denied_step_fails_it_before_anything_runs() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let task = run(&tasks, vec![step("echo one > a"), step("nmap localhost"), step("rm a")]);
    assert_eq!(task.state, State::Failed);
    assert!(task.reason.contains("step 2") && task.reason.contains("nmap"), "{}", task.reason);
    assert!(!scene.has("a"));
    assert!(task.steps.iter().all(|step| step.state == StepState::Skipped));
    assert_eq!(way(&tasks, &task.id), [State::Pending, State::Validating, State::Failed]);
}

fn expectations_are_held_against_what_is_found() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let mut expecting = step("echo hello > a; cat a; exit 3");
    expecting.expect = Expect {
        exit_code: 3,
        stdout_contains: vec!["hell".into()],
        files_exist: vec!["a".into()],
        files_absent: vec!["b".into()],
        ..Expect::default()
    };
    let task = run(&tasks, vec![expecting.clone()]);
    assert_eq!(task.state, State::Completed, "{}", task.reason);
    assert!(task.steps[0].checks.iter().all(|check| check.held));
    for (field, broken) in [
        (
            "stdout_matches",
            Expect { stdout_matches: vec!["^b".into()], ..expecting.expect.clone() },
        ),
        ("stderr_matches", Expect { stderr_matches: vec!["x".into()], ..expecting.expect.clone() }),
        (
            "changed_only",
            Expect { changed_only: Some(vec!["b".into()]), ..expecting.expect.clone() },
        ),
        ("exit_code", Expect { exit_code: 0, ..expecting.expect.clone() }),
    ] {
        let task =
            run(&tasks, vec![exacta::tasks::PlannedStep { expect: broken, ..expecting.clone() }]);
        assert_eq!(task.state, State::Failed);
        assert!(task.reason.contains(field), "{field}: {}", task.reason);
    }
    scene.write("a", "");
    expecting.expect.changed_only = Some(vec!["a".into()]);
    let task = run(&tasks, vec![expecting.clone()]);
    assert_eq!(task.state, State::Completed, "{}", task.reason);
    expecting.expect.files_absent = vec!["a".into()];
    let task = run(&tasks, vec![expecting, step("touch never")]);
    assert_eq!(task.state, State::Failed);
    assert!(task.reason.contains("files_absent"), "{}", task.reason);
    assert!(!scene.has("never"));
    assert_eq!(task.steps[1].state, StepState::Skipped);
}

struct Made(Result<Plan, PlanningFailed>);

impl Planner for Made {
    fn plan(&self, goal: &str, agent: &str, _stopper: &Stopper) -> Result<Plan, PlanningFailed> {
        assert_eq!((goal, agent), ("have a file", "agent"));
        self.0.clone()
    }
}

fn a_goal_is_planned_first() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let goal = || Origin::Goal { goal: "have a file".into(), agent: "agent".into() };
    let task = tasks.create(goal(), Wishes::default()).unwrap();
    let stopper = Stopper::default();
    let none = Manner { planner: None, watcher: &(), stopper: &stopper };
    assert!(matches!(tasks.advance(&task.id, &none), Err(TaskError::NoPlanner(_))));
    let planner = Made(Ok(plan(vec![step("touch a")])));
    let task = tasks.advance(&task.id, &Manner { planner: Some(&planner), ..none }).unwrap();
    assert_eq!(task.state, State::Completed, "{}", task.reason);
    assert!(scene.has("a") && way(&tasks, &task.id).contains(&State::Planning));
    let failed = PlanningFailed { message: "no key".into(), hint: "set one".into() };
    let task = tasks.create(goal(), Wishes::default()).unwrap();
    let planner = Made(Err(failed));
    let task = tasks.advance(&task.id, &Manner { planner: Some(&planner), ..none }).unwrap();
    assert_eq!(task.state, State::Failed);
    assert!(task.reason.contains("no key: set one"), "{}", task.reason);
}

fn without_a_state_nothing_runs() {
    let scene = Scene::new();
    let launch = std::sync::Arc::new(|_| Ok(exacta::SessionOptions::new("/")));
    let (root, settings) = (scene.root.clone(), TaskSettings::default());
    let grounds = exacta::tasks::Grounds { root, state: None, launch, settings };
    let tasks = exacta::tasks::Tasks::open(grounds).unwrap();
    let asked = tasks.create(Origin::Plan(plan(vec![step("touch a")])), Wishes::default());
    assert!(matches!(asked, Err(TaskError::NoState)));
    assert!(tasks.list().unwrap().is_empty() && !scene.root.join(".clada").exists());
}

fn the_way_is_in_the_chain() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let task = run(&tasks, vec![step("echo one > a")]);
    drop(tasks);
    let trail = Trail::of(&scene.root, Some(scene.state.join("audit")), Limits::default());
    let mut moved = Vec::new();
    trail
        .open()
        .unwrap()
        .entries(0, &mut |(_, entry)| {
            if let exacta::audit::store::Entry::Moved(it) = entry {
                assert_eq!(it.task, task.id);
                moved.push(it.to.clone());
            }
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(moved, ["pending", "validating", "running", "evaluating", "completed"]);
    let verified = trail.verify(Vec::new(), &Watch::default()).unwrap();
    assert!(verified.keyed && verified.report.problems.is_empty(), "{:?}", verified.report);
}

fn what_is_found_by_a_beginning() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let task = create(&tasks, vec![step("touch a")]);
    assert_eq!(tasks.get(&task.id[..20]).unwrap().id, task.id);
    assert!(matches!(tasks.get("ffff"), Err(TaskError::Unknown(_))));
    assert!(matches!(tasks.get(""), Err(TaskError::Unknown(_))));
    advance(&tasks, &task.id[..20]);
    let other = create(&tasks, vec![step("touch b")]);
    let all = tasks.list().unwrap();
    assert_eq!([&all[0].id, &all[1].id], [&other.id, &task.id]);
}

fn secrets_are_not_in_what_is_kept() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    scene.write("key", "token = ghp_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX\n");
    let task = run(&tasks, vec![step("cat key")]);
    let attempt = &task.steps[0].attempts[0];
    assert!(!attempt.stdout.contains("ghp_0aB1cD2"), "{}", attempt.stdout);
    assert!(!lines(&tasks, &task.id, LogKind::Output).concat().contains("ghp_0aB1cD2"));
}
