//! Brace expansion: `a{b,c}` is `ab ac`, `{1..3}` is `1 2 3`. It comes first and knows nothing of the rest.
//!
//! Words are made one at a time, so that a product of millions costs no memory; how many there will be is
//! counted before the first is made.

use std::borrow::Cow;

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{BraceExpansion, Parameter, ParameterExpansion, WordPart};

use crate::status::Running;

/// A part of a word, or text that a sequence made.
#[derive(Debug, Clone)]
pub(super) enum Piece<'a> {
    Part(&'a WordPart),
    Text(BString),
    /// What text and its neighbour became together.
    Made(Box<WordPart>),
}

pub(super) fn has_braces(parts: &[WordPart]) -> bool {
    parts.iter().any(|part| matches!(part, WordPart::Brace(_)))
}

/// How many words these parts become.
pub(super) fn count(parts: &[WordPart]) -> u64 {
    parts.iter().fold(1_u64, |product, part| match part {
        WordPart::Brace(brace) => product.saturating_mul(match brace {
            BraceExpansion::Alternatives(words) => {
                words.iter().fold(0_u64, |sum, word| sum.saturating_add(count(&word.parts)))
            }
            BraceExpansion::Numbers { first, last, step, .. } => steps(*first, *last, *step),
            BraceExpansion::Letters { first, last, step } => {
                steps(i64::from(*first), i64::from(*last), *step)
            }
        }),
        _ => product,
    })
}

/// The sign of the step does not matter, and zero is one.
fn steps(first: i64, last: i64, step: i64) -> u64 {
    (first.abs_diff(last) / step.unsigned_abs().max(1)).saturating_add(1)
}

/// Gives every word to `visit`, in bash's order.
pub(super) fn each_word<'a>(
    parts: &'a [WordPart],
    visit: &mut dyn FnMut(&[Piece<'a>]) -> Running<()>,
) -> Running<()> {
    walk(&Rest { parts, next: None }, &mut Vec::new(), visit)
}

/// What is still to come after the pieces chosen so far.
struct Rest<'r, 'a> {
    parts: &'a [WordPart],
    next: Option<&'r Rest<'r, 'a>>,
}

fn walk<'a>(
    rest: &Rest<'_, 'a>,
    chosen: &mut Vec<Piece<'a>>,
    visit: &mut dyn FnMut(&[Piece<'a>]) -> Running<()>,
) -> Running<()> {
    let before = chosen.len();
    let mut rest = rest;
    let mut parts = rest.parts;
    let result = loop {
        match parts.split_first() {
            None => match rest.next {
                None => break visit(chosen),
                Some(next) => {
                    rest = next;
                    parts = next.parts;
                }
            },
            Some((WordPart::Brace(brace), after)) => {
                let after = Rest { parts: after, next: rest.next };
                // Each brace is one level, and a line may hold very many.
                break stacker::maybe_grow(64 << 10, 1 << 20, || {
                    choose(brace, &after, chosen, visit)
                });
            }
            Some((part, after)) => {
                chosen.push(Piece::Part(part));
                parts = after;
            }
        }
    };
    chosen.truncate(before);
    result
}

fn choose<'a>(
    brace: &'a BraceExpansion,
    after: &Rest<'_, 'a>,
    chosen: &mut Vec<Piece<'a>>,
    visit: &mut dyn FnMut(&[Piece<'a>]) -> Running<()>,
) -> Running<()> {
    match brace {
        BraceExpansion::Alternatives(words) => words.iter().try_for_each(|word| {
            walk(&Rest { parts: &word.parts, next: Some(after) }, chosen, visit)
        }),
        BraceExpansion::Numbers { first, last, step, width } => sequence(*first, *last, *step)
            .try_for_each(|number| {
                chosen.push(Piece::Text(padded(number, *width)));
                let result = walk(after, chosen, visit);
                chosen.pop();
                result
            }),
        BraceExpansion::Letters { first, last, step } => {
            sequence(i64::from(*first), i64::from(*last), *step).try_for_each(|letter| {
                chosen.push(letter_piece(letter as u8));
                let result = walk(after, chosen, visit);
                chosen.pop();
                result
            })
        }
    }
}

/// A backslash that a sequence makes is one that quotes: what is left of it is nothing.
fn letter_piece(letter: u8) -> Piece<'static> {
    match letter {
        b'\\' => Piece::Made(Box::new(WordPart::SingleQuoted(BString::default()))),
        letter => Piece::Text(vec![letter].into()),
    }
}

/// The word, if it is nothing but text without a tilde in front: the usual case.
pub(super) fn plain_text(pieces: &[Piece<'_>]) -> Option<BString> {
    let mut all = BString::default();
    for text in pieces.iter().map(text_of) {
        all.extend_from_slice(text?);
    }
    (!all.is_empty() && !all.starts_with(b"~")).then_some(all)
}

/// For bash braces are text: in `{$a,b}_c` the name that is read afterwards is `a_c`, and `~{/x,/y}` begins with
/// a tilde.
pub(super) fn rejoined<'p, 'a>(pieces: &'p [Piece<'a>]) -> Cow<'p, [Piece<'a>]> {
    let tilde = tilde_prefix(pieces);
    let meets_text = |at: usize| {
        pieces.get(at).and_then(open_name).is_some()
            && pieces.get(at + 1).and_then(text_of).is_some_and(|text| name_length(text) > 0)
    };
    if tilde.is_none() && !(0..pieces.len()).any(meets_text) {
        return Cow::Borrowed(pieces);
    }
    let mut all = Vec::with_capacity(pieces.len() + 1);
    // How much of the text to come is already part of something else.
    let mut taken = 0;
    if let Some(name) = tilde {
        taken = name.len() + 1;
        all.push(Piece::Made(Box::new(WordPart::Tilde(name))));
    }
    for (at, piece) in pieces.iter().enumerate() {
        if let Some(text) = text_of(piece) {
            let rest = text.get(taken.min(text.len())..).unwrap_or_default();
            taken = taken.saturating_sub(text.len());
            all.push(Piece::Text(rest.into()));
        } else if let Some(expansion) = open_name(piece) {
            let mut whole = expansion.clone();
            let more = name_after(pieces.get(at + 1..).unwrap_or_default());
            taken = more.len();
            if let Parameter::Variable(name) = &mut whole.parameter {
                name.extend_from_slice(&more);
            }
            all.push(Piece::Made(Box::new(WordPart::Parameter(Box::new(whole)))));
        } else {
            all.push(piece.clone());
        }
    }
    Cow::Owned(all)
}

fn text_of<'p>(piece: &'p Piece<'_>) -> Option<&'p BString> {
    match piece {
        Piece::Part(WordPart::Literal(text)) | Piece::Text(text) => Some(text),
        Piece::Part(_) | Piece::Made(_) => None,
    }
}

/// `$name` without braces around the name: text that follows belongs to it.
fn open_name<'p>(piece: &'p Piece<'_>) -> Option<&'p ParameterExpansion> {
    match piece {
        Piece::Part(WordPart::Parameter(expansion))
            if !expansion.braced && matches!(expansion.parameter, Parameter::Variable(_)) =>
        {
            Some(expansion)
        }
        _ => None,
    }
}

fn name_length(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}

/// The characters of a name with which the following text begins.
fn name_after(pieces: &[Piece<'_>]) -> BString {
    let mut name = BString::default();
    for text in pieces.iter().map_while(text_of) {
        let length = name_length(text);
        name.extend_from_slice(text.get(..length).unwrap_or_default());
        if length < text.len() {
            break;
        }
    }
    name
}

/// What follows a tilde at the beginning, up to a slash; `None` if quotes or an expansion come first.
fn tilde_prefix(pieces: &[Piece<'_>]) -> Option<BString> {
    let mut name = BString::default();
    for (at, piece) in pieces.iter().enumerate() {
        let text = text_of(piece)?;
        let text = if at == 0 { text.strip_prefix(b"~")? } else { text.as_slice() };
        let end = text.find_byte(b'/');
        name.extend_from_slice(text.get(..end.unwrap_or(text.len())).unwrap_or_default());
        if end.is_some() {
            break;
        }
    }
    (!pieces.is_empty()).then_some(name)
}

fn sequence(first: i64, last: i64, step: i64) -> impl Iterator<Item = i64> {
    let step = step.unsigned_abs().max(1).min(i64::MAX as u64) as i64;
    let mut next = Some(first);
    std::iter::from_fn(move || {
        let current = next?;
        next = if first <= last {
            current.checked_add(step).filter(|number| *number <= last)
        } else {
            current.checked_sub(step).filter(|number| *number >= last)
        };
        Some(current)
    })
}

/// Leading zeros count as width, the sign too: `{-01..1}` is `-01 000 001`.
fn padded(number: i64, width: usize) -> BString {
    format!("{number:0width$}").into()
}

/// The braces as text, for a shell in which they are off (`set +B`).
pub(super) fn as_written(brace: &BraceExpansion) -> Vec<Piece<'_>> {
    let text = |text: String| Piece::Text(text.into());
    let step_of = |step: i64| if step.abs() == 1 { String::new() } else { format!("..{step}") };
    match brace {
        BraceExpansion::Alternatives(words) => {
            let mut pieces = vec![text("{".into())];
            for (at, word) in words.iter().enumerate() {
                if at > 0 {
                    pieces.push(text(",".into()));
                }
                pieces.extend(word.parts.iter().map(Piece::Part));
            }
            pieces.push(text("}".into()));
            pieces
        }
        BraceExpansion::Numbers { first, last, step, width } => {
            vec![text(format!("{{{first:0width$}..{last:0width$}{}}}", step_of(*step)))]
        }
        BraceExpansion::Letters { first, last, step } => {
            let (first, last) = (char::from(*first), char::from(*last));
            vec![text(format!("{{{first}..{last}{}}}", step_of(*step)))]
        }
    }
}
