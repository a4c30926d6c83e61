//! Variables: values, attributes, and the scopes in which bash finds them.
//!
//! Scopes are dynamic: a function sees its caller's locals. A copy of all variables (a subshell) is a few
//! reference counts; a scope is copied only when one side changes it.

mod array;
mod assign;
mod lookup;
mod scope;

use bstr::BString;

pub use array::{AssociativeArray, IndexedArray};
pub use assign::ElementKey;
pub use lookup::Target;
pub use scope::{Scope, ScopeKind, Variables};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Scalar(BString),
    Indexed(IndexedArray),
    Associative(AssociativeArray),
}

/// A variable that exists. Without a value it is declared but unset (`declare x`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variable {
    pub value: Option<Value>,
    pub attributes: Attributes,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attributes {
    pub exported: bool,
    pub readonly: bool,
    pub integer: bool,
    pub lowercase: bool,
    pub uppercase: bool,
    pub capitalize: bool,
    pub nameref: bool,
    pub trace: bool,
    /// Declared `-a` or `-A` without a value yet.
    pub indexed: bool,
    pub associative: bool,
}

impl Variable {
    pub fn scalar(value: impl Into<BString>) -> Self {
        Variable { value: Some(Value::Scalar(value.into())), attributes: Attributes::default() }
    }

    /// What `$name` gives: of an array, element 0.
    pub fn as_scalar(&self) -> Option<&BString> {
        match self.value.as_ref()? {
            Value::Scalar(text) => Some(text),
            Value::Indexed(array) => array.get(0),
            Value::Associative(array) => array.get(b"0".as_slice().into()),
        }
    }

    pub fn is_array(&self) -> bool {
        self.attributes.indexed
            || self.attributes.associative
            || matches!(self.value, Some(Value::Indexed(_) | Value::Associative(_)))
    }

    pub fn is_associative(&self) -> bool {
        self.attributes.associative || matches!(self.value, Some(Value::Associative(_)))
    }
}
