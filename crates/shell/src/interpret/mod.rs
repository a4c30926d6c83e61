//! Running the tree.
//!
//! `mod` reads texts and runs lists; each kind of command has a file of its own. [`dispatch`] is the one place
//! that chooses between function, builtin, tool and program.

mod compound;
mod conditional;
mod dispatch;
mod finish;
mod function;
mod jobs;
mod lookup;
mod pipeline;
pub(crate) mod pool;
mod program;
mod redirect;
mod script;
mod select;
mod signals;
mod simple;
mod subshell;
mod substitution;
mod texts;
mod time;
mod trace;
mod traps;

use std::cell::Cell;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{AndOr, AndOrOperator, Arithmetic, Command, CompoundKind, List};
use exacta_syntax::{Aliases, NoAliases, ParseOptions, Parser, SyntaxError};

pub use jobs::{Job, Jobs};
pub use lookup::{Found, is_path, is_program_too};
pub use signals::{signal_description, signal_name, signal_number, signal_numbers};
pub use traps::{Condition, Traps};

use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt, LimitKind, Running};
use crate::{control, history};

/// State that exists only while something runs: no part of a session.
#[derive(Clone, Default)]
pub struct Transient {
    /// The rule that cleared the last command.
    rule: Option<std::sync::Arc<str>>,
    /// Descriptors of `<(…)` and `>(…)` of commands that still run.
    substitutions: Vec<substitution::OpenSubstitution>,
    /// How often the first character of `PS4` is printed.
    trace_depth: u32,
    /// The command that failed did so because of a redirect: that counts for `set -e` whatever it is.
    redirect_failed: bool,
    /// Traps being run: `BASH_COMMAND` is the command they interrupted.
    traps_running: u32,
    /// While a trap runs: `$?` from before it, which a bare `exit` means.
    status_before_trap: Option<ExitStatus>,
    /// `set` has replaced the positional parameters: those of a sourced file's arguments stay.
    pub(crate) parameters_set: bool,
    /// `exec -a`: what the next program takes for its name.
    program_name: Option<BString>,
    /// An error is on its way to the script itself, past every `eval` and `source`.
    drops_texts: bool,
    /// The error being reported is one after which bash goes on even with `set -e`.
    mild: Cell<bool>,
    /// The builtin being run could not write its output: it fails, whatever else it did.
    pub(crate) output_failed: Cell<bool>,
    /// This shell is a subshell for one command only: if that is a `( … )`, it needs no other.
    sole: bool,
    /// This shell has only this one command to run: a program takes its place, and gets its signals.
    gives_way: bool,
    /// The DEBUG trap has already run for the next simple command: in the shell that started this stage.
    announced: bool,
    /// `eval` inside each other, for the words of syntax errors.
    pub(crate) evaluations: u32,
    /// The text being run mentions `BASH_COMMAND`: it is kept up to date.
    names_command: bool,
    /// Where the program being run was found, if the shell itself runs it: `_` in its environment.
    pub(crate) started_as: Option<BString>,
    /// The EXIT trap is running.
    exiting: bool,
    /// The loops being left fail: `break 0`.
    pub(crate) loop_failed: bool,
    /// Texts of this shell inside each other: 1 is the script itself.
    texts: u32,
    /// The `PATH` for which `Shell::hashed` holds.
    hashed_for: Option<BString>,
}

/// Stack that must be left before more is taken: tools, expansions and the parser at its deepest run on it too,
/// and the frames of a build without optimisation are three times as large.
const STACK_RESERVE: usize = if cfg!(debug_assertions) { 1536 << 10 } else { 512 << 10 };
const STACK_PIECE: usize = 4 << 20;

impl Shell {
    /// Runs a text as `eval`, `source`, `-c` and a script file do: command by command, as bash reads it.
    pub fn run_text(&mut self, text: &BStr, first_line: u32) -> Flow {
        self.run_text_after(text, first_line, ExitStatus::SUCCESS)
    }

    /// The same, with the status that a text without commands has.
    fn run_text_after(&mut self, text: &BStr, first_line: u32, before: ExitStatus) -> Flow {
        if let Some(path) = self.startup_file.take() {
            self.run_startup_file(path)?;
        }
        let mut entered = None;
        if self.depth == 0 {
            self.traps.tell(&self.control);
            entered = Some(control::enter(&self.control));
        }
        let names_command = self.transient.names_command;
        self.transient.names_command |= text.find(b"BASH_COMMAND").is_some();
        self.transient.texts += 1;
        let flow = self.nested(|shell| shell.run_commands(text, first_line, before));
        self.transient.texts = self.transient.texts.saturating_sub(1);
        self.transient.names_command = names_command;
        drop(entered);
        flow
    }

    fn run_commands(&mut self, text: &BStr, first_line: u32, before: ExitStatus) -> Flow {
        let mut parser = Parser::new(text, exacta_syntax::Limits::default()).at_line(first_line);
        let mut status = before;
        let mut shown = 0;
        loop {
            let parsed = self.parse_next(&mut parser);
            if self.options.verbose {
                self.show_read(text.get(shown..parser.consumed()).unwrap_or_default());
            }
            if self.options.history {
                self.remember_read(text.get(shown..parser.consumed()).unwrap_or_default());
            }
            shown = parser.consumed();
            let list = match parsed {
                Ok(Some(list)) => list,
                Ok(None) => return Ok(status),
                Err(error) => return self.refuse_text(text, first_line, &error),
            };
            match self.run_list(&list) {
                Ok(done) => status = done,
                Err(Interrupt::Discard(failed)) if self.ends_after_error() => {
                    return Err(Interrupt::Exit(failed));
                }
                Err(Interrupt::Discard(failed)) if self.goes_on_after_error() => {
                    status = failed;
                    self.set_status(failed);
                }
                Err(interrupt) => return Err(interrupt),
            }
        }
    }

    /// `set -v`: what was read, as it stands.
    fn show_read(&self, text: &[u8]) {
        self.write_error(text);
        if !text.is_empty() && !text.ends_with(b"\n") {
            self.write_error(b"\n");
        }
    }

    /// What the script itself consists of goes into the history; what it evaluates does not.
    fn remember_read(&mut self, text: &[u8]) {
        let is_script =
            self.transient.texts == 1 && !self.is_subshell() && !self.options.command_string;
        if is_script && self.transient.traps_running == 0 && !text.trim_ascii().is_empty() {
            self.remember_command(history::as_entry(text));
        }
    }

    /// With `set -e` an error that drops a command ends the shell, unless it was a mild one.
    fn ends_after_error(&self) -> bool {
        self.options.errexit && !self.transient.mild.take()
    }

    /// Drops the command because of `$((…))` or `${x:…}`: bash goes on even with `set -e`.
    pub(crate) fn discard_mildly(&self, status: ExitStatus) -> Interrupt {
        self.transient.mild.set(true);
        Interrupt::Discard(status)
    }

    /// `$((…))` in a word.
    pub(crate) fn evaluate_in_word(&mut self, arithmetic: &Arithmetic) -> Running<i64> {
        self.evaluate(arithmetic).map_err(|interrupt| match interrupt {
            Interrupt::Discard(status) => self.discard_mildly(status),
            other => other,
        })
    }

    /// After an error that drops a command, bash reads on where it was reading. A wrong use of `exit`, `break`
    /// and the like drops everything up to the script itself.
    fn goes_on_after_error(&mut self) -> bool {
        if self.is_subshell() {
            return false;
        }
        if !self.transient.drops_texts {
            return true;
        }
        let is_script = self.transient.texts == 1 && !self.options.command_string;
        if is_script {
            self.transient.drops_texts = false;
        }
        is_script
    }

    /// What wrong use of `exit`, `return`, `break`, `continue` and `shift` comes to.
    pub(crate) fn drop_all_texts(&mut self) -> Interrupt {
        self.transient.drops_texts = true;
        Interrupt::Discard(ExitStatus::FAILURE)
    }

    fn parse_next(&self, parser: &mut Parser<'_>) -> Result<Option<List>, SyntaxError> {
        let options = self.parse_options();
        let aliases: &dyn Aliases = if self.options.expand_aliases { self } else { &NoAliases };
        parser.next_command(options, aliases)
    }

    /// What the grammar depends on now.
    pub(crate) fn parse_options(&self) -> ParseOptions {
        ParseOptions { extglob: self.options.extglob, posix: self.options.posix }
    }

    /// A text that is no script: bash's message, the line it is about, and status 2.
    fn refuse_text(&mut self, text: &BStr, first_line: u32, error: &SyntaxError) -> Flow {
        self.line = error.span.line;
        let place = match self.frames.last() {
            _ if self.transient.evaluations > 0 => "eval: ",
            None if self.options.command_string => "-c: ",
            _ => "",
        };
        let prefix = format!("{}: {place}line {}: ", self.error_name(), self.line);
        for line in error.to_string().lines() {
            self.write_error(format!("{prefix}{line}\n").as_bytes());
        }
        if error.to_string().contains(" near ") {
            let line = text.lines().nth(self.line.saturating_sub(first_line) as usize);
            let mut quoted = format!("{prefix}`").into_bytes();
            quoted.extend_from_slice(line.unwrap_or_default());
            quoted.extend_from_slice(b"'\n");
            self.write_error(&quoted);
        }
        self.set_status(ExitStatus::USAGE);
        Ok(ExitStatus::USAGE)
    }

    pub fn run_list(&mut self, list: &List) -> Flow {
        let mut status = ExitStatus::SUCCESS;
        for item in &list.items {
            if self.options.noexec && !self.options.interactive {
                continue;
            }
            status = if item.background {
                self.start_job(&item.chain)?
            } else {
                self.run_chain(&item.chain)?
            };
        }
        Ok(status)
    }

    /// `a && b || c`: only the last that is run counts for `set -e`.
    fn run_chain(&mut self, chain: &AndOr) -> Flow {
        let Some(last) = chain.rest.len().checked_sub(1) else {
            return self.run_pipeline(&chain.first);
        };
        let mut status = self.as_condition(|shell| shell.run_pipeline(&chain.first))?;
        for (at, (operator, pipeline)) in chain.rest.iter().enumerate() {
            if status.success() != (*operator == AndOrOperator::And) {
                continue;
            }
            status = if at == last {
                self.run_pipeline(pipeline)?
            } else {
                self.as_condition(|shell| shell.run_pipeline(pipeline))?
            };
        }
        Ok(status)
    }

    fn run_command(&mut self, command: &Command) -> Flow {
        match command {
            Command::Simple(simple) => self.run_simple(simple),
            Command::Compound(compound) => self.run_compound(compound),
            Command::Function(definition) => self.define_function(definition),
        }
    }

    /// Runs something whose failure is expected: conditions, what stands before `&&`, what follows `!`.
    fn as_condition<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.tested, true);
        let result = run(self);
        self.tested = before;
        result
    }

    /// One level deeper, as far as the limit and the stack allow.
    pub(crate) fn nested(&mut self, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        let limit = self.control.limits.recursion;
        if self.depth >= limit {
            let stop = self.control.exceeded(LimitKind::Recursion, u64::from(limit));
            return Err(Interrupt::Stopped(stop));
        }
        self.depth += 1;
        let flow = if self.depth == 1 && self.roomy {
            run(self)
        } else {
            stacker::maybe_grow(STACK_RESERVE, STACK_PIECE, || run(self))
        };
        self.depth -= 1;
        flow
    }

    /// A text is being run, not only prepared.
    pub(crate) fn runs_script(&self) -> bool {
        self.transient.texts > 0
    }

    /// A process of its own: `exit` and errors end it, and nothing of it is left.
    fn is_subshell(&self) -> bool {
        self.control.process() != self.shell_process
    }

    fn set_status(&mut self, status: ExitStatus) {
        self.status = status;
        self.pipe_status.clear();
        self.pipe_status.push(status);
    }

    /// Before every command: the request may be over, or a signal may wait for its trap.
    fn step(&mut self) -> Running<()> {
        self.control.step()?;
        if self.control.has_pending() { self.run_pending_traps() } else { Ok(()) }
    }
}

impl Aliases for Shell {
    fn alias(&self, name: &BStr) -> Option<BString> {
        self.aliases.get::<[u8]>(name.as_ref()).cloned()
    }

    fn any(&self) -> bool {
        !self.aliases.is_empty()
    }
}

/// Does `set -e` look at the status of this command itself? Of a group or loop it has looked at the parts.
fn counts_for_errexit(command: &Command) -> bool {
    match command {
        Command::Simple(_) => true,
        Command::Compound(compound) => matches!(
            compound.kind,
            CompoundKind::Subshell(_) | CompoundKind::Arithmetic(_) | CompoundKind::Conditional(_)
        ),
        Command::Function(_) => false,
    }
}

fn is_subshell(command: &Command) -> bool {
    matches!(
        command,
        Command::Compound(compound) if matches!(compound.kind, CompoundKind::Subshell(_))
    )
}
