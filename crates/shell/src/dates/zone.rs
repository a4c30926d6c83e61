//! Time zones: what `TZ` names, and local time in it.

use std::sync::LazyLock;

use bstr::{BStr, ByteSlice};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};

use super::Moment;
use super::calendar::{CYCLE, CYCLE_YEARS, Civil};
use crate::builtins::Context;
use crate::shell::Shell;

static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

#[derive(Debug, Clone)]
pub struct Zone {
    rules: Rules,
}

#[derive(Debug, Clone)]
enum Rules {
    Known(TimeZone),
    /// UTC under a name: what the C library makes of a `TZ` that it does not understand.
    Named(String),
    /// A fixed number of seconds east of Greenwich.
    Fixed(i64),
}

/// Local time with all that formats can ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Local {
    pub civil: Civil,
    pub moment: Moment,
    /// Seconds east of Greenwich.
    pub offset: i64,
    pub daylight_saving: bool,
    pub abbreviation: String,
}

struct OffsetInfo {
    offset: i64,
    daylight_saving: bool,
    abbreviation: String,
}

impl Zone {
    pub fn utc() -> Self {
        Zone { rules: Rules::Named("UTC".to_owned()) }
    }

    pub(crate) fn fixed(offset: i64) -> Self {
        Zone { rules: Rules::Fixed(offset) }
    }

    /// The zone in force for a tool: exported `TZ`, else what the host says.
    pub fn of(context: &Context<'_>) -> Self {
        let variable = context.variable("TZ");
        let host = context.host();
        Self::choose(variable.as_ref().map(|value| value.as_bstr()), &host.identity().time_zone)
    }

    /// The same for a builtin, for which `TZ` counts without being exported.
    pub fn of_shell(shell: &Shell) -> Self {
        let variable = shell.scalar_of(b"TZ".as_bstr());
        Self::choose(variable.as_deref(), &shell.host.identity().time_zone)
    }

    /// What a value of `TZ` means; without one, the name of the host's zone.
    pub fn choose(variable: Option<&BStr>, otherwise: &str) -> Self {
        match variable {
            Some(value) => Self::named(value),
            None => Self::named(otherwise.as_bytes().as_bstr()),
        }
    }

    /// A value of `TZ`: `Europe/Berlin`, `:Europe/Berlin`, `CET-1CEST,M3.5.0,M10.5.0/3`; empty is UTC.
    pub fn named(value: &BStr) -> Self {
        let name = value.strip_prefix(b":").unwrap_or(value);
        let Ok(name) = name.to_str() else { return Self::utc() };
        if name.is_empty() {
            return Self::utc();
        }
        let rules = match from_database(name).or_else(|| from_rule(name)) {
            Some(zone) => Rules::Known(zone),
            None => Rules::Named(leading_name(name).to_owned()),
        };
        Zone { rules }
    }

    /// `None`: the year does not fit.
    pub fn local(&self, moment: Moment) -> Option<Local> {
        let info = self.info(moment.seconds);
        let civil = Civil::from_seconds(moment.seconds.checked_add(info.offset)?);
        i32::try_from(civil.year.checked_sub(1900)?).ok()?;
        Some(Local {
            civil,
            moment,
            offset: info.offset,
            daylight_saving: info.daylight_saving,
            abbreviation: info.abbreviation,
        })
    }

    /// As mktime(3): the second at which clocks show `civil`, fields out of range carried over. A time that clocks
    /// skip is moved forward. Of one they show twice, `daylight_saving` says which; if it does not, it is the one that
    /// the C library finds from a `guess` of the offset.
    pub(crate) fn second_of(
        &self,
        civil: Civil,
        daylight_saving: Option<bool>,
        guess: i64,
    ) -> Option<i64> {
        let shown = civil.to_seconds()?;
        let offset = match &self.rules {
            Rules::Known(zone) => self.offset_for(zone, shown, daylight_saving, guess)?,
            Rules::Named(_) => 0,
            Rules::Fixed(offset) => *offset,
        };
        shown.checked_sub(offset)
    }

    /// The second at which clocks show `civil`; `None` if they never do.
    pub fn exact_second_of(&self, civil: Civil) -> Option<i64> {
        let second = self.second_of(civil, None, 0)?;
        (self.local(Moment::from_seconds(second))?.civil == civil).then_some(second)
    }

    fn offset_for(
        &self,
        zone: &TimeZone,
        shown: i64,
        wanted: Option<bool>,
        guess: i64,
    ) -> Option<i64> {
        let (first, second) = match zone.to_ambiguous_timestamp(civil_time(shown)?).offset() {
            AmbiguousOffset::Unambiguous { offset } => (offset, offset),
            AmbiguousOffset::Gap { before, after } => {
                if wanted.is_none() {
                    return Some(seconds_of(before));
                }
                (before, after)
            }
            AmbiguousOffset::Fold { before, after } => (before, after),
        };
        let (first, second) = (seconds_of(first), seconds_of(second));
        let Some(wanted) = wanted else {
            let guessed = self.info(shown.saturating_sub(guess)).offset;
            return Some(if guessed == second { second } else { first });
        };
        let fits =
            |offset: &i64| self.info(shown.saturating_sub(*offset)).daylight_saving == wanted;
        [first, second]
            .into_iter()
            .find(fits)
            .or_else(|| self.nearby_offset(shown.saturating_sub(first), wanted))
            .or(Some(first))
    }

    /// The offset in force near a time when daylight saving is as wanted: 10:00 EDT means something in winter too.
    fn nearby_offset(&self, second: i64, wanted: bool) -> Option<i64> {
        const STRIDE: i64 = 601_200;
        (1..=120).flat_map(|step| [-step * STRIDE, step * STRIDE]).find_map(|distance| {
            let info = self.info(second.checked_add(distance)?);
            (info.daylight_saving == wanted).then_some(info.offset)
        })
    }

    fn info(&self, second: i64) -> OffsetInfo {
        let utc = |abbreviation: &str, offset| OffsetInfo {
            offset,
            daylight_saving: false,
            abbreviation: abbreviation.to_owned(),
        };
        match &self.rules {
            Rules::Named(name) => utc(name, 0),
            Rules::Fixed(offset) => utc("", *offset),
            Rules::Known(zone) => {
                let info = zone.to_offset_info(timestamp(second));
                OffsetInfo {
                    offset: seconds_of(info.offset()),
                    daylight_saving: info.dst().is_dst(),
                    abbreviation: info.abbreviation().to_owned(),
                }
            }
        }
    }
}

fn seconds_of(offset: Offset) -> i64 {
    i64::from(offset.seconds())
}

/// Rules repeat with the calendar, so a year past the database's range is judged by one within it.
fn timestamp(second: i64) -> Timestamp {
    // From the year 9500 on, and before -9500, where nothing was ruled.
    const LATE: i64 = 237_600_000_000;
    const EARLY: i64 = -361_000_000_000;
    let within =
        if second > LATE { LATE - CYCLE + (second - LATE) % CYCLE } else { second.max(EARLY) };
    Timestamp::from_second(within).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn civil_time(shown: i64) -> Option<DateTime> {
    let civil = Civil::from_seconds(shown);
    let year = if civil.year > 9500 {
        9500 - CYCLE_YEARS + (civil.year - 9500) % CYCLE_YEARS
    } else if civil.year < -9500 {
        -9500 + civil.year.rem_euclid(CYCLE_YEARS) - (-9500i64).rem_euclid(CYCLE_YEARS)
    } else {
        civil.year
    };
    let year = i16::try_from(year.clamp(-9998, 9998)).ok()?;
    let [month, day, hour, minute, second] =
        [civil.month, civil.day, civil.hour, civil.minute, civil.second]
            .map(|field| i8::try_from(field).unwrap_or(1));
    DateTime::new(year, month, day, hour, minute, second, 0).ok()
}

/// Names are matched to the letter, as in a directory of zone files.
fn from_database(name: &str) -> Option<TimeZone> {
    let name = name.strip_prefix("/usr/share/zoneinfo/").unwrap_or(name);
    let name = name.strip_prefix("posix/").unwrap_or(name);
    let zone = DATABASE.get(name).ok()?;
    (zone.iana_name() == Some(name)).then_some(zone)
}

/// `EST5EDT` without dates changes when the United States do.
fn from_rule(rule: &str) -> Option<TimeZone> {
    if !rule.starts_with(|first: char| first.is_ascii_alphabetic() || first == '<') {
        return None;
    }
    let with_dates = || TimeZone::posix(&format!("{rule},M3.2.0,M11.1.0")).ok();
    TimeZone::posix(rule).ok().or_else(with_dates)
}

/// `TZ=Foo` is UTC by the name of `Foo`.
fn leading_name(value: &str) -> &str {
    let end = value.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(value.len());
    value.get(..end).filter(|name| name.len() >= 3).unwrap_or_default()
}
