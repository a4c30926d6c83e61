//! An argument of `declare` and its kin, taken apart.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{ArrayElement, AssignedValue};

use super::written;
use crate::builtins::DeclarationArgument;
use crate::variables::{Mode, is_name, parse_assignment, parse_reference};

/// An argument taken apart.
pub(super) struct Declaration<'a> {
    pub name: &'a BStr,
    pub subscript: Option<Subscript<'a>>,
    pub mode: Mode,
    pub value: Option<Given<'a>>,
    /// As a whole, for messages.
    pub written: BString,
}

pub(super) enum Subscript<'a> {
    Text(&'a BStr),
    Tree(&'a exacta_syntax::ast::Subscript),
}

pub(super) enum Given<'a> {
    Scalar(&'a BStr),
    List(&'a [ArrayElement]),
}

impl<'a> Declaration<'a> {
    pub fn is_list(&self) -> bool {
        matches!(self.value, Some(Given::List(_)))
    }

    /// `None`: what stands there is no name.
    pub fn of(argument: &'a DeclarationArgument<'_>) -> Option<Self> {
        let declaration = match argument {
            DeclarationArgument::Word(word) => {
                let found = parse_assignment(word.as_bstr());
                let target = match &found {
                    Some(found) => found.target,
                    None => parse_reference(word.as_bstr())?,
                };
                Declaration {
                    name: target.name,
                    subscript: target.subscript.map(Subscript::Text),
                    mode: Mode::appending(found.as_ref().is_some_and(|found| found.append)),
                    value: found.map(|found| Given::Scalar(found.value)),
                    written: word.clone(),
                }
            }
            DeclarationArgument::Scalar { assignment, value } => Declaration {
                name: assignment.name.as_bstr(),
                subscript: assignment.subscript.as_ref().map(Subscript::Tree),
                mode: Mode::appending(assignment.append),
                value: Some(Given::Scalar(value.as_bstr())),
                written: written(argument),
            },
            DeclarationArgument::Array(assignment) => Declaration {
                name: assignment.name.as_bstr(),
                subscript: assignment.subscript.as_ref().map(Subscript::Tree),
                mode: Mode::appending(assignment.append),
                value: match &assignment.value {
                    AssignedValue::Array(elements) => Some(Given::List(elements)),
                    AssignedValue::Scalar(_) => None,
                },
                written: written(argument),
            },
        };
        is_name(declaration.name).then_some(declaration)
    }
}
