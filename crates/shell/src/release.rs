//! Giving memory back behind the request's back.
//!
//! The kernel takes a millisecond for every few megabytes it takes back, and so does the allocator for a hundred
//! thousand words. A request that is stopped must end within ten milliseconds, whatever it holds: what is heavy
//! is let go of on another thread.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};

use bstr::BString;

use crate::interpret::pool;

/// From here on another thread is worth waking.
const HEAVY: usize = 4 << 20;
/// What may wait for that thread: a loop must not make garbage faster than it is taken away.
const LARGEST_BACKLOG: usize = 512 << 20;

static BACKLOG: AtomicUsize = AtomicUsize::new(0);

/// A value that may hold much memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heavy<T: Weigh>(T);

/// Drops what may hold much memory.
pub fn discard<T: Weigh>(value: T) {
    drop(Heavy(value));
}

pub trait Weigh: Default + Send + 'static {
    /// Bytes held, roughly, and found at once.
    fn weight(&self) -> usize;
}

impl<T: Weigh> Heavy<T> {
    pub fn new(value: T) -> Self {
        Heavy(value)
    }

    pub fn into_inner(mut self) -> T {
        std::mem::take(&mut self.0)
    }
}

impl<T: Weigh> From<T> for Heavy<T> {
    fn from(value: T) -> Self {
        Heavy(value)
    }
}

impl<T: Weigh> Deref for Heavy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Weigh> DerefMut for Heavy<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Weigh> Drop for Heavy<T> {
    fn drop(&mut self) {
        let weight = self.0.weight();
        if weight < HEAVY {
            return;
        }
        let value = std::mem::take(&mut self.0);
        if BACKLOG.fetch_add(weight, Ordering::Relaxed) > LARGEST_BACKLOG {
            BACKLOG.fetch_sub(weight, Ordering::Relaxed);
            return;
        }
        // Without a thread the task is dropped here, and the value with it.
        let _ = pool::run(move || {
            drop(value);
            BACKLOG.fetch_sub(weight, Ordering::Relaxed);
        });
    }
}

impl Weigh for Vec<u8> {
    fn weight(&self) -> usize {
        self.capacity()
    }
}

impl Weigh for VecDeque<u8> {
    fn weight(&self) -> usize {
        self.capacity()
    }
}

/// What a short word takes with its place in a list.
const WORD: usize = 64;
/// Words that are asked for their length.
const FEW: usize = 16;

impl Weigh for Vec<BString> {
    fn weight(&self) -> usize {
        // Few words may be long ones; many are not worth asking.
        let text =
            if self.len() <= FEW { self.iter().map(|word| word.capacity()).sum() } else { 0 };
        self.len().saturating_mul(WORD).saturating_add(text)
    }
}

impl Weigh for BString {
    fn weight(&self) -> usize {
        self.capacity()
    }
}
