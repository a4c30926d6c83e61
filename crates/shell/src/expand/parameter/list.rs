//! Lists in words: `$@`, `$*`, `${a[@]}`, `${a[*]}`, the keys of an array.

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{Parameter, ParameterExpansion, Selector};

use super::subject::{Place, Subject};
use crate::expand::field::{Expansion, Origin};
use crate::expand::parts::{Lists, Mode};
use crate::release::Heavy;
use crate::shell::Shell;
use crate::status::Running;
use crate::variables::Value;

impl Shell {
    pub(super) fn push_subject(
        &self,
        subject: Subject,
        place: &Place,
        mode: Mode,
        out: &mut Expansion,
    ) -> Running<()> {
        match subject {
            Subject::Unset => Ok(()),
            Subject::One(text) => out.push(mode.origin(), &Heavy::new(text)),
            Subject::List(values) => self.push_list(&values, place.is_star(), mode, out),
        }
    }

    /// `star`: `$*` or `[*]`, which quotes make one string.
    pub(super) fn push_list(
        &self,
        values: &[BString],
        star: bool,
        mode: Mode,
        out: &mut Expansion,
    ) -> Running<()> {
        let separators = self.separators();
        match mode.lists {
            Lists::Fields if mode.quoted && !star => push_fields(values, out),
            Lists::Fields if mode.quoted => {
                push_joined(values, separators.joiner(), Origin::Quoted, out)
            }
            // With an empty IFS nothing could tell the elements apart again.
            Lists::Fields if separators.none() => push_unsplit(values, out),
            // Inside `${x:-…}` bash joins `$@` by spaces before anything is split.
            Lists::Fields if mode.nested && !star => {
                push_joined(values, b" ", Origin::Expanded, out)
            }
            Lists::Fields => push_joined(values, separators.joiner(), Origin::Expanded, out),
            Lists::Joined | Lists::JoinedAll if star => {
                push_joined(values, separators.joiner(), mode.origin(), out)
            }
            Lists::JoinedAll if !separators.none() => {
                push_joined(values, separators.joiner(), mode.origin(), out)
            }
            Lists::Joined | Lists::JoinedAll | Lists::Spaced => {
                push_joined(values, b" ", mode.origin(), out)
            }
        }
    }

    /// Keys, names and what is stripped of arrays are one text where no `IFS` could take them apart again.
    pub(super) fn keeps_together(&self, mode: Mode) -> bool {
        !mode.quoted && mode.lists == Lists::Fields && self.separators().none()
    }

    /// `${!prefix*}`, `${!prefix@}`
    pub(super) fn expand_names(
        &mut self,
        prefix: &Parameter,
        separate: bool,
        mode: Mode,
        out: &mut Expansion,
    ) -> Running<()> {
        let names = self.names_with_prefix(prefix);
        if !separate && self.keeps_together(mode) {
            return push_joined(&names, b"", Origin::Expanded, out);
        }
        self.push_list(&names, !separate, mode, out)
    }

    /// `${!a[@]}`
    pub(super) fn expand_keys(
        &mut self,
        expansion: &ParameterExpansion,
        mode: Mode,
        out: &mut Expansion,
    ) -> Running<()> {
        let Parameter::Variable(name) = &expansion.parameter else { return Ok(()) };
        let keys: Vec<BString> = match self.value_of(name.as_bstr()).as_deref() {
            Some(_) if self.refers_to_element(name.as_bstr()) => Vec::new(),
            None => Vec::new(),
            Some(Value::Scalar(_)) => vec!["0".into()],
            Some(Value::Indexed(array)) => {
                array.iter().map(|(index, _)| index.to_string().into()).collect()
            }
            Some(Value::Associative(array)) => array.iter().map(|(key, _)| key.clone()).collect(),
        };
        let star = expansion.selector == Some(Selector::Joined);
        if star && self.keeps_together(mode) {
            return push_joined(&keys, b" ", Origin::Expanded, out);
        }
        self.push_list(&keys, star, mode.after_operation(false), out)
    }
}

/// `"$@"`: every element an argument of its own, empty ones too.
fn push_fields(values: &[BString], out: &mut Expansion) -> Running<()> {
    out.vanished |= values.is_empty();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            out.push_break();
        }
        out.push_quoted(value)?;
    }
    Ok(())
}

fn push_unsplit(values: &[BString], out: &mut Expansion) -> Running<()> {
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            out.push_break();
        }
        out.push(Origin::Expanded, value)?;
    }
    Ok(())
}

pub(super) fn push_joined(
    values: &[BString],
    separator: &[u8],
    origin: Origin,
    out: &mut Expansion,
) -> Running<()> {
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            out.push(origin, separator)?;
        }
        out.push(origin, value)?;
    }
    Ok(())
}
