//! `sort`: lines in order, by whole lines or by keys.

mod gather;
mod key;
mod number;
mod settings;
mod stream;
mod table;

use std::cmp::Ordering;
use std::io;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use self::gather::{Gathered, Gatherer};
use self::settings::{Check, OPTIONS, Settings, trouble};
use self::stream::Merge;
use super::input::{self, Wording};
use super::{Command, Context, Output, Run, ToolError};
use crate::errno;
use crate::filesystem::{OpenFile, OpenOptions};
use crate::pipe::Bytes;
use crate::status::ExitStatus;

pub static COMMAND: Command = Command {
    name: "sort",
    synopsis: "sort [OPTION]... [FILE]...",
    summary: "print the lines of all files together in order",
    options: &OPTIONS,
    run: Run::Tool(run),
};

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let mut settings = Settings::parse(words)?;
    settings.rules.seed = context.host().random();
    let operands = match settings.list.take() {
        Some(list) => match listed_names(context, list.as_bstr())? {
            Some(names) => names,
            None => return Ok(ExitStatus::USAGE),
        },
        None => input::or_standard_input(std::mem::take(&mut settings.operands)),
    };
    // All must be there before anything is done.
    let mut files = Vec::new();
    for operand in &operands {
        let Some(file) = input::open(context, operand.as_bstr(), Wording::Plain)? else {
            return Ok(ExitStatus::USAGE);
        };
        files.push(file);
    }
    let result = match settings.check {
        Some(check) => run_check(context, &settings, check, &operands, &files),
        None if settings.merge => run_merge(context, &settings, files),
        None => run_sort(context, &settings, files),
    }?;
    match result {
        Ok(status) => Ok(status),
        Err((operand, error)) => {
            context.interrupted(&error)?;
            let name = operands.get(operand).map_or(&b"-"[..], |operand| operand.as_slice());
            input::complain(context, &[b"read failed: ", name], Some(&error));
            Ok(ExitStatus::USAGE)
        }
    }
}

/// The inner error is a failed read of the operand with that number.
type Sorted = Result<Result<ExitStatus, stream::SourceError>, ToolError>;

fn listed_names(context: &mut Context<'_>, list: &BStr) -> Result<Option<Vec<BString>>, ToolError> {
    let Some(file) = input::open(context, list, Wording::Plain)? else { return Ok(None) };
    let mut text = Vec::new();
    if let Err(error) = file.read_within(&context.control(), &mut text) {
        context.interrupted(&error)?;
        input::complain(context, &[b"read failed: ", list], Some(&error));
        return Ok(None);
    }
    if text.is_empty() {
        return Err(trouble(format!("no input from {}", input::shown(list))));
    }
    let names = text.strip_suffix(b"\0").unwrap_or(&text).split(|byte| *byte == 0);
    let names: Vec<BString> = names.map(BString::from).collect();
    if let Some(at) = names.iter().position(|name| name.is_empty()) {
        let text = format!(":{}: invalid zero-length file name", at + 1);
        input::complain(context, &[list, text.as_bytes()], None);
        return Ok(None);
    }
    if list == "-" && names.iter().any(|name| name == "-") {
        let message = "when reading file names from stdin, no file name of '-' allowed";
        return Err(trouble(message));
    }
    Ok(Some(names))
}

fn run_check(
    context: &mut Context<'_>,
    settings: &Settings,
    check: Check,
    operands: &[BString],
    files: &[Arc<dyn OpenFile>],
) -> Sorted {
    let Settings { rules, unique, separator, .. } = settings;
    for (at, (file, operand)) in files.iter().zip(operands).enumerate() {
        let mut reader = input::reader(context, file).separated_by(*separator);
        let disorder = match stream::find_disorder(&mut reader, rules, *unique, *separator) {
            Ok(disorder) => disorder,
            Err(error) => return Ok(Err((at, error))),
        };
        if let Some(disorder) = disorder {
            if check == Check::Diagnose {
                let number = format!(":{}: disorder: ", disorder.number);
                input::complain(context, &[operand, number.as_bytes(), &disorder.line], None);
            }
            return Ok(Ok(ExitStatus::FAILURE));
        }
    }
    Ok(Ok(ExitStatus::SUCCESS))
}

fn run_sort(
    context: &mut Context<'_>,
    settings: &Settings,
    files: Vec<Arc<dyn OpenFile>>,
) -> Sorted {
    let mut gatherer = Gatherer::new(settings);
    for (at, file) in files.into_iter().enumerate() {
        match file.metadata() {
            Ok(metadata) => gatherer.expect(metadata.size),
            Err(error) => return Err(trouble(format!("stat failed: -: {}", errno::text(&error)))),
        }
        let mut reader = input::reader(context, &file).separated_by(settings.separator);
        loop {
            match reader.next_block() {
                Ok(Some(block)) => gatherer.add(context, block)?,
                Ok(None) => break,
                Err(error) => return Ok(Err((at, error))),
            }
        }
    }
    let table = match gatherer.finish(context)? {
        Gathered::Table(table) => table,
        Gathered::Runs(runs) => return merge(context, settings, runs),
    };
    let Some(mut printer) = Printer::open(context, settings)? else {
        return Ok(Ok(ExitStatus::USAGE));
    };
    for line in table.lines() {
        printer.print(context, line)?;
    }
    printer.finish(context)
}

fn run_merge(
    context: &mut Context<'_>,
    settings: &Settings,
    files: Vec<Arc<dyn OpenFile>>,
) -> Sorted {
    let mut inputs = Vec::new();
    for (at, file) in files.into_iter().enumerate() {
        match set_aside(context, settings, file) {
            Ok(file) => inputs.push(file),
            Err(error) => return Ok(Err((at, error))),
        }
    }
    merge(context, settings, inputs)
}

/// Prints sorted files as one.
fn merge(context: &mut Context<'_>, settings: &Settings, files: Vec<Arc<dyn OpenFile>>) -> Sorted {
    let reader = |file| input::reader(context, file).separated_by(settings.separator);
    let mut merge = match Merge::new(files.iter().map(reader).collect(), settings.separator) {
        Ok(merge) => merge,
        Err(error) => return Ok(Err(error)),
    };
    let Some(mut printer) = Printer::open(context, settings)? else {
        return Ok(Ok(ExitStatus::USAGE));
    };
    let mut line = Vec::new();
    loop {
        match merge.next(&settings.rules, &mut line) {
            Ok(true) => printer.print(context, &line)?,
            Ok(false) => return printer.finish(context),
            Err(error) => return Ok(Err(error)),
        }
    }
}

/// An input that is also the output is read before it is overwritten.
fn set_aside(
    context: &Context<'_>,
    settings: &Settings,
    file: Arc<dyn OpenFile>,
) -> io::Result<Arc<dyn OpenFile>> {
    let Some(output) = &settings.output else { return Ok(file) };
    let (Ok(one), Ok(other)) = (file.metadata(), input::metadata(context, output.as_bstr())) else {
        return Ok(file);
    };
    if (one.device, one.inode) != (other.device, other.inode) {
        return Ok(file);
    }
    let mut text = Vec::new();
    let mut reader = input::reader(context, &file);
    while let Some(chunk) = reader.next_chunk()? {
        text.extend_from_slice(chunk);
    }
    Ok(Arc::new(Bytes::new(text)))
}

/// Writes lines to standard output or to the file of `-o`, each once if that is wanted.
struct Printer<'a> {
    settings: &'a Settings,
    file: Option<Output>,
    last: Option<Vec<u8>>,
}

impl<'a> Printer<'a> {
    /// `None`: the output cannot be opened, which has been reported.
    fn open(context: &mut Context<'_>, settings: &'a Settings) -> Result<Option<Self>, ToolError> {
        let Some(name) = &settings.output else {
            return Ok(Some(Printer { settings, file: None, last: None }));
        };
        let options = OpenOptions::writing(context.masked(0o666));
        match context.open_with(name.as_bstr(), options) {
            Ok(file) => {
                let file = Some(Output::new(file, context.control()));
                Ok(Some(Printer { settings, file, last: None }))
            }
            Err(error) => {
                context.control().check()?;
                if errno::is(&error, errno::ENOENT) {
                    context.complain_of(name.as_bstr(), &error);
                } else {
                    input::complain(context, &[b"open failed: ", name], Some(&error));
                }
                Ok(None)
            }
        }
    }

    fn print(&mut self, context: &mut Context<'_>, line: &[u8]) -> Result<(), ToolError> {
        if self.settings.unique {
            if let Some(last) = &mut self.last {
                if self.settings.rules.compare(last, line) == Ordering::Equal {
                    return Ok(());
                }
                last.clear();
                last.extend_from_slice(line);
            } else {
                self.last = Some(line.to_vec());
            }
        }
        let output = self.file.as_mut().unwrap_or(&mut context.output);
        output.write(line)?;
        output.write(&[self.settings.separator])
    }

    fn finish(mut self, context: &mut Context<'_>) -> Sorted {
        let Some(output) = &mut self.file else { return Ok(Ok(ExitStatus::SUCCESS)) };
        match output.flush() {
            Ok(()) => Ok(Ok(ExitStatus::SUCCESS)),
            Err(ToolError::Output(error)) => {
                let name = self.settings.output.as_ref().map_or(&b""[..], |name| name.as_slice());
                input::complain(context, &[b"write failed: ", name], Some(&error));
                Ok(Ok(ExitStatus::USAGE))
            }
            Err(other) => Err(other),
        }
    }
}
