//! The one thread of a process that writes to a ledger, and the queue in front of it.
//!
//! What changes nothing is handed over and forgotten: the thread gathers for a few milliseconds and writes all of it at
//! once. Who has to know waits. When a batch could not be written, nothing is taken any more: every further request is
//! refused.

use std::mem;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::ahead::Ahead;
use super::cleansing::{Cleanser, cleanse};
use super::database::Signing;
use super::entry::Entry;
use super::error::AuditError;
use super::ledger::{Draft, Durability, Ledger, Limits, Manner};
use super::output::{Captured, split};
use super::spool;

/// So long a batch gathers, and a record waits at most.
const GATHERING: Duration = Duration::from_millis(4);

/// More than this waits for nobody: whoever brings more waits for the disk.
const MOST_ENTRIES: usize = 4096;
const MOST_BYTES: usize = 32 << 20;

/// So many records are written between two looks at how much there is.
const LOOKS_EVERY: usize = 1000;

/// Makes the ledger, on the thread that writes.
pub type Open = Box<dyn FnOnce() -> Result<Box<dyn Ledger>, AuditError> + Send>;

/// Where records go. Shared by all sessions of a process over one project; the last one that lets go of it waits until all
/// is written.
pub struct Writer {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    open: Mutex<Option<Open>>,
    limits: Limits,
    /// Takes records as long as it has room; then nothing is opened here.
    ahead: Mutex<Option<Ahead>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// For the thread: there is something to do.
    wake: Condvar,
    /// For those who wait: something was done.
    done: Condvar,
}

#[derive(Default)]
struct State {
    queue: Vec<Waiting>,
    /// What is in the queue has about this size.
    bytes: usize,
    urgent: Option<Durability>,
    taken: u64,
    written: u64,
    /// Something waits for a database that is to be on the disk and may not be.
    unsynced: bool,
    failed: Option<AuditError>,
    /// Somebody thinks that this was all.
    settling: bool,
    /// Something was written since it was last brought in order.
    unsettled: bool,
    closing: bool,
}

enum Waiting {
    Raw(Raw),
    Ready(Draft),
}

/// What became of a record that could wait for a database.
enum Added {
    /// It does, under this number.
    Ahead(u64),
    /// It is for the thread that writes.
    Nowhere(Waiting),
}

/// As it was handed over.
struct Raw {
    entry: Entry,
    streams: Option<Box<[Captured; 2]>>,
    cleanser: Arc<dyn Cleanser>,
}

impl Waiting {
    /// About that many bytes are kept for it.
    fn size(&self) -> usize {
        let streams = match self {
            Waiting::Raw(raw) => raw.streams.as_deref(),
            Waiting::Ready(_) => None,
        };
        streams.map_or(0, |streams| streams.iter().map(|it| it.bytes.len()).sum())
    }
}

impl Writer {
    /// Nothing is opened before the first record.
    pub fn new(open: Open, limits: Limits) -> Self {
        let (open, ahead) = (Mutex::new(Some(open)), Mutex::default());
        Writer { shared: Arc::default(), thread: Mutex::default(), open, limits, ahead }
    }

    /// Records go there as long as there is room: for a process that is there for one request.
    #[must_use]
    pub fn with_ahead(mut self, ahead: Option<Ahead>) -> Self {
        self.ahead = Mutex::new(ahead);
        self
    }

    /// Opens the ledger if it will be needed, beside whatever else is done meanwhile.
    pub fn prepare(&self) -> Result<(), AuditError> {
        if self.is_ahead() { Ok(()) } else { self.ensure_thread() }
    }

    fn is_ahead(&self) -> bool {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Was everything written so far?
    pub fn check(&self) -> Result<(), AuditError> {
        match &self.shared.lock().failed {
            Some(error) => Err(AuditError::Closed(Box::new(error.clone()))),
            None => Ok(()),
        }
    }

    /// Hands a record over, with what was captured of its output. It will be written within milliseconds.
    pub fn submit(
        &self,
        entry: Entry,
        streams: Option<Box<[Captured; 2]>>,
        cleanser: &Arc<dyn Cleanser>,
    ) -> Result<(), AuditError> {
        let cleanser = Arc::clone(cleanser);
        self.push(Raw { entry, streams, cleanser }, None).map(|_ticket| ())
    }

    /// Writes a record and waits until it is on the disk.
    pub fn commit(&self, entry: Entry, cleanser: &Arc<dyn Cleanser>) -> Result<(), AuditError> {
        let ticket = self.begin_commit(entry, cleanser)?;
        self.wait_for(ticket)
    }

    /// The same for somebody who has something else to do before he [waits](Self::wait_for).
    pub fn begin_commit(
        &self,
        entry: Entry,
        cleanser: &Arc<dyn Cleanser>,
    ) -> Result<u64, AuditError> {
        let raw = Raw { entry, streams: None, cleanser: Arc::clone(cleanser) };
        self.push(raw, Some(Durability::Disk))
    }

    /// The same for somebody who will bring nothing more: what is due at the end is done with it.
    pub fn settle(&self) -> Result<(), AuditError> {
        self.shared.lock().settling = true;
        self.flush()
    }

    /// Waits until all that was handed over is written.
    pub fn flush(&self) -> Result<(), AuditError> {
        if self.is_ahead() {
            return self.check();
        }
        let mut state = self.shared.lock();
        let ticket = state.taken;
        if state.written < ticket {
            state.urgent = state.urgent.max(Some(Durability::Process));
            self.shared.wake.notify_one();
        }
        drop(state);
        self.wait_for(ticket)?;
        // What was not even taken is not written either.
        self.check()
    }

    fn push(&self, raw: Raw, urgent: Option<Durability>) -> Result<u64, AuditError> {
        let waiting = match self.add_ahead(raw, urgent)? {
            Added::Ahead(ticket) => return Ok(ticket),
            Added::Nowhere(waiting) => waiting,
        };
        self.ensure_thread()?;
        let shared = &self.shared;
        let mut state = shared.lock();
        while state.failed.is_none()
            && (state.queue.len() >= MOST_ENTRIES || state.bytes >= MOST_BYTES)
        {
            state = shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(error) = &state.failed {
            return Err(AuditError::Closed(Box::new(error.clone())));
        }
        state.bytes += waiting.size();
        let first = state.queue.is_empty();
        state.queue.push(waiting);
        state.taken += 1;
        state.urgent = state.urgent.max(urgent);
        let ticket = state.taken;
        drop(state);
        if first || urgent.is_some() {
            shared.wake.notify_one();
        }
        Ok(ticket)
    }

    /// Adds it to what waits for a database, if there is such a thing and room in it. What is to be on the disk is brought there by
    /// whoever waits for it.
    fn add_ahead(&self, raw: Raw, urgent: Option<Durability>) -> Result<Added, AuditError> {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = ahead.as_ref() else { return Ok(Added::Nowhere(Waiting::Raw(raw))) };
        self.check()?;
        let draft = prepared(Waiting::Raw(raw));
        let added = file.add(&draft);
        if let Err(error) = &added {
            self.shared.lock().failed = Some(error.clone());
        }
        if !added? {
            // Nobody will look there any more.
            self.shared.synced(file);
            *ahead = None;
            return Ok(Added::Nowhere(Waiting::Ready(draft)));
        }
        let mut state = self.shared.lock();
        state.taken += 1;
        let ticket = state.taken;
        state.unsynced |= urgent == Some(Durability::Disk);
        Ok(Added::Ahead(ticket))
    }

    /// Until what has this number is on the disk.
    pub fn wait_for(&self, ticket: u64) -> Result<(), AuditError> {
        if let Some(file) = &*self.ahead.lock().unwrap_or_else(PoisonError::into_inner) {
            self.shared.synced(file);
        }
        let mut state = self.shared.lock();
        loop {
            if state.written >= ticket {
                return Ok(());
            }
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn ensure_thread(&self) -> Result<(), AuditError> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_some() {
            return Ok(());
        }
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        let open = open.ok_or_else(|| AuditError::NoWriter("it has ended".into()))?;
        let (shared, limits) = (Arc::clone(&self.shared), self.limits);
        let spawned = thread::Builder::new()
            .name("audit".into())
            .spawn(move || Writing { shared: &shared, limits }.run(open));
        *thread = Some(spawned.map_err(|error| AuditError::NoWriter(error.to_string()))?);
        Ok(())
    }

    /// Everything is written, and nothing is taken any more.
    pub fn close(&self) -> Result<(), AuditError> {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return self.check() };
        self.shared.lock().closing = true;
        self.shared.wake.notify_one();
        // It reports through the state.
        let _ended = thread.join();
        let state = self.shared.lock();
        match &state.failed {
            Some(error) => Err(error.clone()),
            None if state.written < state.taken => Err(AuditError::NoWriter("it has died".into())),
            None => Ok(()),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Who wants to know has closed it before.
        let _unheard = self.close();
    }
}

impl Shared {
    /// Brings all that was added there to the disk, if somebody wants that.
    fn synced(&self, ahead: &Ahead) {
        let mut state = self.lock();
        let upto = state.taken;
        if !mem::take(&mut state.unsynced) {
            return;
        }
        drop(state);
        let synced = ahead.sync();
        let mut state = self.lock();
        match synced {
            Ok(()) => state.written = state.written.max(upto),
            Err(error) => state.failed = Some(error),
        }
        self.done.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Records what has changed nothing, for a process that ends now and for whoever opens the database next.
pub fn leave(
    state: BorrowedFd<'_>,
    (signing, limits): (&Signing, &Limits),
    entry: Entry,
    streams: [Captured; 2],
    cleanser: &Arc<dyn Cleanser>,
) -> Result<(), AuditError> {
    let (streams, cleanser) = (Some(Box::new(streams)), Arc::clone(cleanser));
    let draft = prepared(Waiting::Raw(Raw { entry, streams, cleanser }));
    // What waits in two places would not be in the order in which it was done.
    match Ahead::open_beside(state, signing) {
        Some(ahead) => ahead.leave(state, (signing, limits), &draft),
        None => spool::leave(state, signing, limits, &draft),
    }
}

/// The thread.
struct Writing<'a> {
    shared: &'a Shared,
    limits: Limits,
}

struct Batch {
    entries: Vec<Waiting>,
    manner: Manner,
    upto: u64,
}

impl Writing<'_> {
    fn run(self, open: Open) {
        // Whatever happens, nobody waits for ever.
        let _told = Farewell(self.shared);
        let mut ledger = match open() {
            Ok(ledger) => ledger,
            Err(error) => return self.fail(error),
        };
        // Processes that end soon have a look as well, after what they wait for is written.
        let mut since_look = LOOKS_EVERY;
        while let Some(batch) = self.next_batch() {
            since_look += batch.entries.len();
            let drafts: Vec<Draft> = batch.entries.into_iter().map(prepared).collect();
            if let Err(error) = ledger.append(&drafts, batch.manner) {
                return self.fail(error);
            }
            self.shared.lock().written = batch.upto;
            self.shared.done.notify_all();
            if since_look >= LOOKS_EVERY {
                since_look = 0;
                if let Err(error) = ledger.retain(&self.limits) {
                    return self.fail(error);
                }
            }
        }
    }

    /// What there is to write, after a while in which more may come. `None`: that was all.
    fn next_batch(&self) -> Option<Batch> {
        let mut state = self.shared.lock();
        while state.queue.is_empty() && !state.closing {
            state = self.shared.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let until = Instant::now() + GATHERING;
        while state.urgent.is_none() && !state.closing && state.queue.len() < MOST_ENTRIES {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.shared.wake.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let entries = mem::take(&mut state.queue);
        state.bytes = 0;
        let durability = state.urgent.take().unwrap_or(Durability::Process);
        if entries.is_empty() && !state.unsettled {
            return None;
        }
        let last = state.closing || std::mem::take(&mut state.settling);
        state.unsettled = !last;
        let manner = Manner { durability, last };
        let upto = state.taken;
        drop(state);
        // There is room again.
        self.shared.done.notify_all();
        Some(Batch { entries, manner, upto })
    }

    fn fail(&self, error: AuditError) {
        let mut state = self.shared.lock();
        state.failed = Some(error);
        state.queue.clear();
        drop(state);
        self.shared.done.notify_all();
    }
}

/// A thread that ends in any other way than it should has failed.
struct Farewell<'a>(&'a Shared);

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().failed = Some(AuditError::NoWriter("it has died".into()));
        }
        self.0.done.notify_all();
    }
}

/// Cleansing and compressing are for this thread, not for whoever waits for his command.
fn prepared(waiting: Waiting) -> Draft {
    let Raw { mut entry, mut streams, cleanser } = match waiting {
        Waiting::Raw(raw) => raw,
        Waiting::Ready(draft) => return draft,
    };
    cleanse(&mut entry, streams.as_deref_mut(), &*cleanser);
    let mut beside = [None, None];
    if let (Entry::Outcome(outcome), Some(streams)) = (&mut entry, streams) {
        let [stdout, stderr] = *streams;
        (outcome.stdout, beside[0]) = split(stdout);
        (outcome.stderr, beside[1]) = split(stderr);
    }
    Draft { entry, beside }
}
