//! Real programs: what they are given, and what is said when they cannot run or are killed.

use std::io;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::lookup::is_path;
use super::signals::signal_description;
use crate::errno;
use crate::filesystem::Follow;
use crate::host::{Ended, Execution, Program};
use crate::shell::{SIGPIPE, Shell};
use crate::status::{ExitStatus, Running};

const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;

impl Shell {
    /// A real program, if there is one: a name, or where it was found. Judged here, whichever way led to it.
    pub(super) fn run_real_program(
        &mut self,
        name: &BStr,
        words: &[BString],
    ) -> Running<Option<ExitStatus>> {
        let takes_over = std::mem::take(&mut self.transient.gives_way);
        if !self.program_exists(name) {
            return Ok(None);
        }
        let clearance = self.judge(words, Execution::Program)?;
        let descriptors: Vec<_> =
            self.files.iter().map(|(number, file)| (number, Arc::clone(file))).collect();
        let mut environment = self.variables.environment();
        if let Some(path) = self.transient.started_as.take() {
            let path =
                if is_path(path.as_bstr()) { Some(path) } else { self.host.find_program(name) };
            environment.retain(|(name, _)| name != "_");
            environment.extend(path.map(|path| (BString::from("_"), path)));
        }
        let mut argv = words.to_vec();
        if let (Some(first), Some(called)) = (argv.first_mut(), &self.transient.program_name) {
            first.clone_from(called);
        }
        let program = Program {
            name,
            argv: &argv,
            environment: &environment,
            directory: self.directory.as_bstr(),
            descriptors: &descriptors,
            file_mode_mask: self.umask,
            control: &self.control,
            takes_over,
        };
        let ended = self.host.run_program(&program, clearance);
        drop(descriptors);
        self.control.check()?;
        Ok(match ended {
            None => None,
            Some(Ended::Exited(status)) => Some(status),
            Some(Ended::Signalled(signal)) => {
                if !takes_over {
                    self.say_killed(words, signal);
                }
                Some(ExitStatus::from_signal(signal))
            }
            Some(Ended::NotRun(error)) => Some(self.say_not_run(name, &error)),
            Some(Ended::Unable(reason)) => {
                self.complain(format!("{}: {reason}", name.to_str_lossy()));
                Some(ExitStatus(125))
            }
        })
    }

    /// A name that the host finds, or a file that is there.
    fn program_exists(&self, name: &BStr) -> bool {
        if !is_path(name) {
            return self.host.find_program(name).is_some();
        }
        let path = self.absolute(name);
        self.host.files().metadata(path.as_bstr(), Follow::Yes).is_ok()
            || self.host.find_program(path.as_bstr()).is_some()
    }

    /// As bash says it, and with its status.
    fn say_not_run(&self, name: &BStr, error: &io::Error) -> ExitStatus {
        let (problem, status) = if errno::is(error, errno::ENOENT) {
            // It is there, but what its first line names or what would load it is not.
            ("cannot execute: required file not found".into(), ExitStatus::NOT_FOUND)
        } else if errno::is(error, errno::ENOEXEC) {
            let problem = format!("cannot execute binary file: {}", errno::text(error));
            (problem, ExitStatus::REFUSED)
        } else if let Some(interpreter) = self.interpreter_of(name).filter(|_| !is_size(error)) {
            // The one message that has no line.
            let mut message = bstr::join(": ", [self.error_name(), self.as_written(name)]);
            message.extend_from_slice(b": ");
            message.extend_from_slice(&interpreter);
            let problem = format!(": bad interpreter: {}\n", errno::text(error));
            message.extend_from_slice(problem.as_bytes());
            self.write_error(&message);
            return ExitStatus::REFUSED;
        } else {
            (errno::text(error), ExitStatus::REFUSED)
        };
        let mut message = self.as_written(name).to_vec();
        message.extend_from_slice(format!(": {problem}").as_bytes());
        self.complain(message);
        status
    }

    /// A program that a signal has ended is announced, as bash does where nobody types.
    fn say_killed(&self, words: &[BString], signal: i32) {
        if matches!(signal, SIGINT | SIGPIPE) {
            return;
        }
        let what = signal_description(signal);
        if signal == SIGTERM && self.options.command_string {
            self.write_error(format!("{what}\n").as_bytes());
            return;
        }
        let text = bstr::join(" ", words.iter().map(as_typed));
        let number = self.host.identity().process_id + self.control.process() + 1;
        let (name, line) = (self.error_name().to_str_lossy().into_owned(), self.line);
        let mut message = format!("{name}: line {line}: {number:>5} {what:<23} ").into_bytes();
        message.extend_from_slice(&text);
        message.push(b'\n');
        self.write_error(&message);
    }
}

/// What has to do with the words, not with the file.
fn is_size(error: &io::Error) -> bool {
    errno::is(error, errno::E2BIG) || errno::is(error, errno::ENOMEM)
}

/// A word as it could have been typed.
fn as_typed(word: &BString) -> BString {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./,:=@%+".contains(byte);
    if !word.is_empty() && word.iter().all(plain) {
        return word.clone();
    }
    [b"'", word.replace("'", r"'\''").as_slice(), b"'"].concat().into()
}
