//! Tasks that are worked on here: each has a thread, and there is room for so many. Whoever ends the service has them put
//! down, not ended: they are taken up again.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use exacta::tasks::{Event, Manner, Planner, State as Standing, Stopper, TaskError, Watcher};
use serde_json::{Value, json};

use super::Found;
use crate::output;
use crate::service::{Problem, Project, Service, limits};

/// As long as they may take to be put down: what a step had done is taken back.
const GRACE: Duration = Duration::from_secs(4);

#[derive(Default)]
pub struct AtWork {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// Nothing begins any more.
    closed: bool,
    all: HashMap<String, Stopper>,
    /// Those that were begun here and have not ended: with their answers it goes on at once.
    own: HashSet<String>,
}

/// One of them, until it is dropped.
struct Entered {
    service: Arc<Service>,
    id: String,
    stopper: Stopper,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.service.board.at_work.lock().all.remove(&self.id);
        self.service.board.at_work.ended.notify_all();
    }
}

impl AtWork {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn count(&self) -> usize {
        self.lock().all.len()
    }

    pub fn is_full(&self) -> bool {
        self.count() >= limits::TASKS
    }

    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    pub fn has(&self, id: &str) -> bool {
        self.lock().all.contains_key(id)
    }

    pub fn is_own(&self, id: &str) -> bool {
        self.lock().own.contains(id)
    }

    pub fn has_own(&self) -> bool {
        !self.lock().own.is_empty()
    }

    fn forget(&self, id: &str) {
        self.lock().own.remove(id);
    }

    pub fn leave_all(&self) {
        let mut state = self.lock();
        state.closed = true;
        for stopper in state.all.values() {
            stopper.leave();
        }
        let some_are_left = |state: &mut State| !state.all.is_empty();
        drop(self.ended.wait_timeout_while(state, GRACE, some_are_left));
    }
}

impl Service {
    /// Works on it, on a thread of its own. False: somebody here does already, there is no room, or the service ends.
    pub(super) fn work_on(self: &Arc<Self>, found: &Found) -> Result<bool, Problem> {
        let Some(entered) = self.enter(&found.task.id) else { return Ok(false) };
        self.attend_own();
        let (service, found) = (Arc::clone(self), found.opened.clone().with(found.task.clone()));
        let work = move || service.advance(&found, &entered);
        let started = thread::Builder::new().name("task".into()).spawn(work);
        started.map(|_| true).map_err(Problem::failed)
    }

    fn enter(self: &Arc<Self>, id: &str) -> Option<Entered> {
        let mut state = self.board.at_work.lock();
        if state.closed || state.all.contains_key(id) || state.all.len() >= limits::TASKS {
            return None;
        }
        let stopper = Stopper::default();
        state.all.insert(id.to_owned(), stopper.clone());
        state.own.insert(id.to_owned());
        Some(Entered { service: Arc::clone(self), id: id.to_owned(), stopper })
    }

    fn advance(&self, found: &Found, entered: &Entered) {
        let project = &found.opened.project;
        let planner = found.task.plan.is_none().then(|| project.planner().ok()).flatten();
        let planner = planner.as_ref().map(|planner| planner as &dyn Planner);
        let watcher = Teller { service: self, found };
        let manner = Manner { planner, watcher: &watcher, stopper: &entered.stopper };
        let id = &found.task.id;
        match found.opened.tasks.advance(id, &manner) {
            Ok(task) => {
                if task.state.is_final() || task.state == Standing::NeedsReview {
                    self.board.at_work.forget(id);
                    self.counts.task_ended(task.state);
                }
                self.tell_of_task(&found.opened.clone().with(task), "rests");
            }
            // Whoever works on it tells, and has its turn.
            Err(TaskError::Busy(_)) => found.opened.tasks.leave(id),
            Err(error) => {
                if matches!(error, TaskError::NoPlanner(_)) {
                    self.board.at_work.forget(id);
                }
                found.opened.tasks.leave(id);
                output::error(&format!("exacta: task {id}: {error}\n"));
            }
        }
    }
}

/// Tells whoever looks on. Lines of the log are looked up by those who want them: there may be very many.
struct Teller<'a> {
    service: &'a Service,
    found: &'a Found,
}

impl Teller<'_> {
    fn tell(&self, event: &str, more: &[(&str, Value)]) {
        let project: &Project = &self.found.opened.project;
        let mut data = json!({
            "id": self.found.task.id,
            "project": project.root.display().to_string(),
            "agent": self.found.task.agent,
            "event": event,
        });
        for (name, value) in more {
            data[*name] = value.clone();
        }
        self.service.bell.ring("task", data);
    }
}

impl Watcher for Teller<'_> {
    fn notice(&self, _task: &str, event: &Event<'_>) {
        match event {
            Event::Moved { from, to, .. } => {
                self.tell("moved", &[("from", json!(from.name())), ("state", json!(to.name()))]);
            }
            Event::Queued { ahead } => self.tell("queued", &[("ahead", json!(ahead))]),
            Event::StepBegins { step, attempt, .. } => {
                let numbers = [("step", json!(step + 1)), ("attempt", json!(attempt + 1))];
                self.tell("step_began", &numbers);
            }
            Event::StepEnded { step, attempt, .. } => {
                let done = attempt.failed.is_none();
                self.tell("step_ended", &[("step", json!(step + 1)), ("done", json!(done))]);
            }
            Event::Pausing { step, pause } => {
                let pause = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
                self.tell("pausing", &[("step", json!(step + 1)), ("pause_ms", json!(pause))]);
            }
            Event::TakenBack { step } => self.tell("taken_back", &[("step", json!(step + 1))]),
            Event::Asked(pending) => {
                self.service.bell.ring("approval", json!(pending));
                self.tell("asked", &[("approval", json!(pending.id))]);
            }
            // It is in the log too.
            Event::Noted(_) | Event::Logged { .. } | Event::StepRan { .. } => {}
        }
    }
}
