//! Texts inside texts: `eval`, `source`.

use bstr::BStr;

use crate::shell::{Frame, FrameKind, Shell};
use crate::status::{ExitStatus, Flow, Interrupt};

impl Shell {
    /// `eval`
    pub(crate) fn evaluate_script(&mut self, text: &BStr) -> Flow {
        self.transient.evaluations += 1;
        self.transient.trace_depth += 1;
        let line = self.line;
        let flow = self.run_text(text, line.max(1));
        self.line = line;
        self.transient.trace_depth -= 1;
        self.transient.evaluations -= 1;
        flow
    }

    /// `source`: the file's commands, with a frame of its own.
    pub(crate) fn run_sourced(&mut self, name: &BStr, text: &BStr) -> Flow {
        let call_line = self.line;
        let evaluations = std::mem::take(&mut self.transient.evaluations);
        self.frames.push(Frame {
            kind: FrameKind::Source,
            name: "source".into(),
            source: name.into(),
            call_line,
        });
        self.transient.trace_depth += 1;
        let hidden = self.hide_traps(false);
        let flow = self.run_text(text, 1);
        let flow = self.run_return_trap(flow);
        self.show_traps(hidden);
        self.transient.trace_depth -= 1;
        self.frames.pop();
        self.transient.evaluations = evaluations;
        self.line = call_line;
        match flow {
            Err(Interrupt::Return(status)) => Ok(status),
            other => other,
        }
    }

    /// What `exit` without a number means: in a trap, the status from before it.
    pub fn status_for_exit(&self) -> ExitStatus {
        self.transient.status_before_trap.unwrap_or(self.status)
    }
}
