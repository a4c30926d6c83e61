//! `sleep`: waits, and ends at once when the request does.

use std::time::Duration;

use bstr::{BStr, BString, ByteSlice};

use super::{Command, Context, Run, ToolError, input};
use crate::arguments::{self, Order};
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
    let seconds = parse_float(text)? * factor;
    if seconds.is_nan() || seconds < 0.0 {
        return None;
    }
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// As strtod(3) reads a whole word: decimal or hexadecimal, `inf`, `nan`, leading blanks.
pub fn parse_float(text: &[u8]) -> Option<f64> {
    let text = text.trim_start_with(|c| c.is_ascii_whitespace()).to_str().ok()?;
    let (negative, digits) = match text.split_at_checked(1) {
        Some(("-", rest)) => (true, rest),
        Some(("+", rest)) => (false, rest),
        _ => (false, text),
    };
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let value = match hexadecimal {
        Some(digits) => parse_hexadecimal(digits)?,
        None if digits.starts_with(['+', '-']) => return None,
        None => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0_f64;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let shift = exponent.saturating_sub(i32::try_from(fraction.len() * 4).unwrap_or(i32::MAX));
    Some(value * 2.0_f64.powi(shift))
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
