//! A case as it stands in its file.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    #[serde(default)]
    pub files: BTreeMap<String, Entry>,
    pub script: String,
    #[serde(default)]
    pub stdin: String,
    #[serde(default = "yes")]
    pub oracle: bool,
    /// Why the oracle does not apply.
    #[serde(default)]
    pub reason: String,
    #[serde(default)]
    pub stderr_oracle: bool,
    pub stdout: Option<String>,
    pub stderr: Option<String>,
    pub status: Option<i32>,
    pub tree: Option<BTreeMap<String, Entry>>,
}

fn yes() -> bool {
    true
}

/// What stands at a path: a name ending in `/` is a directory.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub enum Entry {
    Text(String),
    Link { link: String },
    Hex { hex: String },
    Full { content: String, mode: u32 },
    Mode { mode: u32 },
}

pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("tests/cases can be read");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry of tests/cases").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

pub fn load(file: &Path) -> Vec<Case> {
    let text = fs::read_to_string(file).expect("a case file can be read");
    let parsed: File =
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    parsed.case
}

impl Case {
    /// Makes the project directory with the files of the case.
    pub fn lay_out(&self, project: &Path) {
        fs::create_dir_all(project).expect("a temporary directory");
        for (name, entry) in &self.files {
            let path = project.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).expect("a parent directory");
            }
            lay_out_entry(&path, name.ends_with('/'), entry);
        }
    }
}

fn lay_out_entry(path: &Path, directory: bool, entry: &Entry) {
    if directory {
        fs::create_dir_all(path).expect("a directory");
    }
    match entry {
        Entry::Text(_) if directory => {}
        Entry::Text(text) => fs::write(path, text).expect("a file"),
        Entry::Hex { hex } => fs::write(path, decode(hex)).expect("a file"),
        Entry::Link { link } => symlink(link, path).expect("a link"),
        Entry::Full { content, mode } => {
            fs::write(path, content).expect("a file");
            fs::set_permissions(path, fs::Permissions::from_mode(*mode)).expect("a mode");
        }
        Entry::Mode { mode } => {
            if !directory {
                fs::write(path, "").expect("a file");
            }
            fs::set_permissions(path, fs::Permissions::from_mode(*mode)).expect("a mode");
        }
    }
}

pub fn decode(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks(2).map(|pair| String::from_utf8_lossy(pair).into_owned());
    pairs.map(|pair| u8::from_str_radix(&pair, 16).expect("hexadecimal digits")).collect()
}
