//! Real programs: what they are given, and what is said when they cannot run or are killed.

use std::io;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::signals::signal_description;
use crate::errno;
use crate::filesystem::Follow;
use crate::host::{Ended, Execution, Program};
use crate::shell::{SIGPIPE, Shell};
use crate::status::{ExitStatus, Running};

const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;

impl Shell {
    /// A real program, if there is one. Judged here, whichever way led to it.
    pub(super) fn run_real_program(&mut self, words: &[BString]) -> Running<Option<ExitStatus>> {
        let takes_over = std::mem::take(&mut self.transient.gives_way);
        let Some(name) = words.first().filter(|name| self.program_exists(name.as_bstr())) else {
            return Ok(None);
        };
        let clearance = self.judge(words, Execution::Program)?;
        let descriptors: Vec<_> =
            self.files.iter().map(|(number, file)| (number, Arc::clone(file))).collect();
        let environment = self.variables.environment();
        let mut argv = words.to_vec();
        if let (Some(first), Some(called)) = (argv.first_mut(), &self.transient.program_name) {
            first.clone_from(called);
        }
        let program = Program {
            name: name.as_bstr(),
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
            Some(Ended::NotRun(error)) => Some(self.say_not_run(name.as_bstr(), &error)),
            Some(Ended::Unable(reason)) => {
                self.complain(format!("{}: {reason}", name.to_str_lossy()));
                Some(ExitStatus(125))
            }
        })
    }

    /// A name that the host finds, or a file that is there.
    fn program_exists(&self, name: &BStr) -> bool {
        if self.host.find_program(name).is_some() {
            return true;
        }
        let path = self.absolute(name);
        name.contains(&b'/') && self.host.files().metadata(path.as_bstr(), Follow::Yes).is_ok()
    }

    /// As bash says it, and with its status.
    fn say_not_run(&self, name: &BStr, error: &io::Error) -> ExitStatus {
        let (problem, status) = if errno::is(error, errno::ENOENT) {
            match self.interpreter_of(name) {
                Some(interpreter) => {
                    let interpreter = interpreter.to_str_lossy().into_owned();
                    let problem = format!("{interpreter}: bad interpreter: {}", errno::text(error));
                    (problem, ExitStatus::REFUSED)
                }
                // It is there, but what would load it is not.
                None => ("cannot execute: required file not found".into(), ExitStatus::NOT_FOUND),
            }
        } else if errno::is(error, errno::ENOEXEC) {
            let problem = format!("cannot execute binary file: {}", errno::text(error));
            (problem, ExitStatus::REFUSED)
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
        let text = bstr::join(" ", words);
        let number = self.host.identity().process_id + self.control.process() + 1;
        let line = if self.options.command_string {
            String::new()
        } else {
            format!("line {}: ", self.line)
        };
        let name = self.error_name().to_str_lossy().into_owned();
        let mut message = format!("{name}: {line}{number} {what:<23} ").into_bytes();
        message.extend_from_slice(&text);
        message.push(b'\n');
        self.write_error(&message);
    }
}
