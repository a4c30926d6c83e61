//! `date -d`: the grammar of dates. Items in any order, each read as far as it reaches.
//!
//! What makes this grammar peculiar is kept, since scripts depend on it: `10:00 +2 days` is ten o'clock in the zone
//! two hours east, a day later.

use bstr::BStr;

use super::fields::{Fields, Relative};
use super::lex::{Decimal, Number, Token, tokens};
use super::resolve::resolve;
use super::words::{LocalNames, Unit};
use super::{Moment, Zone};

/// The moment that a text names, seen from `now` in `zone`. `None`: it is not a date.
pub fn parse(text: &BStr, now: Moment, zone: &Zone) -> Option<Moment> {
    let text = text.trim_ascii_start();
    match text.strip_prefix(b"TZ=\"") {
        None => parse_in(text, now, zone),
        Some(quoted) => {
            let (name, rest) = quoted_zone(quoted)?;
            parse_in(rest.trim_ascii_start(), now, &Zone::named(BStr::new(&name)))
        }
    }
}

/// The name up to the closing quote, where a backslash hides a quote or itself.
fn quoted_zone(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut name = Vec::new();
    let mut bytes = text.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return Some((name, text.get(at + 1..)?)),
            b'\\' => match bytes.next() {
                Some((_, hidden @ (b'\\' | b'"'))) => name.push(*hidden),
                _ => return None,
            },
            other => name.push(*other),
        }
    }
    None
}

fn parse_in(text: &[u8], now: Moment, zone: &Zone) -> Option<Moment> {
    let now = zone.local(now)?;
    let tokens = tokens(text, &LocalNames::new(zone, &now))?;
    if let Some((Token::Character(b'@'), seconds)) = tokens.split_first() {
        return epoch(seconds);
    }
    let mut parser = Parser { tokens: &tokens, fields: Fields::new(&now) };
    if tokens.is_empty() {
        parser.fields.set_number(Number { value: 0, digits: 1, negative: false });
    }
    while let Some(token) = parser.next() {
        parser.item(token)?;
    }
    resolve(parser.fields, &now, zone)
}

fn epoch(tokens: &[Token]) -> Option<Moment> {
    match tokens {
        [Token::Signed(number) | Token::Unsigned(number)] => {
            Some(Moment::from_seconds(number.value))
        }
        [Token::SignedDecimal(decimal) | Token::UnsignedDecimal(decimal)] => {
            Some(Moment { seconds: decimal.seconds, nanoseconds: decimal.nanoseconds })
        }
        _ => None,
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    fields: Fields,
}

const ZERO: Decimal = Decimal { seconds: 0, nanoseconds: 0 };

impl Parser<'_> {
    fn next(&mut self) -> Option<Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(*first)
    }

    fn peek(&self) -> Option<Token> {
        self.tokens.first().copied()
    }

    fn take(&mut self, wanted: Token) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.next();
        }
        found
    }

    fn take_character(&mut self, wanted: u8) -> bool {
        self.take(Token::Character(wanted))
    }

    fn unsigned(&mut self) -> Option<Number> {
        match self.next()? {
            Token::Unsigned(number) => Some(number),
            _ => None,
        }
    }

    fn signed(&mut self) -> Option<Number> {
        match self.next()? {
            Token::Signed(number) => Some(number),
            _ => None,
        }
    }

    fn item(&mut self, token: Token) -> Option<()> {
        match token {
            Token::Unsigned(number) => self.after_number(number),
            Token::Signed(number) => match self.next()? {
                Token::Unit(unit, size) => self.relative(unit, number.value.checked_mul(size)?),
                _ => None,
            },
            Token::UnsignedDecimal(decimal) | Token::SignedDecimal(decimal) => {
                match self.next()? {
                    Token::Unit(Unit::Second, _) => self.directed(Relative::of_decimal(decimal)),
                    _ => None,
                }
            }
            Token::Month(month) => self.after_month(month),
            Token::Day(day) => {
                self.take_character(b',');
                self.weekday(0, day)
            }
            Token::Ordinal(ordinal) => match self.next()? {
                Token::Day(day) => self.weekday(ordinal, day),
                Token::Unit(unit, size) => self.relative(unit, ordinal.checked_mul(size)?),
                _ => None,
            },
            Token::Unit(unit, size) => self.relative(unit, size),
            Token::DayShift(days) => self.fields.add(Relative::of(Unit::Day, days), 1),
            Token::Zone(offset) => self.zone(offset),
            Token::LetterT => self.military_t(),
            Token::DaylightZone(offset) => {
                self.fields.seen.zones += 1;
                self.fields.zone = offset + 3600;
                Some(())
            }
            Token::LocalZone(daylight_saving) => self.local_zone(daylight_saving),
            Token::Meridian(_)
            | Token::DaylightSaving
            | Token::Direction(_)
            | Token::Character(_) => None,
        }
    }

    /// Everything that begins with plain digits.
    fn after_number(&mut self, number: Number) -> Option<()> {
        let Some(next) = self.peek() else {
            self.fields.set_number(number);
            return Some(());
        };
        match next {
            Token::Meridian(meridian) => {
                self.next();
                self.fields.seen.times += 1;
                self.fields.set_time(number.value, 0, ZERO);
                self.fields.meridian = Some(meridian);
                Some(())
            }
            Token::Character(b':') => {
                self.next();
                self.time(number)
            }
            Token::Character(b'/') => {
                self.next();
                self.slashed_date(number)
            }
            Token::Month(month) => {
                self.next();
                self.day_and_month(number.value, month)
            }
            Token::Day(day) => {
                self.next();
                self.weekday(number.value, day)
            }
            Token::Unit(unit, size) => {
                self.next();
                self.relative(unit, number.value.checked_mul(size)?)
            }
            Token::Signed(signed) => {
                self.next();
                self.number_and_signed(number, signed)
            }
            _ => {
                self.fields.set_number(number);
                Some(())
            }
        }
    }

    /// `2024-01-31`, `20240131 +1 day`, `10+02:00`.
    fn number_and_signed(&mut self, number: Number, signed: Number) -> Option<()> {
        match self.peek() {
            Some(Token::Signed(day)) => {
                self.next();
                self.fields.seen.dates += 1;
                let (month, day) = (signed.value.checked_neg()?, day.value.checked_neg()?);
                self.fields.set_date(Some(number), month, day);
                if self.take(Token::LetterT) { self.time_of_datetime() } else { Some(()) }
            }
            Some(Token::Unit(unit, size)) => {
                self.next();
                self.fields.set_number(number);
                self.fields.add(Relative::of(unit, signed.value.checked_mul(size)?), 1)
            }
            _ => {
                self.fields.seen.times += 1;
                self.fields.set_time(number.value, 0, ZERO);
                self.zone_offset(signed)
            }
        }
    }

    /// Behind the `T` of `2024-01-31T10:00`: an hour alone needs its zone.
    fn time_of_datetime(&mut self) -> Option<()> {
        let hour = self.unsigned()?;
        match self.next()? {
            Token::Character(b':') => {
                self.time(hour)?;
                self.fields.meridian.is_none().then_some(())
            }
            Token::Signed(offset) => {
                self.fields.seen.times += 1;
                self.fields.set_time(hour.value, 0, ZERO);
                self.zone_offset(offset)
            }
            _ => None,
        }
    }

    /// After `10:`.
    fn time(&mut self, hour: Number) -> Option<()> {
        let minute = self.unsigned()?;
        let second = if self.take_character(b':') {
            match self.next()? {
                Token::Unsigned(number) => Decimal { seconds: number.value, nanoseconds: 0 },
                Token::UnsignedDecimal(decimal) => decimal,
                _ => return None,
            }
        } else {
            ZERO
        };
        self.fields.seen.times += 1;
        self.fields.set_time(hour.value, minute.value, second);
        match self.peek() {
            Some(Token::Meridian(meridian)) => {
                self.next();
                self.fields.meridian = Some(meridian);
                Some(())
            }
            Some(Token::Signed(offset)) => {
                self.next();
                self.zone_offset(offset)
            }
            _ => Some(()),
        }
    }

    fn zone_offset(&mut self, hours: Number) -> Option<()> {
        self.fields.seen.zones += 1;
        self.offset(hours)
    }

    /// The rest of an offset: `:30`, or nothing.
    fn offset(&mut self, hours: Number) -> Option<()> {
        let minutes = if self.take_character(b':') { Some(self.unsigned()?.value) } else { None };
        self.fields.set_zone(hours, minutes)
    }

    /// After `1/`: `1/31`, `1/31/2024`, `2024/1/31`.
    fn slashed_date(&mut self, first: Number) -> Option<()> {
        self.fields.seen.dates += 1;
        let second = self.unsigned()?;
        if !self.take_character(b'/') {
            self.fields.set_date(None, first.value, second.value);
            return Some(());
        }
        let third = self.unsigned()?;
        if first.digits >= 4 {
            self.fields.set_date(Some(first), second.value, third.value);
        } else {
            self.fields.set_date(Some(third), first.value, second.value);
        }
        Some(())
    }

    /// `31 Jan`, `31 Jan 2024`, `31-jan-2024`.
    fn day_and_month(&mut self, day: i64, month: i64) -> Option<()> {
        self.fields.seen.dates += 1;
        let year = match self.peek() {
            Some(Token::Unsigned(year) | Token::Signed(year)) => {
                self.next();
                Some(year)
            }
            _ => None,
        };
        self.fields.set_date(year, month, day);
        Some(())
    }

    /// `Jan 31`, `Jan 31, 2024`, `jan-31-2024`.
    fn after_month(&mut self, month: i64) -> Option<()> {
        self.fields.seen.dates += 1;
        match self.next()? {
            Token::Unsigned(day) => {
                let year = if self.take_character(b',') { Some(self.unsigned()?) } else { None };
                self.fields.set_date(year, month, day.value);
            }
            Token::Signed(day) => {
                let year = self.signed()?;
                self.fields.set_date(Some(year), month, day.value.checked_neg()?);
            }
            _ => return None,
        }
        Some(())
    }

    fn weekday(&mut self, ordinal: i64, day: i64) -> Option<()> {
        self.fields.seen.days += 1;
        (self.fields.day_ordinal, self.fields.weekday) = (ordinal, day);
        Some(())
    }

    fn relative(&mut self, unit: Unit, count: i64) -> Option<()> {
        self.directed(Relative::of(unit, count))
    }

    /// With `ago` or `hence` behind it, or neither.
    fn directed(&mut self, relative: Relative) -> Option<()> {
        let factor = match self.peek() {
            Some(Token::Direction(factor)) => {
                self.next();
                factor
            }
            _ => 1,
        };
        self.fields.add(relative, factor)
    }

    /// `UTC`, `UTC+3`, `UTC+3:30`, `UTC +3 days`, `EST DST`.
    fn zone(&mut self, offset: i64) -> Option<()> {
        self.fields.seen.zones += 1;
        self.fields.zone = offset;
        match self.peek() {
            Some(Token::DaylightSaving) => {
                self.next();
                self.fields.zone += 3600;
                Some(())
            }
            Some(Token::Signed(number)) => {
                self.next();
                if let Some(Token::Unit(unit, size)) = self.peek() {
                    self.next();
                    return self.fields.add(Relative::of(unit, number.value.checked_mul(size)?), 1);
                }
                self.offset(number)?;
                self.fields.zone += offset;
                Some(())
            }
            _ => Some(()),
        }
    }

    fn military_t(&mut self) -> Option<()> {
        self.fields.seen.zones += 1;
        self.fields.zone = -7 * 3600;
        Some(())
    }

    fn local_zone(&mut self, daylight_saving: bool) -> Option<()> {
        self.fields.seen.local_zones += 1;
        self.fields.seen.daylight_savings += u32::from(daylight_saving);
        self.fields.local_daylight_saving = daylight_saving;
        if self.take(Token::DaylightSaving) {
            self.fields.local_daylight_saving = true;
            self.fields.seen.daylight_savings += 1;
        }
        Some(())
    }
}
