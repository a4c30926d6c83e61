//! What takes no session: verdicts, approvals.

use std::thread;
use std::time::{Duration, Instant};

use exacta::Session;
use exacta::approvals::{
    DecideError, Pending, PendingError, PendingStore, Ruling, Scope, State, Unattended, Who,
};
use exacta::gate::Face;
use serde_json::Value;

use super::{Code, Problem, Project, Service, limits};
use crate::verbs::preview::{self, NoPreview};
use crate::verbs::shell::test as verdict;

const PAUSE: Duration = Duration::from_millis(50);

/// A verdict as JSON.
pub type Verdict = Value;

/// What a person says.
#[derive(Debug, Clone)]
pub struct Decision {
    pub ruling: Ruling,
    pub who: Who,
}

impl Decision {
    /// From the words of an interface.
    pub fn parse(decision: &str, scope: Option<&str>, who: Who) -> Result<Self, Problem> {
        let ruling = match (decision, scope.unwrap_or("once")) {
            ("approve", "once") => Ruling::Approve(Scope::Once),
            ("approve", "session") => Ruling::Approve(Scope::Session),
            ("approve", "always") => Ruling::Approve(Scope::Always),
            ("deny", "once") => Ruling::Deny,
            ("deny", "never") => Ruling::Never,
            _ => {
                return Err(Problem::new(
                    Code::BadRequest,
                    format!("{decision:?} with {:?} is no decision", scope.unwrap_or_default()),
                    "approve once, session or always; deny once or never",
                ));
            }
        };
        Ok(Decision { ruling, who })
    }
}

impl Project {
    /// Would it be allowed? Nothing is run.
    pub fn test(&self, command: &[u8]) -> Result<Verdict, Problem> {
        let options = self.launch()?.session(Face::Run, std::sync::Arc::new(Unattended));
        let session = Session::new(options).map_err(Problem::failed)?;
        Ok(verdict::as_json(&session.test(command.into())))
    }

    /// All that are on file, newest first.
    pub fn approvals(&self) -> Result<Vec<Pending>, Problem> {
        let mut all = PendingStore::of(&self.root).list().map_err(Problem::failed)?;
        all.reverse();
        Ok(all)
    }

    /// What one of them would change: it runs apart, and all of it is dropped.
    pub fn preview(&self, id: &str) -> Result<Value, Problem> {
        let pending = PendingStore::of(&self.root).get(id).map_err(unknown)?;
        let tried = preview::of(self.launch()?, &pending).map_err(|why| match why {
            NoPreview::Failed(error) => Problem::failed(error),
            why => Problem::new(Code::BadRequest, why.to_string(), "decide by what it says"),
        })?;
        Ok(serde_json::json!(tried))
    }

    /// One of them; waits so long for its decision.
    pub fn approval(&self, id: &str, wait: Duration) -> Result<Pending, Problem> {
        let store = PendingStore::of(&self.root);
        let (begun, wait) = (Instant::now(), wait.min(limits::LONGEST_WAIT));
        loop {
            let pending = store.get(id).map_err(unknown)?;
            if pending.state != State::Pending || begun.elapsed() >= wait {
                return Ok(pending);
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Service {
    /// The first decision wins; a later one is told who was first.
    pub fn decide(
        &self,
        project: &Project,
        id: &str,
        decision: &Decision,
    ) -> Result<Pending, Problem> {
        let desk = project.launch()?.desk();
        let decided = desk.decide(id, decision.ruling, &decision.who);
        let pending = decided.map_err(|error| match error {
            DecideError::Store(problem) => unknown(problem),
            DecideError::First(problem) => Problem::new(Code::BadRequest, problem, ""),
        })?;
        self.bell.ring("approval", serde_json::json!(pending));
        if pending.task.is_some() {
            self.task_was_decided();
        }
        Ok(pending)
    }
}

fn unknown(problem: PendingError) -> Problem {
    let code = match &problem {
        PendingError::Unknown(_) => Code::UnknownApproval,
        PendingError::Settled(_) => Code::AlreadyDecided,
        _ => return Problem::failed(problem),
    };
    Problem::new(code, problem.to_string(), "`exacta approvals list` shows all of them")
}
