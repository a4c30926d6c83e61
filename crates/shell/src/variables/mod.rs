//! Variables: values, attributes, and the scopes in which bash finds them.
//!
//! Scopes are dynamic: a function sees its caller's locals. A copy of all variables (a subshell) is a few
//! reference counts; a scope is copied only when one side changes it.

mod array;
mod assign;
mod associative;
mod compound;
mod convert;
mod dynamic;
mod element;
mod list;
mod lookup;
mod names;
mod scope;
mod show;
mod temporary;
mod unset;

use bstr::BString;

pub use array::IndexedArray;
pub(crate) use assign::{Mode, is_reference_target};
pub use associative::AssociativeArray;
pub use dynamic::Dynamic;
pub use element::ElementKey;
pub(crate) use element::{parse_assignment_text, written_element};
pub(crate) use lookup::Place;
pub use lookup::Target;
pub(crate) use names::parse_assignment;
pub use names::{Reference, is_name, parse_reference};
pub use scope::{NameHasher, Scope, ScopeKind, Variables};
pub(crate) use temporary::list_as_text;

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
    /// The shell computes it, or acts when it is assigned.
    pub dynamic: Option<Dynamic>,
}

impl Attributes {
    /// Assigning needs no more than putting the value there.
    pub fn is_plain(&self) -> bool {
        !(self.readonly
            || self.integer
            || self.nameref
            || self.indexed
            || self.associative
            || self.changes_case()
            || self.dynamic.is_some())
    }

    pub fn changes_case(&self) -> bool {
        self.lowercase || self.uppercase || self.capitalize
    }
}

impl Variable {
    pub fn scalar(value: impl Into<BString>) -> Self {
        Variable { value: Some(Value::Scalar(value.into())), attributes: Attributes::default() }
    }

    /// What `$name` gives: of an array, element 0.
    pub fn as_scalar(&self) -> Option<&BString> {
        self.value.as_ref()?.as_scalar()
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

impl Value {
    /// Element 0 of an array, the text of anything else.
    pub fn as_scalar(&self) -> Option<&BString> {
        match self {
            Value::Scalar(text) => Some(text),
            Value::Indexed(array) => array.get(0),
            Value::Associative(array) => array.get(b"0".as_slice().into()),
        }
    }
}
