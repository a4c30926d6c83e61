//! Scripts as programs: a shell of their own, with nothing but the environment of this one.

use std::io;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use crate::errno;
use crate::filesystem::{OpenFile, OpenOptions};
use crate::options::{SHOPT_SWITCHES, Switch};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};
use crate::variables::{Attributes, Value, Variable};

impl Shell {
    /// A new shell process: exported variables and functions, open files, directory and umask are all it gets.
    pub(crate) fn fresh_shell(&self, name: &BStr, arguments: &[BString]) -> Shell {
        let mut shell = Shell::new(Arc::clone(&self.host), &self.variables.environment());
        shell.control = self.control.child();
        shell.shell_process = shell.control.process();
        if self.variables.get("HOME".into()).is_none_or(|home| !home.attributes.exported) {
            shell.variables.remove("HOME".into());
        }
        shell.files = self.files.clone();
        shell.directory.clone_from(&self.directory);
        shell.variables.set("PWD", self.directory.clone());
        shell.inherit_switches(self);
        shell.umask = self.umask;
        shell.resources = Arc::clone(&self.resources);
        shell.depth = self.depth;
        shell.name = self.transient.program_name.clone().unwrap_or_else(|| name.into());
        shell.last_argument = shell.name.clone();
        shell.positional = Arc::new(arguments.to_vec().into());
        let exported = self.functions.iter().filter(|(_, function)| function.exported);
        let exported = exported.map(|(name, function)| (name.clone(), Arc::clone(function)));
        shell.functions = Arc::new(exported.collect());
        shell.traps = self.traps.ignored_only();
        shell
    }

    /// `export SHELLOPTS`: switches that are on in the shell around are on here.
    fn inherit_switches(&mut self, outer: &Shell) {
        let exported = |name: &str| {
            outer.variables.get(name.into()).is_some_and(|found| found.attributes.exported)
        };
        if exported("SHELLOPTS") {
            for name in outer.options.shellopts().split(':') {
                self.options.set_named(name.as_bytes(), true);
            }
        }
        if exported("BASHOPTS") {
            let names = outer.options.bashopts();
            let on = |switch: &&Switch| names.split(':').any(|name| name == switch.name);
            for switch in SHOPT_SWITCHES.iter().filter(on) {
                (switch.set)(&mut self.options, true);
            }
        }
    }

    /// Runs a text in a fresh shell to its end.
    pub(crate) fn run_fresh(&mut self, mut shell: Shell, text: &BStr) -> Flow {
        let ended = shell.run_to_end(|shell| shell.run_text(text, 1));
        self.control.check()?;
        ended
    }

    /// A fresh shell that reads its script from standard input, no further than needed.
    pub(crate) fn run_fresh_from_input(
        &mut self,
        name: BString,
        arguments: &[BString],
        configure: impl FnOnce(&mut Shell),
    ) -> Flow {
        let mut shell = self.fresh_shell(name.as_bstr(), arguments);
        configure(&mut shell);
        let ended = shell.run_to_end(Shell::run_input);
        self.control.check()?;
        ended
    }

    /// An executable file of the project: a script of the shell's own language runs here, anything else only if
    /// the host can.
    pub(super) fn run_script_file(&mut self, path: &BStr, words: &[BString]) -> Flow {
        let mut text = Vec::new();
        let read = self.open(path, OpenOptions::reading()).and_then(|file| {
            let whole = read_beginning(&*file, &mut text)?;
            let kind = interpreter(&text);
            // A program may be large, and is nothing to read.
            if let (Interpreter::Shell(_), false) = (&kind, whole) {
                file.read_within(&self.control, &mut text)?;
            }
            Ok(kind)
        });
        let kind = match read {
            Ok(kind) => kind,
            Err(error) => {
                self.control.check()?;
                return Ok(self.cannot_run(path, &errno::text(&error)));
            }
        };
        let arguments = words.get(1..).unwrap_or_default();
        match kind {
            Interpreter::Shell(options) => {
                let mut shell = self.fresh_shell(path, arguments);
                shell.script = path.into();
                for letter in options {
                    shell.options.set_letter(letter, true);
                }
                self.run_fresh(shell, text.as_bstr())
            }
            Interpreter::Other(program) => {
                let program = program.to_str_lossy();
                let problem = format!("{program}: bad interpreter: No such file or directory");
                self.run_elsewhere(path, words, &problem)
            }
            Interpreter::Binary => {
                self.run_elsewhere(path, words, "cannot execute binary file: Exec format error")
            }
        }
    }

    /// What the first line of a file of the project names.
    pub(super) fn interpreter_of(&self, name: &BStr) -> Option<BString> {
        let file = self.host.files().open(self.absolute(name).as_bstr(), OpenOptions::reading());
        let mut beginning = [0; 256];
        let count = file.ok()?.read(&mut beginning).ok()?;
        let line = beginning.get(..count)?.lines().next()?.strip_prefix(b"#!")?;
        line.fields_with(char::is_whitespace).next().map(BString::from)
    }

    /// By the host, if it can.
    fn run_elsewhere(&mut self, path: &BStr, words: &[BString], problem: &str) -> Flow {
        match self.run_real_program(path, words)? {
            Some(status) => Ok(status),
            None => Ok(self.cannot_run(path, problem)),
        }
    }

    fn cannot_run(&self, path: &BStr, problem: &str) -> ExitStatus {
        let mut message = self.as_written(path).to_vec();
        message.extend_from_slice(format!(": {problem}").as_bytes());
        self.complain(message);
        ExitStatus::REFUSED
    }

    /// The environment a program is given: all exported variables are these from now on.
    pub(super) fn replace_environment(&mut self, environment: Vec<(BString, BString)>) {
        for name in self.variables.names() {
            if let Some(variable) = self.variables.get_mut(name.as_bstr()) {
                variable.attributes.exported = false;
            }
        }
        for (name, value) in environment {
            let attributes = Attributes { exported: true, ..Attributes::default() };
            *self.variables.get_or_create(name.as_bstr()) =
                Variable { value: Some(Value::Scalar(value)), attributes };
        }
    }
}

enum Interpreter {
    /// With the option letters of the first line (`#!/bin/sh -e`).
    Shell(Vec<u8>),
    Other(BString),
    Binary,
}

/// As much of a file as tells who runs it. `true`: there is no more.
fn read_beginning(file: &dyn OpenFile, text: &mut Vec<u8>) -> io::Result<bool> {
    let mut beginning = [0; 4096];
    while text.len() < beginning.len() {
        match file.read(&mut beginning)? {
            0 => return Ok(true),
            count => text.extend_from_slice(beginning.get(..count).unwrap_or_default()),
        }
    }
    Ok(false)
}

/// What the beginning of a file says about who runs it.
fn interpreter(text: &[u8]) -> Interpreter {
    let first = text.lines().next().unwrap_or_default();
    let Some(line) = first.strip_prefix(b"#!") else {
        let is_binary = first.contains(&0);
        return if is_binary { Interpreter::Binary } else { Interpreter::Shell(Vec::new()) };
    };
    let mut words = line.fields_with(char::is_whitespace);
    let mut program = words.next().unwrap_or_default();
    if base_name(program) == b"env" {
        program = words.find(|word| !word.starts_with(b"-")).unwrap_or_default();
    }
    if !matches!(base_name(program), b"sh" | b"bash" | b"dash") {
        return Interpreter::Other(program.into());
    }
    let options = words.next().and_then(|word| word.strip_prefix(b"-")).unwrap_or_default();
    Interpreter::Shell(options.to_vec())
}

fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit_str(b"/").next().unwrap_or_default()
}
