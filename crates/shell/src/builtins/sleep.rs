//! `sleep`: waits, and ends at once when the request does.

use std::time::Duration;

use bstr::{BStr, BString, ByteSlice};

use super::{Command, Context, Run, ToolError, input};
use crate::arguments::{self, Order};
use crate::float;
use crate::status::ExitStatus;

pub static COMMAND: Command = Command {
    name: "sleep",
    synopsis: "sleep NUMBER[SUFFIX]...",
    summary: "wait for the sum of the times: seconds, or with m, h, d minutes, hours, days",
    options: &[],
    run: Run::Tool(run),
};

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let hint = |message: String| ToolError::hinted("sleep", message, ExitStatus::FAILURE);
    let arguments = arguments::parse(COMMAND.options, words, Order::Anywhere)?;
    if arguments.operands.is_empty() {
        return Err(hint("missing operand".to_owned()));
    }
    let mut total = Duration::ZERO;
    let mut wrong = Vec::new();
    for operand in &arguments.operands {
        if let Some(time) = interval(operand.as_bstr()) {
            total = total.saturating_add(time);
        } else {
            let text = input::shown(operand.as_bstr());
            wrong.push(format!("invalid time interval {text}"));
        }
    }
    if !wrong.is_empty() {
        return Err(hint(wrong.join("\nsleep: ")));
    }
    context.control().sleep(total)?;
    Ok(ExitStatus::SUCCESS)
}

/// `1.5`, `2m`, `infinity`
fn interval(text: &BStr) -> Option<Duration> {
    let (number, factor) = match text.split_last() {
        Some((b's', number)) => (number, 1.0),
        Some((b'm', number)) => (number, 60.0),
        Some((b'h', number)) => (number, 3_600.0),
        Some((b'd', number)) => (number, 86_400.0),
        _ => (text.as_bytes(), 1.0),
    };
    // "infinity" ends in no suffix, but "infd" and "inf" with one are numbers as well.
    duration(number, factor).or_else(|| duration(text, 1.0))
}

/// A number of seconds as `tail -s` and `sleep` take it; `None` if it is none, or negative.
pub fn seconds(text: &BStr) -> Option<Duration> {
    duration(text, 1.0)
}

fn duration(text: &[u8], factor: f64) -> Option<Duration> {
    let seconds = float::parse(text)? * factor;
    if seconds.is_nan() || seconds < 0.0 {
        return None;
    }
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let cases = [
            ("1", Some(1.0)),
            ("0.5", Some(0.5)),
            (".5", Some(0.5)),
            ("1e-3", Some(0.001)),
            ("2m", Some(120.0)),
            ("1.5h", Some(5400.0)),
            ("1d", Some(86400.0)),
            ("0x10", Some(16.0)),
            ("0x.8p1", Some(1.0)),
            ("", None),
            ("s", None),
            ("-1", None),
            ("1x", None),
            ("1ms", None),
            ("nan", None),
        ];
        for (text, expected) in cases {
            let expected = expected.map(Duration::from_secs_f64);
            assert_eq!(interval(text.into()), expected, "{text:?}");
        }
        assert_eq!(interval("infinity".into()), Some(Duration::MAX));
        assert_eq!(interval("inf".into()), Some(Duration::MAX));
    }
}
