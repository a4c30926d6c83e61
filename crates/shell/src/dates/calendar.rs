//! The Gregorian calendar, before its introduction too: days and the dates they fall on.

/// Date and time of day without a zone. Fields may be out of range (`month` 14, `day` 0) until normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Civil {
    pub year: i64,
    /// 1 to 12
    pub month: i64,
    /// 1 to 31
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
}

pub(crate) const DAY: i64 = 86_400;
/// After 400 years dates and weekdays repeat.
pub(crate) const CYCLE_YEARS: i64 = 400;
pub(crate) const CYCLE: i64 = 146_097 * DAY;

impl Civil {
    /// Seconds since 1970, as if this were UTC; whatever is out of range is carried over.
    pub fn to_seconds(self) -> Option<i64> {
        let months = self.month.checked_sub(1)?;
        let year = self.year.checked_add(months.div_euclid(12))?;
        let days = days_before(year, months.rem_euclid(12) + 1)?;
        let days = days.checked_add(self.day.checked_sub(1)?)?;
        let time = self.hour.checked_mul(3600)?.checked_add(self.minute.checked_mul(60)?)?;
        days.checked_mul(DAY)?.checked_add(time)?.checked_add(self.second)
    }

    pub fn from_seconds(seconds: i64) -> Self {
        let (days, time) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        let (year, month, day) = date_of(days);
        Civil { year, month, day, hour: time / 3600, minute: time / 60 % 60, second: time % 60 }
    }

    /// 0 is Sunday.
    pub fn weekday(self) -> i64 {
        self.days().map_or(0, |days| (days + 4).rem_euclid(7))
    }

    /// 0 is the first of January.
    pub fn day_of_year(self) -> i64 {
        let start = days_before(self.year, 1);
        self.days().zip(start).map_or(0, |(day, start)| day - start)
    }

    fn days(self) -> Option<i64> {
        days_before(self.year, self.month)?.checked_add(self.day - 1)
    }
}

pub(crate) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days from 1970-01-01 to the first of a month (1 to 12).
fn days_before(year: i64, month: i64) -> Option<i64> {
    // Counted from March, a leap day is the last day of its year.
    let shifted = if month <= 2 { year.checked_sub(1)? } else { year };
    let month = (month + 9) % 12;
    let (cycle, of_cycle) = (shifted.div_euclid(CYCLE_YEARS), shifted.rem_euclid(CYCLE_YEARS));
    let days = of_cycle * 365 + of_cycle / 4 - of_cycle / 100 + (month * 153 + 2) / 5;
    cycle.checked_mul(146_097)?.checked_add(days - 719_468)
}

fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (cycle, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let of_cycle = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (of_cycle * 365 + of_cycle / 4 - of_cycle / 100);
    let month = (day * 5 + 2) / 153;
    let day_of_month = day - (month * 153 + 2) / 5 + 1;
    let year = cycle * CYCLE_YEARS + of_cycle + i64::from(month >= 10);
    (year, if month < 10 { month + 3 } else { month - 9 }, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_eight_centuries_round_trips() {
        let mut before = Civil::from_seconds(-400 * 365 * DAY).to_seconds();
        for day in -400 * 365..400 * 365 {
            let civil = Civil::from_seconds(day * DAY);
            assert_eq!(civil.to_seconds(), Some(day * DAY));
            assert!((1..=12).contains(&civil.month) && (1..=31).contains(&civil.day));
            before = before.max(civil.to_seconds());
        }
        assert_eq!(before, Some((400 * 365 - 1) * DAY));
    }

    #[test]
    fn known_days() {
        let civil = Civil::from_seconds(1_709_164_800);
        assert_eq!((civil.year, civil.month, civil.day), (2024, 2, 29));
        assert_eq!((civil.weekday(), civil.day_of_year()), (4, 59));
    }

    #[test]
    fn carries_what_is_out_of_range() {
        let odd = Civil { year: 2024, month: 14, day: 30, hour: 25, minute: -1, second: 61 };
        let seconds = odd.to_seconds().map(Civil::from_seconds);
        let civil = Civil { year: 2025, month: 3, day: 3, hour: 1, minute: 0, second: 1 };
        assert_eq!(seconds, Some(civil));
    }

    #[test]
    fn extremes_do_not_overflow() {
        for seconds in [i64::MIN, i64::MAX] {
            let _ = Civil::from_seconds(seconds).weekday();
        }
        let huge = Civil { year: i64::MAX, month: 1, day: 1, hour: 0, minute: 0, second: 0 };
        assert_eq!(huge.to_seconds(), None);
    }
}
