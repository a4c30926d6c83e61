//! Moments as people write them, for `--since`.

use exacta_store::audit::{Moment, now};
use jiff::civil::{Date, DateTime};
use jiff::{Timestamp, tz::TimeZone};

/// `90s`, `10m`, `2h`, `7d` ago; a day, or a day and a time, in UTC unless an offset is given.
pub fn moment(text: &str) -> Option<Moment> {
    if let Some(ago) = ago(text) {
        return Some(now().saturating_sub(ago));
    }
    if let Ok(exact) = text.parse::<Timestamp>() {
        return Some(exact.as_microsecond());
    }
    let civil =
        text.parse::<DateTime>().or_else(|_| text.parse::<Date>().map(|day| day.at(0, 0, 0, 0)));
    let zoned = civil.ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_microsecond())
}

fn ago(text: &str) -> Option<Moment> {
    let unit = text.chars().next_back()?;
    let seconds: Moment = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 7 * 86_400,
        _ => return None,
    };
    let count: Moment = text.strip_suffix(unit)?.parse().ok()?;
    count.checked_mul(seconds)?.checked_mul(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_in_every_spelling() {
        assert_eq!(moment("1970-01-02"), Some(86_400_000_000));
        assert_eq!(moment("1970-01-01 00:01"), Some(60_000_000));
        assert_eq!(moment("1970-01-01T02:00:00+02:00"), Some(0));
        assert!(moment("2h").is_some_and(|ago| now() - ago >= 7_200_000_000));
        for wrong in ["", "x", "5", "-", "h", "yesterday", "99999999999999999999d"] {
            assert_eq!(moment(wrong), None, "{wrong}");
        }
    }
}
