//! Requests that run apart until somebody has decided: what was denied has left nothing in the session either.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use exacta::approvals::{Answer, Approver, Question, Tried, When};
use exacta::gate::{Face, Judgement};
use exacta::{Request, Session};
use libtest_mimic::{Failed, Trial};

use crate::scene::Scene;

pub fn trials() -> Vec<Trial> {
    type Check = fn() -> Result<(), Failed>;
    let all: [(&str, Check); 5] = [
        ("what is denied has left nothing in the session", denied),
        ("what is approved goes on in the session", approved),
        ("nothing of it runs on", nothing_runs_on),
        ("what runs out of time is not asked about", too_late),
        ("one question for all of it", one_question),
    ];
    all.into_iter().map(|(name, check)| Trial::test(format!("tried::{name}"), check)).collect()
}

/// Says the same to everything, and remembers what it was shown.
struct Person {
    answer: Answer,
    shown: Mutex<Vec<Tried>>,
}

impl Approver for Person {
    fn ask(&self, question: &Question) -> Answer {
        self.shown.lock().expect("it is not poisoned").extend(question.tried.clone());
        self.answer
    }

    fn name(&self) -> &'static str {
        "a person of the test"
    }
}

fn session(scene: &Scene, answer: Answer, seconds: u64) -> Result<(Session, Arc<Person>), Failed> {
    let person = Arc::new(Person { answer, shown: Mutex::default() });
    let mut options = scene.options();
    options.judgement = Some(Judgement {
        face: Face::Run,
        when: When::After,
        approver: Arc::clone(&person) as _,
        ..Judgement::standard().map_err(|_| "the built-in rules")?
    });
    options.limits.wall_time = Some(Duration::from_secs(seconds));
    Ok((Scene::session(options), person))
}

fn expect(condition: bool, otherwise: &str) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(otherwise.into()) }
}

fn said(session: &mut Session, text: &str) -> String {
    String::from_utf8_lossy(&session.run(&Request::new(text)).stdout).into_owned()
}

const STATE: &str = "x=$(cat secret); cd sub; f() { echo f; }; trap 'echo bye' EXIT; alias a=b; \
    echo true > ../.git/hooks/pre-commit";
const ASK_FOR_IT: &str = "echo [$x] ${PWD##*/}; declare -F f; trap -p; alias";

fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("secret", "the secret\n");
    scene.write("sub/file", "");
    scene.write(".git/hooks/other", "");
    scene
}

fn denied() -> Result<(), Failed> {
    let scene = scene();
    let (mut session, person) = session(&scene, Answer::No, 20)?;
    let outcome = session.run(&Request::new(STATE));
    expect(outcome.status.0 == 126, &format!("{outcome:?}"))?;
    let shown = person.shown.lock().expect("it is not poisoned").clone();
    expect(shown.len() == 1, "it was asked once")?;
    expect(shown[0].changes.contains("+true"), &shown[0].changes)?;
    expect(!scene.project.join(".git/hooks/pre-commit").exists(), "it was applied")?;
    let left = said(&mut session, ASK_FOR_IT);
    expect(left == "[] project\n", &left)
}

fn approved() -> Result<(), Failed> {
    let scene = scene();
    let (mut session, _) = session(&scene, Answer::Once, 20)?;
    let outcome = session.run(&Request::new(STATE));
    expect(outcome.status.success(), &format!("{outcome:?}"))?;
    let made = fs::read_to_string(scene.project.join(".git/hooks/pre-commit"))?;
    expect(made == "true\n", &made)?;
    let left = said(&mut session, ASK_FOR_IT);
    expect(left.starts_with("[the secret] sub\nf\n"), &left)?;
    expect(outcome.undo.is_some_and(|undo| undo.strategy == "restore"), "it cannot be undone")
}

fn nothing_runs_on() -> Result<(), Failed> {
    let scene = scene();
    let (mut session, _) = session(&scene, Answer::No, 20)?;
    let text = "(sleep 30; echo late > late) & perl -e 'fork or do { sleep 30; exit }'; \
        echo true > .git/hooks/pre-commit; echo x";
    let begun = Instant::now();
    let outcome = session.run(&Request::new(text));
    expect(begun.elapsed() < Duration::from_secs(15), "it was waited for what ran on")?;
    expect(outcome.stdout.is_empty(), "somebody heard it")?;
    expect(said(&mut session, "jobs; echo $!") == "\n", "a job is left")
}

fn too_late() -> Result<(), Failed> {
    let scene = scene();
    let (mut session, person) = session(&scene, Answer::Once, 1)?;
    let outcome = session.run(&Request::new("echo x > made; echo y > .git/hooks/a; sleep 30"));
    expect(outcome.stopped.is_some(), "it had no end")?;
    expect(person.shown.lock().expect("it is not poisoned").is_empty(), "somebody was asked")?;
    expect(!scene.project.join("made").exists(), "it was applied")
}

fn one_question() -> Result<(), Failed> {
    let scene = scene();
    let (mut session, person) = session(&scene, Answer::Once, 20)?;
    let text = "echo 1 > .git/hooks/a; n=b; echo 2 > .git/hooks/$n; perl -e 'print 3'";
    let outcome = session.run(&Request::new(text));
    expect(outcome.status.success() && outcome.stdout == b"3", &format!("{outcome:?}"))?;
    let shown = person.shown.lock().expect("it is not poisoned");
    expect(shown.len() == 1 && shown[0].paths == 2, &format!("{shown:?}"))
}
