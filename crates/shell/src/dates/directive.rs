//! One conversion of a format, its flags and its width: `%-5Ed`.

/// What a composite (`%F`, `%c`) hands down to its parts.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub year_padding: Option<Padding>,
    pub uppercase: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Padding {
    None,
    Spaces,
    Zeros,
    /// Zeros, and a plus sign before years of more than four digits.
    Plus,
}

/// One conversion: `%-5Ed`.
#[derive(Clone, Copy)]
pub(super) struct Directive<'a> {
    /// All of it, for when it turns out to mean nothing.
    pub text: &'a [u8],
    pub padding: Option<Padding>,
    pub width: Option<usize>,
    pub uppercase: bool,
    pub swap_case: bool,
    /// `E` or `O`
    pub modifier: Option<u8>,
    pub colons: usize,
    pub letter: Option<u8>,
    pub year_padding: Option<Padding>,
}

/// No field of a date needs more; keeps `%999999999d` from filling memory.
const WIDEST: usize = 1 << 16;

impl<'a> Directive<'a> {
    /// Reads what follows the percent sign at the start of `text`.
    pub(super) fn parse(text: &'a [u8], style: Style) -> (Self, &'a [u8]) {
        let byte_at = |at: usize| text.get(at).copied();
        let mut directive = Directive {
            text,
            padding: None,
            width: None,
            uppercase: style.uppercase,
            swap_case: false,
            modifier: None,
            colons: 0,
            letter: None,
            year_padding: style.year_padding,
        };
        let mut at = 1;
        while let Some(flag) = byte_at(at) {
            match flag {
                b'_' => directive.padding = Some(Padding::Spaces),
                b'-' => directive.padding = Some(Padding::None),
                b'0' => directive.padding = Some(Padding::Zeros),
                b'+' => directive.padding = Some(Padding::Plus),
                b'^' => directive.uppercase = true,
                b'#' => directive.swap_case = true,
                _ => break,
            }
            at += 1;
        }
        while let Some(digit @ b'0'..=b'9') = byte_at(at) {
            let width = directive.width.unwrap_or(0) * 10 + usize::from(digit - b'0');
            directive.width = Some(width.min(WIDEST));
            at += 1;
        }
        if let Some(modifier @ (b'E' | b'O')) = byte_at(at) {
            directive.modifier = Some(modifier);
            at += 1;
        }
        let colons = text.iter().skip(at).take_while(|byte| **byte == b':').count();
        if byte_at(at + colons) == Some(b'z') {
            directive.colons = colons;
            at += colons;
        }
        directive.letter = byte_at(at);
        // A percent sign that is not next to the first one begins another conversion.
        let is_next = directive.letter == Some(b'%') && at > 1;
        if is_next {
            directive.letter = None;
        }
        let end = if is_next { at } else { text.len().min(at + 1) };
        let (own, rest) = text.split_at_checked(end).unwrap_or((text, &[]));
        directive.text = own;
        (directive, rest)
    }
}

/// Zeros go behind the sign, spaces before it.
pub(super) fn pad_number(
    out: &mut Vec<u8>,
    number: &str,
    sign: Option<u8>,
    digits: usize,
    directive: Directive<'_>,
) {
    let width = directive.width.unwrap_or(digits);
    let missing = width.saturating_sub(number.len() + usize::from(sign.is_some()));
    match directive.padding {
        Some(Padding::None) => out.extend(sign),
        Some(Padding::Spaces) => {
            out.resize(out.len() + missing, b' ');
            out.extend(sign);
        }
        _ => {
            out.extend(sign);
            out.resize(out.len() + missing, b'0');
        }
    }
    out.extend_from_slice(number.as_bytes());
}

pub(super) fn pad_text(out: &mut Vec<u8>, text: &[u8], directive: Directive<'_>) {
    let missing = directive.width.unwrap_or(0).saturating_sub(text.len());
    match directive.padding {
        Some(Padding::None) => {}
        Some(Padding::Zeros | Padding::Plus) => out.resize(out.len() + missing, b'0'),
        Some(Padding::Spaces) | None => out.resize(out.len() + missing, b' '),
    }
    out.extend_from_slice(text);
}
