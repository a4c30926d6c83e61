//! `date`: shows a time, any time, in any format. The clock cannot be set from here.

use bstr::{BStr, BString, ByteSlice};

use super::input::reader;
use super::operations::choice::choose;
use super::operations::{self, misuse};
use super::{Command, Context, Run, ToolError};
use crate::arguments::{Arguments, OptionSpec, both, long};
use crate::dates::{self, Dialect, Moment, Zone};
use crate::filesystem::Follow;
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 13] = [
    both('d', "d", "date", "show this time instead of now").takes("STRING"),
    both('f', "f", "file", "show the time of each line of this file").takes("FILE"),
    both('I', "I", "iso-8601", "ISO 8601: date, hours, minutes, seconds or ns").may_take("FMT"),
    long("resolution", "show how exact times are"),
    both('R', "R", "rfc-email", "the format of mail"),
    OptionSpec { id: "R", ..long("rfc-2822", "the same") },
    OptionSpec { id: "R", ..long("rfc-822", "the same") },
    long("rfc-3339", "RFC 3339: date, seconds or ns").takes("FMT"),
    both('r', "r", "reference", "show when this file was modified").takes("FILE"),
    both('s', "s", "set", "set the clock (not permitted)").takes("STRING"),
    both('u', "u", "utc", "use Coordinated Universal Time"),
    OptionSpec { id: "u", ..long("universal", "the same") },
    OptionSpec { id: "u", ..long("uct", "the same") },
];

pub static COMMAND: Command = Command {
    name: "date",
    synopsis: "date [OPTION]... [+FORMAT]",
    summary: "show the date and time",
    options: &OPTIONS,
    run: Run::Tool(run),
};

const USUAL: &str = "%a %b %e %H:%M:%S %Z %Y";

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = operations::parse(context, &OPTIONS, words)?;
    check_sources(context, &arguments)?;
    let mut format = option_format(context, &arguments)?;
    let to_set = operand(context, &arguments, &mut format)?;
    let format = match format {
        Some(format) => format,
        None if arguments.has("resolution") => "%s.%N".into(),
        None => USUAL.into(),
    };
    let zone = if arguments.has("u") { Zone::utc() } else { Zone::of(context) };
    let shown = Shown { format, zone };
    if let Some(text) = to_set {
        // One does not set the clock of a machine one is confined on, and the syntax of `date MMDDhhmm` has no
        // other use.
        return refuse_to_set(context, text.as_bstr(), &shown);
    }
    if let Some(name) = arguments.value("f") {
        return show_lines(context, name, &shown);
    }
    let now = Moment::from(context.host().now());
    let moment = if arguments.has("resolution") {
        Moment { seconds: 0, nanoseconds: 1 }
    } else if let Some(name) = arguments.value("r") {
        match operations::metadata(context, name, Follow::Yes) {
            Ok(found) => found.modified.into(),
            Err(error) => {
                context.complain_of(name, &error);
                return Ok(ExitStatus::FAILURE);
            }
        }
    } else if let Some(text) = arguments.value("s").or(arguments.value("d")) {
        match dates::parse(text, now, &shown.zone) {
            Some(moment) => moment,
            None => return Ok(invalid(context, text)),
        }
    } else {
        now
    };
    let permitted = !arguments.has("s");
    if !permitted {
        context.complain("cannot set date: Operation not permitted");
    }
    let success = shown.show(context, moment)?;
    Ok(ExitStatus::from_bool(success && permitted))
}

/// At most one way to say which time.
fn check_sources(context: &Context<'_>, arguments: &Arguments) -> Result<(), ToolError> {
    let sources = ["d", "f", "r", "resolution"];
    let count = sources.iter().filter(|id| arguments.has(id)).count();
    if count > 1 {
        let message = "the options to specify dates for printing are mutually exclusive";
        return Err(misuse(context, message));
    }
    if count == 1 && arguments.has("s") {
        let message = "the options to print and set the time may not be used together";
        return Err(misuse(context, message));
    }
    Ok(())
}

/// The format that `-I`, `-R` or `--rfc-3339` stand for.
fn option_format(
    context: &Context<'_>,
    arguments: &Arguments,
) -> Result<Option<BString>, ToolError> {
    let mut format = None;
    for option in &arguments.options {
        let value = option.value.as_ref().map(|value| value.as_bstr());
        let chosen = match option.id {
            "I" => {
                let rows: [&[&str]; 5] =
                    [&["hours"], &["minutes"], &["date"], &["seconds"], &["ns"]];
                let value = value.unwrap_or(BStr::new("date"));
                match choose(context, "--iso-8601", value, &rows)? {
                    0 => "%Y-%m-%dT%H%:z",
                    1 => "%Y-%m-%dT%H:%M%:z",
                    2 => "%Y-%m-%d",
                    3 => "%Y-%m-%dT%H:%M:%S%:z",
                    _ => "%Y-%m-%dT%H:%M:%S,%N%:z",
                }
            }
            "rfc-3339" => {
                let rows: [&[&str]; 3] = [&["date"], &["seconds"], &["ns"]];
                match choose(context, "--rfc-3339", value.unwrap_or_default(), &rows)? {
                    0 => "%Y-%m-%d",
                    1 => "%Y-%m-%d %H:%M:%S%:z",
                    _ => "%Y-%m-%d %H:%M:%S.%N%:z",
                }
            }
            "R" => "%a, %d %b %Y %H:%M:%S %z",
            _ => continue,
        };
        if format.replace(BString::from(chosen)).is_some() {
            return Err(ToolError::usage("multiple output formats specified"));
        }
    }
    Ok(format)
}

/// `+FORMAT`, or else a time to set the clock to.
fn operand(
    context: &Context<'_>,
    arguments: &Arguments,
    format: &mut Option<BString>,
) -> Result<Option<BString>, ToolError> {
    let Some(operand) = arguments.operands.first() else { return Ok(None) };
    if let Some(extra) = arguments.operands.get(1) {
        let extra = extra.to_str_lossy();
        return Err(misuse(context, format!("extra operand '{extra}'")));
    }
    if let Some(given) = operand.strip_prefix(b"+") {
        if format.replace(given.into()).is_some() {
            return Err(ToolError::usage("multiple output formats specified"));
        }
        return Ok(None);
    }
    if ["d", "f", "r", "s"].iter().any(|id| arguments.has(id)) {
        let operand = operand.to_str_lossy();
        let message = format!(
            "the argument '{operand}' lacks a leading '+';\nwhen using an option to specify date(s), \
             any non-option\nargument must be a format string beginning with '+'"
        );
        return Err(misuse(context, message));
    }
    Ok(Some(operand.clone()))
}

struct Shown {
    format: BString,
    zone: Zone,
}

impl Shown {
    fn show(&self, context: &mut Context<'_>, moment: Moment) -> Result<bool, ToolError> {
        let Some(local) = self.zone.local(moment) else {
            context.complain(format!("time '{}' is out of range", moment.seconds));
            return Ok(false);
        };
        let mut line = Vec::new();
        dates::format(&mut line, self.format.as_bstr(), &local, Dialect::Gnu);
        context.output.line(&line)?;
        Ok(true)
    }
}

fn invalid(context: &mut Context<'_>, text: &BStr) -> ExitStatus {
    operations::say(context, &[b"invalid date '", text, b"'"]);
    ExitStatus::FAILURE
}

/// `MMDDhhmm[[CC]YY][.ss]` asks to set the clock.
fn refuse_to_set(
    context: &mut Context<'_>,
    text: &BStr,
    shown: &Shown,
) -> Result<ExitStatus, ToolError> {
    let year_first = || -> Option<BString> {
        let mut parts = text.splitn(2, |byte| *byte == b'.');
        let (digits, seconds) = (parts.next()?, parts.next());
        let (date, year) = digits.split_at_checked(8)?;
        let mut stamp = BString::from([year, date].concat());
        if let Some(seconds) = seconds {
            stamp.push(b'.');
            stamp.extend_from_slice(seconds);
        }
        Some(stamp)
    };
    let now = Moment::from(context.host().now());
    let moment =
        year_first().and_then(|stamp| super::touch::parse_stamp(stamp.as_bstr(), now, &shown.zone));
    let Some(moment) = moment else { return Ok(invalid(context, text)) };
    context.complain("cannot set date: Operation not permitted");
    shown.show(context, moment)?;
    Ok(ExitStatus::FAILURE)
}

/// `-f`: a date on each line.
fn show_lines(
    context: &mut Context<'_>,
    name: &BStr,
    shown: &Shown,
) -> Result<ExitStatus, ToolError> {
    let file = match context.open(name) {
        Ok(file) => file,
        Err(error) => {
            context.interrupted(&error)?;
            context.complain_of(name, &error);
            return Ok(ExitStatus::FAILURE);
        }
    };
    let mut lines = reader(context, &file);
    let mut success = true;
    loop {
        let line = match lines.next_line() {
            Ok(Some(line)) => BString::from(line.strip_suffix(b"\n").unwrap_or(line)),
            Ok(None) => break,
            Err(error) => {
                context.interrupted(&error)?;
                context.complain_of(name, &error);
                return Ok(ExitStatus::FAILURE);
            }
        };
        let now = Moment::from(context.host().now());
        success &= match dates::parse(line.as_bstr(), now, &shown.zone) {
            Some(moment) => shown.show(context, moment)?,
            None => invalid(context, line.as_bstr()).success(),
        };
    }
    Ok(ExitStatus::from_bool(success))
}
