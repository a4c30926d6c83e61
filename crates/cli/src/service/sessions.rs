//! Sessions that clients keep: each runs one request at a time, and ends when nobody has used it for long.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Instant, SystemTime};

use bstr::ByteSlice;
use exacta::redaction::Rules;
use serde::Serialize;
use tokio::sync::broadcast::Receiver;

use super::running::{Ask, Attended, Hearer};
use super::watched::Watched;
use super::{Code, Event, Problem, Project, Service, limits};

#[derive(Default)]
pub struct Sessions(Mutex<HashMap<String, Arc<Slot>>>);

struct Slot {
    project: String,
    agent: String,
    watched: Arc<Watched>,
    /// What people do not see of its commands.
    rules: Rules,
    /// Taken while a request runs.
    attended: Mutex<Attended>,
    now: Mutex<Now>,
}

/// What can be said of it while it is taken.
struct Now {
    directory: String,
    running: Option<Running>,
    requests: u64,
    used: Instant,
}

#[derive(Clone)]
struct Running {
    command: String,
    started: SystemTime,
    canceller: exacta::Canceller,
}

/// What clients see of it.
#[derive(Debug, Clone, Serialize)]
pub struct SessionView {
    pub id: String,
    pub project: String,
    pub agent: String,
    pub directory: String,
    pub running: Option<RunningView>,
    pub requests: u64,
    pub idle_ms: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct RunningView {
    pub command: String,
    pub started: String,
}

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Slot>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: &str) -> Result<Arc<Slot>, Problem> {
        self.lock().get(id).cloned().ok_or_else(|| unknown(id))
    }

    /// Those that nobody has used for long, and that run nothing.
    fn forget_idle(&self) {
        let idle = |slot: &Slot| {
            let now = slot.now();
            now.running.is_none() && now.used.elapsed() > limits::IDLE_SESSION
        };
        let old: Vec<_> = self.lock().extract_if(|_, slot| idle(slot)).collect();
        // Outside of the lock: the end of a session takes a while.
        drop(old);
    }

    pub fn end_all(&self) {
        let all: Vec<_> = self.lock().drain().collect();
        for (_, slot) in all {
            slot.end();
        }
    }
}

fn unknown(id: &str) -> Problem {
    Problem::new(
        Code::UnknownSession,
        format!("there is no session {id}"),
        "open one; one that nobody uses for two hours ends by itself",
    )
}

impl Slot {
    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whatever runs in it is stopped, and has ended when this returns.
    fn end(&self) {
        if let Some(running) = self.now().running.clone() {
            running.canceller.cancel();
        }
        drop(self.attended.lock());
    }

    fn view(&self, id: &str) -> SessionView {
        let now = self.now();
        let running = now.running.as_ref().map(|running| RunningView {
            command: running.command.clone(),
            started: exacta::report::timestamp(running.started),
        });
        SessionView {
            id: id.to_owned(),
            project: self.project.clone(),
            agent: self.agent.clone(),
            directory: now.directory.clone(),
            running,
            requests: now.requests,
            idle_ms: u64::try_from(now.used.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }
}

impl Service {
    pub fn open_session(&self, project: &Project, ask: &Ask) -> Result<String, Problem> {
        self.sessions.forget_idle();
        let attended = Attended::open(project, ask)?;
        let now = Now {
            directory: attended.session().shell().directory.to_string(),
            running: None,
            requests: 0,
            used: Instant::now(),
        };
        let slot = Slot {
            project: project.root.display().to_string(),
            agent: ask.agent.clone(),
            watched: Arc::new(Watched::new(attended.session().redaction().rules())),
            rules: attended.session().redaction().rules().clone(),
            attended: Mutex::new(attended),
            now: Mutex::new(now),
        };
        let id = uuid::Uuid::new_v4().to_string();
        let mut all = self.sessions.lock();
        if all.len() >= limits::SESSIONS {
            let message = format!("{} sessions are open already", limits::SESSIONS);
            return Err(Problem::new(Code::TooMany, message, "close some that are not needed"));
        }
        let slot = all.entry(id.clone()).or_insert(Arc::new(slot));
        self.bell.ring("session", serde_json::json!(slot.view(&id)));
        Ok(id)
    }

    /// That of another agent is not there.
    pub fn see_session(&self, id: &str, sees: impl Fn(&str) -> bool) -> Result<(), Problem> {
        let slot = self.sessions.find(id)?;
        sees(&slot.agent).then_some(()).ok_or_else(|| unknown(id))
    }

    /// What is said in it: what there is now, and what comes.
    pub fn watch_session(&self, id: &str) -> Result<(Vec<Event>, Receiver<Event>), Problem> {
        Ok(self.sessions.find(id)?.watched.watch())
    }

    pub fn close_session(&self, id: &str) -> Result<(), Problem> {
        let slot = self.sessions.find(id)?;
        self.sessions.lock().remove(id);
        slot.end();
        self.bell.ring("session", serde_json::json!({ "id": id, "closed": true }));
        Ok(())
    }

    pub fn sessions(&self) -> Vec<SessionView> {
        self.sessions.forget_idle();
        let mut all: Vec<_> = self.sessions.lock().iter().map(|(id, slot)| slot.view(id)).collect();
        all.sort_by(|one, other| one.id.cmp(&other.id));
        all
    }

    /// Runs a command in a session, or in one of its own. `started` is given the means to stop it.
    pub fn run(
        &self,
        project: &Project,
        session: Option<&str>,
        ask: &Ask,
        hearer: &Hearer,
        started: impl FnOnce(exacta::Canceller),
    ) -> Result<serde_json::Value, Problem> {
        let begun = Instant::now();
        let report = self.perform(project, session, ask, hearer, started)?;
        self.counts.ran(&report, begun.elapsed());
        Ok(report)
    }

    fn perform(
        &self,
        project: &Project,
        session: Option<&str>,
        ask: &Ask,
        hearer: &Hearer,
        started: impl FnOnce(exacta::Canceller),
    ) -> Result<serde_json::Value, Problem> {
        let Some(id) = session else {
            let mut attended = Attended::open(project, ask)?;
            let ready = attended.prepare(ask);
            let _until_it_ends = self.underway.enter(ready.canceller.clone())?;
            started(ready.canceller.clone());
            let report = ready.run(ask, None, hearer);
            if let Some(record) = attended.session().held_record() {
                self.keep_records(|records| drop(records.insert(project.root.clone(), record)));
            }
            return Ok(report);
        };
        let slot = self.sessions.find(id)?;
        let mut attended = match slot.attended.try_lock() {
            Ok(attended) => attended,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(Problem::new(
                    Code::SessionBusy,
                    "the session runs something already",
                    "wait for it, or open another session",
                ));
            }
        };
        let ready = attended.prepare(ask);
        let _until_it_ends = self.underway.enter(ready.canceller.clone())?;
        slot.now().running = Some(Running {
            command: slot.rules.redact_text(&ask.command.to_str_lossy()).0,
            started: SystemTime::now(),
            canceller: ready.canceller.clone(),
        });
        self.bell.ring("session", serde_json::json!(slot.view(id)));
        started(ready.canceller.clone());
        let (watched, hearer) = (Arc::clone(&slot.watched), Arc::clone(hearer));
        let command = ask.command.to_string();
        let hearer: Hearer = Arc::new(move |told| {
            watched.tell(&told, &command);
            hearer(told)
        });
        let report = ready.run(ask, None, &hearer);
        slot.watched.ended(&report);
        let mut now = slot.now();
        now.running = None;
        now.requests += 1;
        now.used = Instant::now();
        now.directory = attended.session().shell().directory.to_string();
        drop(now);
        self.bell.ring("session", serde_json::json!(slot.view(id)));
        Ok(report)
    }
}
