//! Which files are searched, and what is reported of each.

use std::io;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::options::{Devices, Directories, Output, Report, Request};
use super::print::{print_group_separator, print_name};
use super::search::{Drain, Halt, Searcher};
use super::select::without_dot_slash;
use super::{Context, TROUBLE, ToolError, patterns};
use crate::control::Control;
use crate::errno;
use crate::filesystem::{Directory, FileKind, Follow, OpenFile};
use crate::regex::{Error, Matcher};
use crate::status::ExitStatus;
use crate::walk::ordered::{self, Piece, Sink};
use crate::walk::{Symlinks, Visit, Walk};

/// Files that one thread takes at a time.
const BATCH: usize = 16;

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

struct All<'a> {
    request: &'a Request,
    matcher: &'a Matcher,
    control: Arc<Control>,
    own_output: Option<(u64, u64)>,
    matched: bool,
    trouble: bool,
    /// Lines were printed: groups of other files are separated from them.
    used: bool,
    omit_dot: bool,
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

    fn fail(
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

    fn searcher(&self, with_name: bool) -> Searcher<'_> {
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

    fn tree(
        &mut self,
        context: &mut Context<'_>,
        operand: &BStr,
        path: BString,
    ) -> Result<(), ToolError> {
        let host = context.host();
        let symlinks = if self.request.follow { Symlinks::Always } else { Symlinks::CommandLine };
        let shown = context.as_written(operand).to_owned();
        let control = Arc::clone(&self.control);
        let walk = match Walk::new(host.files(), control, symlinks, shown.as_bstr(), path) {
            Ok(walk) => walk,
            Err(error) => return self.fail(context, operand, &error),
        };
        let with_name = self.request.output.names.unwrap_or(true);
        let mut batches = Batches { walk, all: self };
        let mut used = self.used;
        let (mut matched, mut trouble) = (false, false);
        let mut pattern_error = None;
        let request = self.request;
        let quiet = request.output.report == Report::Nothing;
        let result = ordered::run(
            || batches.next(),
            || self.searcher(with_name),
            |searcher, batch, sink| search_batch(searcher, batch, self.own_output, sink),
            |part: Part| {
                matched |= part.matched;
                trouble |= part.trouble;
                if pattern_error.is_none() {
                    pattern_error = part.pattern_error;
                }
                if quiet && matched {
                    return Err(ToolError::Usage(String::new(), ExitStatus::SUCCESS));
                }
                if part.begins_group && used {
                    let mut separator = Vec::new();
                    print_group_separator(&mut separator, &request.output);
                    context.output.write(&separator)?;
                }
                used |= part.used;
                context.output.write(&part.out)?;
                if request.output.line_buffered {
                    context.output.flush()?;
                }
                let silent = part.trouble && request.no_messages;
                if !part.errors.is_empty() && !silent {
                    context.error_bytes(&part.errors);
                }
                Ok(())
            },
        );
        self.matched |= matched;
        self.trouble |= trouble;
        self.used = used;
        if let Some(error) = pattern_error {
            return Err(patterns::explain(error));
        }
        match result {
            Err(ToolError::Usage(message, _)) if quiet && matched && message.is_empty() => Ok(()),
            Err(error) => Err(error),
            Ok(()) => Ok(self.control.check()?),
        }
    }
}

fn is_device(kind: FileKind) -> bool {
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
struct FileReport {
    matched: bool,
    trouble: bool,
    halted: bool,
    message: Option<Vec<u8>>,
    pattern_error: Option<Error>,
    unread: Option<u64>,
}

/// Searches a file and adds the lines that speak of it as a whole.
fn search_one(
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

fn message(name: &BStr, text: &str) -> Vec<u8> {
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

/// A file found by a walk.
struct Job {
    parent: Option<Arc<dyn Directory>>,
    name: BString,
    shown: BString,
    follow: Follow,
    /// Something the walk has to say instead.
    problem: Option<String>,
}

struct Batches<'a, 'b> {
    walk: Walk<'a>,
    all: &'b All<'a>,
}

impl Batches<'_, '_> {
    fn next(&mut self) -> Result<Option<Vec<Job>>, ToolError> {
        let mut batch = Vec::new();
        while batch.len() < BATCH {
            let Some(visit) = self.walk.next()? else { break };
            match visit {
                Visit::Leave => {}
                Visit::Entry => batch.extend(self.entry()),
                Visit::Unreadable(error) => batch.push(self.job(Some(errno::text(&error)))),
                Visit::Loop(_) => {
                    batch.push(self.job(Some("warning: recursive directory loop".to_owned())));
                }
            }
        }
        Ok(if batch.is_empty() { None } else { Some(batch) })
    }

    fn entry(&mut self) -> Option<Job> {
        let request = self.all.request;
        let kind = self.walk.kind();
        if self.walk.depth() == 0 {
            return None;
        }
        if kind == FileKind::Directory {
            if request.selection.skips_directory(self.walk.name()) {
                self.walk.skip();
            }
            return None;
        }
        if kind == FileKind::Symlink && !request.follow {
            return None;
        }
        if is_device(kind) && request.devices != Devices::Read {
            return None;
        }
        if request.selection.skips_file(self.walk.name()) {
            return None;
        }
        Some(self.job(None))
    }

    fn job(&mut self, problem: Option<String>) -> Job {
        let path = self.walk.path();
        let shown = if self.all.omit_dot { without_dot_slash(path) } else { path.into() };
        let follow = if self.all.request.follow { Follow::Yes } else { Follow::No };
        let name = self.walk.name().into();
        match self.walk.parent() {
            Ok(parent) => Job { parent, name, shown, follow, problem },
            Err(error) => {
                let problem = Some(errno::text(&error));
                Job { parent: None, name, shown, follow, problem }
            }
        }
    }
}

/// Output of some files of a batch.
#[derive(Default)]
struct Part {
    out: Vec<u8>,
    errors: Vec<u8>,
    matched: bool,
    trouble: bool,
    /// The first group of a batch: nothing separates it from what was before yet.
    begins_group: bool,
    used: bool,
    pattern_error: Option<Error>,
}

impl Piece for Part {
    fn size(&self) -> usize {
        self.out.len() + self.errors.len() + size_of::<Part>()
    }
}

/// Collects the output of a batch in parts.
struct Collect<'a> {
    sink: &'a mut dyn Sink<Part>,
    part: Part,
    /// A group was handed over.
    begun: bool,
    grouped: bool,
}

impl Collect<'_> {
    fn put(&mut self, out: &mut Vec<u8>) -> Result<(), Halt> {
        let mut part = std::mem::take(&mut self.part);
        part.out = std::mem::take(out);
        part.used = !part.out.is_empty();
        part.begins_group = self.grouped && part.used && !self.begun;
        self.begun |= part.used;
        self.sink.put(part).map_err(|()| Halt::Closed)
    }
}

impl Drain for Collect<'_> {
    fn drain(&mut self, out: &mut Vec<u8>, _at_once: bool) -> Result<(), Halt> {
        self.put(out)
    }
}

fn search_batch(
    searcher: &mut Searcher<'_>,
    batch: Vec<Job>,
    own_output: Option<(u64, u64)>,
    sink: &mut dyn Sink<Part>,
) -> Result<(), ()> {
    let output = searcher.output;
    let grouped =
        output.report == Report::Lines && (output.before.is_some() || output.after.is_some());
    let mut collect = Collect { sink, part: Part::default(), begun: false, grouped };
    searcher.used = false;
    for job in batch {
        let report = search_job(searcher, &job, own_output, &mut collect);
        if report.halted {
            return Err(());
        }
        collect.part.matched |= report.matched;
        collect.part.trouble |= report.trouble;
        collect.part.pattern_error = report.pattern_error;
        let message = report.message.unwrap_or_default();
        collect.part.errors = message;
        // Messages come right after the file they are about.
        let quiet = output.report == Report::Nothing && report.matched;
        let stop = quiet || collect.part.pattern_error.is_some();
        if !collect.part.errors.is_empty() || stop {
            collect.put(&mut searcher.out).map_err(|_| ())?;
        }
    }
    collect.put(&mut searcher.out).map_err(|_| ())
}

fn search_job(
    searcher: &mut Searcher<'_>,
    job: &Job,
    own_output: Option<(u64, u64)>,
    collect: &mut Collect<'_>,
) -> FileReport {
    let failed = |text: &str| FileReport {
        trouble: true,
        message: Some(message(job.shown.as_bstr(), text)),
        ..FileReport::default()
    };
    if let Some(problem) = &job.problem {
        return failed(problem);
    }
    let Some(parent) = &job.parent else { return FileReport::default() };
    let file = match parent.open_file(job.name.as_bstr(), job.follow) {
        Ok(file) => file,
        Err(error) => return failed(&errno::text(&error)),
    };
    if let Some(own) = own_output
        && file.metadata().is_ok_and(|metadata| (metadata.device, metadata.inode) == own)
    {
        return failed("input file is also the output");
    }
    search_one(searcher, &*file, job.shown.as_bstr(), collect)
}
