//! Where a command's output goes: the first bytes are kept, and whoever writes more never notices.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use exacta_shell::errno;
use exacta_shell::filesystem::{Metadata, OpenFile};
use exacta_shell::pipe::Capture;

pub(super) struct Head {
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: Vec<u8>,
    cut: bool,
}

impl Head {
    pub(super) fn new(most: usize) -> Self {
        Head { most, state: Mutex::default() }
    }

    /// The text, and whether there was more of it.
    pub(super) fn take(&self) -> (String, bool) {
        let State { kept, cut } = std::mem::take(&mut *self.lock());
        // A character that was cut through is left out: it was none of the command's.
        let whole = match std::str::from_utf8(&kept) {
            Err(error) if cut && error.error_len().is_none() => error.valid_up_to(),
            _ => kept.len(),
        };
        let mut text = String::from_utf8_lossy(kept.get(..whole).unwrap_or_default()).into_owned();
        // Replacements may be longer than what they replace.
        let long = text.len() > self.most;
        if long {
            let end = (0..=self.most).rev().find(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap_or(0));
        }
        (text, cut || long)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenFile for Head {
    fn read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(errno::error(errno::EBADF))
    }

    fn write(&self, data: &[u8]) -> io::Result<usize> {
        let mut state = self.lock();
        let room = self.most.saturating_sub(state.kept.len());
        let fitting = data.get(..room).unwrap_or(data);
        state.cut |= fitting.len() < data.len();
        state.kept.extend_from_slice(fitting);
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
    fn the_head_is_kept_and_the_writer_goes_on() {
        let cases: [(usize, &[&[u8]], &str, bool); 7] = [
            (4, &[b"ab", b"cd"], "abcd", false),
            (4, &[b"ab", b"cde", b"f"], "abcd", true),
            (0, &[b"a"], "", true),
            (0, &[], "", false),
            (4, &["aä€".as_bytes()], "aä", true),
            (3, &[b"a\xff\xffb"], "a", true),
            (9, &[b"a\xffb"], "a\u{fffd}b", false),
        ];
        for (most, pieces, text, cut) in cases {
            let head = Head::new(most);
            for piece in pieces {
                assert_eq!(head.write(piece).ok(), Some(piece.len()));
            }
            assert_eq!(head.take(), (text.to_owned(), cut), "{pieces:?}");
        }
    }
}
