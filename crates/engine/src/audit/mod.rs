//! What a session leaves in the record of its project (`crates/store`, `audit`): an intent before the first effect of a
//! request, a start before each program, an outcome at its end. What cannot be recorded is not done.
//!
//! Nothing is opened before there is something to record, and nobody waits for what changed nothing: it is handed to the
//! thread that writes. A session without a directory has no record.

pub(crate) mod cleansing;
mod deeds;
mod traces;
mod trail;
mod when;
mod witness;
mod words;
mod writers;

pub use deeds::{AGENT, Deed, Done, PERSON, Person};
pub use exacta_store::audit as store;
pub use traces::Carrier;
pub use trail::{Trail, Verified};
pub use when::moment;
pub(crate) use witness::{Witness, Witnessing, of_collected, same_file};
pub(crate) use words::{Ended, MOST_STEPS, ruling};

use self::traces::Traces;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use bstr::{BStr, BString};
use exacta_policy::Finding;
use exacta_shell::control::Control;
use exacta_shell::status::Stop;
use exacta_store::audit::{
    Asked, AuditError, Captured, Cleanser, Entry, Intent, Limits, Outcome, Refusal, RequestId,
    Ruling, Start, Writer, cleanse, now,
};

use crate::filesystem::state::State;
use crate::gate::Gate;
use crate::project;
use crate::redaction::Redaction;

/// More refusals of one request are not kept: the first ends it.
const MOST_REFUSALS: usize = 100;

/// So much of a stream of output is recorded unless somebody says otherwise: what people read, whole.
pub const USUAL_OUTPUT: usize = 256 << 10;

/// More is never recorded: it is in memory until it is.
pub const MOST_OUTPUT: usize = 64 << 20;

/// How a session is recorded.
#[derive(Debug, Clone)]
pub struct AuditOptions {
    /// What whoever asks is called; may be empty.
    pub agent: String,
    /// Where the user's key and the anchored heads are. Absent: the record is not signed.
    pub keys: Option<PathBuf>,
    /// How long records are kept.
    pub limits: Limits,
    /// So much of each stream of output is kept; of more, the head and the tail.
    pub output_bytes: usize,
    /// This process is there for one request: what has changed nothing is left beside the database, to be taken over by
    /// whoever opens that next.
    pub eager: bool,
    /// Brings OpenTelemetry traces to their collector; absent: there are none.
    pub traces: Option<Arc<dyn Carrier>>,
    /// What the session is called, in the record and in the journal of undo; absent: a new name.
    pub session: Option<String>,
}

impl Default for AuditOptions {
    fn default() -> Self {
        let (agent, keys, limits) = (String::new(), None, Limits::default());
        let output_bytes = USUAL_OUTPUT;
        let (eager, traces, session) = (false, None, None);
        AuditOptions { agent, keys, limits, output_bytes, eager, traces, session }
    }
}

/// The record of a session.
pub struct Audit {
    options: AuditOptions,
    agent: Arc<str>,
    profile: Arc<str>,
    /// Where the state is, and what the project is called. Absent: nothing is recorded.
    place: Option<(State, BString)>,
    session: OnceLock<Arc<str>>,
    writer: OnceLock<Arc<Writer>>,
    gate: OnceLock<Weak<Gate>>,
    ids: OnceLock<words::Ids>,
    traces: OnceLock<Option<Traces>>,
    /// What must not be in it.
    cleanser: Arc<dyn Cleanser>,
    /// The running request has its intent on the disk.
    intended: AtomicBool,
    current: Mutex<Current>,
}

/// The running request.
#[derive(Default)]
struct Current {
    asked: Asked,
    refusals: Vec<Refusal>,
    control: Option<Arc<Control>>,
    /// Its intent is on the way to the disk, under this number.
    announced: Option<u64>,
}

impl Audit {
    /// Of the project with this state. Without options, or without a state, nothing is recorded.
    pub(crate) fn new(
        options: Option<AuditOptions>,
        state: Option<State>,
        root: &BStr,
        profile: &str,
        redaction: &Arc<Redaction>,
    ) -> Self {
        let place = state.filter(|_| options.is_some()).map(|state| (state, root.into()));
        let mut options = options.unwrap_or_default();
        options.keys = out_of_reach(options.keys, root);
        Audit {
            agent: options.agent.as_str().into(),
            profile: profile.into(),
            options,
            place,
            session: OnceLock::new(),
            writer: OnceLock::new(),
            gate: OnceLock::new(),
            ids: OnceLock::new(),
            traces: OnceLock::new(),
            cleanser: cleansing::of(redaction),
            intended: AtomicBool::new(false),
            current: Mutex::default(),
        }
    }

    /// Whose rulings are recorded.
    pub(crate) fn attach(&self, gate: &Arc<Gate>) {
        let _said_once = self.gate.set(Arc::downgrade(gate));
    }

    pub fn is_on(&self) -> bool {
        self.place.is_some()
    }

    /// The process is there for one request, and has time to ask how much it takes.
    pub(crate) fn is_eager(&self) -> bool {
        self.options.eager
    }

    /// So much of each stream is kept.
    pub(crate) fn output_bytes(&self) -> usize {
        self.options.output_bytes
    }

    /// The same for all requests of the session.
    pub fn session(&self) -> Arc<str> {
        let made = || uuid::Uuid::now_v7().to_string();
        let named = || self.options.session.clone().unwrap_or_else(made).into();
        Arc::clone(self.session.get_or_init(named))
    }

    /// A request begins. An error: what was done before could not be recorded, and so nothing is done any more.
    pub(crate) fn begin(
        &self,
        command: &BStr,
        directory: &BStr,
        id: Option<RequestId>,
        control: &Arc<Control>,
    ) -> Result<(), AuditError> {
        if !self.is_on() {
            return Ok(());
        }
        let time = now();
        let asked = Asked {
            id: id.unwrap_or_else(|| self.ids.get_or_init(words::Ids::new).next(time)),
            session: self.session(),
            agent: Arc::clone(&self.agent),
            command: command.into(),
            directory: directory.into(),
            time,
            profile: Arc::clone(&self.profile),
        };
        let control = Some(Arc::clone(control));
        *self.current() = Current { asked, refusals: Vec::new(), control, announced: None };
        self.intended.store(false, Ordering::Release);
        // What will be recorded before anything is done is begun beside everything else.
        if self.options.eager && command.contains(&b'>') {
            self.writer()?.prepare()?;
        }
        self.writer.get().map_or(Ok(()), |writer| writer.check())
    }

    /// Something will be changed. Waits until that is on the disk; if it cannot be, the request ends.
    pub(crate) fn intend(&self, effect: &str) -> Result<(), AuditError> {
        if !self.is_on() || self.intended.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut current = self.current();
        let written = self.writer().and_then(|writer| {
            // Another stage of the same pipeline may have been first.
            let ticket = match current.announced {
                Some(ticket) => ticket,
                None => writer.begin_commit(self.intent(&current, effect), &self.cleanser)?,
            };
            current.announced = Some(ticket);
            writer.wait_for(ticket)
        });
        self.stop_unless(&current, written)
    }

    /// A program will be started. The same, with its words; to be waited for with [`Audit::started`] before it is.
    pub(crate) fn start(
        &self,
        argv: &[BString],
        directory: &BStr,
        finding: Option<&Finding>,
    ) -> Result<u64, AuditError> {
        if !self.is_on() {
            return Ok(0);
        }
        let mut current = self.current();
        let ruling = finding.map_or_else(|| self.ruling(), |finding| ruling(finding, None));
        let (argv, directory) = (argv.to_vec(), directory.into());
        let start = Start { id: current.asked.id, argv, directory, ruling };
        let written = self.writer().and_then(|writer| {
            // Both reach the disk together.
            if current.announced.is_none() {
                writer.submit(self.intent(&current, "program"), None, &self.cleanser)?;
            }
            let ticket = writer.begin_commit(Entry::Start(Box::new(start)), &self.cleanser)?;
            current.announced.get_or_insert(ticket);
            Ok(ticket)
        });
        if let Err(error) = &written {
            stop(&current, error);
        }
        written
    }

    /// That it will be started is on the disk.
    pub(crate) fn started(&self, ticket: u64) -> Result<(), AuditError> {
        let Some(writer) = self.writer.get() else { return Ok(()) };
        let written = writer.wait_for(ticket);
        self.stop_unless(&self.current(), written)
    }

    fn stop_unless(
        &self,
        current: &Current,
        written: Result<(), AuditError>,
    ) -> Result<(), AuditError> {
        match &written {
            Ok(()) => self.intended.store(true, Ordering::Release),
            Err(error) => stop(current, error),
        }
        written
    }

    fn intent(&self, current: &Current, effect: &str) -> Entry {
        let (asked, ruling) = (current.asked.clone(), self.ruling());
        Entry::Intent(Box::new(Intent { asked, ruling, effect: effect.to_owned() }))
    }

    /// What the judge has said of the request so far.
    fn ruling(&self) -> Ruling {
        let gate = self.gate.get().and_then(Weak::upgrade);
        gate.map(|gate| words::judged(&gate.judged())).unwrap_or_default()
    }

    /// Something was not allowed.
    pub(crate) fn refused(&self, argv: &[BString], finding: &Finding) {
        if !self.is_on() {
            return;
        }
        let mut current = self.current();
        if current.refusals.len() < MOST_REFUSALS {
            current.refusals.push(Refusal { argv: argv.to_vec(), ruling: ruling(finding, None) });
        }
    }

    /// The request has ended. Handed over, and written within milliseconds.
    pub(crate) fn finish(
        &self,
        outcome: Outcome,
        streams: [Captured; 2],
    ) -> Result<(), AuditError> {
        let Current { asked, refusals, announced, .. } = std::mem::take(&mut *self.current());
        self.intended.store(false, Ordering::Release);
        let intended = announced.is_some();
        let outcome = Entry::Outcome(Box::new(Outcome { asked, refusals, intended, ..outcome }));
        if let Some(traces) = self.traces() {
            let mut shown = outcome.clone();
            cleanse(&mut shown, None, &*self.cleanser);
            traces.add(&shown);
        }
        match &self.place {
            Some(place) if self.options.eager && !intended && self.writer.get().is_none() => {
                writers::leave(place, &self.options, outcome, streams, &self.cleanser)
            }
            _ => self.writer()?.submit(outcome, Some(Box::new(streams)), &self.cleanser),
        }
    }

    /// What writes the record, if something was written: as long as somebody has it, it stays open.
    pub(crate) fn held(&self) -> Option<Held> {
        self.writer.get().map(|writer| Held { writer: Arc::clone(writer) })
    }

    /// Nothing follows, and everything is written.
    pub(crate) fn settle(&self) -> Result<(), AuditError> {
        let settled = self.writer.get().map_or(Ok(()), |writer| writer.settle());
        if let Some(Some(traces)) = self.traces.get() {
            traces.close();
        }
        settled
    }

    fn traces(&self) -> Option<&Traces> {
        let carrier = self.options.traces.as_ref()?;
        self.traces.get_or_init(|| Traces::by(carrier)).as_ref()
    }

    fn writer(&self) -> Result<&Writer, AuditError> {
        if let Some(writer) = self.writer.get() {
            return Ok(writer);
        }
        let (state, root) = self.place.as_ref().ok_or(AuditError::Nothing)?;
        let writer = writers::of(state, root.as_ref(), &self.options)?;
        Ok(self.writer.get_or_init(|| writer))
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The record of a project, open. To open it takes longer than most commands do: a process that opens a session for each
/// request keeps it from one to the next. Whoever lets go of it last waits until all is written.
#[derive(Clone)]
pub struct Held {
    writer: Arc<Writer>,
}

impl Held {
    /// Waits until all that was handed over is written: whoever reads the record then finds it.
    pub fn flush(&self) -> Result<(), AuditError> {
        self.writer.flush()
    }
}

/// The request ends.
fn stop(current: &Current, error: &AuditError) {
    if let Some(control) = &current.control {
        control.stop(Stop::Unrecorded(explained(error)));
    }
}

/// A key that lies in the project, because the user's home does, is one that whoever works there could take: it signs nothing.
fn out_of_reach(keys: Option<PathBuf>, root: &[u8]) -> Option<PathBuf> {
    let root = Path::new(OsStr::from_bytes(root));
    keys.filter(|keys| !project::canonical_so_far(keys).starts_with(root))
}

/// What, why, and what to do next.
pub(crate) fn explained(error: &AuditError) -> String {
    let next = error.next().map(|next| format!("\nhint: {next}")).unwrap_or_default();
    format!("{error}{next}")
}
