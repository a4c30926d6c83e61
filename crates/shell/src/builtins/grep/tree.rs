//! Trees: the walk makes batches of files, threads search them, output comes in the walk's order.

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::files::{All, FileReport, is_device, message, search_one};
use super::options::{Devices, Report};
use super::print::print_group_separator;
use super::search::{Drain, Halt, Searcher};
use super::select::without_dot_slash;
use super::{Context, ToolError, patterns};
use crate::errno;
use crate::filesystem::{Directory, FileKind, Follow};
use crate::regex::Error;
use crate::status::ExitStatus;
use crate::walk::ordered::{self, Piece, Sink};
use crate::walk::{Symlinks, Visit, Walk};

/// Files that one thread takes at a time.
const BATCH: usize = 16;

impl All<'_> {
    pub(super) fn tree(
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
