//! Arrays filled by builtins: `read -a`, `mapfile`.

use bstr::{BStr, BString, ByteSlice};

use super::assign::Mode;
use super::lookup::Place;
use super::{ElementKey, IndexedArray, Value, is_name};
use crate::shell::Shell;
use crate::status::Running;

impl Shell {
    /// The words become the elements of an indexed array, namerefs followed. `false`: refused, and printed.
    pub fn try_assign_list(
        &mut self,
        builtin: &str,
        name: &BStr,
        words: Vec<BString>,
    ) -> Running<bool> {
        if !is_name(name) {
            self.complain_of_identifier(builtin, name);
            return Ok(false);
        }
        let Some(place) = self.locate(name) else { return Ok(false) };
        if !self.prepare_list(builtin, &place, true)? {
            return Ok(false);
        }
        for (index, word) in (0..).zip(words) {
            if !self.put_in_list(&place, ElementKey::Index(index), word.as_bstr())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes the variable an indexed array, empty if wanted.
    pub(crate) fn prepare_list(
        &mut self,
        builtin: &str,
        place: &Place,
        empty: bool,
    ) -> Running<bool> {
        let name = place.name.as_bstr();
        if let Some(variable) = self.variables.get_at(place.depth, name) {
            if variable.attributes.readonly {
                return Ok(self.refuse_readonly(name));
            }
            if variable.is_associative() {
                let start = format!("{builtin}: ");
                self.complain([start.as_bytes(), name, b": not an indexed array"].concat());
                return Ok(false);
            }
        }
        let variable = self.variables.at_mut(place.depth, name);
        variable.become_array(false);
        if empty {
            variable.value = Some(Value::Indexed(IndexedArray::default()));
        }
        Ok(true)
    }

    /// One element, with what the attributes of the array make of it.
    pub(crate) fn put_in_list(
        &mut self,
        place: &Place,
        key: ElementKey,
        text: &BStr,
    ) -> Running<bool> {
        let name = place.name.as_bstr();
        if let Some(variable) = self.variables.get_mut_at(place.depth, name)
            && variable.attributes.is_plain()
            && let Some(Value::Indexed(array)) = &mut variable.value
            && let ElementKey::Index(index @ 0..) = key
        {
            array.own()?;
            array.set(index as u64, text.into());
            return Ok(true);
        }
        self.store_element(place, key, text.into(), Mode::Replace)
    }
}
