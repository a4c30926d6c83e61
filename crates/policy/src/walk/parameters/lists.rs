//! `$@`, `$*`, `${a[@]}`, `${a[*]}`: parameters that are several words.

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{Operation, Parameter, ParameterExpansion, Selector};

use super::from_end;
use crate::walk::Walker;
use crate::walk::draft::{Draft, Splitting};
use crate::walk::state::Positional;
use crate::walk::values::Value;
use crate::walk::variables::is_several;
use crate::word::Word;

impl Walker<'_> {
    /// The elements of `$@`, `$*`, `${a[@]}`, `${a[*]}`; `None`: they are not known.
    pub(super) fn elements(&mut self, expansion: &ParameterExpansion) -> Option<Vec<Word>> {
        match &expansion.parameter {
            Parameter::Variable(_) if expansion.indirect => None,
            Parameter::Variable(name) => match self.lookup(name.as_bstr()) {
                Value::Array(elements) => Some(elements.to_vec()),
                Value::Unset => Some(Vec::new()),
                // Of a variable of the session only the first element is known.
                Value::Text(text) => {
                    let known = self.state.value(name.as_bstr()).is_some();
                    known.then(|| vec![Word::Literal(text)])
                }
                _ => None,
            },
            _ => match &self.state.positional {
                Positional::Known(words) => Some(words.to_vec()),
                Positional::Unknown => None,
            },
        }
    }

    pub(super) fn list_parameter(
        &mut self,
        expansion: &ParameterExpansion,
        elements: Option<Vec<Word>>,
        quoted: bool,
        draft: &mut Draft<'_, '_>,
    ) {
        let elements = match (&expansion.operation, elements) {
            (Operation::Plain, elements) if !expansion.indirect => elements,
            (Operation::Length, Some(elements)) if !elements.iter().any(is_several) => {
                draft.value(elements.len().to_string().as_bytes(), quoted);
                return;
            }
            (Operation::Slice { offset, length }, elements) => {
                let offset = self.arithmetic(offset);
                let length = length.as_ref().map(|length| self.arithmetic(length));
                match (elements, offset, length) {
                    (Some(elements), Some(offset), None) => {
                        self.slice(expansion, elements, offset, None)
                    }
                    (Some(elements), Some(offset), Some(Some(length))) => {
                        self.slice(expansion, elements, offset, Some(length))
                    }
                    _ => None,
                }
            }
            (Operation::Default { kind, colon, word }, elements) => {
                if elements.is_some_and(|elements| elements.is_empty()) {
                    return self.default(None, Value::Unset, (*kind, *colon, word), quoted, draft);
                }
                self.passed_over(word);
                // Perhaps no word at all.
                return draft.unknown(b"", false);
            }
            (operation, elements) => {
                if *operation == Operation::Transform(b'P') {
                    // Prompts are expanded: commands in them run.
                    for text in elements.iter().flatten().filter_map(Word::as_literal) {
                        self.evaluated_text(text);
                    }
                }
                self.each_operated(operation, elements)
            }
        };
        let joined = matches!(expansion.parameter, Parameter::Joined)
            || matches!(expansion.selector, Some(Selector::Joined));
        self.put_elements(elements, quoted, joined, draft);
    }

    /// `${@#x}`, `${a[@]/x/y}`: done to each element, if all of them are known.
    fn each_operated(
        &mut self,
        operation: &Operation,
        elements: Option<Vec<Word>>,
    ) -> Option<Vec<Word>> {
        const MOST: usize = 64;
        let known = elements.filter(|elements| {
            elements.len() <= MOST && elements.iter().all(|it| it.as_literal().is_some())
        });
        let Some(elements) = known else {
            self.visit_operation(operation);
            return None;
        };
        let operated = elements.iter().map(|it| self.operated(operation, Value::of_word(it)));
        let words: Vec<Option<Word>> = operated
            .map(|value| match value {
                Value::Text(text) => Some(Word::Literal(text)),
                _ => None,
            })
            .collect();
        words.into_iter().collect()
    }

    fn put_elements(
        &mut self,
        elements: Option<Vec<Word>>,
        quoted: bool,
        joined: bool,
        draft: &mut Draft<'_, '_>,
    ) {
        let Some(elements) = elements.filter(|elements| self.afford(elements.len() * 16)) else {
            // Quoted, `$*` is one word; everything else is several.
            draft.unknown(b"", quoted && joined);
            return;
        };
        let separator: Option<BString> = match self.splitting() {
            Splitting::At(separators) => Some(separators.iter().take(1).copied().collect()),
            Splitting::Unknown => None,
            _ => Some(BString::from(" ")),
        };
        if quoted && joined {
            draft.begin();
        }
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                match (&separator, quoted && joined) {
                    (Some(separator), true) => draft.quoted(separator),
                    (None, true) => draft.unknown(b"", true),
                    _ => draft.separate(),
                }
            }
            if quoted {
                draft.begin();
            }
            draft.element(element, quoted);
        }
    }

    fn slice(
        &self,
        expansion: &ParameterExpansion,
        elements: Vec<Word>,
        offset: i64,
        length: Option<i64>,
    ) -> Option<Vec<Word>> {
        if elements.iter().any(is_several) || length.is_some_and(i64::is_negative) {
            return None;
        }
        let length = length.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
        if !matches!(expansion.parameter, Parameter::All | Parameter::Joined) {
            let start = from_end(offset, elements.len())?;
            return Some(elements.into_iter().skip(start).take(length).collect());
        }
        // Counted from `$0`, which is there only if asked for.
        let Some(skipped) = from_end(offset, elements.len() + 1)?.checked_sub(1) else {
            let zero = self.state.zero.clone()?;
            return Some(std::iter::once(zero).chain(elements).take(length).collect());
        };
        Some(elements.into_iter().skip(skipped).take(length).collect())
    }
}
