//! Giving memory back behind the request's back.
//!
//! The kernel takes a millisecond for every few megabytes it takes back, and so does the allocator for a hundred
//! thousand words. A request that is stopped must end within ten milliseconds, whatever it holds: what is heavy
//! is let go of on another thread.

use std::any::Any;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bstr::BString;

use crate::control;
use crate::interpret::pool;

/// From here on another thread is worth waking.
const HEAVY: usize = 4 << 20;
/// What may wait for that thread: a loop must not make garbage faster than it is taken away.
const LARGEST_BACKLOG: usize = 512 << 20;
/// What is dropped between two looks at the control.
pub const ELEMENTS: usize = 1 << 12;

/// What waits to be dropped. One thread takes it away: several would take the processors from the request itself.
static BACKLOG: Mutex<Backlog> =
    Mutex::new(Backlog { values: VecDeque::new(), weight: 0, attended: false });

struct Backlog {
    values: VecDeque<(Box<dyn Any + Send>, usize)>,
    weight: usize,
    /// A thread is at work on it.
    attended: bool,
}

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

    /// Drops a part that takes no more than a millisecond; `false`: nothing is left.
    fn shed(&mut self) -> bool {
        *self = Self::default();
        false
    }
}

/// [`Weigh::shed`] of lists.
pub fn shorten<T>(list: &mut Vec<T>) -> bool {
    list.truncate(list.len().saturating_sub(ELEMENTS));
    !list.is_empty()
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
        if lock().weight > LARGEST_BACKLOG {
            // Here then, but only as long as the request goes on: its end waits for nobody.
            while control::goes_on_here() {
                if !self.0.shed() {
                    return;
                }
            }
        }
        put_off(Box::new(std::mem::take(&mut self.0)), weight);
    }
}

fn put_off(value: Box<dyn Any + Send>, weight: usize) {
    let mut backlog = lock();
    backlog.values.push_back((value, weight));
    backlog.weight += weight;
    if backlog.attended {
        return;
    }
    backlog.attended = true;
    drop(backlog);
    if pool::run(take_away).is_err() {
        // Without a thread it is done here.
        take_away();
    }
}

fn take_away() {
    loop {
        let mut backlog = lock();
        let Some((value, weight)) = backlog.values.pop_front() else {
            backlog.attended = false;
            return;
        };
        drop(backlog);
        drop(value);
        lock().weight -= weight;
    }
}

fn lock() -> MutexGuard<'static, Backlog> {
    BACKLOG.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn shed(&mut self) -> bool {
        shorten(self)
    }
}

impl Weigh for BString {
    fn weight(&self) -> usize {
        self.capacity()
    }
}
