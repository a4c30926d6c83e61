//! Asking the expression about every entry.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::actions::Batch;
use super::expression::{
    Ending, Expression, PermissionCompare, Permissions, Primary, Settings, Target,
};
use super::list::Widths;
use super::{Context, ToolError};
use crate::builtins::ls::quote::with_question_marks;
use crate::errno;
use crate::filesystem::{FileKind, Follow, Metadata, OpenFile, OpenOptions};
use crate::regex::{Matcher, Scratch};
use crate::status::ExitStatus;
use crate::walk::{Symlinks, Walk};

/// A search under way.
pub(super) struct Finder<'a, 'c> {
    pub(super) context: &'a mut Context<'c>,
    pub(super) settings: Settings,
    expression: &'a Expression,
    /// One for every regular expression, by its address.
    scratches: Vec<(*const Matcher, Scratch)>,
    files: Vec<OutputFile>,
    pub(super) batches: Vec<Batch>,
    pub(super) widths: Widths,
    pub(super) failed: bool,
    pub(super) quit: bool,
    prune: bool,
    /// The operand of this walk.
    pub(super) operand: BString,
    device: u64,
}

/// A file of `-fprint`, with what is still to be written.
struct OutputFile {
    file: Arc<dyn OpenFile>,
    buffer: Vec<u8>,
    name: BString,
}

const FULL: usize = 32 << 10;

impl<'a, 'c> Finder<'a, 'c> {
    pub(super) fn new(
        context: &'a mut Context<'c>,
        settings: Settings,
        expression: &'a Expression,
    ) -> Result<Self, ToolError> {
        let mut files = Vec::new();
        for name in &settings.files {
            let options = OpenOptions::writing(context.masked(0o666));
            let file = context
                .open_with(name.as_bstr(), options)
                .map_err(|error| ToolError::usage(format!("{name}: {}", errno::text(&error))))?;
            files.push(OutputFile { file, buffer: Vec::new(), name: name.clone() });
        }
        let batches = (0..settings.batches).map(|_| Batch::default()).collect();
        Ok(Finder {
            context,
            settings,
            expression,
            scratches: Vec::new(),
            files,
            batches,
            widths: Widths::default(),
            failed: false,
            quit: false,
            prune: false,
            operand: BString::default(),
            device: 0,
        })
    }

    pub(super) fn start(&mut self, walk: &mut Walk<'_>, operand: BString) {
        self.operand = operand;
        if self.settings.one_device {
            self.device = walk.metadata().map_or(0, |metadata| metadata.device);
        }
    }

    pub(super) fn entry(&mut self, walk: &mut Walk<'_>) -> Result<(), ToolError> {
        let directory = walk.kind() == FileKind::Directory;
        if !(directory && self.settings.depth_first) {
            self.visit(walk)?;
        }
        if directory && (self.prune || self.stays_out(walk)) {
            walk.skip();
        }
        self.prune = false;
        Ok(())
    }

    pub(super) fn leave(&mut self, walk: &mut Walk<'_>) -> Result<(), ToolError> {
        if self.settings.depth_first {
            self.visit(walk)?;
            self.prune = false;
        }
        Ok(())
    }

    /// Is a directory not to be entered?
    fn stays_out(&self, walk: &mut Walk<'_>) -> bool {
        walk.depth() >= self.settings.most
            || (self.settings.one_device
                && walk.metadata().is_ok_and(|metadata| metadata.device != self.device))
    }

    fn visit(&mut self, walk: &mut Walk<'_>) -> Result<(), ToolError> {
        let depth = walk.depth();
        if self.batches.iter().any(Batch::waits_in_directory) {
            self.settle_directory(walk)?;
        }
        if depth < self.settings.least || depth > self.settings.most {
            return Ok(());
        }
        self.evaluate(self.expression, walk).map(drop)
    }

    fn evaluate(
        &mut self,
        expression: &Expression,
        walk: &mut Walk<'_>,
    ) -> Result<bool, ToolError> {
        match expression {
            Expression::Primary(primary) => self.primary(primary, walk),
            Expression::Not(inner) => Ok(!self.evaluate(inner, walk)?),
            Expression::And(all) => {
                for one in all {
                    if !self.evaluate(one, walk)? || self.quit {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Expression::Or(all) => {
                for one in all {
                    if self.evaluate(one, walk)? || self.quit {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Expression::Comma(all) => {
                let mut last = false;
                for one in all {
                    last = self.evaluate(one, walk)?;
                    if self.quit {
                        break;
                    }
                }
                Ok(last)
            }
        }
    }

    fn primary(&mut self, primary: &Primary, walk: &mut Walk<'_>) -> Result<bool, ToolError> {
        Ok(match primary {
            Primary::True => true,
            Primary::False => false,
            Primary::Name(pattern) => pattern.matches(walk.name()),
            Primary::Path(pattern) => pattern.matches(walk.path()),
            Primary::LinkTarget(pattern) => {
                let link = walk.kind() == FileKind::Symlink;
                link && walk.read_link().is_ok_and(|target| pattern.matches(&target))
            }
            Primary::Regex(matcher) => self.matches(matcher, walk.path())?,
            Primary::Type(kinds) => kinds.contains(&walk.kind()),
            Primary::OtherType(kinds) => {
                self.other_kind(walk)?.is_some_and(|kind| kinds.contains(&kind))
            }
            Primary::Empty => self.is_empty(walk)?,
            Primary::Access(wanted) => {
                let path = walk.absolute();
                self.context.files().access(path.as_bstr(), *wanted).is_ok()
            }
            Primary::Prune => {
                self.prune = !self.settings.depth_first;
                true
            }
            Primary::Quit => {
                self.quit = true;
                true
            }
            Primary::Print(target, ending) => {
                let end = if *ending == Ending::Newline { b"\n" } else { b"\0" };
                if *ending == Ending::Newline && self.shows(*target) {
                    self.write(*target, &with_question_marks(walk.path()))?;
                } else {
                    self.write(*target, walk.path())?;
                }
                self.write(*target, end)?;
                true
            }
            Primary::Format(target, format) => {
                self.print_format(*target, format, walk)?;
                true
            }
            Primary::List(target) => self.list(*target, walk)?,
            Primary::Execute(execute) => self.execute(execute, walk)?,
            Primary::Delete => self.delete(walk)?,
            Primary::Size(..)
            | Primary::Links(_)
            | Primary::Inode(_)
            | Primary::User(_)
            | Primary::Group(_)
            | Primary::Permissions(_)
            | Primary::Age(_)
            | Primary::Newer(..)
            | Primary::Same { .. } => match self.stat(walk)? {
                Some(metadata) => asks_metadata(primary, &metadata),
                None => false,
            },
        })
    }

    /// stat; what cannot be asked is reported and matches nothing.
    pub(super) fn stat(&mut self, walk: &mut Walk<'_>) -> Result<Option<Metadata>, ToolError> {
        match walk.metadata() {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) => {
                let path = walk.path().to_owned();
                self.fail(path.as_bstr(), &error)?;
                Ok(None)
            }
        }
    }

    fn matches(&mut self, matcher: &Arc<Matcher>, path: &BStr) -> Result<bool, ToolError> {
        let address = Arc::as_ptr(matcher);
        let at = self.scratches.iter().position(|(known, _)| *known == address);
        let at = at.unwrap_or_else(|| {
            let scratch = matcher.scratch(Some(self.context.control()));
            self.scratches.push((address, scratch));
            self.scratches.len() - 1
        });
        let Some((_, scratch)) = self.scratches.get_mut(at) else { return Ok(false) };
        if let Ok(matches) = matcher.is_full_match(scratch, path) {
            return Ok(matches);
        }
        self.context.control().check()?;
        Err(ToolError::usage("the regular expression takes too long"))
    }

    /// For `-xtype`: the other side of a link. A link to nothing is a link.
    fn other_kind(&mut self, walk: &mut Walk<'_>) -> Result<Option<FileKind>, ToolError> {
        let follow = match self.settings.symlinks {
            Symlinks::Always => Follow::No,
            Symlinks::CommandLine if walk.depth() == 0 => Follow::No,
            Symlinks::CommandLine | Symlinks::Never => Follow::Yes,
        };
        match walk.metadata_with(follow) {
            Ok(metadata) => Ok(Some(metadata.kind)),
            Err(error) if errno::is(&error, errno::ENOENT) => Ok(Some(FileKind::Symlink)),
            Err(error) => {
                let path = walk.path().to_owned();
                self.fail(path.as_bstr(), &error)?;
                Ok(None)
            }
        }
    }

    fn is_empty(&mut self, walk: &mut Walk<'_>) -> Result<bool, ToolError> {
        match walk.kind() {
            FileKind::File => Ok(self.stat(walk)?.is_some_and(|metadata| metadata.size == 0)),
            FileKind::Directory => {
                match walk.open_directory().and_then(|directory| directory.entries()) {
                    Ok(entries) => Ok(entries.is_empty()),
                    Err(error) => {
                        let path = walk.path().to_owned();
                        self.fail(path.as_bstr(), &error)?;
                        Ok(false)
                    }
                }
            }
            _ => Ok(false),
        }
    }

    /// `find: path: message`; the search goes on and ends with status 1.
    pub(super) fn fail(&mut self, path: &BStr, error: &io::Error) -> Result<(), ToolError> {
        self.context.interrupted(error)?;
        self.failed = true;
        self.context.complain_of(path, error);
        Ok(())
    }

    pub(super) fn report_loop(&mut self, path: &BStr, above: &BStr) {
        self.failed = true;
        self.context.complain(format_args!(
            "File system loop detected; ‘{path}’ is part of the same file system loop as ‘{above}’."
        ));
    }

    /// Is it a terminal that would take odd bytes of names for commands?
    pub(super) fn shows(&self, target: Target) -> bool {
        target == Target::Output && self.context.output.is_terminal()
    }

    pub(super) fn write(&mut self, target: Target, bytes: &[u8]) -> Result<(), ToolError> {
        let Target::File(number) = target else { return self.context.output.write(bytes) };
        let Some(file) = self.files.get_mut(number) else { return Ok(()) };
        file.buffer.extend_from_slice(bytes);
        if file.buffer.len() >= FULL { self.flush(number) } else { Ok(()) }
    }

    pub(super) fn flush(&mut self, number: usize) -> Result<(), ToolError> {
        let Some(file) = self.files.get_mut(number) else { return Ok(()) };
        let written = file.file.write_all(&file.buffer);
        file.buffer.clear();
        if let Err(error) = written {
            let name = file.name.clone();
            self.fail(name.as_bstr(), &error)?;
        }
        Ok(())
    }

    /// Runs what was collected, writes what is left, and says how it went.
    pub(super) fn finish(mut self) -> Result<ExitStatus, ToolError> {
        for number in 0..self.batches.len() {
            if let ControlFlow::Break(error) = self.run_batch(number) {
                return Err(error);
            }
        }
        for number in 0..self.files.len() {
            self.flush(number)?;
        }
        Ok(ExitStatus::from_bool(!self.failed))
    }
}

fn asks_metadata(primary: &Primary, metadata: &Metadata) -> bool {
    match primary {
        Primary::Size(number, unit) => number.holds(metadata.size.div_ceil(*unit)),
        Primary::Links(number) => number.holds(metadata.links),
        Primary::Inode(number) => number.holds(metadata.inode),
        Primary::User(number) => number.holds(u64::from(metadata.user)),
        Primary::Group(number) => number.holds(u64::from(metadata.group)),
        Primary::Permissions(permissions) => permissions.hold(metadata),
        Primary::Age(age) => age.holds(metadata),
        Primary::Newer(stamp, than) => stamp.of(metadata).is_some_and(|moment| moment > *than),
        Primary::Same { device, inode } => metadata.device == *device && metadata.inode == *inode,
        _ => false,
    }
}

impl Permissions {
    fn hold(&self, metadata: &Metadata) -> bool {
        let wanted = if metadata.is_directory() { self.of_directories } else { self.of_files };
        match self.compare {
            PermissionCompare::Exactly => metadata.permissions == wanted,
            PermissionCompare::All => metadata.permissions & wanted == wanted,
            PermissionCompare::Any => metadata.permissions & wanted != 0,
        }
    }
}
