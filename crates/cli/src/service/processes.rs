//! Commands that run in the background: read later, written to, killed. Each is a session of its own on a thread of its own.

use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use bstr::ByteSlice;
use exacta::Canceller;
use exacta::approvals::{Pending, State as Asked};
use serde::Serialize;
use serde_json::Value;

use super::running::{Ask, Attended, Hearer, Told};
use super::{Code, Problem, Project, Service, limits};

#[derive(Default)]
pub struct Processes(Mutex<HashMap<String, Arc<Process>>>);

struct Process {
    project: String,
    agent: String,
    command: String,
    started: SystemTime,
    canceller: Canceller,
    /// Its standard input, until somebody has ended that.
    input: Mutex<Option<OwnedFd>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The end of what it has written, both streams in order.
    kept: VecDeque<u8>,
    /// All that it has written.
    total: u64,
    /// The question that it waits for, if it waits for one.
    approval: Option<String>,
    report: Option<Value>,
    ended: Option<Instant>,
    thread: Option<thread::JoinHandle<()>>,
}

/// What clients see of it.
#[derive(Debug, Clone, Serialize)]
pub struct ProcessView {
    pub id: String,
    pub project: String,
    pub agent: String,
    pub command: String,
    pub state: &'static str,
    pub exit_code: Option<Value>,
    pub started: String,
    pub bytes: u64,
    /// It waits for the answer to this.
    pub approval: Option<String>,
}

/// What it has written from somewhere on.
#[derive(Debug, Clone, Serialize)]
pub struct Read {
    pub state: &'static str,
    pub exit_code: Option<Value>,
    pub output: String,
    /// Where to go on.
    pub next: u64,
    /// So much was written before what is kept, and is gone.
    pub dropped: u64,
    /// It waits for the answer to this.
    pub approval: Option<String>,
    /// What `exacta run --json` prints, once it has ended.
    pub report: Option<Value>,
}

impl Processes {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Process>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: &str) -> Result<Arc<Process>, Problem> {
        self.lock().get(id).cloned().ok_or_else(|| unknown(id))
    }

    fn forget_ended(&self) {
        let old = |process: &Process| {
            process.state().ended.is_some_and(|ended| ended.elapsed() > limits::ENDED_PROCESS)
        };
        self.lock().retain(|_, process| !old(process));
    }

    pub fn end_all(&self) {
        let all: Vec<_> = self.lock().drain().collect();
        for (_, process) in &all {
            process.canceller.cancel();
        }
        for (_, process) in all {
            process.join();
        }
    }
}

fn unknown(id: &str) -> Problem {
    Problem::new(
        Code::UnknownProcess,
        format!("there is no process {id}"),
        "one that has ended can be read for half an hour",
    )
}

impl Process {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, data: &[u8]) {
        let mut state = self.state();
        state.total += data.len() as u64;
        state.kept.extend(data);
        let surplus = state.kept.len().saturating_sub(limits::KEPT_OUTPUT);
        state.kept.drain(..surplus);
        self.changed.notify_all();
    }

    fn asked(&self, pending: &Pending) {
        let waits = pending.state == Asked::Pending;
        self.state().approval = waits.then(|| pending.id.clone());
        self.changed.notify_all();
    }

    fn end(&self, report: Value) {
        // Whoever writes to it is told at once.
        self.input.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut state = self.state();
        state.report = Some(report);
        state.ended = Some(Instant::now());
        self.changed.notify_all();
    }

    fn join(&self) {
        let thread = self.state().thread.take();
        if let Some(thread) = thread {
            let _it_has_said_what_there_is = thread.join();
        }
    }

    fn view(&self, id: &str) -> ProcessView {
        let state = self.state();
        ProcessView {
            id: id.to_owned(),
            project: self.project.clone(),
            agent: self.agent.clone(),
            command: self.command.clone(),
            state: state.name(),
            exit_code: state.exit_code(),
            started: exacta::report::timestamp(self.started),
            bytes: state.total,
            approval: state.approval.clone(),
        }
    }
}

impl State {
    fn name(&self) -> &'static str {
        if self.report.is_some() { "ended" } else { "running" }
    }

    fn exit_code(&self) -> Option<Value> {
        self.report.as_ref().map(|report| report["exit_code"].clone())
    }

    fn read(&self, after: u64) -> Read {
        let first = self.total - self.kept.len() as u64;
        let from = after.clamp(first, self.total);
        let skipped = usize::try_from(from - first).unwrap_or(usize::MAX);
        let bytes: Vec<u8> = self.kept.iter().skip(skipped).copied().collect();
        Read {
            state: self.name(),
            exit_code: self.exit_code(),
            output: exacta::report::without_escapes(&bytes),
            next: self.total,
            dropped: from.saturating_sub(after),
            approval: self.approval.clone(),
            report: self.report.clone(),
        }
    }
}

impl Service {
    /// Starts it; it runs until it ends, is killed, or the service ends.
    pub fn start_process(self: &Arc<Self>, project: &Project, ask: Ask) -> Result<String, Problem> {
        self.processes.forget_ended();
        let mut attended = Attended::open(project, &ask)?;
        let canceller = attended.prepare(&ask).canceller;
        let (reader, writer) = canceller.input_pipe().map_err(Problem::failed)?;
        let rules = attended.session().redaction().rules().clone();
        let process = Arc::new(Process {
            project: project.root.display().to_string(),
            agent: ask.agent.clone(),
            command: rules.redact_text(&ask.command.to_str_lossy()).0,
            started: SystemTime::now(),
            canceller,
            input: Mutex::new(Some(writer)),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let id = uuid::Uuid::new_v4().to_string();
        let mut all = self.processes.lock();
        if all.len() >= limits::PROCESSES {
            let message = format!("there are {} processes already", limits::PROCESSES);
            return Err(Problem::new(Code::TooMany, message, "kill some that are not needed"));
        }
        let (service, started, name) = (Arc::clone(self), Arc::clone(&process), id.clone());
        let work = move || {
            let heard = Arc::clone(&started);
            let ringing = Arc::clone(&service);
            let hearer: Hearer = Arc::new(move |told| {
                match told {
                    Told::Started { .. } => {}
                    Told::Output { data, .. } => heard.hear(data),
                    Told::Approval(pending) => {
                        heard.asked(pending);
                        ringing.bell.ring("approval", serde_json::json!(pending));
                    }
                }
                Ok(())
            });
            let report = attended.again(started.canceller.clone()).run(&ask, Some(reader), &hearer);
            let took = started.started.elapsed().unwrap_or_default();
            service.counts.ran(&report, took);
            started.end(report);
            service.bell.ring("process", serde_json::json!(started.view(&name)));
        };
        let thread = thread::Builder::new().name("process".into()).spawn(work);
        process.state().thread = Some(thread.map_err(Problem::failed)?);
        self.bell.ring("process", serde_json::json!(process.view(&id)));
        all.insert(id.clone(), process);
        Ok(id)
    }

    /// That of another agent is not there.
    pub fn see_process(&self, id: &str, sees: impl Fn(&str) -> bool) -> Result<(), Problem> {
        let process = self.processes.find(id)?;
        sees(&process.agent).then_some(()).ok_or_else(|| unknown(id))
    }

    /// What it has written from `after` on; waits so long until there is something.
    pub fn read_process(&self, id: &str, after: u64, wait: Duration) -> Result<Read, Problem> {
        let process = self.processes.find(id)?;
        let state = process.state();
        // A question is news as well: who waits for output would wait for ever.
        let nothing_yet = |state: &mut State| {
            state.total <= after && state.report.is_none() && state.approval.is_none()
        };
        let wait = wait.min(limits::LONGEST_WAIT);
        let waited = process.changed.wait_timeout_while(state, wait, nothing_yet);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Ok(state.read(after))
    }

    /// To its standard input, and with `end` its end.
    pub fn write_process(&self, id: &str, text: &[u8], end: bool) -> Result<(), Problem> {
        let process = self.processes.find(id)?;
        let mut input = process.input.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pipe) = input.as_ref() else {
            let message = "its standard input has ended";
            return Err(Problem::new(Code::BadRequest, message, "start another one"));
        };
        let mut rest = text;
        while !rest.is_empty() {
            let written = rustix::io::retry_on_intr(|| rustix::io::write(pipe, rest));
            let written = written.map_err(|error| {
                Problem::new(Code::BadRequest, format!("nobody reads it: {error}"), "")
            })?;
            rest = rest.get(written..).unwrap_or_default();
        }
        if end {
            *input = None;
        }
        Ok(())
    }

    /// Ends it with everything that it has started.
    pub fn kill_process(&self, id: &str) -> Result<ProcessView, Problem> {
        let process = self.processes.find(id)?;
        process.canceller.cancel();
        process.join();
        Ok(process.view(id))
    }

    pub fn processes(&self) -> Vec<ProcessView> {
        self.processes.forget_ended();
        let all = self.processes.lock();
        let mut all: Vec<_> = all.iter().map(|(id, process)| process.view(id)).collect();
        all.sort_by(|one, other| one.started.cmp(&other.started));
        all
    }
}
