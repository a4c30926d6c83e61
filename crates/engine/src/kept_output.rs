//! Output of a request within its limit: the head is passed on as it comes, the tail is kept, and the whole goes into a
//! file of the private `/tmp`, without its secrets. Whoever writes never notices.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use exacta_shell::errno;
use exacta_shell::filesystem::{FileKind, Metadata, OpenFile};
use exacta_shell::pipe::{Capture, stream_metadata};
use exacta_store::audit::Captured;

use crate::audit::{Witness, Witnessing, of_collected};
use crate::heard_output::{HeardOutput, Listener, Stream};
use crate::project::TEMPORARY;
use crate::redacted_output::RedactedOutput;
use crate::redaction::{Redaction, Redactor, Report, Results};

/// How much is kept, and where the rest goes.
#[derive(Debug, Clone)]
pub struct OutputLimit {
    pub bytes: u64,
    /// The project: its state has a place for what is spilled. `None`: nothing is.
    pub root: Option<PathBuf>,
    /// What `/tmp` is, from that state on.
    pub temporary: PathBuf,
    /// Tells the outputs of requests apart.
    pub name: String,
}

impl OutputLimit {
    /// With the `/tmp` that all share.
    pub fn new(bytes: u64, root: Option<PathBuf>, name: impl Into<String>) -> Self {
        OutputLimit { bytes, root, temporary: TEMPORARY.into(), name: name.into() }
    }
}

/// A file that would grow further than this tells nobody anything.
const LONGEST_SPILL: u64 = 256 << 20;

/// One stream of output.
pub struct KeptOutput {
    limit: OutputLimit,
    /// Gets the head at once, and the rest at the end; `None`: all of it is asked for at the end.
    target: Option<Arc<dyn OpenFile>>,
    /// What must not come into the file.
    redaction: Arc<Redaction>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    spill: Option<Spill>,
}

struct Spill {
    file: File,
    path: String,
    bytes: u64,
    redactor: Redactor,
}

impl Spill {
    fn write(&mut self, data: &[u8]) {
        let mut decided = Vec::new();
        self.redactor.push(data, &mut decided);
        // A disk that is full has no room for the whole: head and tail are still there.
        let _what_fits = self.file.write_all(&decided);
    }

    /// Where it is, once all of it is there.
    fn finish(mut self) -> String {
        let mut rest = Vec::new();
        self.redactor.finish(&mut rest);
        let _what_fits = self.file.write_all(&rest);
        self.path
    }
}

/// What is left of a stream.
#[derive(Debug, Default)]
pub struct Kept {
    pub bytes: Vec<u8>,
    pub cut: bool,
    /// Where the whole is, as a script sees it.
    pub spill: Option<String>,
    /// What goes into the record.
    pub witnessed: Captured,
    /// What was replaced in it.
    pub redacted: Report,
}

impl KeptOutput {
    pub fn new(
        limit: OutputLimit,
        target: Option<Arc<dyn OpenFile>>,
        redaction: Arc<Redaction>,
    ) -> Self {
        KeptOutput { limit, target, redaction, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The head has this much; the tail has the rest of the limit.
    fn head_room(&self) -> u64 {
        self.limit.bytes - self.limit.bytes / 2
    }

    /// An error is that of whoever gets it: nobody reads any more.
    fn keep(&self, state: &mut State, data: &[u8]) -> io::Result<()> {
        let room = self.head_room().saturating_sub(state.head.len() as u64);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let (head, rest) = data.split_at(room.min(data.len()));
        state.head.extend_from_slice(head);
        if let Some(target) = &self.target {
            target.write_all(head)?;
        }
        state.tail.extend(rest);
        let longest = usize::try_from(self.limit.bytes / 2).unwrap_or(usize::MAX);
        let over = state.total > self.limit.bytes;
        if over && state.tail.len() > longest {
            let surplus = state.tail.len() - longest;
            state.tail.drain(..surplus);
        }
        Ok(())
    }

    /// The whole of it into a file, from the moment it is too much.
    fn spill(&self, state: &mut State, data: &[u8], before: u64) {
        if state.total <= self.limit.bytes {
            return;
        }
        if state.spill.is_none() && before <= self.limit.bytes {
            state.spill = self.begin_spill(state);
        }
        if let Some(spill) = &mut state.spill
            && spill.bytes < LONGEST_SPILL
        {
            spill.bytes += data.len() as u64;
            spill.write(data);
        }
    }

    fn begin_spill(&self, state: &State) -> Option<Spill> {
        let root = self.limit.root.as_ref()?;
        let (file, path) =
            crate::project::create_spill(root, &self.limit.temporary, &self.limit.name).ok()?;
        let redactor = Redactor::new(self.redaction.rules().clone());
        let mut spill = Spill { file, path, bytes: state.total, redactor };
        let (front, back) = state.tail.as_slices();
        for part in [state.head.as_slice(), front, back] {
            spill.write(part);
        }
        Some(spill)
    }

    /// What is left to show, once nobody writes any more.
    pub fn take(&self, witnessing: Witnessing) -> Kept {
        let mut state = self.lock();
        let State { mut head, tail, total, spill, .. } = std::mem::take(&mut *state);
        let cut = total > self.limit.bytes;
        let left_out = total.saturating_sub(self.limit.bytes);
        let mut rest = Vec::new();
        if cut {
            rest.extend_from_slice(format!("\n[… {left_out} bytes left out …]\n").as_bytes());
        }
        rest.extend(tail);
        if let Some(target) = &self.target {
            let _nobody_may_read = target.write_all(&rest);
        }
        head.extend_from_slice(&rest);
        let witnessed = witnessed(&head, total, cut, witnessing);
        if self.target.is_some() {
            head = Vec::new();
        }
        let spill = spill.map(Spill::finish);
        Kept { bytes: head, cut, spill, witnessed, redacted: Report::default() }
    }
}

impl OpenFile for KeptOutput {
    fn read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(errno::error(errno::EBADF))
    }

    fn write(&self, data: &[u8]) -> io::Result<usize> {
        let mut state = self.lock();
        let before = state.total;
        state.total += data.len() as u64;
        self.spill(&mut state, data, before);
        self.keep(&mut state, data)?;
        Ok(data.len())
    }

    fn metadata(&self) -> io::Result<Metadata> {
        Ok(stream_metadata(FileKind::Fifo))
    }

    fn is_terminal(&self) -> bool {
        self.target.as_ref().is_some_and(|target| target.is_terminal())
    }
}

fn witnessed(bytes: &[u8], total: u64, cut: bool, witnessing: Witnessing) -> Captured {
    match witnessing {
        Witnessing::Nothing => Captured::default(),
        Witnessing::UpTo(limit) => of_collected(bytes, total, cut, limit),
    }
}

/// What is collected of one stream of output.
pub struct Collected {
    what: What,
    /// In front of it, where the caller gets no secrets.
    redacted: Option<Arc<RedactedOutput>>,
}

enum What {
    Nothing,
    All(Arc<Capture>, Witnessing),
    Kept(Arc<KeptOutput>, Witnessing),
    /// The caller has it, and the record.
    Witnessed(Arc<Witness>),
}

impl Collected {
    /// Of a stream that goes where another does.
    pub fn nothing() -> Self {
        Collected { what: What::Nothing, redacted: None }
    }

    /// Where one stream of output goes, and what is collected of it on the way.
    pub fn of(
        limit: Option<&OutputLimit>,
        target: Option<Arc<dyn OpenFile>>,
        suffix: &str,
        witnessing: Witnessing,
        redaction: &Arc<Redaction>,
        listener: Option<(&Arc<dyn Listener>, Stream)>,
    ) -> (Arc<dyn OpenFile>, Collected) {
        let (mut file, what) = Self::collecting(limit, target, suffix, witnessing, redaction);
        if let Some((listener, stream)) = listener {
            file = Arc::new(HeardOutput::new(file, listener, stream));
        }
        if redaction.results == Results::Whole {
            return (file, Collected { what, redacted: None });
        }
        let redacted = Arc::new(RedactedOutput::new(redaction.rules(), file));
        (Arc::clone(&redacted) as _, Collected { what, redacted: Some(redacted) })
    }

    fn collecting(
        limit: Option<&OutputLimit>,
        target: Option<Arc<dyn OpenFile>>,
        suffix: &str,
        witnessing: Witnessing,
        redaction: &Arc<Redaction>,
    ) -> (Arc<dyn OpenFile>, What) {
        match (limit, target) {
            (Some(limit), target) => {
                let name = format!("{}.{suffix}", limit.name);
                let limit = OutputLimit { name, ..limit.clone() };
                let kept = Arc::new(KeptOutput::new(limit, target, Arc::clone(redaction)));
                (Arc::clone(&kept) as _, What::Kept(kept, witnessing))
            }
            (None, Some(target)) => match witnessing {
                Witnessing::Nothing => (target, What::Nothing),
                Witnessing::UpTo(limit) => {
                    let witness = Arc::new(Witness::new(target, limit));
                    (Arc::clone(&witness) as _, What::Witnessed(witness))
                }
            },
            (None, None) => {
                let capture = Arc::new(Capture::default());
                (Arc::clone(&capture) as _, What::All(capture, witnessing))
            }
        }
    }

    /// What is left of it, once nobody writes any more.
    pub fn take(self) -> Kept {
        let redacted = self.redacted.map(|redacted| redacted.finish()).unwrap_or_default();
        let kept = match self.what {
            What::Nothing => Kept::default(),
            What::All(capture, witnessing) => {
                let bytes = capture.take();
                let witnessed = witnessed(&bytes, bytes.len() as u64, false, witnessing);
                Kept { bytes, witnessed, ..Kept::default() }
            }
            What::Kept(kept, witnessing) => kept.take(witnessing),
            What::Witnessed(witness) => Kept { witnessed: witness.take(), ..Kept::default() },
        };
        Kept { redacted, ..kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(limit: u64, parts: &[&str]) -> Kept {
        let limit = OutputLimit::new(limit, None, "x");
        let output = KeptOutput::new(limit, None, Arc::default());
        for part in parts {
            output.write(part.as_bytes()).expect("it is kept");
        }
        output.take(Witnessing::Nothing)
    }

    #[test]
    fn what_fits_is_left_as_it_is() {
        for parts in
            [&["abcdefgh"][..], &["abc", "defgh"], &["a", "b", "c", "d", "e", "f", "g", "h"]]
        {
            let kept = kept(8, parts);
            assert_eq!((kept.bytes.as_slice(), kept.cut), (&b"abcdefgh"[..], false));
        }
    }

    #[test]
    fn head_and_tail_are_left_of_the_rest() {
        for parts in [&["abcdefghijkl"][..], &["abcdefghi", "jkl"], &["abcdefgh", "ij", "kl"]] {
            let kept = kept(8, parts);
            let text = String::from_utf8(kept.bytes).expect("text");
            assert_eq!((text.as_str(), kept.cut), ("abcd\n[… 4 bytes left out …]\nijkl", true));
        }
    }

    #[test]
    fn a_limit_of_nothing_keeps_nothing() {
        let kept = kept(0, &["abc"]);
        assert!(kept.cut && kept.bytes.starts_with(b"\n["));
    }
}
