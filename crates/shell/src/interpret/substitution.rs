//! `$(…)`, `<(…)` and `>(…)`.

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{
    Command, CommandSubstitution, FileOperator, List, ProcessDirection, ProcessSubstitution,
    Redirect, RedirectKind,
};

use super::pipeline::Outcome;
use crate::control::Control;
use crate::errno;
use crate::filesystem::{OpenFile, OpenOptions};
use crate::long::{self, Pace};
use crate::pipe;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt, Running, Stop};

fn without_null(output: &[u8]) -> Result<Vec<u8>, Stop> {
    let mut kept = Vec::new();
    let mut pace = Pace::default();
    for part in output.split(|byte| *byte == 0) {
        pace.walked(part.len())?;
        long::extend(&mut kept, part)?;
    }
    Ok(kept)
}

/// A process substitution whose command still runs.
#[derive(Clone)]
pub(super) struct OpenSubstitution {
    descriptor: u32,
    /// For `>(…)`: what to wait for once the last writer is gone.
    reader: Option<Arc<Outcome>>,
}

/// The descriptors go down from here, as in bash.
const FIRST_DESCRIPTOR: u32 = 63;

impl Shell {
    /// The output of `$(…)` without its trailing newlines; `$?` is that of the substitution.
    pub fn run_substitution(&mut self, substitution: &CommandSubstitution) -> Running<BString> {
        let mut output = match file_only(&substitution.body) {
            Some(redirect) => self.read_whole_file(redirect)?,
            None => self.capture(&substitution.body)?,
        };
        while output.last() == Some(&b'\n') {
            output.pop();
        }
        if output.contains(&0) {
            self.complain("warning: command substitution: ignored null byte in input");
            output = without_null(&output)?;
        }
        Ok(output.into())
    }

    /// What a text prints, run as `$(…)` would.
    pub(crate) fn capture_text(&mut self, text: &BStr) -> Running<Vec<u8>> {
        self.capture_flow(|shell| shell.run_text(text, 1))
    }

    fn capture(&mut self, body: &List) -> Running<Vec<u8>> {
        self.capture_flow(|shell| shell.run_list(body))
    }

    /// On this thread, into a pipe without an end: nobody reads before it is done.
    fn capture_flow(&mut self, run: impl FnOnce(&mut Shell) -> Flow) -> Running<Vec<u8>> {
        let (reader, writer) = pipe::unbounded(&self.control);
        let mut shell = self.subshell();
        shell.jobs.clone_from(&self.jobs);
        shell.jobs.disown_all();
        shell.files.set(1, Some(writer));
        if !self.options.inherit_errexit && !self.options.posix {
            shell.options.errexit = false;
        }
        shell.transient.trace_depth += 1;
        let ended = shell.run_to_end(run);
        drop(shell);
        let status = ended?;
        let output = reader.drain();
        self.control.check()?;
        self.status = status;
        self.substitution_status = Some(status);
        output.map_err(|_| Interrupt::Discard(ExitStatus::FAILURE))
    }

    /// `$(<file)` needs no command.
    fn read_whole_file(&mut self, redirect: &Redirect) -> Running<Vec<u8>> {
        let RedirectKind::File { target, .. } = &redirect.kind else { return Ok(Vec::new()) };
        let Some(path) = self.expand_redirect_target(target)? else {
            self.status = ExitStatus::FAILURE;
            self.substitution_status = Some(ExitStatus::FAILURE);
            return Ok(Vec::new());
        };
        let mut content = Vec::new();
        let read = self
            .open(path.as_bstr(), OpenOptions::reading())
            .and_then(|file| file.read_within(&self.control, &mut content));
        self.control.check()?;
        let status = match read {
            Ok(()) => ExitStatus::SUCCESS,
            Err(error) => {
                let mut message = self.as_written(path.as_bstr()).to_vec();
                message.extend_from_slice(format!(": {}", errno::text(&error)).as_bytes());
                self.complain(message);
                ExitStatus::FAILURE
            }
        };
        self.status = status;
        self.substitution_status = Some(status);
        Ok(content)
    }

    /// Starts `<(…)` or `>(…)` and gives the name (`/dev/fd/63`) to use in its place.
    pub fn start_process_substitution(
        &mut self,
        substitution: &ProcessSubstitution,
    ) -> Running<BString> {
        let (reader, writer) = pipe::pipe(&self.control);
        let mut shell = self.subshell();
        shell.traps.forget_inherited();
        let body = Arc::clone(&substitution.body);
        let reads = substitution.direction == ProcessDirection::Write;
        let ours: Arc<dyn OpenFile> = if reads {
            shell.files.set(0, Some(reader));
            writer
        } else {
            shell.files.set(1, Some(writer));
            reader
        };
        let (process_id, control) = (shell.process_id(), Arc::clone(&shell.control));
        let waited = reads.then(|| Waited::new(&self.control));
        let outcome = self.start_process(shell, move |shell| {
            let flow = shell.run_list(&body);
            drop(waited);
            flow
        })?;
        self.last_background = Some(process_id);
        self.jobs.add_process(process_id, control, Arc::clone(&outcome));
        let descriptor = self.free_descriptor();
        self.files.set(descriptor, Some(ours));
        let reader = reads.then_some(outcome);
        self.transient.substitutions.push(OpenSubstitution { descriptor, reader });
        Ok(format!("/dev/fd/{descriptor}").into())
    }

    /// The command that named them is done. A reader whose last writer this was is waited for, so that its
    /// output comes before that of the next command.
    pub(super) fn close_substitutions(&mut self, from: usize) {
        for open in self.transient.substitutions.split_off(from) {
            let Some(file) = self.files.set(open.descriptor, None) else { continue };
            let last = Arc::strong_count(&file) == 1;
            drop(file);
            if let (true, Some(reader)) = (last, open.reader) {
                let _: Flow = reader.wait(&self.control);
            }
        }
    }

    pub(super) fn free_descriptor(&self) -> u32 {
        let free = (FIRST_NAMED..=FIRST_DESCRIPTOR).rev().find(|at| self.files.get(*at).is_none());
        free.unwrap_or_else(|| self.files.first_free(FIRST_DESCRIPTOR + 1))
    }
}

const FIRST_NAMED: u32 = 10;

/// Counts a reader that the end of the request waits for.
struct Waited(Arc<Control>);

impl Waited {
    fn new(control: &Arc<Control>) -> Self {
        control.reader_starts();
        Waited(Arc::clone(control))
    }
}

impl Drop for Waited {
    fn drop(&mut self) {
        self.0.reader_ends();
    }
}

/// `<file` and nothing else.
fn file_only(list: &List) -> Option<&Redirect> {
    let [item] = list.items.as_slice() else { return None };
    let [stage] = item.chain.first.stages.as_slice() else { return None };
    let Command::Simple(command) = &stage.command else { return None };
    let [redirect] = command.redirects.as_slice() else { return None };
    let bare = item.chain.rest.is_empty()
        && !item.background
        && !item.chain.first.negated
        && item.chain.first.timed.is_none()
        && command.words.is_empty()
        && command.assignments.is_empty()
        && redirect.descriptor.is_none();
    let reads = matches!(redirect.kind, RedirectKind::File { operator: FileOperator::Read, .. });
    (bare && reads).then_some(redirect)
}
