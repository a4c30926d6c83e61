//! `ulimit`

use std::sync::Arc;

use bstr::{BString, ByteSlice};

use super::{Command, Run, usage};
use crate::arguments::{OptionSpec, flag};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 20] = [
    flag('S', "S", "the soft limit"),
    flag('H', "H", "the hard limit"),
    flag('a', "a", "all limits"),
    flag('R', "R", "time a real-time process may run without blocking"),
    flag('c', "c", "size of core files"),
    flag('d', "d", "size of a process's data"),
    flag('e', "e", "scheduling priority"),
    flag('f', "f", "size of files"),
    flag('i', "i", "pending signals"),
    flag('l', "l", "locked memory"),
    flag('m', "m", "resident memory"),
    flag('n', "n", "open files"),
    flag('p', "p", "size of pipes"),
    flag('q', "q", "POSIX message queues"),
    flag('r', "r", "real-time priority"),
    flag('s', "s", "size of the stack"),
    flag('t', "t", "processor time"),
    flag('u', "u", "processes"),
    flag('v', "v", "virtual memory"),
    flag('x', "x", "file locks"),
];

pub static COMMAND: Command = Command {
    name: "ulimit",
    synopsis: "ulimit [-SHacdefilmnpqrstuvxR] [limit]",
    summary: "Show the limits of the shell and its programs, or lower them.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

/// Letter, name, unit, and what it is before a script changes it.
struct Resource {
    letter: u8,
    name: &'static str,
    unit: &'static str,
    initial: Initial,
}

#[derive(Clone, Copy)]
enum Initial {
    Unlimited,
    Fixed(u64),
    OpenFiles,
    Processes,
}

const fn resource(
    letter: u8,
    name: &'static str,
    unit: &'static str,
    initial: Initial,
) -> Resource {
    Resource { letter, name, unit, initial }
}

static RESOURCES: [Resource; 17] = [
    resource(b'R', "real-time non-blocking time", "microseconds, ", Initial::Unlimited),
    resource(b'c', "core file size", "blocks, ", Initial::Fixed(0)),
    resource(b'd', "data seg size", "kbytes, ", Initial::Unlimited),
    resource(b'e', "scheduling priority", "", Initial::Fixed(0)),
    resource(b'f', "file size", "blocks, ", Initial::Unlimited),
    resource(b'i', "pending signals", "", Initial::Unlimited),
    resource(b'l', "max locked memory", "kbytes, ", Initial::Unlimited),
    resource(b'm', "max memory size", "kbytes, ", Initial::Unlimited),
    resource(b'n', "open files", "", Initial::OpenFiles),
    resource(b'p', "pipe size", "512 bytes, ", Initial::Fixed(8)),
    resource(b'q', "POSIX message queues", "bytes, ", Initial::Unlimited),
    resource(b'r', "real-time priority", "", Initial::Fixed(0)),
    resource(b's', "stack size", "kbytes, ", Initial::Unlimited),
    resource(b't', "cpu time", "seconds, ", Initial::Unlimited),
    resource(b'u', "max user processes", "", Initial::Processes),
    resource(b'v', "virtual memory", "kbytes, ", Initial::Unlimited),
    resource(b'x', "file locks", "", Initial::Unlimited),
];

/// `None`: unlimited.
type Limit = Option<u64>;

#[derive(Default)]
struct Request {
    soft: bool,
    hard: bool,
    all: bool,
    /// A resource, and what to set it to.
    chosen: Vec<(&'static Resource, Option<BString>)>,
}

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let request = match parse(shell, words) {
        Ok(request) => request,
        Err(status) => return Ok(status),
    };
    if request.all {
        let mut text = String::new();
        for resource in &RESOURCES {
            text.push_str(&line(shell, resource, request.hard));
        }
        return shell.print("ulimit", text.as_bytes());
    }
    let several = request.chosen.len() > 1;
    for (resource, wanted) in &request.chosen {
        if let Some(wanted) = wanted {
            if let Err(status) = change(shell, resource, wanted, &request) {
                return Ok(status);
            }
            continue;
        }
        let text = if several {
            line(shell, resource, request.hard)
        } else {
            format!("{}\n", show(limits(shell, resource), request.hard))
        };
        shell.print("ulimit", text.as_bytes())?;
    }
    Ok(ExitStatus::SUCCESS)
}

/// Every letter may be followed by its limit; the first word that is no option belongs to the last letter.
fn parse(shell: &Shell, words: &[BString]) -> Result<Request, ExitStatus> {
    let mut request = Request::default();
    let mut rest = words;
    while let [word, after @ ..] = rest {
        if word == "--" {
            rest = after;
            break;
        }
        let Some(letters) = word.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else {
            break;
        };
        rest = after;
        for &letter in letters {
            match letter {
                b'S' => request.soft = true,
                b'H' => request.hard = true,
                b'a' => request.all = true,
                letter => {
                    let found = RESOURCES.iter().find(|resource| resource.letter == letter);
                    let Some(resource) = found else {
                        let what = format!("-{}: invalid option", char::from(letter));
                        return Err(usage::complain(shell, &COMMAND, &what));
                    };
                    request.chosen.push((resource, None));
                }
            }
        }
        let value = rest.first().filter(|value| !value.starts_with(b"-"));
        if let (Some(value), Some(last)) = (value, request.chosen.last_mut()) {
            last.1 = Some(value.clone());
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    if request.chosen.is_empty() && !request.all {
        let file_size = RESOURCES.iter().filter(|resource| resource.letter == b'f');
        request.chosen.extend(file_size.map(|resource| (resource, rest.first().cloned())));
    }
    Ok(request)
}

/// Soft and hard.
fn limits(shell: &Shell, resource: &Resource) -> (Limit, Limit) {
    if let Some(changed) = shell.resources.get(&resource.letter) {
        return *changed;
    }
    let initial = match resource.initial {
        Initial::Unlimited => None,
        Initial::Fixed(value) => Some(value),
        Initial::OpenFiles => Some(u64::from(shell.control.limits.open_files)),
        Initial::Processes => Some(u64::from(shell.control.limits.processes)),
    };
    (initial, initial)
}

fn change(
    shell: &mut Shell,
    resource: &Resource,
    wanted: &BString,
    request: &Request,
) -> Result<(), ExitStatus> {
    let (soft, hard) = limits(shell, resource);
    let value = match wanted.as_slice() {
        b"hard" => hard,
        b"soft" => soft,
        b"unlimited" => None,
        digits => {
            let value = digits.to_str().ok().and_then(|digits| digits.parse().ok());
            if value.is_none() {
                shell.complain(format!("ulimit: {}: invalid number", wanted.to_str_lossy()));
                return Err(ExitStatus::FAILURE);
            }
            value
        }
    };
    let both = !request.soft && !request.hard;
    let problem = if exceeds(value, hard) {
        Some("Operation not permitted")
    } else if request.hard && !request.soft && exceeds(soft, value) {
        Some("Invalid argument")
    } else {
        None
    };
    if let Some(problem) = problem {
        let name = resource.name;
        shell.complain(format!("ulimit: {name}: cannot modify limit: {problem}"));
        return Err(ExitStatus::FAILURE);
    }
    let soft = if request.soft || both { value } else { soft };
    let hard = if request.hard || both { value } else { hard };
    Arc::make_mut(&mut shell.resources).insert(resource.letter, (soft, hard));
    Ok(())
}

fn exceeds(value: Limit, limit: Limit) -> bool {
    match (value, limit) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(value), Some(limit)) => value > limit,
    }
}

fn line(shell: &Shell, resource: &Resource, hard: bool) -> String {
    let unit = format!("({}-{})", resource.unit, char::from(resource.letter));
    let width = 40_usize.saturating_sub(resource.name.len() + 1);
    let value = show(limits(shell, resource), hard);
    format!("{} {unit:>width$} {value}\n", resource.name)
}

fn show((soft, hard): (Limit, Limit), wants_hard: bool) -> String {
    let limit = if wants_hard { hard } else { soft };
    limit.map_or_else(|| "unlimited".into(), |limit| limit.to_string())
}
