//! The one place where it is decided what runs: function, builtin, tool, or real program.

use std::sync::Arc;
use std::time::Instant;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::Redirect;

use super::{Found, is_program_too};
use crate::builtins::{self, Command, Context, DeclarationArgument, Run, ToolError, ToolFunction};
use crate::errno;
use crate::filesystem::{Access, Follow, OpenFile};
use crate::host::{Action, Clearance, Execution, Step};
use crate::long;
use crate::shell::{SIGPIPE, Shell};
use crate::status::{ExitStatus, Flow, Interrupt, Running, Stop};

impl Shell {
    /// Runs expanded words, the first of which is the command.
    pub(super) fn dispatch(&mut self, words: &[BString], redirects: &[Redirect]) -> Flow {
        let Some(name) = words.first() else { return Ok(ExitStatus::SUCCESS) };
        let found = self.find_command(name.as_bstr());
        // Only a program takes over: anything else may have more to do.
        self.transient.gives_way &= matches!(found, Found::File(_) | Found::Program(_));
        let began = self.host.records().then(Instant::now);
        let builtin = !matches!(found, Found::File(_) | Found::Program(_) | Found::Nothing);
        let flow = match found {
            Found::Function(function) => {
                let flow =
                    self.with_redirects(redirects, |shell| shell.call_function(&function, words));
                self.remember_argument(words);
                return flow;
            }
            Found::Builtin(command) if is_exec(command, words) => {
                self.run_exec(command, words, redirects)
            }
            Found::Builtin(command) => self.run_builtin(command, words, redirects),
            program => {
                if matches!(program, Found::Program(_) | Found::File(_)) && !redirects.is_empty() {
                    self.host.expect_program(words, self.directory.as_bstr());
                }
                self.transient.started_as = match &program {
                    Found::Tool(_, path) | Found::Program(path) => Some(path.clone()),
                    _ => None,
                };
                let flow = self
                    .with_redirects_of_program(redirects, |shell| shell.run_found(program, words));
                self.transient.started_as = None;
                self.child_ended();
                flow
            }
        };
        self.remember_argument(words);
        if let (Some(began), Ok(status)) = (began, &flow) {
            let (argv, status, duration) = (recorded(words), *status, began.elapsed());
            let rule = self.transient.rule.take();
            self.host.record(Step { argv, builtin, rule, status, duration });
        }
        flow
    }

    /// `$_`
    fn remember_argument(&mut self, words: &[BString]) {
        if let Some(last) = words.last() {
            self.last_argument.clear();
            // Of a request that is stopped nobody asks for it.
            let _stopped = long::extend(&mut self.last_argument, last);
        }
    }

    /// Is it allowed? What is refused ends the request.
    pub(super) fn judge(&mut self, words: &[BString], how: Execution) -> Running<Clearance> {
        let environment = match how {
            Execution::Program => self.variables.environment(),
            Execution::InProcess | Execution::Missing => Vec::new(),
        };
        let directory = self.directory.as_bstr();
        let action = Action::Run { argv: words, how, directory, environment: &environment };
        match self.host.judge(&action) {
            Ok(clearance) => {
                self.transient.rule = clearance.rule().cloned();
                Ok(clearance)
            }
            Err(refusal) => {
                // The stages beside this one end as well.
                self.control.stop(Stop::Refused(refusal.clone()));
                Err(Interrupt::Stopped(Stop::Refused(refusal)))
            }
        }
    }

    fn run_builtin(
        &mut self,
        command: &'static Command,
        words: &[BString],
        redirects: &[Redirect],
    ) -> Flow {
        if redirects.is_empty() {
            return self.invoke(command, words);
        }
        let special = matches!(command.run, Run::Builtin { special: true, .. });
        match self.redirect(redirects) {
            Ok(replaced) => {
                let flow = self.invoke(command, words);
                self.undo_redirects(replaced);
                flow
            }
            Err(failure) => {
                let status = self.redirect_failed(failure)?;
                if special && self.options.posix && !self.options.interactive {
                    return Err(Interrupt::Exit(status));
                }
                Ok(status)
            }
        }
    }

    /// The redirects of `exec` stay.
    fn run_exec(
        &mut self,
        command: &'static Command,
        words: &[BString],
        redirects: &[Redirect],
    ) -> Flow {
        match self.redirect(redirects) {
            Ok(_) => self.invoke(command, words),
            Err(failure) => {
                let status = self.redirect_failed(failure)?;
                let fatal = self.options.posix && !self.options.interactive;
                if fatal { Err(Interrupt::Exit(status)) } else { Ok(status) }
            }
        }
    }

    /// Runs a command of the table in this shell.
    pub(crate) fn invoke(&mut self, command: &'static Command, words: &[BString]) -> Flow {
        let clearance = self.judge(words, Execution::InProcess)?;
        self.run_cleared(command, words, clearance)
    }

    fn run_cleared(
        &mut self,
        command: &'static Command,
        words: &[BString],
        _clearance: Clearance,
    ) -> Flow {
        let rest = words.get(1..).unwrap_or_default();
        self.transient.output_failed.set(false);
        let status = match command.run {
            Run::Builtin { run, .. } => run(self, rest)?,
            Run::Declaration { run, .. } => {
                let arguments: Vec<_> =
                    rest.iter().cloned().map(DeclarationArgument::Word).collect();
                run(self, &arguments)?
            }
            Run::Tool(run) => self.run_tool(command, run, words)?,
        };
        let failed = self.transient.output_failed.take() && status.success();
        Ok(if failed { ExitStatus::FAILURE } else { status })
    }

    /// What a name with a program's meaning turned out to be.
    pub(crate) fn run_found(&mut self, found: Found, words: &[BString]) -> Flow {
        match found {
            Found::Function(function) => self.call_function(&function, words),
            Found::Builtin(command) => self.invoke(command, words),
            Found::Tool(command, _) if matches!(command.run, Run::Tool(_)) => {
                self.invoke(command, words)
            }
            Found::Tool(command, _) => self.run_in_subshell(|shell| shell.invoke(command, words)),
            Found::File(path) => self.run_file(path.as_bstr(), words),
            Found::Program(path) => match self.run_real_program(path.as_bstr(), words)? {
                Some(status) => Ok(status),
                None => self.not_found(words),
            },
            Found::Nothing => {
                self.judge(words, Execution::Missing)?;
                self.not_found(words)
            }
        }
    }

    /// As [`Shell::run_as_program`], with another name for the program to see as its own.
    pub(crate) fn run_as(
        &mut self,
        argv: &[BString],
        name: Option<BString>,
        environment: Option<Vec<(BString, BString)>>,
    ) -> Flow {
        self.transient.program_name = name;
        let flow = self.run_as_program(argv, None, environment);
        self.transient.program_name = None;
        flow
    }

    /// Words that are already expanded, as `xargs`, `env` and `find -exec` run them.
    pub fn run_as_program(
        &mut self,
        argv: &[BString],
        input: Option<Arc<dyn OpenFile>>,
        environment: Option<Vec<(BString, BString)>>,
    ) -> Flow {
        let Some(name) = argv.first() else { return Ok(ExitStatus::SUCCESS) };
        self.control.step()?;
        let mut shell = self.subshell();
        shell.transient.started_as = None;
        shell.functions = Arc::default();
        if let Some(environment) = environment {
            shell.replace_environment(environment);
        }
        if let Some(input) = input {
            shell.files.set(0, Some(input));
        }
        let found = match shell.find_program(name.as_bstr()) {
            // `env exit` finds nothing.
            Found::Nothing if is_program_too(name) => {
                shell.find_builtin(name.as_bstr()).map_or(Found::Nothing, Found::Builtin)
            }
            found => found,
        };
        shell.run_to_end(|shell| shell.run_found(found, argv))
    }

    fn run_tool(
        &mut self,
        command: &'static Command,
        run: ToolFunction,
        words: &[BString],
    ) -> Flow {
        let rest = words.get(1..).unwrap_or_default();
        if let Some(text) = builtins::tool_information(command, rest) {
            return self.print(command.name, text.as_bytes());
        }
        let mut context = Context::new(command.name, self);
        let ended = run(&mut context, rest);
        let flushed = context.output.flush();
        drop(context);
        match (ended, flushed) {
            (Ok(status), Ok(())) => Ok(status),
            (Ok(_), Err(error)) | (Err(error), _) => self.end_tool(command, words, error),
        }
    }

    /// A tool is a program to the script: what ends it does not end the shell, except the end of all.
    fn end_tool(&mut self, command: &Command, words: &[BString], error: ToolError) -> Flow {
        match error {
            ToolError::Unsupported(what) => self.run_unsupported(command, words, &what),
            ToolError::Usage(message, status) => {
                self.write_error(format!("{}: {message}\n", command.name).as_bytes());
                Ok(status)
            }
            ToolError::Output(error) => {
                self.control.check()?;
                if errno::is(&error, errno::EPIPE) && !self.control.ignores(SIGPIPE) {
                    return Ok(ExitStatus::BROKEN_PIPE);
                }
                let (message, status) = lost_output(command.name, &errno::text(&error));
                self.write_error(message.as_bytes());
                Ok(status)
            }
            ToolError::Interrupted(Interrupt::Killed(signal)) => {
                self.control.check()?;
                Ok(ExitStatus::from_signal(signal))
            }
            ToolError::Interrupted(interrupt) => Err(interrupt),
        }
    }

    /// The tool lacks what was asked for, and has done nothing yet: the real program, or a clear no.
    fn run_unsupported(&mut self, command: &Command, words: &[BString], what: &str) -> Flow {
        let program = words.first().cloned().unwrap_or_default();
        if let Some(status) = self.run_real_program(program.as_bstr(), words)? {
            return Ok(status);
        }
        let name = command.name;
        let message = match what.chars().count() {
            1 => format!("{name}: unsupported option -- '{what}'\n"),
            _ if what.starts_with("--") => format!("{name}: unsupported option '{what}'\n"),
            _ => format!("{name}: unsupported: {what}\n"),
        };
        self.write_error(message.as_bytes());
        Ok(ExitStatus::USAGE)
    }

    /// A file named by its path: a script, or a program that only the host can run.
    fn run_file(&mut self, path: &BStr, words: &[BString]) -> Flow {
        let absolute = self.absolute(path);
        let files = self.host.files();
        let problem = match files.metadata(absolute.as_bstr(), Follow::Yes) {
            Err(error) if errno::is(&error, errno::ENOENT) => Some((error, ExitStatus::NOT_FOUND)),
            Err(error) => Some((error, ExitStatus::REFUSED)),
            Ok(metadata) if metadata.is_directory() => {
                Some((errno::error(errno::EISDIR), ExitStatus::REFUSED))
            }
            Ok(_) => files
                .access(absolute.as_bstr(), Access::Execute)
                .err()
                .map(|error| (error, ExitStatus::REFUSED)),
        };
        if let Some((error, status)) = problem {
            let mut message = self.as_written(path).to_vec();
            message.extend_from_slice(format!(": {}", errno::text(&error)).as_bytes());
            self.complain(message);
            return Ok(status);
        }
        self.judge(words, Execution::InProcess)?;
        self.run_script_file(path, words)
    }

    fn not_found(&mut self, words: &[BString]) -> Flow {
        let handler = self.functions.get::<[u8]>(b"command_not_found_handle").cloned();
        if let Some(handler) = handler {
            let mut call = vec![BString::from("command_not_found_handle")];
            call.extend_from_slice(words);
            return self.run_in_subshell(|shell| shell.call_function(&handler, &call));
        }
        let mut message = words.first().map_or_else(Vec::new, |name| name.to_vec());
        message.extend_from_slice(b": command not found");
        if self.error_name() == "bash" {
            // The text of the specification, which has no line.
            message.push(b'\n');
            self.write_error(&[b"bash: ", message.as_slice()].concat());
        } else {
            self.complain(message);
        }
        Ok(ExitStatus::NOT_FOUND)
    }
}

/// `exec`, also as `command exec`.
fn is_exec(command: &Command, words: &[BString]) -> bool {
    match command.name {
        "exec" => true,
        "command" => words.get(1).is_some_and(|next| next == "exec"),
        _ => false,
    }
}

/// What a tool says, and its status, when standard output does not take what it writes.
fn lost_output(name: &str, problem: &str) -> (String, ExitStatus) {
    let message = match name {
        "find" => format!("find: 'standard output': {problem}\nfind: write error\n"),
        "sort" => format!("sort: fflush failed: 'standard output': {problem}\nsort: write error\n"),
        _ => format!("{name}: write error: {problem}\n"),
    };
    let status = match name {
        "grep" | "ls" | "sort" => ExitStatus::USAGE,
        "env" => ExitStatus(125),
        _ => ExitStatus::FAILURE,
    };
    (message, status)
}

/// A record keeps so many words of a command, and so much of each: nobody reads more, and whoever cancels waits for the copy.
const RECORDED_WORDS: usize = 1_000;
const RECORDED_BYTES: usize = 16 << 10;

fn recorded(words: &[BString]) -> Vec<BString> {
    let mut kept: Vec<BString> = words.iter().take(RECORDED_WORDS).map(shortened).collect();
    if words.len() > RECORDED_WORDS {
        kept.push(format!("[… {} words left out …]", words.len() - RECORDED_WORDS).into());
    }
    kept
}

fn shortened(word: &BString) -> BString {
    match word.get(..RECORDED_BYTES) {
        Some(head) if word.len() > RECORDED_BYTES => {
            let left_out = word.len() - RECORDED_BYTES;
            [head, format!("[… {left_out} bytes left out …]").as_bytes()].concat().into()
        }
        _ => word.clone(),
    }
}
