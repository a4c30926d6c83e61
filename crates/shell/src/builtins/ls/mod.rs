//! `ls`
//!
//! Files that were named come first, then the directories, each under its name if there is more than one.

mod color;
mod columns;
mod directory;
mod entry;
mod long;
mod name;
mod options;
pub(super) mod quote;
mod size;
mod sort;

use std::collections::HashSet;

use bstr::{BStr, BString, ByteSlice};

use super::{Command, Context, Run, ToolError};
use crate::errno;
use crate::filesystem::{FileKind, Follow};
use crate::status::ExitStatus;

use color::Paint;
use entry::Entry;
use options::{Dereference, Options, Show};

pub static COMMAND: Command = Command {
    name: "ls",
    synopsis: "ls [OPTION]... [FILE]...",
    summary: "list directories and files",
    options: &options::OPTIONS,
    run: Run::Tool(run),
};

/// Something inside a directory could not be asked.
const MINOR: ExitStatus = ExitStatus(1);
/// An operand is not there, or wrong use.
const SERIOUS: ExitStatus = ExitStatus(2);

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let (mut options, operands) = options::read(context, words)?;
    let here = [BString::from(".")];
    let given = if operands.is_empty() { here.as_slice() } else { operands.as_slice() };
    let paint = Paint::new(context, &options)?;
    if paint.is_on() {
        // A tab would show the background of the last colour.
        options.tab = 0;
    }
    let mut listing = Listing {
        context,
        options,
        paint,
        out: Vec::new(),
        status: ExitStatus::SUCCESS,
        headers: operands.len() > 1,
        printed: false,
        inside: HashSet::new(),
    };
    listing.operands(given)?;
    let Listing { context, out, status, .. } = listing;
    context.output.write(&out)?;
    Ok(status)
}

struct Listing<'a, 'c> {
    context: &'a mut Context<'c>,
    options: Options,
    paint: Paint,
    out: Vec<u8>,
    status: ExitStatus,
    /// Directories are listed under their names.
    headers: bool,
    /// Something came before: a blank line separates the next directory from it.
    printed: bool,
    /// Directories being listed, while symbolic links are followed down.
    inside: HashSet<(u64, u64)>,
}

impl Listing<'_, '_> {
    fn operands(&mut self, operands: &[BString]) -> Result<(), ToolError> {
        let mut files = Vec::new();
        for operand in operands {
            files.extend(self.operand(operand.as_bstr())?);
        }
        self.sort(&mut files);
        let mut directories = Vec::new();
        if !self.options.directories_as_files {
            (directories, files) = files.into_iter().partition(Entry::is_listed_directory);
        }
        if !files.is_empty() {
            self.print(&files, &directories)?;
            self.printed = true;
        } else if directories.len() > 1 {
            self.headers = true;
        }
        for directory in directories {
            let path = self.context.path(directory.given.as_bstr());
            self.tree(directory.name, path)?;
            self.headers = true;
        }
        Ok(())
    }

    /// An operand as an entry; `None` if it is not there, which has been said.
    fn operand(&mut self, operand: &BStr) -> Result<Option<Entry>, ToolError> {
        let path = self.context.path(operand);
        let shown = self.context.as_written(operand).to_owned();
        let files = self.context.files();
        let lstat = files.metadata(path.as_bstr(), Follow::No);
        let followed = match self.options.dereference {
            Dereference::Never => None,
            Dereference::Always | Dereference::CommandLine => {
                Some(files.metadata(path.as_bstr(), Follow::Yes))
            }
            Dereference::CommandLineDirectories => {
                let target = files.metadata(path.as_bstr(), Follow::Yes);
                target.ok().filter(crate::filesystem::Metadata::is_directory).map(Ok)
            }
        };
        let metadata = match followed {
            Some(found) => found,
            None => lstat,
        };
        let metadata = match metadata {
            Ok(metadata) => metadata,
            Err(error) => {
                self.context.interrupted(&error)?;
                self.cannot(shown.as_bstr(), "access", &error, true);
                return Ok(None);
            }
        };
        let mut entry = Entry::new(shown, metadata.kind);
        entry.given = operand.into();
        entry.metadata = Some(metadata);
        if metadata.kind == FileKind::Symlink && self.options.needs_target() {
            entry.target = files.read_link(path.as_bstr()).ok();
            entry.target_metadata = files.metadata(path.as_bstr(), Follow::Yes).ok();
        }
        Ok(Some(entry))
    }

    /// `ls: cannot access 'x': Permission denied`; what is missing is worded shorter.
    fn cannot(&mut self, path: &BStr, what: &str, error: &std::io::Error, operand: bool) {
        self.status = self.status.max(if operand { SERIOUS } else { MINOR });
        let _ = self.flush();
        if errno::is(error, errno::ENOENT) {
            self.context.complain_of(path, error);
        } else {
            let text = errno::text(error);
            self.context.complain(format_args!("cannot {what} '{path}': {text}"));
        }
    }

    fn flush(&mut self) -> Result<(), ToolError> {
        let written = self.context.output.write(&self.out);
        self.out.clear();
        written
    }

    fn sort(&self, entries: &mut Vec<Entry>) {
        sort::sort(entries, &self.options);
    }

    /// Prints entries in the chosen format. Columns are wide enough for `others` too.
    fn print(&mut self, entries: &[Entry], others: &[Entry]) -> Result<(), ToolError> {
        self.context.control().check()?;
        let names = self.names(entries);
        let frills = self.frill_widths(entries.iter().chain(others));
        match self.options.show {
            Show::Long => self.print_long(entries, &names, others, frills),
            Show::Single => self.print_lines(entries, &names, frills),
            Show::Commas => self.print_separated(entries, &names, frills, b','),
            Show::Down | Show::Across if self.options.width == 0 => {
                self.print_separated(entries, &names, frills, b' ');
            }
            Show::Down => self.print_columns(entries, &names, frills, true),
            Show::Across => self.print_columns(entries, &names, frills, false),
        }
        self.flush()
    }
}
