//! Tasks of every project that is served: asked for, shown, decided, ended, and worked on in the background.
//!
//! - [`at_work`]: those that are worked on here; each has a thread, and there is room for so many.
//! - [`attending`]: goes on with what was decided through another door, and takes up what somebody who died has left.
//! - [`showing`]: a task for clients. [`wanted`]: what a client asks for. [`trouble`]: errors with their codes.
//!
//! Who may do what is the doors' business; in which order an agent's tasks run is the engine's.

mod at_work;
mod attending;
mod showing;
mod trouble;
mod wanted;

pub use showing::Extent;
pub use wanted::{Deed, Wanted};

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use exacta::approvals::{PendingStore, State as Asked, Who};
use exacta::configuration::TaskSettings;
use exacta::redaction::Rules;
use exacta::tasks::{Again, Answer, State, Task, Tasks};
use serde_json::{Value, json};

use super::{Code, Problem, Project, Service, limits};
use at_work::AtWork;
use attending::Attendance;

const PAUSE: Duration = Duration::from_millis(50);
/// So many are listed unless somebody wants more.
const USUAL: usize = 100;

/// What is kept of the tasks while the service lives.
#[derive(Default)]
pub struct Board {
    open: Mutex<HashMap<PathBuf, Opened>>,
    at_work: AtWork,
    attendance: Attendance,
}

/// The tasks of one project.
#[derive(Clone)]
pub struct Opened {
    project: Project,
    tasks: Arc<Tasks>,
    settings: TaskSettings,
    /// What people do not see of its commands.
    rules: Rules,
}

/// One task, of whichever project it is.
pub struct Found {
    opened: Opened,
    pub task: Task,
}

/// Which of them are listed.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    pub project: Option<String>,
    pub state: Option<String>,
    pub limit: Option<usize>,
}

impl Found {
    /// All of it, as clients see it.
    pub fn view(&self, extent: Extent) -> Value {
        showing::whole(&self.opened, &self.task, extent)
    }

    /// The question that it waits for, while nobody has answered it.
    pub fn question(&self) -> Option<exacta::approvals::Pending> {
        let id = self.task.approval.as_ref().filter(|_| self.task.state == State::PendingApproval);
        let pending = PendingStore::of(&self.opened.project.root).get(id?).ok()?;
        (pending.state == Asked::Pending).then_some(pending)
    }

    /// Nothing happens to it before a person does something.
    pub fn rests(&self) -> bool {
        let state = self.task.state;
        state.is_final() || state == State::NeedsReview || self.question().is_some()
    }

    /// S4's entries behind one of them, each with its number.
    pub fn log(&self, after: u64) -> Result<Vec<Value>, Problem> {
        let lines = self.opened.tasks.log(&self.task.id, after).map_err(trouble::told)?;
        Ok(lines.iter().map(|(number, entry)| showing::line(*number, entry)).collect())
    }

    /// Waits until a person has to do something about it, or it has ended; so long at most.
    pub fn waited(&self, wait: Duration) -> Result<Found, Problem> {
        let (begun, wait) = (Instant::now(), wait.min(limits::LONGEST_WAIT));
        loop {
            let now = self.again()?;
            if now.rests() || begun.elapsed() >= wait {
                return Ok(now);
            }
            thread::sleep(PAUSE);
        }
    }

    /// As it is now.
    pub fn again(&self) -> Result<Found, Problem> {
        let task = self.opened.tasks.get(&self.task.id).map_err(trouble::told)?;
        Ok(Found { opened: self.opened.clone(), task })
    }
}

impl Service {
    /// What was opened before, as long as the operator's limits are the same.
    fn open_tasks(&self, project: &Project) -> Result<Opened, Problem> {
        let mut open = self.board.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = open.get(&project.root) {
            return Ok(opened.clone());
        }
        let opened = opened(project)?;
        open.insert(project.root.clone(), opened.clone());
        Ok(opened)
    }

    /// The same for a new task: what the operator has changed meanwhile counts. Those that run keep theirs.
    fn open_tasks_anew(&self, project: &Project) -> Result<Opened, Problem> {
        let known = self.open_tasks(project)?;
        if project.grounds()?.settings == known.settings {
            return Ok(known);
        }
        let opened = opened(project)?;
        let mut open = self.board.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.insert(project.root.clone(), opened.clone());
        Ok(opened)
    }

    /// By its id. That of another agent is not there.
    pub fn find_task(
        &self,
        project: Option<&str>,
        id: &str,
        sees: impl Fn(&str) -> bool,
    ) -> Result<Found, Problem> {
        for project in self.named(project)? {
            let opened = self.open_tasks(project)?;
            match opened.tasks.get(id) {
                Ok(task) if sees(&task.agent) => return Ok(Found { opened, task }),
                Ok(_) | Err(exacta::tasks::TaskError::Unknown(_)) => {}
                Err(error) => return Err(trouble::told(error)),
            }
        }
        Err(trouble::unknown(id))
    }

    /// Those that are seen, the newest first.
    pub fn tasks(&self, listed: &Listed, sees: impl Fn(&str) -> bool) -> Result<Value, Problem> {
        let state = listed.state.as_deref().filter(|state| !state.is_empty());
        let state = state.map(|name| State::from_name(name).ok_or_else(|| trouble::no_state(name)));
        let state = state.transpose()?;
        let mut found = Vec::new();
        for project in self.named(listed.project.as_deref())? {
            let opened = self.open_tasks(project)?;
            let all = opened.tasks.list().map_err(trouble::told)?;
            let fits =
                |task: &&Task| sees(&task.agent) && state.is_none_or(|state| task.state == state);
            found.extend(all.iter().filter(fits).map(|task| showing::row(&opened, task)));
        }
        // The ids begin with the time.
        found.sort_by(|one, other| other["id"].as_str().cmp(&one["id"].as_str()));
        found.truncate(listed.limit.unwrap_or(USUAL));
        Ok(Value::Array(found))
    }

    /// This project, or all of them.
    fn named(&self, project: Option<&str>) -> Result<Vec<&Project>, Problem> {
        match project.filter(|path| !path.is_empty()) {
            None => Ok(self.projects.all().iter().collect()),
            named => Ok(vec![self.projects.find(named)?]),
        }
    }

    /// A new one, which is worked on from now on.
    pub fn create_task(
        self: &Arc<Self>,
        project: Option<&str>,
        wanted: Wanted,
    ) -> Result<Found, Problem> {
        let project = self.projects.find(project)?;
        if self.board.at_work.is_full() {
            let message = format!("{} tasks run or wait for their turn already", limits::TASKS);
            return Err(Problem::new(Code::TooMany, message, "wait until some have ended"));
        }
        let (origin, wishes) = wanted.checked(project)?;
        let opened = self.open_tasks_anew(project)?;
        let task = opened.tasks.create(origin, wishes).map_err(trouble::told)?;
        let found = Found { opened, task };
        if !self.work_on(&found)? {
            // It waits, as if whoever asked for it had died: a daemon takes it up.
            found.opened.tasks.leave(&found.task.id);
        }
        Ok(found)
    }

    /// What somebody does about one. After a yes it goes on here.
    pub fn act_on_task(
        self: &Arc<Self>,
        found: &Found,
        deed: Deed,
        who: &Who,
    ) -> Result<Found, Problem> {
        let (tasks, id) = (&found.opened.tasks, &found.task.id);
        let done = match deed {
            Deed::Approve(None) => tasks.decide(id, Answer::Approve, who),
            Deed::Approve(Some(step)) => tasks.decide(id, Answer::ApproveStep(step), who),
            Deed::Reject => tasks.decide(id, Answer::Reject, who),
            Deed::Cancel => tasks.cancel(id, &who.name),
            Deed::Retry { force } => {
                let again = if force { Again::Anyway } else { Again::IfSafe };
                tasks.retry(id, again, &who.name)
            }
            Deed::Run if found.task.state.is_final() || found.task.state == State::NeedsReview => {
                return Err(trouble::nothing_to_run(&found.task));
            }
            Deed::Run => tasks.get(id),
        };
        let task = done.map_err(trouble::told)?;
        let found = Found { opened: found.opened.clone(), task };
        if matches!(deed, Deed::Approve(_) | Deed::Reject) {
            self.tell_of_question(&found);
        }
        self.tell_of_task(&found, "changed");
        if !found.rests() {
            self.work_on(&found)?;
        }
        found.again()
    }

    /// The question of one was answered: it goes on, if nobody else does that.
    pub fn task_was_decided(&self) {
        self.board.attendance.kick();
    }

    /// How many are worked on.
    pub fn tasks_at_work(&self) -> usize {
        self.board.at_work.count()
    }

    /// The service ends: nobody is to wait for news any more.
    pub fn tasks_are_over(&self) -> bool {
        self.board.at_work.is_closed()
    }

    /// Those that run are put down so that they can be taken up again: nothing of them runs when this returns.
    pub fn leave_tasks(&self) {
        self.board.at_work.leave_all();
        self.board.attendance.kick();
    }

    fn tell_of_question(&self, found: &Found) {
        let Some(id) = &found.task.approval else { return };
        if let Ok(pending) = PendingStore::of(&found.opened.project.root).get(id) {
            self.bell.ring("approval", json!(pending));
        }
    }

    fn tell_of_task(&self, found: &Found, event: &str) {
        let Found { opened, task } = found;
        let mut data = showing::row(opened, task);
        data["event"] = json!(event);
        self.bell.ring("task", data);
    }
}

fn opened(project: &Project) -> Result<Opened, Problem> {
    let grounds = project.grounds()?;
    let settings = grounds.settings.clone();
    let rules = project.redaction()?;
    let tasks = Tasks::open(grounds).map_err(trouble::told)?;
    Ok(Opened { project: project.clone(), tasks: Arc::new(tasks), settings, rules })
}
