//! Brace expansion: finds `{a,b}` and `{1..9}` in the parts of a finished word, the way bash looks for them.
//!
//! Quoted text and expansions are opaque here: only unquoted bytes can be braces, commas or dots.

use super::Parsed;
use super::cursor::Reader;
use super::parts::Parts;
use crate::ast::{BraceExpansion, WordPart};
use crate::{Span, SyntaxErrorKind};

/// Stands for a part that cannot be looked into. Sources have no NUL bytes.
const OPAQUE: u8 = 0;

/// No brace closes here.
const NOWHERE: u32 = u32::MAX;

/// The parts with braces as nodes. `depth` is how far they may nest.
pub(super) fn expand(
    parts: Vec<WordPart>,
    depth: usize,
    reader: &mut Reader<'_, '_>,
) -> Parsed<Vec<WordPart>> {
    if !worth_looking(&parts) {
        return Ok(parts);
    }
    let mut text = Vec::new();
    let mut opaque = Vec::new();
    for part in parts {
        if let WordPart::Literal(literal) = part {
            text.extend_from_slice(&literal);
        } else {
            text.push(OPAQUE);
            opaque.push(part);
        }
    }
    if nesting(&text) > depth {
        return reader.error(SyntaxErrorKind::TooDeep(reader.limits.depth));
    }
    let mut parts = Parts::default();
    Expander { opaque: opaque.into_iter() }.expand(&text, &mut parts);
    Ok(parts.into_vec())
}

fn worth_looking(parts: &[WordPart]) -> bool {
    let mut separator = false;
    let mut closed = false;
    for part in parts {
        if let WordPart::Literal(text) = part {
            separator |= text.contains(&b',') || text.windows(2).any(|pair| pair == b"..");
            closed |= text.contains(&b'}');
        }
    }
    separator && closed
}

/// How many braces are open at most.
fn nesting(text: &[u8]) -> usize {
    let mut level = 0_usize;
    let mut deepest = 0;
    for byte in text {
        match byte {
            b'{' => level += 1,
            b'}' => level = level.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(level);
    }
    deepest
}

/// Builds the parts from left to right, so that opaque parts come back in their order.
struct Expander {
    opaque: std::vec::IntoIter<WordPart>,
}

impl Expander {
    fn expand(&mut self, text: &[u8], parts: &mut Parts) {
        let mut position = 0;
        for (open, close) in outermost(text) {
            self.plain(text.get(position..open).unwrap_or_default(), parts);
            let inside = text.get(open + 1..close).unwrap_or_default();
            if inside.contains(&b',') {
                self.alternatives(inside, parts);
            } else if let Some(sequence) = sequence(inside) {
                parts.push(WordPart::Brace(sequence));
            } else {
                self.plain(text.get(open..=close).unwrap_or_default(), parts);
            }
            position = close + 1;
        }
        self.plain(text.get(position..).unwrap_or_default(), parts);
    }

    /// Text without braces that mean anything.
    fn plain(&mut self, text: &[u8], parts: &mut Parts) {
        for (index, run) in text.split(|byte| *byte == OPAQUE).enumerate() {
            if index > 0 {
                parts.extend(self.opaque.next());
            }
            parts.literal(run);
        }
    }

    /// There may be one only: in `{a..{b,c}}` the outer braces vanish.
    fn alternatives(&mut self, inside: &[u8], parts: &mut Parts) {
        let mut words = Vec::new();
        for piece in split_at_commas(inside) {
            let mut alternative = Parts::default();
            self.expand(piece, &mut alternative);
            words.push(alternative.into_word(Span::default()));
        }
        parts.push(WordPart::Brace(BraceExpansion::Alternatives(words)));
    }
}

/// The pairs of braces that are not inside others. A word that begins with `{}` does not begin with a pair.
fn outermost(text: &[u8]) -> Vec<(usize, usize)> {
    let closing = closing_braces(text);
    let mut pairs = Vec::new();
    let mut position = 0;
    while let Some(byte) = text.get(position) {
        let lone = position == 0 && text.get(1) == Some(&b'}');
        let close = closing.get(position + 1).copied().unwrap_or(NOWHERE);
        if *byte == b'{' && !lone && close != NOWHERE {
            pairs.push((position, close as usize));
            position = close as usize;
        }
        position += 1;
    }
    pairs
}

/// For each opening brace the brace that closes it by count alone.
fn partners(text: &[u8]) -> Vec<u32> {
    let mut partners = vec![NOWHERE; text.len()];
    let mut open = Vec::new();
    for (position, byte) in text.iter().enumerate() {
        if *byte == b'{' {
            open.push(position);
        } else if *byte == b'}'
            && let Some(start) = open.pop()
            && let Some(place) = partners.get_mut(start)
        {
            *place = position as u32;
        }
    }
    partners
}

/// For each position the brace that closes what is open there: the first at its level that has a comma or dots
/// before it. In `{a},b}` that is the second. Computed from the right, so that a long word costs no more than
/// its length.
fn closing_braces(text: &[u8]) -> Vec<u32> {
    let partners = partners(text);
    let look = |table: &[u32], at: usize| table.get(at).copied().unwrap_or(NOWHERE);
    let mut before_separator = vec![NOWHERE; text.len() + 1];
    let mut after_separator = vec![NOWHERE; text.len() + 1];
    for (position, byte) in text.iter().enumerate().rev() {
        let mut next = position + 1;
        if *byte == b'{' {
            match look(&partners, position) {
                // The level never comes back.
                NOWHERE => continue,
                partner => next = partner as usize + 1,
            }
        }
        let separated = look(&after_separator, next);
        let before =
            if separates(text, position) { separated } else { look(&before_separator, next) };
        let after = if *byte == b'}' { position as u32 } else { separated };
        for (table, value) in [(&mut before_separator, before), (&mut after_separator, after)] {
            if let Some(place) = table.get_mut(position) {
                *place = value;
            }
        }
    }
    before_separator
}

/// A comma, or dots that something follows.
fn separates(text: &[u8], position: usize) -> bool {
    match text.get(position..) {
        Some([b'.', b'.', next, ..]) => *next != b'}',
        Some([b',', ..] | [b'.', b'.']) => true,
        _ => false,
    }
}

fn split_at_commas(text: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut level = 0_usize;
    let mut start = 0;
    for (position, byte) in text.iter().enumerate() {
        match byte {
            b'{' => level += 1,
            b'}' => level = level.saturating_sub(1),
            b',' if level == 0 => {
                pieces.push(text.get(start..position).unwrap_or_default());
                start = position + 1;
            }
            _ => {}
        }
    }
    pieces.push(text.get(start..).unwrap_or_default());
    pieces
}

/// `1..9`, `a..e`, either with a step.
fn sequence(inside: &[u8]) -> Option<BraceExpansion> {
    let text = std::str::from_utf8(inside).ok()?;
    let (first, rest) = text.split_once("..")?;
    let (last, step) = match rest.split_once("..") {
        Some((last, step)) => (last, number(step)?),
        None => (rest, 1),
    };
    if let (Some(first_number), Some(last_number)) = (number(first), number(last)) {
        let step = directed(step, first_number, last_number);
        let width = width(first, last);
        return Some(BraceExpansion::Numbers {
            first: first_number,
            last: last_number,
            step,
            width,
        });
    }
    let (first, last) = (letter(first)?, letter(last)?);
    let step = directed(step, i64::from(first), i64::from(last));
    Some(BraceExpansion::Letters { first, last, step })
}

fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let valid = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if valid { text.parse().ok() } else { None }
}

fn letter(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(*letter),
        _ => None,
    }
}

/// The step always leads from the first to the last; zero counts as one.
fn directed(step: i64, first: i64, last: i64) -> i64 {
    let size = step.saturating_abs().max(1);
    if first > last { -size } else { size }
}

/// Leading zeros on either side ask for numbers as wide as the wider side.
fn width(first: &str, last: &str) -> usize {
    let padded = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        digits.len() > 1 && digits.starts_with('0')
    };
    if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 }
}
