//! The record of a project as a person meets it: searched, followed, verified.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own directories: opened once, by handle, before anything is asked of them"
)]

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use exacta_store::Watch;
use exacta_store::audit::{
    Anchor, Answer, Archive as _, AuditError, Database, Durability, Entry, Known, Ledger as _,
    Limits, Manner, Problem, ProblemKind, Pruned, Reader, Report, Signed, Signing, cleanse,
    is_waiting, public_key, verify,
};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::cleansing::Usual;
use super::out_of_reach;
use crate::project;

/// Where a project's record is, and what the user's own state says of it.
pub struct Trail {
    root: PathBuf,
    keys: Option<PathBuf>,
    limits: Limits,
}

/// What was found, and what it was held against.
#[derive(Debug)]
pub struct Verified {
    pub report: Report,
    /// There was a key of the user's to hold signatures against.
    pub keyed: bool,
}

impl Trail {
    /// `keys`: the folder of the user's key and the anchored heads.
    /// `limits`: what is overdue by them is removed by whoever writes.
    pub fn of(root: &Path, keys: Option<PathBuf>, limits: Limits) -> Self {
        let keys = out_of_reach(keys, root.as_os_str().as_bytes());
        Trail { root: root.to_owned(), keys, limits }
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// Makes nothing: where nothing was recorded that is [`AuditError::Nothing`].
    pub fn open(&self) -> Result<Reader, AuditError> {
        let state = self.state()?;
        self.take_over(state.as_fd())?;
        Reader::open(state.as_fd())
    }

    /// Brings into the chain what was left beside it meanwhile.
    pub fn refresh(&self) -> Result<(), AuditError> {
        self.take_over(self.state()?.as_fd())
    }

    fn take_over(&self, state: BorrowedFd<'_>) -> Result<(), AuditError> {
        let signing = self.signing();
        if is_waiting(state, &signing) {
            Database::open(state, &signing)?.retain(&self.limits)?;
        }
        Ok(())
    }

    /// To be searched by text: what was never described is now, once. That it could not be only makes the search slower.
    pub fn prepare_search(&self, reader: &Reader) {
        if reader.is_outlined().unwrap_or(true) {
            return;
        }
        let _only_slower = self.state().and_then(|state| {
            Database::open(state.as_fd(), &self.signing()).and_then(|mut it| it.outline_all())
        });
    }

    /// Removes all that is older or more than the limits say.
    pub fn prune(&self) -> Result<Pruned, AuditError> {
        Database::open(self.state()?.as_fd(), &self.signing())?.prune(&self.limits)
    }

    /// What that would remove.
    pub fn prunable(&self) -> Result<Pruned, AuditError> {
        self.open()?.prunable(&self.limits)
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn signing(&self) -> Signing {
        let project = self.root.as_os_str().as_bytes().to_vec();
        Signing { folder: self.keys.clone(), project }
    }

    /// A person has decided something. On the disk when this returns.
    pub fn note(&self, answer: Answer) -> Result<(), AuditError> {
        let mut database = Database::open(self.state()?.as_fd(), &self.signing())?;
        let manner = Manner { durability: Durability::Disk, last: true };
        let mut entry = Entry::Answer(Box::new(answer));
        cleanse(&mut entry, None, &Usual);
        database.append(&[entry.into()], manner)
    }

    /// The head as it was last signed and anchored.
    pub fn anchored(&self) -> Result<Option<Signed>, AuditError> {
        let root = self.root.as_os_str().as_bytes();
        self.keys.as_deref().map_or(Ok(None), |keys| Anchor::read_of(keys, root))
    }

    /// The last checkpoint in the database itself.
    pub fn signed(&self) -> Result<Option<Signed>, AuditError> {
        Ok(self.open()?.checkpoints()?.last().copied())
    }

    /// Where the head of this project is anchored.
    pub fn anchor(&self) -> Option<PathBuf> {
        let root = self.root.as_os_str().as_bytes();
        self.keys.as_deref().map(|keys| Anchor::path(keys, root))
    }

    /// Heads that were anchored before, and that the database did not bear out when it was written to again.
    fn displaced(&self) -> Result<Vec<Signed>, AuditError> {
        let root = self.root.as_os_str().as_bytes();
        self.keys.as_deref().map_or(Ok(Vec::new()), |keys| Anchor::displaced_of(keys, root))
    }

    /// Looks at all of it, also against heads that somebody has kept elsewhere.
    pub fn verify(&self, more: Vec<Signed>, watch: &Watch) -> Result<Verified, AuditError> {
        let key = self.keys.as_deref().map_or(Ok(None), public_key)?;
        let mut anchors: Vec<Signed> = self.anchored()?.into_iter().collect();
        anchors.extend(more);
        anchors.extend(self.displaced()?);
        let reader = match self.open() {
            // Nothing is no answer where somebody knows that there was something.
            Err(AuditError::Nothing) if !anchors.is_empty() => {
                return Ok(Verified { report: gone(&anchors), keyed: key.is_some() });
            }
            reader => reader?,
        };
        let report = verify(&reader, &Known { key, anchors }, watch)?;
        Ok(Verified { report, keyed: key.is_some() })
    }

    pub(super) fn state(&self) -> Result<OwnedFd, AuditError> {
        let failed = |doing, errno| {
            let path = self.root.display().to_string();
            AuditError::System { doing, path, errno }
        };
        let path = project::state_path(&self.root).map_err(|error| {
            failed("find the state of it", Errno::from_io_error(&error).unwrap_or(Errno::NOENT))
        })?;
        // Never through a link in the last place: the state may have come with the repository.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&path, flags, Mode::empty());
        // Of what this user may only read, the record is with the user's own state.
        let elsewhere = || {
            let path = project::record_elsewhere(self.root.as_os_str().as_bytes()).ok()?;
            rustix::fs::open(&path, flags, Mode::empty()).ok()
        };
        match opened {
            Err(Errno::NOENT) => elsewhere().ok_or(AuditError::Nothing),
            Err(errno @ (Errno::ACCESS | Errno::PERM)) => {
                elsewhere().ok_or_else(|| failed("open the state of it", errno))
            }
            state => state.map_err(|errno| failed("open the state of it", errno)),
        }
    }
}

fn gone(anchors: &[Signed]) -> Report {
    let last = anchors.iter().map(|anchor| anchor.head.sequence).max().unwrap_or(0);
    let detail = format!("the database is not there; records 1 to {last} were");
    let problem = Problem { kind: ProblemKind::CutOff, sequence: 1, detail };
    Report { problems: vec![problem], anchored: last, ..Report::default() }
}
