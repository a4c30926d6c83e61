//! Finding what a command name means.

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use crate::builtins::{self, Command, Run};
use crate::filesystem::{Access, Follow};
use crate::shell::{Function, Hashed, Shell};

/// What runs when a name is a command.
pub enum Found {
    Function(Arc<Function>),
    Builtin(&'static Command),
    /// Runs in process, but is a program to the script: found at this path.
    Tool(&'static Command, BString),
    /// A file of the project, or where it should be.
    File(BString),
    /// A real program.
    Program(BString),
    Nothing,
}

/// Builtins that are programs as well.
static ALSO_PROGRAMS: [&str; 8] = ["[", "echo", "false", "kill", "printf", "pwd", "test", "true"];

/// Where programs are; what is in them is known without looking.
static SYSTEM_DIRECTORIES: [&[u8]; 2] = [b"/usr/bin", b"/bin"];

impl Shell {
    /// In the order of bash: functions, builtins, `PATH`.
    pub fn find_command(&mut self, name: &BStr) -> Found {
        if self.options.posix
            && let Some(special) = self.find_builtin(name)
            && matches!(
                special.run,
                Run::Builtin { special: true, .. } | Run::Declaration { special: true, .. }
            )
        {
            return Found::Builtin(special);
        }
        if !self.functions.is_empty()
            && let Some(function) = self.functions.get::<[u8]>(name.as_ref())
        {
            return Found::Function(Arc::clone(function));
        }
        match self.find_builtin(name) {
            Some(command) => Found::Builtin(command),
            None => self.find_program(name),
        }
    }

    /// A builtin of bash that is not switched off.
    pub fn find_builtin(&self, name: &BStr) -> Option<&'static Command> {
        let command = builtins::find(name)?;
        let is_builtin = !matches!(command.run, Run::Tool(_));
        (is_builtin && !self.disabled.contains(command.name)).then_some(command)
    }

    /// What a program of this name would be: neither function nor builtin.
    pub fn find_program(&mut self, name: &BStr) -> Found {
        if is_path(name) {
            return self.found_at(name);
        }
        if name.is_empty() {
            return Found::Nothing;
        }
        self.renew_hash();
        if let Some(path) = self.hashed.get::<[u8]>(name.as_ref()).map(|hashed| hashed.path.clone())
        {
            // Counted only while no subshell shares the table: a copy would cost more than the count is worth.
            if let Some(table) = Arc::get_mut(&mut self.hashed)
                && let Some(hashed) = table.get_mut::<[u8]>(name.as_ref())
            {
                hashed.hits += 1;
            }
            return self.found_at(path.as_bstr());
        }
        match self.search_path(name) {
            Some(path) => self.found_at(path.as_bstr()),
            None => Found::Nothing,
        }
    }

    /// Would a program of this name run?
    pub fn is_program(&mut self, name: &BStr) -> bool {
        match self.find_program(name) {
            Found::Nothing => false,
            Found::File(path) => self.is_program_file(path.as_bstr()),
            _ => true,
        }
    }

    /// The first place in `PATH`; remembered, so that the next time costs nothing.
    fn search_path(&mut self, name: &BStr) -> Option<BString> {
        let path = self.search_path_each(name, true).into_iter().next()?;
        if self.options.hashall {
            let hashed = Hashed { path: path.clone(), hits: 1 };
            Arc::make_mut(&mut self.hashed).insert(name.into(), hashed);
        }
        Some(path)
    }

    /// Every place in `PATH` where the name is found, in order; with `first`, only the first.
    pub fn search_path_each(&self, name: &BStr, first: bool) -> Vec<BString> {
        let mut places = Vec::new();
        let mut not_executable = None;
        let Some(path) = self.scalar_of("PATH".into()) else { return places };
        for directory in path.split_str(b":") {
            let directory = if directory.is_empty() { b"." } else { directory };
            let candidate = join(directory, name);
            let is_here = match program_in_process(name) {
                Some(_) if SYSTEM_DIRECTORIES.contains(&directory) => true,
                Some(_) => self.is_program_file(candidate.as_bstr()),
                None => {
                    self.is_program_file(candidate.as_bstr())
                        || self.host.find_program(candidate.as_bstr()).is_some()
                }
            };
            if is_here {
                places.push(candidate);
                if first {
                    return places;
                }
            } else if first && not_executable.is_none() && self.is_file(candidate.as_bstr()) {
                not_executable = Some(candidate);
            }
        }
        // As bash does, for the sake of "Permission denied" instead of "command not found".
        if places.is_empty() {
            places.extend(not_executable);
        }
        places
    }

    fn is_file(&self, path: &BStr) -> bool {
        let path = self.absolute(path);
        let metadata = self.host.files().metadata(path.as_bstr(), Follow::Yes);
        metadata.is_ok_and(|metadata| metadata.is_file())
    }

    /// A path that could be run: a file of the project, a tool at its usual place.
    pub fn is_runnable(&self, path: &BStr) -> bool {
        match self.found_at(path) {
            Found::File(path) => self.is_program_file(path.as_bstr()),
            Found::Nothing => false,
            _ => true,
        }
    }

    fn is_program_file(&self, path: &BStr) -> bool {
        let absolute = self.absolute(path);
        self.is_file(path) && self.host.files().access(absolute.as_bstr(), Access::Execute).is_ok()
    }

    fn found_at(&self, path: &BStr) -> Found {
        let (directory, name) = split(path);
        if SYSTEM_DIRECTORIES.contains(&directory)
            && let Some(command) = program_in_process(name)
        {
            return Found::Tool(command, path.into());
        }
        let absolute = self.absolute(path);
        if self.host.files().metadata(absolute.as_bstr(), Follow::Yes).is_ok() {
            return Found::File(path.into());
        }
        // Also by a link of the project that leads to one: a Python environment is full of them.
        if self.host.find_program(absolute.as_bstr()).is_some() {
            return Found::Program(path.into());
        }
        // `$SHELL` of whoever started this. Any shell out there is this one, as in the first line of a script; whether there
        // is one makes no difference.
        if matches!(name, b"bash" | b"sh")
            && self.is_outside(absolute.as_bstr())
            && let Some(command) = program_in_process(name)
        {
            return Found::Tool(command, path.into());
        }
        Found::File(path.into())
    }

    /// Neither the project's nor in the private `/tmp`, whatever it is.
    fn is_outside(&self, absolute: &BStr) -> bool {
        let beneath = |directory: &[u8]| {
            let rest = absolute.strip_prefix(directory);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        !beneath(self.host.files().root()) && !beneath(b"/tmp") && !beneath(b"/dev")
    }

    /// What was found holds for the `PATH` it was found in.
    pub fn renew_hash(&mut self) {
        let path = self.variables.scalar("PATH");
        if self.transient.hashed_for.as_ref() == path {
            return;
        }
        self.transient.hashed_for = path.cloned();
        if !self.hashed.is_empty() {
            self.hashed = Arc::default();
        }
    }
}

/// Builtins of which there are programs as well.
pub fn is_program_too(name: &[u8]) -> bool {
    ALSO_PROGRAMS.iter().any(|program| program.as_bytes() == name)
}

/// A name with a slash is not looked up anywhere.
pub fn is_path(name: &BStr) -> bool {
    name.contains(&b'/')
}

/// A tool, or a builtin that is a program as well.
fn program_in_process(name: &[u8]) -> Option<&'static Command> {
    let command = builtins::find(name)?;
    let is_program = matches!(command.run, Run::Tool(_)) || ALSO_PROGRAMS.contains(&command.name);
    is_program.then_some(command)
}

fn join(directory: &[u8], name: &BStr) -> BString {
    let mut path = BString::from(directory);
    if !path.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

fn split(path: &BStr) -> (&[u8], &[u8]) {
    match path.rfind_byte(b'/') {
        Some(at) => (path.get(..at).unwrap_or_default(), path.get(at + 1..).unwrap_or_default()),
        None => (b"", path),
    }
}
