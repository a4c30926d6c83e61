//! Where tasks are kept: rows of the store as [`Task`]s, and every change by the one state machine.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own directories: opened once, by handle, before anything is asked of them"
)]

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use exacta_store::audit::{AuditError, Cleanser, Signing};
use exacta_store::tasks::{Change, Row, TaskStore};
use rustix::fs::{Mode, OFlags};

use super::locks::{self, Held};
use super::{LogEntry, LogKind, State, Task, TaskError};
use crate::filesystem::state::ensure;
use crate::project;

const FOLDER: &str = "tasks";

/// A step on the way of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// Milliseconds since 1970.
    pub timestamp: u64,
    /// Absent: it was asked for.
    pub from: Option<State>,
    pub to: State,
    pub why: String,
}

pub(super) struct Keeper {
    root: PathBuf,
    signing: Signing,
    cleanser: Arc<dyn Cleanser>,
    store: Mutex<Option<TaskStore>>,
}

impl Keeper {
    pub(super) fn new(root: PathBuf, signing: Signing, cleanser: Arc<dyn Cleanser>) -> Self {
        Keeper { root, signing, cleanser, store: Mutex::default() }
    }

    /// A new one.
    pub(super) fn insert(&self, task: &Task, why: &str) -> Result<(), TaskError> {
        let row = Row {
            id: task.id.clone(),
            agent: task.agent.clone(),
            state: task.state.name().to_owned(),
            fence: task.fence,
            created: task.created,
            changed: task.changed,
            cancelled_by: None,
            body: written(task),
        };
        self.with_made(|store| store.insert(&row, why, &*self.cleanser))
    }

    /// To another state, by the state machine. On the disk when this returns.
    pub(super) fn move_to(&self, task: &mut Task, to: State, why: &str) -> Result<(), TaskError> {
        if !task.state.leads_to(to) {
            return Err(TaskError::Illegal { id: task.id.clone(), from: task.state, to });
        }
        let mut moved = Task { state: to, reason: why.to_owned(), ..task.clone() };
        let anew = to == State::Pending && !task.state.is_busy();
        self.change(task.state, &mut moved, why, anew)?;
        *task = moved;
        Ok(())
    }

    /// The same state with what was found out meanwhile. On the disk when this returns.
    pub(super) fn save(&self, task: &mut Task) -> Result<(), TaskError> {
        self.change(task.state, task, "", false)
    }

    fn change(
        &self,
        from: State,
        task: &mut Task,
        why: &str,
        begins_anew: bool,
    ) -> Result<(), TaskError> {
        task.changed = now();
        let body = written(task);
        let change = Change {
            id: &task.id,
            agent: &task.agent,
            from: from.name(),
            fence: task.fence,
            to: task.state.name(),
            why,
            body: &body,
            begins_anew,
        };
        let fence = self.with_made(|store| store.change(&change, &*self.cleanser))?;
        task.fence = fence.ok_or_else(|| TaskError::Changed(task.id.clone()))?;
        Ok(())
    }

    pub(super) fn get(&self, id: &str) -> Result<Task, TaskError> {
        let found = self.with_existing(|store| match store.get(id)? {
            Some(row) => Ok(vec![row]),
            None if id.is_empty() => Ok(Vec::new()),
            None => store.beginning_with(id),
        })?;
        match found.unwrap_or_default().as_slice() {
            [row] => read(row),
            _ => Err(TaskError::Unknown(id.to_owned())),
        }
    }

    pub(super) fn list(&self) -> Result<Vec<Task>, TaskError> {
        let rows = self.with_existing(|store| store.list())?;
        rows.unwrap_or_default().iter().map(read).collect()
    }

    pub(super) fn unfinished(&self) -> Result<Vec<Task>, TaskError> {
        let rows = self.with_existing(|store| store.unfinished())?;
        rows.unwrap_or_default().iter().map(read).collect()
    }

    pub(super) fn moves(&self, id: &str) -> Result<Vec<Move>, TaskError> {
        let moves = self.with_existing(|store| store.moves(id))?.unwrap_or_default();
        let read = |it: exacta_store::tasks::Move| {
            let to = State::from_name(&it.to)?;
            Some(Move { timestamp: it.stamp, from: State::from_name(&it.from), to, why: it.why })
        };
        Ok(moves.into_iter().filter_map(read).collect())
    }

    pub(super) fn write_log(&self, id: &str, lines: &[LogEntry]) -> Result<(), TaskError> {
        let lines: Vec<_> = lines
            .iter()
            .map(|line| (line.timestamp, line.kind.name(), line.content.as_str()))
            .collect();
        self.with_made(|store| store.write_log(id, &lines))
    }

    /// With the number of each.
    pub(super) fn log(&self, id: &str, after: u64) -> Result<Vec<(u64, LogEntry)>, TaskError> {
        let lines = self.with_existing(|store| store.log(id, after))?.unwrap_or_default();
        let read = |line: exacta_store::tasks::Line| {
            let kind = LogKind::from_name(&line.kind).unwrap_or(LogKind::Info);
            (line.number, LogEntry { timestamp: line.stamp, kind, content: line.content })
        };
        Ok(lines.into_iter().map(read).collect())
    }

    pub(super) fn ask_to_cancel(&self, id: &str, who: &str) -> Result<(), TaskError> {
        self.with_made(|store| store.ask_to_cancel(id, who)).map(|_there| ())
    }

    pub(super) fn cancelled_by(&self, id: &str) -> Result<Option<String>, TaskError> {
        Ok(self.with_existing(|store| store.cancelled_by(id))?.flatten())
    }

    /// The right to work on a task. `None`: somebody else does.
    pub(super) fn hold(&self, id: &str) -> Result<Option<Held>, TaskError> {
        let held = || locks::try_hold(&self.folder()?, &named(id));
        held().map_err(|error| TaskError::Files {
            doing: format!("lock a task in {}", self.place().join(FOLDER).display()),
            error,
        })
    }

    /// Nobody will work on it any more.
    pub(super) fn forget_lock(&self, id: &str, held: Held) {
        let _only_a_file = self.folder().and_then(|folder| locks::remove(&folder, &named(id)));
        drop(held);
    }

    fn folder(&self) -> io::Result<OwnedFd> {
        project::state_directory(&self.root)?;
        Ok(ensure(self.existing_state()?, FOLDER)?.0)
    }

    /// The state of the project is not as it has to be.
    fn unusable(&self, doing: &str, error: io::Error) -> TaskError {
        TaskError::Files { doing: format!("{doing} {}", self.place().display()), error }
    }

    /// Where the state is, for people.
    fn place(&self) -> PathBuf {
        project::state_path(&self.root).unwrap_or_else(|_| self.root.clone())
    }

    /// Never through a link in the last place: the state may have come with the repository.
    fn existing_state(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let path = project::state_path(&self.root)?;
        Ok(rustix::fs::open(path, flags, Mode::empty())?)
    }

    /// Made if it is missing.
    fn with_made<T>(
        &self,
        work: impl FnOnce(&mut TaskStore) -> Result<T, AuditError>,
    ) -> Result<T, TaskError> {
        let mut slot = self.lock();
        if slot.is_none() {
            let made = project::state_directory(&self.root).and_then(|_path| self.existing_state());
            let state = made.map_err(|error| self.unusable("keep tasks in", error))?;
            *slot = Some(TaskStore::open(state.as_fd(), &self.signing)?);
        }
        let store = slot.as_mut().ok_or(AuditError::Nothing)?;
        Ok(work(store)?)
    }

    /// Makes nothing: `None` where nothing was ever kept.
    fn with_existing<T>(
        &self,
        work: impl FnOnce(&mut TaskStore) -> Result<T, AuditError>,
    ) -> Result<Option<T>, TaskError> {
        let mut slot = self.lock();
        if slot.is_none() {
            let state = match self.existing_state() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                state => state.map_err(|error| self.unusable("look for tasks in", error))?,
            };
            match TaskStore::existing(state.as_fd(), &self.signing) {
                Err(AuditError::Nothing) => return Ok(None),
                store => *slot = Some(store?),
            }
        }
        let store = slot.as_mut().ok_or(AuditError::Nothing)?;
        Ok(Some(work(store)?))
    }

    fn lock(&self) -> MutexGuard<'_, Option<TaskStore>> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn named(id: &str) -> String {
    format!("{id}.lock")
}

fn written(task: &Task) -> String {
    // A value of plain texts and numbers can always be written.
    serde_json::to_string(task).unwrap_or_default()
}

fn read(row: &Row) -> Result<Task, TaskError> {
    let broken = |problem: String| TaskError::Broken { id: row.id.clone(), problem };
    let mut task: Task =
        serde_json::from_str(&row.body).map_err(|error| broken(error.to_string()))?;
    // What is found by is what counts.
    task.state = State::from_name(&row.state)
        .ok_or_else(|| broken(format!("{:?} is no state", row.state)))?;
    if task.id != row.id {
        return Err(broken(format!("it says that it is {:?}", task.id)));
    }
    (task.fence, task.changed) = (row.fence, row.changed);
    task.cancelled_by.clone_from(&row.cancelled_by);
    Ok(task)
}

/// Milliseconds since 1970.
pub(super) fn now() -> u64 {
    u64::try_from(exacta_store::audit::now() / 1_000).unwrap_or(0)
}

/// What the system says no to.
pub(super) fn files(doing: impl Into<String>) -> impl FnOnce(io::Error) -> TaskError {
    move |error| TaskError::Files { doing: doing.into(), error }
}
