//! `export` and `readonly`: one attribute, for variables wherever they are found.

use bstr::{BStr, BString, ByteSlice};

use super::declaration::{Declaration, Given};
use super::{Request, functions, print_matching, written};
use crate::builtins::{Command, DeclarationArgument, usage};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Running};
use crate::variables::{Place, ScopeKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::builtins) enum Attribute {
    Exported,
    Readonly,
}

pub(in crate::builtins) fn run_attribute(
    shell: &mut Shell,
    command: &'static Command,
    attribute: Attribute,
    arguments: &[DeclarationArgument<'_>],
) -> Flow {
    let options = arguments.iter().map_while(|argument| match argument {
        DeclarationArgument::Word(word) => Some(word.clone()),
        _ => None,
    });
    let words: Vec<BString> = options.collect();
    let parsed = match usage::parse(shell, command, &words) {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let names = &arguments[words.len() - parsed.operands.len()..];
    let mut request = Request::new(command.name);
    request.functions = parsed.has("f");
    request.print = true;
    request.on.indexed = parsed.has("a");
    request.on.associative = parsed.has("A");
    let remove = parsed.has("n");
    match attribute {
        Attribute::Exported if remove => request.off.exported = true,
        Attribute::Exported => request.on.exported = true,
        Attribute::Readonly => request.on.readonly = true,
    }
    if names.is_empty() {
        request.on.exported |= request.off.exported;
        return print_matching(shell, &request);
    }
    let mut all = true;
    for argument in names {
        all &= if request.functions {
            change_function(shell, &request, argument)
        } else {
            change(shell, &request, argument)?
        };
    }
    Ok(ExitStatus::from_bool(all))
}

fn change_function(
    shell: &mut Shell,
    request: &Request,
    argument: &DeclarationArgument<'_>,
) -> bool {
    let name = written(argument);
    if functions::change_named(shell, request, name.as_bstr()) {
        return true;
    }
    let start = format!("{}: ", request.builtin);
    shell.complain([start.as_bytes(), &name, b": not a function"].concat());
    false
}

fn change(
    shell: &mut Shell,
    request: &Request,
    argument: &DeclarationArgument<'_>,
) -> Running<bool> {
    let Some(declaration) = Declaration::of(argument) else {
        shell.complain_of_identifier(request.builtin, written(argument).as_bstr());
        return Ok(false);
    };
    if declaration.subscript.is_some() {
        let end = declaration.written.find_byte(b']').map_or(0, |at| at + 1);
        let element = declaration.written.get(..end).unwrap_or_default();
        shell.complain_of_identifier(request.builtin, element.as_bstr());
        return Ok(false);
    }
    let Some(place) = shell.locate(declaration.name) else { return Ok(false) };
    if let Some(subscript) = &place.subscript {
        let element = [place.name.as_bytes(), b"[", subscript, b"]"].concat();
        shell.complain_of_identifier(request.builtin, element.as_bstr());
        return Ok(false);
    }
    let exists = shell.variables.get_at(place.depth, place.name.as_bstr()).is_some();
    if request.off.exported && declaration.value.is_none() && !exists {
        return Ok(true);
    }
    if declaration.is_list() && shell.is_readonly_at(&place) {
        shell.refuse_readonly(place.name.as_bstr());
        return shell.unwind_unless(false).map(|()| false);
    }
    let stored = match declaration.value {
        None => true,
        Some(Given::Scalar(value)) => shell.store_scalar(&place, value.into(), declaration.mode)?,
        Some(Given::List(elements)) => {
            prepare_array(shell, request, &place);
            shell.store_list(&place, elements, declaration.mode)?
        }
    };
    if stored && request.wants_array() {
        prepare_array(shell, request, &place);
    }
    // A value that is refused does not keep the attribute from being set.
    let variable = shell.variables.at_mut(place.depth, place.name.as_bstr());
    variable.attributes.readonly |= request.on.readonly;
    variable.attributes.exported =
        (variable.attributes.exported || request.on.exported) && !request.off.exported;
    shell.keep_beyond_command(place.name.as_bstr(), place.depth);
    Ok(stored)
}

/// `readonly -A map=(…)`: a new variable becomes that kind of array.
fn prepare_array(shell: &mut Shell, request: &Request, place: &Place) {
    let variable = shell.variables.at_mut(place.depth, place.name.as_bstr());
    if variable.is_array() {
        return;
    }
    match variable.value {
        Some(_) => variable.become_array(request.on.associative),
        None if request.on.associative => variable.attributes.associative = true,
        None => variable.attributes.indexed = true,
    }
}

impl Shell {
    /// `x=1 export x`: what was given for the command alone stays, with its value and attributes.
    pub(in crate::builtins) fn keep_beyond_command(&mut self, name: &BStr, depth: usize) {
        // That of the command itself, or of the function that is running (`x=1 f`).
        let of_function = self.variables.kind_at(depth) == ScopeKind::Temporary
            && self.variables.kind_at(depth + 1) == ScopeKind::Function;
        if !of_function && !self.variables.is_own_temporary(depth, self.depth) {
            return;
        }
        let Some(variable) = self.variables.remove_at(depth, name) else { return };
        let beneath = self.variables.depth_of(name).unwrap_or(0);
        let kept = self.variables.at_mut(beneath, name);
        kept.value.clone_from(&variable.value);
        kept.attributes.exported |= variable.attributes.exported;
        kept.attributes.readonly |= variable.attributes.readonly;
        *self.variables.at_mut(depth, name) = variable;
    }
}
