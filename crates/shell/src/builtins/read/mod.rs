//! `read`

pub(super) mod input;
mod split;

use std::time::{Duration, Instant};

use bstr::{BStr, BString, ByteSlice};

use self::input::{Ended, Input};
use self::split::Line;
use super::{Command, Run, usage};
use crate::arguments::{Arguments, OptionSpec, flag};
use crate::errno;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Running};
use crate::variables::parse_reference;

static OPTIONS: [OptionSpec; 11] = [
    flag('a', "a", "assign the words to the elements of an array").takes("array"),
    flag('d', "d", "read up to the first character of DELIM instead of a newline").takes("delim"),
    flag('e', "e", "edit the line, where it comes from a terminal"),
    flag('i', "i", "initial text for -e").takes("text"),
    flag('n', "n", "read at most so many characters").takes("nchars"),
    flag('N', "N", "read exactly so many characters, delimiters included").takes("nchars"),
    flag('p', "p", "write a prompt first, if input is a terminal").takes("prompt"),
    flag('r', "r", "backslashes are ordinary characters"),
    flag('s', "s", "do not show what is typed"),
    flag('t', "t", "give up after so many seconds").takes("timeout"),
    flag('u', "u", "read from this descriptor").takes("fd"),
];

pub static COMMAND: Command = Command {
    name: "read",
    synopsis: "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]",
    summary: "Read a line and split it into variables",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

/// As if by `SIGALRM`.
const TIMED_OUT: ExitStatus = ExitStatus(142);

/// What is to be read.
pub(in crate::builtins) struct Request {
    descriptor: u32,
    delimiter: u8,
    raw: bool,
    /// `-n` and `-N`
    characters: Option<usize>,
    exactly: bool,
    timeout: Option<Duration>,
}

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let Some(request) = parse(shell, &arguments) else { return Ok(ExitStatus::FAILURE) };
    let names = &arguments.operands;
    let first = names.first().filter(|_| !arguments.has("a"));
    if let Some(first) = first.filter(|first| parse_reference(first.as_bstr()).is_none()) {
        shell.complain_of_identifier("read", first.as_bstr());
        return Ok(ExitStatus::FAILURE);
    }
    let Some(file) = shell.file(request.descriptor).map(std::sync::Arc::clone) else {
        let error = errno::text(&errno::error(errno::EBADF));
        shell.complain(format!("read: read error: {}: {error}", request.descriptor));
        return Ok(ExitStatus::FAILURE);
    };
    if file.is_terminal() && !prompt(shell, &arguments) {
        return Ok(ExitStatus::USAGE);
    }
    let deadline = request.timeout.and_then(|time| Instant::now().checked_add(time));
    let mut input = Input::new(file, shell.control.clone(), deadline);
    if request.timeout == Some(Duration::ZERO) {
        return Ok(ExitStatus::from_bool(input.is_ready()));
    }
    let (line, ended) = match input.read(&request) {
        Ok(read) => read,
        Err(error) => {
            shell.control.check()?;
            let text = errno::text(&error);
            shell.complain(format!("read: read error: {}: {text}", request.descriptor));
            return Ok(ExitStatus::FAILURE);
        }
    };
    let assigned = assign(shell, &arguments, &request, &line)?;
    Ok(match ended {
        _ if !assigned => ExitStatus::FAILURE,
        Ended::Complete => ExitStatus::SUCCESS,
        Ended::EndOfInput => ExitStatus::FAILURE,
        Ended::TimedOut => TIMED_OUT,
    })
}

/// What a terminal shows before it is read. `false`: what it cannot do is asked for, and that is printed.
fn prompt(shell: &Shell, arguments: &Arguments) -> bool {
    if arguments.has("s") || arguments.has("i") {
        shell.complain("read: -s and -i are not supported on a terminal");
        return false;
    }
    if let Some(prompt) = arguments.value("p") {
        shell.write_error(prompt);
    }
    true
}

/// `None`: something is wrong, and printed.
fn parse(shell: &Shell, arguments: &Arguments) -> Option<Request> {
    let complain = |value: &BStr, reason: &str| {
        shell.complain([b"read: ", value.as_bytes(), b": ", reason.as_bytes()].concat());
    };
    let mut request = Request {
        descriptor: 0,
        delimiter: arguments.value("d").map_or(b'\n', |text| text.first().copied().unwrap_or(0)),
        raw: arguments.has("r"),
        characters: None,
        exactly: arguments.has("N"),
        timeout: default_timeout(shell),
    };
    for id in ["n", "N"] {
        if let Some(text) = arguments.value(id) {
            let Some(number) = parse_number(text).filter(|number| *number <= 0x7fff_ffff) else {
                complain(text, "invalid number");
                return None;
            };
            request.characters = usize::try_from(number).ok();
        }
    }
    if let Some(text) = arguments.value("t") {
        let Some(timeout) = parse_seconds(text) else {
            complain(text, "invalid timeout specification");
            return None;
        };
        request.timeout = Some(timeout);
    }
    if let Some(text) = arguments.value("u") {
        request.descriptor = parse_descriptor(shell, "read", text)?;
    }
    Some(request)
}

/// The descriptor after `-u`, open; what is wrong is printed.
pub(super) fn parse_descriptor(shell: &Shell, builtin: &str, text: &BStr) -> Option<u32> {
    let complain = |reason: &str| {
        let start = format!("{builtin}: ");
        shell.complain([start.as_bytes(), text, b": ", reason.as_bytes()].concat());
    };
    let Some(descriptor) = parse_number(text).and_then(|number| u32::try_from(number).ok()) else {
        complain("invalid file descriptor specification");
        return None;
    };
    if shell.file(descriptor).is_none() {
        complain("invalid file descriptor: Bad file descriptor");
        return None;
    }
    Some(descriptor)
}

/// Decimal, not negative.
pub(super) fn parse_number(text: &BStr) -> Option<u64> {
    let digits = text.trim_ascii();
    let digits = digits.strip_prefix(b"+").unwrap_or(digits);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    digits.to_str().ok()?.parse().ok()
}

/// `1.5`; more than six places are cut.
fn parse_seconds(text: &BStr) -> Option<Duration> {
    let (whole, fraction) = match text.find_byte(b'.') {
        Some(at) => (text.get(..at)?, text.get(at + 1..)?),
        None => (text.as_bytes(), &b""[..]),
    };
    let is_number = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    if whole.is_empty() && fraction.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let seconds = if whole.is_empty() { 0 } else { whole.to_str().ok()?.parse().ok()? };
    let microseconds = fraction.iter().chain(std::iter::repeat(&b'0')).take(6);
    let microseconds = microseconds.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    Duration::from_secs(seconds).checked_add(Duration::from_micros(microseconds))
}

/// `TMOUT`
fn default_timeout(shell: &Shell) -> Option<Duration> {
    let text = shell.scalar_of("TMOUT".into())?;
    parse_seconds(&text).filter(|timeout| !timeout.is_zero())
}

/// `false`: a variable cannot be assigned; those before it are.
fn assign(
    shell: &mut Shell,
    arguments: &Arguments,
    request: &Request,
    line: &Line,
) -> Running<bool> {
    if let Some(array) = arguments.value("a") {
        return assign_array(shell, array, request, line);
    }
    let Some((last, first)) = arguments.operands.split_last() else {
        return shell.try_assign_scalar("REPLY".into(), line.text.clone().into());
    };
    if request.exactly {
        let mut value = BString::from(line.text.clone());
        for name in &arguments.operands {
            if !assign_name(shell, name, std::mem::take(&mut value))? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    let separators = shell.separators();
    let mut rest = split::Splitter::new(line, &separators);
    for name in first {
        let value = rest.next_word().unwrap_or_default();
        if !assign_name(shell, name, value)? {
            return Ok(false);
        }
    }
    let value = rest.remainder();
    assign_name(shell, last, value)
}

fn assign_name(shell: &mut Shell, name: &BString, value: BString) -> Running<bool> {
    if parse_reference(name.as_bstr()).is_none() {
        shell.complain_of_identifier("read", name.as_bstr());
        return Ok(false);
    }
    shell.try_assign_reference(name.as_bstr(), value)
}

fn assign_array(shell: &mut Shell, name: &BStr, request: &Request, line: &Line) -> Running<bool> {
    if request.exactly {
        return shell.try_assign_list("read", name, vec![line.text.clone().into()]);
    }
    let separators = shell.separators();
    let mut rest = split::Splitter::new(line, &separators);
    let words = std::iter::from_fn(|| rest.next_word()).collect::<Vec<_>>();
    shell.try_assign_list("read", name, words)
}
