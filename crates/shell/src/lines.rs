//! Reading an open file by lines, by blocks of whole lines, or by chunks as they come.
//!
//! One buffer, reused: memory stays constant however long the input is, and grows only to hold one very long
//! line. Between two reads the request's [`Control`] is asked, so a cancelled request ends here with `EINTR`;
//! `Context::interrupted` turns that into the end of the tool.

use std::io::{self, SeekFrom};
use std::sync::Arc;

use memchr::{memchr, memrchr};

use crate::control::Control;
use crate::errno;
use crate::filesystem::OpenFile;
use crate::release::Heavy;

/// Most inputs are small: a large buffer would cost more to clear than they cost to read.
const FIRST_SIZE: usize = 8 << 10;
/// Once a read has filled the small buffer the input is taken to be long.
const USUAL_SIZE: usize = 128 << 10;
/// Between two looks at the control, however much room a long line has made.
const LARGEST_READ: usize = 1 << 20;
/// What the buffer grows by for a very long line: the kernel moves so large a buffer without copying it, but room
/// must be cleared, and that takes as long as reading.
const LARGEST_STEP: usize = 4 << 20;

pub struct LineReader {
    file: Arc<dyn OpenFile>,
    control: Arc<Control>,
    separator: u8,
    buffer: Heavy<Vec<u8>>,
    /// What is read but not yet handed out: `buffer[start..end]`.
    start: usize,
    end: usize,
    /// The last read filled all the room there was.
    filled: bool,
    at_end: bool,
}

impl LineReader {
    pub fn new(file: Arc<dyn OpenFile>, control: Arc<Control>) -> Self {
        LineReader {
            file,
            control,
            separator: b'\n',
            buffer: Heavy::default(),
            start: 0,
            end: 0,
            filled: false,
            at_end: false,
        }
    }

    /// Lines end with this byte instead of a newline (`-z`: with NUL).
    pub fn separated_by(mut self, separator: u8) -> Self {
        self.separator = separator;
        self
    }

    /// The next line with its separator; the last line of the input may lack it. `None` at the end.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        let mut searched = 0;
        loop {
            let unsearched = self.pending().get(searched..).unwrap_or_default();
            if let Some(at) = memchr(self.separator, unsearched) {
                return Ok(Some(self.take(searched + at + 1)));
            }
            searched = self.end - self.start;
            if self.fill()? == 0 {
                return Ok(if searched == 0 { None } else { Some(self.take(searched)) });
            }
        }
    }

    /// As many whole lines as are at hand, at least one; only the input's last may lack its separator.
    /// The quick way for tools that look at every line: one call for thousands of them.
    pub fn next_block(&mut self) -> io::Result<Option<&[u8]>> {
        let mut searched = 0;
        loop {
            let unsearched = self.pending().get(searched..).unwrap_or_default();
            if let Some(at) = memrchr(self.separator, unsearched) {
                return Ok(Some(self.take(searched + at + 1)));
            }
            searched = self.end - self.start;
            if self.fill()? == 0 {
                return Ok(if searched == 0 { None } else { Some(self.take(searched)) });
            }
        }
    }

    /// Whatever one read gives, without regard to lines. `None` at the end.
    pub fn next_chunk(&mut self) -> io::Result<Option<&[u8]>> {
        if self.start == self.end && self.fill()? == 0 {
            return Ok(None);
        }
        Ok(Some(self.take(self.end - self.start)))
    }

    /// What is read but not handed out, reading once if that is nothing: empty only at the end.
    /// [`LineReader::consume`] says how much of it was used.
    pub fn peek(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            self.fill()?;
        }
        Ok(self.pending())
    }

    pub fn consume(&mut self, count: usize) {
        self.start = self.end.min(self.start + count);
    }

    /// Gives back what was read ahead, so that whoever shares the file goes on after the last line handed out
    /// (`{ head -n 1; cat; } < file`). Nothing happens where the file cannot seek, as with a pipe.
    pub fn unread(&mut self) {
        let ahead = (self.end - self.start) as i64;
        if ahead > 0 && self.file.seek(SeekFrom::Current(-ahead)).is_ok() {
            self.end = self.start;
        }
    }

    fn pending(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    fn take(&mut self, count: usize) -> &[u8] {
        let from = self.start;
        self.consume(count);
        self.buffer.get(from..self.start).unwrap_or_default()
    }

    /// Reads once more behind what is pending; 0 is the end, and stays it.
    fn fill(&mut self) -> io::Result<usize> {
        if self.at_end {
            return Ok(0);
        }
        self.make_room();
        loop {
            self.control.may_hold(self.end)?;
            let room = self.buffer.get_mut(self.end..).unwrap_or_default();
            let length = room.len().min(LARGEST_READ);
            let room = room.get_mut(..length).unwrap_or_default();
            match self.file.read(room) {
                Ok(count) => {
                    self.filled = count == room.len();
                    self.at_end = count == 0;
                    self.end += count;
                    return Ok(count);
                }
                // A signal to the process, unless the check above now says that the request is over.
                Err(error) if errno::is(&error, errno::EINTR) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn make_room(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let size = self.buffer.len();
        if size == 0 {
            self.buffer.resize(FIRST_SIZE, 0);
        } else if self.end == size {
            self.buffer.resize(size + size.clamp(USUAL_SIZE, LARGEST_STEP), 0);
        } else if self.filled && size < USUAL_SIZE {
            self.buffer.resize(USUAL_SIZE, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Limits;
    use crate::pipe::Bytes;

    fn reader(text: impl Into<Vec<u8>>) -> LineReader {
        LineReader::new(Arc::new(Bytes::new(text)), Arc::new(Control::new(Limits::default())))
    }

    fn lines(mut reader: LineReader) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            lines.push(line.to_vec());
        }
        lines
    }

    #[test]
    fn keeps_separators_and_an_unfinished_last_line() {
        assert_eq!(lines(reader("a\n\nb")), [b"a\n".to_vec(), b"\n".to_vec(), b"b".to_vec()]);
        assert_eq!(lines(reader("")), Vec::<Vec<u8>>::new());
        let by_nul = reader("a\nb\0c").separated_by(0);
        assert_eq!(lines(by_nul), [b"a\nb\0".to_vec(), b"c".to_vec()]);
    }

    #[test]
    fn lines_longer_than_the_buffer_come_whole() {
        let mut text = vec![b'x'; 3 * USUAL_SIZE];
        text.extend_from_slice(b"\ny\n");
        let all = lines(reader(text));
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [3 * USUAL_SIZE + 1, 2]);
    }

    #[test]
    fn blocks_end_at_line_ends_and_lose_nothing() {
        let text: Vec<u8> = (0..50_000).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        let mut reader = reader(text.clone());
        let mut all = Vec::new();
        while let Some(block) = reader.next_block().unwrap() {
            assert!(block.ends_with(b"\n"));
            all.extend_from_slice(block);
        }
        assert!(all == text);
    }

    #[test]
    fn a_cancelled_request_ends_the_reading() {
        let control = Arc::new(Control::new(Limits::default()));
        control.cancel();
        let mut reader = LineReader::new(Arc::new(Bytes::new("a\n")), control);
        assert!(errno::is(&reader.next_line().unwrap_err(), errno::EINTR));
    }
}
