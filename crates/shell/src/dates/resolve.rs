//! From what the items of a date said to the moment they mean.

use super::calendar::Civil;
use super::fields::{Fields, Year};
use super::words::Meridian;
use super::{BILLION, Local, Moment, Zone};

/// `None`: contradictory, or no such time.
pub(super) fn resolve(fields: Fields, now: &Local, zone: &Zone) -> Option<Moment> {
    let seen = &fields.seen;
    let zones = seen.zones + seen.local_zones;
    let counts = [seen.dates, seen.times, seen.days, seen.daylight_savings, zones];
    if counts.iter().any(|count| *count > 1) {
        return None;
    }
    let has_time = seen.times > 0 || (seen.relatives && seen.dates == 0 && seen.days == 0);
    let civil = start(&fields, has_time)?;
    let daylight_saving = if seen.local_zones > 0 {
        Some(fields.local_daylight_saving)
    } else if seen.dates + seen.days + seen.times > 0 {
        None
    } else {
        Some(now.daylight_saving)
    };
    let mut found = Found::exactly(civil, daylight_saving, &fields, zone)?;
    if seen.days > 0 && seen.dates == 0 {
        found = found.on_weekday(&fields, zone)?;
    }
    let relative = &fields.relative;
    if (relative.years, relative.months, relative.days) != (0, 0, 0) {
        let date = found.local;
        let later = Civil {
            year: int(date.year.checked_add(relative.years)?)?,
            month: int(date.month.checked_add(relative.months)?)?,
            day: int(date.day.checked_add(relative.days)?)?,
            ..civil
        };
        found = Found::new(later, daylight_saving, zone, found.offset)?;
    }
    if seen.zones > 0 {
        found.second = found.second.checked_sub(fields.zone - found.offset)?;
    }
    add_time(found.second, if has_time { fields.nanoseconds } else { 0 }, &fields)
}

fn add_time(second: i64, nanoseconds: u32, fields: &Fields) -> Option<Moment> {
    let (seconds, more) = fields.relative.time()?;
    let nanoseconds = nanoseconds + more;
    let seconds = second.checked_add(seconds)?.checked_add(i64::from(nanoseconds / BILLION))?;
    Some(Moment { seconds, nanoseconds: nanoseconds % BILLION })
}

/// Date and time before anything relative is added.
fn start(fields: &Fields, has_time: bool) -> Option<Civil> {
    let date = Civil {
        year: full_year(fields.year)?,
        month: int(fields.month)?,
        day: int(fields.day)?,
        hour: 0,
        minute: 0,
        second: 0,
    };
    if !has_time {
        return Some(date);
    }
    let (minute, second) = (int(fields.minute)?, int(fields.second)?);
    Some(Civil { hour: full_hour(fields.hour, fields.meridian)?, minute, second, ..date })
}

/// Two digits: 69 to 99 belong to the last century.
fn full_year(year: Year) -> Option<i64> {
    let value = match year {
        Year { value: 0..69, digits: 2 } => year.value + 2000,
        Year { value: 69..=99, digits: 2 } => year.value + 1900,
        Year { value, .. } => value.checked_abs()?,
    };
    int(value.checked_sub(1900)?)?;
    Some(value)
}

fn full_hour(hour: i64, meridian: Option<Meridian>) -> Option<i64> {
    match (meridian, hour) {
        (None, 0..=23) | (Some(Meridian::Morning), 1..=11) | (Some(Meridian::Afternoon), 12) => {
            Some(hour)
        }
        (Some(Meridian::Morning), 12) => Some(0),
        (Some(Meridian::Afternoon), 1..=11) => Some(hour + 12),
        _ => None,
    }
}

/// Fields are as wide as a C `int`: what does not fit is no date.
fn int(value: i64) -> Option<i64> {
    i32::try_from(value).ok().map(i64::from)
}

/// A second, and what clocks show then.
struct Found {
    second: i64,
    local: Civil,
    offset: i64,
}

impl Found {
    fn new(civil: Civil, daylight_saving: Option<bool>, zone: &Zone, guess: i64) -> Option<Self> {
        let second = zone.second_of(civil, daylight_saving, guess)?;
        let local = zone.local(Moment::from_seconds(second))?;
        Some(Found { second, local: local.civil, offset: local.offset })
    }

    /// Only if clocks really show it: not 30 February, not an hour that is skipped. A time given with its zone need
    /// not exist in the local one.
    fn exactly(
        civil: Civil,
        daylight_saving: Option<bool>,
        fields: &Fields,
        zone: &Zone,
    ) -> Option<Self> {
        let exact = |found: &Found| found.local == civil;
        Found::new(civil, daylight_saving, zone, 0).filter(exact).or_else(|| {
            let given = (fields.seen.zones > 0).then(|| Zone::fixed(fields.zone))?;
            Found::new(civil, daylight_saving, &given, 0).filter(exact)
        })
    }

    /// `friday` is today or the next one; `next friday` never today; `last friday` before today.
    fn on_weekday(&self, fields: &Fields, zone: &Zone) -> Option<Self> {
        let today = self.local.weekday();
        let ordinal = fields.day_ordinal;
        let weeks = ordinal - i64::from(ordinal > 0 && today != fields.weekday);
        let days = weeks.checked_mul(7)?.checked_add((fields.weekday - today).rem_euclid(7))?;
        let day = int(self.local.day.checked_add(days)?)?;
        Found::new(Civil { day, ..self.local }, None, zone, self.offset)
    }
}
