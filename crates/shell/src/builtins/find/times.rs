//! `-mtime`, `-mmin`, `-newer` and their kin.

use bstr::{BStr, ByteSlice};

use super::ToolError;
use super::expression::{Age, AgeUnit, Compare, Primary, Settings, Stamp};
use super::parse::Parser;
use super::primaries::{comparison, invalid};
use crate::dates::{self, Moment};
use crate::filesystem::Metadata;

const DAY: i64 = 86_400;

impl Stamp {
    fn of_letter(letter: u8) -> Option<Stamp> {
        Some(match letter {
            b'a' => Stamp::Accessed,
            b'B' => Stamp::Created,
            b'c' => Stamp::Changed,
            b'm' => Stamp::Modified,
            _ => return None,
        })
    }

    /// `None`: the file system does not know.
    pub(super) fn of(self, metadata: &Metadata) -> Option<Moment> {
        let time = match self {
            Stamp::Accessed => metadata.accessed,
            Stamp::Created => metadata.created?,
            Stamp::Changed => metadata.changed,
            Stamp::Modified => metadata.modified,
        };
        Some(Moment::from(time))
    }
}

/// `None`: not about time.
pub(super) fn primary(
    parser: &mut Parser<'_, '_>,
    name: &BStr,
) -> Result<Option<Primary>, ToolError> {
    let (stamp, unit) = match name.as_bytes() {
        b"-atime" => (Stamp::Accessed, AgeUnit::Days),
        b"-ctime" => (Stamp::Changed, AgeUnit::Days),
        b"-mtime" => (Stamp::Modified, AgeUnit::Days),
        b"-amin" => (Stamp::Accessed, AgeUnit::Minutes),
        b"-cmin" => (Stamp::Changed, AgeUnit::Minutes),
        b"-mmin" => (Stamp::Modified, AgeUnit::Minutes),
        b"-newer" => return newer(parser, name, Stamp::Modified, Stamp::Modified).map(Some),
        b"-anewer" => return newer(parser, name, Stamp::Accessed, Stamp::Modified).map(Some),
        b"-cnewer" => return newer(parser, name, Stamp::Changed, Stamp::Modified).map(Some),
        other => return newer_letters(parser, name, other),
    };
    let text = parser.argument(name)?;
    let (compare, rest) = comparison(&text);
    let plain = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let units: Option<f64> = match rest.to_str() {
        Ok(rest) if rest.bytes().all(|byte| plain(&byte)) => rest.parse().ok(),
        _ => None,
    };
    let units = units.ok_or_else(|| invalid(name, &text))?;
    let from = parser.settings.day_start;
    Ok(Some(Primary::Age(Age { stamp, compare, units, unit, from })))
}

fn newer(
    parser: &mut Parser<'_, '_>,
    name: &BStr,
    stamp: Stamp,
    reference: Stamp,
) -> Result<Primary, ToolError> {
    let metadata = parser.reference(name)?;
    let moment = reference.of(&metadata).ok_or_else(|| {
        ToolError::usage("This system does not provide a way to find the birth time of a file.")
    })?;
    Ok(Primary::Newer(stamp, moment))
}

/// `-newermt DATE`, `-neweram FILE`.
fn newer_letters(
    parser: &mut Parser<'_, '_>,
    name: &BStr,
    text: &[u8],
) -> Result<Option<Primary>, ToolError> {
    let Some(letters) = text.strip_prefix(b"-newer") else { return Ok(None) };
    let wrong = || ToolError::usage(format!("invalid predicate `{name}'"));
    let &[first, second] = letters else { return Err(wrong()) };
    let stamp = Stamp::of_letter(first).ok_or_else(wrong)?;
    if second != b't' {
        let reference = Stamp::of_letter(second).ok_or_else(wrong)?;
        return newer(parser, name, stamp, reference).map(Some);
    }
    let text = parser.argument(name)?;
    let now = Moment::from(parser.now());
    let moment = dates::parse(text.as_bstr(), now, &parser.settings.zone).ok_or_else(|| {
        let message = format!("I cannot figure out how to interpret ‘{text}’ as a date or time");
        ToolError::usage(message)
    })?;
    Ok(Some(Primary::Newer(stamp, moment)))
}

/// Midnight after today.
pub(super) fn end_of_day(settings: &Settings) -> Moment {
    let Some(local) = settings.zone.local(settings.now) else { return settings.now };
    let since = local.civil.hour * 3600 + local.civil.minute * 60 + local.civil.second;
    Moment::from_seconds(settings.now.seconds - since + DAY)
}

impl Age {
    pub(super) fn holds(&self, metadata: &Metadata) -> bool {
        let Some(moment) = self.stamp.of(metadata) else { return false };
        let unit = if self.unit == AgeUnit::Days { DAY } else { 60 };
        let seconds = (self.from.seconds - moment.seconds) as f64
            + (f64::from(self.from.nanoseconds) - f64::from(moment.nanoseconds)) / 1e9;
        let age = seconds / unit as f64;
        match (self.unit, self.compare) {
            // GNU gives days a second of grace.
            (AgeUnit::Days, Compare::Less) => age < self.units + 1.0 / DAY as f64,
            (AgeUnit::Minutes, Compare::Less) => age < self.units,
            (AgeUnit::Days, Compare::More) => age >= self.units + 1.0,
            (AgeUnit::Minutes, Compare::More) => age > self.units,
            // A day that has begun counts as whole, a minute that has begun does not.
            (AgeUnit::Days, Compare::Exactly) => age >= self.units && age < self.units + 1.0,
            (AgeUnit::Minutes, Compare::Exactly) => age < self.units && age >= self.units - 1.0,
        }
    }
}
