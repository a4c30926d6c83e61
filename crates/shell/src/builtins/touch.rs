//! `touch`: sets the times of files, and makes those that are missing.

use std::io;
use std::time::SystemTime;

use bstr::{BStr, BString, ByteSlice};

use super::operations::choice::choose;
use super::operations::{self, fail, misuse};
use super::{Command, Context, Run, ToolError};
use crate::arguments::{Arguments, OptionSpec, both, flag, long};
use crate::dates::{self, Civil, Moment, Zone};
use crate::errno;
use crate::filesystem::{Follow, OpenOptions};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 9] = [
    flag('a', "a", "change the time of access only"),
    both('c', "c", "no-create", "make no files"),
    both('d', "d", "date", "use this time instead of now").takes("STRING"),
    flag('f', "f", "accepted and without effect"),
    both('h', "h", "no-dereference", "change symbolic links themselves"),
    flag('m', "m", "change the time of modification only"),
    both('r', "r", "reference", "use the times of this file").takes("FILE"),
    flag('t', "t", "use [[CC]YY]MMDDhhmm[.ss] instead of now").takes("STAMP"),
    long("time", "which time to change: access (-a) or modify (-m)").takes("WORD"),
];

pub static COMMAND: Command = Command {
    name: "touch",
    synopsis: "touch [OPTION]... FILE...",
    summary: "set the times of files; make those that are missing",
    options: &OPTIONS,
    run: Run::Tool(run),
};

struct Toucher {
    accessed: Option<SystemTime>,
    modified: Option<SystemTime>,
    /// Times were given: a file that is made gets them, too.
    explicit: bool,
    missing: Missing,
    follow: Follow,
}

/// What happens about a file that is not there.
enum Missing {
    Make,
    /// `-c`
    Ignore,
    /// `-h`: a link that is missing cannot be made.
    Report,
}

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = operations::parse(context, &OPTIONS, words)?;
    let (mut access, mut modification) = (arguments.has("a"), arguments.has("m"));
    if let Some(word) = arguments.value("time") {
        let rows: [&[&str]; 2] = [&["atime", "access", "use"], &["mtime", "modify"]];
        match choose(context, "--time", word, &rows)? {
            0 => access = true,
            _ => modification = true,
        }
    }
    if !access && !modification {
        (access, modification) = (true, true);
    }
    let Some((accessed, modified)) = times(context, &arguments)? else {
        return Ok(ExitStatus::FAILURE);
    };
    if arguments.operands.is_empty() {
        return Err(misuse(context, "missing file operand"));
    }
    let explicit = ["d", "t", "r"].iter().any(|id| arguments.has(id)) || !access || !modification;
    let toucher = Toucher {
        accessed: access.then_some(accessed),
        modified: modification.then_some(modified),
        explicit,
        missing: match (arguments.has("c"), arguments.has("h")) {
            (true, _) => Missing::Ignore,
            (false, true) => Missing::Report,
            (false, false) => Missing::Make,
        },
        follow: if arguments.has("h") { Follow::No } else { Follow::Yes },
    };
    if arguments.operands.iter().any(|operand| operand == "-") {
        return Err(ToolError::Unsupported("touching standard output (-)".to_owned()));
    }
    let mut success = true;
    for operand in &arguments.operands {
        context.control().check()?;
        success &= toucher.touch(context, operand.as_bstr());
    }
    Ok(ExitStatus::from_bool(success))
}

impl Toucher {
    /// `false`: something was reported.
    fn touch(&self, context: &mut Context<'_>, name: &BStr) -> bool {
        let path = context.path(name);
        let error = match self.set_times(context, path.as_bstr()) {
            Ok(()) => return true,
            Err(error) => error,
        };
        if !errno::is(&error, errno::ENOENT) {
            fail(context, "setting times of", name, &error);
            return false;
        }
        match self.missing {
            Missing::Make => {}
            Missing::Ignore => return true,
            Missing::Report => {
                context.complain_of(name, &error);
                return false;
            }
        }
        match self.make(context, name) {
            Ok(()) => true,
            Err(error) if errno::is(&error, errno::EISDIR) => {
                context.complain_of(name, &errno::error(errno::ENOENT));
                false
            }
            Err(error) => {
                fail(context, "cannot touch", name, &error);
                false
            }
        }
    }

    fn set_times(&self, context: &Context<'_>, path: &BStr) -> io::Result<()> {
        context.files().set_times(path, self.accessed, self.modified, self.follow)
    }

    fn make(&self, context: &Context<'_>, name: &BStr) -> io::Result<()> {
        let mode = context.masked(0o666);
        let options = OpenOptions { write: true, create: true, mode, ..OpenOptions::default() };
        context.open_with(name, options)?.finish()?;
        if self.explicit {
            self.set_times(context, context.path(name).as_bstr())?;
        }
        Ok(())
    }
}

/// Times of access and modification to set. `None`: it was reported that there are none.
fn times(
    context: &mut Context<'_>,
    arguments: &Arguments,
) -> Result<Option<(SystemTime, SystemTime)>, ToolError> {
    let now = context.host().now();
    let (date, stamp) = (arguments.value("d"), arguments.value("t"));
    let reference = arguments.value("r");
    if stamp.is_some() && (date.is_some() || reference.is_some()) {
        return Err(misuse(context, "cannot specify times from more than one source"));
    }
    if let Some(stamp) = stamp {
        let time = parse_stamp(stamp, now.into(), &Zone::of(context));
        let time = time.and_then(Moment::to_system_time).ok_or_else(|| invalid(stamp))?;
        return Ok(Some((time, time)));
    }
    let (accessed, modified) = match reference {
        None => (now, now),
        Some(name) => {
            let follow = if arguments.has("h") { Follow::No } else { Follow::Yes };
            match operations::metadata(context, name, follow) {
                Ok(found) => (found.accessed, found.modified),
                Err(error) => {
                    fail(context, "failed to get attributes of", name, &error);
                    return Ok(None);
                }
            }
        }
    };
    let Some(date) = date else { return Ok(Some((accessed, modified))) };
    let zone = Zone::of(context);
    let parse = |base: SystemTime| {
        let moment = dates::parse(date, base.into(), &zone);
        moment.and_then(Moment::to_system_time).ok_or_else(|| invalid(date))
    };
    Ok(Some((parse(accessed)?, parse(modified)?)))
}

fn invalid(text: &BStr) -> ToolError {
    ToolError::usage(format!("invalid date format '{}'", text.to_str_lossy()))
}

/// `[[CC]YY]MMDDhhmm[.ss]`, as POSIX has it.
pub(super) fn parse_stamp(stamp: &BStr, now: Moment, zone: &Zone) -> Option<Moment> {
    let mut parts = stamp.splitn(2, |byte| *byte == b'.');
    let (digits, seconds) = (parts.next()?, parts.next());
    let pair = |text: &[u8]| match text {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => {
            Some(i64::from((tens - b'0') * 10 + ones - b'0'))
        }
        _ => None,
    };
    let pairs: Vec<i64> = digits.chunks(2).map(pair).collect::<Option<_>>()?;
    let second = seconds.map_or(Some(0), pair)?;
    let (year, rest) = match pairs.as_slice() {
        [century, year, rest @ ..] if rest.len() == 4 => (century * 100 + year, rest),
        [year, rest @ ..] if rest.len() == 4 => (year + if *year < 69 { 2000 } else { 1900 }, rest),
        rest if rest.len() == 4 => (zone.local(now)?.civil.year, rest),
        _ => return None,
    };
    let &[month, day, hour, minute] = rest else { return None };
    // Clocks may show a leap second; ours do not, so it is the next one.
    let (shown, leap) = if second == 60 { (59, 1) } else { (second, 0) };
    let civil = Civil { year, month, day, hour, minute, second: shown };
    let second = zone.exact_second_of(civil)?;
    Some(Moment::from_seconds(second + leap))
}
