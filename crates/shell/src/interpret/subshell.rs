//! Subshells: a copy of the shell that is a process of its own to the script.

use super::Condition;
use crate::control;
use crate::shell::{SIGCHLD, Shell};
use crate::status::{ExitStatus, Flow, Interrupt};

impl Shell {
    /// A copy for `( … )`, `$(…)`, a stage or a job: what it changes is gone with it.
    pub(super) fn subshell(&self) -> Shell {
        let mut copy = self.clone();
        copy.control = self.control.child();
        copy.subshell_level += 1;
        // `$RANDOM` is seeded anew when it is asked for: two subshells must not see the same numbers.
        copy.random.set(0);
        copy.loop_depth = 0;
        copy.transient.substitutions.clear();
        copy.transient.gives_way = false;
        copy.jobs.enter_subshell();
        copy.traps.enter_subshell(&copy.options);
        copy.options.monitor = false;
        copy.options.interactive = false;
        copy
    }

    /// `( … )`: on this thread, since the shell waits for it anyway.
    pub(super) fn run_in_subshell(&mut self, run: impl FnOnce(&mut Shell) -> Flow) -> Flow {
        let mut copy = self.subshell();
        let status = copy.run_to_end(run)?;
        self.child_ended();
        Ok(status)
    }

    /// Runs this copy as a process of its own, to its end.
    pub(super) fn run_to_end(&mut self, run: impl FnOnce(&mut Shell) -> Flow) -> Flow {
        let _entered = control::enter(&self.control);
        let flow = self.nested(run);
        self.end_subshell(flow)
    }

    /// What a program or subshell does to its parent when it ends.
    pub(super) fn child_ended(&self) {
        if self.traps.get(Condition::Signal(SIGCHLD)).is_some() {
            self.control.deliver(SIGCHLD);
        }
    }

    /// The status of a subshell that came to its end in whatever way; only what ends the request goes on.
    fn end_subshell(&mut self, flow: Flow) -> Flow {
        let status = self.status_of(flow)?;
        let status = self.run_exit_trap(status)?;
        if !self.is_subshell() {
            self.save_history();
        }
        self.files.close_all();
        Ok(status)
    }

    /// Where a process ends, every way out becomes a status.
    pub(super) fn status_of(&mut self, flow: Flow) -> Flow {
        Ok(match flow {
            Ok(status)
            | Err(
                Interrupt::Exit(status) | Interrupt::Return(status) | Interrupt::Discard(status),
            ) => status,
            Err(Interrupt::Break(_) | Interrupt::Continue(_)) => ExitStatus::SUCCESS,
            Err(Interrupt::Killed(signal)) => {
                let _ = self.control.take_killed();
                ExitStatus::from_signal(signal)
            }
            Err(Interrupt::Stopped(stop)) => return Err(Interrupt::Stopped(stop)),
        })
    }

    /// The EXIT trap of this very process, once.
    pub(super) fn run_exit_trap(&mut self, status: ExitStatus) -> Flow {
        let Some(action) = self.traps.take(Condition::Exit) else { return Ok(status) };
        self.status = status;
        self.tested = false;
        self.loop_depth = 0;
        self.transient.exiting = true;
        let ran = self.run_trap_untraced(&action);
        self.transient.exiting = false;
        match ran {
            Err(Interrupt::Exit(changed)) => Ok(changed),
            Err(Interrupt::Stopped(stop)) => Err(Interrupt::Stopped(stop)),
            _ => Ok(status),
        }
    }
}
