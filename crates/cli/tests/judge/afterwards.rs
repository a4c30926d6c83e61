//! `approval.when = "after"`: what can change nothing but the project runs apart first, and the result is what is approved.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::pending;
use crate::support::{Project, code, text};

/// It asks, because it writes what runs later on the host.
const COMMAND: &str =
    "echo seen; echo unseen >&2; echo run >> made; echo true > .git/hooks/pre-commit";
const HOOK: &str = ".git/hooks/pre-commit";

fn project() -> Project {
    let project = Project::new();
    configure(&project, "[approval]\nwhen = \"after\"\n");
    project
}

fn configure(project: &Project, text: &str) {
    let folder = project.root.parent().expect("a folder").join(".config/exacta");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("config.toml"), text).expect("a file");
}

/// The one question, as it is on file.
fn asked(project: &Project) -> Value {
    let mut all = pending(project);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

fn id(question: &Value) -> String {
    question["id"].as_str().expect("an id").to_owned()
}

fn is_untouched(project: &Project) -> bool {
    project.read("made").is_none() && project.read(HOOK).is_none()
}

fn held(project: &Project) -> usize {
    let log = text(&project.run(&["log", "--json"]).stdout);
    log.matches("\"held\"").count()
}

#[test]
fn the_result_is_approved_and_not_run_again() {
    let project = project();
    let output = project.run(&["run", "--", COMMAND]);
    assert_eq!((code(&output), text(&output.stdout)), (126, String::new()));
    assert!(!text(&output.stderr).contains("unseen"), "{}", text(&output.stderr));
    assert!(is_untouched(&project));

    let question = asked(&project);
    let tried = &question["tried"];
    assert_eq!((&tried["exit"], &tried["stdout"]), (&0.into(), &"seen\n".into()));
    assert_eq!(tried["paths"], 2, "{tried}");
    let shown = text(&project.run(&["approvals", "show", &id(&question)]).stdout);
    for line in ["  : +true\n", "  : +run\n", "  > seen\n", "  ! unseen\n"] {
        assert!(shown.contains(line), "{line:?} in {shown}");
    }
    // Whoever asks again does not have it run again.
    let again = project.run(&["run", "--", COMMAND]);
    assert_eq!(code(&again), 126);
    assert!(text(&again.stderr).contains("it has run apart"), "{}", text(&again.stderr));
    assert_eq!(held(&project), 1);

    let approved = project.run(&["approvals", "approve", &id(&question)]);
    assert_eq!(code(&approved), 0, "{}", text(&approved.stderr));
    assert_eq!(project.read(HOOK).as_deref(), Some("true\n"));
    let output = project.run(&["run", "--", COMMAND]);
    assert_eq!((code(&output), text(&output.stdout)), (0, "seen\n".to_owned()));
    assert!(text(&output.stderr).contains("unseen"));
    assert_eq!(project.read("made").as_deref(), Some("run\n"), "it has run once");
    assert_eq!(asked(&project)["state"], "used");
    assert_eq!(code(&project.run(&["undo"])), 0);
    assert!(is_untouched(&project));
}

#[test]
fn what_is_denied_never_was() {
    let project = project();
    assert_eq!(code(&project.run(&["run", "--", COMMAND])), 126);
    let question = asked(&project);
    assert_eq!(held(&project), 1);
    assert_eq!(code(&project.run(&["approvals", "deny", &id(&question)])), 0);
    assert!(is_untouched(&project));
    assert_eq!(held(&project), 0);
}

#[test]
fn who_waits_gets_all_of_it() {
    for (verb, status) in [("approve", 0), ("deny", 126)] {
        let project = project();
        let mut command = project.command(&["run", "--wait", "60s", "--", COMMAND]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        let begun = Instant::now();
        while pending(&project).is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(20), "nobody has asked");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(is_untouched(&project));
        assert_eq!(code(&project.run(&["approvals", verb, &id(&asked(&project))])), 0);
        let output = child.wait_with_output().expect("it ends");
        let said = if status == 0 { "seen\n" } else { "" };
        assert_eq!((code(&output), text(&output.stdout).as_str()), (status, said));
        assert_eq!(is_untouched(&project), status != 0);
        assert_eq!(held(&project), 0);
    }
}

#[test]
fn on_a_terminal_the_result_is_shown() {
    for (answer, applied) in [("o", true), ("n", false)] {
        let project = project();
        let seen = project.answer(&format!("run -- '{COMMAND}'"), "ne[v]er: ", answer);
        for line in ["exacta has run this apart", "  : +true", "  > seen", "with exit code 0"] {
            assert!(seen.contains(line), "{line:?} in {seen}");
        }
        assert_eq!(seen.contains("\r\nseen\r\n"), applied, "{seen}");
        assert_eq!(is_untouched(&project), !applied);
        assert_eq!(held(&project), 0);
    }
}

#[test]
fn programs_are_tried_too() {
    let project = project();
    project.write("x.pl", "open(my $file, '>', 'made'); print $file 'by perl'; print \"said\\n\"");
    let command = "perl x.pl; unknown-program; echo true > .git/hooks/pre-commit";
    let output = project.run(&["run", "--", command]);
    assert_eq!((code(&output), text(&output.stdout)), (126, String::new()));
    assert!(is_untouched(&project));
    let question = asked(&project);
    assert_eq!(question["tried"]["stdout"], "said\n", "{question}");
    assert_eq!(code(&project.run(&["approvals", "approve", &id(&question)])), 0);
    assert_eq!(project.read("made").as_deref(), Some("by perl"));
}

#[test]
fn what_cannot_be_taken_back_is_asked_before() {
    let project = project();
    assert_eq!(code(&project.run(&["run", "--", "git push origin main"])), 126);
    assert_eq!(asked(&project)["tried"], Value::Null);
}

#[test]
fn only_what_was_shown_is_applied() {
    let project = project();
    assert_eq!(code(&project.run(&["run", "--", COMMAND])), 126);
    let question = asked(&project);
    let file = find(&project.root.join(".clada"), &id(&question)).expect("its file");
    let written = fs::read_to_string(&file).expect("its text");
    fs::write(&file, written.replace("seen\\n", "fine\\n")).expect("a lie");
    let approved = project.run(&["approvals", "approve", &id(&question)]);
    assert_ne!(code(&approved), 0);
    assert!(text(&approved.stderr).contains("not what was shown"), "{}", text(&approved.stderr));
    assert!(is_untouched(&project));
}

#[test]
fn what_somebody_has_changed_meanwhile_stays() {
    let project = project();
    assert_eq!(code(&project.run(&["run", "--", COMMAND])), 126);
    project.write("made", "by a person\n");
    let approved = project.run(&["approvals", "approve", &id(&asked(&project))]);
    assert_ne!(code(&approved), 0);
    assert_eq!(project.read("made").as_deref(), Some("by a person\n"));
    assert!(project.read(HOOK).is_none());
    assert_eq!(asked(&project)["state"], "pending", "it can still be denied");
}

#[test]
fn a_project_can_ask_to_be_asked_before() {
    let project = project();
    project.write(".exacta.toml", "[approval]\nwhen = \"before\"\n");
    assert_eq!(code(&project.run(&["run", "--", COMMAND])), 126);
    assert_eq!(asked(&project)["tried"], Value::Null);
    // And not for the contrary.
    configure(&project, "");
    project.write(".exacta.toml", "[approval]\nwhen = \"after\"\n");
    assert_eq!(code(&project.run(&["run", "--", COMMAND])), 126);
    assert!(pending(&project).iter().all(|one| one["tried"].is_null()));
}

fn find(folder: &std::path::Path, name: &str) -> Option<PathBuf> {
    fs::read_dir(folder).ok()?.flatten().find_map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return find(&path, name);
        }
        entry.file_name().to_string_lossy().contains(name).then_some(path)
    })
}

#[test]
fn whoever_is_asked_can_see_what_it_would_change() {
    let project = Project::new();
    project.write(".git/config", "[core]\n").write("notes", "one\n");
    let command = "echo two >> notes; echo said; echo true > .git/hooks/pre-commit";
    assert_eq!(code(&project.run(&["run", "--", command])), 126);
    let listed = text(&project.run(&["--json", "approvals", "list"]).stdout);
    let all: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let id = all[0]["id"].as_str().expect("an id").to_owned();
    let shown = project.run(&["approvals", "show", &id, "--dry-run"]);
    let said = text(&shown.stdout);
    for part in [": +two", "> said", "pre-commit", "it would change"] {
        assert!(said.contains(part), "{part} in {said}{}", text(&shown.stderr));
    }
    // Nothing of it is there, and the question still waits.
    assert_eq!(project.read("notes").as_deref(), Some("one\n"));
    assert_eq!(project.read(".git/hooks/pre-commit"), None);
    assert!(text(&project.run(&["approvals", "show", &id]).stdout).contains("(pending)"));
    assert!(!text(&project.run(&["log"]).stdout).contains("held"));
}

#[test]
fn what_reaches_out_is_not_tried() {
    let project = Project::new();
    assert_eq!(code(&project.run(&["run", "--", "git push --force origin main"])), 126);
    let listed = text(&project.run(&["--json", "approvals", "list"]).stdout);
    let all: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let id = all[0]["id"].as_str().expect("an id").to_owned();
    let shown = project.run(&["approvals", "show", &id, "--dry-run"]);
    assert!(text(&shown.stderr).contains("could change more than the project"), "{shown:?}");
}
