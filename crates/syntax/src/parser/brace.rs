//! Brace expansion: finds `{a,b}` and `{1..9}` in the parts of a finished word, the way bash looks for them.
//!
//! Quoted text and expansions are opaque here: only unquoted bytes can be braces, commas or dots.

use bstr::BString;

use super::Parsed;
use super::cursor::Reader;
use super::parts::Parts;
use crate::ast::{BraceExpansion, Word, WordPart};
use crate::{Span, SyntaxErrorKind};

/// One unquoted byte, or anything that cannot be looked into.
#[derive(Debug, Clone)]
enum Atom {
    Byte(u8),
    Opaque(WordPart),
}

impl Atom {
    fn is(&self, expected: u8) -> bool {
        matches!(self, Atom::Byte(byte) if *byte == expected)
    }
}

/// The parts with braces as nodes. `depth` is how far they may nest.
pub(super) fn expand(
    parts: Vec<WordPart>,
    depth: usize,
    reader: &mut Reader<'_, '_>,
) -> Parsed<Vec<WordPart>> {
    if !worth_looking(&parts) {
        return Ok(parts);
    }
    let mut atoms = Vec::new();
    for part in parts {
        match part {
            WordPart::Literal(text) => atoms.extend(text.iter().map(|byte| Atom::Byte(*byte))),
            other => atoms.push(Atom::Opaque(other)),
        }
    }
    match expand_atoms(&atoms, depth) {
        Some(parts) => Ok(parts.into_vec()),
        None => Err(reader.error(SyntaxErrorKind::TooDeep(reader.limits.depth))),
    }
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

/// `None` if the braces nest too deeply.
fn expand_atoms(atoms: &[Atom], depth: usize) -> Option<Parts> {
    let depth = depth.checked_sub(1)?;
    let closing = closing_braces(atoms);
    let mut parts = Parts::default();
    let mut position = 0;
    while let Some(atom) = atoms.get(position) {
        let close = if atom.is(b'{') && !is_lone_pair(atoms, position) {
            closing.get(position + 1).copied().flatten()
        } else {
            None
        };
        let Some(close) = close else {
            push_atom(&mut parts, atom);
            position += 1;
            continue;
        };
        let inside = atoms.get(position + 1..close)?;
        if inside.iter().any(|atom| atom.is(b',')) {
            push_alternatives(&mut parts, inside, depth)?;
        } else if let Some(sequence) = sequence(inside) {
            parts.push(WordPart::Brace(sequence));
        } else {
            for atom in atoms.get(position..=close)? {
                push_atom(&mut parts, atom);
            }
        }
        position = close + 1;
    }
    Some(parts)
}

fn push_atom(parts: &mut Parts, atom: &Atom) {
    match atom {
        Atom::Byte(byte) => parts.literal(&[*byte]),
        Atom::Opaque(part) => parts.push(part.clone()),
    }
}

/// A word that begins with `{}` does not begin with a brace expansion.
fn is_lone_pair(atoms: &[Atom], position: usize) -> bool {
    position == 0 && atoms.get(1).is_some_and(|atom| atom.is(b'}'))
}

/// For each opening brace the brace that closes it by count alone.
fn partners(atoms: &[Atom]) -> Vec<Option<usize>> {
    let mut partners = vec![None; atoms.len()];
    let mut open = Vec::new();
    for (position, atom) in atoms.iter().enumerate() {
        if atom.is(b'{') {
            open.push(position);
        } else if atom.is(b'}')
            && let Some(start) = open.pop()
            && let Some(place) = partners.get_mut(start)
        {
            *place = Some(position);
        }
    }
    partners
}

/// For each position the brace that closes what is open there: the first at its level that has a comma or dots
/// before it. In `{a},b}` that is the second. Computed from the right, so that a long word costs no more than
/// its length.
fn closing_braces(atoms: &[Atom]) -> Vec<Option<usize>> {
    let partners = partners(atoms);
    // Entry n + 1 is about what stands behind atom n.
    let mut before_separator = vec![None; atoms.len() + 1];
    let mut after_separator = vec![None; atoms.len() + 1];
    for (position, atom) in atoms.iter().enumerate().rev() {
        let next = position + 1;
        let look = |table: &[Option<usize>], at: usize| table.get(at).copied().flatten();
        let (before, after) = if atom.is(b'{') {
            // Without a partner the level never comes back.
            match partners.get(position).copied().flatten() {
                Some(partner) => {
                    (look(&before_separator, partner + 1), look(&after_separator, partner + 1))
                }
                None => (None, None),
            }
        } else if atom.is(b'}') {
            (look(&before_separator, next), Some(position))
        } else if separates(atoms, position) {
            (look(&after_separator, next), look(&after_separator, next))
        } else {
            (look(&before_separator, next), look(&after_separator, next))
        };
        for (table, value) in [(&mut before_separator, before), (&mut after_separator, after)] {
            if let Some(place) = table.get_mut(position) {
                *place = value;
            }
        }
    }
    before_separator
}

/// A comma, or dots that something follows.
fn separates(atoms: &[Atom], position: usize) -> bool {
    let is = |at: usize, byte: u8| atoms.get(at).is_some_and(|atom| atom.is(byte));
    is(position, b',') || (is(position, b'.') && is(position + 1, b'.') && !is(position + 2, b'}'))
}

fn push_alternatives(parts: &mut Parts, inside: &[Atom], depth: usize) -> Option<()> {
    let mut words = Vec::new();
    for piece in split_at_commas(inside) {
        words.push(Word { parts: expand_atoms(piece, depth)?.into_vec(), span: Span::default() });
    }
    // There may be one only: in `{a..{b,c}}` the outer braces vanish.
    parts.push(WordPart::Brace(BraceExpansion::Alternatives(words)));
    Some(())
}

fn split_at_commas(atoms: &[Atom]) -> Vec<&[Atom]> {
    let mut pieces = Vec::new();
    let mut level = 0_usize;
    let mut start = 0;
    for (position, atom) in atoms.iter().enumerate() {
        if atom.is(b'{') {
            level += 1;
        } else if atom.is(b'}') {
            level = level.saturating_sub(1);
        } else if atom.is(b',') && level == 0 {
            pieces.push(atoms.get(start..position).unwrap_or_default());
            start = position + 1;
        }
    }
    pieces.push(atoms.get(start..).unwrap_or_default());
    pieces
}

/// `1..9`, `a..e`, either with a step.
fn sequence(inside: &[Atom]) -> Option<BraceExpansion> {
    let mut text = BString::default();
    for atom in inside {
        match atom {
            Atom::Byte(byte) => text.push(*byte),
            Atom::Opaque(_) => return None,
        }
    }
    let text = std::str::from_utf8(&text).ok()?;
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
