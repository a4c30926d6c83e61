//! `name=(…)` and `name+=(…)`.

use std::borrow::Cow;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{ArrayElement, Subscript, Word, WordPart};

use super::assign::Mode;
use super::element::{is_literally, written_element};
use super::lookup::Place;
use super::{Attributes, ElementKey, IndexedArray, Value};
use crate::release::Heavy;
use crate::shell::Shell;
use crate::status::Running;

/// An element whose value is expanded; its subscript is evaluated when it is stored, as in bash.
struct Pending<'a> {
    subscript: Option<&'a Subscript>,
    mode: Mode,
    value: BString,
}

impl Shell {
    /// All values are expanded before the array changes: `a=(x "${a[@]}")`. A bad element is reported and left
    /// out; `false` only if nothing could be assigned.
    pub(crate) fn store_list(
        &mut self,
        place: &Place,
        elements: &[ArrayElement],
        mode: Mode,
    ) -> Running<bool> {
        let name = place.name.as_bstr();
        if self.refuse_subscript(place) {
            return Ok(false);
        }
        let associative = self.is_associative_at(place);
        let pairs = associative && elements.first().is_some_and(|first| first.subscript.is_none());
        // Almost every list is one of words alone, and may be a long one.
        let plain = !associative && elements.iter().all(|element| element.subscript.is_none());
        let (words, pending) = if plain {
            (self.expand_plain_elements(elements)?, Vec::new())
        } else {
            (Heavy::default(), self.expand_elements(elements, associative, pairs)?)
        };
        let variable = self.variables.get_at(place.depth, name);
        let attributes = variable.map(|variable| variable.attributes).unwrap_or_default();
        if attributes.readonly {
            return Ok(self.refuse_readonly(name));
        }
        if attributes.dynamic.is_some_and(|dynamic| !dynamic.is_stored()) {
            return Ok(true);
        }
        if attributes.nameref {
            // A reference to nothing yet: from now on it is an array itself.
            self.complain(
                [b"warning: ", name.as_bytes(), b": removing nameref attribute"].concat(),
            );
            self.variables.at_mut(place.depth, name).attributes.nameref = false;
        }
        if plain {
            return self.store_words(place, attributes, words, mode).map(|()| true);
        }
        match (associative, pairs) {
            (true, true) => self.store_pairs(place, attributes, pending, mode)?,
            (true, false) => self.store_keys(place, attributes, pending, mode)?,
            (false, _) => self.store_indices(place, attributes, pending, mode)?,
        }
        Ok(true)
    }

    fn expand_plain_elements(&mut self, elements: &[ArrayElement]) -> Running<Heavy<Vec<BString>>> {
        let mut words = Heavy::new(Vec::with_capacity(elements.len()));
        for element in elements {
            self.expand_word_into(&element.value, &mut words)?;
        }
        Ok(words)
    }

    /// Words without subscripts, one after the other.
    fn store_words(
        &mut self,
        place: &Place,
        attributes: Attributes,
        mut words: Heavy<Vec<BString>>,
        mode: Mode,
    ) -> Running<()> {
        if attributes.integer || attributes.changes_case() {
            for word in words.iter_mut() {
                *word = self.convert(attributes, None, std::mem::take(word), Mode::Replace)?;
            }
        }
        let variable = self.variables.at_mut(place.depth, place.name.as_bstr());
        variable.become_array(false);
        if let Some(Value::Indexed(array)) = &mut variable.value {
            match mode {
                Mode::Replace => *array = words.into(),
                Mode::Append => array.append(words)?,
            }
        }
        Ok(())
    }

    fn expand_elements<'a>(
        &mut self,
        elements: &'a [ArrayElement],
        associative: bool,
        pairs: bool,
    ) -> Running<Vec<Pending<'a>>> {
        let mut pending = Vec::with_capacity(elements.len());
        let mut words = Vec::new();
        for element in elements {
            let mode = Mode::appending(element.append);
            let subscript = element.subscript.as_ref();
            if associative {
                let value = self.expand_to_string(&without_tildes(&element.value))?;
                match subscript.filter(|_| pairs) {
                    Some(subscript) => {
                        let text = [prefix(subscript, mode).as_slice(), &value].concat();
                        pending.push(Pending { subscript: None, mode, value: text.into() });
                    }
                    None => pending.push(Pending { subscript, mode, value }),
                }
            } else if subscript.is_some() && !has_braces(&element.value) {
                let value = self.expand_to_string(&element.value)?;
                pending.push(Pending { subscript, mode, value });
            } else {
                match subscript {
                    // Braces make several words of it, and none of those is an element.
                    Some(subscript) => {
                        let mut word = element.value.clone();
                        let start = WordPart::SingleQuoted(prefix(subscript, mode));
                        word.parts.insert(0, start);
                        self.expand_word_into(&word, &mut words)?;
                    }
                    None => self.expand_word_into(&element.value, &mut words)?,
                }
                let plain = words.drain(..);
                pending.extend(plain.map(|value| Pending { subscript: None, mode, value }));
            }
        }
        Ok(pending)
    }

    /// `map=(key value key value)`
    fn store_pairs(
        &mut self,
        place: &Place,
        attributes: Attributes,
        pending: Vec<Pending<'_>>,
        mode: Mode,
    ) -> Running<()> {
        let mut pairs = Vec::with_capacity(pending.len() / 2);
        let mut words = pending.into_iter().map(|word| word.value);
        while let Some(key) = words.next() {
            let value = words.next().unwrap_or_default();
            if key.is_empty() {
                self.complain_of_subscript(&key);
                continue;
            }
            let value = self.convert(attributes, None, value, Mode::Replace)?;
            pairs.push((key, value));
        }
        self.commit_pairs(place, pairs, mode);
        Ok(())
    }

    /// `map=([key]=value …)`
    fn store_keys(
        &mut self,
        place: &Place,
        attributes: Attributes,
        pending: Vec<Pending<'_>>,
        mode: Mode,
    ) -> Running<()> {
        let mut pairs: Vec<(BString, BString)> = Vec::with_capacity(pending.len());
        for element in pending {
            let Some(subscript) = element.subscript else {
                let name = place.name.as_bytes();
                let reason = b": must use subscript when assigning associative array";
                self.complain([name, b": ", &element.value, reason].concat());
                continue;
            };
            let key = self.expand_to_string(&subscript.text)?;
            if key.is_empty() {
                self.complain_of_element(&element);
                continue;
            }
            let old = match element.mode {
                Mode::Append => self.old_of_key(place, &pairs, key.as_bstr(), mode),
                Mode::Replace => None,
            };
            let value = self.convert(attributes, old, element.value, element.mode)?;
            pairs.push((key, value));
        }
        self.commit_pairs(place, pairs, mode);
        Ok(())
    }

    /// What `[key]+=…` appends to: what this list has given the key already, else what is there.
    fn old_of_key(
        &self,
        place: &Place,
        pairs: &[(BString, BString)],
        key: &BStr,
        mode: Mode,
    ) -> Option<BString> {
        if let Some((_, value)) = pairs.iter().rev().find(|(other, _)| other == key) {
            return Some(value.clone());
        }
        if mode == Mode::Replace {
            return None;
        }
        let variable = self.variables.get_at(place.depth, place.name.as_bstr())?;
        variable.value.as_ref()?.element(&ElementKey::Key(key.into())).cloned()
    }

    fn commit_pairs(&mut self, place: &Place, pairs: Vec<(BString, BString)>, mode: Mode) {
        let variable = self.variables.at_mut(place.depth, place.name.as_bstr());
        variable.become_array(true);
        if let Some(Value::Associative(map)) = &mut variable.value {
            if mode == Mode::Replace {
                map.clear();
            }
            for (key, value) in pairs {
                map.set(key, value);
            }
        }
    }

    /// `array=(value [index]=value …)`: a value without index goes after the one before.
    fn store_indices(
        &mut self,
        place: &Place,
        attributes: Attributes,
        pending: Vec<Pending<'_>>,
        mode: Mode,
    ) -> Running<()> {
        let mut end = match mode {
            Mode::Append => self.end_of(place),
            Mode::Replace => 0,
        };
        let mut next = end;
        let mut values: Vec<(u64, BString)> = Vec::with_capacity(pending.len());
        for element in pending {
            let index = match element.subscript {
                None => Some(next),
                Some(subscript) => self.index_within(subscript, end)?,
            };
            let Some(index) = index else {
                self.complain_of_element(&element);
                continue;
            };
            let old = match element.mode {
                Mode::Append => self.old_of_index(place, &values, index, mode),
                Mode::Replace => None,
            };
            let plain =
                element.mode == Mode::Replace && !attributes.integer && !attributes.changes_case();
            let value = if plain {
                element.value
            } else {
                self.convert(attributes, old, element.value, element.mode)?
            };
            values.push((index, value));
            next = index.saturating_add(1);
            end = end.max(next);
        }
        self.commit_values(place, values, mode)
    }

    fn commit_values(
        &mut self,
        place: &Place,
        values: Vec<(u64, BString)>,
        mode: Mode,
    ) -> Running<()> {
        let variable = self.variables.at_mut(place.depth, place.name.as_bstr());
        variable.become_array(false);
        if let Some(Value::Indexed(array)) = &mut variable.value {
            if mode == Mode::Replace {
                *array = IndexedArray::default();
            }
            array.own()?;
            for (index, value) in values {
                array.set(index, value);
            }
        }
        Ok(())
    }

    /// Where `name+=(…)` begins.
    fn end_of(&self, place: &Place) -> u64 {
        let variable = self.variables.get_at(place.depth, place.name.as_bstr());
        match variable.and_then(|variable| variable.value.as_ref()) {
            Some(Value::Indexed(array)) => array.next_index(),
            Some(Value::Scalar(_)) => 1,
            Some(Value::Associative(_)) | None => 0,
        }
    }

    /// `None`: no number, or one before the beginning.
    fn index_within(&mut self, subscript: &Subscript, end: u64) -> Running<Option<u64>> {
        let bad = [&b""[..], b"@", b"*"].iter().any(|text| is_literally(subscript, text));
        if bad {
            return Ok(None);
        }
        let evaluated = self.evaluate(subscript);
        let index = self.beyond_evals(evaluated)?;
        if index >= 0 {
            return Ok(Some(index as u64));
        }
        Ok(end.checked_sub(index.unsigned_abs()))
    }

    fn old_of_index(
        &self,
        place: &Place,
        values: &[(u64, BString)],
        index: u64,
        mode: Mode,
    ) -> Option<BString> {
        if let Some((_, value)) = values.iter().rev().find(|(other, _)| *other == index) {
            return Some(value.clone());
        }
        if mode == Mode::Replace {
            return None;
        }
        let variable = self.variables.get_at(place.depth, place.name.as_bstr())?;
        let key = ElementKey::Index(i64::try_from(index).ok()?);
        variable.value.as_ref()?.element(&key).cloned()
    }

    /// `[-1]=x: bad array subscript`
    fn complain_of_element(&self, element: &Pending<'_>) {
        let written = element.subscript.map(|subscript| prefix(subscript, element.mode));
        let written = written.unwrap_or_default();
        self.complain_of_subscript(&[written.as_slice(), &element.value].concat());
    }
}

/// `[1]=` as written.
fn prefix(subscript: &Subscript, mode: Mode) -> BString {
    let mut text = written_element(b"".as_bstr(), subscript);
    text.extend_from_slice(if mode == Mode::Append { b"+=" } else { b"=" });
    text
}

fn has_braces(word: &Word) -> bool {
    word.parts.iter().any(|part| matches!(part, WordPart::Brace(_)))
}

/// In the list of an associative array bash leaves tildes as they are.
fn without_tildes(word: &Word) -> Cow<'_, Word> {
    if !word.parts.iter().any(|part| matches!(part, WordPart::Tilde(_))) {
        return Cow::Borrowed(word);
    }
    let mut literal = word.clone();
    for part in &mut literal.parts {
        if let WordPart::Tilde(name) = part {
            *part = WordPart::Literal([b"~", name.as_slice()].concat().into());
        }
    }
    Cow::Owned(literal)
}
