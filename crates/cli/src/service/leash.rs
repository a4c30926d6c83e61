//! Stops what runs when nobody waits for it any more.

use std::sync::{Arc, Mutex, PoisonError};

use exacta::Canceller;

/// Cut before or after the request has begun: it ends either way.
#[derive(Default, Clone)]
pub struct Leash(Arc<Mutex<(bool, Option<Canceller>)>>);

impl Leash {
    pub fn tie(&self, canceller: Canceller) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0 {
            canceller.cancel();
        }
        state.1 = Some(canceller);
    }

    pub fn cut(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = true;
        if let Some(canceller) = &state.1 {
            canceller.cancel();
        }
    }
}

/// Dropped with the answer that nobody reads.
pub struct UntilAnswered(pub Leash);

impl Drop for UntilAnswered {
    fn drop(&mut self) {
        self.0.cut();
    }
}
