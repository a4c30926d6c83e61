//! What a shell leaves to another one that goes on where it stopped: directory, variables, functions, aliases. Only what differs from
//! how the first one began: the rest is the other's own.

use std::sync::Arc;

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::Command;
use exacta_syntax::{Limits, ParseOptions};

use crate::shell::{Function, Shell};
use crate::variables::Variable;

/// The shell sets these by itself.
const OWN: &[&[u8]] = &[b"_", b"PWD", b"SHLVL", b"BASHPID", b"BASH_COMMAND", b"PIPESTATUS"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    pub directory: BString,
    pub variables: Vec<(BString, Variable)>,
    /// Variables that were there and are not any more.
    pub unset: Vec<BString>,
    pub functions: Vec<KeptFunction>,
    pub aliases: Vec<(BString, BString)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptFunction {
    /// The text that defines it.
    pub text: BString,
    pub exported: bool,
    pub readonly: bool,
}

impl Shell {
    /// What differs from how it began.
    pub fn changed_since(&self, begun: &Shell) -> Kept {
        let is_kept = |name: &BString| !OWN.contains(&name.as_slice());
        let global = |shell: &Shell, name: &BString| {
            let variable = shell.variables.get_at(0, name.as_bstr())?;
            variable.attributes.dynamic.is_none().then(|| variable.clone())
        };
        let names = self.variables.names().into_iter().filter(is_kept);
        let variables = names.filter_map(|name| {
            let variable = global(self, &name)?;
            (global(begun, &name).as_ref() != Some(&variable)).then_some((name, variable))
        });
        let variables = variables.collect();
        let gone = |name: &BString| {
            global(begun, name).is_some() && self.variables.get_at(0, name.as_bstr()).is_none()
        };
        let unset = begun.variables.names().into_iter().filter(is_kept).filter(gone).collect();
        let functions = self.functions.values().map(|function| KeptFunction {
            text: exacta_syntax::print_function(function.name.as_bstr(), &function.body),
            exported: function.exported,
            readonly: function.readonly,
        });
        let aliases = self.aliases.iter().map(|(name, text)| (name.clone(), text.clone()));
        Kept {
            directory: self.directory.clone(),
            variables,
            unset,
            functions: functions.collect(),
            aliases: aliases.collect(),
        }
    }

    /// Goes on with that. Nothing of it runs.
    pub fn take_up(&mut self, kept: &Kept) {
        for name in &kept.unset {
            self.variables.remove_at(0, name.as_bstr());
        }
        for (name, variable) in &kept.variables {
            *self.variables.get_or_create_global(name.as_bstr()) = variable.clone();
        }
        for function in &kept.functions {
            self.define(function);
        }
        Arc::make_mut(&mut self.aliases).extend(kept.aliases.iter().cloned());
    }

    fn define(&mut self, kept: &KeptFunction) {
        let list = exacta_syntax::parse(&kept.text, ParseOptions::default(), Limits::default());
        let Ok(list) = list else { return };
        let stage = list.items.first().and_then(|item| item.chain.first.stages.first());
        let Some(Command::Function(definition)) = stage.map(|stage| &stage.command) else { return };
        let function = Function {
            name: definition.name.clone(),
            body: Arc::clone(&definition.body),
            source: BString::from("main"),
            line: 1,
            exported: kept.exported,
            readonly: kept.readonly,
            traced: false,
        };
        Arc::make_mut(&mut self.functions).insert(definition.name.clone(), Arc::new(function));
    }
}
