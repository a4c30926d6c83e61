//! The sets of `tr`: escapes, ranges, classes, repeats.

use bstr::ByteSlice;

/// One construct of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    Byte(u8),
    Range(u8, u8),
    Class(Class),
    /// `[=c=]`
    Equivalence(u8),
    /// `[c*n]`
    Repeat(u8, usize),
    /// `[c*]`: as often as it takes to make the second set as long as the first.
    Fill(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Alnum,
    Alpha,
    Blank,
    Control,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    HexDigit,
}

impl Class {
    fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"alnum" => Class::Alnum,
            b"alpha" => Class::Alpha,
            b"blank" => Class::Blank,
            b"cntrl" => Class::Control,
            b"digit" => Class::Digit,
            b"graph" => Class::Graph,
            b"lower" => Class::Lower,
            b"print" => Class::Print,
            b"punct" => Class::Punct,
            b"space" => Class::Space,
            b"upper" => Class::Upper,
            b"xdigit" => Class::HexDigit,
            _ => return None,
        })
    }

    pub fn contains(self, byte: u8) -> bool {
        match self {
            Class::Alnum => byte.is_ascii_alphanumeric(),
            Class::Alpha => byte.is_ascii_alphabetic(),
            Class::Blank => matches!(byte, b' ' | b'\t'),
            Class::Control => byte.is_ascii_control(),
            Class::Digit => byte.is_ascii_digit(),
            Class::Graph => byte.is_ascii_graphic(),
            Class::Lower => byte.is_ascii_lowercase(),
            Class::Print => byte.is_ascii_graphic() || byte == b' ',
            Class::Punct => byte.is_ascii_punctuation(),
            Class::Space => matches!(byte, b' ' | 9..=13),
            Class::Upper => byte.is_ascii_uppercase(),
            Class::HexDigit => byte.is_ascii_hexdigit(),
        }
    }

    /// Upper or lower: the two that stand for a change of case.
    pub fn is_case(self) -> bool {
        matches!(self, Class::Lower | Class::Upper)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Set {
    pub elements: Vec<Element>,
    pub warnings: Vec<String>,
}

/// Repeats beyond this are refused: no set of bytes needs them.
const MOST_REPEATS: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetError {
    Wrong(String),
    /// What is valid but not done here.
    Unsupported(String),
}

fn wrong(message: impl Into<String>) -> SetError {
    SetError::Wrong(message.into())
}

impl Set {
    pub fn parse(text: &[u8]) -> Result<Self, SetError> {
        let (bytes, warnings) = unescape(text);
        let mut set = Set { elements: Vec::new(), warnings };
        let mut rest = bytes.as_slice();
        // A construct has at least three bytes.
        while rest.len() > 2 {
            let (element, length) = match parse_bracketed(rest)? {
                Some(found) => found,
                None => parse_range_or_byte(rest)?,
            };
            set.elements.push(element);
            rest = rest.get(length..).unwrap_or_default();
        }
        set.elements.extend(rest.iter().map(|byte| Element::Byte(byte.value)));
        Ok(set)
    }

    pub fn has(&self, is_wanted: impl Fn(&Element) -> bool) -> bool {
        self.elements.iter().any(is_wanted)
    }

    /// Every byte in turn; fills are left out.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for element in &self.elements {
            element.expand(&mut bytes);
        }
        bytes
    }
}

impl Element {
    pub fn expand(&self, into: &mut Vec<u8>) {
        match *self {
            Element::Byte(byte) | Element::Equivalence(byte) => into.push(byte),
            Element::Range(first, last) => into.extend(first..=last),
            Element::Class(class) => into.extend((0..=255).filter(|byte| class.contains(*byte))),
            Element::Repeat(byte, count) => into.extend(std::iter::repeat_n(byte, count)),
            Element::Fill(_) => {}
        }
    }

    pub fn length(&self) -> usize {
        match *self {
            Element::Byte(_) | Element::Equivalence(_) => 1,
            Element::Range(first, last) => usize::from(last - first) + 1,
            Element::Class(class) => (0..=255).filter(|byte| class.contains(*byte)).count(),
            Element::Repeat(_, count) => count,
            Element::Fill(_) => 0,
        }
    }
}

/// A byte of a set; one that was escaped never begins or ends a construct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unescaped {
    value: u8,
    escaped: bool,
}

impl Unescaped {
    fn is(self, byte: u8) -> bool {
        self.value == byte && !self.escaped
    }
}

fn unescape(text: &[u8]) -> (Vec<Unescaped>, Vec<String>) {
    let mut bytes = Vec::new();
    let mut warnings = Vec::new();
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'\\' {
            bytes.push(Unescaped { value: byte, escaped: false });
            continue;
        }
        let value = match rest.first() {
            None => {
                let warning = "warning: an unescaped backslash at end of string is not portable";
                warnings.push(warning.to_owned());
                bytes.push(Unescaped { value: b'\\', escaped: false });
                break;
            }
            Some(b'0'..=b'7') => {
                let (value, length) = octal(rest, &mut warnings);
                rest = rest.get(length - 1..).unwrap_or_default();
                value
            }
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'v') => 11,
            Some(&other) => other,
        };
        rest = rest.get(1..).unwrap_or_default();
        bytes.push(Unescaped { value, escaped: true });
    }
    (bytes, warnings)
}

/// Up to three octal digits; the third only as long as the value fits a byte.
fn octal(text: &[u8], warnings: &mut Vec<String>) -> (u8, usize) {
    let digits: Vec<u8> = text
        .iter()
        .take(3)
        .take_while(|byte| (b'0'..=b'7').contains(*byte))
        .map(|digit| digit - b'0')
        .collect();
    let value = digits.iter().fold(0_u32, |value, digit| value * 8 + u32::from(*digit));
    if let (Err(_), [one, two, three]) = (u8::try_from(value), digits.as_slice()) {
        warnings.push(format!(
            "warning: the ambiguous octal escape \\{one}{two}{three} is being\n\tinterpreted as the \
             2-byte sequence \\0{one}{two}, {three}"
        ));
        return (one * 8 + two, 2);
    }
    (value as u8, digits.len())
}

/// `[:class:]`, `[=c=]`, `[c*n]`, and how many bytes it takes.
fn parse_bracketed(text: &[Unescaped]) -> Result<Option<(Element, usize)>, SetError> {
    let [open, kind, inside @ ..] = text else { return Ok(None) };
    if !open.is(b'[') {
        return Ok(None);
    }
    if kind.is(b':') || kind.is(b'=') {
        let end = inside
            .windows(2)
            .position(|two| matches!(two, [one, other] if one.is(kind.value) && other.is(b']')));
        if let Some(length) = end {
            let name: Vec<u8> = inside.iter().take(length).map(|byte| byte.value).collect();
            match parse_class(kind.value, &name) {
                Ok(element) => return Ok(Some((element, length + 4))),
                // `[:*5]` and `[=*]` are repeats of these two bytes.
                Err(_) if is_repeat(inside) => {}
                Err(message) => return Err(wrong(message)),
            }
        }
    }
    parse_repeat(kind.value, inside)
}

fn is_repeat(inside: &[Unescaped]) -> bool {
    let [star, count @ ..] = inside else { return false };
    let digits = count.iter().take_while(|byte| byte.value.is_ascii_digit()).count();
    star.is(b'*') && count.get(digits).is_some_and(|byte| byte.is(b']'))
}

fn parse_class(kind: u8, name: &[u8]) -> Result<Element, String> {
    match (kind, name) {
        (b':', b"") => Err("missing character class name '[::]'".to_owned()),
        (b':', name) => Class::named(name)
            .map(Element::Class)
            .ok_or_else(|| format!("invalid character class '{}'", name.to_str_lossy())),
        (_, b"") => Err("missing equivalence class character '[==]'".to_owned()),
        (_, [byte]) => Ok(Element::Equivalence(*byte)),
        (_, name) => {
            let name = name.to_str_lossy();
            Err(format!("{name}: equivalence class operand must be a single character"))
        }
    }
}

/// `[c*]` or `[c*n]`; the count is octal if it begins with a zero.
fn parse_repeat(byte: u8, inside: &[Unescaped]) -> Result<Option<(Element, usize)>, SetError> {
    let [star, rest @ ..] = inside else { return Ok(None) };
    if !star.is(b'*') {
        return Ok(None);
    }
    let unescaped = rest.iter().take_while(|byte| !byte.escaped);
    let Some(length) = unescaped.clone().position(|byte| byte.value == b']') else {
        return Ok(None);
    };
    let digits: String = unescaped.take(length).map(|byte| char::from(byte.value)).collect();
    let consumed = length + 4;
    if digits.is_empty() {
        return Ok(Some((Element::Fill(byte), consumed)));
    }
    let base = if digits.starts_with('0') { 8 } else { 10 };
    let is_number = digits.chars().all(|digit| digit.is_digit(base));
    if !is_number {
        return Err(wrong(format!("invalid repeat count '{digits}' in [c*n] construct")));
    }
    match usize::from_str_radix(&digits, base) {
        Ok(0) => Ok(Some((Element::Fill(byte), consumed))),
        Ok(count) if count <= MOST_REPEATS => Ok(Some((Element::Repeat(byte, count), consumed))),
        _ => Err(SetError::Unsupported(format!("repeat count {digits}"))),
    }
}

fn parse_range_or_byte(text: &[Unescaped]) -> Result<(Element, usize), SetError> {
    match text {
        [first, dash, last, ..] if dash.is(b'-') => {
            if last.value < first.value {
                let show = |byte: u8| byte.escape_ascii().to_string();
                let (first, last) = (show(first.value), show(last.value));
                return Err(wrong(format!(
                    "range-endpoints of '{first}-{last}' are in reverse collating sequence order"
                )));
            }
            Ok((Element::Range(first.value, last.value), 3))
        }
        [first, ..] => Ok((Element::Byte(first.value), 1)),
        [] => Ok((Element::Byte(0), 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(text: &str) -> Vec<Element> {
        Set::parse(text.as_bytes()).unwrap().elements
    }

    #[test]
    fn constructs() {
        use Element::{Byte, Equivalence, Fill, Range, Repeat};
        let cases: [(&str, &[Element]); 13] = [
            ("ab", &[Byte(b'a'), Byte(b'b')]),
            ("a-c", &[Range(b'a', b'c')]),
            ("a-", &[Byte(b'a'), Byte(b'-')]),
            ("a\\-c", &[Byte(b'a'), Byte(b'-'), Byte(b'c')]),
            ("[:digit:]", &[Element::Class(Class::Digit)]),
            ("[=x=]", &[Equivalence(b'x')]),
            ("[x*3]", &[Repeat(b'x', 3)]),
            ("[x*010]", &[Repeat(b'x', 8)]),
            ("[x*]", &[Fill(b'x')]),
            ("[:*]", &[Fill(b':')]),
            ("[a]", &[Byte(b'['), Byte(b'a'), Byte(b']')]),
            ("\\141\\n\\\\", &[Byte(b'a'), Byte(b'\n'), Byte(b'\\')]),
            ("\\0-\\3", &[Range(0, 3)]),
        ];
        for (text, expected) in cases {
            assert_eq!(elements(text), expected, "{text:?}");
        }
    }

    #[test]
    fn wrong_constructs() {
        let cases = [
            ("z-a", "range-endpoints of 'z-a' are in reverse collating sequence order"),
            ("[:foo:]", "invalid character class 'foo'"),
            ("[::]", "missing character class name '[::]'"),
            ("[=ab=]", "ab: equivalence class operand must be a single character"),
            ("[x*08]", "invalid repeat count '08' in [c*n] construct"),
        ];
        for (text, message) in cases {
            assert_eq!(Set::parse(text.as_bytes()), Err(wrong(message)), "{text:?}");
        }
    }

    #[test]
    fn octal_that_is_too_large_gives_two_bytes() {
        let set = Set::parse(b"\\400").unwrap();
        assert_eq!(set.elements, [Element::Byte(0o40), Element::Byte(b'0')]);
        assert_eq!(set.warnings.len(), 1);
    }
}
