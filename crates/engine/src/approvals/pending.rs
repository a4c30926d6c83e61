//! Questions that nobody was there to answer: one small file each, until they are decided, used or too old.

#![expect(
    clippy::disallowed_methods,
    reason = "exacta's own state directory, which no script can see or name"
)]

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bstr::ByteSlice;
use serde::{Deserialize, Serialize};

use super::{Digest, Question};

/// How long a question waits for its answer, and an answer for its use.
const LIFETIME: Duration = Duration::from_secs(10 * 60);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Pending,
    Approved,
    Denied,
    Used,
    Expired,
}

/// A question on file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    pub id: String,
    pub state: State,
    pub command: String,
    pub directory: String,
    /// Each with its rule and reason.
    pub asks: Vec<Asked>,
    /// What `always` would store.
    pub always: Option<String>,
    pub digest: String,
    /// Seconds since 1970.
    pub created: u64,
    pub expires: u64,
    /// `once`, `session` or `always`, when it is approved.
    pub scope: Option<String>,
    pub by: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub command: String,
    pub via: Vec<String>,
    pub rule: String,
    pub reason: String,
}

#[derive(Debug)]
pub enum PendingError {
    /// No question has this id.
    Unknown(String),
    /// Decided, used or expired before.
    Settled {
        id: String,
        state: State,
    },
    Io {
        path: PathBuf,
        error: io::Error,
    },
    Broken {
        path: PathBuf,
        message: String,
    },
}

impl fmt::Display for PendingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PendingError::Unknown(id) => write!(f, "there is no approval {id}"),
            PendingError::Settled { id, state } => {
                write!(f, "approval {id} is {} already", format!("{state:?}").to_lowercase())
            }
            PendingError::Io { path, error } => write!(f, "{}: {error}", path.display()),
            PendingError::Broken { path, message } => {
                write!(f, "{} is broken: {message}", path.display())
            }
        }
    }
}

impl std::error::Error for PendingError {}

/// The questions of one project.
#[derive(Debug, Clone)]
pub struct PendingStore {
    folder: PathBuf,
}

impl PendingStore {
    pub fn of(root: &Path) -> Self {
        PendingStore { folder: root.join(".clada").join("approvals") }
    }

    /// Files a question; the same one asked again keeps its id.
    pub fn file(&self, root: &Path, question: &Question) -> Result<Pending, PendingError> {
        let digest = question.digest.to_string();
        let known = self
            .list()?
            .into_iter()
            .find(|pending| pending.digest == digest && pending.state == State::Pending);
        if let Some(pending) = known {
            return Ok(pending);
        }
        crate::project::state_directory(root).map_err(|error| self.io(error))?;
        let created = seconds(SystemTime::now());
        let pending = Pending {
            id: uuid::Uuid::now_v7().to_string(),
            state: State::Pending,
            command: question.text.to_str_lossy().into_owned(),
            directory: question.directory.to_str_lossy().into_owned(),
            asks: question.asks.iter().map(asked).collect(),
            always: question.always.as_ref().map(|text| text.to_str_lossy().into_owned()),
            digest,
            created,
            expires: created + LIFETIME.as_secs(),
            scope: None,
            by: None,
        };
        self.write(&pending)?;
        Ok(pending)
    }

    /// Takes an approval that was given for exactly this; it is used up by that.
    pub fn take(&self, digest: &Digest) -> Result<Option<Pending>, PendingError> {
        let digest = digest.to_string();
        let found = self
            .list()?
            .into_iter()
            .find(|pending| pending.digest == digest && pending.state == State::Approved);
        let Some(mut pending) = found else { return Ok(None) };
        // Of two who want it at once only one can move the file away.
        let taken = self.folder.join(format!("{}.taken", pending.id));
        match fs::rename(self.path(&pending.id), &taken) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.io(error)),
        }
        pending.state = State::Used;
        self.write(&pending)?;
        fs::remove_file(&taken).map_err(|error| self.io(error))?;
        Ok(Some(pending))
    }

    pub fn decide(
        &self,
        id: &str,
        state: State,
        scope: &str,
        by: &str,
    ) -> Result<Pending, PendingError> {
        let mut pending = self.get(id)?;
        if pending.state != State::Pending {
            return Err(PendingError::Settled { id: pending.id, state: pending.state });
        }
        pending.state = state;
        pending.scope = (state == State::Approved).then(|| scope.to_owned());
        pending.by = Some(by.to_owned());
        // Given now, so the time to use it begins now.
        pending.expires = seconds(SystemTime::now()) + LIFETIME.as_secs();
        self.write(&pending)?;
        Ok(pending)
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
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.io(error)),
        };
        let mut all = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| self.io(error))?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                all.extend(read(&path)?);
            }
        }
        // The ids begin with the time.
        all.sort_by(|one: &Pending, other| one.id.cmp(&other.id));
        Ok(all)
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    fn write(&self, pending: &Pending) -> Result<(), PendingError> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.map_err(|error| self.io(error))?;
        let temporary = self.folder.join(format!("{}.new", pending.id));
        let write = || -> io::Result<()> {
            let text = serde_json::to_vec_pretty(pending)?;
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            let mut file = options.open(&temporary)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&temporary, self.path(&pending.id))
        };
        write().map_err(|error| self.io(error))
    }

    fn io(&self, error: io::Error) -> PendingError {
        PendingError::Io { path: self.folder.clone(), error }
    }
}

/// A file that vanished meanwhile is no question any more.
fn read(path: &Path) -> Result<Option<Pending>, PendingError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(PendingError::Io { path: path.to_owned(), error }),
    };
    let mut pending: Pending = serde_json::from_slice(&text).map_err(|error| {
        PendingError::Broken { path: path.to_owned(), message: error.to_string() }
    })?;
    let open = matches!(pending.state, State::Pending | State::Approved);
    if open && pending.expires < seconds(SystemTime::now()) {
        pending.state = State::Expired;
    }
    Ok(Some(pending))
}

fn asked(command: &exacta_policy::JudgedCommand) -> Asked {
    Asked {
        command: bstr::join(" ", &command.argv).to_str_lossy().into_owned(),
        via: command.via.iter().map(|via| via.to_str_lossy().into_owned()).collect(),
        rule: command.finding.rule.to_string(),
        reason: command.finding.reason.to_string(),
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}
