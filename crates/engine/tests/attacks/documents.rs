//! `docs/attacks.md` names a test for every class of attack; both must exist.

use std::collections::BTreeSet;
use std::path::Path;

use libtest_mimic::{Failed, Trial};

pub fn trial(names: Vec<String>) -> Trial {
    Trial::test("documents::every class of attack has its test", move || check(&names))
}

fn check(names: &[String]) -> Result<(), Failed> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/attacks.md");
    let text = std::fs::read_to_string(file)?;
    let named: BTreeSet<&str> = text
        .lines()
        .filter(|line| line.starts_with('|'))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter(|word| word.contains("::"))
        .collect();
    let mut problems = Vec::new();
    for test in &named {
        // A name that ends in `::*` stands for all tests that begin like it.
        let exists = match test.strip_suffix('*') {
            _ if test.starts_with("corpus::") => is_corpus(test),
            _ if test.starts_with("jail::") => {
                jail_classes().contains(test.trim_end_matches("::*"))
            }
            Some(start) => names.iter().any(|name| name.starts_with(start)),
            None => names.iter().any(|name| name == test),
        };
        if !exists {
            problems.push(format!("docs/attacks.md names `{test}`, which is no test"));
        }
    }
    let covers = |name: &str| {
        named.iter().any(|test| {
            test.strip_suffix('*').map_or(*test == name, |start| name.starts_with(start))
        })
    };
    let names = names.iter().cloned().chain(jail_classes().into_iter().map(|name| name + "::"));
    for name in names.filter(|name| !covers(name)) {
        problems.push(format!("`{name}` is not in docs/attacks.md"));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// Attacks on the jail (`cargo test -p exacta --test jail`): one file for each class.
fn jail_classes() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jail/tests/attacks");
    let files = std::fs::read_dir(folder).expect("the attacks on the jail").flatten();
    let files = files.map(|entry| entry.path());
    let files = files.filter(|file| file.extension().is_some_and(|it| it == "toml"));
    let stem =
        |file: std::path::PathBuf| file.file_stem().map(|it| it.to_string_lossy().into_owned());
    files.filter_map(stem).map(|class| format!("jail::{class}")).collect()
}

/// The lines that the judge is held to: one file for each class.
fn is_corpus(name: &str) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../policy/tests/corpus");
    let class = name.trim_start_matches("corpus::").trim_end_matches(['*', ':']);
    folder.join(format!("{class}.toml")).is_file()
}
