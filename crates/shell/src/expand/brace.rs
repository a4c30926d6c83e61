//! Brace expansion: `a{b,c}` is `ab ac`, `{1..3}` is `1 2 3`. It comes first and knows nothing of the rest.
//!
//! Words are made one at a time, so that a product of millions costs no memory; how many there will be is
//! counted before the first is made.

use bstr::BString;
use exacta_syntax::ast::{BraceExpansion, WordPart};

use crate::status::Running;

/// A part of a word, or text that a sequence made.
#[derive(Debug, Clone)]
pub(super) enum Piece<'a> {
    Part(&'a WordPart),
    Text(BString),
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
                chosen.push(Piece::Text(vec![letter as u8].into()));
                let result = walk(after, chosen, visit);
                chosen.pop();
                result
            })
        }
    }
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
