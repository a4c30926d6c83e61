//! Looks after tasks: goes on with those whose question was answered, through whichever door and in whichever process, and
//! at the start with those that somebody has left behind.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use exacta::tasks::{State, Task};

use super::{Found, Opened};
use crate::output;
use crate::service::Service;

/// How often it is looked what was decided elsewhere.
const LOOK: Duration = Duration::from_secs(1);
/// One of our own that nothing has happened to for so long, and that nobody works on, is tried again.
const STALE: Duration = Duration::from_secs(10);

/// Which tasks are looked after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// A daemon: everybody's.
    All,
    /// A process that serves one client: what it has begun itself.
    Own,
}

#[derive(Default)]
pub struct Attendance {
    state: Mutex<Looking>,
    kicked: Condvar,
}

#[derive(Default)]
struct Looking {
    whose: Option<Whose>,
    kicked: bool,
}

impl Attendance {
    /// Somebody has decided something: it is looked at once.
    pub fn kick(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).kicked = true;
        self.kicked.notify_all();
    }

    /// Whether nobody was before.
    fn claim(&self, whose: Whose) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let first = state.whose.is_none();
        state.whose.get_or_insert(whose);
        first
    }

    fn wait(&self) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.kicked.wait_timeout_while(state, LOOK, |state| !state.kicked);
        waited.unwrap_or_else(PoisonError::into_inner).0.kicked = false;
    }
}

impl Service {
    /// Takes up what was left, and goes on with what is decided from now on.
    pub fn attend_tasks(self: &Arc<Self>) {
        for project in self.projects.all() {
            let taken = self.open_tasks(project).map(|opened| self.take_up(&opened));
            if let Err(problem) = taken {
                output::error(&format!("exacta: tasks of {}: {problem}\n", project.root.display()));
            }
        }
        self.attend(Whose::All);
    }

    /// The same for what was begun here, where nobody looks after all of them.
    pub(super) fn attend_own(self: &Arc<Self>) {
        self.attend(Whose::Own);
    }

    fn attend(self: &Arc<Self>, whose: Whose) {
        if !self.board.attendance.claim(whose) {
            return;
        }
        let service = Arc::clone(self);
        let work = move || {
            let mut before = HashSet::new();
            while !service.tasks_are_over() {
                service.board.attendance.wait();
                before = service.look_at_tasks(whose, &before);
            }
        };
        if let Err(error) = thread::Builder::new().name("tasks".into()).spawn(work) {
            output::error(&format!("exacta: nobody looks after tasks: {error}\n"));
        }
    }

    /// What somebody who died has left is brought in order; what can go on does, the tasks of an agent in their order.
    fn take_up(self: &Arc<Self>, opened: &Opened) {
        let name = opened.project.root.display();
        match opened.tasks.recover() {
            Ok(recovered) => {
                for found in recovered {
                    let (id, was, why) = (&found.id, found.was.name(), &found.why);
                    output::error(&format!("exacta: task {id} was {was}: {why}\n"));
                }
            }
            Err(error) => output::error(&format!("exacta: tasks of {name}: {error}\n")),
        }
        let mut agents: BTreeMap<String, Vec<Found>> = BTreeMap::new();
        for task in opened.tasks.unfinished().unwrap_or_default() {
            let goes_on = task.state.is_busy() || task.state == State::Pending;
            if goes_on || is_answered(opened, &task) {
                let agent = task.agent.clone();
                agents.entry(agent).or_default().push(opened.clone().with(task));
            }
        }
        for all in agents.into_values() {
            let service = Arc::clone(self);
            let work = move || service.work_through(&all);
            let _the_next_start_does_it = thread::Builder::new().name("task".into()).spawn(work);
        }
    }

    /// Those of others that are answered now. Whoever waits for one of these somewhere else comes first: with theirs it goes
    /// on when nobody has done so until the next look.
    fn look_at_tasks(self: &Arc<Self>, whose: Whose, before: &HashSet<String>) -> HashSet<String> {
        let mut answered = HashSet::new();
        let work = &self.board.at_work;
        if whose == Whose::Own && !work.has_own() {
            return answered;
        }
        for project in self.projects.all() {
            let Ok(opened) = self.open_tasks(project) else { continue };
            for task in opened.tasks.unfinished().unwrap_or_default() {
                let own = work.is_own(&task.id);
                let wanted = match task.state {
                    State::PendingApproval => is_answered(&opened, &task),
                    State::NeedsReview => false,
                    _ => own && is_stale(&task),
                };
                if !wanted || work.has(&task.id) || (whose == Whose::Own && !own) {
                    continue;
                }
                if own || before.contains(&task.id) {
                    let _there_is_room_later = self.work_on(&opened.clone().with(task));
                } else {
                    answered.insert(task.id);
                }
            }
        }
        answered
    }
}

impl Opened {
    pub(super) fn with(self, task: Task) -> Found {
        Found { opened: self, task }
    }
}

/// Decided, too old, or gone: whoever works on it now finds out which.
fn is_answered(opened: &Opened, task: &Task) -> bool {
    let waits = task.state == State::PendingApproval;
    waits && opened.tasks.is_decided(task).unwrap_or(false)
}

fn is_stale(task: &Task) -> bool {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(Duration::from_millis(task.changed)) > STALE
}
