//! The process that a thread works for.

use std::cell::RefCell;
use std::sync::Arc;

use super::Control;
use crate::status::Stop;

thread_local! {
    /// The process whose code this thread runs.
    static CURRENT: RefCell<Option<Arc<Control>>> = const { RefCell::new(None) };
}

/// From now on this thread works for that process, until the guard is dropped. A pipe is made by one process and
/// read by another: what ends the reader is found here.
pub fn enter(control: &Arc<Control>) -> Entered {
    Entered { before: CURRENT.replace(Some(Arc::clone(control))) }
}

/// Gives the thread back to whom it worked for before.
pub struct Entered {
    before: Option<Arc<Control>>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.before.take());
    }
}

/// May the process that this thread works for go on waiting? Outside of any, `otherwise` decides.
pub fn check_current(otherwise: &Control) -> Result<(), Stop> {
    CURRENT.with_borrow(|current| current.as_deref().unwrap_or(otherwise).check())
}

/// May the process that this thread works for go on?
pub fn check_here() -> Result<(), Stop> {
    CURRENT.with_borrow(|current| current.as_deref().map_or(Ok(()), Control::check))
}

/// The same, for who only drops something: also where the thread itself is ending.
pub fn goes_on_here() -> bool {
    let goes_on = |current: &RefCell<Option<Arc<Control>>>| match current.try_borrow() {
        Ok(current) => current.as_deref().is_none_or(|control| control.check().is_ok()),
        Err(_) => true,
    };
    CURRENT.try_with(goes_on).unwrap_or(true)
}
