//! Dates as GNU programs read and write them: for `date`, `touch`, `ls`, `find -newermt`, `stat`, `printf '%()T'`.
//!
//! Calendar arithmetic is our own, over years that a `time_t` can hold; only the rules of time zones come from the
//! bundled database, never from the host.

mod calendar;
mod directive;
mod fields;
mod format;
mod lex;
mod parse;
mod resolve;
#[cfg(test)]
mod tests;
mod words;
mod zone;

use std::time::{Duration, SystemTime};

pub use calendar::Civil;
pub use format::{Dialect, format};
pub use parse::parse;
pub use zone::{Local, Zone};

/// A point in time: seconds since 1970 and the nanoseconds after that second, also before 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    pub seconds: i64,
    pub nanoseconds: u32,
}

pub(crate) const BILLION: u32 = 1_000_000_000;

impl Moment {
    pub fn from_seconds(seconds: i64) -> Self {
        Moment { seconds, nanoseconds: 0 }
    }

    /// `None`: the system's clock cannot show it.
    pub fn to_system_time(self) -> Option<SystemTime> {
        let nanoseconds = Duration::from_nanos(u64::from(self.nanoseconds));
        let whole = Duration::from_secs(self.seconds.unsigned_abs());
        let second = if self.seconds < 0 {
            SystemTime::UNIX_EPOCH.checked_sub(whole)
        } else {
            SystemTime::UNIX_EPOCH.checked_add(whole)
        };
        second?.checked_add(nanoseconds)
    }
}

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Moment {
                seconds: i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
                nanoseconds: after.subsec_nanos(),
            },
            Err(before) => {
                let before = before.duration();
                let seconds = i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
                match before.subsec_nanos() {
                    0 => Moment::from_seconds(-seconds),
                    fraction => Moment { seconds: -seconds - 1, nanoseconds: BILLION - fraction },
                }
            }
        }
    }
}

#[cfg(test)]
mod moment_tests {
    use super::*;

    #[test]
    fn moments_before_1970_round_trip() {
        for (seconds, nanoseconds) in [(0, 0), (-1, 500_000_000), (-1, 0), (1, 1), (-86_400, 7)] {
            let moment = Moment { seconds, nanoseconds };
            assert_eq!(moment.to_system_time().map(Moment::from), Some(moment));
        }
    }
}
