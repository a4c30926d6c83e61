//! How long something may take, as people write it: seconds as a number, or a text with its unit.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;

/// Nobody waits longer for one command. More than this is a slip of the pen, or a way around the limit.
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// As it stands in a file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Written {
    Whole(i64),
    Seconds(f64),
    Text(String),
}

impl Written {
    /// More than nothing.
    pub fn read(&self) -> Result<Duration, String> {
        let length = self.pause()?;
        if length.is_zero() {
            return Err(format!("{self} is no time at all"));
        }
        Ok(length)
    }

    /// It may be none.
    pub fn pause(&self) -> Result<Duration, String> {
        let seconds = match self {
            // Whole seconds are exact far beyond what is let pass.
            Written::Whole(seconds) => Some(*seconds as f64),
            Written::Seconds(seconds) => Some(*seconds),
            Written::Text(text) => seconds_of(text),
        };
        let length = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        match length {
            None => Err(format!("{self} is no length of time")),
            Some(length) if length > LONGEST => Err(format!("{self} is more than a day")),
            Some(length) => Ok(length),
        }
    }
}

impl fmt::Display for Written {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Written::Whole(seconds) => seconds.fmt(formatter),
            // A number of hundreds of digits is nothing to read.
            Written::Seconds(seconds) if seconds.abs() >= 1e15 => write!(formatter, "{seconds:e}"),
            Written::Seconds(seconds) => seconds.fmt(formatter),
            Written::Text(text) => write!(formatter, "{text:?}"),
        }
    }
}

/// `90s`, `2m`, `500ms`, `1h`; a plain number is seconds.
fn seconds_of(text: &str) -> Option<f64> {
    let other = |character: char| !character.is_ascii_digit() && character != '.';
    let (number, unit) = text.split_at(text.find(other).unwrap_or(text.len()));
    let seconds = match unit.trim_start() {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    Some(number * seconds)
}

/// What to write instead.
pub const HINT: &str = "seconds as a number, or a text: \"90s\", \"2m\", \"500ms\"";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_seconds_and_texts_have_units() {
        for (text, expected) in [
            ("90s", Ok(90_000)),
            ("2m", Ok(120_000)),
            ("500ms", Ok(500)),
            ("1.5", Ok(1_500)),
            ("24h", Ok(86_400_000)),
            ("25h", Err("\"25h\" is more than a day")),
            ("0", Err("\"0\" is no time at all")),
            ("-1s", Err("\"-1s\" is no length of time")),
            ("", Err("\"\" is no length of time")),
            ("soon", Err("\"soon\" is no length of time")),
            ("1.2.3s", Err("\"1.2.3s\" is no length of time")),
        ] {
            let found = Written::Text(text.to_owned()).read().map(|length| length.as_millis());
            assert_eq!(found, expected.map_err(str::to_owned), "{text}");
        }
        assert!(Written::Seconds(f64::NAN).read().is_err());
        assert!(Written::Seconds(f64::INFINITY).read().is_err());
        let large = Written::Seconds(1e308).read();
        assert_eq!(large, Err("1e308 is no length of time".to_owned()));
        assert!(Written::Whole(-1).read().is_err());
        assert!(Written::Whole(i64::MAX).read().is_err());
        assert_eq!(Written::Seconds(1.5).read(), Ok(Duration::from_millis(1_500)));
    }
}
