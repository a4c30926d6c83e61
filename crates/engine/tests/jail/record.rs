//! One attack, as it stands in a file.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    attack: Vec<Attack>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attack {
    pub name: String,
    /// The name of its file.
    #[serde(skip)]
    pub class: String,
    /// What attacks, one of these: words for `sh`, for Python, or a piece in C with its words.
    pub sh: Option<String>,
    pub python: Option<String>,
    pub c: Option<Vec<String>>,
    /// How it is recognised that it succeeded.
    #[serde(default)]
    pub success: Success,
    /// Instead: a script that is run outside after the attack. It succeeds if the attack has.
    pub observe: Option<String>,
    /// A script that the attacker has run outside before, for example what came with the repository.
    pub prepare: Option<String>,
    /// Why it does not succeed without a jail either, here: neither as root nor as an ordinary user.
    pub not_provable: Option<String>,
    /// exacta does not even begin in such a project, and says so in these words.
    pub refused_with: Option<String>,
    /// Only root succeeds without a jail, or only an ordinary user does, and why.
    pub only_as_root: Option<String>,
    pub only_as_user: Option<String>,
    /// What the operator has set, for attacks on limits.
    #[serde(default)]
    pub limits: Limits,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Success {
    /// The secret is in its output.
    #[default]
    Secret,
    /// It prints GOT.
    Word,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    pub processor_seconds: Option<u64>,
    pub memory_megabytes: Option<u64>,
    pub processes: Option<u32>,
    pub open_files: Option<u64>,
}

impl Attack {
    pub fn full_name(&self) -> String {
        format!("{}::{}", self.class, self.name)
    }
}

pub fn load_all(folder: &Path) -> Vec<Attack> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder of attacks")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a file of attacks");
        let found: File =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let class = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        all.extend(
            found.attack.into_iter().map(|attack| Attack { class: class.clone(), ..attack }),
        );
    }
    check(&all);
    all
}

pub fn classes(attacks: &[Attack]) -> BTreeSet<String> {
    attacks.iter().map(|attack| attack.class.clone()).collect()
}

fn check(all: &[Attack]) {
    let mut names = BTreeSet::new();
    for attack in all {
        let name = attack.full_name();
        let means = [attack.sh.is_some(), attack.python.is_some(), attack.c.is_some()];
        assert_eq!(means.iter().filter(|it| **it).count(), 1, "{name}: one program");
        assert!(names.insert(name.clone()), "{name}: there twice");
    }
}
