//! Giving values to names: attributes, arrays, appending, namerefs, read-only variables, special meanings.
//!
//! The functions that give a `bool` print what is wrong and answer `false`; the caller decides what follows from
//! it. In an assignment statement bash drops the rest of the line, in `read` or `printf -v` it is status 1.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{AssignedValue, Assignment};

use super::element::{is_literally, written_element};
use super::lookup::Place;
use super::names::{is_name, parse_reference};
use super::{ElementKey, Value, Variable};
use crate::shell::Shell;
use crate::status::{ExitStatus, Interrupt, Running};
use crate::{long, release};

/// Instead of what is there, or after it: `=`, `+=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Replace,
    Append,
}

impl Mode {
    pub fn appending(append: bool) -> Self {
        if append { Mode::Append } else { Mode::Replace }
    }
}

impl Shell {
    /// `name=value` and every other form, as an assignment statement. Errors are printed, then unwind as in bash.
    pub fn assign(&mut self, assignment: &Assignment) -> Running<()> {
        let done = match &assignment.value {
            AssignedValue::Scalar(word) => {
                let value = self.expand_to_string(word)?;
                self.try_assign_value(assignment, value)?
            }
            AssignedValue::Array(elements) => {
                let name = assignment.name.as_bstr();
                match &assignment.subscript {
                    Some(subscript) => {
                        let mut message = written_element(name, subscript);
                        message.extend_from_slice(b": cannot assign list to array member");
                        self.complain(message);
                        false
                    }
                    None => match self.locate(name) {
                        Some(place) => {
                            self.store_list(&place, elements, Mode::appending(assignment.append))?
                        }
                        None => false,
                    },
                }
            }
        };
        self.unwind_unless(done)
    }

    /// Gives a scalar to a name (`for`, `read`, `getopts`, `${x:=…}`, arithmetic): follows namerefs (to elements
    /// too), applies attributes; of an array, sets element 0.
    pub fn assign_scalar(&mut self, name: &BStr, value: BString) -> Running<()> {
        let done = self.try_assign_scalar(name, value)?;
        self.unwind_unless(done)
    }

    pub fn assign_element(&mut self, name: &BStr, key: ElementKey, value: BString) -> Running<()> {
        let done = self.try_assign_element(name, key, value)?;
        self.unwind_unless(done)
    }

    /// As [`Shell::assign_scalar`], but a refusal (printed) is only `false`.
    pub fn try_assign_scalar(&mut self, name: &BStr, value: BString) -> Running<bool> {
        self.put(name, value, Mode::Replace)
    }

    /// As [`Shell::assign_element`], but a refusal (printed) is only `false`.
    pub fn try_assign_element(
        &mut self,
        name: &BStr,
        key: ElementKey,
        value: BString,
    ) -> Running<bool> {
        let (key, value) = match self.put_in_array(name, key, value, Mode::Replace) {
            Ok(()) => return Ok(true),
            Err(given_back) => given_back,
        };
        match self.locate(name) {
            Some(place) => self.store_element(&place, key, value, Mode::Replace),
            None => Ok(false),
        }
    }

    /// The quick way for an element of an array that has no attributes: no copy of the name, none of the array.
    /// Anything else is given back.
    fn put_in_array(
        &mut self,
        name: &BStr,
        key: ElementKey,
        value: BString,
        mode: Mode,
    ) -> Result<(), (ElementKey, BString)> {
        let variable = self.variables.get_mut(name).filter(|found| found.attributes.is_plain());
        match (variable.and_then(|variable| variable.value.as_mut()), key) {
            (Some(Value::Indexed(array)), ElementKey::Index(index @ 0..)) => {
                match array.get_mut(index as u64).filter(|_| mode == Mode::Append) {
                    Some(text) => text.extend_from_slice(&value),
                    None => array.set(index as u64, value),
                }
                Ok(())
            }
            (Some(Value::Associative(map)), ElementKey::Key(key)) if !key.is_empty() => {
                match map.get_mut(key.as_bstr()).filter(|_| mode == Mode::Append) {
                    Some(text) => text.extend_from_slice(&value),
                    None => map.set(key, value),
                }
                Ok(())
            }
            (_, key) => Err((key, value)),
        }
    }

    /// Assigns to `name` or `name[subscript]` given as text: `read`, `printf -v`.
    pub fn try_assign_reference(&mut self, text: &BStr, value: BString) -> Running<bool> {
        let Some(reference) = parse_reference(text) else {
            self.complain_of_identifier("", text);
            return Ok(false);
        };
        match reference.subscript {
            None => self.put(reference.name, value, Mode::Replace),
            Some(subscript) => {
                let Some(place) = self.locate(reference.name) else { return Ok(false) };
                let key = self.element_key_of_text(place.name.as_bstr(), subscript)?;
                self.store_element(&place, key, value, Mode::Replace)
            }
        }
    }

    /// The value is expanded already; the subscript is not, as bash does it last.
    pub(crate) fn try_assign_value(
        &mut self,
        assignment: &Assignment,
        value: BString,
    ) -> Running<bool> {
        let name = assignment.name.as_bstr();
        let mode = Mode::appending(assignment.append);
        let Some(subscript) = &assignment.subscript else {
            return self.put(name, value, mode);
        };
        let every = is_literally(subscript, b"@") || is_literally(subscript, b"*");
        let nothing = is_literally(subscript, b"");
        if nothing || every && !self.is_associative(name) {
            self.complain_of_subscript(&written_element(name, subscript));
            return Ok(false);
        }
        let key = self.element_key(name, subscript)?;
        if matches!(&key, ElementKey::Key(key) if key.is_empty()) {
            self.complain_of_subscript(&written_element(name, subscript));
            return Ok(false);
        }
        let (key, value) = match self.put_in_array(name, key, value, mode) {
            Ok(()) => return Ok(true),
            Err(given_back) => given_back,
        };
        let Some(place) = self.locate(name) else { return Ok(false) };
        self.store_element(&place, key, value, mode)
    }

    fn put(&mut self, name: &BStr, value: BString, mode: Mode) -> Running<bool> {
        let export = self.options.allexport;
        // By far the most assignments end here, without a copy of the name or of what is appended to.
        if let Some(variable) = self.variables.get_mut(name)
            && variable.attributes.is_plain()
            && matches!(variable.value, None | Some(Value::Scalar(_)))
        {
            variable.attributes.exported |= export;
            match &mut variable.value {
                Some(Value::Scalar(text)) if mode == Mode::Append => long::extend(text, &value)?,
                Some(Value::Scalar(text)) => release::discard(std::mem::replace(text, value)),
                stored => *stored = Some(Value::Scalar(value)),
            }
            return Ok(true);
        }
        match self.locate(name) {
            Some(place) => self.store_scalar(&place, value, mode),
            None => Ok(false),
        }
    }

    /// Assigns to a place without subscript as to a name, to one with a subscript as to an element.
    pub(crate) fn store_scalar(
        &mut self,
        place: &Place,
        value: BString,
        mode: Mode,
    ) -> Running<bool> {
        let name = place.name.as_bstr();
        if let Some(subscript) = &place.subscript {
            let key = self.element_key_of_text(name, subscript.as_bstr())?;
            let element = Place { subscript: None, ..place.clone() };
            return self.store_element(&element, key, value, mode);
        }
        let existing = self.variables.get_at(place.depth, name);
        let attributes = existing.map(|variable| variable.attributes).unwrap_or_default();
        if attributes.readonly {
            return Ok(self.refuse_readonly(name));
        }
        if let Some(dynamic) = attributes.dynamic.filter(|dynamic| !dynamic.is_stored()) {
            self.assign_computed(dynamic, value)?;
            return Ok(true);
        }
        if existing.is_some_and(Variable::is_array) {
            let associative = existing.is_some_and(Variable::is_associative);
            let key = if associative { ElementKey::Key("0".into()) } else { ElementKey::Index(0) };
            return self.store_element(place, key, value, mode);
        }
        if attributes.nameref && !is_reference_target(value.as_bstr()) {
            self.complain_of_identifier("", value.as_bstr());
            return Ok(false);
        }
        let old = existing.and_then(Variable::as_scalar).cloned();
        let value = self.convert(attributes, old, value, mode)?;
        let export = self.options.allexport;
        let variable = self.variables.at_mut(place.depth, name);
        variable.value = Some(Value::Scalar(value));
        variable.attributes.exported |= export;
        if let Some(super::Dynamic::OptionIndex(_)) = variable.attributes.dynamic {
            variable.attributes.dynamic = None;
        }
        if let Some(dynamic) = variable.attributes.dynamic {
            self.after_assignment(dynamic);
        }
        Ok(true)
    }

    /// Assigns to an element; a scalar becomes an array of which it is element 0.
    pub(crate) fn store_element(
        &mut self,
        place: &Place,
        key: ElementKey,
        value: BString,
        mode: Mode,
    ) -> Running<bool> {
        let name = place.name.as_bstr();
        if self.refuse_subscript(place) {
            return Ok(false);
        }
        let existing = self.variables.get_at(place.depth, name);
        let attributes = existing.map(|variable| variable.attributes).unwrap_or_default();
        if attributes.nameref {
            self.complain_of_identifier("", "".into());
            return Ok(false);
        }
        if attributes.readonly {
            return Ok(self.refuse_readonly(name));
        }
        if let Some(dynamic) = attributes.dynamic.filter(|dynamic| !dynamic.is_stored()) {
            self.assign_computed_element(dynamic, key, value);
            return Ok(true);
        }
        let value = if mode == Mode::Append || attributes.integer || attributes.changes_case() {
            let old = existing.and_then(|variable| variable.value.as_ref()?.element(&key)).cloned();
            self.convert(attributes, old, value, mode)?
        } else {
            value
        };
        let negative = matches!(key, ElementKey::Index(..0));
        let missing = negative && self.variables.get_at(place.depth, name).is_none();
        if !missing && self.variables.at_mut(place.depth, name).put_element(&key, value) {
            return Ok(true);
        }
        if let ElementKey::Index(index) = key {
            let end = format!("[{index}]");
            self.complain_of_subscript(&[name.as_bytes(), end.as_bytes()].concat());
        }
        Ok(false)
    }

    pub(crate) fn is_readonly_at(&self, place: &Place) -> bool {
        let variable = self.variables.get_at(place.depth, place.name.as_bstr());
        variable.is_some_and(|variable| variable.attributes.readonly)
    }

    pub(super) fn is_associative_at(&self, place: &Place) -> bool {
        let variable = self.variables.get_at(place.depth, place.name.as_bstr());
        variable.is_some_and(Variable::is_associative)
    }

    pub(crate) fn unwind_unless(&self, done: bool) -> Running<()> {
        match done {
            true => Ok(()),
            // POSIX: a variable assignment error leaves a shell that is not interactive.
            false if self.options.posix && self.options.command_string => {
                Err(Interrupt::Exit(ExitStatus::NOT_FOUND))
            }
            false if self.options.posix => Err(Interrupt::Exit(ExitStatus::FAILURE)),
            false if self.options.errexit && !self.tested => {
                Err(Interrupt::Exit(ExitStatus::FAILURE))
            }
            false => Err(Interrupt::Discard(ExitStatus::FAILURE)),
        }
    }

    /// A reference to an element is not something that has elements: `true`, and printed.
    pub(super) fn refuse_subscript(&self, place: &Place) -> bool {
        let Some(subscript) = &place.subscript else { return false };
        let written = [place.name.as_bytes(), b"[", subscript, b"]"].concat();
        self.complain_of_identifier("", written.as_bstr());
        true
    }

    pub(crate) fn refuse_readonly(&self, name: &BStr) -> bool {
        self.complain([name.as_bytes(), b": readonly variable"].concat());
        false
    }

    pub(crate) fn complain_of_subscript(&self, written: &[u8]) {
        self.complain([written, b": bad array subscript"].concat());
    }

    /// ``declare: `1x': not a valid identifier``; `builtin` may be empty.
    pub(crate) fn complain_of_identifier(&self, builtin: &str, text: &BStr) {
        let separator = if builtin.is_empty() { "" } else { ": " };
        let start = format!("{builtin}{separator}`");
        self.complain([start.as_bytes(), text, b"': not a valid identifier"].concat());
    }
}

impl Variable {
    /// `false`: the index is before the first element.
    fn put_element(&mut self, key: &ElementKey, value: BString) -> bool {
        let before = match &self.value {
            Some(Value::Indexed(array)) => array.next_index(),
            Some(Value::Scalar(_)) => 1,
            Some(Value::Associative(_)) | None => 0,
        };
        if let ElementKey::Index(index @ ..0) = key
            && index.unsigned_abs() > before
        {
            return false;
        }
        self.become_array(matches!(key, ElementKey::Key(_)));
        match (&mut self.value, key) {
            (Some(Value::Indexed(array)), ElementKey::Index(index)) => {
                let Some(index) = array.resolve_index(*index) else { return false };
                array.set(index, value);
            }
            (Some(Value::Associative(map)), ElementKey::Key(key)) => map.set(key.clone(), value),
            _ => return false,
        }
        true
    }

    /// A scalar becomes element 0 of the array it is from now on; an array stays what it is.
    pub fn become_array(&mut self, associative: bool) {
        let associative = associative || self.attributes.associative;
        self.attributes.indexed = false;
        self.attributes.associative = false;
        self.value = Some(match self.value.take() {
            Some(array @ (Value::Indexed(_) | Value::Associative(_))) => array,
            Some(Value::Scalar(text)) if associative => {
                Value::Associative([("0".into(), text)].into_iter().collect())
            }
            Some(Value::Scalar(text)) => Value::Indexed([text].into_iter().collect()),
            None if associative => Value::Associative(<_>::default()),
            None => Value::Indexed(<_>::default()),
        });
    }
}

/// What a nameref may be told to refer to.
pub(crate) fn is_reference_target(text: &BStr) -> bool {
    is_name(text) || parse_reference(text).is_some()
}
