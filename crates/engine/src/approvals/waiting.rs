//! Whoever asks waits: the question is filed, any door decides it, and the call that asked goes on.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Answer, Approver, Pending, PendingStore, Question, State};
use crate::session::Canceller;

/// How often it is looked for a decision: decisions come from other processes.
const PAUSE: Duration = Duration::from_millis(50);

/// Told when a question was filed, and when it waits no longer.
pub type Told = dyn Fn(&Pending) + Send + Sync;

pub struct Waiting {
    store: PendingStore,
    patience: Duration,
    told: Box<Told>,
    /// The request that asks: its end is the end of the waiting, and the time is none of its own.
    request: Mutex<Option<Canceller>>,
}

impl Waiting {
    pub fn new(
        root: &Path,
        patience: Duration,
        told: impl Fn(&Pending) + Send + Sync + 'static,
    ) -> Self {
        let store = PendingStore::of(root);
        Waiting { store, patience, told: Box::new(told), request: Mutex::default() }
    }

    /// Whose questions come next.
    pub fn for_request(&self, request: Canceller) {
        *self.request.lock().unwrap_or_else(PoisonError::into_inner) = Some(request);
    }

    fn request(&self) -> Option<Canceller> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Until it is decided, too old, or nobody wants to know any more.
    fn wait(&self, id: &str) {
        let (begun, request) = (Instant::now(), self.request());
        while begun.elapsed() < self.patience
            && !request.as_ref().is_some_and(Canceller::is_cancelled)
            && matches!(self.store.look(id), Ok(Some(Pending { state: State::Pending, .. })))
        {
            thread::sleep(PAUSE.min(self.patience));
        }
        if let Some(request) = request {
            request.extend(begun.elapsed());
        }
    }
}

impl Approver for Waiting {
    fn ask(&self, question: &Question) -> Answer {
        // What cannot be filed is found out once more, and said, where nobody answers.
        let Ok(pending) = self.store.file(question) else { return Answer::Nobody };
        (self.told)(&pending);
        self.wait(&pending.id);
        if let Ok(Some(pending)) = self.store.look(&pending.id) {
            (self.told)(&pending);
        }
        Answer::Filed
    }

    fn name(&self) -> &'static str {
        "an approval"
    }
}
