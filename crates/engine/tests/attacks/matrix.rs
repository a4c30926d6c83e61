//! Every command that takes a path, by every way out. What is outside must look exactly like what is missing.

use std::collections::HashMap;

use libtest_mimic::{Failed, Trial};
use serde::Deserialize;

use crate::scene::{Scene, Snapshot, show, wrong};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ways {
    /// Symbolic links of the project, by name.
    link: Vec<Link>,
    way: Vec<Way>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    name: String,
    target: String,
}

/// Two paths that lead out, and two that lead to nothing inside and must look the same.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Way {
    name: String,
    file: String,
    directory: String,
    #[serde(default = "absent_file")]
    like_file: String,
    #[serde(default = "absent_directory")]
    like_directory: String,
    /// It leads to something of the machine.
    #[serde(default)]
    machine: bool,
    /// Why this way looks different from something missing.
    #[serde(default)]
    differs: String,
}

fn absent_file() -> String {
    "absent/secret".into()
}

fn absent_directory() -> String {
    "absent/directory".into()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Commands {
    command: Vec<Command>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    /// The group: one test each.
    name: String,
    /// `@F` is a path to a file outside, `@D` one to a directory there.
    scripts: Vec<String>,
    /// They try to change something.
    #[serde(default)]
    writes: bool,
    /// Why these scripts do not answer alike for what is outside and what is missing.
    #[serde(default)]
    differs: String,
}

pub fn trials(folder: &std::path::Path) -> Vec<Trial> {
    let ways: &'static Ways = Box::leak(Box::new(crate::read(&folder.join("ways.toml"))));
    let commands: Commands = crate::read(&folder.join("commands.toml"));
    let trial = |command: Command| {
        Trial::test(format!("path::{}", command.name), move || attack(&command, ways))
    };
    commands.command.into_iter().map(trial).collect()
}

fn attack(command: &Command, ways: &Ways) -> Result<(), Failed> {
    let mut problems = Vec::new();
    let links: Vec<(String, String)> =
        ways.link.iter().map(|link| (link.name.clone(), link.target.clone())).collect();
    let mut stage = Stage::new(&links);
    for script in &command.scripts {
        for way in ways.way.iter().filter(|way| !(command.writes && way.machine)) {
            let compare = command.differs.is_empty() && way.differs.is_empty();
            let problem = stage.try_way(script, way, compare);
            if !problem.is_empty() {
                problems.push(format!("{}: {problem}", way.name));
            }
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    let count = problems.len();
    problems.truncate(12);
    Err(format!("{count} attacks\n{}", problems.join("\n")).into())
}

struct Stage<'a> {
    links: &'a [(String, String)],
    scene: Scene,
    /// As it was laid out.
    forbidden: Snapshot,
    project: Snapshot,
    /// What scripts answer about paths that are missing inside.
    known: HashMap<String, String>,
}

impl<'a> Stage<'a> {
    fn new(links: &'a [(String, String)]) -> Self {
        let scene = Scene::nested(links);
        let (forbidden, project) = (scene.forbidden(), scene.project());
        Stage { links, scene, forbidden, project, known: HashMap::new() }
    }

    fn try_way(&mut self, script: &str, way: &Way, compare: bool) -> String {
        let (answer, problem) = self.run(script, &way.file, &way.directory, true);
        if !problem.is_empty() || !compare {
            return problem;
        }
        let key = format!("{script} {} {}", way.like_file, way.like_directory);
        if !self.known.contains_key(&key) {
            let (inside, problem) = self.run(script, &way.like_file, &way.like_directory, false);
            if !problem.is_empty() {
                return problem;
            }
            self.known.insert(key.clone(), inside);
        }
        match self.known.get(&key) {
            Some(inside) if *inside != answer => {
                let text = script.replace("@F", &way.file).replace("@D", &way.directory);
                format!("{text}\n--- outside\n{answer}\n--- missing inside\n{inside}")
            }
            _ => String::new(),
        }
    }

    /// The normalised answer, and what is wrong with it.
    fn run(&mut self, script: &str, file: &str, directory: &str, out: bool) -> (String, String) {
        let (file, directory) = (self.scene.fill(file), self.scene.fill(directory));
        let text = script.replace("@F", &file).replace("@D", &directory);
        let outcome = self.scene.run(&text, "");
        let mut problem = wrong(&self.forbidden, &self.scene, &outcome);
        if !problem.is_empty() {
            problem = format!("{text}\n{problem}{}", show(&outcome));
        }
        let answer = self.normalise(&show(&outcome), &file, &directory, out);
        if !problem.is_empty() || self.scene.project() != self.project {
            let known = std::mem::take(&mut self.known);
            *self = Stage { known, ..Stage::new(self.links) };
        }
        (answer, problem)
    }

    /// Takes out what has to differ: the paths themselves, what links say, and numbers (sizes, inodes, times).
    fn normalise(&self, answer: &str, file: &str, directory: &str, out: bool) -> String {
        let root = self.scene.fill("ROOT");
        let mut spellings = Vec::new();
        for path in [file, directory] {
            let expanded = path.strip_prefix('~').unwrap_or(path).trim_start_matches(['+', '/']);
            spellings.extend([path.to_owned(), format!("{root}/{expanded}")]);
        }
        let targets: &[&str] = if out {
            &["OUT/secret", "OUT/directory", "../outside/secret", "../outside/directory"]
        } else {
            &["ROOT/absent/secret", "ROOT/absent/directory", "absent/secret", "absent/directory"]
        };
        spellings.extend(targets.iter().map(|target| self.scene.fill(target)));
        spellings.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
        let mut answer = answer.to_owned();
        for spelling in spellings {
            answer = answer.replace(&spelling, "PATH");
        }
        answer.retain(|character| !character.is_ascii_digit());
        // Columns are as wide as their numbers.
        while answer.contains("  ") {
            answer = answer.replace("  ", " ");
        }
        answer
    }
}
