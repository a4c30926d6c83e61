//! A connection from inside, until it is clear what it wants: read no faster, no longer and no more than needed.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use super::head;

/// To say what it wants, all of it: a byte now and then does not help.
const PATIENCE: Duration = Duration::from_secs(10);
/// To take an answer, and to stop talking after a refusal.
const LAST_PATIENCE: Duration = Duration::from_secs(2);

pub struct Client {
    pub stream: TcpStream,
    /// Read, and not used yet.
    rest: Vec<u8>,
    end: Instant,
}

/// Why there is no head.
#[derive(Debug)]
pub enum NoHead {
    TooLong,
    /// The other side is gone, or too slow.
    Gone,
}

impl Client {
    pub fn new(stream: TcpStream) -> Self {
        Client { stream, rest: Vec::new(), end: Instant::now() + PATIENCE }
    }

    /// What was read and not used.
    pub fn take_rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.rest)
    }

    /// The first byte of what comes. `None`: nothing came.
    pub fn first(&mut self) -> Option<u8> {
        if self.rest.is_empty() {
            self.more().ok()?;
        }
        self.rest.first().copied()
    }

    /// The head of a request, with the empty line at its end.
    pub fn head(&mut self) -> Result<Vec<u8>, NoHead> {
        loop {
            if let Some(end) = head::end(&self.rest) {
                return if end > head::LONGEST { Err(NoHead::TooLong) } else { Ok(self.take(end)) };
            }
            if self.rest.len() >= head::LONGEST {
                return Err(NoHead::TooLong);
            }
            self.more().map_err(|_| NoHead::Gone)?;
        }
    }

    /// So many bytes.
    pub fn bytes(&mut self, count: usize) -> io::Result<Vec<u8>> {
        while self.rest.len() < count {
            self.more()?;
        }
        Ok(self.take(count))
    }

    pub fn byte(&mut self) -> io::Result<u8> {
        let byte = self.bytes(1)?;
        byte.first().copied().ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// An answer, complete or not at all.
    pub fn answer(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.set_write_timeout(Some(LAST_PATIENCE))?;
        self.stream.write_all(bytes)
    }

    /// The last answer. What still comes is read for a moment: an end with something unread would take the answer away.
    pub fn answer_and_end(&mut self, bytes: &[u8]) {
        if self.answer(bytes).is_err() || self.stream.shutdown(Shutdown::Write).is_err() {
            return;
        }
        self.end = Instant::now() + LAST_PATIENCE;
        for _ in 0..64 {
            self.rest.clear();
            if self.more().is_err() {
                return;
            }
        }
    }

    fn take(&mut self, count: usize) -> Vec<u8> {
        let rest = self.rest.split_off(count.min(self.rest.len()));
        std::mem::replace(&mut self.rest, rest)
    }

    /// At least a byte more.
    fn more(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            let left = self.end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    self.rest.extend_from_slice(buffer.get(..read).unwrap_or_default());
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
