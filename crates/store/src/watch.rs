//! Somebody who wants to know how far a long operation is.

use std::fmt;
use std::sync::Arc;

/// Is told how many of how many steps are done. Called often, from the thread that works: it must be quick.
#[derive(Clone, Default)]
pub struct Watch(Option<Arc<dyn Fn(usize, usize) + Send + Sync>>);

impl Watch {
    pub fn new(watcher: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Watch(Some(Arc::new(watcher)))
    }

    pub fn tell(&self, done: usize, total: usize) {
        if let Some(watcher) = &self.0 {
            watcher(done, total);
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Watch({})", if self.0.is_some() { "somebody" } else { "nobody" })
    }
}
