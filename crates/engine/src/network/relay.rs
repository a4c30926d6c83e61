//! Carries bytes between two connections until both have said all, or neither says anything for long.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use exacta_policy::rules::host::Host;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::greeting::{self, Greeting};
use super::record::{Fate, Record};

/// Silence for longer ends it.
pub const LONGEST_SILENCE: Duration = Duration::from_secs(300);
const BUFFER: usize = 32 << 10;

/// How much of what the program says is passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount<'a> {
    /// All of it, its end too: nobody here reads it. But if it begins to encrypt, for this machine.
    All(&'a Host),
    /// One request: so many bytes more, and then nothing, whatever comes.
    Bytes(u64),
}

/// The program has begun to encrypt for another machine.
const OTHER_NAME: io::ErrorKind = io::ErrorKind::PermissionDenied;

/// How it ended, if that is not as it should.
pub fn fate(ended: &io::Result<()>) -> Option<Fate> {
    let other = ended.as_ref().is_err_and(|error| error.kind() == OTHER_NAME);
    other.then(|| Fate::Refused("what is encrypted in it is for another machine".into()))
}

/// What was read before and not yet passed on goes first.
pub fn relay(
    client: &TcpStream,
    server: &TcpStream,
    rest: Vec<u8>,
    amount: Amount<'_>,
    record: &Record,
) -> io::Result<()> {
    for stream in [client, server] {
        stream.set_nonblocking(true)?;
        let _slower_without = stream.set_nodelay(true);
    }
    let (guard, left) = match amount {
        Amount::All(host) => (Some(Guard { host, held: Vec::new() }), None),
        Amount::Bytes(left) => (None, Some(left)),
    };
    let mut up = Flow::new(client, server, left, guard);
    let mut down = Flow::new(server, client, None, None);
    up.begin_with(rest)?;
    let mut heard = Instant::now();
    // What the machine has to say decides: a request that was not read to its end may be answered.
    while !down.is_over() {
        let silence = heard.elapsed();
        let Some(left) = LONGEST_SILENCE.checked_sub(silence).filter(|left| !left.is_zero()) else {
            return Err(io::ErrorKind::TimedOut.into());
        };
        wait(&[up.waits_for(), down.waits_for()], left)?;
        let (sent, received) = (up.work()?, down.work()?);
        record.add_sent(sent);
        record.add_received(received);
        if sent + received > 0 {
            heard = Instant::now();
        }
    }
    Ok(())
}

/// One direction.
struct Flow<'a> {
    from: &'a TcpStream,
    to: &'a TcpStream,
    buffer: Vec<u8>,
    /// What of the buffer is still to be written.
    start: usize,
    /// `None`: to the end, which is passed on as well.
    left: Option<u64>,
    guard: Option<Guard<'a>>,
    state: State,
}

/// Holds the beginning back until it is clear for whom it is.
struct Guard<'a> {
    host: &'a Host,
    held: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    /// Nothing more will be read; what was read is still to be written.
    Ending,
    Over,
}

impl<'a> Flow<'a> {
    fn new(
        from: &'a TcpStream,
        to: &'a TcpStream,
        left: Option<u64>,
        guard: Option<Guard<'a>>,
    ) -> Self {
        let state = if left == Some(0) { State::Ending } else { State::Reading };
        Flow { from, to, buffer: Vec::new(), start: 0, left, guard, state }
    }

    /// No more of it than may be passed on.
    fn begin_with(&mut self, mut rest: Vec<u8>) -> io::Result<()> {
        let most = self.left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX));
        rest.truncate(most);
        self.buffer = rest;
        self.count()
    }

    /// The buffer was filled: it counts, and is looked at if it is the beginning.
    fn count(&mut self) -> io::Result<()> {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(self.buffer.len() as u64);
            if *left == 0 {
                self.state = State::Ending;
            }
        }
        let Some(Guard { host, held }) = &mut self.guard else { return Ok(()) };
        held.append(&mut self.buffer);
        match greeting::look(held, host) {
            Greeting::Incomplete => {}
            Greeting::Fitting => self.release(),
            Greeting::Other => {
                let mut from = self.from;
                let _nobody_may_read = from.write(&greeting::ALERT);
                return Err(OTHER_NAME.into());
            }
        }
        Ok(())
    }

    fn release(&mut self) {
        self.start = 0;
        self.buffer = self.guard.take().map(|guard| guard.held).unwrap_or_default();
    }

    fn is_over(&self) -> bool {
        self.state == State::Over
    }

    fn is_empty(&self) -> bool {
        self.start >= self.buffer.len()
    }

    /// Never one that it does not wait for: an end that was seen once would wake it again and again.
    fn waits_for(&self) -> Option<(&'a TcpStream, PollFlags)> {
        match self.state {
            State::Over => None,
            _ if !self.is_empty() => Some((self.to, PollFlags::OUT)),
            State::Reading => Some((self.from, PollFlags::IN)),
            // Only the end is still to be passed on, which waits for nobody.
            State::Ending => Some((self.to, PollFlags::OUT)),
        }
    }

    /// As much as goes without waiting. How many bytes were written.
    fn work(&mut self) -> io::Result<usize> {
        if self.state == State::Reading && self.is_empty() {
            self.read()?;
        }
        let written = if self.is_empty() { 0 } else { self.write()? };
        if self.state == State::Ending && self.is_empty() {
            self.state = State::Over;
            if self.left.is_none() {
                let _it_may_be_gone = self.to.shutdown(Shutdown::Write);
            }
        }
        Ok(written)
    }

    fn read(&mut self) -> io::Result<()> {
        let most = self.left.map_or(BUFFER, |left| usize::try_from(left).unwrap_or(BUFFER));
        let most = most.min(BUFFER);
        self.buffer.resize(most, 0);
        self.start = 0;
        let mut from = self.from;
        let read = retried(|| from.read(&mut self.buffer));
        self.buffer.truncate(*read.as_ref().unwrap_or(&None).as_ref().unwrap_or(&0));
        match read? {
            None => {}
            // Half a greeting is nobody's.
            Some(0) => {
                self.state = State::Ending;
                self.guard = None;
            }
            Some(_) => self.count()?,
        }
        Ok(())
    }

    fn write(&mut self) -> io::Result<usize> {
        let rest = self.buffer.get(self.start..).unwrap_or_default();
        let mut to = self.to;
        let written = retried(|| to.write(rest))?.unwrap_or(0);
        self.start += written;
        Ok(written)
    }
}

/// `None`: it would have to wait.
fn retried(mut operation: impl FnMut() -> io::Result<usize>) -> io::Result<Option<usize>> {
    loop {
        match operation() {
            Ok(bytes) => return Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

fn wait(wanted: &[Option<(&TcpStream, PollFlags)>], longest: Duration) -> io::Result<()> {
    let flags = wanted.iter().flatten();
    let mut watched: Vec<PollFd<'_>> =
        flags.map(|(stream, flags)| PollFd::new(*stream, *flags)).collect();
    let longest = Timespec {
        tv_sec: longest.as_secs().cast_signed(),
        tv_nsec: longest.subsec_nanos().into(),
    };
    match poll(&mut watched, Some(&longest)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
