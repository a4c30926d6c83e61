//! The `executionLog` of a task while it runs: lines as they come, written in groups.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bstr::ByteSlice;

use super::keeping::{Keeper, now};
use super::watching::{Event, Watcher};
use super::{LogEntry, LogKind};
use crate::heard_output::{Listener, Stream};

/// So many lines wait at most, and so long.
const GROUP: usize = 64;
const PATIENCE: Duration = Duration::from_millis(100);

/// A line that does not end is cut into pieces of this size.
const LONGEST: usize = 4 << 10;

pub(super) struct Log<'a> {
    keeper: &'a Keeper,
    watcher: &'a dyn Watcher,
    task: String,
    waiting: Mutex<(Vec<LogEntry>, Instant)>,
}

impl<'a> Log<'a> {
    pub(super) fn new(keeper: &'a Keeper, watcher: &'a dyn Watcher, task: &str) -> Self {
        let waiting = Mutex::new((Vec::new(), Instant::now()));
        Log { keeper, watcher, task: task.to_owned(), waiting }
    }

    pub(super) fn add(&self, kind: LogKind, content: &str) {
        self.watcher.notice(&self.task, &Event::Logged { kind, content });
        let mut waiting = self.lock();
        let (lines, since) = &mut *waiting;
        lines.push(LogEntry { timestamp: now(), kind, content: content.to_owned() });
        if lines.len() >= GROUP || since.elapsed() >= PATIENCE {
            self.write(&mut waiting);
        }
    }

    /// What waits is written.
    pub(super) fn flush(&self) {
        self.write(&mut self.lock());
    }

    fn write(&self, waiting: &mut (Vec<LogEntry>, Instant)) {
        let lines = std::mem::take(&mut waiting.0);
        waiting.1 = Instant::now();
        if !lines.is_empty() {
            // A log with a gap is no reason to stop: what was done is in the chain of records.
            let _only_the_log = self.keeper.write_log(&self.task, &lines);
        }
    }

    fn lock(&self) -> MutexGuard<'_, (Vec<LogEntry>, Instant)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hears what a step writes, and hands it over in lines to whoever is on the other side.
pub(super) struct Ears {
    /// Of the output limit so much is left.
    left: AtomicU64,
    sender: std::sync::mpsc::Sender<(LogKind, String)>,
    begun: Mutex<[Vec<u8>; 2]>,
}

impl Ears {
    pub(super) fn new(limit: u64, sender: std::sync::mpsc::Sender<(LogKind, String)>) -> Arc<Self> {
        Arc::new(Ears { left: AtomicU64::new(limit), sender, begun: Mutex::default() })
    }

    /// What did not end with a line feed.
    pub(super) fn finish(&self) {
        let begun = std::mem::take(&mut *self.begun());
        for (stream, rest) in [Stream::Output, Stream::Errors].into_iter().zip(begun) {
            if !rest.is_empty() {
                self.send(stream, &rest);
            }
        }
    }

    fn send(&self, stream: Stream, line: &[u8]) {
        let content = crate::report::without_escapes(line);
        // Who does not listen any more does not matter.
        let _unheard = self.sender.send((kind_of(stream), content));
    }

    fn begun(&self) -> MutexGuard<'_, [Vec<u8>; 2]> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn kind_of(stream: Stream) -> LogKind {
    match stream {
        Stream::Output => LogKind::Output,
        Stream::Errors => LogKind::Error,
    }
}

impl Listener for Ears {
    fn hear(&self, stream: Stream, data: &[u8]) -> io::Result<()> {
        let (left, length) = (self.left.load(Ordering::Relaxed), data.len() as u64);
        if left == 0 {
            return Ok(());
        }
        let data = data.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(data);
        self.left.store(left.saturating_sub(length), Ordering::Relaxed);
        let mut begun = self.begun();
        let [output, errors] = &mut *begun;
        let rest = if stream == Stream::Output { output } else { errors };
        for piece in data.lines_with_terminator() {
            rest.extend_from_slice(piece);
            if rest.ends_with(b"\n") || rest.len() >= LONGEST {
                let line = std::mem::take(rest);
                self.send(stream, line.strip_suffix(b"\n").unwrap_or(&line));
            }
        }
        if length > left {
            let text = "the output is over its limit: the rest of it is not in this log".to_owned();
            let _unheard = self.sender.send((LogKind::Info, text));
        }
        Ok(())
    }
}
