//! Questions that nobody was there to answer: one small file each, until they are decided, used or too old.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bstr::ByteSlice;
use serde::{Deserialize, Serialize};

use super::storage::{Storage, Writer};
use super::{DecideError, Digest, Question, Tried};
use crate::redaction::Rules;

/// How long a question waits for its answer, and an answer for its use.
const LIFETIME: Duration = Duration::from_secs(10 * 60);
/// The same for a task: nobody waits for it at a terminal.
const LIFETIME_OF_TASKS: Duration = Duration::from_secs(24 * 60 * 60);
/// How long it can be looked up what became of a question.
const MEMORY: Duration = Duration::from_secs(24 * 60 * 60);
/// Nobody answers more questions than this; who asks more is not waiting for answers.
const MOST: usize = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Pending,
    Approved,
    Denied,
    Used,
    Expired,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Approved => "approved",
            State::Denied => "denied",
            State::Used => "used",
            State::Expired => "expired",
        }
    }
}

/// A question on file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    pub id: String,
    pub state: State,
    /// Without its secrets.
    pub command: String,
    /// It had some: what is shown is not what was asked, and no rule can be made of it.
    #[serde(default)]
    pub redacted: bool,
    pub directory: String,
    /// Who asks.
    #[serde(default)]
    pub agent: String,
    /// What for, if they have said it.
    #[serde(default)]
    pub goal: String,
    #[serde(default)]
    pub plan: Vec<String>,
    /// The command that cannot be undone, if there is one.
    #[serde(default)]
    pub irreversible: Option<String>,
    /// Each with its rule and reason.
    pub asks: Vec<Asked>,
    /// It has run apart already, and this is what came of it; what is decided about is that.
    #[serde(default)]
    pub tried: Option<Tried>,
    /// The task whose plan it is about: whoever works on that goes on with the answer.
    #[serde(default)]
    pub task: Option<String>,
    /// What `always` would store.
    pub always: Option<String>,
    pub digest: String,
    /// Seconds since 1970.
    pub created: u64,
    pub expires: u64,
    /// `once`, `session` or `always`, when it is approved.
    pub scope: Option<String>,
    /// Who has decided.
    pub by: Option<String>,
    /// Where: `command line`, `web`, `telegram`, …
    #[serde(default)]
    pub door: Option<String>,
    /// When, in seconds since 1970.
    #[serde(default)]
    pub decided: Option<u64>,
}

impl Pending {
    /// How long it waits for its answer, and its answer for its use.
    fn lifetime(&self) -> u64 {
        lifetime(self.task.is_some()).as_secs()
    }

    /// As whoever asked may see it: what came of a trial is nobody's before somebody has said yes to it.
    pub fn for_asker(mut self) -> Self {
        if let Some(tried) = &mut self.tried
            && !matches!(self.state, State::Approved | State::Used)
        {
            for text in [&mut tried.changes, &mut tried.stdout, &mut tried.stderr] {
                text.clear();
            }
            tried.shortened = true;
        }
        self
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub command: String,
    pub via: Vec<String>,
    pub rule: String,
    pub reason: String,
    /// It cannot be undone.
    #[serde(default)]
    pub irreversible: bool,
}

#[derive(Debug)]
pub enum PendingError {
    /// No question has this id.
    Unknown(String),
    /// Decided, used or expired before.
    Settled(Box<Pending>),
    Io {
        path: PathBuf,
        error: io::Error,
    },
    Broken {
        path: PathBuf,
        message: String,
    },
    TooMany,
}

impl fmt::Display for PendingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PendingError::Unknown(id) => write!(f, "there is no approval {id}"),
            PendingError::Settled(pending) => {
                write!(f, "approval {} is {} already", pending.id, pending.state.name())?;
                match (&pending.by, &pending.door) {
                    (Some(by), Some(door)) => write!(f, ": by {by} ({door})"),
                    (Some(by), None) => write!(f, ": by {by}"),
                    _ => Ok(()),
                }
            }
            PendingError::Io { path, error } => {
                write!(f, "{}: {}", path.display(), exacta_shell::errno::text(error))
            }
            PendingError::Broken { path, message } => {
                write!(f, "{} is broken: {message}; a person can remove it", path.display())
            }
            PendingError::TooMany => {
                write!(f, "{MOST} questions wait for an answer already: `exacta approvals list`")
            }
        }
    }
}

impl std::error::Error for PendingError {}

/// The questions of one project.
#[derive(Debug, Clone)]
pub struct PendingStore {
    storage: Storage,
}

impl PendingStore {
    pub fn of(root: &Path) -> Self {
        PendingStore { storage: Storage::of(root) }
    }

    /// Files a question; the same one asked again keeps its id.
    pub fn file(&self, question: &Question) -> Result<Pending, PendingError> {
        let writer = self.storage.lock()?;
        let digest = question.digest.to_string();
        let mut waiting = 0;
        for pending in self.list()? {
            match pending.state {
                State::Pending if pending.digest == digest => return Ok(pending),
                State::Pending | State::Approved => waiting += 1,
                _ if pending.expires.saturating_add(MEMORY.as_secs()) < now() => {
                    writer.remove(&pending.id)?;
                }
                _ => {}
            }
        }
        if waiting >= MOST {
            return Err(PendingError::TooMany);
        }
        let pending = asked_now(question, digest);
        write(&writer, &pending)?;
        Ok(pending)
    }

    /// Takes an approval that was given for exactly this; it is used up by that.
    pub fn take(&self, digest: &Digest) -> Result<Option<Pending>, PendingError> {
        let digest = digest.to_string();
        let fits = |pending: &Pending| {
            pending.digest == digest
                && pending.state == State::Approved
                && !self.storage.came_with_repository(&pending.id)
        };
        if !self.list()?.iter().any(fits) {
            return Ok(None);
        }
        // Looked at again under the lock: of two who want it at once only one gets it.
        let writer = self.storage.lock()?;
        let Some(mut pending) = self.list()?.into_iter().find(fits) else { return Ok(None) };
        pending.state = State::Used;
        write(&writer, &pending)?;
        Ok(Some(pending))
    }

    /// The same for a task, which knows its question: one that was taken for it before, by somebody who died then, is taken
    /// again. `None`: it was not approved, or for something else.
    pub(crate) fn claim(&self, id: &str, digest: &Digest) -> Result<Option<Pending>, PendingError> {
        let writer = self.storage.lock()?;
        let Some(mut pending) = self.look(id)? else { return Ok(None) };
        let given = matches!(pending.state, State::Approved | State::Used);
        if !given
            || pending.task.is_none()
            || pending.digest != digest.to_string()
            || self.storage.came_with_repository(id)
        {
            return Ok(None);
        }
        pending.state = State::Used;
        write(&writer, &pending)?;
        Ok(Some(pending))
    }

    /// Whoever asked does not want to know any more.
    pub(crate) fn withdraw(&self, id: &str) -> Result<(), PendingError> {
        let writer = self.storage.lock()?;
        let Some(mut pending) = self.look(id)? else { return Ok(()) };
        if matches!(pending.state, State::Pending | State::Approved) {
            pending.state = State::Expired;
            write(&writer, &pending)?;
        }
        Ok(())
    }

    /// Decides a question: the first decision wins. `first` must succeed before it counts.
    pub(super) fn decide(
        &self,
        id: &str,
        first: impl FnOnce(&mut Pending) -> Result<(), String>,
    ) -> Result<Pending, DecideError> {
        let writer = self.storage.lock()?;
        let mut pending = self.get(id)?;
        if pending.state != State::Pending {
            return Err(PendingError::Settled(Box::new(pending)).into());
        }
        first(&mut pending).map_err(DecideError::First)?;
        pending.decided = Some(now());
        // Given now, so the time to use it begins now.
        pending.expires = now() + pending.lifetime();
        write(&writer, &pending)?;
        Ok(pending)
    }

    /// What became of this question when it was last asked.
    pub fn last(&self, digest: &Digest) -> Result<Option<Pending>, PendingError> {
        let digest = digest.to_string();
        Ok(self.list()?.into_iter().rfind(|pending| pending.digest == digest))
    }

    /// By its whole id: what a waiting caller asks again and again.
    pub(crate) fn look(&self, id: &str) -> Result<Option<Pending>, PendingError> {
        let text = self.storage.read(id)?;
        text.map(|text| self.parse(id, &text)).transpose()
    }

    /// By its id, or by a beginning of it that only one has.
    pub fn get(&self, id: &str) -> Result<Pending, PendingError> {
        let mut matching =
            self.list()?.into_iter().filter(|pending| !id.is_empty() && pending.id.starts_with(id));
        match (matching.next(), matching.next()) {
            (Some(pending), None) => Ok(pending),
            _ => Err(PendingError::Unknown(id.to_owned())),
        }
    }

    /// All that are on file, oldest first.
    pub fn list(&self) -> Result<Vec<Pending>, PendingError> {
        let mut all = Vec::new();
        for (id, text) in self.storage.read_all()? {
            all.push(self.parse(&id, &text)?);
        }
        // The ids begin with the time.
        all.sort_by(|one: &Pending, other| one.id.cmp(&other.id));
        Ok(all)
    }

    fn parse(&self, id: &str, text: &[u8]) -> Result<Pending, PendingError> {
        let broken =
            |message: String| PendingError::Broken { path: self.storage.path(id), message };
        let mut pending: Pending =
            serde_json::from_slice(text).map_err(|error| broken(error.to_string()))?;
        if pending.id != id {
            return Err(broken(format!("it says that it is {:?}", pending.id)));
        }
        let open = matches!(pending.state, State::Pending | State::Approved);
        // A time that nobody could have set: a backup that was brought back, or a file that came from elsewhere.
        let latest = now() + pending.lifetime();
        if open && !(now()..=latest).contains(&pending.expires) {
            pending.state = State::Expired;
        }
        Ok(pending)
    }
}

fn write(writer: &Writer<'_>, pending: &Pending) -> Result<(), PendingError> {
    // A value of plain texts and numbers can always be written.
    let text = serde_json::to_vec_pretty(pending).unwrap_or_default();
    writer.replace(&pending.id, &text)
}

fn asked_now(question: &Question, digest: String) -> Pending {
    let created = now();
    let rules = Rules::new();
    let (command, report) = rules.redact_text(&question.text.to_str_lossy());
    let redacted = !report.is_empty();
    let always = question.always.as_ref().filter(|_| !redacted);
    Pending {
        id: uuid::Uuid::now_v7().to_string(),
        state: State::Pending,
        command,
        redacted,
        directory: question.directory.to_str_lossy().into_owned(),
        agent: question.asker.agent.clone(),
        goal: rules.redact_text(&question.asker.goal).0,
        plan: question.asker.plan.iter().map(|step| rules.redact_text(step).0).collect(),
        irreversible: irreversible(question, &rules),
        asks: question.asks.iter().map(|command| asked(command, &rules)).collect(),
        tried: question.tried.clone(),
        task: question.task.clone(),
        always: always.and_then(|text| text.to_str().ok()).map(str::to_owned),
        digest,
        created,
        expires: created + lifetime(question.task.is_some()).as_secs(),
        scope: None,
        by: None,
        door: None,
        decided: None,
    }
}

fn irreversible(question: &Question, rules: &Rules) -> Option<String> {
    let lasting = question.asks.iter().find(|command| command.finding.irreversible)?;
    Some(rules.redact_text(&bstr::join(" ", &lasting.argv).to_str_lossy()).0)
}

fn asked(command: &exacta_policy::JudgedCommand, rules: &Rules) -> Asked {
    Asked {
        command: rules.redact_text(&bstr::join(" ", &command.argv).to_str_lossy()).0,
        via: command.via.iter().map(|via| via.to_str_lossy().into_owned()).collect(),
        rule: command.finding.rule.to_string(),
        reason: command.finding.reason.to_string(),
        irreversible: command.finding.irreversible,
    }
}

fn lifetime(of_task: bool) -> Duration {
    if of_task { LIFETIME_OF_TASKS } else { LIFETIME }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}
