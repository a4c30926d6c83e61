//! On a terminal: the board, and the question at the gate.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use super::support::Project;
use super::{BINARY, newest, plan, project, report, until};

/// What is seen, when a person waits for each of these texts and answers it so.
fn seen(project: &Project, line: &str, answers: &[(&str, &str)]) -> String {
    let line = format!("trap : INT; stty cols 50 rows 14; {BINARY} {line}; echo status $?");
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]);
    project.surround(&mut command);
    command.env("TERM", "xterm").stdin(Stdio::piped());
    let mut child = command.spawn().expect("script(1) runs");
    let (mut output, mut input) =
        (child.stdout.take().expect("a pipe"), child.stdin.take().expect("a pipe"));
    let (mut all, mut from, mut byte) = (Vec::new(), 0, [0]);
    for (question, answer) in answers {
        while !String::from_utf8_lossy(&all[from..]).contains(question) {
            assert_eq!(
                output.read(&mut byte).expect("output"),
                1,
                "{}",
                String::from_utf8_lossy(&all)
            );
            all.push(byte[0]);
        }
        from = all.len();
        input.write_all(answer.as_bytes()).expect("an answer");
    }
    output.read_to_end(&mut all).expect("output");
    child.wait().expect("it ends");
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
fn the_board_and_the_question() {
    let project = project();
    project.write("old.txt", "old\n");
    plan(&project, &["echo 'one\u{1b}[2J'; sleep 1", "echo two; sleep 1", "rm old.txt"]);
    let seen = seen(&project, "task run plan.toml", &[("[y]es, [n]o, [l]ater: ", "y\n")]);
    for expected in [
        "exacta asks before it goes on:\r\n\r\nGoal: be done\r\nPlan:\r\n",
        "Irreversible Command: rm old.txt (step 3: irreversible keyword `rm`)",
        "▶\u{1b}[0m  1. echo",
        "✓\u{1b}[0m  1. echo",
        "▶\u{1b}[0m  2. echo two; sleep 1",
        "     | two",
        "·\u{1b}[0m  3. rm old.txt",
        "  0% 0/3  ",
        " 33% 1/3  ",
        "State: \u{1b}[32mcompleted\u{1b}[0m",
        "status 0",
    ] {
        assert!(seen.contains(expected), "{expected:?}\n{seen:?}");
    }
    assert!(!seen.contains("\u{1b}[2J"), "nothing of the output is obeyed: {seen:?}");
    assert_eq!(project.read("old.txt"), None);
}

#[test]
fn without_colours_and_on_a_dumb_terminal() {
    let project = project();
    plan(&project, &["echo one; sleep 1"]);
    let plain = seen(&project, "task run plan.toml --root .", &[]);
    assert!(plain.contains("\u{1b}[36m▶"), "{plain:?}");
    let line = format!("task run plan.toml; NO_COLOR=1 {BINARY} task run plan.toml");
    let both = seen(&project, &line, &[]);
    assert!(both.contains(" ▶  1. echo one; sleep 1"), "{both:?}");
    let line = format!("task list >/dev/null; TERM=dumb NO_COLOR=1 {BINARY} task run plan.toml");
    let dumb = seen(&project, &line, &[]);
    assert!(
        dumb.contains("[1/1] echo one; sleep 1\r\n  | one\r\n[1/1] done in ")
            && !dumb.contains('\u{1b}')
    );
}

#[test]
fn no_and_later() {
    let project = project();
    project.write("old.txt", "old\n");
    plan(&project, &["rm old.txt"]);
    let later = seen(&project, "task run plan.toml", &[("[l]ater: ", "yeah sure\n")]);
    assert!(later.contains("waits for an approval") && later.contains("status 3"), "{later}");
    let no = seen(&project, "task run plan.toml", &[("[l]ater: ", "n\n")]);
    assert!(no.contains("failed") && no.contains("rejected by") && no.contains("status 4"), "{no}");
    assert!(project.read("old.txt").is_some());
}

#[test]
fn only_the_first_step() {
    let project = project();
    project.write("a", "").write("b", "");
    plan(&project, &["rm a", "rm b"]);
    let answers = [("[o]nly step 1, [n]o, [l]ater: ", "o\n"), ("[y]es, [n]o, [l]ater: ", "n\n")];
    let seen = seen(&project, "task run plan.toml", &answers);
    assert!(seen.contains("status 4"), "{seen}");
    assert_eq!((project.read("a"), project.read("b").is_some()), (None, true));
}

#[test]
fn another_door_answers_first() {
    let project = project();
    project.write("old.txt", "old\n");
    plan(&project, &["rm old.txt"]);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| seen(&project, "task run plan.toml", &[]));
        let id = until("a question", || {
            newest(&project)
                .filter(|task| task["state"] == "pending_approval")
                .map(|task| super::id(&task))
        });
        let (status, left) = report(&project, &["approve", &id, "--no-run"]);
        assert_eq!(status, 0, "{left}");
        let seen = asked.join().expect("it ends");
        assert!(seen.contains("[l]ater: ") && seen.contains("status 0"), "{seen}");
    });
}

#[test]
fn an_interrupt_at_the_question() {
    let project = project();
    plan(&project, &["rm old.txt"]);
    let seen = seen(&project, "task run plan.toml", &[("[l]ater: ", "\u{3}")]);
    assert!(seen.contains("cancelled by SIGINT") && seen.contains("status 130"), "{seen}");
}

#[test]
fn an_interrupt_at_the_board() {
    let project = project();
    plan(&project, &["echo half > half.txt; echo begun; sleep 60"]);
    let seen = seen(&project, "task run plan.toml", &[("| begun", "\u{3}")]);
    assert!(seen.contains("cancelled by SIGINT") && seen.contains("status 130"), "{seen}");
    assert_eq!(project.read("half.txt"), None);
}
