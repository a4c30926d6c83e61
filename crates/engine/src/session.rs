//! A session: a shell over a confined file system that keeps its directory, variables and functions between
//! requests. A request goes in as text and comes out as an [`Outcome`].

mod canceller;
mod ending;
mod foresight;
mod options;
mod outcome;
mod recording;
mod request;
mod streams;
mod trial;

pub use canceller::Canceller;
pub use options::{SessionOptions, Storage};
pub use outcome::Outcome;
pub use request::{Request, Streams};
use trial::Trial;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bstr::{BStr, ByteSlice};
use exacta_shell::control::{Control, Limits};
use exacta_shell::files::FileTable;
use exacta_shell::filesystem::{FileSystem, Follow, OpenFile};
use exacta_shell::shell::Shell;
use exacta_shell::status::{Flow, Interrupt};

use exacta_shell::host::{Identity, Step};
use exacta_store::audit::AuditError;

use crate::approvals::Tried;
use crate::audit::{Audit, Ended};
use crate::decisions::ProjectDecisions;
use crate::error::EngineError;
use crate::filesystem::{Cover, Opened};
use crate::gate::{Face, Gate, Judgement, Project};
use crate::host::{EngineHost, default_identity};
use crate::kept_output::{Collected, OutputLimit};
use crate::pipeline;
use crate::programs::Programs;
use crate::redaction::{Redaction, Results};
use crate::undo::{Keep, Transactions};

/// What ends with a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Request,
    /// A script: the `EXIT` trap fires, and the session is over.
    Session,
}

/// What came of running a request.
struct Attempt {
    flow: Flow,
    /// It ran apart, and nobody has decided yet.
    trial: Option<Trial>,
    /// It ran before: somebody has approved what came of it.
    approved: Option<Tried>,
}

pub struct Session {
    shell: Shell,
    host: Arc<EngineHost>,
    gate: Arc<Gate>,
    limits: Limits,
    output: Option<OutputLimit>,
    redaction: Arc<Redaction>,
    /// A request was announced and has not run yet.
    prepared: bool,
    /// Whoever asked wants to see every command.
    keeps_steps: bool,
    /// What programs write goes into no layer.
    direct: bool,
    /// What its requests leave in the undo journal, where there is one.
    transactions: Option<Arc<Transactions>>,
    audit: Arc<Audit>,
}

impl Session {
    /// The end of a session whose process ends with it: nobody is left to wait until its jail is put away. Everything in
    /// there is ended; the rest is done by the process that made it, when it finds this one gone.
    ///
    /// An error: what it did could not be recorded.
    pub fn leave(self) -> Result<(), AuditError> {
        self.host.leave();
        self.audit.settle()
    }

    pub fn new(options: SessionOptions) -> Result<Self, EngineError> {
        let SessionOptions { root, storage, temporary, .. } = &options;
        let opened = crate::filesystem::open_with(root, *storage, temporary)?;
        let project = match options.storage {
            Storage::Memory => None,
            // Nothing of the root is granted, so nothing is decided about it there.
            _ if opened.files.root() == "/tmp" => None,
            Storage::Directory | Storage::Overlay => {
                let (root, trust) = (options.root.clone(), Arc::clone(&options.trust));
                let state = opened.state.as_ref();
                let decisions = ProjectDecisions::read(root.clone(), state, trust)?;
                Some(Project { root, decisions })
            }
        };
        Self::with_project(opened, options, project)
    }

    /// A session over any file system: there is no place where decisions could be kept, and nothing is recorded.
    pub fn over(files: Arc<dyn FileSystem>, options: SessionOptions) -> Result<Self, EngineError> {
        Self::with_project(Opened::unrecorded(files), options, None)
    }

    /// A session over a file system that is open already, without decisions.
    pub(crate) fn over_opened(
        opened: Opened,
        options: SessionOptions,
    ) -> Result<Self, EngineError> {
        Self::with_project(opened, options, None)
    }

    fn with_project(
        Opened { files, transactions, cover, state }: Opened,
        options: SessionOptions,
        project: Option<Project>,
    ) -> Result<Self, EngineError> {
        let mut judgement = match &options.judgement {
            Some(judgement) => judgement.clone(),
            None => Judgement::standard()?,
        };
        let identity = default_identity();
        let direct = options.programs.as_ref().is_some_and(|programs| programs.direct);
        let undo = transactions.clone().zip(cover).filter(|_| !direct);
        if let Some(transactions) = &transactions {
            transactions.retain(options.retention);
        }
        let programs = programs(&options, &identity, &mut judgement, undo)?;
        let mut environment = options.environment;
        if let Some(made) = &programs
            && environment.iter().all(|(name, _)| name != "PATH")
        {
            environment.push(("PATH".into(), made.path()));
        }
        let redaction = Arc::new(options.redaction.with_environment(&environment));
        let profile = judgement.policy.profile().name();
        let audit = Audit::new(options.audit, state, files.root(), profile, &redaction);
        let audit = Arc::new(audit);
        let gate = Arc::new(Gate::new(judgement, files, project, Arc::clone(&audit)));
        audit.attach(&gate);
        let mut host = EngineHost::new(Arc::clone(&gate), identity.clone());
        if let Some(programs) = programs {
            programs.announce_to(&audit);
            host = host.with_programs(programs);
        }
        if options.record_steps || audit.is_on() {
            host = host.recording(options.record_steps, options.record_steps || audit.is_eager());
        }
        let host = Arc::new(host);
        let mut shell = Shell::new(Arc::clone(&host) as _, &environment);
        shell.last_argument.clone_from(&options.name);
        shell.name = options.name;
        shell.positional = Arc::new(options.arguments.into());
        if let Some(directory) = options.directory {
            start_in(&mut shell, directory.into_os_string().into_encoded_bytes().as_bstr());
        }
        gate.begin_session(shell.variables.environment());
        if let Some(transactions) = &transactions {
            transactions.announce_to(&audit);
            transactions.redact(&redaction);
        }
        Ok(Session {
            shell,
            host,
            gate,
            limits: options.limits,
            output: options.output,
            redaction,
            prepared: false,
            keeps_steps: options.record_steps,
            direct,
            transactions,
            audit,
        })
    }

    /// Goes on in this directory if the session can see it.
    pub fn start_in(&mut self, directory: &BStr) {
        start_in(&mut self.shell, directory);
    }

    /// The state of the shell, for completion and inspection.
    pub fn shell(&self) -> &Shell {
        &self.shell
    }

    /// To change what an invocation sets before the first request (`-e`, `-o pipefail`).
    pub fn shell_mut(&mut self) -> &mut Shell {
        &mut self.shell
    }

    /// How long the requests that follow may take.
    pub fn set_wall_time(&mut self, wall_time: Option<Duration>) {
        self.limits.wall_time = wall_time;
    }

    /// How much of the output of those that follow is kept, and by which name the whole is.
    pub fn set_output(&mut self, output: OutputLimit) {
        self.output = Some(output);
    }

    /// Announces the next request, so that another thread can stop it.
    pub fn prepare(&mut self) -> Canceller {
        let control = Arc::new(Control::new(self.limits.clone()));
        self.host.begin_request(&control);
        self.shell.control = Arc::clone(&control);
        self.prepared = true;
        Canceller(control)
    }

    /// Runs one request; the session goes on afterwards.
    pub fn run(&mut self, request: &Request) -> Outcome {
        let text = request.text.as_bstr();
        self.perform(request, text, |shell| shell.run_text(text, 1), Extent::Request)
    }

    /// Runs a text as a whole script: the `EXIT` trap fires at its end, the session is over.
    pub fn run_script(&mut self, request: &Request) -> Outcome {
        let text = request.text.as_bstr();
        self.perform(request, text, |shell| shell.run_text(text, 1), Extent::Session)
    }

    /// Runs its own standard input as a script, line by line: a command that reads gets the lines after it.
    pub fn run_from_input(&mut self, request: &Request) -> Outcome {
        // What it reads is known only when it has been read; its record says at least from where that was.
        self.perform(request, BStr::new("exacta -s"), Shell::run_input, Extent::Session)
    }

    fn perform(
        &mut self,
        request: &Request,
        recorded: &BStr,
        body: impl FnOnce(&mut Shell) -> Flow,
        extent: Extent,
    ) -> Outcome {
        let (started, worked) = (Instant::now(), self.host.recorded_time());
        let (streams, said_to) = self.begin(request, recorded);
        let Attempt { mut flow, trial, approved } = self.attempt(request, recorded, body);
        // What was stopped may look like an end: a reader whose writer was stopped first sees the end of its input.
        if let Err(stop) = self.shell.control.check() {
            flow = Err(stop.into());
        }
        let (mut stopped, exited, signal) = match &flow {
            Err(Interrupt::Stopped(stop)) => (Some(stop.clone()), true, None),
            Err(Interrupt::Killed(signal)) => (None, true, Some(*signal)),
            Err(Interrupt::Exit(_)) => (None, true, None),
            _ => (None, false, None),
        };
        let mut status = match extent {
            Extent::Request => self.shell.end_request(flow),
            Extent::Session => self.shell.finish(flow),
        };
        let programs = self.host.end_request(extent == Extent::Session || trial.is_some());
        if let Some(tally) = &programs {
            self.note_irreversible(tally, said_to.as_ref());
        }
        let own_time = self.host.recorded_time().saturating_sub(worked);
        let of_programs = programs.as_ref().map(|tally| tally.processor_time);
        let processor_time = own_time + of_programs.unwrap_or_default();
        // Closes what the request had open, so that the last writes are seen.
        self.shell.files = FileTable::default();
        let keep = if trial.is_some() { Keep::Hold } else { request.keep };
        let mut undo = self.close_record(&mut status, keep, said_to.clone());
        if let Some(trial) = trial {
            (status, undo, stopped) = self.end_trial(trial, status, stopped, undo);
        }
        undo = approved.and_then(|tried| tried.held).map(trial::applied).or(undo);
        if extent == Extent::Request && !exited {
            self.host.lay_ahead();
        }
        let [output, errors] = streams.map(Collected::take);
        let redacted = output.redacted.with(&errors.redacted);
        let (steps, steps_left_out) = self.host.take_steps();
        let mut outcome = Outcome {
            status,
            stdout: output.bytes,
            stderr: errors.bytes,
            stopped,
            exited,
            steps,
            duration: started.elapsed(),
            processor_time,
            judged: self.gate.judged(),
            truncated: output.cut || errors.cut,
            spill: output.spill.or(errors.spill),
            programs,
            undo,
            redacted,
        };
        let ended = Ended { outcome: &outcome, signal, steps_left_out };
        let recorded = self.record(&ended, [output.witnessed, errors.witnessed], said_to.as_ref());
        if let Err(status) = recorded {
            outcome.status = status;
        }
        outcome.steps = self.shown(outcome.steps);
        outcome
    }

    /// Looks at it, and runs it where nothing speaks against that: in the project or apart.
    fn attempt(
        &mut self,
        request: &Request,
        recorded: &BStr,
        body: impl FnOnce(&mut Shell) -> Flow,
    ) -> Attempt {
        let begun = self.begin_record(recorded, request.id);
        let screened = begun.and_then(|()| self.screen(request.text.as_bstr(), request.keep));
        let laid = screened.and_then(|()| self.lay(request.keep));
        if let Some(approved) = self.gate.take_result() {
            let flow = laid.and_then(|()| self.replay(&approved));
            return Attempt { flow, trial: None, approved: Some(approved) };
        }
        match laid.and_then(|()| self.begin_trial()) {
            Ok(trial) => Attempt { flow: body(&mut self.shell), trial, approved: None },
            Err(interrupt) => Attempt { flow: Err(interrupt), trial: None, approved: None },
        }
    }

    /// Everything that a request finds when it begins: its streams, and nothing of the one before.
    fn begin(
        &mut self,
        request: &Request,
        recorded: &BStr,
    ) -> ([Collected; 2], Option<Arc<dyn OpenFile>>) {
        if !std::mem::take(&mut self.prepared) {
            self.prepare();
            self.prepared = false;
        }
        let (mut table, streams) = self.open_streams(&request.streams);
        let said_to = table.get(2).cloned();
        self.host.say_to(said_to.clone());
        for descriptor in &request.closed {
            table.set(*descriptor, None);
        }
        self.shell.files = table;
        self.gate.begin(request.asker.clone());
        if let Some(transactions) = &self.transactions {
            transactions.begin(recorded, self.shell.directory.as_bstr());
        }
        (streams, said_to)
    }

    /// What has run, for the caller. Variables in its words were replaced by their values, so they are results like output.
    fn shown(&self, mut steps: Vec<Step>) -> Vec<Step> {
        if !self.keeps_steps {
            return Vec::new();
        }
        if self.redaction.results == Results::Redacted {
            for word in steps.iter_mut().flat_map(|step| &mut step.argv) {
                *word = self.redaction.rules().redact(word).0.into_owned().into();
            }
        }
        steps
    }

    /// In the face of S3 the whole request is looked at before anything of it runs.
    fn screen(&self, text: &BStr, keep: Keep) -> Result<(), Interrupt> {
        if self.gate.judgement.face == Face::Shell {
            return Ok(());
        }
        if keep == Keep::Apply && self.transactions.is_some() {
            self.gate.allow_trial();
        }
        let screened = pipeline::screen(&self.gate, text, &self.world());
        self.gate.end_screening();
        screened.map_err(|refused| self.stopped(&refused))
    }

    /// What must not be written to disk or shown.
    pub fn redaction(&self) -> &Arc<Redaction> {
        &self.redaction
    }
}

/// What programs write can be taken back, where there is something that remembers it.
fn programs(
    SessionOptions { programs, root, temporary, .. }: &SessionOptions,
    identity: &Identity,
    judgement: &mut Judgement,
    undo: Option<(Arc<Transactions>, Arc<Cover>)>,
) -> Result<Option<Programs>, EngineError> {
    let Some(wanted) = programs else { return Ok(None) };
    let mut made = Programs::in_project(wanted, root, temporary, identity, &judgement.policy)
        .map_err(|error| EngineError::Root { path: root.clone(), error })?;
    if let Some((transactions, cover)) = undo {
        made = made.with_layers(transactions, cover);
    }
    judgement.grants.direct = wanted.direct || !made.can_have_layers(wanted);
    Ok(Some(made))
}

/// Begins in a directory if the session can see it; else it stays at the root.
fn start_in(shell: &mut Shell, directory: &BStr) {
    let visible = shell.host.files().metadata(directory, Follow::Yes);
    if visible.is_ok_and(|metadata| metadata.is_directory()) {
        shell.directory = directory.into();
        shell.variables.set("PWD", directory);
    }
}
