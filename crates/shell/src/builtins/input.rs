//! How text tools reach their operands: opening with GNU's messages, reading, quoting names.

use std::io;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

pub(super) use super::operations::quote::quoted;
use super::{Context, ToolError};
use crate::errno;
use crate::filesystem::{Follow, Metadata, OpenFile};
use crate::lines::LineReader;
use crate::shell::own_descriptor;

/// What a tool says in front of the reason when a file cannot be opened or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// `cat: d: Is a directory`
    Plain,
    /// `head: cannot open 'd' for reading: …`, `head: error reading 'd': …`
    Sentence,
}

/// Opens an operand; a failure is reported and gives `None`.
///
/// A directory opens, as it does for the kernel: reading it is what fails.
pub fn open(
    context: &mut Context<'_>,
    operand: &BStr,
    wording: Wording,
) -> Result<Option<Arc<dyn OpenFile>>, ToolError> {
    let error = match context.open(operand) {
        Ok(file) => return Ok(Some(file)),
        Err(error) if errno::is(&error, errno::EISDIR) => return Ok(Some(Arc::new(Unreadable))),
        Err(error) => error,
    };
    context.control().check()?;
    match wording {
        Wording::Sentence if !errno::is(&error, errno::ENOENT) => {
            complain(context, &[b"cannot open ", &quoted(operand), b" for reading"], Some(&error));
        }
        Wording::Sentence | Wording::Plain => context.complain_of(operand, &error),
    }
    Ok(None)
}

pub fn reader(context: &Context<'_>, file: &Arc<dyn OpenFile>) -> LineReader {
    LineReader::new(Arc::clone(file), context.control())
}

/// Reports that reading failed; the end of the request ends the tool instead.
pub fn read_failed(
    context: &mut Context<'_>,
    operand: &BStr,
    error: &io::Error,
    wording: Wording,
) -> Result<(), ToolError> {
    context.interrupted(error)?;
    match wording {
        Wording::Plain => context.complain_of(operand, error),
        Wording::Sentence => {
            let name = if operand == "-" { BStr::new("standard input") } else { operand };
            complain(context, &[b"error reading ", &quoted(name)], Some(error));
        }
    }
    Ok(())
}

/// `name: parts`, with `: reason` if there is one; the parts may be any bytes.
pub fn complain(context: &mut Context<'_>, parts: &[&[u8]], reason: Option<&io::Error>) {
    let mut line = context.name.as_bytes().to_vec();
    line.extend_from_slice(b": ");
    for part in parts {
        line.extend_from_slice(part);
    }
    if let Some(error) = reason {
        line.extend_from_slice(format!(": {}", errno::text(error)).as_bytes());
    }
    line.push(b'\n');
    context.error_bytes(&line);
}

/// What an operand is, without reading it; links are followed.
pub fn metadata(context: &Context<'_>, operand: &BStr) -> io::Result<Metadata> {
    let path = context.path(operand);
    if operand == "-" || own_descriptor(path.as_bstr()).is_some() {
        return context.open(operand)?.metadata();
    }
    context.files().metadata(path.as_bstr(), Follow::Yes)
}

/// The operands, or standard input when there are none.
pub fn or_standard_input(operands: Vec<BString>) -> Vec<BString> {
    if operands.is_empty() { vec!["-".into()] } else { operands }
}

/// A value in a message about wrong use: `invalid number of lines: 'x'`.
pub fn shown(value: &BStr) -> String {
    format!("'{}'", value.to_str_lossy())
}

/// A directory that a backend does not open for reading.
struct Unreadable;

impl OpenFile for Unreadable {
    fn read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(errno::error(errno::EISDIR))
    }

    fn write(&self, _data: &[u8]) -> io::Result<usize> {
        Err(errno::error(errno::EBADF))
    }

    fn metadata(&self) -> io::Result<Metadata> {
        let directory = crate::filesystem::FileKind::Directory;
        Ok(crate::pipe::stream_metadata(directory))
    }
}
