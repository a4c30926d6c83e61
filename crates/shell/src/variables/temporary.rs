//! Assignments with a life of their own: in front of a command, and of the variable of a loop.

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{ArrayElement, Assignment};

use super::assign::{Mode, is_reference_target};
use super::element::written_element;
use super::{Attributes, Value, Variable};
use crate::shell::Shell;
use crate::status::Running;

impl Shell {
    /// `name=value command`: the value is exported in the innermost scope, whatever attributes the name has
    /// elsewhere. What is wrong is printed; the command runs all the same.
    pub(crate) fn assign_temporarily(
        &mut self,
        assignment: &Assignment,
        value: BString,
    ) -> Running<()> {
        let name = assignment.name.as_bstr();
        self.variables.innermost_mut().nesting = self.depth;
        if let Some(subscript) = &assignment.subscript {
            self.complain_of_identifier("", written_element(name, subscript).as_bstr());
            return Ok(());
        }
        let Some(place) = self.locate(name) else { return Ok(()) };
        let target = place.name.as_bstr();
        let existing = self.variables.get_at(place.depth, target);
        let attributes = existing.map(|variable| variable.attributes).unwrap_or_default();
        if attributes.readonly {
            self.refuse_readonly(target);
            return Ok(());
        }
        let value = if assignment.append {
            let old = existing.and_then(Variable::as_scalar).cloned();
            self.convert(attributes, old, value, Mode::Append)?
        } else {
            value
        };
        if let Some(dynamic) = attributes.dynamic.filter(|dynamic| !dynamic.is_stored()) {
            self.assign_computed(dynamic, value)?;
            return Ok(());
        }
        let dynamic = super::Dynamic::of_new(target);
        let attributes = Attributes { exported: true, dynamic, ..Attributes::default() };
        let variable = Variable { value: Some(Value::Scalar(value)), attributes };
        self.variables.innermost_mut().variables.insert(place.name, Arc::new(variable));
        if let Some(dynamic) = dynamic {
            self.after_assignment(dynamic);
        }
        Ok(())
    }

    /// The variable of `for` and `select`: a nameref is pointed at one name after the other. `false`: refused,
    /// and printed.
    pub(crate) fn assign_loop_variable(&mut self, name: &BStr, value: BString) -> Running<bool> {
        match self.variables.get_mut(name) {
            Some(variable) if variable.attributes.nameref => {
                if !is_reference_target(value.as_bstr()) {
                    self.complain_of_identifier("", value.as_bstr());
                    return Ok(false);
                }
                variable.value = Some(Value::Scalar(value));
                Ok(true)
            }
            _ => self.try_assign_scalar(name, value),
        }
    }
}

/// `a=(1 2) command` gives the command a text.
pub(crate) fn list_as_text(elements: &[ArrayElement]) -> BString {
    let words = elements.iter().map(|element| {
        let value = exacta_syntax::print_word(&element.value);
        match &element.subscript {
            Some(subscript) => {
                let operator: &[u8] = if element.append { b"+=" } else { b"=" };
                let written = written_element(b"".as_bstr(), subscript);
                [&written, operator, &value].concat().into()
            }
            None => value,
        }
    });
    let text = words.collect::<Vec<BString>>();
    [b"(", &bstr::join(" ", &text)[..], b")"].concat().into()
}
