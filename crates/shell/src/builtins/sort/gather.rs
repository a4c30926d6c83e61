//! Gathering the lines to be sorted. What exceeds the budget is sorted and set aside in a temporary file, so that
//! memory stays bounded however long the input is.

use std::io::SeekFrom;
use std::sync::Arc;

use bstr::{BString, ByteSlice};
use memchr::memchr_iter;

use super::settings::{Settings, trouble};
use super::table::{ENTRY_SIZE, LARGEST, Table};
use crate::builtins::{Context, Output, ToolError};
use crate::errno;
use crate::filesystem::{OpenFile, OpenOptions};
use crate::long;
use crate::release::Heavy;

/// What lines and their index may take together, unless `-S` says less. Not more: giving so much memory back
/// takes the kernel milliseconds, and a request that is stopped must end within ten.
pub const USUAL_BUDGET: usize = 64 << 20;

/// Where runs are set aside.
const DIRECTORY: &str = "/tmp";

/// Bytes taken between two looks at the request's control.
const STRETCH: usize = 1 << 20;

pub struct Gatherer<'a> {
    settings: &'a Settings,
    text: Heavy<Vec<u8>>,
    lines: usize,
    /// Sorted files in the order of their input.
    runs: Vec<Arc<dyn OpenFile>>,
}

/// All lines, sorted.
pub enum Gathered {
    Table(Table),
    /// Sorted runs that are still to be merged.
    Runs(Vec<Arc<dyn OpenFile>>),
}

impl<'a> Gatherer<'a> {
    pub fn new(settings: &'a Settings) -> Self {
        Gatherer { settings, text: Heavy::default(), lines: 0, runs: Vec::new() }
    }

    /// Makes room for a file of this size: only a hint, and one that shall not become a huge allocation.
    pub fn expect(&mut self, size: u64) {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        self.text.reserve(size.saturating_add(1).min(self.settings.budget));
    }

    /// Takes whole lines; the last of a file may lack its separator.
    pub fn add(&mut self, context: &mut Context<'_>, block: &[u8]) -> Result<(), ToolError> {
        let separator = self.settings.separator;
        // A block may be one very long line.
        for part in block.chunks(STRETCH) {
            context.control().check()?;
            long::reserve(&mut self.text, part.len())?;
            self.text.extend_from_slice(part);
            self.lines += memchr_iter(separator, part).count();
        }
        if !block.ends_with(&[separator]) {
            self.text.push(separator);
            self.lines += 1;
        }
        if self.text.len() > LARGEST {
            return Err(trouble("memory exhausted"));
        }
        // Merging needs a second index.
        let cost = self.text.len().saturating_add(self.lines.saturating_mul(2 * ENTRY_SIZE));
        if cost > self.settings.budget { self.set_aside(context) } else { Ok(()) }
    }

    pub fn finish(mut self, context: &mut Context<'_>) -> Result<Gathered, ToolError> {
        if self.runs.is_empty() {
            return Ok(Gathered::Table(self.sort(context)?));
        }
        self.set_aside(context)?;
        Ok(Gathered::Runs(self.runs))
    }

    fn sort(&mut self, context: &Context<'_>) -> Result<Table, ToolError> {
        let lines = std::mem::take(&mut self.lines);
        let text = std::mem::take(&mut self.text);
        let mut table = Table::new(text, self.settings.separator, lines);
        table.sort(&self.settings.rules, &context.control())?;
        Ok(table)
    }

    fn set_aside(&mut self, context: &mut Context<'_>) -> Result<(), ToolError> {
        let table = self.sort(context)?;
        let file = temporary_file(context)?;
        let mut output = Output::new(Arc::clone(&file), context.control());
        let written = write(&table, self.settings.separator, &mut output);
        match written {
            Ok(()) => {}
            Err(ToolError::Output(error)) => {
                let text = errno::text(&error);
                return Err(trouble(format!("write failed: {DIRECTORY}: {text}")));
            }
            Err(other) => return Err(other),
        }
        self.runs.push(file);
        // What was allocated for this run serves the next.
        self.text = table.into_text();
        self.text.clear();
        Ok(())
    }
}

fn write(table: &Table, separator: u8, output: &mut Output) -> Result<(), ToolError> {
    for line in table.lines() {
        output.write(line)?;
        output.write(&[separator])?;
    }
    output.flush()?;
    output.file().seek(SeekFrom::Start(0)).map_err(ToolError::Output)?;
    Ok(())
}

/// A file without a name: it is gone as soon as nobody has it open.
fn temporary_file(context: &Context<'_>) -> Result<Arc<dyn OpenFile>, ToolError> {
    let options = OpenOptions {
        read: true,
        write: true,
        create: true,
        exclusive: true,
        mode: 0o600,
        ..OpenOptions::default()
    };
    let files = context.files();
    loop {
        context.control().check()?;
        let path = BString::from(format!("{DIRECTORY}/sort{:016x}", context.host().random()));
        let opened = files.open(path.as_bstr(), options).and_then(|file| {
            files.trash(path.as_bstr())?;
            Ok(file)
        });
        match opened {
            Ok(file) => return Ok(file),
            Err(error) if errno::is(&error, errno::EEXIST) => {}
            Err(error) => {
                let text = errno::text(&error);
                let message = format!("cannot create temporary file in '{DIRECTORY}': {text}");
                return Err(trouble(message));
            }
        }
    }
}
