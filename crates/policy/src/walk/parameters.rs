//! `$x` and all that `${…}` can do, where its operands are known.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{
    CaseChange, DefaultKind, Operation, Parameter, ParameterExpansion, Selector, Word as SyntaxWord,
};

use crate::word::Word;

use super::Walker;
use super::draft::{Draft, Splitting};
use super::patterns::Pattern;
use super::state::Positional;
use super::values::Value;
use super::variables::{is_name, is_several};

/// One text that a parameter may have; `None` is unset.
type Text = Option<BString>;

impl Walker<'_> {
    pub(super) fn parameter(
        &mut self,
        expansion: &ParameterExpansion,
        quoted: bool,
        draft: &mut Draft<'_, '_>,
    ) {
        stacker::maybe_grow(64 << 10, 1 << 20, || {
            if let (Some(Selector::Index(subscript)), Parameter::Variable(name)) =
                (&expansion.selector, &expansion.parameter)
            {
                self.visit_subscript_of(name.as_bstr(), subscript);
            }
            if is_list(expansion) {
                let elements = self.elements(expansion);
                self.list_parameter(expansion, elements, quoted, draft);
            } else {
                self.scalar_parameter(expansion, quoted, draft);
            }
        });
    }

    /// The elements of `$@`, `$*`, `${a[@]}`, `${a[*]}`; `None`: they are not known.
    fn elements(&mut self, expansion: &ParameterExpansion) -> Option<Vec<Word>> {
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

    fn list_parameter(
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
                let value = match elements {
                    Some(elements) if elements.is_empty() => Value::Unset,
                    _ => Value::unknown(),
                };
                return self.default(None, value, (*kind, *colon, word), quoted, draft);
            }
            (operation, _) => {
                self.visit_operation(operation);
                None
            }
        };
        let joined = matches!(expansion.parameter, Parameter::Joined)
            || matches!(expansion.selector, Some(Selector::Joined));
        self.put_elements(elements, quoted, joined, draft);
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

    fn scalar_parameter(
        &mut self,
        expansion: &ParameterExpansion,
        quoted: bool,
        draft: &mut Draft<'_, '_>,
    ) {
        let mut value = self.scalar(expansion);
        if expansion.indirect {
            value = self.indirect(&value);
        }
        let name = match &expansion.parameter {
            Parameter::Variable(name) if expansion.selector.is_none() && !expansion.indirect => {
                Some(name.as_bstr())
            }
            _ => None,
        };
        if let Operation::Default { kind, colon, word } = &expansion.operation {
            self.default(name, value, (*kind, *colon, word), quoted, draft);
            return;
        }
        let value = self.operated(&expansion.operation, value);
        put(&value, quoted, draft);
    }

    fn scalar(&mut self, expansion: &ParameterExpansion) -> Value {
        match (&expansion.parameter, &expansion.selector) {
            (Parameter::Variable(name), None) => first_element(self.lookup(name.as_bstr())),
            (Parameter::Variable(name), Some(Selector::Index(subscript))) => {
                let value = self.lookup(name.as_bstr());
                if let Value::Keyed(pairs) = &value {
                    return match self.key(subscript) {
                        Some(key) => pairs.get(&key).map_or(Value::Unset, Value::of_word),
                        None => Value::unknown(),
                    };
                }
                let index = self.evaluated(subscript);
                match (index, value) {
                    (Some(index), Value::Array(elements)) => element(&elements, index),
                    (Some(0), value) => first_element(value),
                    (_, Value::Unset) => Value::Unset,
                    _ => Value::unknown(),
                }
            }
            (Parameter::Positional(0), _) => match &self.state.zero {
                Some(word) => Value::of_word(word),
                None => Value::unknown(),
            },
            (Parameter::Positional(number), _) => self.positional(*number as usize),
            (Parameter::Count, _) => match &self.state.positional {
                Positional::Known(words) if !words.iter().any(is_several) => {
                    Value::Text(BString::from(words.len().to_string()))
                }
                _ => Value::unknown(),
            },
            _ => Value::unknown(),
        }
    }

    /// `${!x}`: the value of the variable that the value names.
    fn indirect(&mut self, value: &Value) -> Value {
        let Value::Text(name) = value else { return Value::unknown() };
        if name.contains(&b'[') {
            // The subscript is evaluated, and may hold commands.
            self.evaluated_text(name.as_bstr());
            return Value::unknown();
        }
        match name.to_str().ok().and_then(|digits| digits.parse::<usize>().ok()) {
            Some(number @ 1..) => self.positional(number),
            _ if is_name(name) => first_element(self.lookup(name.as_bstr())),
            _ => Value::unknown(),
        }
    }

    /// `${x:-w}` and its kin.
    fn default(
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

    /// Every other operation, on every value it may have.
    fn operated(&mut self, operation: &Operation, value: Value) -> Value {
        if *operation == Operation::Plain {
            return value;
        }
        if let Operation::Transform(b'P') = operation
            && let Some(values) = value.possibilities()
        {
            // Prompts are expanded: commands in them run.
            for text in values.into_iter().flatten() {
                self.evaluated_text(text.as_bstr());
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

    fn visit_operation(&mut self, operation: &Operation) {
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
                if replacement.contains(&b'&') {
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
            Operation::Plain | Operation::NamesWithPrefix { .. } | Operation::Bad(_) => {
                return None;
            }
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

enum Operands {
    Length,
    RemovePrefix(Pattern, bool),
    RemoveSuffix(Pattern, bool),
    Replace(exacta_syntax::ast::ReplaceKind, Pattern, BString),
    ChangeCase(CaseChange, bool),
    Slice(i64, Option<i64>),
    Transform(u8),
}

/// `$@`, `$*`, `${a[@]}`, `${a[*]}`
fn is_list(expansion: &ParameterExpansion) -> bool {
    matches!(expansion.parameter, Parameter::All | Parameter::Joined)
        || matches!(expansion.selector, Some(Selector::All | Selector::Joined))
}

/// Adds a value to a word.
fn put(value: &Value, quoted: bool, draft: &mut Draft<'_, '_>) {
    match value {
        Value::Unset => {
            if quoted {
                draft.begin();
            }
        }
        Value::Text(text) => draft.value(text, quoted),
        Value::OneOf(values) => {
            let values: Vec<BString> =
                values.iter().map(|value| value.clone().unwrap_or_default()).collect();
            draft.any_of(&values, quoted);
        }
        Value::Array(elements) => {
            if let Some(element) = elements.first() {
                draft.element(element, quoted);
            }
        }
        Value::Keyed(_) => draft.unknown(b"", quoted),
        Value::Unknown(prefix) => draft.unknown(prefix, quoted),
    }
}

fn first_element(value: Value) -> Value {
    match value {
        Value::Array(elements) => element(&elements, 0),
        Value::Keyed(_) => Value::unknown(),
        value => value,
    }
}

fn element(elements: &[Word], index: i64) -> Value {
    if elements.iter().any(is_several) {
        return Value::unknown();
    }
    let Some(index) = from_end(index, elements.len()) else { return Value::Unset };
    elements.get(index).map_or(Value::Unset, Value::of_word)
}

/// A negative index counts from the end.
fn from_end(index: i64, length: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
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
