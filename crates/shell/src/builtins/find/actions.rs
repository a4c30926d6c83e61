//! `-exec` and its kin, `-delete`.

use std::ops::ControlFlow;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice, ByteVec};

use super::ToolError;
use super::evaluate::Finder;
use super::expression::Execute;
use crate::errno;
use crate::filesystem::FileKind;
use crate::lines::LineReader;
use crate::status::ExitStatus;
use crate::walk::Walk;

/// Bytes of arguments that one command gets, as GNU limits itself.
const MOST_BYTES: usize = 128 << 10;

/// Paths collected for `-exec … {} +`.
#[derive(Debug, Default)]
pub(super) struct Batch {
    words: Vec<BString>,
    paths: Vec<BString>,
    size: usize,
    /// For `-execdir`: how deep and where they are.
    place: Option<(usize, BString)>,
}

impl Batch {
    pub(super) fn waits_in_directory(&self) -> bool {
        self.place.is_some() && !self.paths.is_empty()
    }
}

/// The directory of a path and its name in it, as `-execdir` shows it.
fn split(path: &BStr) -> (&BStr, BString) {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    let trimmed = path.get(..end).unwrap_or_default();
    let (directory, name) = match trimmed.rfind_byte(b'/') {
        None => (b".".as_slice(), trimmed),
        Some(0) => (b"/".as_slice(), trimmed.get(1..).unwrap_or_default()),
        Some(at) => {
            (trimmed.get(..at).unwrap_or_default(), trimmed.get(at + 1..).unwrap_or_default())
        }
    };
    if trimmed.is_empty() {
        return (b"/".as_bstr(), BString::from("/"));
    }
    let slash: &[u8] = if end < path.len() { b"/" } else { b"" };
    (directory.as_bstr(), [b"./", name, slash].concat().into())
}

impl Finder<'_, '_> {
    pub(super) fn execute(
        &mut self,
        execute: &Execute,
        walk: &mut Walk<'_>,
    ) -> Result<bool, ToolError> {
        let (directory, shown) = if execute.in_directory {
            let (directory, name) = split(walk.path());
            (Some(self.context.directory_at(directory)), name)
        } else {
            (None, walk.path().to_owned())
        };
        if let Some(number) = execute.batch {
            let place = directory.map(|directory| (walk.depth(), directory));
            return self.collect(number, execute, place, shown);
        }
        let words: Vec<BString> =
            execute.words.iter().map(|word| word.replace(b"{}", &shown).into()).collect();
        if execute.asks && !self.confirmed(&words)? {
            return Ok(false);
        }
        Ok(self.run(&words, directory)?.success())
    }

    fn collect(
        &mut self,
        number: usize,
        execute: &Execute,
        place: Option<(usize, BString)>,
        path: BString,
    ) -> Result<bool, ToolError> {
        let fits = self.batches.get(number).is_none_or(|batch| {
            batch.paths.is_empty() || (batch.place == place && batch.size + path.len() < MOST_BYTES)
        });
        if !fits && let ControlFlow::Break(error) = self.run_batch(number) {
            return Err(error);
        }
        let Some(batch) = self.batches.get_mut(number) else { return Ok(true) };
        if batch.paths.is_empty() {
            batch.words.clone_from(&execute.words);
            batch.size = execute.words.iter().map(|word| word.len() + 1).sum();
            batch.place = place;
        }
        batch.size += path.len() + 1;
        batch.paths.push(path);
        Ok(true)
    }

    /// The walk has come to another directory: what was collected in the last one is run there.
    pub(super) fn settle_directory(&mut self, walk: &Walk<'_>) -> Result<(), ToolError> {
        let (directory, _) = split(walk.path());
        let place = (walk.depth(), self.context.directory_at(directory));
        for number in 0..self.batches.len() {
            let elsewhere = self.batches.get(number).is_some_and(|batch| {
                batch.waits_in_directory() && batch.place.as_ref() != Some(&place)
            });
            if elsewhere && let ControlFlow::Break(error) = self.run_batch(number) {
                return Err(error);
            }
        }
        Ok(())
    }

    /// At the end of an operand: paths in a directory of its own are of no use to the next.
    pub(super) fn end_of_operand(&mut self) -> Result<(), ToolError> {
        for number in 0..self.batches.len() {
            let waits = self.batches.get(number).is_some_and(Batch::waits_in_directory);
            if waits && let ControlFlow::Break(error) = self.run_batch(number) {
                return Err(error);
            }
        }
        Ok(())
    }

    pub(super) fn run_batch(&mut self, number: usize) -> ControlFlow<ToolError> {
        let Some(batch) = self.batches.get_mut(number) else { return ControlFlow::Continue(()) };
        if batch.paths.is_empty() {
            return ControlFlow::Continue(());
        }
        let mut words = std::mem::take(&mut batch.words);
        words.append(&mut batch.paths);
        let directory = batch.place.take().map(|(_, directory)| directory);
        match self.run(&words, directory) {
            Err(error) => return ControlFlow::Break(error),
            Ok(status) => self.failed |= !status.success(),
        }
        ControlFlow::Continue(())
    }

    fn run(
        &mut self,
        words: &[BString],
        directory: Option<BString>,
    ) -> Result<ExitStatus, ToolError> {
        let name = words.first().map_or(b"".as_bstr(), |name| name.as_bstr());
        if !self.context.has_command(name) {
            self.context.complain_of(name, &errno::error(errno::ENOENT));
            return Ok(ExitStatus::FAILURE);
        }
        match directory {
            None => Ok(self.context.run(words, None)?),
            Some(directory) => {
                let environment = self.context.environment();
                Ok(self.context.run_in(words, environment, Some(directory))?)
            }
        }
    }

    /// `-ok`: asks on standard error and reads the answer from standard input.
    fn confirmed(&mut self, words: &[BString]) -> Result<bool, ToolError> {
        let mut question = b"< ".to_vec();
        for word in words {
            question.push_str(word);
            question.push(b' ');
        }
        question.extend_from_slice(b"... > ? ");
        self.context.error_bytes(&question);
        let input = Arc::clone(&self.context.input);
        let mut reader = LineReader::new(input, self.context.control());
        match reader.next_line() {
            Ok(line) => Ok(matches!(line.and_then(|line| line.first()), Some(b'y' | b'Y'))),
            Err(error) => {
                self.context.interrupted(&error)?;
                Ok(false)
            }
        }
    }

    /// Directories must be empty by now; everything else goes to the trash.
    pub(super) fn delete(&mut self, walk: &mut Walk<'_>) -> Result<bool, ToolError> {
        if walk.path() == "." {
            return Ok(true);
        }
        let path = walk.absolute();
        let files = self.context.files();
        let in_trash = is_in_trash(files.root(), path.as_bstr());
        let deleted = match walk.kind() {
            // What is there was deleted before.
            _ if in_trash => Ok(()),
            FileKind::Directory => files.remove_directory(path.as_bstr()),
            _ => files.trash(path.as_bstr()),
        };
        let Err(error) = deleted else { return Ok(true) };
        self.context.interrupted(&error)?;
        self.failed = true;
        let text = errno::text(&error);
        if errno::is(&error, errno::ENOENT) {
            let shown = walk.path().to_owned();
            self.context.complain_of(shown.as_bstr(), &error);
        } else {
            self.context.complain(format_args!("cannot delete ‘{}’: {text}", walk.path()));
        }
        Ok(false)
    }
}

fn is_in_trash(root: &BStr, path: &BStr) -> bool {
    let root = root.strip_suffix(b"/").unwrap_or(root);
    let mut parts = match path.strip_prefix(root) {
        Some(rest) => {
            rest.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".")
        }
        None => return false,
    };
    parts.next() == Some(b".trash")
}
