//! The approval gate.

use exacta::approvals::{Desk, PendingStore, Ruling, Scope, State as Answered};
use exacta::audit::Trail;
use exacta::audit::store::Limits;
use exacta::commands_file::TrustNothing;
use exacta::tasks::{Again, Answer, State, StepState, TaskError, Wishes};

use crate::scene::{Scene, advance, anna, create_with, plan, run, step, way};

pub const ALL: &[(&str, fn())] = &[
    ("what_is_irreversible_halts_it", what_is_irreversible_halts_it),
    ("any_door_decides", any_door_decides),
    ("a_no_fails_it", a_no_fails_it),
    ("step_by_step", step_by_step),
    ("one_step_of_a_whole_question", one_step_of_a_whole_question),
    ("what_only_shows_at_run_time_is_asked_then", what_only_shows_at_run_time_is_asked_then),
    ("a_question_waits_for_a_day", a_question_waits_for_a_day),
    ("a_question_that_is_too_old_fails_it", a_question_that_is_too_old_fails_it),
    ("a_yes_to_another_plan_is_none", a_yes_to_another_plan_is_none),
    ("beginning_anew_asks_again", beginning_anew_asks_again),
    ("a_no_takes_back_what_was_done", a_no_takes_back_what_was_done),
    ("a_yes_to_another_step_is_none", a_yes_to_another_step_is_none),
    ("what_the_plan_writes_and_runs_is_asked_about", what_the_plan_writes_and_runs_is_asked_about),
    ("what_stays_after_a_no_is_named", what_stays_after_a_no_is_named),
];

fn what_is_irreversible_halts_it() {
    let scene = Scene::new();
    scene.write("a", "a\n");
    let tasks = scene.tasks();
    let task = run(&tasks, vec![step("touch b"), step("rm a")]);
    assert_eq!(task.state, State::PendingApproval, "{}", task.reason);
    assert!(scene.has("a") && !scene.has("b"));
    let pending = PendingStore::of(&scene.root).get(task.approval.as_deref().unwrap()).unwrap();
    assert_eq!((pending.goal.as_str(), pending.agent.as_str()), ("a goal", "agent"));
    assert_eq!(pending.plan, ["touch b", "rm a"]);
    assert_eq!(pending.irreversible.as_deref(), Some("rm a"));
    assert_eq!(pending.task.as_deref(), Some(task.id.as_str()));
    // Nobody has decided: it stays where it is.
    assert!(!tasks.is_decided(&task).unwrap());
    assert_eq!(advance(&tasks, &task.id).state, State::PendingApproval);
    let task = tasks.decide(&task.id, Answer::Approve, &anna()).unwrap();
    assert!(tasks.is_decided(&task).unwrap());
    let task = advance(&tasks, &task.id);
    assert_eq!(task.state, State::Completed, "{}", task.reason);
    assert!(!scene.has("a") && scene.has("b"));
    let used = PendingStore::of(&scene.root).get(task.approval.as_deref().unwrap()).unwrap();
    assert_eq!(used.state, Answered::Used);
    assert!(matches!(
        tasks.decide(&task.id, Answer::Approve, &anna()),
        Err(TaskError::Not { state: State::Completed, .. })
    ));
}

fn any_door_decides() {
    let scene = Scene::new();
    scene.write("a", "a\n");
    let tasks = scene.tasks();
    let task = run(&tasks, vec![step("rm a")]);
    let trail = Trail::of(&scene.root, None, Limits::default());
    let desk = Desk::of(&scene.root, trail, std::sync::Arc::new(TrustNothing));
    let id = task.approval.clone().unwrap();
    desk.decide(&id, Ruling::Approve(Scope::Once), &anna()).unwrap();
    let task = advance(&scene.tasks(), &task.id);
    assert_eq!(task.state, State::Completed, "{}", task.reason);
    assert!(task.approved_by.contains("anna") && !scene.has("a"));
}

fn a_no_fails_it() {
    let scene = Scene::new();
    scene.write("a", "a\n");
    let tasks = scene.tasks();
    let task = run(&tasks, vec![step("rm a")]);
    let task = tasks.decide(&task.id, Answer::Reject, &anna()).unwrap();
    assert_eq!(task.state, State::Failed);
    assert_eq!(task.reason, "rejected by anna (test)");
    assert!(scene.has("a") && task.steps[0].attempts.is_empty());
}

fn step_by_step() {
    let scene = Scene::new();
    scene.write("a", "a\n");
    scene.write("b", "b\n");
    let tasks = scene.tasks();
    let wishes = Wishes { step_by_step: true, ..Wishes::default() };
    let task = create_with(&tasks, vec![step("touch c"), step("rm a"), step("rm b")], wishes);
    let task = advance(&tasks, &task.id);
    assert_eq!(task.state, State::PendingApproval);
    assert!(scene.has("c") && scene.has("a"));
    tasks.decide(&task.id, Answer::Approve, &anna()).unwrap();
    let task = advance(&tasks, &task.id);
    assert_eq!(task.state, State::PendingApproval);
    assert!(!scene.has("a") && scene.has("b"));
    tasks.decide(&task.id, Answer::Approve, &anna()).unwrap();
    let task = advance(&tasks, &task.id);
    assert_eq!(task.state, State::Completed, "{}", task.reason);
    assert!(!scene.has("b"));
    assert!(task.steps.iter().all(|step| step.attempts.len() == 1));
}

fn one_step_of_a_whole_question() {
    let scene = Scene::new();
    scene.write("a", "a\n");
    scene.write("b", "b\n");
    let tasks = scene.tasks();
    let task = run(&tasks, vec![step("rm a"), step("rm b")]);
    tasks.decide(&task.id, Answer::ApproveStep(0), &anna()).unwrap();
    let task = advance(&tasks, &task.id);
    assert_eq!((task.state, scene.has("a"), scene.has("b")), (State::PendingApproval, false, true));
    tasks.decide(&task.id, Answer::Reject, &anna()).unwrap();
    assert!(scene.has("b"));
}

fn what_only_shows_at_run_time_is_asked_then() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.root.join(".git/hooks")).unwrap();
    scene.write("list", ".git/hooks/pre-commit");
    let tasks = scene.tasks();
    // Where it writes to is only known when it runs.
    let task = run(&tasks, vec![step("touch b; echo x > \"$(cat list)\"; echo 1 >> count")]);
    assert_eq!(task.state, State::PendingApproval, "{}", task.reason);
    assert_eq!(task.steps[0].attempts.len(), 1, "it ran: {}", task.reason);
    assert!(!scene.has("b"), "what it did until then was taken back");
    assert_eq!(way(&tasks, &task.id)[..3], [State::Pending, State::Validating, State::Running]);
    tasks.decide(&task.id, Answer::Approve, &anna()).unwrap();
    let task = advance(&tasks, &task.id);
    assert_eq!(task.state, State::Completed, "{}", task.reason);
    assert_eq!(
        (scene.read(".git/hooks/pre-commit").as_str(), scene.read("count").as_str()),
        ("x\n", "1\n")
    );
}

fn a_question_waits_for_a_day() {
    let scene = Scene::new();
    scene.write("a", "a\n");
    let task = run(&scene.tasks(), vec![step("rm a")]);
    let pending = PendingStore::of(&scene.root).get(task.approval.as_deref().unwrap()).unwrap();
    assert_eq!(pending.expires - pending.created, 24 * 60 * 60);
}

fn a_question_that_is_too_old_fails_it() {
    let scene = Scene::new();
    scene.write("a", "a\n");
    let tasks = scene.tasks();
    let task = run(&tasks, vec![step("rm a")]);
    let file = format!(".clada/approvals/{}.json", task.approval.as_deref().unwrap());
    let text = scene.read(&file);
    let mut kept: serde_json::Value = serde_json::from_str(&text).unwrap();
    kept["expires"] = 1.into();
    scene.write(&file, &kept.to_string());
    let task = advance(&tasks, &task.id);
    assert_eq!((task.state, task.reason.as_str()), (State::Failed, "nobody has answered in time"));
}

fn a_yes_to_another_plan_is_none() {
    let scene = Scene::new();
    scene.write("a", "a\n");
    let tasks = scene.tasks();
    let task = run(&tasks, vec![step("rm a")]);
    let file = format!(".clada/approvals/{}.json", task.approval.as_deref().unwrap());
    tasks.decide(&task.id, Answer::Approve, &anna()).unwrap();
    let mut kept: serde_json::Value = serde_json::from_str(&scene.read(&file)).unwrap();
    kept["digest"] = "0".repeat(64).into();
    scene.write(&file, &kept.to_string());
    let task = advance(&tasks, &task.id);
    assert_eq!(task.state, State::Failed, "{}", task.reason);
    assert!(scene.has("a"));
}

fn beginning_anew_asks_again() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let task = run(&tasks, vec![step("touch b"), step("rm a")]);
    tasks.decide(&task.id, Answer::Approve, &anna()).unwrap();
    let task = advance(&tasks, &task.id);
    assert_eq!(task.state, State::Failed, "{}", task.reason);
    scene.write("a", "a\n");
    let task = tasks.retry(&task.id, Again::IfSafe, "anna").unwrap();
    assert_eq!((task.state, task.steps[0].state), (State::Pending, StepState::Done));
    let task = advance(&tasks, &task.id);
    assert_eq!(task.state, State::PendingApproval, "{}", task.reason);
    tasks.decide(&task.id, Answer::Approve, &anna()).unwrap();
    let task = advance(&tasks, &task.id);
    assert_eq!(task.state, State::Completed, "{}", task.reason);
    assert_eq!((task.steps[0].attempts.len(), task.steps[1].attempts.len()), (1, 2));
    assert!(!scene.has("a") && way(&tasks, &task.id).len() > 8);
}

fn a_no_takes_back_what_was_done() {
    let scene = Scene::new();
    scene.write("a", "a\n");
    let tasks = scene.tasks();
    let wishes = Wishes { step_by_step: true, rollback_on_failure: true };
    let task = create_with(&tasks, plan(vec![step("touch b"), step("rm a")]).steps, wishes);
    advance(&tasks, &task.id);
    assert!(scene.has("b"));
    let task = tasks.decide(&task.id, Answer::Reject, &anna()).unwrap();
    assert_eq!((task.state, task.steps[0].state), (State::Failed, StepState::Undone));
    assert!(task.rolled_back && !scene.has("b") && scene.has("a"));
}

fn a_yes_to_another_step_is_none() {
    let scene = Scene::new();
    scene.write("a", "a\n");
    scene.write("b", "b\n");
    let tasks = scene.tasks();
    let wishes = Wishes { step_by_step: true, ..Wishes::default() };
    let task = create_with(&tasks, vec![step("rm a"), step("rm b")], wishes);
    let task = advance(&tasks, &task.id);
    assert_eq!(task.state, State::PendingApproval);
    let refused = tasks.decide(&task.id, Answer::ApproveStep(1), &anna());
    assert!(matches!(refused, Err(TaskError::Not { .. })), "{refused:?}");
    assert_eq!(advance(&tasks, &task.id).state, State::PendingApproval);
    assert!(scene.has("a") && scene.has("b"));
    tasks.decide(&task.id, Answer::ApproveStep(0), &anna()).unwrap();
    assert_eq!(advance(&tasks, &task.id).state, State::PendingApproval);
    assert!(!scene.has("a") && scene.has("b"));
}

fn what_the_plan_writes_and_runs_is_asked_about() {
    let script = r#"echo '{"scripts": {"x": "touch made"}}' > package.json"#;
    for steps in [
        vec![step(&format!("{script}; npm run x"))],
        vec![step(script), step("ls"), step("npm run x")],
    ] {
        let scene = Scene::new();
        let tasks = scene.tasks();
        let last = steps.len() - 1;
        let task = run(&tasks, steps);
        assert_eq!(task.state, State::PendingApproval, "{}", task.reason);
        assert_eq!(task.asks, [last]);
        assert!(!scene.has("package.json"));
    }
}

fn what_stays_after_a_no_is_named() {
    let scene = Scene::new();
    let tasks = scene.tasks();
    let wishes = Wishes { step_by_step: true, rollback_on_failure: true };
    let task = create_with(&tasks, vec![step("echo 1 > f"), step("rm f")], wishes);
    let task = advance(&tasks, &task.id);
    assert_eq!(task.state, State::PendingApproval);
    scene.write("f", "somebody's\n");
    let task = tasks.decide(&task.id, Answer::Reject, &anna()).unwrap();
    assert_eq!(task.state, State::Failed);
    assert!(task.reason.contains("step 1 stays"), "{}", task.reason);
}
