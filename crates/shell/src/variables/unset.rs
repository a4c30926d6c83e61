//! Taking variables and elements away.

use bstr::{BStr, ByteSlice};

use super::lookup::Place;
use super::{ElementKey, IndexedArray, Value, Variable};
use crate::shell::Shell;
use crate::status::Running;

impl Shell {
    /// `unset name`, namerefs followed. `false`: it is read-only (printed).
    pub fn unset_variable(&mut self, name: &BStr) -> Running<bool> {
        let Some(place) = self.locate(name) else { return Ok(true) };
        if let Some(subscript) = &place.subscript {
            let element = Place { subscript: None, ..place.clone() };
            return self.unset_element_at(&element, subscript.as_bstr());
        }
        let variable = self.variables.get_at(place.depth, place.name.as_bstr());
        if place.name == name && variable.is_some_and(|variable| variable.attributes.nameref) {
            // A reference that leads nowhere.
            return Ok(self.unset_name(name));
        }
        Ok(self.unset_name(place.name.as_bstr()))
    }

    /// `unset -n name`: the name itself, even if it is a reference.
    pub fn unset_name(&mut self, name: &BStr) -> bool {
        let Some(variable) = self.variables.get(name) else { return true };
        let attributes = variable.attributes;
        if attributes.readonly {
            return self.refuse_unset(name);
        }
        self.variables.unset(name, self.options.localvar_unset);
        if let Some(dynamic) = attributes.dynamic {
            self.after_unset(dynamic);
        }
        true
    }

    /// `unset 'name[subscript]'`
    pub fn unset_element(&mut self, name: &BStr, subscript: &BStr) -> Running<bool> {
        match self.locate(name) {
            Some(place) => self.unset_element_at(&place, subscript),
            None => Ok(true),
        }
    }

    fn unset_element_at(&mut self, place: &Place, subscript: &BStr) -> Running<bool> {
        let name = place.name.as_bstr();
        let Some(variable) = self.variables.get_at(place.depth, name) else { return Ok(true) };
        if variable.attributes.readonly {
            return Ok(self.refuse_unset(name));
        }
        let associative = variable.is_associative();
        let is_array = variable.is_array();
        let every = matches!(subscript.as_bytes(), b"@" | b"*");
        if every && is_array && !associative {
            self.variables.at_mut(place.depth, name).value =
                Some(Value::Indexed(IndexedArray::default()));
            return Ok(true);
        }
        let key = if every {
            ElementKey::Key(subscript.into())
        } else {
            self.element_key_of_text(name, subscript)?
        };
        if !is_array {
            if key == ElementKey::Index(0) {
                return Ok(self.unset_name(name));
            }
            self.complain([b"unset: ", name.as_bytes(), b": not an array variable"].concat());
            return Ok(false);
        }
        if self.variables.at_mut(place.depth, name).remove_element(&key) {
            return Ok(true);
        }
        self.complain_of_subscript(&[b"unset: [", subscript.as_bytes(), b"]"].concat());
        Ok(false)
    }

    fn refuse_unset(&self, name: &BStr) -> bool {
        let message = b": cannot unset: readonly variable";
        self.complain([b"unset: ", name.as_bytes(), message].concat());
        false
    }
}

impl Variable {
    /// `false`: the index is before the first element. That an element is not there is no mistake.
    fn remove_element(&mut self, key: &ElementKey) -> bool {
        match (&mut self.value, key) {
            (Some(Value::Indexed(array)), ElementKey::Index(index)) => {
                let Some(index) = array.resolve_index(*index) else { return false };
                array.remove(index);
            }
            (Some(Value::Associative(map)), ElementKey::Key(key)) => {
                map.remove(key.as_bstr());
            }
            _ => {}
        }
        true
    }
}
