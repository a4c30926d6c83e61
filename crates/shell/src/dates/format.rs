//! `date +FORMAT`: strftime(3) with the flags, widths and conversions that GNU adds.

use bstr::BStr;

use super::Local;
use super::calendar::is_leap;
use super::directive::{Directive, Padding, Style, pad_number, pad_text};

/// Which conversions there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `date`, `stat`, `ls --time-style`, `find -printf`: with `%N`, `%q`, `%:z`.
    Gnu,
    /// The C library's, as bash's `printf '%()T'` has it: those are not conversions there.
    C,
}

/// Appends the time in the given format. What is not a conversion is copied.
pub fn format(out: &mut Vec<u8>, format: &BStr, local: &Local, dialect: Dialect) {
    let style = Style { year_padding: None, uppercase: false };
    Formatter { local, dialect }.run(out, format, style, None);
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

struct Formatter<'a> {
    local: &'a Local,
    dialect: Dialect,
}

impl Formatter<'_> {
    /// `first_width` belongs to the first conversion: `%12F` widens the year.
    fn run(&self, out: &mut Vec<u8>, format: &[u8], style: Style, mut first_width: Option<usize>) {
        let mut rest = format;
        while let Some(at) = memchr::memchr(b'%', rest) {
            let (literal, after) = rest.split_at_checked(at).unwrap_or((rest, &[]));
            out.extend_from_slice(literal);
            let (mut directive, after) = Directive::parse(after, style);
            directive.width = directive.width.or(first_width.take());
            if !self.convert(out, directive) {
                let mut text = directive.text.to_vec();
                if directive.uppercase {
                    text.make_ascii_uppercase();
                }
                pad_text(out, &text, directive);
            }
            rest = after;
        }
        out.extend_from_slice(rest);
    }

    /// `false`: no such conversion.
    fn convert(&self, out: &mut Vec<u8>, directive: Directive<'_>) -> bool {
        let Some(letter) = directive.letter else { return false };
        match modified(letter, directive.modifier) {
            Modified::Invalid => return false,
            Modified::Plain => {}
            Modified::Text => {
                let mut text = Vec::new();
                let plain = Directive { modifier: None, padding: None, width: None, ..directive };
                let known = self.convert(&mut text, plain);
                pad_text(out, &text, directive);
                return known;
            }
        }
        if let Some(format) = composite(letter) {
            self.composite(out, format, directive);
            return true;
        }
        self.text(out, letter, directive)
            || self.number(out, letter, directive)
            || self.extension(out, letter, directive)
    }

    fn composite(&self, out: &mut Vec<u8>, format: &[u8], mut directive: Directive<'_>) {
        let mut style = Style { year_padding: directive.padding, uppercase: directive.uppercase };
        let mut year_width = None;
        if directive.letter == Some(b'F') {
            year_width = match (directive.padding, directive.width) {
                (None, None) => {
                    style.year_padding = Some(Padding::Plus);
                    Some(4)
                }
                (_, width) => Some(width.map_or(0, |width| width.saturating_sub(6))),
            };
            directive.width = None;
        }
        let mut text = Vec::new();
        self.run(&mut text, format, style, year_width);
        pad_text(out, &text, Directive { uppercase: false, swap_case: false, ..directive });
    }

    /// Conversions that give words.
    fn text(&self, out: &mut Vec<u8>, letter: u8, directive: Directive<'_>) -> bool {
        let civil = &self.local.civil;
        let name = |names: &[&'static str], at: i64| {
            usize::try_from(at).ok().and_then(|at| names.get(at).copied()).unwrap_or("?")
        };
        let short = |name: &'static str| name.get(..3).unwrap_or(name);
        let mut case =
            if directive.uppercase || directive.swap_case { Case::Upper } else { Case::AsIs };
        let text = match letter {
            b'a' => short(name(&DAYS, civil.weekday())),
            b'A' => name(&DAYS, civil.weekday()),
            b'b' | b'h' => short(name(&MONTHS, civil.month - 1)),
            b'B' => name(&MONTHS, civil.month - 1),
            b'p' | b'P' => {
                if letter == b'P' || directive.swap_case {
                    case = Case::Lower;
                }
                if civil.hour < 12 { "AM" } else { "PM" }
            }
            b'Z' => {
                if directive.swap_case {
                    case = Case::Lower;
                }
                &self.local.abbreviation
            }
            b'%' => "%",
            b'n' => "\n",
            b't' => "\t",
            _ => return false,
        };
        let text = match case {
            Case::AsIs => text.to_owned(),
            Case::Upper => text.to_ascii_uppercase(),
            Case::Lower => text.to_ascii_lowercase(),
        };
        pad_text(out, text.as_bytes(), directive);
        true
    }

    /// Conversions that give a number.
    fn number(&self, out: &mut Vec<u8>, letter: u8, directive: Directive<'_>) -> bool {
        let civil = &self.local.civil;
        let hour_of_half_day = (civil.hour + 11) % 12 + 1;
        let (digits, value) = match letter {
            b'C' => return year_like(out, 2, century(civil.year), civil.year < 0, directive),
            b'Y' => return year_like(out, 4, civil.year, civil.year < 0, directive),
            b'y' => return year_like(out, 2, civil.year.abs() % 100, false, directive),
            b'G' | b'g' => {
                let year = self.iso_week().0;
                return match letter {
                    b'G' => year_like(out, 4, year, year < 0, directive),
                    _ => year_like(out, 2, year.abs() % 100, false, directive),
                };
            }
            b'd' => (2, civil.day),
            b'e' => return space_padded(out, civil.day, directive),
            b'H' => (2, civil.hour),
            b'I' => (2, hour_of_half_day),
            b'k' => return space_padded(out, civil.hour, directive),
            b'l' => return space_padded(out, hour_of_half_day, directive),
            b'j' => (3, civil.day_of_year() + 1),
            b'm' => (2, civil.month),
            b'M' => (2, civil.minute),
            b'S' => (2, civil.second),
            b's' => (1, self.local.moment.seconds),
            b'u' => (1, (civil.weekday() + 6) % 7 + 1),
            b'w' => (1, civil.weekday()),
            b'U' => (2, (civil.day_of_year() - civil.weekday() + 7) / 7),
            b'W' => (2, (civil.day_of_year() - (civil.weekday() + 6) % 7 + 7) / 7),
            b'V' => (2, self.iso_week().1),
            _ => return false,
        };
        pad_number(out, &value.unsigned_abs().to_string(), sign(value < 0), digits, directive);
        true
    }

    /// `%z`, and what only GNU has.
    fn extension(&self, out: &mut Vec<u8>, letter: u8, directive: Directive<'_>) -> bool {
        match letter {
            b'z' if directive.colons == 0 || self.dialect == Dialect::Gnu => {
                self.zone_offset(out, directive)
            }
            b'N' if self.dialect == Dialect::Gnu => {
                self.nanoseconds(out, directive);
                true
            }
            b'q' if self.dialect == Dialect::Gnu => {
                let quarter = (self.local.civil.month - 1) / 3 + 1;
                pad_number(out, &quarter.to_string(), None, 1, directive);
                true
            }
            _ => false,
        }
    }

    /// Digits of a fraction: cut or filled at the end.
    fn nanoseconds(&self, out: &mut Vec<u8>, directive: Directive<'_>) {
        let width = directive.width.filter(|width| *width > 0).unwrap_or(9);
        let mut digits = format!("{:09}", self.local.moment.nanoseconds);
        digits.truncate(width);
        // `%-N` asks for the resolution of the clock, which is all nine digits.
        if directive.text != b"%-N" {
            digits.truncate(digits.trim_end_matches('0').len().max(1));
        }
        out.extend_from_slice(digits.as_bytes());
        let fill = match directive.padding {
            Some(Padding::None) => return,
            Some(Padding::Spaces) => b' ',
            _ => b'0',
        };
        out.resize(out.len() + width.saturating_sub(digits.len()), fill);
    }

    fn zone_offset(&self, out: &mut Vec<u8>, directive: Directive<'_>) -> bool {
        let offset = self.local.offset;
        let seconds = offset.unsigned_abs();
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let (text, digits) = match (directive.colons, minutes, seconds) {
            (0, ..) => ((hours * 100 + minutes).to_string(), 5),
            (3, 0, 0) => (hours.to_string(), 3),
            (1, ..) | (3, _, 0) => (format!("{hours}:{minutes:02}"), 6),
            (2 | 3, ..) => (format!("{hours}:{minutes:02}:{seconds:02}"), 9),
            _ => return false,
        };
        let sign = if offset < 0 { b'-' } else { b'+' };
        pad_number(out, &text, Some(sign), digits, directive);
        true
    }

    /// Year and week by ISO 8601: a week belongs to the year of its Thursday.
    fn iso_week(&self) -> (i64, i64) {
        let civil = &self.local.civil;
        let length = |year| if is_leap(year) { 366 } else { 365 };
        let thursday = civil.day_of_year() - (civil.weekday() + 6) % 7 + 3;
        if thursday < 0 {
            (civil.year - 1, (thursday + length(civil.year - 1)) / 7 + 1)
        } else if thursday >= length(civil.year) {
            (civil.year + 1, (thursday - length(civil.year)) / 7 + 1)
        } else {
            (civil.year, thursday / 7 + 1)
        }
    }
}

#[derive(Clone, Copy)]
enum Case {
    AsIs,
    Upper,
    Lower,
}

fn composite(letter: u8) -> Option<&'static [u8]> {
    Some(match letter {
        b'c' => b"%a %b %e %H:%M:%S %-Y",
        b'D' | b'x' => b"%m/%d/%y",
        b'F' => b"%Y-%m-%d",
        b'r' => b"%I:%M:%S %p",
        b'R' => b"%H:%M",
        b'T' | b'X' => b"%H:%M:%S",
        _ => return None,
    })
}

/// What `E` and `O` do in our locale, where there are no other digits or eras.
enum Modified {
    /// Nothing.
    Plain,
    /// The number is padded as a word would be.
    Text,
    Invalid,
}

fn modified(letter: u8, modifier: Option<u8>) -> Modified {
    let (text, invalid): (&[u8], &[u8]) = match modifier {
        None => (b"", b""),
        Some(b'E') => (b"CyY", b"aAbBdDeFgGhHIjklmMNSUVwW"),
        Some(_) => (b"CdegGHIjklmMSUVwWuyz", b"aAcDFqxXY"),
    };
    if text.contains(&letter) {
        Modified::Text
    } else if invalid.contains(&letter) {
        Modified::Invalid
    } else {
        Modified::Plain
    }
}

fn century(year: i64) -> i64 {
    if year < 0 { year / 100 } else { year.div_euclid(100) }
}

fn sign(negative: bool) -> Option<u8> {
    negative.then_some(b'-')
}

fn year_like(
    out: &mut Vec<u8>,
    digits: usize,
    value: i64,
    negative: bool,
    mut directive: Directive<'_>,
) -> bool {
    directive.padding = directive.padding.or(directive.year_padding);
    let most = if digits == 2 { 99 } else { 9999 };
    let plus = directive.padding == Some(Padding::Plus)
        && (value > most || directive.width.is_some_and(|width| width > digits));
    let sign = sign(negative).or(plus.then_some(b'+'));
    pad_number(out, &value.unsigned_abs().to_string(), sign, digits, directive);
    true
}

fn space_padded(out: &mut Vec<u8>, value: i64, mut directive: Directive<'_>) -> bool {
    directive.padding = directive.padding.or(Some(Padding::Spaces));
    pad_number(out, &value.to_string(), None, 2, directive);
    true
}
