//! Texts inside texts: `eval`, `source`.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::Missing;

use crate::shell::{Frame, FrameKind, Shell};
use crate::status::{ExitStatus, Flow, Interrupt, Running};

/// So many bytes of a line are read between two looks at the control.
const PIECE: usize = 4096;

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

    /// A script that comes in by standard input, read no further than needed: its commands can read on.
    pub fn run_input(&mut self) -> Flow {
        let mut status = ExitStatus::SUCCESS;
        let mut pending = BString::default();
        let (mut first_line, mut lines) = (1, 0);
        let mut missing = Missing::Nothing;
        loop {
            let start = pending.len();
            let more = self.read_line(&mut pending)?;
            lines += 1;
            if pending.is_empty() {
                return Ok(status);
            }
            if more {
                missing = self.missing_after(missing, &pending, start);
                if matches!(missing, Missing::Lines | Missing::Delimiter(_)) {
                    continue;
                }
            }
            status = self.run_text(pending.as_bstr(), first_line)?;
            pending.clear();
            first_line += std::mem::take(&mut lines);
            // After a syntax error a shell that is not interactive reads no further.
            if !more || (missing == Missing::Sense && status == ExitStatus::USAGE) {
                return Ok(status);
            }
        }
    }

    /// Appends one line; `false` at the end of the input. One byte at a time: what follows belongs to the
    /// commands.
    fn read_line(&self, line: &mut BString) -> Running<bool> {
        let input = self.file_or_closed(0);
        let mut byte = [0];
        while matches!(input.read(&mut byte), Ok(1)) {
            line.push(byte[0]);
            if byte == *b"\n" {
                return Ok(true);
            }
            if line.len().is_multiple_of(PIECE) && self.control.may_hold(line.len()).is_err() {
                break;
            }
        }
        self.control.check()?;
        Ok(false)
    }

    /// What the text needs now that a line has been added. The lines of a here-document are only looked at.
    fn missing_after(&self, before: Missing, text: &BString, line: usize) -> Missing {
        if let Missing::Delimiter(document) = &before
            && !document.may_end_with(text.get(line..).unwrap_or_default())
        {
            return before;
        }
        if text.ends_with(b"\\\n") {
            return Missing::Lines;
        }
        exacta_syntax::missing(text, self.parse_options(), exacta_syntax::Limits::default())
    }

    /// What `exit` without a number means: in a trap, the status from before it.
    pub fn status_for_exit(&self) -> ExitStatus {
        self.transient.status_before_trap.unwrap_or(self.status)
    }
}
