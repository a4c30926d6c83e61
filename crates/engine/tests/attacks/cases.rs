//! Attacks that need more than one path: a script each, with what must be true afterwards beside the usual.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use exacta::Outcome;
use libtest_mimic::{Failed, Trial};
use serde::Deserialize;

use crate::scene::{Scene, show, wrong};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    script: String,
    #[serde(default)]
    stdin: String,
    /// With a project inside the project: `n/.clada`.
    #[serde(default)]
    nested: bool,
    /// Symbolic links of the project.
    #[serde(default)]
    links: BTreeMap<String, String>,
    stdout: Option<String>,
    stderr: Option<String>,
    status: Option<u8>,
    /// Texts that must still be in some file of the project: where they were, or in the trash.
    #[serde(default)]
    kept: Vec<String>,
    /// The same, but in the trash and nowhere else.
    #[serde(default)]
    trashed: Vec<String>,
    /// Paths that must be there, and paths that must not.
    #[serde(default)]
    present: Vec<String>,
    #[serde(default)]
    gone: Vec<String>,
}

pub fn trials(folder: &Path) -> Vec<Trial> {
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the cases").flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut trials = Vec::new();
    for file in files {
        let topic = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let cases: File = crate::read(&file);
        for case in cases.case {
            trials.push(Trial::test(format!("{topic}::{}", case.name), move || check(&case)));
        }
    }
    trials
}

fn check(case: &Case) -> Result<(), Failed> {
    let links: Vec<(String, String)> = case.links.clone().into_iter().collect();
    let scene = if case.nested { Scene::nested(&links) } else { Scene::new(&links) };
    let before = scene.forbidden();
    let outcome = scene.run(&scene.fill(&case.script), &scene.fill(&case.stdin));
    let mut problem = wrong(&before, &scene, &outcome);
    problem += &case.unexpected(&scene, &outcome);
    if problem.is_empty() {
        return Ok(());
    }
    Err(format!("{problem}script: {}\n{}", case.script, show(&outcome)).into())
}

impl Case {
    fn unexpected(&self, scene: &Scene, outcome: &Outcome) -> String {
        let mut problem = String::new();
        let streams =
            [("stdout", &self.stdout, &outcome.stdout), ("stderr", &self.stderr, &outcome.stderr)];
        for (name, expected, found) in streams {
            let found = String::from_utf8_lossy(found);
            if let Some(expected) = expected.as_ref().map(|text| scene.fill(text))
                && expected != found
            {
                problem += &format!("{name} should be {expected:?}\n");
            }
        }
        if let Some(status) = self.status
            && status != outcome.status.0
        {
            problem += &format!("status should be {status}\n");
        }
        let (live, trash) = contents(&scene.root());
        for text in &self.kept {
            if !live.contains(text) && !trash.contains(text) {
                problem += &format!("{text:?} is lost\n");
            }
        }
        for text in &self.trashed {
            if live.contains(text) || !trash.contains(text) {
                problem += &format!("{text:?} is not in the trash\n");
            }
        }
        let is_there = |path: &String| fs::symlink_metadata(scene.root().join(path)).is_ok();
        for path in self.present.iter().filter(|path| !is_there(path)) {
            problem += &format!("{path} is not there\n");
        }
        for path in self.gone.iter().filter(|path| is_there(path)) {
            problem += &format!("{path} is there\n");
        }
        problem
    }
}

/// All the text of the project, and all of its trash.
fn contents(root: &Path) -> (String, String) {
    let (mut live, mut trash) = (String::new(), String::new());
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        match entry.file_name().to_str() {
            Some(".clada") => {}
            Some(".trash") => gather(&entry.path(), &mut trash),
            _ => gather(&entry.path(), &mut live),
        }
    }
    (live, trash)
}

fn gather(path: &Path, text: &mut String) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    if metadata.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            gather(&entry.path(), text);
        }
    } else if metadata.is_file() {
        text.push_str(&String::from_utf8_lossy(&fs::read(path).unwrap_or_default()));
    }
}
