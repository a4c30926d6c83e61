//! Whether what takes long goes on: asked between two stretches of a copy that a request waits for.

use std::fmt;
use std::sync::{Arc, OnceLock};

use rustix::io::Errno;

/// Who is asked; nobody, and then it goes on.
#[derive(Clone, Default)]
pub(crate) struct Going(OnceLock<Arc<dyn Fn() -> bool + Send + Sync>>);

/// For what has to be brought to an end once it has begun.
pub(crate) static ALWAYS: Going = Going(OnceLock::new());

impl Going {
    /// Said once.
    pub(crate) fn ask(&self, goes_on: Arc<dyn Fn() -> bool + Send + Sync>) {
        let _said_before = self.0.set(goes_on);
    }

    /// `EINTR` when it does not.
    pub(crate) fn check(&self) -> Result<(), Errno> {
        match self.0.get() {
            Some(goes_on) if !goes_on() => Err(Errno::INTR),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Going {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Going({})", if self.0.get().is_some() { "asked" } else { "on" })
    }
}
