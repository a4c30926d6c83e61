//! From the command line to a session: which project, which variables, which directory.

#![expect(
    clippy::disallowed_methods,
    reason = "the command line is where the caller's directory and environment are read; an allowlist passes on"
)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};
use exacta::{EngineError, SessionOptions};

use crate::invocation::Global;

/// Variables of the caller that a script may have unless everything is asked for.
const PASSED_ON: &[&str] =
    &["LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "NO_COLOR", "COLUMNS", "LINES", "CI"];

/// Passed on only if the directory they name exists for the script.
const DIRECTORIES: &[&str] = &["TMPDIR", "TMP", "TEMP"];

/// Options for a session as the operator asked for it.
pub fn options(global: &Global) -> Result<SessionOptions, EngineError> {
    let caller = std::env::current_dir().ok();
    let root = match &global.root {
        Some(root) => root.clone(),
        None => exacta::project::find_root(caller.as_deref().unwrap_or(Path::new("."))),
    };
    let root = exacta::project::canonical_root(&root)?;
    let mut options = SessionOptions::new(&root);
    options.environment = environment(global, &root);
    options.directory = caller;
    Ok(options)
}

fn environment(global: &Global, root: &Path) -> Vec<(BString, BString)> {
    let mut variables: Vec<(BString, BString)> = std::env::vars_os()
        .filter(|(name, value)| global.inherit_environment || passes(name, value, root))
        .map(|(name, value)| (bytes(&name), bytes(&value)))
        .collect();
    for (name, value) in &global.environment {
        variables.retain(|(other, _)| other != name);
        variables.push((name.clone(), value.clone()));
    }
    variables
}

fn passes(name: &OsStr, value: &OsStr, root: &Path) -> bool {
    let Some(name) = name.to_str() else { return false };
    if DIRECTORIES.contains(&name) {
        let path = PathBuf::from(value);
        return path.starts_with(root) || path.starts_with("/tmp");
    }
    PASSED_ON.contains(&name) || name.starts_with("LC_")
}

fn bytes(text: &OsStr) -> BString {
    text.as_encoded_bytes().as_bstr().into()
}
