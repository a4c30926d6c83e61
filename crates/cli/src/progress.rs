//! How far something is that takes long: one line on standard error, if a person sits there. And that a request whose output
//! comes later still runs.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use exacta::records::Watch;

use crate::output;

/// What is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;
const SECOND: Duration = Duration::from_secs(1);

pub struct Progress {
    /// `None`: nobody looks.
    state: Option<Arc<Mutex<State>>>,
}

struct State {
    next: Instant,
    is_shown: bool,
}

impl Progress {
    pub fn new() -> Self {
        let state = State { next: Instant::now() + PATIENCE, is_shown: false };
        let looked_at = std::io::stderr().is_terminal();
        Progress { state: looked_at.then(|| Arc::new(Mutex::new(state))) }
    }

    /// Somebody looks.
    pub fn is_seen(&self) -> bool {
        self.state.is_some()
    }

    /// To be told by whoever works.
    pub fn watch(&self) -> Watch {
        let Some(state) = self.state.clone() else { return Watch::default() };
        Watch::new(move |done, total| {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            if now >= state.next {
                state.next = now + PAUSE;
                state.is_shown = true;
                output::error(&format!("\r\x1b[K{}", bar(WIDTH, done, total)));
            }
        })
    }

    /// Takes the line away before anything else is said.
    pub fn clear(&self) {
        let Some(state) = &self.state else { return };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut state.is_shown) {
            output::error("\r\x1b[K");
        }
    }
}

/// Says from time to time for how long a request has been running.
///
/// Only for requests whose output is kept for a report: what others write to the terminal would end up in this line, and nobody
/// but the terminal knows that they have written.
pub struct Running {
    /// `None`: nobody looks.
    end: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

/// The line is there. Held by whoever says something else.
static LINE: Mutex<bool> = Mutex::new(false);

impl Running {
    pub fn begin(output_is_kept: bool) -> Self {
        if !output_is_kept || !std::io::stderr().is_terminal() {
            return Running { end: None };
        }
        let (ending, ended) = mpsc::channel();
        let begun = Instant::now();
        let tell = move || {
            // Once a second, from the first on; an end of the other side is an end too.
            while ended.recv_timeout(SECOND) == Err(RecvTimeoutError::Timeout) {
                // Somebody is being asked.
                let Ok(mut is_shown) = LINE.try_lock() else { continue };
                *is_shown = true;
                output::error(&format!(
                    "\r\x1b[Kexacta: running for {} s",
                    begun.elapsed().as_secs()
                ));
            }
        };
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(tell);
        Running { end: thread.ok().map(|thread| (ending, thread)) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some((ending, thread)) = self.end.take() {
            let _ = ending.send(());
            let _ = thread.join();
            drop(aside());
        }
    }
}

/// Another text in the place of the line.
pub fn say(text: &str) {
    // Somebody is being asked.
    let Ok(mut is_shown) = LINE.try_lock() else { return };
    *is_shown = true;
    output::error(&format!("\r\x1b[Kexacta: {text}"));
}

/// Takes the line away, for as long as this is held: for questions and messages.
pub fn aside() -> MutexGuard<'static, bool> {
    let mut is_shown = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::take(&mut *is_shown) {
        output::error("\r\x1b[K");
    }
    is_shown
}

/// A bar of this many columns, and the numbers.
pub fn bar(width: usize, done: usize, total: usize) -> String {
    let part = |whole: usize| done.saturating_mul(whole).checked_div(total).unwrap_or(whole);
    let filled = part(width).min(width);
    let mut bar = String::from("[");
    bar.extend(std::iter::repeat_n('#', filled));
    bar.extend(std::iter::repeat_n(' ', width - filled));
    // Writing to a String cannot fail.
    let _ = write!(bar, "] {:3}% {done}/{total}", part(100).min(100));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar() {
        assert_eq!(bar(WIDTH, 0, 2), format!("[{}]   0% 0/2", " ".repeat(30)));
        assert_eq!(bar(WIDTH, 1, 2), format!("[{}{}]  50% 1/2", "#".repeat(15), " ".repeat(15)));
        assert_eq!(bar(WIDTH, 2, 2), format!("[{}] 100% 2/2", "#".repeat(30)));
        assert_eq!(bar(WIDTH, 0, 0), format!("[{}] 100% 0/0", "#".repeat(30)));
    }
}
