//! `%-08.3f`: flags, width, precision, letter.

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Specification {
    /// `-`
    pub left: bool,
    /// `0`
    pub zeros: bool,
    /// `+`
    pub plus: bool,
    /// A space.
    pub space: bool,
    /// `#`
    pub alternative: bool,
    pub width: usize,
    pub precision: Option<usize>,
    /// Absent: the format ends before it.
    pub letter: Option<u8>,
    /// What stands between the parentheses of `%(…)T`.
    pub time_format: Vec<u8>,
}

impl Specification {
    /// The text up to the precision; bytes, as bash counts here.
    pub fn cut<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        match self.precision {
            Some(most) => text.get(..most).unwrap_or(text),
            None => text,
        }
    }
}

/// Reads a specification from its percent sign on: what it says, and how many bytes it is. `star` gives the
/// number that a `*` stands for.
pub(super) fn read(text: &[u8], mut star: impl FnMut() -> i64) -> (Specification, usize) {
    let mut specification = Specification::default();
    let mut at = 1;
    while let Some(flag) = text.get(at) {
        match flag {
            b'-' => specification.left = true,
            b'0' => specification.zeros = true,
            b'+' => specification.plus = true,
            b' ' => specification.space = true,
            b'#' => specification.alternative = true,
            // Digits are not grouped in the C locale.
            b'\'' => {}
            _ => break,
        }
        at += 1;
    }
    match text.get(at) {
        Some(b'*') => {
            let width = star();
            specification.left |= width < 0;
            specification.width = usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX);
            at += 1;
        }
        _ => specification.width = read_number(text, &mut at),
    }
    if text.get(at) == Some(&b'.') {
        at += 1;
        specification.precision = match text.get(at) {
            Some(b'*') => {
                at += 1;
                usize::try_from(star()).ok()
            }
            // A negative precision is as if there were none.
            Some(b'-') => {
                at += 1;
                read_number(text, &mut at);
                None
            }
            _ => Some(read_number(text, &mut at)),
        };
    }
    if let Some(used) = read_time_format(text.get(at..).unwrap_or_default(), &mut specification) {
        return (specification, at + used);
    }
    while matches!(text.get(at), Some(b'h' | b'j' | b'l' | b'L' | b't' | b'z')) {
        at += 1;
    }
    specification.letter = text.get(at).copied();
    (specification, text.len().min(at + 1))
}

fn read_number(text: &[u8], at: &mut usize) -> usize {
    let mut number = 0_usize;
    while let Some(digit @ b'0'..=b'9') = text.get(*at) {
        number = number.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
        *at += 1;
    }
    number
}

/// `(…)T`; parentheses inside must be balanced.
fn read_time_format(text: &[u8], specification: &mut Specification) -> Option<usize> {
    if text.first() != Some(&b'(') {
        return None;
    }
    let mut depth = 0_usize;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            if text.get(at + 1) != Some(&b'T') {
                return None;
            }
            specification.time_format = text.get(1..at).unwrap_or_default().to_vec();
            specification.letter = Some(b'T');
            return Some(at + 2);
        }
    }
    None
}
