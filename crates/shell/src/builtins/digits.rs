//! Numbers in decimal digits, written quickly: tools that number lines write millions of them.

/// A natural number that is counted up in its digits.
#[derive(Debug, Clone)]
pub struct Counter {
    /// Digits, then what stands behind every number.
    text: Vec<u8>,
    /// Where the digits end.
    end: usize,
    /// Where the first digit is; what is before it only fills the width.
    first: usize,
}

impl Counter {
    /// Begins with a number in digits, such as `007`. `fill` stands in front of numbers narrower than `width`.
    pub fn new(digits: &[u8], width: usize, fill: u8, suffix: &[u8]) -> Self {
        let first = width.saturating_sub(digits.len());
        let mut text = vec![fill; first];
        text.extend_from_slice(digits);
        let end = text.len();
        text.extend_from_slice(suffix);
        Counter { text, end, first }
    }

    /// The number as it stands, with all around it.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The same without the suffix.
    pub fn number(&self) -> &[u8] {
        self.text.get(..self.end).unwrap_or_default()
    }

    pub fn increment(&mut self) {
        let digits = self.text.get_mut(self.first..self.end).unwrap_or_default();
        for digit in digits.iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
        // One digit more: it takes the place of a fill, or widens the number.
        if let Some(before) = self.first.checked_sub(1) {
            self.first = before;
            if let Some(slot) = self.text.get_mut(before) {
                *slot = b'1';
            }
        } else {
            self.text.insert(0, b'1');
            self.end += 1;
        }
    }
}

/// Appends a number, with blanks in front up to `width`.
pub fn push_padded(text: &mut Vec<u8>, number: u64, width: usize) {
    let mut digits = [b' '; 20];
    let mut rest = number;
    let mut length = 0;
    for slot in digits.iter_mut().rev() {
        *slot = b'0' + (rest % 10) as u8;
        rest /= 10;
        length += 1;
        if rest == 0 {
            break;
        }
    }
    for _ in length..width {
        text.push(b' ');
    }
    text.extend_from_slice(digits.get(digits.len() - length..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting() {
        let mut counter = Counter::new(b"8", 2, b' ', b"\t");
        let mut seen = Vec::new();
        for _ in 0..93 {
            seen.push(String::from_utf8_lossy(counter.text()).into_owned());
            counter.increment();
        }
        assert_eq!(seen.first().unwrap(), " 8\t");
        assert_eq!(seen.get(1).unwrap(), " 9\t");
        assert_eq!(seen.get(2).unwrap(), "10\t");
        assert_eq!(seen.get(91).unwrap(), "99\t");
        assert_eq!(seen.get(92).unwrap(), "100\t");
        let mut zeros = Counter::new(b"099", 0, b' ', b"");
        zeros.increment();
        assert_eq!(zeros.number(), b"100");
    }

    #[test]
    fn padding() {
        for (number, width, expected) in
            [(0, 1, "0"), (7, 7, "      7"), (u64::MAX, 3, "18446744073709551615")]
        {
            let mut text = Vec::new();
            push_padded(&mut text, number, width);
            assert_eq!(String::from_utf8_lossy(&text), expected);
        }
    }
}
