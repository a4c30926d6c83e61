//! What every served door can do, HTTP and MCP alike: run, sessions, background processes, approvals,
//! tasks. Each door puts it into
//! its own words. Nothing is decided here; the engine does that.

mod bell;
mod counts;
mod leash;
mod limits;
mod operations;
mod problem;
mod processes;
mod projects;
mod records;
mod running;
mod sessions;
mod tasks;
mod underway;
mod watched;

pub use bell::{Bell, Event};
pub use counts::{BUCKETS, ENDINGS};
pub use leash::{Leash, UntilAnswered};
pub use operations::Decision;
pub use problem::{Code, Problem};
pub use projects::{Project, Projects};
pub use records::{Seen, Turning};
pub use running::{Ask, Hearer, Told};
pub use tasks::{Deed, Extent, Found, Listed, Wanted};

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use exacta::audit::Held;

use counts::Counts;
use processes::Processes;
use sessions::Sessions;
use tasks::Board;
use underway::Underway;

/// Everything that is open at once, of all projects.
pub struct Service {
    pub projects: Projects,
    pub bell: Bell,
    pub counts: Counts,
    sessions: Sessions,
    processes: Processes,
    underway: Underway,
    board: Board,
    /// The records that were last written to, by the root of the project.
    records: Mutex<HashMap<PathBuf, Held>>,
}

impl Service {
    pub fn new(projects: Projects) -> Arc<Self> {
        Arc::new(Service {
            projects,
            bell: Bell::new(),
            counts: Counts::default(),
            sessions: Sessions::default(),
            processes: Processes::default(),
            underway: Underway::default(),
            board: Board::default(),
            records: Mutex::default(),
        })
    }

    /// Ends all that runs: nothing of it is left when this returns.
    pub fn close(&self) {
        self.leave_tasks();
        self.underway.end_all();
        self.processes.end_all();
        self.sessions.end_all();
        self.keep_records(HashMap::clear);
    }

    /// The project, with all in its record that was answered before.
    pub fn up_to_date(&self, project: Option<&str>) -> Result<&Project, Problem> {
        let project = self.projects.find(project)?;
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let record = records.get(&project.root).cloned();
        drop(records);
        // What cannot be written was said to whoever asked for it.
        let _only_older = record.map(|record| record.flush());
        Ok(project)
    }

    fn keep_records(&self, change: impl FnOnce(&mut HashMap<PathBuf, Held>)) {
        change(&mut self.records.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
