//! How long something may take, as people write it: seconds as a number, or a text with its unit.

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
    pub fn read(&self) -> Result<Duration, String> {
        match self {
            Written::Whole(seconds) => {
                let seconds = u64::try_from(*seconds).map_err(|_| not_one(seconds))?;
                bounded(Duration::from_secs(seconds), seconds)
            }
            Written::Seconds(seconds) => of_seconds(*seconds, seconds),
            Written::Text(text) => of_text(text),
        }
    }
}

/// `90s`, `2m`, `500ms`, `1h`; a plain number is seconds.
pub fn of_text(text: &str) -> Result<Duration, String> {
    let written = format!("{text:?}");
    let other = |character: char| !character.is_ascii_digit() && character != '.';
    let (number, unit) = text.split_at(text.find(other).unwrap_or(text.len()));
    let seconds = match unit.trim_start() {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(not_one(written)),
    };
    let number: f64 = number.parse().map_err(|_| not_one(&written))?;
    of_seconds(number * seconds, written)
}

fn of_seconds(seconds: f64, written: impl std::fmt::Display) -> Result<Duration, String> {
    let length = Duration::try_from_secs_f64(seconds).map_err(|_| not_one(&written))?;
    bounded(length, written)
}

/// More than nothing, and no more than anybody waits.
fn bounded(length: Duration, written: impl std::fmt::Display) -> Result<Duration, String> {
    if length.is_zero() {
        return Err(format!("{written} is no time at all"));
    }
    if length > LONGEST {
        return Err(format!("{written} is more than a day"));
    }
    Ok(length)
}

fn not_one(written: impl std::fmt::Display) -> String {
    format!("{written} is no length of time")
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
            let found = of_text(text).map(|length| length.as_millis());
            assert_eq!(found, expected.map_err(str::to_owned), "{text}");
        }
        assert!(Written::Seconds(f64::NAN).read().is_err());
        assert!(Written::Seconds(f64::INFINITY).read().is_err());
        assert!(Written::Whole(-1).read().is_err());
        assert!(Written::Whole(i64::MAX).read().is_err());
        assert_eq!(Written::Seconds(1.5).read(), Ok(Duration::from_millis(1_500)));
    }
}
