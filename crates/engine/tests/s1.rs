//! Every example of S1, named after its line in the specification; the data is `s1.toml`.
//!
//! Programs that a machine may or may not have (`npm`, `python`, `git`) are scripts of the project here, found through
//! `PATH`: what is checked is what exacta does around them.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make the directories they run in"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use exacta::background::block_on;
use exacta::covenant::{ExecuteOptions, ExecutionContext, RunCommand, execute_run, to_json};
use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Examples {
    example: Vec<Example>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Example {
    /// Of the specification.
    line: u32,
    /// If there are several for a line, or the line is not to the letter: why.
    variant: String,
    command: String,
    /// The project begins with these. A name with a slash at its end is a directory.
    files: BTreeMap<String, String>,
    links: BTreeMap<String, String>,
    /// Scripts that stand for real programs.
    programs: BTreeMap<String, String>,
    /// `.clada/commands.json`
    commands: Option<String>,
    /// Of the context, below the project.
    cwd: String,
    payload_cwd: Option<String>,
    /// What the person says; absent: nobody may be asked.
    answer: Option<String>,
    time_limit_ms: Option<u64>,
    output_limit: Option<u64>,

    /// `{project}` is the project's path.
    output: Option<String>,
    output_starts: Option<String>,
    /// In any order.
    output_lines: Option<Vec<String>>,
    error: Option<String>,
    /// What must be there afterwards; an empty text: must be gone.
    after: BTreeMap<String, String>,
}

fn main() -> ExitCode {
    exacta_world::within(&exacta_world::here!(), |_| run_examples())
}

fn run_examples() -> ExitCode {
    let text = include_str!("s1.toml");
    let examples: Examples = toml::from_str(text).expect("valid examples");
    let trials = examples.example.into_iter().map(|example| {
        let variant = example.variant.replace(' ', "_");
        let name = format!(
            "line_{:03}{}{variant}",
            example.line,
            if variant.is_empty() { "" } else { "_" }
        );
        Trial::test(name, move || run(&example))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn run(example: &Example) -> Result<(), Failed> {
    let project = Project::new(example);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let options = options(example, &project, &asked);
    let mut command = RunCommand::new(&example.command);
    if let Some(cwd) = &example.payload_cwd {
        command = command.in_directory(cwd);
    }
    let context = ExecutionContext::new(project.0.join(&example.cwd));
    let result = block_on(execute_run(&command, &context, options));
    compare(example, &project, &to_json(&result))?;
    let asked = asked.lock().expect("the record").clone();
    let expected: Vec<String> = match example.answer {
        Some(_) => vec![format!("Allow '{}'? (yes/no/always/never): ", example.command)],
        None => Vec::new(),
    };
    same("questions", &asked, &expected)?;
    for (name, text) in &example.after {
        let found = fs::read_to_string(project.0.join(name)).unwrap_or_default();
        same(name, &found, text)?;
    }
    Ok(())
}

fn options(
    example: &Example,
    project: &Project,
    asked: &Arc<Mutex<Vec<String>>>,
) -> ExecuteOptions {
    let (asked, answer) = (Arc::clone(asked), example.answer.clone().unwrap_or_default());
    let mut options = ExecuteOptions::default().prompter(move |question: String| {
        asked.lock().expect("the record").push(question);
        let answer = answer.clone();
        async move { answer }
    });
    let path = format!("{}:/usr/bin", project.0.join("programs").display());
    options.environment = vec![("PATH".into(), path.into())];
    if let Some(limit) = example.time_limit_ms {
        options.time_limit = Duration::from_millis(limit);
    }
    if let Some(limit) = example.output_limit {
        options.output_limit = limit;
    }
    options
}

fn compare(example: &Example, project: &Project, answer: &str) -> Result<(), Failed> {
    let answer: serde_json::Value = serde_json::from_str(answer).expect("JSON");
    let succeeded = example.error.is_none();
    same("ok", &answer["ok"], &serde_json::Value::from(succeeded))?;
    if let Some(error) = &example.error {
        same("error", &answer["error"], &serde_json::Value::from(error.as_str()))?;
    }
    let output = if succeeded { &answer["value"]["output"] } else { &answer["output"] };
    let output = output.as_str();
    if let Some(start) = &example.output_starts {
        let found = output.unwrap_or_default();
        return if found.starts_with(start) { Ok(()) } else { Err(found.into()) };
    }
    if let Some(lines) = &example.output_lines {
        let mut found: Vec<&str> = output.unwrap_or_default().lines().collect();
        found.sort_unstable();
        let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        lines.sort_unstable();
        return same("lines", &found, &lines);
    }
    let expected =
        example.output.as_ref().map(|text| text.replace("{project}", &project.0.to_string_lossy()));
    same("output", &output, &expected.as_deref())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<(), Failed> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}:\n   found: {found:?}\nexpected: {expected:?}").into())
}

/// A directory that goes away with the test.
struct Project(PathBuf);

impl Project {
    fn new(example: &Example) -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("exacta-s1-{}-{serial}", std::process::id()));
        fs::create_dir_all(path.join(".git")).expect("a directory");
        let project = Project(path.canonicalize().expect("a real path"));
        fs::create_dir_all(project.0.join(&example.cwd)).expect("a directory");
        for (name, text) in &example.files {
            project.write(Path::new(name), text);
        }
        for (name, script) in &example.programs {
            let path = Path::new("programs").join(name);
            project.write(&path, &format!("#!/bin/sh\n{script}\n"));
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(project.0.join(path), mode).expect("a mode");
        }
        for (name, target) in &example.links {
            symlink(target, project.0.join(name)).expect("a link");
        }
        if let Some(text) = &example.commands {
            project.write(Path::new(".clada/commands.json"), text);
        }
        project
    }

    fn write(&self, name: &Path, text: &str) {
        let path = self.0.join(name);
        if name.to_string_lossy().ends_with('/') {
            fs::create_dir_all(path).expect("a directory");
            return;
        }
        fs::create_dir_all(path.parent().unwrap_or(&self.0)).expect("a directory");
        fs::write(path, text).expect("a file");
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
