//! `declare` and `typeset`, and what `local`, `export` and `readonly` share with them.

mod apply;
mod attribute;
mod declaration;
mod functions;
mod print;
mod request;

use bstr::BString;

use super::{Command, DeclarationArgument, Run};
use crate::arguments::{OptionSpec, flag};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

pub(super) use attribute::{Attribute, run_attribute};
pub(super) use print::print_matching;
pub(super) use request::Request;

pub(super) static OPTIONS: [OptionSpec; 15] = [
    flag('a', "a", "indexed array"),
    flag('A', "A", "associative array"),
    flag('c', "c", "first letter to upper case on assignment, the others to lower case"),
    flag('f', "f", "functions only"),
    flag('F', "F", "names of functions only"),
    flag('g', "g", "global, also inside a function"),
    flag('i', "i", "values are evaluated as arithmetic on assignment"),
    flag('I', "I", "a local gets value and attributes of the variable it hides"),
    flag('l', "l", "values are changed to lower case on assignment"),
    flag('n', "n", "the value is the name of another variable"),
    flag('p', "p", "print as declarations"),
    flag('r', "r", "read-only"),
    flag('t', "t", "trace"),
    flag('u', "u", "values are changed to upper case on assignment"),
    flag('x', "x", "export to programs"),
];

pub static COMMAND: Command = Command {
    name: "declare",
    synopsis: "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]",
    summary: "Declare variables, give them attributes and values, or print them",
    options: &OPTIONS,
    run: Run::Declaration { special: false, run: declare },
};

pub static TYPESET: Command = Command {
    name: "typeset",
    synopsis: "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]",
    summary: "Another name for declare",
    options: &OPTIONS,
    run: Run::Declaration { special: false, run: typeset },
};

fn declare(shell: &mut Shell, arguments: &[DeclarationArgument<'_>]) -> Flow {
    run(shell, &COMMAND, arguments)
}

fn typeset(shell: &mut Shell, arguments: &[DeclarationArgument<'_>]) -> Flow {
    run(shell, &TYPESET, arguments)
}

/// Any of `declare`, `typeset` and `local`.
pub(super) fn run(
    shell: &mut Shell,
    command: &'static Command,
    arguments: &[DeclarationArgument<'_>],
) -> Flow {
    let (request, names) = match Request::parse(shell, command, arguments) {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    if names.is_empty() {
        return print_matching(shell, &request);
    }
    if request.functions || request.function_names {
        return functions::declare(shell, &request, names);
    }
    if request.print {
        return print::print_names(shell, &request, names);
    }
    let mut all = true;
    for argument in names {
        all &= apply::apply(shell, &request, argument)?;
    }
    Ok(ExitStatus::from_bool(all))
}

/// The argument as one text, for messages.
pub(super) fn written(argument: &DeclarationArgument<'_>) -> BString {
    match argument {
        DeclarationArgument::Word(word) => word.clone(),
        DeclarationArgument::Scalar { assignment, value } => {
            let mut text = assigned_name(assignment);
            text.extend_from_slice(if assignment.append { b"+=" } else { b"=" });
            text.extend_from_slice(value);
            text
        }
        DeclarationArgument::Array(assignment) => assigned_name(assignment),
    }
}

fn assigned_name(assignment: &exacta_syntax::ast::Assignment) -> BString {
    match &assignment.subscript {
        Some(subscript) => {
            crate::variables::written_element(assignment.name.as_slice().into(), subscript)
        }
        None => assignment.name.clone(),
    }
}
