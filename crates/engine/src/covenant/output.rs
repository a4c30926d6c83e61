//! Where a command's output goes: both streams into one text, as they come, and never more than the limit.
//!
//! A command that writes more is not stopped for it: its time is what ends a command that runs forever (`yes`), and only
//! one that has ended by itself is told that it wrote too much (`find . -type f` in a large tree). What is over the
//! limit is counted and forgotten, so memory stays bounded.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use exacta_shell::errno;
use exacta_shell::filesystem::{Metadata, OpenFile};
use exacta_shell::pipe::Capture;

pub(super) struct Combined {
    limit: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: Vec<u8>,
    over: bool,
}

/// More was written than anybody wants to read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

impl Combined {
    pub(super) fn new(limit: u64) -> Self {
        Combined { limit, state: Mutex::default() }
    }

    pub(super) fn take(&self) -> Result<Vec<u8>, TooLarge> {
        let mut state = self.lock();
        if state.over { Err(TooLarge) } else { Ok(std::mem::take(&mut state.kept)) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenFile for Combined {
    fn read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(errno::error(errno::EBADF))
    }

    fn write(&self, data: &[u8]) -> io::Result<usize> {
        let mut state = self.lock();
        if !state.over {
            if state.kept.len() as u64 + data.len() as u64 > self.limit {
                state.over = true;
                state.kept = Vec::new();
            } else {
                state.kept.extend_from_slice(data);
            }
        }
        Ok(data.len())
    }

    fn metadata(&self) -> io::Result<Metadata> {
        Capture::default().metadata()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_the_limit_is_not_kept() {
        let output = Combined::new(4);
        assert_eq!(output.write(b"ab").ok(), Some(2));
        assert_eq!(output.write(b"cd").ok(), Some(2));
        assert_eq!(output.write(b"e").ok(), Some(1));
        assert_eq!(output.take(), Err(TooLarge));
        assert_eq!(output.lock().kept.capacity(), 0);
    }
}
