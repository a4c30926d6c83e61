//! Pipes between commands of this process.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::control::{self, Control, PATIENCE};
use crate::errno;
use crate::filesystem::{FileKind, Metadata, OpenFile, Real, RealFiles};
use crate::long;
use crate::release::Heavy;
use crate::status::LimitKind;

pub use crate::buffers::{Bytes, Capture};

/// As much as a Linux pipe holds: a fast writer waits for a slow reader instead of filling memory.
const CAPACITY: usize = 64 << 10;

struct Shared {
    state: Mutex<State>,
    /// Readers wait here for bytes, writers on the other for room.
    filled: Condvar,
    emptied: Condvar,
    control: Arc<Control>,
    capacity: usize,
}

#[derive(Default)]
struct State {
    bytes: Heavy<VecDeque<u8>>,
    readers: usize,
    writers: usize,
    waiting_readers: usize,
    waiting_writers: usize,
    /// Once a program has one end, the bytes go through a pipe of the kernel. Each end is let go of with ours.
    real: bool,
    real_reader: Option<Arc<dyn OpenFile>>,
    real_writer: Option<Arc<dyn OpenFile>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        until: &Condvar,
    ) -> io::Result<MutexGuard<'a, State>> {
        if control::check_current(&self.control).is_err() {
            return Err(errno::error(errno::EINTR));
        }
        match until.wait_timeout(state, PATIENCE) {
            Ok((state, _)) => Ok(state),
            Err(poisoned) => Ok(poisoned.into_inner().0),
        }
    }

    fn wait_for_bytes<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
    ) -> io::Result<MutexGuard<'a, State>> {
        state.waiting_readers += 1;
        let mut state = self.wait(state, &self.filled)?;
        state.waiting_readers -= 1;
        Ok(state)
    }

    fn wait_for_room<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
    ) -> io::Result<MutexGuard<'a, State>> {
        state.waiting_writers += 1;
        let mut state = self.wait(state, &self.emptied)?;
        state.waiting_writers -= 1;
        Ok(state)
    }
}

impl Shared {
    /// From now on through the kernel, with what is in it so far.
    fn become_real(&self, state: &mut State, maker: &dyn RealFiles) -> io::Result<()> {
        if state.real {
            return Ok(());
        }
        let (reader, writer) = maker.pipe(state.bytes.make_contiguous())?;
        state.bytes.clear();
        state.real = true;
        state.real_reader = (state.readers > 0).then_some(reader);
        state.real_writer = (state.writers > 0).then_some(writer);
        self.filled.notify_all();
        self.emptied.notify_all();
        Ok(())
    }

    fn is_unbounded(&self) -> bool {
        self.capacity == usize::MAX
    }
}

/// As [`long::reserve`].
fn make_room(bytes: &mut Heavy<VecDeque<u8>>, more: usize) -> io::Result<()> {
    let wanted = bytes.len() + more;
    if wanted <= bytes.capacity() || bytes.len() <= long::STRETCH {
        return Ok(());
    }
    let mut grown = Heavy::new(VecDeque::with_capacity(wanted.max(bytes.capacity() * 2)));
    let (front, back) = bytes.as_slices();
    for part in front.chunks(long::STRETCH).chain(back.chunks(long::STRETCH)) {
        control::check_here().map_err(|_| errno::error(errno::EINTR))?;
        grown.extend(part);
    }
    *bytes = grown;
    Ok(())
}

/// Both ends of a new pipe. Dropping the last reader makes writers fail with `EPIPE`; dropping the last
/// writer lets readers see the end.
pub fn pipe(control: &Arc<Control>) -> (Arc<PipeReader>, Arc<PipeWriter>) {
    with_capacity(control, CAPACITY)
}

/// A pipe that never makes its writer wait: for `$(…)`, whose reader comes only when the writer is done.
/// More than an expansion may produce ends the request.
pub fn unbounded(control: &Arc<Control>) -> (Arc<PipeReader>, Arc<PipeWriter>) {
    with_capacity(control, usize::MAX)
}

fn with_capacity(control: &Arc<Control>, capacity: usize) -> (Arc<PipeReader>, Arc<PipeWriter>) {
    let state = State { readers: 1, writers: 1, ..State::default() };
    let shared = Arc::new(Shared {
        state: Mutex::new(state),
        filled: Condvar::new(),
        emptied: Condvar::new(),
        control: Arc::clone(control),
        capacity,
    });
    (Arc::new(PipeReader { shared: Arc::clone(&shared) }), Arc::new(PipeWriter { shared }))
}

pub struct PipeReader {
    shared: Arc<Shared>,
}

pub struct PipeWriter {
    shared: Arc<Shared>,
}

impl PipeReader {
    /// Everything until the last writer is gone.
    pub fn drain(&self) -> io::Result<Vec<u8>> {
        let mut state = self.shared.lock();
        while state.writers > 0 {
            state = self.shared.wait_for_bytes(state)?;
        }
        Ok(std::mem::take(&mut *state.bytes).into())
    }
}

impl OpenFile for PipeReader {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.shared.lock();
        loop {
            if let Some(real) = state.real_reader.clone() {
                drop(state);
                return real.read(buffer);
            }
            if !state.bytes.is_empty() || buffer.is_empty() {
                let count = read_both_slices(&mut state.bytes, buffer);
                // A writer that waits is woken when there is room for a good piece, not for every byte.
                if state.waiting_writers > 0 && state.bytes.len() <= self.shared.capacity / 2 {
                    self.shared.emptied.notify_all();
                }
                return Ok(count);
            }
            if state.writers == 0 {
                return Ok(0);
            }
            state = self.shared.wait_for_bytes(state)?;
        }
    }

    fn write(&self, _data: &[u8]) -> io::Result<usize> {
        Err(errno::error(errno::EBADF))
    }

    fn metadata(&self) -> io::Result<Metadata> {
        Ok(stream_metadata(FileKind::Fifo))
    }

    fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        let end = Instant::now().checked_add(timeout);
        let mut state = self.shared.lock();
        while state.bytes.is_empty() && state.writers > 0 {
            if let Some(real) = state.real_reader.clone() {
                drop(state);
                let left = end.map(|end| end.saturating_duration_since(Instant::now()));
                return real.wait_readable(left.unwrap_or(timeout));
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                return Ok(false);
            }
            state = self.shared.wait_for_bytes(state)?;
        }
        Ok(true)
    }

    fn real(&self, maker: &dyn RealFiles) -> io::Result<Real> {
        let mut state = self.shared.lock();
        if let Some(real) = &state.real_reader {
            return Ok(Real::Other(Arc::clone(real)));
        }
        if state.writers == 0 {
            // All there will ever be, however much it is.
            let held = maker.holding(state.bytes.make_contiguous())?;
            state.bytes.clear();
            state.real = true;
            state.real_reader = Some(Arc::clone(&held));
            return Ok(Real::Other(held));
        }
        if self.shared.is_unbounded() {
            return Ok(Real::No);
        }
        self.shared.become_real(&mut state, maker)?;
        Ok(state.real_reader.clone().map_or(Real::No, Real::Other))
    }

    fn is_source(&self) -> bool {
        true
    }
}

/// The ring may wrap around once: both halves in one read.
fn read_both_slices(bytes: &mut VecDeque<u8>, buffer: &mut [u8]) -> usize {
    let mut count = 0;
    while let Some(rest) = buffer.get_mut(count..) {
        match io::Read::read(bytes, rest) {
            Ok(0) | Err(_) => break,
            Ok(more) => count += more,
        }
    }
    count
}

impl Drop for PipeReader {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.readers -= 1;
        state.real_reader = None;
        drop(state);
        self.shared.emptied.notify_all();
    }
}

impl OpenFile for PipeWriter {
    fn read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(errno::error(errno::EBADF))
    }

    fn write(&self, data: &[u8]) -> io::Result<usize> {
        let mut state = self.shared.lock();
        loop {
            if let Some(real) = state.real_writer.clone() {
                drop(state);
                return real.write(data);
            }
            if state.readers == 0 {
                return Err(errno::error(errno::EPIPE));
            }
            let room = self.shared.capacity.saturating_sub(state.bytes.len());
            if room > 0 || data.is_empty() {
                let part = data.get(..room.min(data.len())).unwrap_or(data);
                self.check_size(state.bytes.len() + part.len())?;
                make_room(&mut state.bytes, part.len())?;
                state.bytes.extend(part);
                if state.waiting_readers > 0 {
                    self.shared.filled.notify_all();
                }
                return Ok(part.len());
            }
            state = self.shared.wait_for_room(state)?;
        }
    }

    fn metadata(&self) -> io::Result<Metadata> {
        Ok(stream_metadata(FileKind::Fifo))
    }

    fn real(&self, maker: &dyn RealFiles) -> io::Result<Real> {
        // Nobody reads from one without a capacity before its writers are done: the kernel's would fill up.
        if self.shared.is_unbounded() {
            return Ok(Real::No);
        }
        let mut state = self.shared.lock();
        self.shared.become_real(&mut state, maker)?;
        Ok(state.real_writer.clone().map_or(Real::No, Real::Other))
    }
}

impl PipeWriter {
    /// Only a pipe without a capacity can grow beyond what an expansion may produce.
    fn check_size(&self, bytes: usize) -> io::Result<()> {
        let control = &self.shared.control;
        if self.shared.is_unbounded() && bytes as u64 > control.limits.expansion_bytes {
            control.exceeded(LimitKind::ExpansionBytes, control.limits.expansion_bytes);
            return Err(errno::error(errno::EINTR));
        }
        Ok(())
    }
}

impl Drop for PipeWriter {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.writers -= 1;
        state.real_writer = None;
        drop(state);
        self.shared.filled.notify_all();
    }
}

/// What stat says of something without a name.
pub fn stream_metadata(kind: FileKind) -> Metadata {
    let epoch = SystemTime::UNIX_EPOCH;
    Metadata {
        kind,
        permissions: 0o600,
        size: 0,
        links: 1,
        user: 0,
        group: 0,
        device: 0,
        inode: 0,
        blocks: 0,
        block_size: 4096,
        device_number: 0,
        accessed: epoch,
        modified: epoch,
        changed: epoch,
        created: None,
    }
}
