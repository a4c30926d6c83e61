//! Which files are searched, and what is reported of each.

use std::io;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::options::{Devices, Directories, Output, Report, Request};
use super::print::print_name;
use super::search::{Drain, Halt, Searcher};
use super::{Context, TROUBLE, ToolError, patterns};
use crate::control::Control;
use crate::errno;
use crate::filesystem::{FileKind, Follow, OpenFile};
use crate::regex::{Error, Matcher};
use crate::status::ExitStatus;

pub(super) fn search_all(
    context: &mut Context<'_>,
    request: &Request,
    matcher: &Matcher,
) -> Result<ExitStatus, ToolError> {
    let recursive = request.directories == Directories::Recurse;
    let default: BString = if recursive { ".".into() } else { "-".into() };
    let operands: &[BString] = match request.operands.as_slice() {
        [] => std::slice::from_ref(&default),
        given => given,
    };
    let mut search = All {
        request,
        matcher,
        control: context.control(),
        own_output: own_output(context, request),
        matched: false,
        trouble: false,
        used: false,
        omit_dot: request.operands.is_empty() && recursive,
        several: operands.len() > 1,
    };
    for operand in operands {
        search.operand(context, operand.as_bstr())?;
        if search.matched && request.output.report == Report::Nothing {
            return Ok(ExitStatus::SUCCESS);
        }
    }
    Ok(match (search.trouble, search.matched) {
        (true, _) => TROUBLE,
        (false, matched) => ExitStatus::from_bool(matched),
    })
}

/// The file that output goes to, if it is one that could be searched too.
fn own_output(context: &Context<'_>, request: &Request) -> Option<(u64, u64)> {
    if request.output.report != Report::Lines || request.output.max_count <= 1 {
        return None;
    }
    let metadata = context.output.file().metadata().ok()?;
    metadata.is_file().then_some((metadata.device, metadata.inode))
}

pub(super) struct All<'a> {
    pub(super) request: &'a Request,
    matcher: &'a Matcher,
    pub(super) control: Arc<Control>,
    pub(super) own_output: Option<(u64, u64)>,
    pub(super) matched: bool,
    pub(super) trouble: bool,
    /// Lines were printed: groups of other files are separated from them.
    pub(super) used: bool,
    pub(super) omit_dot: bool,
    several: bool,
}

impl All<'_> {
    fn operand(&mut self, context: &mut Context<'_>, operand: &BStr) -> Result<(), ToolError> {
        if operand == "-" {
            let input = Arc::clone(&context.input);
            let label = self.request.output.label.clone();
            return self.single(context, &*input, label.as_bstr(), true);
        }
        let path = context.path(operand);
        if crate::shell::own_descriptor(path.as_bstr()).is_none() {
            match context.files().metadata(path.as_bstr(), Follow::Yes) {
                Err(error) => return self.fail(context, operand, &error),
                Ok(metadata) => {
                    let skip = self.skips(operand, metadata.kind);
                    if skip {
                        return Ok(());
                    }
                    if metadata.is_directory() {
                        return match self.request.directories {
                            Directories::Skip => Ok(()),
                            Directories::Recurse => self.tree(context, operand, path),
                            Directories::Read => self.read_directory(context, operand),
                        };
                    }
                }
            }
        }
        match context.open(operand) {
            Ok(file) => {
                let shown = context.as_written(operand).to_owned();
                self.single(context, &*file, shown.as_bstr(), false)
            }
            Err(error) => self.fail(context, operand, &error),
        }
    }

    /// A directory can be opened but not read: it has no lines, and still is one of the files.
    fn read_directory(
        &mut self,
        context: &mut Context<'_>,
        operand: &BStr,
    ) -> Result<(), ToolError> {
        self.fail(context, operand, &errno::error(errno::EISDIR))?;
        let mut searcher = self.searcher(self.request.output.names.unwrap_or(self.several));
        let shown = context.as_written(operand).to_owned();
        summarize(&mut searcher, shown.as_bstr(), 0);
        context.output.write(&searcher.out)
    }

    fn skips(&self, operand: &BStr, kind: FileKind) -> bool {
        let directory = kind == FileKind::Directory;
        if is_device(kind) && self.request.devices == Devices::Skip {
            return true;
        }
        if directory && self.omit_dot {
            return false;
        }
        self.request.selection.skips_operand(operand, directory)
    }

    pub(super) fn fail(
        &mut self,
        context: &mut Context<'_>,
        operand: &BStr,
        error: &io::Error,
    ) -> Result<(), ToolError> {
        context.interrupted(error)?;
        self.trouble = true;
        if !self.request.no_messages {
            context.complain_of(operand, error);
        }
        Ok(())
    }

    pub(super) fn searcher(&self, with_name: bool) -> Searcher<'_> {
        let (output, control) = (&self.request.output, Arc::clone(&self.control));
        Searcher::new(output, self.matcher, control, with_name)
    }

    /// Searches one file on this thread, writing as it goes.
    fn single(
        &mut self,
        context: &mut Context<'_>,
        file: &dyn OpenFile,
        name: &BStr,
        is_input: bool,
    ) -> Result<(), ToolError> {
        if !is_input && self.is_own_output(file) {
            self.trouble = true;
            if !self.request.no_messages {
                context.complain(format_args!("{name}: input file is also the output"));
            }
            return Ok(());
        }
        let with_name = self.request.output.names.unwrap_or(self.several);
        let mut searcher = self.searcher(with_name);
        searcher.used = self.used;
        let mut drain = Direct { context, failure: None };
        let mut report = search_one(&mut searcher, file, name, &mut drain);
        let failure = drain.failure.take();
        let used = searcher.used;
        let out = std::mem::take(&mut searcher.out);
        drop(searcher);
        self.used = used;
        if let Some(failure) = failure {
            return Err(failure);
        }
        if let Some(unread) = report.unread.take().filter(|_| is_input) {
            let back = i64::try_from(unread).unwrap_or(0);
            let _ = file.seek(io::SeekFrom::Current(-back));
        }
        context.output.write(&out)?;
        self.take_report(context, report)
    }

    fn is_own_output(&self, file: &dyn OpenFile) -> bool {
        let Some(own) = self.own_output else { return false };
        file.metadata()
            .is_ok_and(|metadata| metadata.is_file() && (metadata.device, metadata.inode) == own)
    }

    fn take_report(
        &mut self,
        context: &mut Context<'_>,
        report: FileReport,
    ) -> Result<(), ToolError> {
        self.matched |= report.matched;
        self.trouble |= report.trouble;
        if report.halted {
            self.control.check()?;
        }
        if let Some(error) = report.pattern_error {
            return Err(patterns::explain(error));
        }
        let silent = report.trouble && self.request.no_messages;
        if let Some(message) = report.message.filter(|_| !silent) {
            context.error_bytes(&message);
        }
        Ok(())
    }
}

pub(super) fn is_device(kind: FileKind) -> bool {
    matches!(
        kind,
        FileKind::BlockDevice | FileKind::CharacterDevice | FileKind::Fifo | FileKind::Socket
    )
}

/// Writes to the tool's own output.
struct Direct<'a, 'b> {
    context: &'a mut Context<'b>,
    failure: Option<ToolError>,
}

impl Drain for Direct<'_, '_> {
    fn drain(&mut self, out: &mut Vec<u8>, at_once: bool) -> Result<(), Halt> {
        let mut written = self.context.output.write(out);
        out.clear();
        if at_once && written.is_ok() {
            written = self.context.output.flush();
        }
        written.map_err(|error| {
            self.failure = Some(error);
            Halt::Closed
        })
    }
}

/// What became of a file, besides output.
#[derive(Default)]
pub(super) struct FileReport {
    pub(super) matched: bool,
    pub(super) trouble: bool,
    pub(super) halted: bool,
    pub(super) message: Option<Vec<u8>>,
    pub(super) pattern_error: Option<Error>,
    pub(super) unread: Option<u64>,
}

/// Searches a file and adds the lines that speak of it as a whole.
pub(super) fn search_one(
    searcher: &mut Searcher<'_>,
    file: &dyn OpenFile,
    name: &BStr,
    drain: &mut dyn Drain,
) -> FileReport {
    let mut report = FileReport::default();
    match searcher.search(file, name, drain) {
        Ok(found) => {
            report.matched = found.lines > 0;
            report.unread = found.unread;
            summarize(searcher, name, found.lines);
            if found.binary {
                report.message = Some(message(name, "binary file matches"));
            }
        }
        Err(Halt::Read(error)) if !errno::is(&error, errno::EINTR) => {
            report.trouble = true;
            report.message = Some(message(name, &errno::text(&error)));
            summarize(searcher, name, 0);
        }
        Err(Halt::Pattern(error)) if error != Error::Stopped => {
            report.trouble = true;
            report.pattern_error = Some(error);
        }
        Err(Halt::Read(_) | Halt::Closed | Halt::Pattern(_)) => report.halted = true,
    }
    report
}

pub(super) fn message(name: &BStr, text: &str) -> Vec<u8> {
    [b"grep: ".as_slice(), name, b": ", text.as_bytes(), b"\n"].concat()
}

fn summarize(searcher: &mut Searcher<'_>, name: &BStr, lines: u64) {
    let (with_name, output): (bool, &Output) = (searcher.with_name, searcher.output);
    match output.report {
        Report::Lines | Report::Nothing => {}
        Report::Count => {
            if with_name {
                print_name(&mut searcher.out, output, name, Some(b':'));
            }
            searcher.out.extend_from_slice(format!("{lines}\n").as_bytes());
        }
        Report::Matching if lines == 0 => {}
        Report::NonMatching if lines > 0 => {}
        Report::Matching | Report::NonMatching => {
            print_name(&mut searcher.out, output, name, None);
        }
    }
}
