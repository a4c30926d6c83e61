//! What a session may take over from the process that makes it: a few harmless variables, and where its programs are.

#![expect(
    clippy::disallowed_methods,
    reason = "the caller's environment is read here, and an allowlist passes on"
)]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};

use crate::network::{NetworkOptions, Operator};

/// Variables of the caller that a script may have unless everything is asked for.
const PASSED_ON: &[&str] =
    &["LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "NO_COLOR", "COLUMNS", "LINES", "CI"];

/// Passed on only if the directory they name exists for the script.
const DIRECTORIES: &[&str] = &["TMPDIR", "TMP", "TEMP"];

/// How much of the caller's environment a script gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inherit {
    /// What tells of languages, colours and places that the script can see.
    Harmless,
    Everything,
}

/// Variables of this process for a session in `root`.
pub fn environment(inherit: Inherit, root: &Path) -> Vec<(BString, BString)> {
    std::env::vars_os()
        .filter(|(name, value)| inherit == Inherit::Everything || passes(name, value, root))
        .map(|(name, value)| (bytes(&name), bytes(&value)))
        .collect()
}

/// The directories of this process's `PATH`, in which toolchains are recognised.
pub fn path() -> Vec<PathBuf> {
    std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect()
}

/// What the caller's machine has of a network. None of its variables goes further than to the proxy and to whoever looks
/// for the hosts of package managers.
pub fn network() -> NetworkOptions {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let variables = std::env::vars_os().filter_map(text).collect();
    let operator = Operator { home, variables, system: None };
    NetworkOptions { operator, ..NetworkOptions::default() }
}

/// Variables of this process whose values must not be shown: by what their names promise, and those named here.
pub fn secrets(named: &[String]) -> Vec<(BString, BString)> {
    std::env::vars_os()
        .map(|(name, value)| (bytes(&name), bytes(&value)))
        .filter(|(name, value)| {
            named.iter().any(|one| name == one) || crate::redaction::is_secret_variable(name, value)
        })
        .collect()
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
