//! Variables that are there before the text, and those that the shell itself sets.

use bstr::{BStr, BString, ByteSlice};

use super::values::Value;

/// What changes by itself.
const VOLATILE: &[&str] = &[
    "BASHPID",
    "BASH_ARGC",
    "BASH_ARGV",
    "BASH_ARGV0",
    "BASH_COMMAND",
    "BASH_LINENO",
    "BASH_REMATCH",
    "BASH_SOURCE",
    "BASH_SUBSHELL",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "FUNCNAME",
    "HISTCMD",
    "LINENO",
    "PIPESTATUS",
    "RANDOM",
    "READLINE_LINE",
    "SECONDS",
    "SRANDOM",
    "_",
];

/// What the shell itself sets, to what nobody knows before.
const SHELLS_OWN: &[&str] = &[
    "BASHOPTS",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "COLUMNS",
    "EUID",
    "GROUPS",
    "HOSTNAME",
    "HOSTTYPE",
    "LANG",
    "LINES",
    "LOGNAME",
    "MACHTYPE",
    "MAPFILE",
    "OPTARG",
    "OPTERR",
    "OPTIND",
    "OSTYPE",
    "PATH",
    "PPID",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "REPLY",
    "SHELLOPTS",
    "SHLVL",
    "TERM",
    "UID",
    "USER",
];

/// What nobody can assign to.
const FIXED: &[&str] = &["BASHOPTS", "BASH_VERSINFO", "EUID", "GROUPS", "PPID", "SHELLOPTS", "UID"];

/// Being set, they change how the shell reads.
pub(super) const MODES: &[&str] = &["BASH_COMPAT", "POSIXLY_CORRECT"];

/// In the environment of every session.
pub(super) const ALWAYS_EXPORTED: &[&str] =
    &["HOME", "LANG", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL", "SHLVL", "TERM", "USER"];

/// Whatever is assigned to it, it has what the shell gives it.
pub(super) fn is_own(name: &BStr) -> bool {
    // All of them are in capital letters, but for `_`.
    let likely = name.first().is_some_and(|byte| byte.is_ascii_uppercase() || *byte == b'_');
    likely && VOLATILE.iter().chain(FIXED).any(|own| *name == *own)
}

pub(super) fn initial(surroundings: &dyn crate::Surroundings, name: &BStr) -> Value {
    if VOLATILE.iter().any(|own| *name == *own) || name.starts_with(b"COMP_") {
        return Value::unknown();
    }
    if let Some(value) = surroundings.variable(name) {
        return Value::Text(value);
    }
    match name.as_bytes() {
        b"HOME" => Value::Text(surroundings.root().into()),
        b"IFS" => Value::Text(BString::from(" \t\n")),
        b"BASH" | b"SHELL" => Value::Text(BString::from("/bin/bash")),
        b"PWD" => Value::unknown(),
        _ if SHELLS_OWN.iter().any(|own| *name == *own) => Value::unknown(),
        _ => Value::Unset,
    }
}
