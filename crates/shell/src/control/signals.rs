//! Signals for the processes of a script: trapped, ignored, or what they do by themselves.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Control, Successor};

const SIGKILL: i32 = 9;
const SIGCONT: i32 = 18;
const SIGSTOP: i32 = 19;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    Default,
    Trapped,
    Ignored,
}

fn signal_bit(signal: i32) -> u64 {
    u32::try_from(signal).ok().and_then(|signal| 1_u64.checked_shl(signal)).unwrap_or(0)
}

/// Signals whose default is to do nothing: CHLD, CONT, URG, WINCH.
fn is_harmless(signal: i32) -> bool {
    matches!(signal, 0 | 17 | SIGCONT | 23 | 28)
}

/// STOP, TSTP, TTIN, TTOU.
fn stops(signal: i32) -> bool {
    (SIGSTOP..=22).contains(&signal)
}

impl Control {
    /// From now on signals are for the program that this process has become; with `None`, for itself again.
    pub fn succeed(&self, successor: Option<Successor>) {
        *self.successor.lock().unwrap_or_else(PoisonError::into_inner) = successor;
    }

    /// Delivers a signal: to its trap, or it ends the process unless it is ignored.
    pub fn deliver(&self, signal: i32) {
        let bit = signal_bit(signal);
        // Whoever has taken its place may have done so while it was stopped.
        if signal == SIGCONT {
            self.stopped.store(false, Ordering::Release);
            self.notify();
        }
        let successor = self.successor.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(successor) = successor {
            return successor(signal);
        }
        let certain = matches!(signal, SIGKILL | SIGSTOP);
        if !certain && self.ignored.load(Ordering::Acquire) & bit != 0 {
            return;
        }
        if !certain && self.trapped.load(Ordering::Acquire) & bit != 0 {
            self.pending.fetch_or(bit, Ordering::AcqRel);
        } else if is_harmless(signal) {
            return;
        } else if stops(signal) {
            // The shell of the request itself goes on: nobody is there who could continue it.
            self.stopped.store(self.process != 0, Ordering::Release);
        } else {
            let _ = self.killed.compare_exchange(0, signal, Ordering::AcqRel, Ordering::Acquire);
        }
        self.notify();
    }

    /// What traps say about a signal, for those who deliver it.
    pub fn set_disposition(&self, signal: i32, disposition: Disposition) {
        let bit = signal_bit(signal);
        let set = |mask: &AtomicU64, on: bool| {
            if on {
                mask.fetch_or(bit, Ordering::AcqRel);
            } else {
                mask.fetch_and(!bit, Ordering::AcqRel);
            }
        };
        set(&self.trapped, disposition == Disposition::Trapped);
        set(&self.ignored, disposition == Disposition::Ignored);
    }

    pub fn ignores(&self, signal: i32) -> bool {
        self.ignored.load(Ordering::Relaxed) & signal_bit(signal) != 0
    }

    pub fn has_pending(&self) -> bool {
        self.pending.load(Ordering::Relaxed) != 0
    }

    /// The lowest signal that waits for its trap, which stays to be run; 0: none.
    pub fn first_pending(&self) -> i32 {
        match self.pending.load(Ordering::Acquire) {
            0 => 0,
            pending => pending.trailing_zeros() as i32,
        }
    }

    /// The lowest signal that waits for its trap.
    pub fn take_pending(&self) -> Option<i32> {
        let pending = self.pending.load(Ordering::Acquire);
        if pending == 0 {
            return None;
        }
        let signal = pending.trailing_zeros() as i32;
        self.pending.fetch_and(!signal_bit(signal), Ordering::AcqRel);
        Some(signal)
    }

    /// The signal that ended this very process, if one did; it counts no longer, so that a trap can run.
    pub fn take_killed(&self) -> Option<i32> {
        match self.killed.swap(0, Ordering::AcqRel) {
            0 => None,
            signal => Some(signal),
        }
    }
}
