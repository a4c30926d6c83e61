//! Searching one file: a buffer of whole lines at a time, in constant memory.
//!
//! What counts as binary, and what is printed before that shows, depends on how much is read at once; so the
//! buffer has the size GNU's has.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use bstr::BStr;
use memchr::{memchr, memrchr};

use super::options::{BinaryFiles, Output, Report};
use crate::control::Control;
use crate::filesystem::OpenFile;
use crate::regex::{self, Matcher, Scratch};

const READ: usize = 96 << 10;

/// Most files are smaller than this: clearing more costs more than reading them.
const FIRST: usize = 16 << 10;

/// Output is handed on when there is this much of it.
const FULL: usize = 32 << 10;

/// Why a search ended early.
#[derive(Debug)]
pub(super) enum Halt {
    Read(io::Error),
    /// Nobody wants the output any more, or the request is over.
    Closed,
    Pattern(regex::Error),
}

/// Takes output as it comes; leaves the buffer empty.
pub(super) trait Drain {
    fn drain(&mut self, out: &mut Vec<u8>, at_once: bool) -> Result<(), Halt>;
}

/// What a search found.
#[derive(Debug)]
pub(super) struct Found {
    /// Lines that were selected.
    pub(super) lines: u64,
    /// Something matched that is not shown because it is not text.
    pub(super) binary: bool,
    /// The limit of lines was reached: how many bytes after the last one were read.
    pub(super) unread: Option<u64>,
}

/// What one thread needs to search files, one after the other.
pub(super) struct Searcher<'a> {
    pub(super) output: &'a Output,
    pub(super) matcher: &'a Matcher,
    pub(super) scratch: Scratch,
    control: Arc<Control>,
    /// The name is printed before lines.
    pub(super) with_name: bool,
    pub(super) buffer: Vec<u8>,
    pub(super) out: Vec<u8>,
    /// Lines were printed before: the next group is separated from them.
    pub(super) used: bool,
    pub(super) file: FileState,
}

/// Where the search of a file is.
#[derive(Debug, Default)]
pub(super) struct FileState {
    /// Of what is in the buffer.
    end: usize,
    /// End of the last line printed, if it is still in the buffer.
    pub(super) last_out: Option<usize>,
    /// Lines before this place are counted.
    pub(super) counted_to: usize,
    pub(super) line_number: u64,
    /// Offset of the buffer in the file.
    pub(super) offset: u64,
    /// Lines that may still be selected.
    left: u64,
    /// Lines of context still to be printed.
    pending: u64,
    quiet: bool,
    first_only: bool,
    pub(super) encoding_error: bool,
    /// Digits that numbers are padded to (`-T`).
    pub(super) number_width: usize,
    after_last_match: u64,
}

impl<'a> Searcher<'a> {
    pub(super) fn new(
        output: &'a Output,
        matcher: &'a Matcher,
        control: Arc<Control>,
        with_name: bool,
    ) -> Self {
        Searcher {
            output,
            matcher,
            scratch: matcher.scratch(Some(Arc::clone(&control))),
            control,
            with_name,
            buffer: Vec::new(),
            out: Vec::new(),
            used: false,
            file: FileState::default(),
        }
    }

    /// Searches a file. Output that is left in `out` at the end belongs to it too.
    pub(super) fn search(
        &mut self,
        file: &dyn OpenFile,
        name: &BStr,
        drain: &mut dyn Drain,
    ) -> Result<Found, Halt> {
        let report = self.output.report;
        let first_only = !matches!(report, Report::Lines | Report::Count);
        self.file = FileState {
            left: self.output.max_count,
            quiet: report != Report::Lines,
            first_only,
            number_width: self.number_width(file),
            ..FileState::default()
        };
        let mut lines = 0;
        let mut nul_after: Option<u64> = None;
        let result = self.search_buffers(file, name, drain, &mut lines, &mut nul_after);
        let shown = matches!(report, Report::Lines | Report::Count);
        let binary = self.output.binary == BinaryFiles::Report
            && shown
            && report == Report::Lines
            && (self.file.encoding_error || nul_after.is_some_and(|before| before < lines));
        result?;
        let read = self.file.offset + self.file.end as u64;
        let unread = (self.file.left == 0).then(|| read.saturating_sub(self.file.after_last_match));
        Ok(Found { lines, binary, unread })
    }

    fn search_buffers(
        &mut self,
        file: &dyn OpenFile,
        name: &BStr,
        drain: &mut dyn Drain,
        lines: &mut u64,
        nul_after: &mut Option<u64>,
    ) -> Result<(), Halt> {
        // The part of the buffer that was there before: context, and the beginning of a line.
        let mut kept = 0;
        let mut residue = 0;
        loop {
            let at_end = self.fill(file)? == 0;
            self.file.counted_to = 0;
            self.file.last_out = self.file.last_out.map(|_| 0);
            if at_end {
                break;
            }
            if self.finds_nul(kept, nul_after, *lines) {
                return Ok(());
            }
            let start = kept - residue;
            let fresh = self.buffer.get(kept..self.file.end).unwrap_or_default();
            let limit = memrchr(self.output.end, fresh).map_or(start, |at| kept + at + 1);
            residue = self.file.end - limit;
            if start < limit {
                *lines += self.search_lines(start..limit, name, drain)?;
                let seen = nul_after.unwrap_or(0) < *lines;
                if self.file.left == 0 && self.file.pending == 0 || self.file.first_only && seen {
                    return Ok(());
                }
            }
            kept = residue + self.keep_context(limit);
        }
        if residue > 0 {
            let end = self.file.end;
            if let Some(byte) = self.buffer.get_mut(end) {
                *byte = self.output.end;
            }
            self.file.end += 1;
            *lines += self.search_lines(kept - residue..self.file.end, name, drain)?;
            // What was added was never in the file.
            self.file.end -= 1;
        }
        Ok(())
    }

    /// Reads more behind what is there.
    fn fill(&mut self, file: &dyn OpenFile) -> Result<usize, Halt> {
        self.control.may_hold(self.file.end).map_err(|_| Halt::Closed)?;
        let read = self.file.offset + self.file.end as u64;
        if file.length_when_found() == Some(read) {
            return Ok(0);
        }
        if self.buffer.is_empty() {
            self.buffer.resize(FIRST + 1, 0);
            let count = self.read_more(file)?;
            if count < FIRST || !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
                return Ok(count);
            }
            // Not that small: as much as is usually read at once. A pipe is not asked to wait for it.
            self.buffer.resize(READ + 1, 0);
            return Ok(count + self.read_more(file)?);
        }
        let end = self.file.end;
        if self.buffer.len() < end + READ + 1 {
            self.buffer.resize((end + READ + 1).max(2 * end), 0);
        }
        self.read_more(file)
    }

    /// One byte of room is left for the newline that the last line may lack.
    fn read_more(&mut self, file: &dyn OpenFile) -> Result<usize, Halt> {
        let end = self.file.end;
        let room = self.buffer.len().saturating_sub(1);
        let room = self.buffer.get_mut(end..room).unwrap_or_default();
        let count = file.read(room).map_err(Halt::Read)?;
        self.file.end += count;
        Ok(count)
    }

    /// A buffer with a NUL makes the file binary: its lines are not shown. `true`: it is not to be searched.
    fn finds_nul(&mut self, kept: usize, nul_after: &mut Option<u64>, lines: u64) -> bool {
        let end = self.output.end;
        if end == 0 || self.output.binary == BinaryFiles::Text {
            return false;
        }
        let fresh = self.buffer.get_mut(kept..self.file.end).unwrap_or_default();
        if nul_after.is_none() && memchr(0, fresh).is_none() {
            return false;
        }
        if self.output.binary == BinaryFiles::WithoutMatch && nul_after.is_none() {
            return true;
        }
        if nul_after.is_none() {
            *nul_after = Some(lines);
            if self.output.report != Report::Count {
                self.file.quiet = true;
                self.file.first_only = true;
            }
        }
        // What is between two NULs is a line of its own.
        let mut rest = fresh;
        while let Some(at) = memchr(0, rest) {
            let (before, after) = rest.split_at_mut(at + 1);
            if let Some(nul) = before.last_mut() {
                *nul = end;
            }
            rest = after;
        }
        false
    }

    /// Moves to the front what the next buffer needs of this one: an unfinished line, and the context before it.
    /// Gives how much context that is.
    fn keep_context(&mut self, limit: usize) -> usize {
        let mut keep = limit;
        let mut count = 0;
        let before = self.output.before.unwrap_or(0);
        while count < before && keep > 0 && self.file.last_out != Some(keep) {
            keep = self.line_start(keep - 1);
            count += 1;
        }
        if self.file.last_out != Some(keep) {
            self.file.last_out = None;
        }
        if self.output.line_numbers {
            self.count_lines(keep);
        }
        self.file.offset += keep as u64;
        self.buffer.copy_within(keep..self.file.end, 0);
        self.file.end -= keep;
        limit - keep
    }

    /// The start of the line that `at` is in.
    fn line_start(&self, at: usize) -> usize {
        let before = self.buffer.get(..at).unwrap_or_default();
        memrchr(self.output.end, before).map_or(0, |newline| newline + 1)
    }

    /// The end of the line that begins at `start`, its newline included.
    pub(super) fn line_end(&self, start: usize) -> usize {
        let rest = self.buffer.get(start..self.file.end).unwrap_or_default();
        memchr(self.output.end, rest).map_or(self.file.end, |newline| start + newline + 1)
    }

    pub(super) fn count_lines(&mut self, to: usize) {
        let fresh = self.buffer.get(self.file.counted_to..to).unwrap_or_default();
        self.file.line_number += memchr::memchr_iter(self.output.end, fresh).count() as u64;
        self.file.counted_to = to;
    }

    /// Selects and prints in whole lines; gives how many were selected.
    fn search_lines(
        &mut self,
        lines: Range<usize>,
        name: &BStr,
        drain: &mut dyn Drain,
    ) -> Result<u64, Halt> {
        let before = self.file.left;
        let limit = lines.end;
        let mut from = lines.start;
        while from < limit && self.file.left > 0 {
            let found = self.next_line(from, limit)?;
            let selected = match (&found, self.output.invert) {
                (None, false) => break,
                (Some(line), false) => line.clone(),
                (None, true) => from..limit,
                (Some(line), true) => from..line.start,
            };
            from = found.map_or(limit, |line| line.end);
            if selected.is_empty() {
                continue;
            }
            self.select(selected, name, drain)?;
            if self.file.first_only {
                break;
            }
        }
        let count = before - self.file.left;
        if self.file.pending > 0 && !(self.file.first_only && count > 0) {
            self.print_pending(limit, name, drain)?;
        }
        Ok(count)
    }

    /// The first line at or after `from` that matches, with its newline.
    fn next_line(&mut self, from: usize, limit: usize) -> Result<Option<Range<usize>>, Halt> {
        let end = self.output.end;
        let mut from = from;
        while from < limit {
            let buffer = self.buffer.get(..limit).unwrap_or_default();
            let Some(place) = self.matcher.scan(&mut self.scratch, buffer, from..limit) else {
                return Ok(None);
            };
            if place >= limit {
                return Ok(None);
            }
            let before = buffer.get(from..place).unwrap_or_default();
            let start = memrchr(end, before).map_or(from, |newline| from + newline + 1);
            let after = buffer.get(place..).unwrap_or_default();
            let stop = memchr(end, after).map_or(limit, |newline| place + newline + 1);
            if !self.matcher.must_verify() {
                return Ok(Some(start..stop));
            }
            let line = buffer.get(start..stop - 1).unwrap_or_default();
            match self.matcher.is_match(&mut self.scratch, line) {
                Ok(true) => return Ok(Some(start..stop)),
                Ok(false) => from = stop,
                Err(error) => return Err(Halt::Pattern(error)),
            }
        }
        Ok(None)
    }

    /// Lines that are selected: one, or with `-v` several.
    fn select(
        &mut self,
        lines: Range<usize>,
        name: &BStr,
        drain: &mut dyn Drain,
    ) -> Result<(), Halt> {
        let mut from = lines.start;
        if !self.file.quiet {
            self.print_pending(from, name, drain)?;
            self.print_before(from, name, drain)?;
        }
        if self.file.quiet && self.file.left == u64::MAX && !self.file.first_only {
            // Only counted, all at once.
            let text = self.buffer.get(lines.clone()).unwrap_or_default();
            self.file.left -= memchr::memchr_iter(self.output.end, text).count() as u64;
            from = lines.end;
        }
        while from < lines.end && self.file.left > 0 {
            let end = self.line_end(from);
            if !self.file.quiet {
                self.print_line(from..end, true, name)?;
                self.drain(drain)?;
            }
            self.file.left -= 1;
            from = end;
        }
        self.file.after_last_match = self.file.offset + from as u64;
        self.file.pending = if self.file.quiet { 0 } else { self.output.after.unwrap_or(0) };
        self.used = true;
        Ok(())
    }

    /// Context after the last line selected.
    fn print_pending(
        &mut self,
        limit: usize,
        name: &BStr,
        drain: &mut dyn Drain,
    ) -> Result<(), Halt> {
        if self.file.pending == 0 {
            return Ok(());
        }
        let mut from = *self.file.last_out.get_or_insert(0);
        while self.file.pending > 0 && from < limit {
            let end = self.line_end(from);
            self.print_line(from..end, false, name)?;
            self.drain(drain)?;
            self.file.pending -= 1;
            from = self.file.last_out.unwrap_or(0);
        }
        Ok(())
    }

    /// Context before a line that is selected, and what separates it from the last group.
    fn print_before(
        &mut self,
        selected: usize,
        name: &BStr,
        drain: &mut dyn Drain,
    ) -> Result<(), Halt> {
        let first = self.file.last_out.unwrap_or(0);
        let mut from = selected;
        for _ in 0..self.output.before.unwrap_or(0) {
            if from <= first {
                break;
            }
            from = self.line_start(from - 1);
        }
        let grouped = self.output.before.is_some() || self.output.after.is_some();
        if grouped && self.used && self.file.last_out != Some(from) {
            self.print_group_separator();
        }
        while from < selected {
            let end = self.line_end(from);
            self.print_line(from..end, false, name)?;
            self.drain(drain)?;
            from = end;
        }
        Ok(())
    }

    fn drain(&mut self, drain: &mut dyn Drain) -> Result<(), Halt> {
        if self.out.len() >= FULL || self.output.line_buffered {
            drain.drain(&mut self.out, self.output.line_buffered)?;
        }
        Ok(())
    }

    fn number_width(&self, file: &dyn OpenFile) -> usize {
        if !self.output.initial_tab {
            return 0;
        }
        let size = match file.metadata() {
            Ok(metadata) if metadata.is_file() => metadata.size,
            _ => u64::MAX,
        };
        let most = size.saturating_add(u64::from(self.output.line_numbers));
        most.checked_ilog10().map_or(1, |digits| digits as usize + 1)
    }
}
