//! Background jobs: `&`, and what `jobs`, `wait`, `kill` and `disown` need to know.

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{AndOr, Command, Coprocess, List, ListItem};

use super::pipeline::Outcome;
use crate::control::Control;
use crate::filesystem::OpenFile;
use crate::pipe::{self, Bytes};
use crate::shell::{SIGCHLD, Shell};
use crate::status::{ExitStatus, Flow};
use crate::variables::{Value, is_name};

/// The jobs of a shell. A subshell sees those of its parent, for `kill`, but has none of its own; a copy costs
/// nothing until it starts one.
#[derive(Clone, Default)]
pub struct Jobs {
    list: Arc<Vec<Job>>,
    /// Those before are of a shell this one was copied from.
    own_from: usize,
    /// Those before are not listed.
    listed_from: usize,
}

#[derive(Clone)]
pub struct Job {
    /// `%1`
    pub number: u32,
    /// `$!`
    pub process_id: u32,
    pub text: Arc<BString>,
    pub control: Arc<Control>,
    outcome: Arc<Outcome>,
    state: JobState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JobState {
    /// Listed by `jobs`.
    Listed,
    /// Waited for, reported or disowned: only `wait PID` and `kill PID` still know it.
    Remembered,
}

/// How many ended jobs keep their status for a later `wait PID`.
const REMEMBERED: usize = 4096;

impl Job {
    /// Its status, if it has ended.
    pub fn status(&self) -> Option<ExitStatus> {
        self.outcome.status()
    }
}

impl Jobs {
    pub(super) fn enter_subshell(&mut self) {
        self.own_from = self.list.len();
        self.listed_from = self.list.len();
    }

    /// In `$(…)` and a simple stage the jobs are still shown, but belong to the shell around it.
    pub(super) fn disown_all(&mut self) {
        self.own_from = self.list.len();
    }

    pub(super) fn forget_all(&mut self) {
        *self = Jobs::default();
    }

    /// Those that `jobs` lists, oldest first.
    pub fn listed(&self) -> impl DoubleEndedIterator<Item = &Job> {
        let shown = self.list.get(self.listed_from..).unwrap_or_default();
        shown.iter().filter(|job| job.state == JobState::Listed)
    }

    /// Did this shell itself start the process?
    pub fn owns(&self, process_id: u32) -> bool {
        let own = self.list.get(self.own_from..).unwrap_or_default();
        own.iter().any(|job| job.process_id == process_id)
    }

    pub fn by_process(&self, process_id: u32) -> Option<&Job> {
        self.list.iter().rev().find(|job| job.process_id == process_id)
    }

    /// What `%1`, `%%`, `%+`, `%-`, `%name` and `%?text` mean. `Err`: more than one job fits.
    pub fn by_specification(&self, specification: &BStr) -> Result<Option<&Job>, Ambiguous> {
        let name = specification.strip_prefix(b"%").unwrap_or(specification);
        match name {
            b"" | b"%" | b"+" => return Ok(self.current()),
            b"-" => return Ok(self.previous()),
            _ => {}
        }
        if let Some(number) = name.to_str().ok().and_then(|name| name.parse::<u32>().ok()) {
            return Ok(self.listed().find(|job| job.number == number));
        }
        let mut fitting = self.listed().filter(|job| match name.strip_prefix(b"?") {
            Some(part) => job.text.contains_str(part),
            None => job.text.starts_with(name),
        });
        match (fitting.next(), fitting.next()) {
            (job, None) => Ok(job),
            _ => Err(Ambiguous),
        }
    }

    /// `%+`: the last that was started and still runs, else the last.
    pub fn current(&self) -> Option<&Job> {
        self.listed().rev().find(|job| job.status().is_none()).or_else(|| self.listed().next_back())
    }

    /// `%-`
    pub fn previous(&self) -> Option<&Job> {
        let current = self.current()?.number;
        let others = || self.listed().rev().filter(|job| job.number != current);
        let running = others().find(|job| job.status().is_none());
        running.or_else(|| others().next()).or_else(|| self.current())
    }

    /// Takes a job off the list; its status stays known.
    pub fn remember(&mut self, process_id: u32) {
        if self.owns(process_id) {
            let list = Arc::make_mut(&mut self.list);
            for job in list.iter_mut().filter(|job| job.process_id == process_id) {
                job.state = JobState::Remembered;
            }
        }
    }

    /// Takes ended jobs off the list, as bash does before it starts a new one and after `jobs`.
    pub fn remember_ended(&mut self) {
        if self.listed().all(|job| job.status().is_none()) {
            return;
        }
        for job in Arc::make_mut(&mut self.list) {
            if job.status().is_some() {
                job.state = JobState::Remembered;
            }
        }
    }

    fn add(&mut self, job: Job) {
        let list = Arc::make_mut(&mut self.list);
        if list.len() >= REMEMBERED && self.own_from == 0 {
            list.retain(|job| job.status().is_none());
        }
        list.push(job);
    }

    /// A process that is no job: only `wait` and `kill` know it, by its id.
    pub(super) fn add_process(
        &mut self,
        process_id: u32,
        control: Arc<Control>,
        outcome: Arc<Outcome>,
    ) {
        let (state, text) = (JobState::Remembered, Arc::default());
        self.add(Job { number: 0, process_id, text, control, outcome, state });
    }

    fn next_number(&self) -> u32 {
        self.listed().map(|job| job.number).max().unwrap_or(0) + 1
    }
}

/// `%name` fits more than one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ambiguous;

impl Shell {
    /// `coproc name command`: a job whose input and output this shell holds the other ends of.
    pub(super) fn start_coprocess(&mut self, coprocess: &Coprocess) -> Flow {
        self.control.step()?;
        if !is_name(coprocess.name.as_bstr()) {
            self.complain([b"`", coprocess.name.as_slice(), b"': not a valid identifier"].concat());
            return Ok(ExitStatus::FAILURE);
        }
        let (their_input, our_output) = pipe::pipe(&self.control);
        let (our_input, their_output) = pipe::pipe(&self.control);
        let mut shell = self.subshell();
        shell.files.set(0, Some(their_input));
        shell.files.set(1, Some(their_output));
        let ours: [Arc<dyn OpenFile>; 2] = [our_input, our_output];
        let mut elements = Vec::new();
        for file in ours {
            let descriptor = self.free_descriptor();
            self.files.set(descriptor, Some(file));
            elements.push(BString::from(descriptor.to_string()));
        }
        let mut text = BString::from("coproc ");
        text.extend_from_slice(&coprocess.name);
        text.push(b' ');
        text.extend_from_slice(&exacta_syntax::print_list(&coprocess.body));
        let process_id = shell.process_id();
        self.start_listed(shell, coprocess.body.clone(), text)?;
        let array = self.variables.get_or_create(coprocess.name.as_bstr());
        array.value = Some(Value::Indexed(elements.into_iter().collect()));
        let mut name = coprocess.name.clone();
        name.extend_from_slice(b"_PID");
        self.assign_scalar(name.as_bstr(), process_id.to_string().into())?;
        Ok(ExitStatus::SUCCESS)
    }

    /// `chain &`
    pub(super) fn start_job(&mut self, chain: &AndOr) -> Flow {
        self.control.step()?;
        let mut shell = self.subshell();
        if !self.options.monitor {
            shell.files.set(0, Some(Arc::new(Bytes::new(Vec::new()))));
        }
        shell.transient.sole = is_one_subshell(chain);
        shell.transient.gives_way = is_one_simple(chain);
        let list = List { items: vec![ListItem { chain: chain.clone(), background: false }] };
        let text = exacta_syntax::print_list(&list);
        self.start_listed(shell, list, text)
    }

    /// Runs the list on a thread of its own and lists it as a job.
    fn start_listed(&mut self, shell: Shell, list: List, text: BString) -> Flow {
        let (process_id, control) = (shell.process_id(), Arc::clone(&shell.control));
        let text = Arc::new(text);
        let parent = Arc::clone(&self.control);
        let outcome = self.start_process(shell, move |shell| {
            let flow = shell.run_list(&list);
            parent.deliver(SIGCHLD);
            flow
        })?;
        let number = self.jobs.next_number();
        let state = JobState::Listed;
        self.jobs.add(Job { number, process_id, text, control, outcome, state });
        self.last_background = Some(process_id);
        self.set_status(ExitStatus::SUCCESS);
        Ok(ExitStatus::SUCCESS)
    }
}

/// `( … ) &` is one process, not two: signals must reach it.
fn is_one_subshell(chain: &AndOr) -> bool {
    only_command(chain).is_some_and(super::is_subshell)
}

/// `program argument &` is one process as well.
fn is_one_simple(chain: &AndOr) -> bool {
    matches!(only_command(chain), Some(Command::Simple(_)))
}

fn only_command(chain: &AndOr) -> Option<&Command> {
    let pipeline = &chain.first;
    let plain = chain.rest.is_empty() && !pipeline.negated && pipeline.timed.is_none();
    match pipeline.stages.as_slice() {
        [stage] if plain => Some(&stage.command),
        _ => None,
    }
}
