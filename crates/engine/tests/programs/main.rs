//! Real programs in the jail, as data: every `tests/programs/*.toml` is run by exacta and by real bash in a directory
//! of the same name, and compared. `bounds.rs` looks at what ends programs, `ahead.rs` at what is made ready for the next one. Whatever the
//! jail needs and the kernel does not have makes all of it fail: nothing is skipped. All of it runs in a disposable world.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests make directories and run the oracle; the product's rooms do not apply"
)]

mod ahead;
mod bounds;
#[path = "../behaviour/case.rs"]
mod case;
mod doors;
#[path = "../behaviour/oracle.rs"]
mod oracle;
mod scene;
#[path = "../there_and_back/mod.rs"]
mod there_and_back;
#[path = "../behaviour/tree.rs"]
mod tree;
mod tried;

use std::path::Path;
use std::process::ExitCode;

use case::Case;
use exacta::Request;
use libtest_mimic::{Arguments, Failed, Trial};
use scene::Scene;
use there_and_back::Before;
use tree::Tree;

/// What a run gave, by exacta or by the oracle.
pub struct Observed {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub status: i32,
    pub tree: Tree,
}

fn main() -> ExitCode {
    // Bombs and floods are among them.
    exacta_world::within(&exacta_world::here!(), |_| run_all())
}

fn run_all() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut trials = Vec::new();
    for file in case::files(&folder) {
        let topic = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for case in case::load(&file) {
            trials.push(Trial::test(format!("{topic}::{}", case.name), move || check(&case)));
        }
    }
    trials.extend(ahead::trials());
    trials.extend(bounds::trials());
    trials.extend(doors::trials());
    trials.extend(tried::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn check(case: &Case) -> Result<(), Failed> {
    let scene = Scene::new();
    let expected = if case.oracle {
        case.lay_out(&scene.project);
        let observed = oracle::run(case, &scene.project)?;
        clear(&scene.project);
        Some(observed)
    } else {
        assert!(!case.reason.is_empty(), "a case without the oracle needs a reason");
        None
    };
    case.lay_out(&scene.project);
    let request = Request::new(case.script.as_str()).with_stdin(case.stdin.as_bytes());
    let before = Before::of(&scene.project);
    let outcome = Scene::session(scene.options()).run_script(&request);
    let undone = before.there_and_back(&scene.project, outcome.undo.as_ref());
    let observed = Observed {
        stdout: outcome.stdout,
        stderr: outcome.stderr,
        status: i32::from(outcome.status.0),
        tree: tree::read(&scene.project),
    };
    compare(case, expected.as_ref(), &observed)?;
    undone.map_err(|problem| format!("{problem}\nscript: {}", case.script).into())
}

/// Takes all files away.
fn clear(project: &Path) {
    tree::make_removable(project);
    std::fs::remove_dir_all(project).expect("what the oracle left can be removed");
    std::fs::create_dir_all(project).expect("a directory for the test");
}

fn compare(case: &Case, oracle: Option<&Observed>, observed: &Observed) -> Result<(), Failed> {
    let mut problems = Vec::new();
    let mut same = |what: &str, expected: &str, found: &str| {
        if expected != found {
            problems.push(format!("{what}: expected\n{expected:?}\nfound\n{found:?}"));
        }
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if let Some(oracle) = oracle {
        same("stdout of the oracle", &text(&oracle.stdout), &text(&observed.stdout));
        same("status of the oracle", &oracle.status.to_string(), &observed.status.to_string());
        if case.stderr_oracle {
            same(
                "stderr of the oracle",
                &without_numbers(&oracle.stderr),
                &without_numbers(&observed.stderr),
            );
        }
        if case.tree.is_none() {
            let (expected, found) = tree::difference(&oracle.tree, &observed.tree);
            same("tree of the oracle", &expected, &found);
        }
    }
    if let Some(stdout) = &case.stdout {
        same("stdout", stdout, &text(&observed.stdout));
    }
    if let Some(stderr) = &case.stderr {
        same("stderr", stderr, &text(&observed.stderr));
    }
    if let Some(status) = case.status {
        same("status", &status.to_string(), &observed.status.to_string());
    }
    if let Some(expected) = &case.tree {
        let (expected, found) = tree::difference_to_given(expected, &observed.tree);
        same("tree", &expected, &found);
    }
    if problems.is_empty() {
        return Ok(());
    }
    let problems = problems.join("\n");
    let stderr = text(&observed.stderr);
    Err(format!("{problems}\nscript: {}\nstderr: {stderr}", case.script).into())
}

/// Processes have other numbers each time.
fn without_numbers(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let words = text.split(' ').filter(|word| !word.is_empty());
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = words.map(|word| if is_number(word) { "N" } else { word }).collect();
    words.join(" ")
}
