//! The words of a date: months, days, units, zones.

use super::Zone;
use super::lex::Token;
use super::{Local, Moment};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Year,
    Month,
    /// `week` is seven of these, `fortnight` fourteen.
    Day,
    Hour,
    Minute,
    Second,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meridian {
    Morning,
    Afternoon,
}

/// Names that the local zone has for its own time, with and without daylight saving.
#[derive(Debug, Default)]
pub(super) struct LocalNames(Vec<(String, bool)>);

impl LocalNames {
    /// The name now, and the other one if the coming year has it.
    pub(super) fn new(zone: &Zone, now: &Local) -> Self {
        const QUARTER: i64 = 90 * 86_400;
        let mut names = vec![(now.abbreviation.clone(), now.daylight_saving)];
        let other = (1..=3).find_map(|quarter| {
            let second = now.moment.seconds.checked_add(quarter * QUARTER)?;
            let then = zone.local(Moment::from_seconds(second))?;
            (then.daylight_saving != now.daylight_saving).then_some(then)
        });
        names.extend(other.map(|then| (then.abbreviation, then.daylight_saving)));
        names.retain(|(name, _)| !name.is_empty());
        LocalNames(names)
    }
}

/// The meaning of a word, whatever its case.
pub(super) fn look_up(word: &str, local: &LocalNames) -> Option<Token> {
    let word = word.to_ascii_uppercase();
    meridian(&word)
        .or_else(|| month_or_day(&word))
        .or_else(|| zone(&word, local))
        .or_else(|| (word == "DST").then_some(Token::DaylightSaving))
        .or_else(|| unit(&word))
        .or_else(|| word.strip_suffix('S').and_then(unit))
        .or_else(|| relative(&word))
        .or_else(|| military(&word))
        .or_else(|| word.contains('.').then(|| zone(&word.replace('.', ""), local)).flatten())
}

fn meridian(word: &str) -> Option<Token> {
    match word {
        "AM" | "A.M." => Some(Token::Meridian(Meridian::Morning)),
        "PM" | "P.M." => Some(Token::Meridian(Meridian::Afternoon)),
        _ => None,
    }
}

const MONTHS: [&str; 12] = [
    "JANUARY",
    "FEBRUARY",
    "MARCH",
    "APRIL",
    "MAY",
    "JUNE",
    "JULY",
    "AUGUST",
    "SEPTEMBER",
    "OCTOBER",
    "NOVEMBER",
    "DECEMBER",
];
const DAYS: [&str; 7] =
    ["SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"];

/// Full, or three letters with or without a dot, or one of a few customary shortenings.
fn month_or_day(word: &str) -> Option<Token> {
    let short = match word.len() {
        3 => Some(word),
        4 => word.strip_suffix('.'),
        _ => None,
    };
    let means = |name: &str| match short {
        Some(short) => name.starts_with(short),
        None => name == word,
    };
    if let Some(month) = MONTHS.iter().position(|name| means(name)) {
        return Some(Token::Month(month as i64 + 1));
    }
    if let Some(day) = DAYS.iter().position(|name| means(name)) {
        return Some(Token::Day(day as i64));
    }
    match word {
        "SEPT" => Some(Token::Month(9)),
        "TUES" => Some(Token::Day(2)),
        "WEDNES" => Some(Token::Day(3)),
        "THUR" | "THURS" => Some(Token::Day(4)),
        _ => None,
    }
}

fn unit(word: &str) -> Option<Token> {
    let (unit, count) = match word {
        "YEAR" => (Unit::Year, 1),
        "MONTH" => (Unit::Month, 1),
        "FORTNIGHT" => (Unit::Day, 14),
        "WEEK" => (Unit::Day, 7),
        "DAY" => (Unit::Day, 1),
        "HOUR" => (Unit::Hour, 1),
        "MINUTE" | "MIN" => (Unit::Minute, 1),
        "SECOND" | "SEC" => (Unit::Second, 1),
        _ => return None,
    };
    Some(Token::Unit(unit, count))
}

fn relative(word: &str) -> Option<Token> {
    // "second" is missing on purpose: it is a unit.
    const ORDINALS: [&str; 10] = [
        "THIRD", "FOURTH", "FIFTH", "SIXTH", "SEVENTH", "EIGHTH", "NINTH", "TENTH", "ELEVENTH",
        "TWELFTH",
    ];
    Some(match word {
        "TOMORROW" => Token::DayShift(1),
        "YESTERDAY" => Token::DayShift(-1),
        "TODAY" | "NOW" => Token::DayShift(0),
        "LAST" => Token::Ordinal(-1),
        "THIS" => Token::Ordinal(0),
        "NEXT" | "FIRST" => Token::Ordinal(1),
        "AGO" => Token::Direction(-1),
        "HENCE" => Token::Direction(1),
        _ => Token::Ordinal(ORDINALS.iter().position(|name| *name == word)? as i64 + 3),
    })
}

fn zone(word: &str, local: &LocalNames) -> Option<Token> {
    if matches!(word, "GMT" | "UT" | "UTC") {
        return Some(Token::Zone(0));
    }
    if let Some((_, daylight_saving)) = local.0.iter().find(|(name, _)| name == word) {
        return Some(Token::LocalZone(*daylight_saving));
    }
    let (_, half_hours, daylight_saving) = ZONES.iter().find(|(name, ..)| *name == word)?;
    let offset = half_hours * 1800;
    Some(if *daylight_saving { Token::DaylightZone(offset) } else { Token::Zone(offset) })
}

/// Name, half hours east of Greenwich without daylight saving, and whether it is the name of daylight saving.
const ZONES: [(&str, i64, bool); 47] = [
    ("WET", 0, false),
    ("WEST", 0, true),
    ("BST", 0, true),
    ("ART", -6, false),
    ("BRT", -6, false),
    ("BRST", -6, true),
    ("NST", -7, false),
    ("NDT", -7, true),
    ("AST", -8, false),
    ("ADT", -8, true),
    ("CLT", -8, false),
    ("CLST", -8, true),
    ("EST", -10, false),
    ("EDT", -10, true),
    ("CST", -12, false),
    ("CDT", -12, true),
    ("MST", -14, false),
    ("MDT", -14, true),
    ("PST", -16, false),
    ("PDT", -16, true),
    ("AKST", -18, false),
    ("AKDT", -18, true),
    ("HST", -20, false),
    ("HAST", -20, false),
    ("HADT", -20, true),
    ("SST", -24, false),
    ("WAT", 2, false),
    ("CET", 2, false),
    ("CEST", 2, true),
    ("MET", 2, false),
    ("MEZ", 2, false),
    ("MEST", 2, true),
    ("MESZ", 2, true),
    ("EET", 4, false),
    ("EEST", 4, true),
    ("CAT", 4, false),
    ("SAST", 4, false),
    ("EAT", 6, false),
    ("MSK", 6, false),
    ("MSD", 6, true),
    ("IST", 11, false),
    ("SGT", 16, false),
    ("KST", 18, false),
    ("JST", 18, false),
    ("GST", 20, false),
    ("NZST", 24, false),
    ("NZDT", 24, true),
];

/// One letter is a zone of the military alphabet; `T` may also stand between a date and a time.
fn military(word: &str) -> Option<Token> {
    let &[letter] = word.as_bytes() else { return None };
    let hours = match letter {
        b'A'..=b'I' => i64::from(letter - b'A') + 1,
        b'K'..=b'M' => i64::from(letter - b'K') + 10,
        b'T' => return Some(Token::LetterT),
        b'N'..=b'Y' => -i64::from(letter - b'N') - 1,
        b'Z' => 0,
        _ => return None,
    };
    Some(Token::Zone(hours * 3600))
}
