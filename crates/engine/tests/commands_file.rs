//! `.clada/commands.json` on a real disk: two writers at once, broken files, and files that came with a repository.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests prepare and inspect real directories"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use exacta::commands_file::{
    CommandsFile, CommandsFileError, Decision, Entered, Trust, TrustNothing,
};

struct Project(PathBuf);

impl Project {
    fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-commands-{}-{serial}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a directory");
        Project(path.canonicalize().expect("a real path"))
    }

    fn with(content: &str) -> Self {
        let project = Self::new();
        fs::create_dir(project.0.join(".clada")).expect("a directory");
        fs::write(project.json(), content).expect("a file");
        project
    }

    fn json(&self) -> PathBuf {
        self.0.join(".clada/commands.json")
    }

    fn file(&self) -> CommandsFile {
        CommandsFile::of(&self.0)
    }

    fn content(&self) -> String {
        fs::read_to_string(self.json()).expect("a file")
    }

    fn about(&self, command: &str) -> Decision {
        self.file().read(&TrustNothing).expect("a good file").about(command)
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn no_file_decides_nothing_and_makes_nothing() {
    let project = Project::new();
    assert_eq!(project.about("npm test"), Decision::Unknown);
    assert!(!project.0.join(".clada").exists());
}

#[test]
fn what_is_entered_holds_and_is_private() {
    let project = Project::new();
    project.file().allow("npm test", &TrustNothing).expect("entered");
    project.file().block("npm run build", &TrustNothing).expect("entered");
    let expected = "{\n  \"allowed\": [\"npm test\"],\n  \"blocked\": [\"npm run build\"]\n}\n";
    assert_eq!(project.content(), expected);
    assert_eq!(project.about("npm test"), Decision::Allowed);
    assert_eq!(project.about("npm run build"), Decision::Blocked);
    assert_eq!(project.about("npm  test"), Decision::Unknown);
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&project.json()), 0o600);
    assert_eq!(mode(&project.0.join(".clada")), 0o700);
    let left: Vec<_> = fs::read_dir(project.0.join(".clada"))
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .filter(|name| name.contains("new"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_block_is_never_taken_back_by_an_answer() {
    let project = Project::with(r#"{"allowed": ["make"], "blocked": ["make"]}"#);
    assert_eq!(project.about("make"), Decision::Blocked);
    let before = project.content();
    let entered = project.file().allow("make", &TrustNothing).expect("a good file");
    assert_eq!(entered, Entered::Blocked);
    assert_eq!(project.content(), before);
}

#[test]
fn a_broken_file_is_named_and_left_alone() {
    let cases = [
        ("{\n  \"allowed\": [\"a\",]\n}", "2:19"),
        ("", "1:1"),
        ("{\"allowed\": {}}", "1:12"),
        ("not json", "1:2"),
    ];
    for (content, place) in cases {
        let project = Project::with(content);
        let file = project.file();
        let problems = [
            file.read(&TrustNothing).map(|_| ()).expect_err("broken"),
            file.allow("ls", &TrustNothing).map(|_| ()).expect_err("broken"),
            file.block("ls", &TrustNothing).expect_err("broken"),
        ];
        for problem in problems {
            assert!(matches!(problem, CommandsFileError::Broken { .. }), "{problem}");
            let text = problem.to_string();
            assert!(text.starts_with(&format!("{}:{place}: ", project.json().display())), "{text}");
        }
        assert_eq!(project.content(), content);
    }
}

#[test]
fn links_are_not_followed() {
    let outside = Project::with(r#"{"allowed": ["rm x"], "blocked": []}"#);
    let project = Project::new();
    symlink(outside.0.join(".clada"), project.0.join(".clada")).expect("a link");
    assert!(project.file().read(&TrustNothing).is_err());
    let project = Project::new();
    fs::create_dir(project.0.join(".clada")).expect("a directory");
    symlink(outside.json(), project.json()).expect("a link");
    assert!(project.file().read(&TrustNothing).is_err());
    assert!(project.file().allow("ls", &TrustNothing).is_err());
    assert_eq!(outside.content(), r#"{"allowed": ["rm x"], "blocked": []}"#);
}

#[test]
fn threads_lose_no_entry() {
    let project = Project::with(r#"{"kept": [1, 2]}"#);
    thread::scope(|scope| {
        for writer in 0..8 {
            let file = project.file();
            scope.spawn(move || {
                for number in 0..25 {
                    let command = format!("command {writer} {number}");
                    if number % 2 == 0 {
                        file.allow(&command, &TrustNothing).expect("entered");
                    } else {
                        file.block(&command, &TrustNothing).expect("entered");
                    }
                }
            });
        }
    });
    let decisions = project.file().read(&TrustNothing).expect("a good file");
    assert_eq!((decisions.allowed().len(), decisions.blocked().len()), (8 * 13, 8 * 12));
    assert!(project.content().contains("\"kept\": [1, 2]"));
}

/// Not a test of its own: what the writers of the next test run.
#[test]
fn writer_process() {
    let Ok(root) = std::env::var("EXACTA_TEST_WRITER_ROOT") else { return };
    let name = std::env::var("EXACTA_TEST_WRITER_NAME").expect("a name");
    let file = CommandsFile::of(root);
    for number in 0..25 {
        let command = format!("command {name} {number}");
        assert_eq!(file.allow(&command, &TrustNothing).expect("entered"), Entered::Allowed);
    }
}

#[test]
fn processes_lose_no_entry() {
    let project = Project::new();
    let own = std::env::current_exe().expect("this program");
    let mut writers: Vec<_> = (0..4)
        .map(|writer| {
            Command::new(&own)
                .args(["--exact", "writer_process"])
                .env("EXACTA_TEST_WRITER_ROOT", &project.0)
                .env("EXACTA_TEST_WRITER_NAME", writer.to_string())
                .stdout(std::process::Stdio::null())
                .spawn()
                .expect("a writer")
        })
        .collect();
    for writer in &mut writers {
        assert!(writer.wait().expect("its end").success());
    }
    let decisions = project.file().read(&TrustNothing).expect("a good file");
    assert_eq!(decisions.allowed().len(), 4 * 25);
}

/// What git itself wrote, in every form of its index.
#[test]
fn a_tracked_file_blocks_but_does_not_allow() {
    let content = r#"{"allowed": ["npm test"], "blocked": ["make"]}"#;
    let forms: [&[&str]; 4] = [
        &["update-index", "--index-version", "2"],
        &["update-index", "--index-version", "4"],
        &["update-index", "--split-index"],
        &["status", "--short"],
    ];
    for form in forms {
        let project = Project::with(content);
        assert_eq!(project.about("npm test"), Decision::Allowed);
        git(&project.0, &["init", "-q"]);
        fs::write(project.0.join("README.md"), "x").expect("a file");
        git(&project.0, &["add", "README.md"]);
        assert_eq!(project.about("npm test"), Decision::Allowed);
        git(&project.0, &["add", "-f", ".clada/commands.json"]);
        git(&project.0, form);
        assert_eq!(project.about("npm test"), Decision::Unknown, "{form:?}");
        assert_eq!(project.about("make"), Decision::Blocked, "{form:?}");
        let trusted = project.file().read(&TrustAll::default()).expect("a good file");
        assert_eq!(trusted.about("npm test"), Decision::Allowed);
    }
}

#[test]
fn a_project_below_the_repository_is_seen_too() {
    let repository = Project::new();
    git(&repository.0, &["init", "-q"]);
    let root = repository.0.join("packages/one");
    fs::create_dir_all(root.join(".clada")).expect("a directory");
    fs::write(root.join(".clada/commands.json"), r#"{"allowed": ["ls"]}"#).expect("a file");
    let file = CommandsFile::of(&root);
    let about = || file.read(&TrustNothing).expect("a good file").about("ls");
    assert_eq!(about(), Decision::Allowed);
    git(&repository.0, &["add", "-f", "packages/one/.clada/commands.json"]);
    assert_eq!(about(), Decision::Unknown);
}

#[test]
fn an_index_that_cannot_be_read_means_tracked() {
    let project = Project::with(r#"{"allowed": ["ls"]}"#);
    fs::create_dir(project.0.join(".git")).expect("a directory");
    assert_eq!(project.about("ls"), Decision::Allowed);
    for content in ["", "DIRC", "DIRC\0\0\0\x09\0\0\0\0", "something else entirely, and long"] {
        fs::write(project.0.join(".git/index"), content).expect("a file");
        assert_eq!(project.about("ls"), Decision::Unknown, "{content:?}");
    }
}

#[test]
fn trust_follows_our_own_changes() {
    let project = Project::with(r#"{"allowed": ["ls"]}"#);
    let trust = TrustAll::default();
    project.file().allow("make", &trust).expect("entered");
    let rewritten = trust.rewritten.lock().expect("the record").clone();
    assert_eq!(rewritten, [(r#"{"allowed": ["ls"]}"#.to_owned(), project.content())]);
}

#[derive(Default)]
struct TrustAll {
    rewritten: Mutex<Vec<(String, String)>>,
}

impl Trust for TrustAll {
    fn trusts(&self, _content: &[u8]) -> bool {
        true
    }

    fn rewritten(&self, before: &[u8], after: &[u8]) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.rewritten.lock().expect("the record").push((text(before), text(after)));
    }
}

fn git(directory: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .stdout(std::process::Stdio::null())
        .status()
        .expect("git");
    assert!(status.success(), "git {arguments:?}");
}
