//! What the items of a date have said so far.

use super::lex::{Decimal, Number};
use super::words::{Meridian, Unit};
use super::{BILLION, Local};

#[derive(Debug)]
pub(super) struct Fields {
    pub year: Year,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub nanoseconds: u32,
    pub meridian: Option<Meridian>,
    /// `third friday`: 3; a bare weekday: 0.
    pub day_ordinal: i64,
    pub weekday: i64,
    /// Seconds east of Greenwich, if `seen.zones`.
    pub zone: i64,
    pub local_daylight_saving: bool,
    pub relative: Relative,
    pub seen: Seen,
}

/// The number of digits decides whether the century is left out; 0 digits: nobody gave a year.
#[derive(Debug, Clone, Copy)]
pub(super) struct Year {
    pub value: i64,
    pub digits: usize,
}

/// How often each kind of item was given: more than once is an error, except for relative ones.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub dates: u32,
    pub times: u32,
    pub days: u32,
    pub zones: u32,
    pub local_zones: u32,
    pub daylight_savings: u32,
    pub relatives: bool,
}

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Relative {
    pub years: i64,
    pub months: i64,
    pub days: i64,
    pub hours: i64,
    pub minutes: i64,
    pub seconds: i64,
    /// May be negative or more than a second.
    pub nanoseconds: i64,
}

impl Relative {
    pub(super) fn of(unit: Unit, count: i64) -> Self {
        let mut relative = Relative::default();
        match unit {
            Unit::Year => relative.years = count,
            Unit::Month => relative.months = count,
            Unit::Day => relative.days = count,
            Unit::Hour => relative.hours = count,
            Unit::Minute => relative.minutes = count,
            Unit::Second => relative.seconds = count,
        }
        relative
    }

    pub(super) fn of_decimal(decimal: Decimal) -> Self {
        let nanoseconds = i64::from(decimal.nanoseconds);
        Relative { seconds: decimal.seconds, nanoseconds, ..Relative::default() }
    }

    fn plus(self, other: Relative, factor: i64) -> Option<Relative> {
        let sum = |one: i64, other: i64| one.checked_add(other.checked_mul(factor)?);
        Some(Relative {
            years: sum(self.years, other.years)?,
            months: sum(self.months, other.months)?,
            days: sum(self.days, other.days)?,
            hours: sum(self.hours, other.hours)?,
            minutes: sum(self.minutes, other.minutes)?,
            seconds: sum(self.seconds, other.seconds)?,
            nanoseconds: sum(self.nanoseconds, other.nanoseconds)?,
        })
    }

    /// Hours, minutes and seconds as seconds and nanoseconds.
    pub(super) fn time(&self) -> Option<(i64, u32)> {
        let billion = i64::from(BILLION);
        let seconds = self.hours.checked_mul(3600)?.checked_add(self.minutes.checked_mul(60)?)?;
        let carried = self.nanoseconds.div_euclid(billion);
        let seconds = seconds.checked_add(self.seconds)?.checked_add(carried)?;
        Some((seconds, self.nanoseconds.rem_euclid(billion) as u32))
    }
}

impl Fields {
    pub(super) fn new(now: &Local) -> Self {
        Fields {
            year: Year { value: now.civil.year, digits: 0 },
            month: now.civil.month,
            day: now.civil.day,
            hour: now.civil.hour,
            minute: now.civil.minute,
            second: now.civil.second,
            nanoseconds: now.moment.nanoseconds,
            meridian: None,
            day_ordinal: 0,
            weekday: 0,
            zone: 0,
            local_daylight_saving: false,
            relative: Relative::default(),
            seen: Seen::default(),
        }
    }

    pub(super) fn set_time(&mut self, hour: i64, minute: i64, second: Decimal) {
        (self.hour, self.minute, self.second) = (hour, minute, second.seconds);
        self.nanoseconds = second.nanoseconds;
        self.meridian = None;
    }

    pub(super) fn set_date(&mut self, year: Option<Number>, month: i64, day: i64) {
        if let Some(year) = year {
            // `5-jan-2024` has its dashes read as signs.
            let value = if year.negative { year.value.saturating_neg() } else { year.value };
            self.year = Year { value, digits: year.digits };
        }
        (self.month, self.day) = (month, day);
    }

    pub(super) fn add(&mut self, relative: Relative, factor: i64) -> Option<()> {
        self.relative = self.relative.plus(relative, factor)?;
        self.seen.relatives = true;
        Some(())
    }

    /// `20240131`, `1430`, `9`, or the year after a date.
    pub(super) fn set_number(&mut self, number: Number) {
        let Number { value, digits, .. } = number;
        let is_year = self.seen.dates > 0
            && self.year.digits == 0
            && !self.seen.relatives
            && (self.seen.times > 0 || digits > 2);
        if is_year {
            self.year = Year { value, digits };
        } else if digits > 4 {
            self.seen.dates += 1;
            self.day = value % 100;
            self.month = value / 100 % 100;
            self.year = Year { value: value / 10_000, digits: digits - 4 };
        } else {
            self.seen.times += 1;
            let (hour, minute) = if digits <= 2 { (value, 0) } else { (value / 100, value % 100) };
            self.set_time(hour, minute, Decimal { seconds: 0, nanoseconds: 0 });
        }
    }

    /// `+2`, `-0530`, `+5:30` behind a time. `None`: more than a day.
    pub(super) fn set_zone(&mut self, hours: Number, minutes: Option<i64>) -> Option<()> {
        let total = match minutes {
            None if hours.digits <= 2 => hours.value.checked_mul(60)?,
            None => (hours.value / 100).checked_mul(60)?.checked_add(hours.value % 100)?,
            Some(minutes) => {
                let minutes = if hours.negative { minutes.checked_neg()? } else { minutes };
                hours.value.checked_mul(60)?.checked_add(minutes)?
            }
        };
        if !(-24 * 60..=24 * 60).contains(&total) {
            return None;
        }
        self.zone = total * 60;
        Some(())
    }
}
