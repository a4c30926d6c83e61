//! The corpus reaches its bar, and every list entry of the specifications has its verdict.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test reads its own data, may fail, and shows its table"
)]

mod scoring;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use exacta_policy::{Policy, Profile};
use libtest_mimic::{Arguments, Failed, Trial};
use scoring::lines::{self, Line, Set};
use scoring::world::Project;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let policy = Arc::new(Policy::builtin(Profile::Dev).expect("the built-in rules"));
    let mut trials =
        vec![Trial::test("the corpus is complete", the_corpus_is_complete), bar(&policy)];
    for (number, case) in lines::cases(&folder()).expect("the cases").into_iter().enumerate() {
        let policy = Arc::clone(&policy);
        trials.push(Trial::test(format!("{} ({number})", case.name), move || {
            scoring::wrong(&case, &policy, &Project).map_or(Ok(()), |wrong| Err(wrong.into()))
        }));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn bar(policy: &Arc<Policy>) -> Trial {
    let policy = Arc::clone(policy);
    Trial::test("the bar", move || {
        let score = scoring::Score::of(&lines::lines(&folder())?, &policy, &Project);
        print!("{}{}", scoring::table::table(&score), scoring::table::misses(&score.misses, false));
        match score.faults() {
            faults if faults.is_empty() => Ok(()),
            faults => Err(faults.join("; ").into()),
        }
    })
}

/// The classes of bypass, each with enough lines to mean something.
fn the_corpus_is_complete() -> Result<(), Failed> {
    let all = lines::lines(&folder())?;
    let of = |set: Set| all.iter().filter(|line| line.set == set).count();
    let (malicious, doubtful, benign) =
        (of(Set::Malicious), of(Set::NeedsConfirm), of(Set::Benign));
    if malicious < 300 || doubtful < 100 || benign < 300 {
        return Err(format!("{malicious} + {doubtful} + {benign} lines").into());
    }
    for class in [
        "wrappers",
        "interpreters",
        "executing-options",
        "environment",
        "shell-state",
        "late-words",
        "structure",
        "paths",
        "writes",
        "exfiltration",
        "self-approval",
        "borrowed-tools",
    ] {
        let count = all.iter().filter(|line| line.class == class).count();
        if count < 20 {
            return Err(format!("{class}: {count}").into());
        }
    }
    twice(&all).map_or(Ok(()), |line| Err(format!("twice: {}", line.text).into()))
}

fn twice(all: &[Line]) -> Option<&Line> {
    let mut seen = std::collections::HashSet::new();
    all.iter().find(|line| !seen.insert(&line.text))
}
