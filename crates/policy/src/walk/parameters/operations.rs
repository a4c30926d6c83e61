//! Everything that makes another text of a value: parts cut off or replaced, slices, letters changed.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{CaseChange, Operation, Word as SyntaxWord};

use super::{Text, from_end};
use crate::walk::Walker;
use crate::walk::patterns::Pattern;
use crate::walk::values::Value;
use crate::word::Word;

enum Operands {
    Length,
    RemovePrefix(Pattern, bool),
    RemoveSuffix(Pattern, bool),
    Replace(exacta_syntax::ast::ReplaceKind, Pattern, BString),
    ChangeCase(CaseChange, bool),
    Slice(i64, Option<i64>),
    Transform(u8),
}

impl Walker<'_> {
    /// Every other operation, on every value it may have.
    pub(super) fn operated(&mut self, operation: &Operation, value: Value) -> Value {
        if *operation == Operation::Plain {
            return value;
        }
        if let Operation::Transform(b'P') = operation {
            // Prompts are expanded: commands in them run.
            match value.possibilities() {
                Some(values) => {
                    for text in values.into_iter().flatten() {
                        self.evaluated_text(text.as_bstr());
                    }
                }
                None => self.evaluated_unknown(),
            }
        }
        let operation = self.operands(operation);
        let (Some(operation), Some(values)) = (operation, value.possibilities()) else {
            return Value::unknown();
        };
        let mut results = Vec::with_capacity(values.len());
        for text in values {
            match self.apply(&operation, text) {
                Some(text) => results.push(text),
                None => return Value::unknown(),
            }
        }
        Value::of_possibilities(results)
    }

    pub(super) fn visit_operation(&mut self, operation: &Operation) {
        self.operands(operation);
    }

    /// Folds the operands of an operation, which walks the commands in them; `None`: not known.
    fn operands(&mut self, operation: &Operation) -> Option<Operands> {
        Some(match operation {
            Operation::Length => Operands::Length,
            Operation::RemovePrefix { longest, pattern } => {
                Operands::RemovePrefix(self.simple_pattern(pattern)?, *longest)
            }
            Operation::RemoveSuffix { longest, pattern } => {
                Operands::RemoveSuffix(self.simple_pattern(pattern)?, *longest)
            }
            Operation::Replace { kind, pattern, replacement } => {
                let pattern = self.simple_pattern(pattern);
                let replacement = match replacement {
                    Some(word) => self.single(word),
                    None => Word::Literal(BString::default()),
                };
                let replacement = replacement.as_literal()?;
                // `&` stands for the match in newer versions of bash.
                if replacement.contains(&b'&') || self.state.any_case {
                    return None;
                }
                Operands::Replace(*kind, pattern?, replacement.into())
            }
            Operation::ChangeCase { change, all, pattern } => match pattern {
                Some(pattern) => {
                    self.visit(pattern);
                    return None;
                }
                None => Operands::ChangeCase(*change, *all),
            },
            Operation::Slice { offset, length } => {
                let offset = self.arithmetic(offset);
                match length.as_ref().map(|length| self.arithmetic(length)) {
                    None => Operands::Slice(offset?, None),
                    Some(length) => Operands::Slice(offset?, Some(length?)),
                }
            }
            Operation::Transform(letter) => Operands::Transform(*letter),
            Operation::Default { word, .. } => {
                self.visit(word);
                return None;
            }
            Operation::Bad(_) => {
                self.state.dropped = true;
                return None;
            }
            Operation::Plain | Operation::NamesWithPrefix { .. } => return None,
        })
    }

    fn simple_pattern(&mut self, word: &SyntaxWord) -> Option<Pattern> {
        Pattern::new(self.pattern(word)?.as_bstr())
    }

    /// Outside `None`: not known; inside: unset.
    fn apply(&mut self, operation: &Operands, text: Text) -> Option<Text> {
        if let Operands::Length = operation {
            let length = text.unwrap_or_default().chars().count();
            return Some(Some(BString::from(length.to_string())));
        }
        let Some(text) = text else { return Some(None) };
        let length = text.len();
        let cost = match operation {
            Operands::RemovePrefix(pattern, _) | Operands::RemoveSuffix(pattern, _) => {
                pattern.cost(length)
            }
            Operands::Replace(_, pattern, _) => pattern.cost(length).saturating_mul(length + 1),
            _ => length,
        };
        if !self.afford(cost) {
            return None;
        }
        Some(Some(match operation {
            Operands::Length => text,
            Operands::RemovePrefix(pattern, longest) => {
                pattern.remove_prefix(text.as_bstr(), *longest)
            }
            Operands::RemoveSuffix(pattern, longest) => {
                pattern.remove_suffix(text.as_bstr(), *longest)
            }
            Operands::Replace(kind, pattern, replacement) => {
                pattern.replace(*kind, text.as_bstr(), replacement.as_bstr())
            }
            Operands::ChangeCase(change, all) => changed_case(&text, *change, *all)?,
            Operands::Slice(offset, length) => sliced(text.as_bstr(), *offset, *length)?,
            Operands::Transform(letter) => transformed(&text, *letter)?,
        }))
    }
}

fn sliced(text: &BStr, offset: i64, length: Option<i64>) -> Option<BString> {
    if !text.is_ascii() {
        return None;
    }
    let Some(start) = from_end(offset, text.len()) else { return Some(BString::default()) };
    let end = match length {
        None => text.len(),
        Some(length) if length < 0 => from_end(length, text.len())?,
        Some(length) => start.saturating_add(usize::try_from(length).ok()?).min(text.len()),
    };
    Some(BString::from(text.get(start..end).unwrap_or_default()))
}

fn changed_case(text: &BString, change: CaseChange, all: bool) -> Option<BString> {
    if !text.is_ascii() {
        return None;
    }
    let mut changed = text.clone();
    for byte in changed.iter_mut().take(if all { usize::MAX } else { 1 }) {
        *byte = match change {
            CaseChange::Upper => byte.to_ascii_uppercase(),
            CaseChange::Toggle if byte.is_ascii_lowercase() => byte.to_ascii_uppercase(),
            CaseChange::Lower | CaseChange::Toggle => byte.to_ascii_lowercase(),
        };
    }
    Some(changed)
}

fn transformed(text: &BString, letter: u8) -> Option<BString> {
    match letter {
        b'U' => changed_case(text, CaseChange::Upper, true),
        b'u' => changed_case(text, CaseChange::Upper, false),
        b'L' => changed_case(text, CaseChange::Lower, true),
        b'Q' if text.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'\'') => {
            Some(BString::from([b"'", text.as_slice(), b"'"].concat()))
        }
        _ => None,
    }
}
