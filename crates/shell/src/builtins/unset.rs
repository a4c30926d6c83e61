//! `unset`

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::{Command, Run, usage};
use crate::arguments::{OptionSpec, flag};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Running};
use crate::variables::{is_name, parse_reference};

static OPTIONS: [OptionSpec; 3] = [
    flag('f', "f", "each name is a function"),
    flag('v', "v", "each name is a variable"),
    flag('n', "n", "each name is a reference; remove it, not what it refers to"),
];

pub static COMMAND: Command = Command {
    name: "unset",
    synopsis: "unset [-f] [-v] [-n] [name ...]",
    summary: "Remove variables, elements of arrays and functions",
    options: &OPTIONS,
    run: Run::Builtin { special: true, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let (function, variable) = (arguments.has("f"), arguments.has("v"));
    if function && variable {
        shell.complain("unset: cannot simultaneously unset a function and a variable");
        return Ok(ExitStatus::FAILURE);
    }
    let mut all = true;
    for name in &arguments.operands {
        let name = name.as_bstr();
        all &= match (function, arguments.has("n")) {
            (true, _) => unset_function(shell, name),
            (false, true) => unset_reference(shell, name),
            (false, false) => unset_either(shell, name, variable)?,
        };
    }
    Ok(ExitStatus::from_bool(all))
}

fn unset_function(shell: &mut Shell, name: &BStr) -> bool {
    match shell.functions.get(name.as_bytes()) {
        Some(function) if function.readonly => {
            let message = b": cannot unset: readonly function";
            shell.complain([b"unset: ", name.as_bytes(), message].concat());
            return false;
        }
        Some(_) => Arc::make_mut(&mut shell.functions).remove(name.as_bytes()),
        None => None,
    };
    true
}

/// `unset -n`: references only; other variables stay.
fn unset_reference(shell: &mut Shell, name: &BStr) -> bool {
    if parse_reference(name).is_none() {
        shell.complain_of_identifier("unset", name);
        return false;
    }
    match shell.variables.get(name) {
        Some(variable) if variable.attributes.nameref => shell.unset_name(name),
        _ => true,
    }
}

/// A variable if there is one, else a function.
fn unset_either(shell: &mut Shell, name: &BStr, only_variable: bool) -> Running<bool> {
    let Some(reference) = parse_reference(name) else {
        // Functions may have names that variables cannot have.
        let possibly_function = !only_variable
            && (!name.contains(&b'[') || shell.functions.contains_key(name.as_bytes()));
        if possibly_function {
            return Ok(unset_function(shell, name));
        }
        let name_part = name.split(|byte| *byte == b'[').next().unwrap_or_default();
        if is_name(name_part) && name.ends_with(b"[]") {
            return Ok(true);
        }
        shell.complain_of_identifier("unset", name);
        return Ok(false);
    };
    if let Some(subscript) = reference.subscript {
        return shell.unset_element(reference.name, subscript);
    }
    if only_variable || shell.variables.get(name).is_some() {
        return shell.unset_variable(name);
    }
    Ok(unset_function(shell, name))
}
