//! The lists of names that `-A` chooses from.

use bstr::{BStr, BString, ByteSlice};

use crate::builtins::{Run, TABLE};
use crate::filesystem::{Access, FileKind, Follow};
use crate::interpret::{signal_name, signal_numbers};
use crate::options::{SET_SWITCHES, SHOPT_SWITCHES, Switch};
use crate::shell::Shell;

/// Those with a letter first, as `complete -p` prints them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    Alias,
    Builtin,
    Command,
    Directory,
    Export,
    File,
    Group,
    Job,
    Keyword,
    Service,
    User,
    Variable,
    ArrayVariable,
    Binding,
    Disabled,
    Enabled,
    Function,
    HelpTopic,
    HostName,
    Running,
    SetOption,
    ShoptOption,
    Signal,
    Stopped,
}

/// The order in which bash generates.
pub(super) const ORDER: [Action; 24] = [
    Action::Alias,
    Action::ArrayVariable,
    Action::Binding,
    Action::Builtin,
    Action::Disabled,
    Action::Enabled,
    Action::Export,
    Action::Function,
    Action::HelpTopic,
    Action::HostName,
    Action::Job,
    Action::Keyword,
    Action::Running,
    Action::SetOption,
    Action::ShoptOption,
    Action::Signal,
    Action::Stopped,
    Action::Variable,
    Action::Command,
    Action::File,
    Action::User,
    Action::Group,
    Action::Service,
    Action::Directory,
];

pub(super) struct ActionName {
    pub action: Action,
    pub name: &'static str,
    /// 0: only by `-A`.
    pub letter: u8,
}

const fn named(action: Action, name: &'static str, letter: u8) -> ActionName {
    ActionName { action, name, letter }
}

pub(super) static ACTIONS: [ActionName; 24] = [
    named(Action::Alias, "alias", b'a'),
    named(Action::Builtin, "builtin", b'b'),
    named(Action::Command, "command", b'c'),
    named(Action::Directory, "directory", b'd'),
    named(Action::Export, "export", b'e'),
    named(Action::File, "file", b'f'),
    named(Action::Group, "group", b'g'),
    named(Action::Job, "job", b'j'),
    named(Action::Keyword, "keyword", b'k'),
    named(Action::Service, "service", b's'),
    named(Action::User, "user", b'u'),
    named(Action::Variable, "variable", b'v'),
    named(Action::ArrayVariable, "arrayvar", 0),
    named(Action::Binding, "binding", 0),
    named(Action::Disabled, "disabled", 0),
    named(Action::Enabled, "enabled", 0),
    named(Action::Function, "function", 0),
    named(Action::HelpTopic, "helptopic", 0),
    named(Action::HostName, "hostname", 0),
    named(Action::Running, "running", 0),
    named(Action::SetOption, "setopt", 0),
    named(Action::ShoptOption, "shopt", 0),
    named(Action::Signal, "signal", 0),
    named(Action::Stopped, "stopped", 0),
];

impl Action {
    pub(super) fn by_letter(letter: u8) -> Option<Action> {
        ACTIONS.iter().find(|action| action.letter == letter && letter != 0).map(|one| one.action)
    }

    pub(super) fn by_name(name: &[u8]) -> Option<Action> {
        ACTIONS.iter().find(|action| action.name.as_bytes() == name).map(|one| one.action)
    }

    /// Every name of this kind that begins with the word.
    pub(super) fn names(self, shell: &Shell, word: &BStr) -> Vec<BString> {
        let mut names = match self {
            Action::File => return files(shell, word, false),
            Action::Directory => return files(shell, word, true),
            other => other.all(shell),
        };
        names.retain(|name| name.starts_with(word));
        names
    }

    fn all(self, shell: &Shell) -> Vec<BString> {
        let disabled = |name: &&str| shell.disabled.contains(name);
        match self {
            Action::Alias => shell.aliases.keys().cloned().collect(),
            Action::Builtin => builtins().map(BString::from).collect(),
            Action::Disabled => builtins().filter(disabled).map(BString::from).collect(),
            Action::Enabled => {
                builtins().filter(|name| !disabled(name)).map(BString::from).collect()
            }
            Action::Command => commands(shell),
            Action::Export => variables(shell, |shell, name| {
                shell.variables.get(name).is_some_and(|variable| variable.attributes.exported)
            }),
            Action::Variable => variables(shell, |_, _| true),
            Action::ArrayVariable => variables(shell, |shell, name| {
                shell.variables.get(name).is_some_and(crate::variables::Variable::is_array)
            }),
            Action::Function => shell.functions.keys().cloned().collect(),
            Action::Group => vec![shell.host.identity().group_name.clone()],
            Action::User => vec![shell.host.identity().user_name.clone()],
            Action::HostName => vec![shell.host.identity().host_name.clone()],
            Action::Job => jobs(shell, |_| true),
            Action::Running => jobs(shell, |running| running),
            Action::Keyword => keywords().collect(),
            Action::HelpTopic => TABLE.iter().map(|command| BString::from(command.name)).collect(),
            Action::SetOption => switches(&SET_SWITCHES),
            Action::ShoptOption => switches(&SHOPT_SWITCHES),
            Action::Signal => signals(),
            // There is no line editor, no list of services, no job is ever stopped; files are listed elsewhere.
            Action::Binding
            | Action::Service
            | Action::Stopped
            | Action::File
            | Action::Directory => Vec::new(),
        }
    }
}

fn builtins() -> impl Iterator<Item = &'static str> {
    let all = TABLE.iter().filter(|command| !matches!(command.run, Run::Tool(_)));
    all.map(|command| command.name)
}

/// In the order of the grammar, as bash lists them.
const KEYWORDS: [&str; 22] = [
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do",
    "done", "in", "function", "time", "{", "}", "!", "[[", "]]", "coproc",
];

fn keywords() -> impl Iterator<Item = BString> {
    KEYWORDS.iter().map(|keyword| BString::from(*keyword))
}

/// Everything that could stand as the first word.
fn commands(shell: &Shell) -> Vec<BString> {
    let mut names: Vec<BString> = shell.aliases.keys().cloned().collect();
    names.extend(keywords());
    names.extend(shell.functions.keys().cloned());
    names.extend(TABLE.iter().map(|command| BString::from(command.name)));
    names.extend(programs_of_project(shell));
    names
}

/// What can be run in the directories of `PATH` that are there.
fn programs_of_project(shell: &Shell) -> Vec<BString> {
    let files = shell.host.files();
    let path = shell.variables.scalar("PATH").cloned().unwrap_or_default();
    let mut names = Vec::new();
    for directory in path.split_str(b":") {
        let place = if directory.is_empty() { b"." } else { directory };
        let absolute = shell.absolute(place.as_bstr());
        let Ok(handle) = files.open_directory(absolute.as_bstr(), Follow::Yes) else { continue };
        for entry in handle.entries().unwrap_or_default() {
            let program =
                BString::from([absolute.as_slice(), b"/", entry.name.as_slice()].concat());
            let is_file = handle
                .metadata(entry.name.as_bstr(), Follow::Yes)
                .is_ok_and(|metadata| metadata.is_file());
            if is_file && files.access(program.as_bstr(), Access::Execute).is_ok() {
                names.push(entry.name);
            }
        }
    }
    names.sort_unstable();
    names
}

fn variables(shell: &Shell, wanted: impl Fn(&Shell, &BStr) -> bool) -> Vec<BString> {
    let mut names = shell.variables.names();
    names.retain(|name| wanted(shell, name.as_bstr()));
    names
}

fn jobs(shell: &Shell, wanted: impl Fn(bool) -> bool) -> Vec<BString> {
    let listed = shell.jobs.listed().filter(|job| wanted(job.status().is_none()));
    listed
        .map(|job| job.text.fields_with(char::is_whitespace).next().unwrap_or_default().into())
        .collect()
}

fn switches(family: &[Switch]) -> Vec<BString> {
    let mut names: Vec<BString> = family.iter().map(|switch| switch.name.into()).collect();
    names.sort_unstable();
    names
}

fn signals() -> Vec<BString> {
    let mut names = vec![BString::from("EXIT")];
    names.extend(signal_numbers().filter_map(signal_name).map(|name| format!("SIG{name}").into()));
    names.extend(["DEBUG", "ERR", "RETURN"].map(BString::from));
    names
}

/// File names as they would be typed: with the directory that the word already has.
fn files(shell: &Shell, word: &BStr, only_directories: bool) -> Vec<BString> {
    if word.starts_with(b"~") {
        return files_at_home(shell, word, only_directories);
    }
    let split = word.rfind_byte(b'/').map_or(0, |at| at + 1);
    let (directory, beginning) = word.split_at(split);
    let place = if directory.is_empty() { b"." } else { directory };
    let absolute = shell.absolute(place.as_bstr());
    let files = shell.host.files();
    let Ok(handle) = files.open_directory(absolute.as_bstr(), Follow::Yes) else {
        // What lies above the root is not there, the root itself is.
        let is_root = word == files.root();
        return if is_root { vec![word.into()] } else { Vec::new() };
    };
    let is_directory = |name: &BStr, kind: FileKind| match kind {
        FileKind::Directory => true,
        FileKind::Symlink => {
            handle.metadata(name, Follow::Yes).is_ok_and(|metadata| metadata.is_directory())
        }
        _ => false,
    };
    let mut names = Vec::new();
    for entry in handle.entries().unwrap_or_default() {
        let name = entry.name.as_bstr();
        if !name.starts_with(beginning) {
            continue;
        }
        if !only_directories || is_directory(name, entry.kind) {
            names.push(BString::from([directory, name].concat()));
        }
    }
    names.sort_unstable();
    names
}

/// `~/x` is completed to `~/xyz`: the tilde stays as it was typed.
fn files_at_home(shell: &Shell, word: &BStr, only_directories: bool) -> Vec<BString> {
    let end = word.find_byte(b'/').unwrap_or(word.len());
    let (prefix, rest) = word.split_at(end);
    let place = shell.expand_tilde(prefix.get(1..).unwrap_or_default().as_bstr());
    if place == prefix {
        return Vec::new();
    }
    let found = files(shell, BString::from([&*place, rest].concat()).as_bstr(), only_directories);
    let typed = found.iter().map(|name| {
        let below = name.strip_prefix(place.as_slice()).unwrap_or(name);
        BString::from([prefix, below].concat())
    });
    typed.collect()
}
