//! Pipelines. Every stage but a lone command runs in a subshell; all but the last on threads of their own.

use std::sync::{Arc, Mutex, PoisonError};

use exacta_syntax::ast::{Argument, Command, Pipeline, Stage, WordPart};

use super::{Condition, counts_for_errexit, is_subshell, pool};
use crate::control::Control;
use crate::filesystem::OpenFile;
use crate::pipe;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt, LimitKind, Running};

impl Shell {
    pub(super) fn run_pipeline(&mut self, pipeline: &Pipeline) -> Flow {
        match pipeline.timed {
            None => self.run_untimed(pipeline),
            Some(format) => self.time(format, |shell| shell.run_untimed(pipeline)),
        }
    }

    fn run_untimed(&mut self, pipeline: &Pipeline) -> Flow {
        let trapped = self.traps.get(Condition::Error).is_some();
        // As in bash, `!` protects what it runs only if `set -e` is already in force.
        let status = if pipeline.negated && self.options.errexit {
            self.as_condition(|shell| shell.run_stages(pipeline))?
        } else {
            self.run_stages(pipeline)?
        };
        let status =
            if pipeline.negated { ExitStatus::from_bool(!status.success()) } else { status };
        self.status = status;
        if self.control.has_pending() {
            self.run_pending_traps()?;
        }
        if !status.success() && !self.tested && !pipeline.negated {
            self.fail(pipeline, status, trapped)?;
        }
        Ok(status)
    }

    /// A command failed that is no condition: the ERR trap, if it was set before (`trapped`), and with `set -e` the end.
    fn fail(&mut self, pipeline: &Pipeline, status: ExitStatus, trapped: bool) -> Flow {
        if let [stage] = pipeline.stages.as_slice()
            && !counts_for_errexit(&stage.command)
            && !std::mem::take(&mut self.transient.redirect_failed)
        {
            return Ok(status);
        }
        if let Some(stage) = pipeline.stages.last().filter(|_| trapped) {
            self.run_error_trap(&stage.command)?;
        }
        if self.options.errexit { Err(Interrupt::Exit(status)) } else { Ok(status) }
    }

    fn run_stages(&mut self, pipeline: &Pipeline) -> Flow {
        match pipeline.stages.as_slice() {
            [] => {
                self.set_status(ExitStatus::SUCCESS);
                Ok(ExitStatus::SUCCESS)
            }
            [stage] => {
                let status = self.run_command(&stage.command)?;
                if counts_for_errexit(&stage.command) {
                    self.set_status(status);
                }
                Ok(status)
            }
            stages => self.run_connected(stages),
        }
    }

    fn run_connected(&mut self, stages: &[Stage]) -> Flow {
        let limit = self.control.limits.pipeline_depth;
        if stages.len() > limit as usize {
            let stop = self.control.exceeded(LimitKind::PipelineDepth, u64::from(limit));
            return Err(Interrupt::Stopped(stop));
        }
        self.control.step()?;
        let Some((last, before)) = stages.split_last() else { return Ok(ExitStatus::SUCCESS) };
        let mut input: Option<Arc<dyn OpenFile>> = None;
        let mut started = Vec::with_capacity(before.len());
        for (at, stage) in before.iter().enumerate() {
            if at == 0 && self.is_immediate(stage) {
                let (reader, writer) = pipe::unbounded(&self.control);
                started.push(self.run_first_stage(stage, writer)?);
                input = Some(reader);
                continue;
            }
            let (reader, writer) = pipe::pipe(&self.control);
            let outcome = self.start_stage(stage, input.take(), writer)?;
            started.push(outcome);
            input = Some(reader);
        }
        let flow = self.run_last_stage(last, input.take());
        drop(input);
        let mut statuses = Vec::with_capacity(stages.len());
        for outcome in &started {
            statuses.push(outcome.wait(&self.control)?);
        }
        statuses.push(flow?);
        self.child_ended();
        Ok(self.settle(statuses))
    }

    /// `echo` and `printf` at the beginning of a pipeline: all they write is already in memory, and they read
    /// nothing. Running them at once saves a thread, and nothing can be told from it.
    fn is_immediate(&self, stage: &Stage) -> bool {
        let Command::Simple(simple) = &stage.command else { return false };
        let Some(Argument::Word(word)) = simple.words.first() else { return false };
        let [WordPart::Literal(name)] = word.parts.as_slice() else { return false };
        matches!(name.as_slice(), b"echo" | b"printf")
            && simple.redirects.is_empty()
            && simple.assignments.is_empty()
            && !self.functions.contains_key(name)
            && self.disabled.is_empty()
    }

    fn run_first_stage(
        &mut self,
        stage: &Stage,
        output: Arc<dyn OpenFile>,
    ) -> Running<Arc<Outcome>> {
        let mut shell = self.stage_shell(&stage.command, None)?;
        if stage.pipes_errors {
            shell.files.set(2, Some(Arc::clone(&output)));
        }
        shell.files.set(1, Some(output));
        let status = shell.run_to_end(|shell| shell.run_stage_command(&stage.command))?;
        Ok(Arc::new(Outcome { status: Mutex::new(Some(Ok(status))) }))
    }

    /// `PIPESTATUS`, and the status of the whole.
    fn settle(&mut self, statuses: Vec<ExitStatus>) -> ExitStatus {
        let last = statuses.last().copied().unwrap_or_default();
        let failed = statuses.iter().rev().find(|status| !status.success()).copied();
        self.pipe_status = statuses;
        if self.options.pipefail { failed.unwrap_or_default() } else { last }
    }

    fn start_stage(
        &mut self,
        stage: &Stage,
        input: Option<Arc<dyn OpenFile>>,
        output: Arc<dyn OpenFile>,
    ) -> Result<Arc<Outcome>, Interrupt> {
        let mut shell = self.stage_shell(&stage.command, input)?;
        if stage.pipes_errors {
            shell.files.set(2, Some(Arc::clone(&output)));
        }
        shell.files.set(1, Some(output));
        let command = stage.command.clone();
        self.start_process(shell, move |shell| shell.run_stage_command(&command))
    }

    /// Runs a subshell on a thread of its own.
    pub(super) fn start_process(
        &mut self,
        mut shell: Shell,
        run: impl FnOnce(&mut Shell) -> Flow + Send + 'static,
    ) -> Result<Arc<Outcome>, Interrupt> {
        let outcome = Arc::new(Outcome::default());
        let promise = Promise::new(&outcome, &shell.control)?;
        let started = pool::run(move || {
            let ended = shell.run_to_end(run);
            drop(shell);
            promise.keep(ended);
        });
        if let Err(error) = started {
            self.complain(format!("fork: {}", crate::errno::text(&error)));
            return Err(Interrupt::Exit(ExitStatus(254)));
        }
        Ok(outcome)
    }

    /// The last stage runs here: in a subshell, or with `lastpipe` in this very shell.
    fn run_last_stage(&mut self, stage: &Stage, input: Option<Arc<dyn OpenFile>>) -> Flow {
        if self.options.lastpipe && !self.options.monitor {
            let before = self.files.set(0, input);
            let flow = self.run_command(&stage.command);
            self.files.set(0, before);
            return flow;
        }
        let mut shell = self.stage_shell(&stage.command, input)?;
        shell.run_to_end(|shell| shell.run_stage_command(&stage.command))
    }

    fn run_stage_command(&mut self, command: &Command) -> Flow {
        let status = self.run_command(command)?;
        self.status = status;
        if !status.success() && !self.tested && is_subshell(command) {
            self.run_error_trap(command)?;
        }
        Ok(status)
    }

    fn stage_shell(
        &mut self,
        command: &Command,
        input: Option<Arc<dyn OpenFile>>,
    ) -> Running<Shell> {
        let Command::Simple(simple) = command else {
            let mut shell = self.subshell();
            if is_subshell(command) {
                shell.transient.sole = self.traps.get(Condition::Error).is_none();
                shell.traps.keep_error(&self.traps);
            }
            if let Some(input) = input {
                shell.files.set(0, Some(input));
            }
            return Ok(shell);
        };
        // As in bash, the DEBUG trap of a simple command runs here, and the command does not know that it is in
        // a subshell: it still sees the jobs.
        self.line = simple.span.line;
        self.announce_simple(simple)?;
        let mut shell = self.subshell();
        shell.jobs.clone_from(&self.jobs);
        shell.jobs.disown_all();
        shell.subshell_level -= 1;
        shell.transient.announced = true;
        shell.transient.gives_way = true;
        if let Some(input) = input {
            shell.files.set(0, Some(input));
        }
        Ok(shell)
    }
}

/// Where a process on another thread leaves its status.
#[derive(Default)]
pub(super) struct Outcome {
    status: Mutex<Option<Flow>>,
}

impl Outcome {
    /// The status, if the process has ended.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        let flow = self.lock().clone()?;
        Some(flow.unwrap_or(ExitStatus(137)))
    }

    pub(super) fn wait(&self, control: &Arc<Control>) -> Flow {
        control.wait_until(None, || self.lock().is_some())?;
        self.lock().clone().unwrap_or(Ok(ExitStatus::FAILURE))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Flow>> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The duty to leave a status, kept even if the thread fails.
pub(super) struct Promise {
    outcome: Arc<Outcome>,
    control: Arc<Control>,
}

impl Promise {
    fn new(outcome: &Arc<Outcome>, control: &Arc<Control>) -> Result<Self, Interrupt> {
        control.process_starts()?;
        Ok(Promise { outcome: Arc::clone(outcome), control: Arc::clone(control) })
    }

    fn keep(self, ended: Flow) {
        *self.outcome.lock() = Some(ended);
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.outcome.lock().get_or_insert(Ok(ExitStatus::FAILURE));
        self.control.process_ends();
    }
}
