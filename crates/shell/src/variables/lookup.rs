//! Finding the value of a name: through namerefs, and for the variables that the shell computes.

use std::borrow::Cow;

use bstr::{BStr, BString, ByteSlice};

use super::names::parse_reference;
use super::{ElementKey, ScopeKind, Value, Variable};
use crate::shell::Shell;

/// Where a name leads after namerefs: `declare -n r=a[2]` makes `r` mean element 2 of `a`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub name: BString,
    /// Text of the subscript, if the reference has one.
    pub subscript: Option<BString>,
}

/// A target in a certain scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Where it is, or where it would be made.
    pub depth: usize,
    pub name: BString,
    pub subscript: Option<BString>,
}

/// How many references bash follows.
const REFERENCES: usize = 8;

impl Shell {
    /// Follows namerefs; a cycle or no reference gives the name itself.
    pub fn resolve_name(&self, name: &BStr) -> Target {
        match self.variables.get(name) {
            Some(variable) if variable.attributes.nameref => match self.follow(name) {
                Some(place) => Target { name: place.name, subscript: place.subscript },
                None => Target { name: name.into(), subscript: None },
            },
            _ => Target { name: name.into(), subscript: None },
        }
    }

    /// The value in force, namerefs followed, `RANDOM`, `LINENO`, `FUNCNAME`, `PIPESTATUS` and their kin computed.
    pub fn value_of(&self, name: &BStr) -> Option<Cow<'_, Value>> {
        let variable = self.variables.get(name)?;
        if variable.attributes.nameref {
            return self.value_through(name);
        }
        self.value_in(variable)
    }

    /// What `$name` gives.
    pub fn scalar_of(&self, name: &BStr) -> Option<Cow<'_, BStr>> {
        match self.value_of(name)? {
            Cow::Borrowed(value) => Some(Cow::Borrowed(value.as_scalar()?.as_bstr())),
            Cow::Owned(Value::Scalar(text)) => Some(Cow::Owned(text)),
            Cow::Owned(value) => Some(Cow::Owned(value.as_scalar()?.clone())),
        }
    }

    /// A nameref to `name[@]` or `name[*]`: the array, and whether it was the star. Only `$r` is then a list;
    /// for `${r}` and everything else it is one text.
    pub(crate) fn list_behind(&self, name: &BStr) -> Option<(BString, bool)> {
        let variable = self.variables.get(name)?;
        let place = if variable.attributes.nameref { self.follow(name)? } else { return None };
        match place.subscript?.as_bytes() {
            b"@" => Some((place.name, false)),
            b"*" => Some((place.name, true)),
            _ => None,
        }
    }

    /// A nameref to `a[1]`: bash reads and assigns the element by `$r` only, and finds nothing by `${#r}`, `${r[0]}`,
    /// `${r[@]}` and `[[ -v r ]]`.
    pub(crate) fn refers_to_element(&self, name: &BStr) -> bool {
        let is_reference =
            self.variables.get(name).is_some_and(|variable| variable.attributes.nameref);
        is_reference
            && self
                .follow(name)
                .and_then(|place| place.subscript)
                .is_some_and(|subscript| !matches!(subscript.as_slice(), b"@" | b"*"))
    }

    /// The value of a variable that was found, without following it as a nameref.
    pub(crate) fn value_in<'a>(&self, variable: &'a Variable) -> Option<Cow<'a, Value>> {
        match variable.attributes.dynamic {
            Some(dynamic) if !dynamic.is_stored() => self.compute(dynamic).map(Cow::Owned),
            _ => variable.value.as_ref().map(Cow::Borrowed),
        }
    }

    /// Where a name leads, to read or to assign it. `None`: the references go round in a circle; bash's warning
    /// is printed.
    pub(crate) fn locate(&self, name: &BStr) -> Option<Place> {
        let depth = self.variables.depth_of(name).unwrap_or(0);
        match self.variables.get_at(depth, name) {
            Some(variable) if variable.attributes.nameref => self.follow(name),
            _ => Some(Place { depth, name: name.into(), subscript: None }),
        }
    }

    /// A reference without a target leads to itself.
    fn follow(&self, name: &BStr) -> Option<Place> {
        let first = self.variables.depth_of(name)?;
        let mut place = Place { depth: first, name: name.into(), subscript: None };
        for _ in 0..=REFERENCES {
            let variable = self.variables.get_at(place.depth, place.name.as_bstr());
            let text = match variable {
                Some(variable) if variable.attributes.nameref => variable.as_scalar(),
                _ => return Some(place),
            };
            let Some(next) = text.and_then(|text| parse_reference(text.as_bstr())) else {
                return Some(place);
            };
            let depth = self.variables.depth_of(next.name).unwrap_or(0);
            let circular = next.subscript.is_none()
                && ((next.name == name && depth == first)
                    || (next.name == place.name && depth == place.depth));
            if circular {
                self.complain(
                    [b"warning: ", name.as_bytes(), b": circular name reference"].concat(),
                );
                return self.beyond_circle(next.name, depth);
            }
            place.depth = depth;
            place.name = next.name.into();
            if place.subscript.is_none() {
                place.subscript = next.subscript.map(Into::into);
            }
        }
        None
    }

    /// A local that refers to itself means the global of that name: `f() { local -n x=$1; …; }; f x`.
    fn beyond_circle(&self, name: &BStr, depth: usize) -> Option<Place> {
        if self.variables.kind_at(depth) != ScopeKind::Function {
            return None;
        }
        Some(Place { depth: 0, name: name.into(), subscript: None })
    }

    fn value_through(&self, name: &BStr) -> Option<Cow<'_, Value>> {
        let place = self.follow(name)?;
        let variable = self.variables.get_at(place.depth, place.name.as_bstr())?;
        if variable.attributes.nameref && place.name == name {
            return None;
        }
        let value = self.value_in(variable)?;
        match place.subscript {
            None => Some(value),
            Some(subscript) => {
                let text = self.element_text(place.name.as_bstr(), &value, subscript.as_bstr())?;
                Some(Cow::Owned(Value::Scalar(text)))
            }
        }
    }

    /// The element that the subscript of a nameref means.
    fn element_text(&self, name: &BStr, value: &Value, subscript: &BStr) -> Option<BString> {
        if matches!(subscript.as_bytes(), b"@" | b"*") {
            let all: Vec<&[u8]> = match value {
                Value::Scalar(text) => vec![text],
                Value::Indexed(array) => array.iter().map(|(_, text)| text.as_slice()).collect(),
                Value::Associative(map) => map.iter().map(|(_, text)| text.as_slice()).collect(),
            };
            return Some(all.join(&b" "[..]).into());
        }
        let key = match subscript.to_str().ok().and_then(|text| text.parse().ok()) {
            Some(index) if !matches!(value, Value::Associative(_)) => ElementKey::Index(index),
            // Evaluating may run anything; a copy of the shell keeps what it changes away from this lookup.
            _ => self.clone().element_key_of_text(name, subscript).ok()?,
        };
        value.element(&key).cloned()
    }
}

impl Value {
    /// The element a key means; a scalar is its own element 0.
    pub fn element(&self, key: &ElementKey) -> Option<&BString> {
        match (self, key) {
            (Value::Scalar(text), ElementKey::Index(0)) => Some(text),
            (Value::Indexed(array), ElementKey::Index(index)) => {
                array.get(array.resolve_index(*index)?)
            }
            (Value::Associative(map), ElementKey::Key(key)) => map.get(key.as_bstr()),
            (Value::Scalar(_), _)
            | (Value::Indexed(_), ElementKey::Key(_))
            | (Value::Associative(_), ElementKey::Index(_)) => None,
        }
    }
}
