//! The transactions of a session, one after the other.

use std::borrow::Cow;
use std::ops::Deref;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use bstr::{BStr, BString};
use exacta_store::{
    About, Journal, Layer, LayerAhead, Mirror, Outcome, RecordId, Recording, Time, Told, UndoError,
};
use rustix::io::Errno;

use super::cleaning::{Cleaning, Retention};
use crate::audit::Audit;
use crate::filesystem::Handle;
use crate::filesystem::state::State;
use crate::redaction::Redaction;

/// So much of a request's text is kept in its record.
const LONGEST_COMMAND: usize = 64 << 10;

/// The undo records of a session over a real directory.
pub struct Transactions {
    root: Handle,
    state: State,
    journal: Mutex<Option<Arc<Journal>>>,
    running: RwLock<Option<Running>>,
    /// One change at a time: what is announced is true until it has been made, whatever other threads of the request do.
    changing: Mutex<()>,
    /// Goes on with each beginning and each end, so that a file that outlives a request finds out.
    number: AtomicU64,
    /// What is written goes to a layer, and its record comes from there.
    layered: AtomicBool,
    /// The same for all of its requests; made with the first record.
    session: OnceLock<String>,
    retention: OnceLock<Retention>,
    /// Told before the first change of a request.
    audit: OnceLock<Arc<Audit>>,
    redaction: OnceLock<Arc<Redaction>>,
    cleaning: Cleaning,
}

/// What became of a request's record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoReport {
    pub id: RecordId,
    /// How it is taken back: `restore`, and what is left out of it.
    pub strategy: String,
}

#[derive(Default)]
struct Running {
    about: About,
    recording: OnceLock<Arc<Recording>>,
    irreversible: Mutex<Vec<String>>,
}

/// A change that is going on: while this lives, the request does not end, and nothing else of it changes anything. To be let
/// go of before anything waits, and before the same thread asks for another.
pub(crate) struct Change<'a> {
    // Before the guard, so that whoever gets the guard next finds nobody else holding it.
    recording: Arc<Recording>,
    _changing: MutexGuard<'a, ()>,
    _running: RwLockReadGuard<'a, Option<Running>>,
}

impl Deref for Change<'_> {
    type Target = Recording;

    fn deref(&self) -> &Recording {
        &self.recording
    }
}

impl Transactions {
    pub(crate) fn new(root: Handle, state: State) -> Self {
        Transactions {
            root,
            state,
            journal: Mutex::default(),
            running: RwLock::default(),
            changing: Mutex::default(),
            number: AtomicU64::new(0),
            layered: AtomicBool::new(false),
            session: OnceLock::new(),
            retention: OnceLock::new(),
            audit: OnceLock::new(),
            redaction: OnceLock::new(),
            cleaning: Cleaning::default(),
        }
    }

    /// How much is remembered; said once, by whoever makes the session.
    pub(crate) fn retain(&self, retention: Retention) {
        let _said_before = self.retention.set(retention);
    }

    /// Where intents are recorded; said once, by whoever makes the session.
    pub(crate) fn announce_to(&self, audit: &Arc<Audit>) {
        let _said_before = self.audit.set(Arc::clone(audit));
    }

    /// What must not be in the texts of records; said once, by whoever makes the session.
    pub(crate) fn redact(&self, redaction: &Arc<Redaction>) {
        let _said_before = self.redaction.set(Arc::clone(redaction));
    }

    /// Before anything is changed, that is on the disk: no record, no change.
    fn announce(&self) -> Result<(), UndoError> {
        let announced = self.audit.get().map_or(Ok(()), |audit| audit.intend("change"));
        // Why is said when the request ends, which it does now.
        announced.map_err(|_unrecorded| UndoError::System {
            doing: "record that it will be changed",
            path: ".clada/exacta.db".into(),
            errno: Errno::IO,
        })
    }

    /// A request begins. Nothing is opened yet.
    pub fn begin(&self, command: &BStr, directory: &BStr) {
        let command = command.get(..LONGEST_COMMAND).unwrap_or(command).into();
        // Secrets go out of it when it is written, which for most requests is never.
        let about =
            About { session: String::new(), command, directory: directory.into(), time: now() };
        *self.running.write().unwrap_or_else(PoisonError::into_inner) =
            Some(Running { about, ..Running::default() });
        self.number.fetch_add(1, Ordering::Release);
    }

    /// The project's own directory.
    pub(crate) fn root(&self) -> &Handle {
        &self.root
    }

    /// Which request is running.
    pub(crate) fn number(&self) -> u64 {
        self.number.load(Ordering::Acquire)
    }

    /// Where a change that is made directly is announced; `None` while what is written goes to a layer.
    pub(crate) fn recording(&self) -> Result<Option<Change<'_>>, UndoError> {
        self.announce()?;
        if self.layered.load(Ordering::Acquire) {
            return Ok(None);
        }
        self.whole_recording().map(Some)
    }

    pub(crate) fn is_layered(&self) -> bool {
        self.layered.load(Ordering::Acquire)
    }

    /// The same for whoever applies a layer.
    pub(crate) fn whole_recording(&self) -> Result<Change<'_>, UndoError> {
        let guard = self.running.read().unwrap_or_else(PoisonError::into_inner);
        // Nothing that is not part of a request may change the project: there would be no record of it.
        let running = guard.as_ref().ok_or_else(outside)?;
        let recording = match running.recording.get() {
            Some(recording) => Arc::clone(recording),
            None => self.start(running)?,
        };
        let changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Change { recording, _changing: changing, _running: guard })
    }

    /// While it is set, what is written goes to a layer. Waits until changes that are going on have been made.
    pub fn set_layered(&self, layered: bool) {
        let _all_made = self.running.write().unwrap_or_else(PoisonError::into_inner);
        self.layered.store(layered, Ordering::Release);
    }

    /// Something of this request cannot be taken back, and its record says why.
    pub fn mark_irreversible(&self, reason: &str) {
        let guard = self.running.read().unwrap_or_else(PoisonError::into_inner);
        let Some(running) = guard.as_ref() else { return };
        let mut reasons = running.irreversible.lock().unwrap_or_else(PoisonError::into_inner);
        if !reasons.iter().any(|known| known == reason) {
            reasons.push(reason.to_owned());
        }
    }

    /// A layer for what the running request writes, to be stamped when it is laid.
    pub(crate) fn new_layer(&self) -> Result<Layer, UndoError> {
        self.journal()?.unstamped_layer(&self.about())
    }

    /// A copy of the project, for what the running request writes where no layer can be laid.
    pub(crate) fn mirror(&self, told: Told<'_>) -> Result<Mirror, UndoError> {
        self.journal()?.mirror(&self.retention().copied, told)
    }

    /// Whether one can be had.
    pub(crate) fn can_mirror(&self) -> Result<bool, UndoError> {
        self.journal()?.can_mirror(&self.retention().copied)
    }

    fn retention(&self) -> Retention {
        self.retention.get().copied().unwrap_or_default()
    }

    /// A layer for a request that may come. Nothing else is made for it: none where the journal is not open, or was cleared away.
    pub(crate) fn layer_ahead(&self) -> Option<LayerAhead> {
        let journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner).clone();
        journal.filter(|journal| journal.is_there())?.layer_ahead().ok()
    }

    /// What the records of the running request say of it.
    pub(crate) fn about(&self) -> About {
        let guard = self.running.read().unwrap_or_else(PoisonError::into_inner);
        self.signed(guard.as_ref().map(|running| running.about.clone()).unwrap_or_default())
    }

    /// The journal of the project, opened if it is not yet.
    pub fn journal(&self) -> Result<Arc<Journal>, UndoError> {
        let mut slot = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(journal) = slot.as_ref().filter(|journal| journal.is_there()) {
            return Ok(Arc::clone(journal));
        }
        let state = self.state.open().map_err(|error| UndoError::System {
            doing: "open the state",
            path: ".clada".into(),
            errno: Errno::from_io_error(&error).unwrap_or(Errno::IO),
        })?;
        let journal = Arc::new(Journal::open(self.root.as_fd(), state.as_fd())?);
        journal.ask_while_recording(exacta_shell::control::goes_on_here);
        *slot = Some(Arc::clone(&journal));
        Ok(journal)
    }

    /// The request has ended, with all that it had started. `None` when it has changed nothing.
    pub fn finish(&self, exit: i32) -> Result<Option<UndoReport>, UndoError> {
        let running = self.running.write().unwrap_or_else(PoisonError::into_inner).take();
        self.number.fetch_add(1, Ordering::Release);
        let Some(running) = running else { return Ok(None) };
        let reasons = running.irreversible.into_inner().unwrap_or_else(PoisonError::into_inner);
        let recording = match running.recording.into_inner() {
            // With the guard nobody else has it any more.
            Some(recording) => Arc::into_inner(recording).ok_or_else(outside)?,
            None if reasons.is_empty() => return Ok(None),
            None => self.journal()?.begin(self.signed(running.about)),
        };
        for reason in &reasons {
            recording.mark_irreversible(reason);
        }
        let strategy = strategy(&reasons, recording.has_steps());
        let id = recording.finish(Outcome { exit, strategy: strategy.clone() })?;
        if let Some(id) = id {
            self.clean(id);
        }
        Ok(id.map(|id| UndoReport { id, strategy }))
    }

    fn start(&self, running: &Running) -> Result<Arc<Recording>, UndoError> {
        let recording = Arc::new(self.journal()?.begin(self.signed(running.about.clone())));
        // Another thread may have been first; nothing is on disk for the one that goes.
        Ok(Arc::clone(running.recording.get_or_init(|| recording)))
    }

    /// As it is written: with the session, and without secrets.
    fn signed(&self, about: About) -> About {
        let shared = || self.audit.get().filter(|audit| audit.is_on()).map(|audit| audit.session());
        let made =
            || shared().map_or_else(|| uuid::Uuid::now_v7().to_string(), |it| it.to_string());
        let session = self.session.get_or_init(made).clone();
        let rules = self.redaction.get().map(|redaction| redaction.rules());
        let command = match rules.map(|rules| rules.redact(&about.command).0) {
            Some(Cow::Owned(clean)) => clean.into(),
            _ => about.command,
        };
        About { session, command, ..about }
    }

    fn clean(&self, last: RecordId) {
        if Cleaning::is_due(last)
            && let Ok(journal) = self.journal()
        {
            self.cleaning.start(journal, Arc::clone(&self.root), self.retention());
        }
    }
}

fn strategy(reasons: &[String], changed: bool) -> String {
    match (reasons, changed) {
        ([], _) => "restore".to_owned(),
        (reasons, true) => format!("restore, except: {}", reasons.join("; ")),
        (reasons, false) => format!("none: {}", reasons.join("; ")),
    }
}

fn outside() -> UndoError {
    UndoError::System {
        doing: "change anything outside of a request",
        path: BString::default(),
        errno: Errno::INVAL,
    }
}

fn now() -> Time {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    Time { seconds: now.tv_sec, nanos: now.tv_nsec as u32 }
}
