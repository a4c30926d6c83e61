//! Carrying bytes between a program's pipes and what is no descriptor: captured output, `$(…)`, files in memory.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use exacta_shell::filesystem::OpenFile;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::filesystem::CurrentRequest;

/// One piece, and as much as a pipe holds unless somebody has made it larger.
const PIECE: usize = 64 << 10;

/// What a program writes into a pipe, and where it belongs.
pub struct Carrier {
    /// Never makes us wait: only our end is like that.
    from: OwnedFd,
    to: Arc<dyn OpenFile>,
}

/// What came of one look at a pipe.
enum Carried {
    Bytes(usize),
    Nothing,
    /// All writers are gone, or whoever should get it is.
    End,
}

impl Carrier {
    pub fn new(from: OwnedFd, to: Arc<dyn OpenFile>) -> io::Result<Self> {
        rustix::fs::fcntl_setfl(&from, OFlags::NONBLOCK)?;
        Ok(Carrier { from, to })
    }

    fn carry(&self, buffer: &mut Vec<u8>) -> Carried {
        loop {
            buffer.clear();
            return match rustix::io::read(&self.from, spare_capacity(buffer)) {
                Ok(0) => Carried::End,
                Ok(count) => match self.to.write_all(buffer) {
                    Ok(()) => Carried::Bytes(count),
                    Err(_) => Carried::End,
                },
                Err(Errno::AGAIN) => Carried::Nothing,
                Err(Errno::INTR) => continue,
                Err(_) => Carried::End,
            };
        }
    }
}

/// All that a program writes and this process must carry.
#[derive(Default)]
pub struct Carriers {
    all: Vec<Carrier>,
    /// Memory is touched when there is something to carry: many programs say nothing.
    buffer: Vec<u8>,
}

impl Carriers {
    pub fn new(all: Vec<Carrier>) -> Self {
        let buffer = Vec::with_capacity(if all.is_empty() { 0 } else { PIECE });
        Carriers { all, buffer }
    }

    /// Carries what is there, or waits for it, but not beyond an event of the request. Which of the `events` have happened.
    pub fn work<const EVENTS: usize>(
        &mut self,
        events: [Option<BorrowedFd<'_>>; EVENTS],
        patience: Option<Duration>,
    ) -> [bool; EVENTS] {
        let pipes = self.all.iter().map(|carrier| carrier.from.as_fd());
        let mut watched: Vec<PollFd<'_>> = events
            .into_iter()
            .flatten()
            .chain(pipes)
            .map(|it| PollFd::from_borrowed_fd(it, PollFlags::IN))
            .collect();
        let patience = patience.map(|time| Timespec {
            tv_sec: time.as_secs().cast_signed(),
            tv_nsec: time.subsec_nanos().into(),
        });
        if poll(&mut watched, patience.as_ref()).is_err() {
            return [false; EVENTS];
        }
        let ready: Vec<bool> = watched.iter().map(|it| !it.revents().is_empty()).collect();
        let mut ready = ready.into_iter();
        let happened = events.map(|event| event.is_some() && ready.next().unwrap_or(false));
        let buffer = &mut self.buffer;
        self.all.retain(|carrier| {
            !ready.next().unwrap_or(false) || !matches!(carrier.carry(buffer), Carried::End)
        });
        happened
    }

    /// The program has ended: what it has written is delivered before anything else happens. What others write who
    /// have its descriptors, daemons for instance, does not hold this up.
    pub fn catch_up(&mut self) {
        let buffer = &mut self.buffer;
        self.all.retain(|carrier| {
            let mut left = held_by(&carrier.from);
            loop {
                match carrier.carry(buffer) {
                    Carried::Bytes(count) if count < left => left -= count,
                    Carried::Bytes(_) | Carried::Nothing => return true,
                    Carried::End => return false,
                }
            }
        });
    }

    /// Goes on in the background until all writers are gone: at the end of the request they are.
    pub fn follow(mut self) -> io::Result<Option<JoinHandle<()>>> {
        if self.all.is_empty() {
            return Ok(None);
        }
        let work = move || {
            while !self.all.is_empty() {
                self.work([], None);
            }
        };
        thread::Builder::new().name("carrier".into()).spawn(work).map(Some)
    }
}

/// The most that can be in a pipe, and one more look to see its end.
fn held_by(pipe: &OwnedFd) -> usize {
    rustix::pipe::fcntl_getpipe_size(pipe).unwrap_or(PIECE) + 1
}

/// Something that only this process can read, for a program to read.
pub struct Source {
    pub from: Arc<dyn OpenFile>,
    pub to: OwnedFd,
}

impl Source {
    /// On a thread of its own, until its end, or until nobody reads.
    pub fn feed(self, request: &CurrentRequest) -> io::Result<()> {
        let request = request.clone();
        let work = move || {
            let mut buffer = vec![0; PIECE];
            while let Ok(count @ 1..) = self.from.read(&mut buffer) {
                if self.pass(buffer.get(..count).unwrap_or_default(), &request).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("source".into()).spawn(work).map(|_| ())
    }

    fn pass(&self, mut rest: &[u8], request: &CurrentRequest) -> io::Result<()> {
        while !rest.is_empty() {
            request.wait(&self.to, PollFlags::OUT, None)?;
            // At most what a ready pipe takes without waiting.
            let chunk = rest.get(..rest.len().min(4096)).unwrap_or_default();
            match rustix::io::write(&self.to, chunk) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
