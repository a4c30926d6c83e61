//! What is tried again, and what is not.

use std::time::{Duration, Instant};

use exacta::approvals::PendingStore;
use exacta::configuration::TaskSettings;
use exacta::tasks::{Again, Answer, LogKind, PlannedStep, State, StepState, TaskError, Wishes};

use crate::scene::{Programs, Scene, advance, anna, create_with, lines, run, step, tried};

pub const ALL: &[(&str, fn())] = &[
    ("what_failed_is_taken_back_and_tried_again", what_failed_is_taken_back_and_tried_again),
    ("what_is_idempotent_is_not_taken_back", what_is_idempotent_is_not_taken_back),
    ("what_cannot_be_taken_back_is_not_tried_again", what_cannot_be_taken_back_is_not_tried_again),
    ("what_wrote_directly_is_not_tried_again", what_wrote_directly_is_not_tried_again),
    ("what_takes_too_long_is_ended", what_takes_too_long_is_ended),
    ("output_is_kept_within_its_limit", output_is_kept_within_its_limit),
    ("output_is_looked_at_before_it_is_cut", output_is_looked_at_before_it_is_cut),
    ("fewer_attempts_are_told", fewer_attempts_are_told),
    ("the_log_has_a_thousand_lines", the_log_has_a_thousand_lines),
    ("what_was_done_is_taken_back_in_reverse", what_was_done_is_taken_back_in_reverse),
    ("what_others_changed_is_reported", what_others_changed_is_reported),
    ("a_refusal_is_not_tried_again", a_refusal_is_not_tried_again),
];

fn what_failed_is_taken_back_and_tried_again() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    // What it counts is taken back each time; what it is not told of stays.
    let task = run(&tasks, vec![tried("echo x >> count; test -e there", 2)]);
    assert_eq!(task.state, State::Failed);
    assert_eq!(task.steps[0].attempts.len(), 3);
    let backs: Vec<bool> = task.steps[0].attempts.iter().map(|it| it.rolled_back).collect();
    assert_eq!(backs, [true, true, false]);
    assert_eq!(scene.read("count"), "x\n");
    assert!(task.reason.contains("tried 3 times"), "{}", task.reason);
    scene.write("there", "");
    let task = tasks.retry(&task.id, Again::IfSafe, "anna").unwrap();
    assert!(!scene.has("count"), "the last one is taken back before it begins anew");
    let task = advance(&tasks, &task.id);
    assert_eq!((task.state, scene.read("count").as_str()), (State::Completed, "x\n"));
}

fn what_is_idempotent_is_not_taken_back() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let again = PlannedStep {
        idempotent: true,
        ..tried("echo x >> count; test $(cat count | wc -l) -ge 3", 5)
    };
    let task = run(&tasks, vec![again]);
    assert_eq!(task.state, State::Completed, "{}", task.reason);
    assert_eq!(scene.read("count"), "x\nx\nx\n");
    assert_eq!(task.steps[0].attempts.len(), 3);
}

fn what_cannot_be_taken_back_is_not_tried_again() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    // Somebody else builds upon what it did while it runs: to take it back would take that away.
    let task = {
        let root = scene.root.clone();
        let watcher = crate::scene::Seen::and(move |event| {
            if let exacta::tasks::Event::StepRan { .. } = event {
                std::fs::write(root.join("count"), "of somebody else\n").unwrap();
            }
        });
        let stopper = exacta::tasks::Stopper::default();
        let task = crate::scene::create(&tasks, vec![tried("echo x > count; false", 2)]);
        let manner = exacta::tasks::Manner { planner: None, watcher: &watcher, stopper: &stopper };
        tasks.advance(&task.id, &manner).unwrap()
    };
    assert_eq!(task.state, State::Failed);
    assert_eq!(task.steps[0].attempts.len(), 1);
    assert!(task.reason.contains("not idempotent"), "{}", task.reason);
    assert_eq!(scene.read("count"), "of somebody else\n");
    let again = tasks.retry(&task.id, Again::IfSafe, "anna");
    assert!(matches!(again, Err(TaskError::Unsafe { step: 0, .. })), "{again:?}");
    let task = tasks.retry(&task.id, Again::Anyway, "anna").unwrap();
    assert_eq!(task.state, State::Pending);
}

fn what_wrote_directly_is_not_tried_again() {
    let mut scene = Scene::with_programs();
    scene.programs = Programs::Direct;
    scene.write("add.pl", "open(my $out, '>>', 'count'); print $out qq(x\\n);");
    let tasks = scene.tasks();
    let task = run(&tasks, vec![tried("perl add.pl; false", 2)]);
    assert_eq!(task.state, State::PendingApproval, "{}", task.reason);
    tasks.decide(&task.id, Answer::Approve, &anna()).unwrap();
    let task = advance(&tasks, &task.id);
    assert_eq!((task.state, task.steps[0].attempts.len()), (State::Failed, 1), "{}", task.reason);
    assert!(task.reason.contains("wrote directly"), "{}", task.reason);
    assert!(task.steps[0].attempts[0].irreversible);
    assert_eq!(scene.read("count"), "x\n");
}

fn what_takes_too_long_is_ended() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let slow = PlannedStep {
        timeout: Some(Duration::from_millis(300)),
        ..step("echo x > a; sleep 30; touch never")
    };
    let begun = Instant::now();
    let task = run(&tasks, vec![slow]);
    assert!(begun.elapsed() < Duration::from_secs(10));
    let attempt = &task.steps[0].attempts[0];
    assert!(attempt.timed_out && attempt.exit_code == Some(124), "{attempt:?}");
    assert!(task.reason.contains("longer than 0.3 s"), "{}", task.reason);
    assert!(!scene.has("never"));
}

fn output_is_kept_within_its_limit() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let task = run(&tasks, vec![step("seq 1 100000; seq 1 100000 >&2; echo the end")]);
    assert_eq!(task.state, State::Completed, "{}", task.reason);
    let attempt = &task.steps[0].attempts[0];
    let kept = attempt.stdout.len() + attempt.stderr.len();
    assert!(attempt.truncated && kept < (10 << 10) + 500, "{kept}");
    assert!(attempt.stdout.starts_with("1\n2\n") && attempt.stdout.ends_with("the end\n"));
}

fn output_is_looked_at_before_it_is_cut() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let middle = |text: &str| vec![format!("^{text}$")];
    let mut long = step("seq 1 20000; seq 1 20000 >&2");
    long.expect.stdout_contains = vec!["\n10000\n".into()];
    (long.expect.stdout_matches, long.expect.stderr_matches) = (middle("10001"), middle("10002"));
    let task = run(&tasks, vec![long]);
    assert_eq!(task.state, State::Completed, "{}", task.reason);
    let attempt = &task.steps[0].attempts[0];
    assert!(attempt.truncated && attempt.stdout.len() + attempt.stderr.len() < (10 << 10) + 500);
    assert!(!attempt.stdout.contains("\n10000\n"), "it is not in what is kept");
    // What is over every bound is not looked at, and that is told.
    let mut endless = step("seq 1 400000");
    endless.expect.stdout_matches = middle("200000");
    let task = run(&tasks, vec![endless]);
    assert_eq!(task.state, State::Failed);
    let told = "(only 1024 KB of it, from both ends, were looked at)";
    assert!(task.reason.contains(told), "{}", task.reason);
}

fn fewer_attempts_are_told() {
    let scene = Scene::new();
    let settings = TaskSettings { retries: Some(1), ..TaskSettings::default() };
    let tasks = scene.tasks_with(settings);
    let task = run(&tasks, vec![tried("false", 5), tried("touch a", 1), tried("touch b", 2)]);
    assert_eq!(task.steps[0].attempts.len(), 2, "{}", task.reason);
    let told = "tasks.retries is 1: no step is tried again more often, as these would be: step 1 (5), step 3 (2)";
    assert!(lines(&tasks, &task.id, LogKind::Info).contains(&told.to_owned()));
}

fn the_log_has_a_thousand_lines() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let task = run(&tasks, vec![step("seq 1 900"), step("seq 901 1800")]);
    let log = tasks.log(&task.id, 0).unwrap();
    assert_eq!(log.len(), 1_000);
    let last = log.last().unwrap();
    assert!(last.1.content.starts_with("completed") && last.1.kind == LogKind::Info);
    assert_eq!(tasks.log(&task.id, last.0 - 3).unwrap().len(), 3);
    let output = lines(&tasks, &task.id, LogKind::Output);
    assert_eq!(output.last().map(String::as_str), Some("1800"));
}

fn what_was_done_is_taken_back_in_reverse() {
    let scene = Scene::new();
    scene.write("a", "0\n");
    let tasks = scene.tasks();
    let wishes = Wishes { rollback_on_failure: true, ..Wishes::default() };
    let steps = vec![step("echo 1 > a"), step("echo 2 > a; touch b"), step("echo 3 > a; false")];
    let task = create_with(&tasks, steps, wishes);
    let task = advance(&tasks, &task.id);
    assert_eq!(task.state, State::Failed);
    assert_eq!((scene.read("a").as_str(), scene.has("b")), ("0\n", false));
    assert!(task.rolled_back && task.reason.contains("everything was taken back"));
    let states: Vec<StepState> = task.steps.iter().map(|step| step.state).collect();
    assert_eq!(states, [StepState::Undone, StepState::Undone, StepState::Failed]);
}

fn what_others_changed_is_reported() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let wishes = Wishes { rollback_on_failure: true, step_by_step: true };
    scene.write("z", "");
    let task =
        create_with(&tasks, vec![step("echo 1 > a"), step("echo 2 > b"), step("rm z")], wishes);
    advance(&tasks, &task.id);
    scene.write("a", "of somebody else\n");
    let task =
        tasks.decide(&task.id, exacta::tasks::Answer::Reject, &crate::scene::anna()).unwrap();
    assert_eq!(task.state, State::Failed);
    assert!(!task.rolled_back && !scene.has("b"));
    assert_eq!(scene.read("a"), "of somebody else\n");
    assert_eq!(task.steps[0].state, StepState::Done);
    assert!(
        lines(&tasks, &task.id, LogKind::Info).iter().any(|line| line.contains("step 1 stays"))
    );
}

fn a_refusal_is_not_tried_again() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    // Outside of the project: only when it runs it is known where that leads.
    std::os::unix::fs::symlink("/etc", scene.root.join("out")).unwrap();
    let task = run(&tasks, vec![tried("p=out/passwd; cat $p", 3)]);
    assert_eq!(task.state, State::Failed, "{}", task.reason);
    assert!(task.steps[0].attempts.len() <= 1);
    assert!(PendingStore::of(&scene.root).list().unwrap().is_empty());
}
