//! Sizes in the unit that was asked for, rounded up as GNU does.

/// How a size is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scale {
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The unit that fits, with a letter.
    Human { base: u64 },
    /// In units of so many bytes, with this behind the number.
    Unit { bytes: u64, suffix: &'static str },
}

const LETTERS: [&str; 9] = ["", "K", "M", "G", "T", "P", "E", "Z", "Y"];
const DECIMAL: [&str; 9] = ["", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];

impl Scale {
    pub(super) const HUMAN: Scale = Scale { kind: Kind::Human { base: 1024 } };
    pub(super) const SI: Scale = Scale { kind: Kind::Human { base: 1000 } };
    pub(super) const BYTES: Scale = Scale { kind: Kind::Unit { bytes: 1, suffix: "" } };
    pub(super) const KIBIBYTES: Scale = Scale { kind: Kind::Unit { bytes: 1024, suffix: "" } };

    /// `K`, `MB`, `2MiB`, `human-readable`, `512`.
    pub(super) fn parse(text: &[u8]) -> Option<Scale> {
        match text {
            b"human-readable" => return Some(Scale::HUMAN),
            b"si" => return Some(Scale::SI),
            _ => {}
        }
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, unit) = text.split_at(digits);
        let number = std::str::from_utf8(number).ok()?;
        let count: u64 = if number.is_empty() { 1 } else { number.parse().ok()? };
        let (bytes, suffix) = unit_of(unit)?;
        let bytes = count.checked_mul(bytes).filter(|bytes| *bytes > 0)?;
        // A number in front hides the letter.
        let suffix = if number.is_empty() { suffix } else { "" };
        if number.is_empty() && unit.is_empty() {
            return None;
        }
        Some(Scale { kind: Kind::Unit { bytes, suffix } })
    }

    pub(super) fn show(self, bytes: u64) -> String {
        match self.kind {
            Kind::Unit { bytes: unit, suffix } => format!("{}{suffix}", bytes.div_ceil(unit)),
            Kind::Human { base } => human(bytes, base),
        }
    }
}

fn unit_of(text: &[u8]) -> Option<(u64, &'static str)> {
    let (letter, rest) = match text.split_first() {
        None => return Some((1, "")),
        Some((letter, rest)) => (letter.to_ascii_uppercase(), rest),
    };
    let power = LETTERS.iter().position(|known| known.as_bytes() == [letter])? as u32;
    let (base, suffixes): (u64, _) = match rest {
        b"" | b"iB" => (1024, LETTERS),
        b"B" => (1000, DECIMAL),
        _ => return None,
    };
    Some((base.checked_pow(power)?, suffixes.get(power as usize).copied()?))
}

fn human(bytes: u64, base: u64) -> String {
    let mut power = 0;
    let mut unit = 1_u128;
    let (bytes, base) = (u128::from(bytes), u128::from(base));
    while bytes >= unit * base {
        unit *= base;
        power += 1;
    }
    loop {
        let letter = match (LETTERS.get(power).copied().unwrap_or_default(), base) {
            ("K", 1000) => "k",
            (letter, _) => letter,
        };
        let tenths = (bytes * 10).div_ceil(unit);
        if power == 0 {
            return bytes.to_string();
        }
        if tenths < 100 {
            return format!("{}.{}{letter}", tenths / 10, tenths % 10);
        }
        let whole = bytes.div_ceil(unit);
        if whole < base {
            return format!("{whole}{letter}");
        }
        unit *= base;
        power += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_for_people() {
        let table = [
            (0, "0", "0"),
            (999, "999", "999"),
            (1000, "1000", "1.0k"),
            (1023, "1023", "1.1k"),
            (1024, "1.0K", "1.1k"),
            (1025, "1.1K", "1.1k"),
            (10_139, "10K", "11k"),
            (10_240, "10K", "11k"),
            (10_241, "11K", "11k"),
            (1_048_575, "1.0M", "1.1M"),
            (1_048_577, "1.1M", "1.1M"),
            (999_999, "977K", "1.0M"),
            (u64::MAX, "16E", "19E"),
        ];
        for (bytes, binary, decimal) in table {
            assert_eq!(Scale::HUMAN.show(bytes), binary);
            assert_eq!(Scale::SI.show(bytes), decimal);
        }
    }

    #[test]
    fn units() {
        let show = |text: &str, bytes| Scale::parse(text.as_bytes()).map(|scale| scale.show(bytes));
        assert_eq!(show("K", 2049).as_deref(), Some("3K"));
        assert_eq!(show("1K", 2049).as_deref(), Some("3"));
        assert_eq!(show("kB", 2049).as_deref(), Some("3kB"));
        assert_eq!(show("MiB", 2049).as_deref(), Some("1M"));
        assert_eq!(show("512", 1025).as_deref(), Some("3"));
        assert_eq!(show("foo", 1), None);
        assert_eq!(show("0", 1), None);
    }
}
