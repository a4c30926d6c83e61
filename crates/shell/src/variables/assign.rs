//! Giving values to names: attributes, arrays, appending, namerefs, read-only variables, special meanings.

use bstr::{BStr, BString};
use exacta_syntax::ast::{Assignment, Subscript};

use crate::shell::Shell;
use crate::status::Running;

/// An element of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementKey {
    Index(i64),
    Key(BString),
}

impl Shell {
    /// `name=value` and every other form, as an assignment statement. Errors are printed, then unwind as in bash.
    pub fn assign(&mut self, assignment: &Assignment) -> Running<()> {
        let _ = assignment;
        Ok(())
    }

    /// Gives a scalar to a name (`for`, `read`, `getopts`, `${x:=…}`, arithmetic): follows namerefs (to elements
    /// too), applies attributes; of an array, sets element 0.
    pub fn assign_scalar(&mut self, name: &BStr, value: BString) -> Running<()> {
        let _ = (name, value);
        Ok(())
    }

    pub fn assign_element(&mut self, name: &BStr, key: ElementKey, value: BString) -> Running<()> {
        let _ = (name, key, value);
        Ok(())
    }

    /// Which element a subscript means: a key of an associative array, else a number.
    pub fn element_key(&mut self, name: &BStr, subscript: &Subscript) -> Running<ElementKey> {
        let _ = (name, subscript);
        Ok(ElementKey::Index(0))
    }

    /// The same for a subscript that is only known as text (`unset 'a[k]'`, `read 'a[1]'`, namerefs).
    pub fn element_key_of_text(&mut self, name: &BStr, subscript: &BStr) -> Running<ElementKey> {
        let _ = (name, subscript);
        Ok(ElementKey::Index(0))
    }
}
