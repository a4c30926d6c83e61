//! The end of a request.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::files::FileTable;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt, LimitKind, Stop};

/// How long readers of `>(…)` get to finish once their input has ended.
const GRACE: Duration = Duration::from_secs(2);

impl Shell {
    /// The end of a shell: its EXIT trap, its jobs, and what the way out means as a status.
    pub fn finish(&mut self, flow: Flow) -> ExitStatus {
        let ended = match self.status_of(flow) {
            Ok(status) => self.run_exit_trap(status),
            stopped => stopped,
        };
        if ended.is_ok() && !self.is_subshell() {
            self.save_history();
        }
        self.end(ended)
    }

    /// The end of a request in a session that goes on: as [`Shell::finish`], without the EXIT trap.
    pub fn end_request(&mut self, flow: Flow) -> ExitStatus {
        let ended = self.status_of(flow);
        let status = self.end(ended);
        self.set_status(status);
        status
    }

    fn end(&mut self, ended: Flow) -> ExitStatus {
        let status = match ended {
            Ok(status) => status,
            Err(Interrupt::Stopped(stop)) => self.report(&stop),
            Err(_) => ExitStatus::FAILURE,
        };
        self.reset_position();
        self.end_processes();
        status
    }

    /// Jobs do not outlive the request that started them; what only waits for the end of its input may finish.
    fn end_processes(&mut self) {
        self.transient.substitutions.clear();
        if self.control.running() > 0 {
            // A `>(…)` that `exec` made standard output ends when this shell lets go of it.
            self.files = FileTable::default();
            let _ = self.control.wait_for_readers(Instant::now().checked_add(GRACE));
            self.control.end_all();
        }
        self.jobs.forget_all();
    }

    /// A session goes on at the top, wherever the request was left.
    fn reset_position(&mut self) {
        self.frames.clear();
        self.tested = false;
        self.loop_depth = 0;
        self.depth = 0;
        self.transient.trace_depth = 0;
        self.transient.evaluations = 0;
        self.transient.texts = 0;
        self.written.clear();
    }

    /// What ended the request, on standard error.
    fn report(&self, stop: &Stop) -> ExitStatus {
        let (message, status) = match stop {
            Stop::Limit(LimitKind::PipelineDepth, _) => (format!("{stop}\n"), ExitStatus::FAILURE),
            Stop::Limit(..) | Stop::Cancelled => (format!("bash: {stop}\n"), ExitStatus::FAILURE),
            Stop::TimedOut => (format!("bash: {stop}\n"), ExitStatus::TIMED_OUT),
            Stop::Refused(refusal) if refusal.concealed => {
                (format!("bash: {}: command not found\n", refusal.reason), ExitStatus::NOT_FOUND)
            }
            Stop::Refused(refusal) => (explain(refusal), ExitStatus::REFUSED),
            Stop::Unrecorded(_) => (format!("exacta: {stop}\n"), ExitStatus::UNABLE),
            Stop::Killed(signal) => (String::new(), ExitStatus::from_signal(*signal)),
        };
        self.write_error(message.as_bytes());
        status
    }
}

/// What, why, and what to do next.
fn explain(refusal: &crate::host::Refusal) -> String {
    let mut message = format!("exacta: refused by policy: {}", refusal.reason);
    // Writing to a String cannot fail.
    let _ = writeln!(message, " [rule {}]", refusal.rule);
    if let Some(id) = &refusal.approval {
        let _ = writeln!(message, "approval: {id} is pending");
    }
    if !refusal.hint.is_empty() {
        let _ = writeln!(message, "hint: {}", refusal.hint);
    }
    message
}
