//! The tasks of one project.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use exacta_store::audit::{Limits, Signing};

use super::keeping::{Keeper, files, now};
use super::locks::Held;
use super::plan::is_agent;
use super::turns::{self, Ticket};
use super::{LogEntry, Move, Plan, State, Task, TaskError};
use crate::approvals::{Approver, Desk, PendingStore, Unattended};
use crate::audit::Trail;
use crate::audit::cleansing;
use crate::commands_file::Trust;
use crate::configuration::TaskSettings;
use crate::error::EngineError;
use crate::redaction::Redaction;
use crate::session::SessionOptions;

/// A session of the project, judged as tasks are, that asks this approver.
pub type Launching =
    Arc<dyn Fn(Arc<dyn Approver>) -> Result<SessionOptions, EngineError> + Send + Sync>;

/// What tasks stand on.
#[derive(Clone)]
pub struct Grounds {
    /// The project.
    pub root: PathBuf,
    /// The operator's own state, where agents take turns. Absent: nothing runs.
    pub state: Option<PathBuf>,
    pub launch: Launching,
    /// The operator's limits.
    pub settings: TaskSettings,
}

/// What a task comes from.
#[derive(Debug, Clone)]
pub enum Origin {
    Plan(Plan),
    Goal { goal: String, agent: String },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Undo what was done when it fails.
    pub rollback_on_failure: bool,
    /// Every step that needs a yes is decided on its own.
    pub step_by_step: bool,
}

pub struct Tasks {
    pub(super) grounds: Grounds,
    pub(super) keeper: Keeper,
    pub(super) redaction: Arc<Redaction>,
    keys: Option<PathBuf>,
    limits: Limits,
    trust: Arc<dyn Trust>,
    /// Places in the queue of those that were asked for here and wait.
    tickets: Mutex<HashMap<String, Ticket>>,
}

impl Tasks {
    /// Makes nothing.
    pub fn open(grounds: Grounds) -> Result<Self, TaskError> {
        let options = (grounds.launch)(Arc::new(Unattended))?;
        let redaction = Arc::new(options.redaction.with_environment(&options.environment));
        let audit = options.audit.unwrap_or_default();
        let root = &grounds.root;
        let keys = audit.keys;
        let signing =
            Signing { folder: keys.clone(), project: root.as_os_str().as_bytes().to_vec() };
        let keeper = Keeper::new(root.clone(), signing, cleansing::of(&redaction));
        let (limits, trust, tickets) = (audit.limits, options.trust, Mutex::default());
        Ok(Tasks { grounds, keeper, redaction, keys, limits, trust, tickets })
    }

    /// A new task, at the end of its agent's queue. Whoever asks for it here is to [advance](Self::advance) it, or to
    /// [leave](Self::leave) its place to others: as long as this lives, those that come later wait.
    pub fn create(&self, origin: Origin, wishes: Wishes) -> Result<Task, TaskError> {
        let (goal, agent, plan) = match origin {
            Origin::Plan(plan) => (plan.goal.clone(), plan.agent.clone(), Some(plan)),
            Origin::Goal { goal, agent } => (goal, agent, None),
        };
        if !is_agent(&agent) {
            return Err(TaskError::Agent(agent));
        }
        let ticket = self.queue(&agent)?;
        let created = now();
        let mut task = Task {
            id: uuid::Uuid::now_v7().to_string(),
            agent,
            goal,
            state: State::Pending,
            steps: Vec::new(),
            approval: None,
            approved: Vec::new(),
            reason: String::new(),
            rollback_on_failure: wishes.rollback_on_failure,
            step_by_step: wishes.step_by_step,
            rolled_back: false,
            refused: false,
            asks: Vec::new(),
            asking: None,
            answered: Vec::new(),
            approved_by: String::new(),
            round: 0,
            created,
            changed: created,
            cancelled_by: None,
            left: false,
            fence: 0,
            plan: None,
        };
        if let Some(plan) = plan {
            task.set_plan(plan);
        }
        self.keeper.insert(&task, "asked for")?;
        self.tickets().insert(task.id.clone(), ticket);
        Ok(task)
    }

    /// By its id, or by a beginning of it that only one has.
    pub fn get(&self, id: &str) -> Result<Task, TaskError> {
        self.keeper.get(id)
    }

    /// All of them, the newest first.
    pub fn list(&self) -> Result<Vec<Task>, TaskError> {
        self.keeper.list()
    }

    /// Those that have not ended, the oldest first.
    pub fn unfinished(&self) -> Result<Vec<Task>, TaskError> {
        self.keeper.unfinished()
    }

    /// The lines of its `executionLog` behind one, each with its number: the last thousand.
    pub fn log(&self, id: &str, after: u64) -> Result<Vec<(u64, LogEntry)>, TaskError> {
        self.keeper.log(&self.get(id)?.id, after)
    }

    /// The way it has come.
    pub fn moves(&self, id: &str) -> Result<Vec<Move>, TaskError> {
        self.keeper.moves(&self.get(id)?.id)
    }

    /// Whether somebody works on it now, here or in another process.
    pub fn is_worked_on(&self, id: &str) -> Result<bool, TaskError> {
        Ok(self.keeper.hold(&self.get(id)?.id)?.is_none())
    }

    /// A place in the queue for one that there is, as [`create`](Self::create) gives it: whoever takes up several keeps
    /// their order so.
    pub fn line_up(&self, task: &Task) -> Result<(), TaskError> {
        let ticket = self.ticket(task)?;
        self.keep_ticket(&task.id, ticket);
        Ok(())
    }

    /// Gives up the place in the queue that it got here.
    pub fn leave(&self, id: &str) {
        self.tickets().remove(id);
    }

    /// The place that it has, or one at the end.
    pub(super) fn ticket(&self, task: &Task) -> Result<Ticket, TaskError> {
        let kept = self.tickets().remove(&task.id);
        kept.map_or_else(|| self.queue(&task.agent), Ok)
    }

    pub(super) fn keep_ticket(&self, id: &str, ticket: Ticket) {
        self.tickets().insert(id.to_owned(), ticket);
    }

    fn queue(&self, agent: &str) -> Result<Ticket, TaskError> {
        let state = self.grounds.state.as_deref().ok_or(TaskError::NoState)?;
        turns::take(state, agent)
            .map_err(files(format!("take a turn in {}", turns::place(state).display())))
    }

    /// The task with the right to work on it, as it is now.
    pub(super) fn hold(&self, id: &str) -> Result<(Task, Held), TaskError> {
        let id = self.get(id)?.id;
        let held = self.keeper.hold(&id)?.ok_or_else(|| TaskError::Busy(id.clone()))?;
        Ok((self.keeper.get(&id)?, held))
    }

    pub(super) fn root(&self) -> &Path {
        &self.grounds.root
    }

    pub(super) fn questions(&self) -> PendingStore {
        PendingStore::of(self.root())
    }

    pub(super) fn trail(&self) -> Trail {
        Trail::of(self.root(), self.keys.clone(), self.limits)
    }

    pub(super) fn desk(&self) -> Desk {
        Desk::of(self.root(), self.trail(), Arc::clone(&self.trust))
    }

    fn tickets(&self) -> MutexGuard<'_, HashMap<String, Ticket>> {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
