//! The environment of programs: what the script exports, and where their things are.

use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};

use super::toolchains::Toolchains;

/// Variables that every program gets unless the script says otherwise.
pub fn of_programs(
    path: &[PathBuf],
    home: &Path,
    toolchains: &Toolchains,
) -> Vec<(BString, BString)> {
    let mut variables = vec![
        (BString::from("PATH"), joined(path)),
        (BString::from("HOME"), bytes(home)),
        (BString::from("LANG"), BString::from("C.UTF-8")),
        (BString::from("TMPDIR"), BString::from("/tmp")),
    ];
    let own = toolchains.environment.iter().map(|(name, path)| (name.as_str().into(), bytes(path)));
    variables.extend(own);
    variables
}

/// What the script exports comes first. Its home is the project, where tools would leave their caches: theirs is
/// another one, unless the script has chosen it.
pub fn merged(
    own: &[(BString, BString)],
    exported: &[(BString, BString)],
    root: &Path,
    home: &Path,
) -> Vec<(BString, BString)> {
    let mut all: Vec<(BString, BString)> = own
        .iter()
        .filter(|(name, _)| !exported.iter().any(|(known, _)| known == name))
        .cloned()
        .collect();
    for (name, value) in exported {
        let is_root = name == "HOME" && value.as_bstr() == root.as_os_str().as_encoded_bytes();
        all.push((name.clone(), if is_root { bytes(home) } else { value.clone() }));
    }
    all
}

pub fn joined(path: &[PathBuf]) -> BString {
    let parts = path.iter().map(|directory| directory.as_os_str().as_encoded_bytes());
    bstr::join(":", parts).into()
}

fn bytes(path: &Path) -> BString {
    path.as_os_str().as_encoded_bytes().into()
}
