//! Variables: what they have, what assignments make of them, and the events that tell of it.

use std::collections::BTreeMap;
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{AssignedValue, Assignment, Subscript, Word as SyntaxWord};

use crate::event::{Assign, Directory, Event};
use crate::word::{Dynamic, Word};

use super::Walker;
use super::draft::Splitting;
use super::environment::{ALWAYS_EXPORTED, MODES, initial, is_own};
use super::state::Positional;
use super::values::{Value, common_prefix};

/// Values longer than this are not kept, only what they begin with.
const LONGEST: usize = 64 << 10;

/// An assigned value, folded.
pub(super) enum Folded {
    Scalar(Word),
    Array(Option<Vec<Word>>),
}

impl Walker<'_> {
    /// What a variable has at this point.
    pub(super) fn lookup(&mut self, name: &BStr) -> Value {
        let value = match self.state.value(name) {
            Some(value) => value,
            None => match name.as_bytes() {
                b"PWD" => known(self.state.place.directory()),
                b"OLDPWD" if self.state.moves > 0 => match known(self.state.place.previous()) {
                    // It may not be set at all.
                    Value::Unknown(_) => Value::unknown(),
                    value => value,
                },
                _ => self.initial(name),
            },
        };
        let cost = match &value {
            Value::Text(text) => text.len(),
            Value::Array(elements) => elements.len() * 16,
            _ => 16,
        };
        if self.afford(cost) { value } else { Value::unknown() }
    }

    /// What it had before the text.
    pub(super) fn initial(&self, name: &BStr) -> Value {
        initial(self.surroundings, name)
    }

    pub(super) fn splitting(&mut self) -> Splitting {
        match self.state.value(BStr::new("IFS")) {
            None => self.session_splitting(),
            Some(Value::Unset) => Splitting::Blanks,
            Some(Value::Text(text)) => splitting_at(text),
            Some(_) => Splitting::Unknown,
        }
    }

    fn session_splitting(&mut self) -> Splitting {
        if self.splitting.is_none() {
            let session = self.surroundings.variable(BStr::new("IFS"));
            self.splitting = Some(session.map_or(Splitting::Blanks, splitting_at));
        }
        self.splitting.clone().unwrap_or(Splitting::Unknown)
    }

    pub(super) fn is_exported(&self, name: &BStr) -> bool {
        self.state.exports_all
            || self.state.is_exported(name).unwrap_or(false)
            || ALWAYS_EXPORTED.iter().any(|known| *name == *known)
            || self.surroundings.variable(name).is_some()
    }

    /// Sets a variable and tells of it.
    pub(super) fn assign(&mut self, name: &BStr, value: Value, shown: Word, exported: bool) {
        let exported = exported || self.is_exported(name);
        (self.emit)(Event::Assign(Assign {
            name: name.into(),
            value: shown,
            exported,
            via: self.via.clone(),
        }));
        self.set(name, value, exported);
    }

    /// Sets a variable to what is not known.
    pub(super) fn assign_unknown(&mut self, name: &BStr, written: &str) {
        let written = BString::from(written);
        let shown = Word::Dynamic(Box::new(Dynamic { written, ..Dynamic::default() }));
        self.assign(name, Value::unknown(), shown, false);
    }

    pub(super) fn set(&mut self, name: &BStr, mut value: Value, exported: bool) {
        if let Value::Text(text) = &mut value
            && text.len() > LONGEST
        {
            text.truncate(256);
            value = Value::Unknown(std::mem::take(text));
        }
        if let Value::Text(text) = &value
            && looks_evaluated(text.as_bstr())
        {
            // Nobody writes such a text but to have it evaluated, one way or another.
            let text = text.clone();
            self.evaluated_text(text.as_bstr());
        }
        if is_own(name) {
            value = Value::unknown();
        }
        if MODES.iter().any(|mode| *name == *mode) {
            self.state.strange = true;
        }
        let exported = exported || self.state.is_exported(name).unwrap_or(false);
        self.state.dropped |= self.state.read_only.contains(name);
        if self.state.dropped {
            value = value.join(&self.lookup(name));
        }
        self.state.set(name, value, exported);
    }

    /// Folds what an assignment assigns; the variable is not set yet.
    pub(super) fn fold_assignment(&mut self, assignment: &Assignment) -> Folded {
        if let Some(subscript) = &assignment.subscript {
            self.visit_subscript_of(assignment.name.as_bstr(), subscript);
        }
        match &assignment.value {
            AssignedValue::Scalar(word) => Folded::Scalar(self.single(word)),
            AssignedValue::Array(elements) => {
                let mut words = Vec::new();
                let mut plain = true;
                for element in elements {
                    if let Some(subscript) = &element.subscript {
                        self.visit_arithmetic(subscript);
                        self.visit(&element.value);
                        plain = false;
                    } else {
                        self.fields(&element.value, &mut words);
                    }
                }
                Folded::Array(plain.then_some(words))
            }
        }
    }

    /// What the variable has after the assignment, and how that is shown.
    pub(super) fn assigned(&mut self, assignment: &Assignment, folded: Folded) -> (Value, Word) {
        let name = assignment.name.as_bstr();
        let old = if assignment.append || assignment.subscript.is_some() {
            self.lookup(name)
        } else {
            Value::Unset
        };
        match folded {
            Folded::Scalar(word) if matches!(old, Value::Keyed(_)) => {
                let key = assignment.subscript.as_ref().and_then(|key| self.key(key));
                (with_key(&old, key, assignment.append, &word), word)
            }
            Folded::Scalar(word) if assignment.subscript.is_some() => {
                self.name_table(assignment, &word);
                let index =
                    assignment.subscript.as_ref().and_then(|subscript| self.evaluated(subscript));
                let value = match index {
                    Some(index) if !assignment.append => with_element(&old, index, &word),
                    _ => Value::unknown(),
                };
                (value, word)
            }
            Folded::Scalar(word) if assignment.append => {
                let value = appended(&old, &word);
                let shown = value.to_word(name);
                (value, shown)
            }
            Folded::Scalar(word) => (Value::of_word(&word), word),
            Folded::Array(words) => {
                let value = match (words, &old) {
                    (Some(words), Value::Array(before)) if assignment.append => {
                        let mut all = before.to_vec();
                        all.extend(words);
                        Value::Array(Rc::new(all))
                    }
                    (Some(words), Value::Unset) => Value::Array(Rc::new(words)),
                    _ => Value::unknown(),
                };
                let shown = shown_array(assignment, &value);
                (value, shown)
            }
        }
    }

    /// The commands in a subscript: it is a key, or else an expression.
    pub(super) fn visit_subscript_of(&mut self, name: &BStr, subscript: &Subscript) {
        if matches!(self.state.value(name), Some(Value::Keyed(_))) {
            self.visit(&subscript.text);
        } else {
            self.visit_arithmetic(subscript);
        }
    }

    /// The key of an associative array; `None`: not known.
    pub(super) fn key(&mut self, subscript: &Subscript) -> Option<BString> {
        self.text_alone(&subscript.text)
    }

    /// `BASH_ALIASES[name]=text`, `BASH_CMDS[name]=file`
    fn name_table(&mut self, assignment: &Assignment, word: &Word) {
        let table = assignment.name == "BASH_ALIASES" || assignment.name == "BASH_CMDS";
        if let (true, Some(subscript), Word::Literal(text)) = (table, &assignment.subscript, word)
            && let Some(name) = self.text_alone(&subscript.text)
        {
            self.state.alias(name.as_bstr(), text.clone());
        }
    }

    /// What `declare -A name=([key]=value …)` makes; an array without keys is not one.
    pub(super) fn keyed(&mut self, assignment: &Assignment) -> Value {
        let AssignedValue::Array(elements) = &assignment.value else { return Value::unknown() };
        let mut pairs = BTreeMap::new();
        for element in elements {
            let key = element.subscript.as_ref().and_then(|key| self.text_alone(&key.text));
            match (key, self.text_alone(&element.value), element.append) {
                (Some(key), Some(value), false) => drop(pairs.insert(key, Word::Literal(value))),
                _ => return Value::unknown(),
            }
        }
        Value::Keyed(Rc::new(pairs))
    }

    /// A word without substitutions: those have been walked already.
    fn text_alone(&mut self, word: &SyntaxWord) -> Option<BString> {
        let quiet = word.parts.iter().all(super::reliable::is_quiet);
        match quiet.then(|| self.single(word)) {
            Some(Word::Literal(text)) => Some(text),
            _ => None,
        }
    }

    /// A standing assignment: `x=1`, or the `x=1` of `export x=1`.
    pub(super) fn perform_assignment(&mut self, assignment: &Assignment, exported: bool) {
        let folded = self.fold_assignment(assignment);
        let (value, shown) = self.assigned(assignment, folded);
        self.assign(assignment.name.as_bstr(), value, shown, exported);
    }

    pub(super) fn positional(&self, number: usize) -> Value {
        positional(&self.state.positional, number)
    }
}

/// A parameter by number, 1 or more.
pub(super) fn positional(all: &Positional, number: usize) -> Value {
    let Positional::Known(words) = all else { return Value::unknown() };
    let index = number.saturating_sub(1);
    if words.iter().take(number).any(is_several) {
        return Value::unknown();
    }
    words.get(index).map_or(Value::Unset, Value::of_word)
}

fn splitting_at(separators: BString) -> Splitting {
    if separators == " \t\n" { Splitting::Blanks } else { Splitting::At(separators) }
}

/// May it be several words, or none?
pub(super) fn is_several(word: &Word) -> bool {
    matches!(word, Word::Dynamic(dynamic) if dynamic.splits || dynamic.glob.is_some())
}

fn known(directory: Directory) -> Value {
    match directory {
        Directory::Known(path) => Value::Text(path),
        Directory::Likely { expected, others } if !others.is_empty() => {
            Value::of_possibilities(others.into_iter().chain([expected]).map(Some).collect())
        }
        Directory::Likely { .. } | Directory::Unknown => Value::Unknown(BString::from("/")),
    }
}

fn appended(old: &Value, word: &Word) -> Value {
    match (old, word) {
        (Value::Unset, word) => Value::of_word(word),
        (Value::Text(before), Word::Literal(more)) => {
            let mut whole = before.clone();
            whole.extend_from_slice(more);
            Value::Text(whole)
        }
        (Value::Text(before), Word::Dynamic(dynamic)) => {
            let mut prefix = before.clone();
            prefix.extend_from_slice(&dynamic.prefix);
            Value::Unknown(prefix)
        }
        (Value::OneOf(values), Word::Literal(more)) => Value::of_possibilities(
            values
                .iter()
                .map(|value| {
                    let mut whole = value.clone().unwrap_or_default();
                    whole.extend_from_slice(more);
                    Some(whole)
                })
                .collect(),
        ),
        (Value::OneOf(values), _) => {
            let texts: Vec<BString> = values.iter().flatten().cloned().collect();
            let all = texts.len() == values.len();
            Value::Unknown(if all { common_prefix(&texts) } else { BString::default() })
        }
        (Value::Unknown(prefix), _) => Value::Unknown(prefix.clone()),
        (Value::Array(_) | Value::Keyed(_), _) => Value::unknown(),
    }
}

fn with_key(old: &Value, key: Option<BString>, appends: bool, word: &Word) -> Value {
    match (old, key) {
        (Value::Keyed(pairs), Some(key)) if !appends => {
            let mut pairs = pairs.as_ref().clone();
            pairs.insert(key, word.clone());
            Value::Keyed(Rc::new(pairs))
        }
        _ => Value::unknown(),
    }
}

fn with_element(old: &Value, index: i64, word: &Word) -> Value {
    let mut elements = match old {
        Value::Array(elements) => elements.to_vec(),
        Value::Unset => Vec::new(),
        Value::Text(text) => vec![Word::Literal(text.clone())],
        _ => return Value::unknown(),
    };
    let Ok(index) = usize::try_from(index) else { return Value::unknown() };
    if elements.iter().any(is_several) {
        return Value::unknown();
    }
    if index == elements.len() {
        elements.push(word.clone());
    } else if let Some(element) = elements.get_mut(index) {
        *element = word.clone();
    } else {
        return Value::unknown();
    }
    Value::Array(Rc::new(elements))
}

/// An array as one word: its elements with blanks between them if they are known.
fn shown_array(assignment: &Assignment, value: &Value) -> Word {
    let elements = match value {
        Value::Array(elements) => {
            elements.iter().map(Word::as_literal).collect::<Option<Vec<&BStr>>>()
        }
        _ => None,
    };
    match elements {
        Some(elements) => Word::Literal(BString::from(bstr::join(" ", elements))),
        None => {
            let AssignedValue::Array(elements) = &assignment.value else {
                return Word::Literal(BString::default());
            };
            let parts: Vec<BString> =
                elements.iter().map(|element| exacta_syntax::print_word(&element.value)).collect();
            let written = BString::from([&b"("[..], &bstr::join(" ", parts), b")"].concat());
            Word::Dynamic(Box::new(Dynamic { written, ..Dynamic::default() }))
        }
    }
}

/// Is it a name that a variable can have?
pub(super) fn is_name(text: &[u8]) -> bool {
    let begins = text.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    begins && text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// The only part of a word if it is literal and unquoted.
pub(super) fn plain(word: &SyntaxWord) -> Option<&BStr> {
    match word.parts.as_slice() {
        [exacta_syntax::ast::WordPart::Literal(text)] => Some(text.as_bstr()),
        _ => None,
    }
}

/// `a[$(id)]`: an element of an array, with a command in its subscript.
fn looks_evaluated(text: &BStr) -> bool {
    text.find_byte(b'[').is_some_and(|at| {
        let (name, subscript) = text.split_at(at);
        is_name(name) && (subscript.contains_str("$(") || subscript.contains(&b'`'))
    })
}
