//! Looks after tasks: goes on with those whose question was answered, through whichever door and in whichever process, and
//! with those that somebody who died has left behind.

use std::collections::HashSet;
use std::fmt::Display;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use exacta::tasks::{State, Task, TaskError};

use super::{Found, Opened};
use crate::output;
use crate::service::Service;

/// How often it is looked what was decided elsewhere.
const LOOK: Duration = Duration::from_secs(1);
/// One that nothing has happened to for so long, and that nobody works on, is tried again if it is our own, and begun if
/// nobody else has.
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
    /// Takes up what was left, and goes on with what is decided or left from now on.
    pub fn attend_tasks(self: &Arc<Self>) {
        // Before any of them is begun: whoever begins one looks after its own else.
        let first = self.board.attendance.claim(Whose::All);
        for project in self.projects.all() {
            let told = |problem: &dyn Display| {
                output::error(&format!("exacta: tasks of {}: {problem}\n", project.root.display()));
            };
            match self.open_tasks(project) {
                Ok(opened) => self.take_up(&opened).unwrap_or_else(|error| told(&error)),
                Err(problem) => told(&problem),
            }
        }
        if first {
            self.look_after(Whose::All);
        }
    }

    /// The same for what was begun here, where nobody looks after all of them.
    pub(super) fn attend_own(self: &Arc<Self>) {
        if self.board.attendance.claim(Whose::Own) {
            self.look_after(Whose::Own);
        }
    }

    fn look_after(self: &Arc<Self>, whose: Whose) {
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

    /// At the start: all that can go on does.
    fn take_up(self: &Arc<Self>, opened: &Opened) -> Result<(), TaskError> {
        self.bring_in_order(opened)?;
        for task in opened.tasks.unfinished()? {
            let begins = task.state == State::Pending || task.left;
            if begins || is_answered(opened, &task) {
                self.go_on_with(&opened.clone().with(task));
            }
        }
        Ok(())
    }

    /// What somebody who died has left: it can go on, or a person has to look at it.
    fn bring_in_order(&self, opened: &Opened) -> Result<(), TaskError> {
        for found in opened.tasks.recover()? {
            let (id, was, why) = (&found.id, found.was.name(), &found.why);
            output::error(&format!("exacta: task {id} was {was}: {why}\n"));
            let task = opened.tasks.get(id)?;
            self.tell_of_task(&opened.clone().with(task), "changed");
        }
        Ok(())
    }

    /// Behind what its agent has asked for before.
    fn go_on_with(self: &Arc<Self>, found: &Found) {
        let tasks = &found.opened.tasks;
        let begun = tasks.line_up(&found.task).is_ok() && self.work_on(found).unwrap_or(false);
        if !begun {
            // There is room later.
            tasks.leave(&found.task.id);
        }
    }

    /// Those of others that are answered or left now. Whoever waits for one of these somewhere else comes first: with theirs
    /// it goes on when nobody has done so until the next look.
    fn look_at_tasks(self: &Arc<Self>, whose: Whose, before: &HashSet<String>) -> HashSet<String> {
        let mut found = HashSet::new();
        let work = &self.board.at_work;
        if whose == Whose::Own && !work.has_own() {
            return found;
        }
        for project in self.projects.all() {
            let Ok(opened) = self.open_tasks(project) else { continue };
            if whose == Whose::All {
                // The next look tries it again.
                let _next_time = self.bring_in_order(&opened);
            }
            for task in opened.tasks.unfinished().unwrap_or_default() {
                let own = work.is_own(&task.id);
                let ours = own || whose == Whose::All;
                if !ours || work.has(&task.id) || !can_go_on(&opened, &task, own) {
                    continue;
                }
                if own || before.contains(&task.id) {
                    self.go_on_with(&opened.clone().with(task));
                } else {
                    found.insert(task.id);
                }
            }
        }
        found
    }
}

impl Opened {
    pub(super) fn with(self, task: Task) -> Found {
        Found { opened: self, task }
    }
}

/// Nobody works on it, and nothing stands against it.
fn can_go_on(opened: &Opened, task: &Task, own: bool) -> bool {
    let free = || is_stale(task) && !opened.tasks.is_worked_on(&task.id).unwrap_or(true);
    match task.state {
        State::PendingApproval => is_answered(opened, task),
        State::NeedsReview => false,
        _ if task.left => true,
        _ if own => free(),
        // Whoever asked for it has died, or leaves it to others.
        State::Pending => free() && (task.plan.is_some() || opened.project.planner().is_ok()),
        _ => false,
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
