//! Behaviour as data: every `tests/cases/*.toml` is run in process and, where real bash and GNU tools are the
//! oracle, under them too, in a directory of the same name. Compared are output, status and the tree of files; and every
//! case is undone and redone, with the tree exactly as before and as after.
//! The real tools delete for real, so all of this happens in a disposable world.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests make directories and run the oracle; the product's rooms do not apply"
)]

mod case;
mod oracle;
#[path = "../there_and_back/mod.rs"]
mod there_and_back;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use case::Case;
use exacta::{Request, Session, SessionOptions};
use libtest_mimic::{Arguments, Failed, Trial};
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
    exacta_world::within(&exacta_world::here!(), |_| run_cases())
}

fn run_cases() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut trials = Vec::new();
    for file in case::files(&folder) {
        let topic = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let base =
            Arc::new(std::env::temp_dir().join(format!("exacta-behaviour-{}", std::process::id())));
        for case in case::load(&file) {
            let base = Arc::clone(&base);
            trials
                .push(Trial::test(format!("{topic}::{}", case.name), move || check(&case, &base)));
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    let _ = fs::remove_dir_all(
        std::env::temp_dir().join(format!("exacta-behaviour-{}", std::process::id())),
    );
    conclusion.exit_code()
}

static SERIAL: AtomicUsize = AtomicUsize::new(0);

fn check(case: &Case, base: &Path) -> Result<(), Failed> {
    let place = base.join(SERIAL.fetch_add(1, Ordering::Relaxed).to_string());
    let project = place.join("project");
    let expected = if case.oracle {
        case.lay_out(&project);
        let observed = oracle::run(case, &project)?;
        fs::remove_dir_all(&place)?;
        Some(observed)
    } else {
        if case.reason.is_empty() {
            return Err("a case without the oracle needs a reason".into());
        }
        None
    };
    case.lay_out(&project);
    let (observed, undone) = run(case, &project)?;
    let verdict = compare(case, expected.as_ref(), &observed, undone);
    tree::make_removable(&place);
    fs::remove_dir_all(&place)?;
    verdict
}

/// What it gave, and whether it could be undone and redone.
fn run(case: &Case, project: &PathBuf) -> Result<(Observed, Result<(), String>), Failed> {
    let mut options = SessionOptions::new(project);
    // The commands are the question, not what the judge would say of them.
    options.judgement = Some(exacta::gate::Judgement::none());
    options.environment = vec![("LC_ALL".into(), "C.UTF-8".into()), ("TZ".into(), "UTC".into())];
    options.limits.wall_time = Some(Duration::from_secs(20));
    let mut session = Session::new(options).map_err(|error| error.to_string())?;
    // As the oracle is started: `bash -c`.
    session.shell_mut().options.command_string = true;
    let before = Before::of(project);
    let outcome =
        session.run_script(&Request::new(case.script.as_bytes()).with_stdin(case.stdin.as_bytes()));
    let undone = before.there_and_back(project, outcome.undo.as_ref());
    let observed = Observed {
        stdout: outcome.stdout,
        stderr: outcome.stderr,
        status: i32::from(outcome.status.0),
        tree: tree::read(project),
    };
    Ok((observed, undone))
}

fn compare(
    case: &Case,
    oracle: Option<&Observed>,
    observed: &Observed,
    undone: Result<(), String>,
) -> Result<(), Failed> {
    let mut problems = Vec::new();
    let mut same = |what: &str, expected: &[u8], found: &[u8]| {
        if expected != found {
            problems.push(format!("{what}: expected\n{}\nfound\n{}", show(expected), show(found)));
        }
    };
    if let Some(oracle) = oracle {
        same("stdout of the oracle", &oracle.stdout, &observed.stdout);
        same(
            "status of the oracle",
            oracle.status.to_string().as_bytes(),
            observed.status.to_string().as_bytes(),
        );
        if case.stderr_oracle {
            same("stderr of the oracle", &oracle.stderr, &observed.stderr);
        }
        if case.tree.is_none() {
            let (expected, found) = tree::difference(&oracle.tree, &observed.tree);
            same("tree of the oracle", expected.as_bytes(), found.as_bytes());
        }
    }
    if let Some(stdout) = &case.stdout {
        same("stdout", stdout.as_bytes(), &observed.stdout);
    }
    if let Some(stderr) = &case.stderr {
        same("stderr", stderr.as_bytes(), &observed.stderr);
    }
    if let Some(status) = case.status {
        same("status", status.to_string().as_bytes(), observed.status.to_string().as_bytes());
    }
    if let Some(expected) = &case.tree {
        let (expected, found) = tree::difference_to_given(expected, &observed.tree);
        same("tree", expected.as_bytes(), found.as_bytes());
    }
    problems.extend(undone.err());
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{}\nscript: {}\nstderr: {}",
        problems.join("\n"),
        case.script,
        show(&observed.stderr)
    )
    .into())
}

fn show(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if text.len() > 2000 {
        format!("{:?}…", text.chars().take(2000).collect::<String>())
    } else {
        format!("{text:?}")
    }
}
