//! The list of `cut`: `1,3-5,7-`.

/// From the first to the last position, counted from 1, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    pub first: u64,
    pub last: u64,
}

/// What is counted, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Fields,
    Bytes,
}

/// Reads a list. Ranges come back sorted and without overlap; neighbours stay apart.
pub fn parse(text: &[u8], unit: Unit) -> Result<Vec<Range>, String> {
    let mut ranges = Vec::new();
    let is_separator = |byte: &u8| matches!(byte, b',' | b' ' | b'\t');
    let mut start = 0;
    loop {
        let rest = text.get(start..).unwrap_or_default();
        let length = rest.iter().position(is_separator).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(length);
        ranges.push(parse_range(part, rest, unit)?);
        if behind.is_empty() {
            break;
        }
        start += length + 1;
    }
    ranges.sort_unstable();
    Ok(merge_overlapping(&ranges))
}

/// Everything the ranges leave out.
pub fn complement(ranges: &[Range]) -> Vec<Range> {
    let mut gaps = Vec::new();
    let mut next = 1;
    for range in ranges {
        if range.first > next {
            gaps.push(Range { first: next, last: range.first - 1 });
        }
        next = next.max(range.last.saturating_add(1));
    }
    if next < u64::MAX {
        gaps.push(Range { first: next, last: u64::MAX });
    }
    gaps
}

/// One range; `rest` is the list from here on, which messages show.
fn parse_range(part: &[u8], rest: &[u8], unit: Unit) -> Result<Range, String> {
    let from = |behind: &[u8]| rest.get(part.len() - behind.len()..).unwrap_or_default();
    let (first, behind) = parse_number(part, unit)?;
    let Some(behind) = behind.strip_prefix(b"-") else {
        if !behind.is_empty() {
            return Err(invalid(from(behind), unit));
        }
        return match first {
            None | Some(0) => Err(from_one(unit)),
            Some(number) => Ok(Range { first: number, last: number }),
        };
    };
    if first == Some(0) {
        return Err(from_one(unit));
    }
    let (last, behind) = parse_number(behind, unit)?;
    match behind.first() {
        None => {}
        Some(b'-') => {
            return Err(match unit {
                Unit::Fields => "invalid field range".to_owned(),
                Unit::Bytes => "invalid byte or character range".to_owned(),
            });
        }
        Some(_) => return Err(invalid(from(behind), unit)),
    }
    match (first, last) {
        (None, None) => Err("invalid range with no endpoint: -".to_owned()),
        (first, None) => Ok(Range { first: first.unwrap_or(1), last: u64::MAX }),
        (first, Some(last)) if last < first.unwrap_or(1) => {
            Err("invalid decreasing range".to_owned())
        }
        (first, Some(last)) => Ok(Range { first: first.unwrap_or(1), last }),
    }
}

/// The number at the start, if there is one, and what is behind it.
fn parse_number(part: &[u8], unit: Unit) -> Result<(Option<u64>, &[u8]), String> {
    let length = part.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, behind) = part.split_at(length);
    if digits.is_empty() {
        return Ok((None, behind));
    }
    let digits = String::from_utf8_lossy(digits);
    match digits.parse::<u64>() {
        Ok(number) if number < u64::MAX => Ok((Some(number), behind)),
        _ => Err(match unit {
            Unit::Fields => format!("field number '{digits}' is too large"),
            Unit::Bytes => format!("byte/character offset '{digits}' is too large"),
        }),
    }
}

fn invalid(rest: &[u8], unit: Unit) -> String {
    let rest = String::from_utf8_lossy(rest);
    match unit {
        Unit::Fields => format!("invalid field value '{rest}'"),
        Unit::Bytes => format!("invalid byte/character position '{rest}'"),
    }
}

fn from_one(unit: Unit) -> String {
    match unit {
        Unit::Fields => "fields are numbered from 1".to_owned(),
        Unit::Bytes => "byte/character positions are numbered from 1".to_owned(),
    }
}

fn merge_overlapping(ranges: &[Range]) -> Vec<Range> {
    let mut merged: Vec<Range> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(before) if range.first <= before.last => before.last = before.last.max(range.last),
            _ => merged.push(*range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(pairs: &[(u64, u64)]) -> Vec<Range> {
        pairs.iter().map(|&(first, last)| Range { first, last }).collect()
    }

    #[test]
    fn lists() {
        let end = u64::MAX;
        let cases: [(&str, &[(u64, u64)]); 7] = [
            ("2", &[(2, 2)]),
            ("3,1", &[(1, 1), (3, 3)]),
            ("1-2,2-3", &[(1, 3)]),
            ("1,2", &[(1, 1), (2, 2)]),
            ("-2", &[(1, 2)]),
            ("2- 1", &[(1, 1), (2, end)]),
            ("5-,3-9", &[(3, end)]),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text.as_bytes(), Unit::Fields), Ok(ranges(expected)), "{text}");
        }
        assert_eq!(complement(&ranges(&[(2, 3), (5, 5)])), ranges(&[(1, 1), (4, 4), (6, end)]));
        assert_eq!(complement(&ranges(&[(1, end)])), []);
    }

    #[test]
    fn wrong_lists() {
        let cases = [
            ("0", "fields are numbered from 1"),
            ("", "fields are numbered from 1"),
            ("1,,2", "fields are numbered from 1"),
            ("0-2", "fields are numbered from 1"),
            ("2-1", "invalid decreasing range"),
            ("-0", "invalid decreasing range"),
            ("-", "invalid range with no endpoint: -"),
            ("1--2", "invalid field range"),
            ("1-2-3", "invalid field range"),
            ("x", "invalid field value 'x'"),
            ("1a,2", "invalid field value 'a,2'"),
            ("1-a,2", "invalid field value 'a,2'"),
            ("99999999999999999999", "field number '99999999999999999999' is too large"),
        ];
        for (text, message) in cases {
            assert_eq!(parse(text.as_bytes(), Unit::Fields), Err(message.to_owned()), "{text}");
        }
    }
}
