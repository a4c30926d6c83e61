//! Tells whoever looks on that something has changed. Who is too slow misses some of it, and is told so.

use serde_json::Value;
use tokio::sync::broadcast::{self, Receiver, Sender};

/// So many wait for the slowest.
const DEPTH: usize = 1_024;

#[derive(Debug, Clone)]
pub struct Event {
    /// `approval`, `session`, `process` or `task`; of one session `started`, `output`, `approval` or `ended`.
    pub kind: &'static str,
    pub data: Value,
}

pub struct Bell(Sender<Event>);

impl Bell {
    pub fn new() -> Self {
        Bell(broadcast::channel(DEPTH).0)
    }

    pub fn ring(&self, kind: &'static str, data: Value) {
        let _nobody_may_listen = self.0.send(Event { kind, data });
    }

    pub fn is_heard(&self) -> bool {
        self.0.receiver_count() > 0
    }

    pub fn listen(&self) -> Receiver<Event> {
        self.0.subscribe()
    }
}
