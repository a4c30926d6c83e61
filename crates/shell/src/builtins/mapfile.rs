//! `mapfile` and `readarray`

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::read::input::Input;
use super::read::{parse_descriptor, parse_number};
use super::{Command, Run, usage};
use crate::arguments::{Arguments, OptionSpec, flag};
use crate::expand::quote;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Running};
use crate::variables::{ElementKey, Place, is_name};

static OPTIONS: [OptionSpec; 8] = [
    flag('d', "d", "lines end with the first character of DELIM").takes("delim"),
    flag('n', "n", "read at most so many lines; 0: all").takes("count"),
    flag('O', "O", "begin at this index, and keep the elements that are there").takes("origin"),
    flag('s', "s", "skip so many lines first").takes("count"),
    flag('t', "t", "remove the delimiter from each line"),
    flag('u', "u", "read from this descriptor").takes("fd"),
    flag('C', "C", "run this text with index and line after every QUANTUM lines").takes("callback"),
    flag('c', "c", "how many lines between two runs of the callback").takes("quantum"),
];

pub static COMMAND: Command = Command {
    name: "mapfile",
    synopsis: "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
    summary: "Read lines into an array",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run: mapfile },
};

pub static READARRAY: Command = Command {
    name: "readarray",
    synopsis: "readarray [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
    summary: "Another name for mapfile",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run: readarray },
};

const DEFAULT_QUANTUM: u64 = 5000;

struct Request<'a> {
    delimiter: u8,
    trim: bool,
    /// 0: all.
    count: u64,
    /// Absent: the array is emptied first.
    origin: Option<u64>,
    skip: u64,
    descriptor: u32,
    callback: Option<&'a BStr>,
    quantum: u64,
}

fn mapfile(shell: &mut Shell, words: &[BString]) -> Flow {
    run(shell, &COMMAND, words)
}

fn readarray(shell: &mut Shell, words: &[BString]) -> Flow {
    run(shell, &READARRAY, words)
}

fn run(shell: &mut Shell, command: &'static Command, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, command, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let Some(request) = parse(shell, command.name, &arguments) else {
        return Ok(ExitStatus::FAILURE);
    };
    let name = arguments.operands.first().map_or("MAPFILE".into(), |name| name.as_bstr());
    if name.is_empty() {
        shell.complain(format!("{}: empty array variable name", command.name));
        return Ok(ExitStatus::USAGE);
    }
    if !is_name(name) {
        shell.complain_of_identifier(command.name, name);
        return Ok(ExitStatus::FAILURE);
    }
    let Some(place) = shell.locate(name) else { return Ok(ExitStatus::FAILURE) };
    if !shell.prepare_list(command.name, &place, request.origin.is_none())? {
        return Ok(ExitStatus::FAILURE);
    }
    let Some(file) = shell.file(request.descriptor).map(Arc::clone) else {
        return Ok(ExitStatus::SUCCESS);
    };
    let mut input = Input::new(file, Arc::clone(&shell.control), None);
    if request.count == 0 && request.callback.is_none() {
        input.take_all();
    }
    let filled = fill(shell, &request, &place, &mut input);
    input.finish();
    filled
}

/// `None`: something is wrong, and printed.
fn parse<'a>(shell: &Shell, builtin: &str, arguments: &'a Arguments) -> Option<Request<'a>> {
    let number = |id: &str, reason: &str, least: u64| {
        let Some(text) = arguments.value(id) else { return Some(None) };
        let number = parse_number(text).filter(|number| *number >= least);
        if number.is_none() {
            let start = format!("{builtin}: ");
            shell.complain([start.as_bytes(), text, b": ", reason.as_bytes()].concat());
        }
        number.map(Some)
    };
    Some(Request {
        delimiter: arguments.value("d").map_or(b'\n', |text| text.first().copied().unwrap_or(0)),
        trim: arguments.has("t"),
        count: number("n", "invalid line count", 0)?.unwrap_or(0),
        origin: number("O", "invalid array origin", 0)?,
        skip: number("s", "invalid line count", 0)?.unwrap_or(0),
        quantum: number("c", "invalid callback quantum", 1)?.unwrap_or(DEFAULT_QUANTUM),
        callback: arguments.value("C"),
        descriptor: match arguments.value("u") {
            Some(text) => parse_descriptor(shell, builtin, text)?,
            None => 0,
        },
    })
}

/// What an element of an array takes beside its text.
const ELEMENT: usize = 48;

fn fill(shell: &mut Shell, request: &Request<'_>, place: &Place, input: &mut Input) -> Flow {
    let mut line = Vec::new();
    for _ in 0..request.skip {
        line.clear();
        if !read(shell, request, input, &mut line)? {
            return Ok(ExitStatus::SUCCESS);
        }
    }
    let mut index = request.origin.unwrap_or(0);
    let mut done = 0;
    let mut held = 0;
    while request.count == 0 || done < request.count {
        line.clear();
        if !read(shell, request, input, &mut line)? {
            break;
        }
        if request.trim && line.last() == Some(&request.delimiter) {
            line.pop();
        }
        // A variable ends at the first NUL.
        if let Some(end) = memchr::memchr(0, &line) {
            line.truncate(end);
        }
        done += 1;
        held += line.len() + ELEMENT;
        // The clock is not read for every line.
        if (done % 64 == 0 || line.len() > ELEMENT << 10) && shell.control.may_hold(held).is_err() {
            shell.control.check()?;
        }
        if let Some(callback) = request.callback.filter(|_| done % request.quantum == 0) {
            call_back(shell, callback, index, &line)?;
        }
        let key = ElementKey::Index(i64::try_from(index).unwrap_or(i64::MAX));
        if !shell.put_in_list(place, key, line.as_bstr())? {
            return Ok(ExitStatus::FAILURE);
        }
        index = index.saturating_add(1);
    }
    Ok(ExitStatus::SUCCESS)
}

/// `false` at the end; an error is an end, as it is for bash.
fn read(
    shell: &Shell,
    request: &Request<'_>,
    input: &mut Input,
    line: &mut Vec<u8>,
) -> Running<bool> {
    let Ok(more) = input.read_raw(request.delimiter, line) else {
        shell.control.check()?;
        return Ok(false);
    };
    Ok(more)
}

/// Before the line is stored, as in bash.
fn call_back(shell: &mut Shell, callback: &BStr, index: u64, line: &[u8]) -> Running<()> {
    let mut text = BString::from(callback);
    text.extend_from_slice(format!(" {index} ").as_bytes());
    text.extend_from_slice(&quote::single(line));
    let line_number = shell.line;
    shell.run_text(text.as_bstr(), line_number)?;
    Ok(())
}
