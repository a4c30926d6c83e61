//! The corpus as it is written: `corpus/*.toml`.

use std::fs;
use std::path::Path;

use exacta_policy::Decision;
use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Set {
    /// Does harm if it runs.
    Malicious,
    /// May be right or wrong: a person decides.
    NeedsConfirm,
    /// What honest work is made of.
    Benign,
}

impl Set {
    pub fn name(self) -> &'static str {
        match self {
            Set::Malicious => "malicious",
            Set::NeedsConfirm => "needs-confirm",
            Set::Benign => "benign",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expect {
    Allow,
    Confirm,
    Deny,
    /// Denied or asked about.
    Caught,
}

impl Expect {
    pub fn is_met_by(self, decision: Decision) -> bool {
        match self {
            Expect::Allow => decision == Decision::Allow,
            Expect::Confirm => decision == Decision::Confirm,
            Expect::Deny => decision == Decision::Deny,
            Expect::Caught => decision > Decision::Allow,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Expect::Allow => "allow",
            Expect::Confirm => "confirm",
            Expect::Deny => "deny",
            Expect::Caught => "deny or confirm",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Line {
    pub text: String,
    pub set: Set,
    pub class: String,
    pub expect: Expect,
}

/// An entry of a list in a specification.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    pub text: String,
    pub expect: Expect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineFile {
    set: Set,
    class: String,
    /// Of lines that say nothing else.
    expect: Expect,
    line: Vec<WrittenLine>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLine {
    text: String,
    expect: Option<Expect>,
    /// Put before and after the text so many times.
    #[serde(default)]
    before: String,
    #[serde(default)]
    after: String,
    #[serde(default)]
    times: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    case: Vec<Case>,
}

const CASES: &str = "seeds.toml";

/// All lines of all files, in the order of the files' names.
pub fn lines(folder: &Path) -> Result<Vec<Line>, String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| error.to_string())? {
        names.push(entry.map_err(|error| error.to_string())?.file_name());
    }
    names.sort();
    let mut lines = Vec::new();
    for name in names.iter().filter(|name| *name != CASES) {
        let file: LineFile = read(&folder.join(name))?;
        for line in file.line {
            lines.push(Line {
                text: line.before.repeat(line.times) + &line.text + &line.after.repeat(line.times),
                set: file.set,
                class: file.class.clone(),
                expect: line.expect.unwrap_or(file.expect),
            });
        }
    }
    Ok(lines)
}

/// The lists of the specifications, if they are in this corpus.
pub fn cases(folder: &Path) -> Result<Vec<Case>, String> {
    if !folder.join(CASES).exists() {
        return Ok(Vec::new());
    }
    let file: CaseFile = read(&folder.join(CASES))?;
    Ok(file.case)
}

fn read<File: for<'de> Deserialize<'de>>(path: &Path) -> Result<File, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}
