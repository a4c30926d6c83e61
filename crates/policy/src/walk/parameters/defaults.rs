//! `${x:-w}`, `${x:=w}`, `${x:+w}`, `${x:?w}`

use bstr::{BStr, BString};
use exacta_syntax::ast::{DefaultKind, Word as SyntaxWord};

use super::{Text, put};
use crate::walk::Walker;
use crate::walk::draft::Draft;
use crate::walk::values::Value;
use crate::word::Word;

impl Walker<'_> {
    /// `${x:-w}` and its kin.
    pub(super) fn default(
        &mut self,
        name: Option<&BStr>,
        value: Value,
        (kind, colon, word): (DefaultKind, bool, &SyntaxWord),
        quoted: bool,
        draft: &mut Draft<'_, '_>,
    ) {
        let counts = |text: &Text| text.as_ref().is_some_and(|text| !colon || !text.is_empty());
        let values = value.possibilities();
        let all = values.as_ref().is_some_and(|values| values.iter().all(counts));
        let none = values.as_ref().is_some_and(|values| !values.iter().any(counts));
        match kind {
            DefaultKind::Use if none => self.operand_parts(&word.parts, quoted, draft),
            DefaultKind::Alternative if all => self.operand_parts(&word.parts, quoted, draft),
            DefaultKind::Alternative if none => self.visit(word),
            DefaultKind::Alternative => match self.single(word) {
                Word::Literal(text) => draft.any_of(&[BString::default(), text], quoted),
                Word::Dynamic(_) => draft.unknown(b"", quoted),
            },
            DefaultKind::Fail => {
                self.visit(word);
                put(&value, quoted, draft);
            }
            DefaultKind::Use | DefaultKind::Assign if all => {
                self.visit(word);
                put(&value, quoted, draft);
            }
            DefaultKind::Use | DefaultKind::Assign => {
                let other = Value::of_word(&self.single(word));
                let kept =
                    values.map(|values| values.into_iter().filter(counts).collect::<Vec<_>>());
                let value = match kept {
                    Some(kept) if kept.is_empty() => other,
                    Some(kept) => Value::of_possibilities(kept).join(&other),
                    None => Value::unknown(),
                };
                if let (DefaultKind::Assign, Some(name)) = (kind, name) {
                    let shown = value.to_word(name);
                    self.assign(name, value.clone(), shown, false);
                }
                put(&value, quoted, draft);
            }
        }
    }
}
