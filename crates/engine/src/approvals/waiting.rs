//! Whoever asks waits: the question is filed, any door decides it, and the call that asked goes on.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Answer, Approver, Pending, PendingStore, Question, State};
use crate::session::Canceller;

/// How often it is looked for a decision: decisions come from other processes.
const PAUSE: Duration = Duration::from_millis(50);

/// Told when a question was filed, and when it waits no longer.
pub type Told = dyn Fn(&Pending) + Send + Sync;

/// How long somebody waits for a decision, unless he is told that none will come.
#[derive(Debug, Clone, Default)]
pub struct Patience {
    pub longest: Duration,
    over: Arc<AtomicBool>,
}

impl Patience {
    pub fn of(longest: Duration) -> Self {
        Patience { longest, over: Arc::default() }
    }

    /// Whoever was asked will not answer: nobody waits for it any more. The question stays on file.
    pub fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    fn lasts(&self, waited: Duration) -> bool {
        waited < self.longest && !self.over.load(Ordering::Relaxed)
    }
}

pub struct Waiting {
    store: PendingStore,
    current: Mutex<Option<Arc<Current>>>,
}

/// The request that asks.
struct Current {
    /// Its end is the end of the waiting, and the time is none of its own.
    request: Canceller,
    patience: Patience,
    told: Box<Told>,
}

impl Waiting {
    pub fn new(root: &Path) -> Self {
        Waiting { store: PendingStore::of(root), current: Mutex::default() }
    }

    /// Whose questions come next, how long it waits for each, and who else wants to know.
    pub fn begin(
        &self,
        request: Canceller,
        patience: Patience,
        told: impl Fn(&Pending) + Send + Sync + 'static,
    ) {
        let current = Current { request, patience, told: Box::new(told) };
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(current));
    }

    fn current(&self) -> Option<Arc<Current>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Until it is decided, too old, or nobody wants to know any more.
    fn wait(&self, id: &str, current: &Current) {
        let begun = Instant::now();
        while current.patience.lasts(begun.elapsed())
            && !current.request.is_cancelled()
            && matches!(self.store.look(id), Ok(Some(Pending { state: State::Pending, .. })))
        {
            thread::sleep(PAUSE.min(current.patience.longest));
        }
        current.request.extend(begun.elapsed());
    }
}

impl Approver for Waiting {
    fn ask(&self, question: &Question) -> Answer {
        let Some(current) = self.current() else { return Answer::Nobody };
        // What cannot be filed is found out once more, and said, where nobody answers.
        let Ok(pending) = self.store.file(question) else { return Answer::Nobody };
        (current.told)(&pending);
        self.wait(&pending.id, &current);
        if let Ok(Some(pending)) = self.store.look(&pending.id) {
            (current.told)(&pending);
        }
        Answer::Filed
    }

    fn name(&self) -> &'static str {
        "an approval"
    }
}
