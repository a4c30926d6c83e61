//! The stack of scopes.

use std::collections::HashMap;
use std::sync::Arc;

use bstr::{BStr, BString};

use super::{Value, Variable};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    Global,
    /// One call of a function: `local` declares here.
    Function,
    /// `x=1 command`: gone when the command ends.
    Temporary,
}

#[derive(Debug, Clone)]
pub struct Scope {
    pub kind: ScopeKind,
    pub variables: HashMap<BString, Variable>,
}

#[derive(Debug, Clone)]
pub struct Variables {
    /// Innermost last; the first is global.
    scopes: Vec<Arc<Scope>>,
}

impl Default for Variables {
    fn default() -> Self {
        Variables { scopes: vec![Arc::new(Scope::new(ScopeKind::Global))] }
    }
}

impl Scope {
    fn new(kind: ScopeKind) -> Self {
        Scope { kind, variables: HashMap::new() }
    }
}

impl Variables {
    /// The variable of this very name that is in force; namerefs are not followed.
    pub fn get(&self, name: &BStr) -> Option<&Variable> {
        self.scopes.iter().rev().find_map(|scope| scope.variables.get::<[u8]>(name.as_ref()))
    }

    /// The variable in force, to be changed in its own scope.
    pub fn get_mut(&mut self, name: &BStr) -> Option<&mut Variable> {
        let scope = self
            .scopes
            .iter_mut()
            .rev()
            .find(|scope| scope.variables.contains_key::<[u8]>(name.as_ref()))?;
        Arc::make_mut(scope).variables.get_mut::<[u8]>(name.as_ref())
    }

    /// The variable in force, made in the global scope if there is none.
    pub fn get_or_create(&mut self, name: &BStr) -> &mut Variable {
        let at = self
            .scopes
            .iter()
            .rposition(|scope| scope.variables.contains_key::<[u8]>(name.as_ref()))
            .unwrap_or(0);
        let scope = Arc::make_mut(&mut self.scopes[at]);
        scope.variables.entry(name.into()).or_default()
    }

    /// The variable in the innermost function's scope, made there if needed; `None` outside functions.
    pub fn get_or_create_local(&mut self, name: &BStr) -> Option<&mut Variable> {
        let scope = self.scopes.iter_mut().rev().find(|scope| scope.kind == ScopeKind::Function)?;
        Some(Arc::make_mut(scope).variables.entry(name.into()).or_default())
    }

    /// The variable of the global scope, made there if needed (`declare -g`).
    pub fn get_or_create_global(&mut self, name: &BStr) -> &mut Variable {
        Arc::make_mut(&mut self.scopes[0]).variables.entry(name.into()).or_default()
    }

    /// Sets a scalar without asking attributes: for the shell's own variables.
    pub fn set(&mut self, name: &str, value: impl Into<BString>) {
        self.get_or_create(name.into()).value = Some(Value::Scalar(value.into()));
    }

    /// Removes the variable in force; what it hid comes back.
    pub fn remove(&mut self, name: &BStr) -> Option<Variable> {
        let scope = self
            .scopes
            .iter_mut()
            .rev()
            .find(|scope| scope.variables.contains_key::<[u8]>(name.as_ref()))?;
        Arc::make_mut(scope).variables.remove::<[u8]>(name.as_ref())
    }

    pub fn push_scope(&mut self, kind: ScopeKind) {
        self.scopes.push(Arc::new(Scope::new(kind)));
    }

    /// Ends the innermost scope; the global one stays.
    pub fn pop_scope(&mut self) {
        if self.scopes.len() > 1 {
            self.scopes.pop();
        }
    }

    pub fn innermost_mut(&mut self) -> &mut Scope {
        let last = self.scopes.len() - 1;
        Arc::make_mut(&mut self.scopes[last])
    }

    pub fn innermost(&self) -> &Scope {
        &self.scopes[self.scopes.len() - 1]
    }

    pub fn in_function(&self) -> bool {
        self.scopes.iter().any(|scope| scope.kind == ScopeKind::Function)
    }

    /// Innermost first.
    pub fn scopes(&self) -> impl Iterator<Item = &Scope> {
        self.scopes.iter().rev().map(AsRef::as_ref)
    }

    /// The scalar value in force, if set.
    pub fn scalar(&self, name: &str) -> Option<&BString> {
        self.get(name.into())?.as_scalar()
    }

    /// Every name that is visible, sorted.
    pub fn names(&self) -> Vec<BString> {
        let mut names: Vec<BString> =
            self.scopes.iter().flat_map(|scope| scope.variables.keys().cloned()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    pub fn exported_value(&self, name: &BStr) -> Option<BString> {
        let variable = self.get(name)?;
        if variable.attributes.exported { variable.as_scalar().cloned() } else { None }
    }

    /// What a program would get as its environment, sorted by name.
    pub fn environment(&self) -> Vec<(BString, BString)> {
        let names = self.names();
        names
            .into_iter()
            .filter_map(|name| self.exported_value(name.as_ref()).map(|value| (name, value)))
            .collect()
    }
}
