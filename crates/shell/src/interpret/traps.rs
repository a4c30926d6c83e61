//! Traps: what runs at the end, on errors, before commands, after functions and on signals.

use std::collections::BTreeMap;
use std::sync::Arc;

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{Command, CompoundKind};

use super::{signal_name, signal_number};
use crate::control::{Control, Disposition};
use crate::options::Options;
use crate::shell::Shell;
use crate::status::{Flow, Interrupt, Running};

/// What a trap waits for. The order is that of `trap -p`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    Exit,
    Signal(i32),
    Debug,
    Error,
    Return,
}

impl Condition {
    /// `EXIT`, `0`, `int`, `SIGINT`, `2`.
    pub fn parse(name: &[u8]) -> Option<Condition> {
        if let Some(number) = name.to_str().ok().and_then(|name| name.parse::<i32>().ok()) {
            return match number {
                0 => Some(Condition::Exit),
                number => signal_name(number).map(|_| Condition::Signal(number)),
            };
        }
        let upper = name.to_ascii_uppercase();
        match upper.as_slice() {
            b"EXIT" => Some(Condition::Exit),
            b"DEBUG" => Some(Condition::Debug),
            b"ERR" => Some(Condition::Error),
            b"RETURN" => Some(Condition::Return),
            other => {
                let name = other.strip_prefix(b"SIG").unwrap_or(other);
                signal_number(name).map(Condition::Signal)
            }
        }
    }

    /// As `trap -p` prints it.
    pub fn name(self) -> String {
        match self {
            Condition::Exit => "EXIT".into(),
            Condition::Debug => "DEBUG".into(),
            Condition::Error => "ERR".into(),
            Condition::Return => "RETURN".into(),
            Condition::Signal(number) => {
                format!("SIG{}", signal_name(number).unwrap_or_else(|| number.to_string()))
            }
        }
    }
}

type Table = Arc<BTreeMap<Condition, BString>>;

#[derive(Clone, Default)]
pub struct Traps {
    /// An empty action: the signal is ignored.
    table: Table,
    /// In a subshell that has set no trap yet: those of its parent, which `trap` still shows.
    inherited: Option<Table>,
    /// Traps that are running now: DEBUG and ERR do not interrupt themselves.
    running_debug: bool,
    running_error: bool,
    running_return: bool,
    /// A trap asks for `BASH_COMMAND`: it is kept up to date.
    pub(super) names_command: bool,
}

impl Traps {
    pub fn get(&self, condition: Condition) -> Option<&BString> {
        if self.table.is_empty() { None } else { self.table.get(&condition) }
    }

    /// What `trap -p` shows.
    pub fn shown(&self) -> &BTreeMap<Condition, BString> {
        self.inherited.as_ref().unwrap_or(&self.table)
    }

    /// A request of a session has a control of its own, which must know the traps set before.
    pub(super) fn tell(&self, control: &Control) {
        for (condition, action) in self.table.iter() {
            if let Condition::Signal(signal) = condition {
                let ignored = action.is_empty();
                control.set_disposition(
                    *signal,
                    if ignored { Disposition::Ignored } else { Disposition::Trapped },
                );
            }
        }
    }

    /// Sets, ignores (empty) or (with `None`) resets; those who deliver signals are told.
    pub fn set(&mut self, condition: Condition, action: Option<BString>, control: &Control) {
        self.inherited = None;
        if let Condition::Signal(signal) = condition {
            let disposition = match &action {
                None => Disposition::Default,
                Some(action) if action.is_empty() => Disposition::Ignored,
                Some(_) => Disposition::Trapped,
            };
            control.set_disposition(signal, disposition);
        }
        let names = |action: &BString| action.find(b"BASH_COMMAND").is_some();
        self.names_command |= action.as_ref().is_some_and(names);
        let table = Arc::make_mut(&mut self.table);
        match action {
            Some(action) => table.insert(condition, action),
            None => table.remove(&condition),
        };
    }

    /// What a program inherits: signals that are ignored.
    pub(super) fn ignored_only(&self) -> Traps {
        let ignored = self.table.iter().filter(|(condition, action)| {
            matches!(condition, Condition::Signal(_)) && action.is_empty()
        });
        let table = ignored.map(|(condition, action)| (*condition, action.clone())).collect();
        Traps { table: Arc::new(table), ..Traps::default() }
    }

    /// A `<(…)` does not show those of the shell around it.
    pub(super) fn forget_inherited(&mut self) {
        self.inherited = None;
    }

    pub(super) fn take(&mut self, condition: Condition) -> Option<BString> {
        self.get(condition)?;
        Arc::make_mut(&mut self.table).remove(&condition)
    }

    /// A `( … )` that is a stage runs the ERR trap of the shell around it.
    pub(super) fn keep_error(&mut self, outer: &Traps) {
        self.put_back(Condition::Error, outer.get(Condition::Error).cloned());
    }

    fn put_back(&mut self, condition: Condition, action: Option<BString>) {
        if let Some(action) = action
            && self.get(condition).is_none()
        {
            Arc::make_mut(&mut self.table).insert(condition, action);
        }
    }

    /// Ignored signals stay ignored, `errtrace` and `functrace` hand theirs down, everything else is reset.
    pub(super) fn enter_subshell(&mut self, options: &Options) {
        if self.table.is_empty() {
            return;
        }
        if self.inherited.is_none() {
            self.inherited = Some(Arc::clone(&self.table));
        }
        let stays = |condition: &Condition, action: &BString| match condition {
            Condition::Exit => false,
            Condition::Signal(_) => action.is_empty(),
            Condition::Debug | Condition::Return => options.functrace,
            Condition::Error => options.errtrace,
        };
        Arc::make_mut(&mut self.table).retain(|condition, action| stays(condition, action));
    }
}

/// Traps that a function does not inherit, to come back when it ends.
#[derive(Default)]
pub(super) struct Hidden {
    debug: Option<BString>,
    error: Option<BString>,
    returning: Option<BString>,
}

impl Shell {
    /// Functions and sourced files run without DEBUG, ERR and RETURN unless they are traced.
    pub(super) fn hide_traps(&mut self, function: bool) -> Hidden {
        let mut hidden = Hidden::default();
        if self.traps.table.is_empty() {
            return hidden;
        }
        if !self.options.functrace {
            hidden.debug = self.traps.take(Condition::Debug);
            if function {
                hidden.returning = self.traps.take(Condition::Return);
            }
        }
        if !self.options.errtrace && function {
            hidden.error = self.traps.take(Condition::Error);
        }
        hidden
    }

    pub(super) fn show_traps(&mut self, hidden: Hidden) {
        self.traps.put_back(Condition::Debug, hidden.debug);
        self.traps.put_back(Condition::Error, hidden.error);
        self.traps.put_back(Condition::Return, hidden.returning);
    }

    /// Runs an action with `$?` as it is; afterwards `$?` is again what it was.
    pub(super) fn run_trap_text(&mut self, action: &BString) -> Running<()> {
        self.transient.trace_depth += 1;
        let ran = self.run_trap_untraced(action);
        self.transient.trace_depth -= 1;
        ran
    }

    /// The same for the EXIT trap, which is no deeper than the script.
    pub(super) fn run_trap_untraced(&mut self, action: &BString) -> Running<()> {
        let (status, line) = (self.status, self.line);
        let pipe_status = self.pipe_status.clone();
        let last_argument = self.last_argument.clone();
        let outer = self.transient.status_before_trap.replace(status);
        self.transient.traps_running += 1;
        let flow = self.run_text(action.as_bstr(), line.max(1));
        self.transient.traps_running -= 1;
        self.transient.status_before_trap = outer;
        self.line = line;
        self.last_argument = last_argument;
        match flow {
            Ok(_) => {
                self.status = status;
                self.pipe_status = pipe_status;
                Ok(())
            }
            Err(interrupt) => Err(interrupt),
        }
    }

    /// As `exec` does: nothing of this shell runs any more.
    pub(crate) fn forget_traps(&mut self) {
        self.traps = self.traps.ignored_only();
    }

    /// Signals that arrived meanwhile.
    pub(super) fn run_pending_traps(&mut self) -> Running<()> {
        while let Some(signal) = self.control.take_pending() {
            if let Some(action) = self.traps.get(Condition::Signal(signal)).cloned() {
                // Bash counts the lines of these actions from 1.
                let line = std::mem::replace(&mut self.line, 1);
                let ran = self.run_trap_text(&action);
                self.line = line;
                ran?;
            }
        }
        Ok(())
    }

    pub(super) fn run_error_trap(&mut self, command: &Command) -> Running<()> {
        if self.traps.running_error {
            return Ok(());
        }
        let Some(action) = self.traps.get(Condition::Error).cloned() else { return Ok(()) };
        match command {
            Command::Simple(simple) => self.line = simple.span.line,
            Command::Compound(compound) if matches!(compound.kind, CompoundKind::Subshell(_)) => {
                self.line = compound.span.line;
            }
            _ => {}
        }
        self.command_text = exacta_syntax::print_command(command);
        self.traps.running_error = true;
        let ran = self.run_trap_text(&action);
        self.traps.running_error = false;
        ran
    }

    /// Before a command. With `extdebug`, a failing trap makes bash skip the command: `Ok(false)`.
    pub(super) fn run_debug_trap(&mut self, text: impl FnOnce() -> BString) -> Running<bool> {
        if self.traps.running_debug {
            return Ok(true);
        }
        let Some(action) = self.traps.get(Condition::Debug).cloned() else { return Ok(true) };
        self.command_text = text();
        self.traps.running_debug = true;
        let before = (self.status, self.pipe_status.clone());
        let line = self.line;
        self.transient.traps_running += 1;
        self.transient.trace_depth += 1;
        let flow = self.run_text(action.as_bstr(), line);
        self.transient.trace_depth -= 1;
        self.transient.traps_running -= 1;
        self.traps.running_debug = false;
        self.line = line;
        let status = flow?;
        (self.status, self.pipe_status) = before;
        if !self.options.extdebug || status.success() {
            return Ok(true);
        }
        if status.0 == 2 && !self.frames.is_empty() {
            return Err(Interrupt::Return(self.status));
        }
        Ok(false)
    }

    /// When a function or a sourced file ends.
    pub(super) fn run_return_trap(&mut self, flow: Flow) -> Flow {
        if self.traps.running_return || self.traps.get(Condition::Return).is_none() {
            return flow;
        }
        // After `return 3` the trap still sees the status of the command before it.
        match flow {
            Ok(status) => self.status = status,
            Err(Interrupt::Return(_)) => {}
            Err(_) => return flow,
        }
        let Some(action) = self.traps.get(Condition::Return).cloned() else { return flow };
        self.traps.running_return = true;
        let ran = self.run_trap_text(&action);
        self.traps.running_return = false;
        ran?;
        flow
    }
}
