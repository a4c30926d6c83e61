//! Texts inside texts: `eval`, `source`.

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::Missing;

use crate::filesystem::OpenOptions;
use crate::shell::{Frame, FrameKind, Shell};
use crate::status::{ExitStatus, Flow, Interrupt, Running};
use crate::variables::Value;

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
            arguments_before: Arc::clone(&self.positional),
        });
        self.transient.trace_depth += 1;
        let hidden = self.hide_traps(false);
        let flow = self.run_text(text, 1);
        self.frames.pop();
        let flow = self.run_return_trap(flow);
        self.show_traps(hidden);
        self.transient.trace_depth -= 1;
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
        if let Some(path) = self.startup_file.take() {
            self.run_startup_file(path)?;
        }
        let mut pending = BString::default();
        let (mut first_line, mut lines) = (1, 0);
        let mut missing = Missing::Nothing;
        loop {
            if self.options.interactive {
                self.prompt(pending.is_empty())?;
            }
            let start = pending.len();
            let more = self.read_line(&mut pending)?;
            lines += 1;
            if pending.is_empty() {
                if self.options.interactive {
                    self.write_error(b"exit\n");
                }
                return Ok(status);
            }
            if more {
                missing = self.missing_after(missing, &pending, start);
                if matches!(missing, Missing::Lines | Missing::Delimiter(_)) {
                    continue;
                }
            }
            status = self.run_text_after(pending.as_bstr(), first_line, status)?;
            pending.clear();
            first_line += std::mem::take(&mut lines);
            // After a syntax error a shell that is not interactive reads no further.
            let wrong = missing == Missing::Sense && status == ExitStatus::USAGE;
            if !more || self.options.onecmd || (wrong && !self.options.interactive) {
                return Ok(status);
            }
        }
    }

    /// `--rcfile FILE`; one that is not there is passed over.
    pub(super) fn run_startup_file(&mut self, path: BString) -> Running<()> {
        let mut text = Vec::new();
        let read = self
            .open(path.as_bstr(), OpenOptions::reading())
            .and_then(|file| file.read_within(&self.control, &mut text));
        if read.is_err() {
            return Ok(self.control.check()?);
        }
        self.transient.texts += 1;
        let flow = self.run_sourced(path.as_bstr(), text.as_bstr());
        self.transient.texts -= 1;
        match flow {
            Ok(_) | Err(Interrupt::Discard(_)) => Ok(()),
            Err(interrupt) => Err(interrupt),
        }
    }

    /// What an interactive shell does before it reads a command, or one more line of it.
    fn prompt(&mut self, first: bool) -> Running<()> {
        if first {
            self.run_prompt_commands()?;
        }
        let name = if first { "PS1" } else { "PS2" };
        let text = self.variables.scalar(name).cloned().unwrap_or_default();
        let status = self.status;
        let expanded = self.expand_prompt(text.as_bstr());
        self.status = status;
        match expanded {
            Ok(shown) => self.write_error(&shown),
            Err(Interrupt::Discard(_)) => {}
            Err(interrupt) => return Err(interrupt),
        }
        Ok(())
    }

    /// `PROMPT_COMMAND`, one or a list; `$?` stays as it is.
    fn run_prompt_commands(&mut self) -> Running<()> {
        let commands: Vec<BString> = match self.value_of("PROMPT_COMMAND".into()).as_deref() {
            Some(Value::Indexed(list)) => list.iter().map(|(_, text)| text.clone()).collect(),
            Some(value) => value.as_scalar().into_iter().cloned().collect(),
            None => return Ok(()),
        };
        let (status, pipe_status) = (self.status, self.pipe_status.clone());
        let last_argument = self.last_argument.clone();
        for command in commands {
            self.transient.texts += 1;
            let flow = self.run_text(command.as_bstr(), 1);
            self.transient.texts -= 1;
            match flow {
                Ok(_) | Err(Interrupt::Discard(_)) => {}
                Err(interrupt) => return Err(interrupt),
            }
            self.status = status;
        }
        self.pipe_status = pipe_status;
        self.last_argument = last_argument;
        Ok(())
    }

    /// `bash -i`: prompts, history, and errors that end a script end only a line.
    pub fn become_interactive(&mut self) {
        self.options.interactive = true;
        self.options.expand_aliases = true;
        self.options.emacs = true;
        self.options.history = true;
        for (name, value) in [("PS1", r"\s-\v\$ "), ("PS2", "> ")] {
            if self.variables.get(name.into()).is_none() {
                self.variables.set(name, value);
            }
        }
        self.set_history_file();
        self.load_history();
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

    /// What `exit` without a number means: in the EXIT trap, the status from before it.
    pub fn status_for_exit(&self) -> ExitStatus {
        let before = self.transient.status_before_trap.filter(|_| self.transient.exiting);
        before.unwrap_or(self.status)
    }

    /// The same for `return`: in any trap, the status from before it.
    pub fn status_for_return(&self) -> ExitStatus {
        self.transient.status_before_trap.unwrap_or(self.status)
    }
}
