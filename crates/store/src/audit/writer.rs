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
    failed: Option<AuditError>,
    /// Somebody thinks that this was all.
    settling: bool,
    /// Something was written since it was last brought in order.
    unsettled: bool,
    closing: bool,
}

struct Waiting {
    entry: Entry,
    streams: Option<Box<[Captured; 2]>>,
    cleanser: Arc<dyn Cleanser>,
}

impl Writer {
    /// Nothing is opened before the first record.
    pub fn new(open: Open, limits: Limits) -> Self {
        let open = Mutex::new(Some(open));
        Writer { shared: Arc::default(), thread: Mutex::default(), open, limits }
    }

    /// Opens the ledger, beside whatever else is done meanwhile.
    pub fn prepare(&self) -> Result<(), AuditError> {
        self.ensure_thread()
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
        self.push(Waiting { entry, streams, cleanser }, None).map(|_ticket| ())
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
        let waiting = Waiting { entry, streams: None, cleanser: Arc::clone(cleanser) };
        self.push(waiting, Some(Durability::Disk))
    }

    /// The same for somebody who will bring nothing more: what is due at the end is done with it.
    pub fn settle(&self) -> Result<(), AuditError> {
        self.shared.lock().settling = true;
        self.flush()
    }

    /// Waits until all that was handed over is written.
    pub fn flush(&self) -> Result<(), AuditError> {
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

    fn push(&self, waiting: Waiting, urgent: Option<Durability>) -> Result<u64, AuditError> {
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
        let size = |streams: &[Captured; 2]| streams.iter().map(|it| it.bytes.len()).sum::<usize>();
        state.bytes += waiting.streams.as_deref().map_or(0, size);
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

    /// Until what has this number is on the disk.
    pub fn wait_for(&self, ticket: u64) -> Result<(), AuditError> {
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
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Records what has changed nothing, for a process that ends now: beside the database, for whoever opens that next.
pub fn leave(
    state: BorrowedFd<'_>,
    (signing, limits): (&Signing, &Limits),
    entry: Entry,
    streams: [Captured; 2],
    cleanser: &Arc<dyn Cleanser>,
) -> Result<(), AuditError> {
    let (streams, cleanser) = (Some(Box::new(streams)), Arc::clone(cleanser));
    spool::leave(state, signing, limits, &prepared(Waiting { entry, streams, cleanser }))
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
    let Waiting { mut entry, mut streams, cleanser } = waiting;
    cleanse(&mut entry, streams.as_deref_mut(), &*cleanser);
    let mut beside = [None, None];
    if let (Entry::Outcome(outcome), Some(streams)) = (&mut entry, streams) {
        let [stdout, stderr] = *streams;
        (outcome.stdout, beside[0]) = split(stdout);
        (outcome.stderr, beside[1]) = split(stderr);
    }
    Draft { entry, beside }
}
