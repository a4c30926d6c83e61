//! `exacta trust`: a person has read what came with the project, and lets it loosen the rules.

use std::fmt::Write as _;
use std::path::PathBuf;

use bstr::{BString, ByteSlice};
use exacta::commands_file;
use exacta::configuration::PROJECT_FILE;
use exacta::project::read_project_file;

use super::deeds::{self, Told};
use super::failed;
use crate::exit::Exit;
use crate::invocation::Global;
use crate::launch::Launch;
use crate::output;
use crate::terminal::{self, visible};

pub fn perform(global: &Global, yes: bool, forget: bool) -> Exit {
    let launch = match Launch::new(global) {
        Ok(launch) => launch,
        Err(problem) => return failed(&problem),
    };
    let root = &launch.options.root;
    let names = [PROJECT_FILE, commands_file::NAME];
    if forget {
        let paths = names.map(|name| root.join(name));
        let words = ["trust".to_owned(), "--forget".to_owned()];
        return deeds::recorded(global, "forget", &words, || forgotten(&launch, &paths));
    }
    let mut found = Vec::new();
    for name in names {
        let path = root.join(name);
        match read_project_file(root, name) {
            Ok(content) => found.extend(content.map(|content| (path, content))),
            Err(error) => return failed(&format!("{}: {error}", path.display())),
        }
    }
    if found.is_empty() {
        output::print("there is nothing to trust: neither .exacta.toml nor .clada/commands.json\n");
        return Exit::Success;
    }
    if !yes && !agreed(&found) {
        output::error(
            "exacta: nothing is trusted\n\nhint: answer yes on a terminal, or use --yes\n",
        );
        return Exit::Refused;
    }
    deeds::recorded(global, "trust", &["trust".to_owned()], || trusted(&launch, &found))
}

fn trusted(launch: &Launch, found: &[(PathBuf, BString)]) -> (Exit, Told) {
    let mut told = Told::default();
    for (path, content) in found {
        if let Err(problem) = launch.configuration.trust.trust(path, content) {
            return (told.failed(&problem), told);
        }
        told.say(&format!("trusted {}, as it is now\n", path.display()));
        // Whoever asks later what was trusted finds it here.
        told.text.push_str(&format!("{}\n", content.to_str_lossy()));
    }
    (Exit::Success, told)
}

fn forgotten(launch: &Launch, paths: &[PathBuf]) -> (Exit, Told) {
    let mut told = Told::default();
    for path in paths {
        match launch.configuration.trust.forget(path) {
            Ok(true) => told.say(&format!("{} is no longer trusted\n", path.display())),
            Ok(false) => {}
            Err(problem) => return (told.failed(&problem), told),
        }
    }
    (Exit::Success, told)
}

/// Shows all of it: who trusts a file trusts its every line.
fn agreed(found: &[(PathBuf, BString)]) -> bool {
    let mut question =
        String::from("\nThese files may then allow what exacta would ask about or deny:\n");
    for (path, content) in found {
        // Writing to a String cannot fail.
        let _ = writeln!(question, "\n{}", visible(&path.display().to_string()));
        for line in content.to_string().lines() {
            let _ = writeln!(question, "  | {}", visible(line));
        }
    }
    question.push_str("\nTrust them, as they are now? (yes/no): ");
    terminal::ask_shown(&question).is_some_and(|answer| answer.trim() == "yes")
}
