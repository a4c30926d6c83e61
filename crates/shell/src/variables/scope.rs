//! The stack of scopes.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use bstr::{BStr, BString};

use super::{Attributes, Dynamic, Value, Variable};
use crate::options::Options;

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
    /// Each shared on its own: a subshell that sets one variable does not copy the values of all.
    pub variables: HashMap<BString, Arc<Variable>, BuildHasherDefault<NameHasher>>,
    /// `local -`: what the options were when the function said so.
    pub saved_options: Option<Box<Options>>,
    /// Of a temporary scope: how deep the command it belongs to is nested. Deeper is what `eval` runs inside it.
    pub nesting: u32,
}

#[derive(Debug, Clone)]
pub struct Variables {
    /// Innermost last; the first is global.
    scopes: Vec<Arc<Scope>>,
}

impl Default for Variables {
    /// With the variables that every shell has, before anything is known of its host.
    fn default() -> Self {
        Variables { scopes: vec![super::dynamic::global_scope()] }
    }
}

impl Scope {
    pub(super) fn new(kind: ScopeKind) -> Self {
        Scope { kind, variables: HashMap::default(), saved_options: None, nesting: 0 }
    }

    pub fn get(&self, name: &BStr) -> Option<&Variable> {
        self.variables.get::<[u8]>(name.as_ref()).map(AsRef::as_ref)
    }

    fn get_mut(&mut self, name: &BStr) -> Option<&mut Variable> {
        self.variables.get_mut::<[u8]>(name.as_ref()).map(Arc::make_mut)
    }

    fn contains(&self, name: &BStr) -> bool {
        self.variables.contains_key::<[u8]>(name.as_ref())
    }
}

impl Variables {
    /// The variable of this very name that is in force; namerefs are not followed.
    pub fn get(&self, name: &BStr) -> Option<&Variable> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// The scope in which a name is found: 0 is global.
    pub fn depth_of(&self, name: &BStr) -> Option<usize> {
        self.scopes.iter().rposition(|scope| scope.contains(name))
    }

    pub fn get_at(&self, depth: usize, name: &BStr) -> Option<&Variable> {
        self.scopes.get(depth)?.get(name)
    }

    pub fn get_mut_at(&mut self, depth: usize, name: &BStr) -> Option<&mut Variable> {
        let scope = self.scopes.get_mut(depth).filter(|scope| scope.contains(name))?;
        Arc::make_mut(scope).get_mut(name)
    }

    /// The variable of a certain scope, made there if needed.
    pub fn at_mut(&mut self, depth: usize, name: &BStr) -> &mut Variable {
        let depth = depth.min(self.scopes.len() - 1);
        let scope = Arc::make_mut(&mut self.scopes[depth]);
        let variable = scope.variables.entry(name.into());
        Arc::make_mut(variable.or_insert_with(|| Arc::new(Variable::named(name))))
    }

    /// The variable in force, to be changed in its own scope.
    pub fn get_mut(&mut self, name: &BStr) -> Option<&mut Variable> {
        // The global scope is the last resort: it is not asked twice.
        let above = self.scopes.get(1..).unwrap_or_default();
        let depth = above.iter().rposition(|scope| scope.contains(name)).map_or(0, |at| at + 1);
        Arc::make_mut(&mut self.scopes[depth]).get_mut(name)
    }

    /// The variable in force, made in the global scope if there is none.
    pub fn get_or_create(&mut self, name: &BStr) -> &mut Variable {
        let depth = self.depth_of(name).unwrap_or(0);
        self.at_mut(depth, name)
    }

    /// Where the innermost function keeps its locals; `None` outside functions.
    pub fn function_depth(&self) -> Option<usize> {
        self.scopes.iter().rposition(|scope| scope.kind == ScopeKind::Function)
    }

    /// The variable in the innermost function's scope, made there if needed; `None` outside functions.
    pub fn get_or_create_local(&mut self, name: &BStr) -> Option<&mut Variable> {
        let depth = self.function_depth()?;
        Some(self.at_mut(depth, name))
    }

    /// The variable of the global scope, made there if needed (`declare -g`).
    pub fn get_or_create_global(&mut self, name: &BStr) -> &mut Variable {
        self.at_mut(0, name)
    }

    /// Sets a scalar without asking attributes: for the shell's own variables.
    pub fn set(&mut self, name: &str, value: impl Into<BString>) {
        self.get_or_create(name.into()).value = Some(Value::Scalar(value.into()));
    }

    /// The same for one that programs get too.
    pub fn export(&mut self, name: &BStr, value: impl Into<BString>) {
        let variable = self.get_or_create(name);
        variable.value = Some(Value::Scalar(value.into()));
        variable.attributes.exported = true;
    }

    /// Removes the variable in force; what it hid comes back.
    pub fn remove(&mut self, name: &BStr) -> Option<Variable> {
        self.remove_at(self.depth_of(name)?, name)
    }

    pub fn remove_at(&mut self, depth: usize, name: &BStr) -> Option<Variable> {
        let scope = self.scopes.get_mut(depth).filter(|scope| scope.contains(name))?;
        let variable = Arc::make_mut(scope).variables.remove::<[u8]>(name.as_ref())?;
        Some(Arc::unwrap_or_clone(variable))
    }

    /// `unset name`. A local of the function that is running stays as a name without value, so that what it
    /// hides is not seen; a local of a caller (unless `stay_local`) goes, and what it hid comes back.
    pub fn unset(&mut self, name: &BStr, stay_local: bool) {
        let Some(depth) = self.depth_of(name) else { return };
        let is_local = self.scopes[depth].kind == ScopeKind::Function;
        if is_local && (stay_local || self.function_depth() == Some(depth)) {
            *self.at_mut(depth, name) = Variable::named(name);
        } else {
            self.remove_at(depth, name);
        }
    }

    /// `local name`: the variable of the function that is running, made if it is not there yet. A new one has
    /// no value, unless the call gave it one (`name=1 function`) or `inherit` asks for that of the variable it
    /// hides; it is exported if that one is.
    pub fn declare_local(&mut self, name: &BStr, inherit: bool) -> Option<&mut Variable> {
        let function = self.function_depth()?;
        if self.scopes[function].contains(name) {
            return Some(self.at_mut(function, name));
        }
        let mut new = Variable::named(name);
        if let Some(depth) = self.depth_of(name) {
            let hidden = &self.scopes[depth].variables[name.as_ref() as &[u8]];
            let temporary = self.scopes[depth].kind == ScopeKind::Temporary;
            new.attributes.exported = hidden.attributes.exported;
            if temporary || inherit {
                new.value.clone_from(&hidden.value);
            }
            if inherit {
                let dynamic = new.attributes.dynamic;
                new.attributes = Attributes { nameref: false, dynamic, ..hidden.attributes };
            }
            if temporary && depth > function {
                // `x=1 local x`: the local must be the one that is found.
                self.remove_at(depth, name);
            }
        }
        let local = self.at_mut(function, name);
        *local = new;
        Some(local)
    }

    /// The quick way of `local name=value`: a new variable without attributes. The value is given back where
    /// there is more to it: a scope above the function's, a name that is local already or means something, a
    /// variable of that name which is read-only or given with the call.
    pub fn declare_plain_local(
        &mut self,
        name: &BStr,
        value: Option<Value>,
    ) -> Result<(), Option<Value>> {
        let function = self.scopes.len() - 1;
        if self.scopes[function].kind != ScopeKind::Function || Dynamic::of_new(name).is_some() {
            return Err(value);
        }
        let mut attributes = Attributes::default();
        if let Some(depth) = self.depth_of(name) {
            let hidden = self.scopes[depth].get(name).map(|hidden| hidden.attributes);
            let hidden = hidden.unwrap_or_default();
            if depth == function
                || hidden.readonly
                || self.scopes[depth].kind == ScopeKind::Temporary
            {
                return Err(value);
            }
            attributes.exported = hidden.exported;
        }
        let scope = Arc::make_mut(&mut self.scopes[function]);
        scope.variables.insert(name.into(), Arc::new(Variable { value, attributes }));
        Ok(())
    }

    pub fn push_scope(&mut self, kind: ScopeKind) {
        self.scopes.push(Arc::new(Scope::new(kind)));
    }

    /// Ends the innermost scope; the global one stays. Gives back what `local -` saved: to be in force again.
    pub fn pop_scope(&mut self) -> Option<Box<Options>> {
        if self.scopes.len() < 2 {
            return None;
        }
        let scope = self.scopes.pop()?;
        scope.saved_options.clone()
    }

    /// How many scopes there are; 1: only the global one.
    pub fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// Ends scopes until only `depth` are left. Gives back what `local -` saved, as [`Variables::pop_scope`].
    pub fn leave_scopes(&mut self, depth: usize) -> Option<Box<Options>> {
        let mut saved = None;
        while self.scopes.len() > depth.max(1) {
            saved = self.pop_scope().or(saved);
        }
        saved
    }

    /// `local -`: `false` outside functions.
    pub fn save_options(&mut self, options: &Options) -> bool {
        let Some(depth) = self.function_depth() else { return false };
        let scope = Arc::make_mut(&mut self.scopes[depth]);
        scope.saved_options.get_or_insert_with(|| Box::new(options.clone()));
        true
    }

    pub fn innermost_mut(&mut self) -> &mut Scope {
        let last = self.scopes.len() - 1;
        Arc::make_mut(&mut self.scopes[last])
    }

    pub fn innermost(&self) -> &Scope {
        &self.scopes[self.scopes.len() - 1]
    }

    pub fn in_function(&self) -> bool {
        self.function_depth().is_some()
    }

    /// Innermost first.
    pub fn scopes(&self) -> impl Iterator<Item = &Scope> {
        self.scopes.iter().rev().map(AsRef::as_ref)
    }

    /// The scope is that of the command which is running at this depth of nesting, not of an `eval` around it.
    pub fn is_own_temporary(&self, depth: usize, nesting: u32) -> bool {
        depth + 1 == self.scopes.len()
            && self.scopes[depth].kind == ScopeKind::Temporary
            && self.scopes[depth].nesting == nesting
    }

    pub fn kind_at(&self, depth: usize) -> ScopeKind {
        self.scopes.get(depth).map_or(ScopeKind::Global, |scope| scope.kind)
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

    /// Arrays are not exported, as in bash.
    pub fn exported_value(&self, name: &BStr) -> Option<BString> {
        let variable = self.get(name)?;
        match &variable.value {
            Some(Value::Scalar(text)) if variable.attributes.exported => Some(text.clone()),
            _ => None,
        }
    }

    /// What a program would get as its environment, sorted by name.
    pub fn environment(&self) -> Vec<(BString, BString)> {
        // A name that is exported somewhere may be hidden by one that is not; most are exported nowhere.
        let variables = self.scopes.iter().flat_map(|scope| &scope.variables);
        let exported = variables.filter(|(_, variable)| variable.attributes.exported);
        let mut names: Vec<&BString> = exported.map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        let value = |name: &BString| Some((name.clone(), self.exported_value(name.as_ref())?));
        names.into_iter().filter_map(value).collect()
    }
}

impl Variable {
    /// A new variable, with what its name may mean to the shell.
    fn named(name: &BStr) -> Self {
        let attributes = Attributes { dynamic: Dynamic::of_new(name), ..Attributes::default() };
        Variable { value: None, attributes }
    }
}

/// Names are short and few: a multiplication per eight bytes instead of the default's flooding protection.
#[derive(Debug, Default, Clone, Copy)]
pub struct NameHasher {
    state: u64,
}

impl NameHasher {
    fn mix(&mut self, word: u64) {
        self.state = (self.state.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_usize(&mut self, number: usize) {
        self.mix(number as u64);
    }

    /// The table takes its place from the low bits, which a multiplication leaves weakest.
    fn finish(&self) -> u64 {
        self.state ^ (self.state >> 32)
    }
}
