//! What a name means: for `type` and `command -v`, `-V`.

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use crate::builtins::{Command, Run};
use crate::interpret::is_path;
use crate::shell::{Function, Shell};

/// Words that the grammar knows.
pub(super) static KEYWORDS: [&str; 22] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while", "{", "}",
];

pub(super) enum Meaning {
    Alias(BString),
    Keyword,
    Function(Arc<Function>),
    Builtin(&'static Command),
    /// Found earlier and remembered.
    Hashed(BString),
    File(BString),
}

/// What is looked at.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    /// Everything, not only what would run.
    pub all: bool,
    pub functions: bool,
    /// Files only, whatever else the name means.
    pub only_files: bool,
}

/// The meanings of a name, the one in force first.
pub(super) fn meanings(shell: &Shell, name: &BStr, scope: Scope) -> Vec<Meaning> {
    let mut found = Vec::new();
    if !scope.only_files {
        add_inner_meanings(shell, name, scope, &mut found);
        if !scope.all && !found.is_empty() {
            found.truncate(1);
            return found;
        }
    }
    if is_path(name) {
        if shell.is_runnable(name) {
            found.push(Meaning::File(name.into()));
        }
        return found;
    }
    if !scope.all
        && let Some(hashed) = shell.hashed.get::<[u8]>(name.as_ref())
    {
        found.push(Meaning::Hashed(hashed.path.clone()));
        return found;
    }
    let places = shell.search_path_each(name, !scope.all);
    found.extend(places.into_iter().map(Meaning::File));
    found
}

fn add_inner_meanings(shell: &Shell, name: &BStr, scope: Scope, found: &mut Vec<Meaning>) {
    if shell.options.expand_aliases
        && let Some(value) = shell.aliases.get::<[u8]>(name.as_ref())
    {
        found.push(Meaning::Alias(value.clone()));
    }
    if is_keyword(name) {
        found.push(Meaning::Keyword);
    }
    if scope.functions
        && let Some(function) = shell.functions.get::<[u8]>(name.as_ref())
    {
        found.push(Meaning::Function(Arc::clone(function)));
    }
    if let Some(command) = shell.find_builtin(name) {
        found.push(Meaning::Builtin(command));
    }
}

fn is_keyword(name: &BStr) -> bool {
    KEYWORDS.iter().any(|keyword| name == *keyword)
}

impl Meaning {
    /// `type -t`
    pub(super) fn word(&self) -> &'static str {
        match self {
            Meaning::Alias(_) => "alias",
            Meaning::Keyword => "keyword",
            Meaning::Function(_) => "function",
            Meaning::Builtin(_) => "builtin",
            Meaning::Hashed(_) | Meaning::File(_) => "file",
        }
    }

    pub(super) fn path(&self) -> Option<&BString> {
        match self {
            Meaning::Hashed(path) | Meaning::File(path) => Some(path),
            _ => None,
        }
    }

    /// `type` and `command -V`: the sentence.
    pub(super) fn sentence(&self, shell: &Shell, name: &BStr) -> BString {
        let mut text = BString::from(name);
        match self {
            Meaning::Alias(value) => {
                text.extend_from_slice(b" is aliased to `");
                text.extend_from_slice(value);
                text.push(b'\'');
            }
            Meaning::Keyword => text.extend_from_slice(b" is a shell keyword"),
            Meaning::Function(function) => {
                text.extend_from_slice(b" is a function\n");
                let name = function.name.as_bstr();
                text.extend_from_slice(&exacta_syntax::print_function(name, &function.body));
            }
            Meaning::Builtin(command) => {
                let special = shell.options.posix && is_special(command);
                let kind = if special { "special shell builtin" } else { "shell builtin" };
                text.extend_from_slice(format!(" is a {kind}").as_bytes());
            }
            Meaning::Hashed(path) => {
                text.extend_from_slice(b" is hashed (");
                text.extend_from_slice(path);
                text.push(b')');
            }
            Meaning::File(path) => {
                text.extend_from_slice(b" is ");
                text.extend_from_slice(path);
            }
        }
        text.push(b'\n');
        text
    }

    /// `command -v`: what can be run again.
    pub(super) fn reusable(&self, name: &BStr) -> BString {
        let mut text = match self {
            Meaning::Alias(value) => return super::alias::definition(name, value.as_bstr()),
            Meaning::Hashed(path) | Meaning::File(path) => path.clone(),
            _ => name.into(),
        };
        text.push(b'\n');
        text
    }
}

fn is_special(command: &Command) -> bool {
    matches!(
        command.run,
        Run::Builtin { special: true, .. } | Run::Declaration { special: true, .. }
    )
}
