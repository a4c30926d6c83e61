//! `${x:-w}`, `${x:=w}`, `${x:+w}`, `${x:?w}`

use bstr::{BStr, BString};
use exacta_syntax::ast::{DefaultKind, Word as SyntaxWord, WordPart};

use super::{Text, put};
use crate::walk::Walker;
use crate::walk::draft::Draft;
use crate::walk::values::Value;
use crate::word::Word;

impl Walker<'_> {
    /// The commands in a word that is not, or hardly, expanded: nothing that it sets is known to be set.
    pub(super) fn passed_over(&mut self, word: &SyntaxWord) {
        self.perhaps(true, |walker| walker.visit(word));
    }

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
            DefaultKind::Alternative if none => self.passed_over(word),
            DefaultKind::Alternative => match self.perhaps(true, |walker| walker.single(word)) {
                Word::Literal(text) if quoted || !is_quoted(word) => {
                    draft.any_of(&[BString::default(), text], quoted);
                }
                _ => draft.unknown(b"", quoted),
            },
            DefaultKind::Fail => {
                self.passed_over(word);
                put(&value, quoted, draft);
            }
            DefaultKind::Use | DefaultKind::Assign if all => {
                self.passed_over(word);
                put(&value, quoted, draft);
            }
            DefaultKind::Use | DefaultKind::Assign => {
                let other = self.perhaps(!none, |walker| Value::of_word(&walker.single(word)));
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
                if kind == DefaultKind::Use && !quoted && is_quoted(word) {
                    // Its quotes keep it in one piece, whatever the other would be split into.
                    draft.unknown(b"", false);
                } else {
                    put(&value, quoted, draft);
                }
            }
        }
    }
}

fn is_quoted(word: &SyntaxWord) -> bool {
    word.parts.iter().any(|part| {
        matches!(
            part,
            WordPart::DoubleQuoted(_)
                | WordPart::LocaleQuoted(_)
                | WordPart::SingleQuoted(_)
                | WordPart::AnsiQuoted(_)
                | WordPart::Escaped(_)
                | WordPart::Tilde(_)
        )
    })
}
