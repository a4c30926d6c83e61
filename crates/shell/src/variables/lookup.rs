//! Finding the value of a name: through namerefs, and for the variables that the shell computes.

use std::borrow::Cow;

use bstr::{BStr, BString};

use super::{Value, Variable};
use crate::shell::Shell;

/// Where a name leads after namerefs: `declare -n r=a[2]` makes `r` mean element 2 of `a`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub name: BString,
    /// Text of the subscript, if the reference has one.
    pub subscript: Option<BString>,
}

impl Shell {
    /// Follows namerefs; a cycle or no reference gives the name itself.
    pub fn resolve_name(&self, name: &BStr) -> Target {
        Target { name: name.into(), subscript: None }
    }

    /// The value in force, namerefs followed, `RANDOM`, `LINENO`, `FUNCNAME`, `PIPESTATUS` and their kin computed.
    pub fn value_of(&self, name: &BStr) -> Option<Cow<'_, Value>> {
        self.variables.get(name)?.value.as_ref().map(Cow::Borrowed)
    }

    /// What `$name` gives.
    pub fn scalar_of(&self, name: &BStr) -> Option<Cow<'_, BStr>> {
        let scalar = self.variables.get(name).and_then(Variable::as_scalar)?;
        Some(Cow::Borrowed(scalar.as_ref()))
    }
}
