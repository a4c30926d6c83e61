//! What `declare` prints.

use bstr::{BString, ByteSlice};

use super::{Request, functions, written};
use crate::builtins::DeclarationArgument;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};
use crate::variables::{Attributes, ScopeKind, Variable};

/// Without names: everything that has the attributes.
pub(in crate::builtins) fn print_matching(shell: &mut Shell, request: &Request) -> Flow {
    if request.local {
        return print_locals(shell, request);
    }
    if request.functions || request.function_names {
        let text = functions::all(shell, request);
        return shell.print(request.builtin, &text);
    }
    let any = request.on == Attributes::default();
    let mut text = BString::default();
    for name in shell.variables.names() {
        let Some(variable) = shell.variables.get(name.as_bstr()) else { continue };
        if any && !request.print {
            text.extend_from_slice(&shell.listing_of(name.as_bstr(), variable));
        } else if has(variable, request.on) {
            text.extend_from_slice(&shell.declaration_of(name.as_bstr(), variable));
        }
    }
    if any && !request.print {
        text.extend_from_slice(&functions::all(shell, request));
    }
    shell.print(request.builtin, &text)
}

/// `declare -p name …`
pub(super) fn print_names(
    shell: &mut Shell,
    request: &Request,
    names: &[DeclarationArgument<'_>],
) -> Flow {
    let mut all = true;
    let mut text = BString::default();
    for argument in names {
        let name = written(argument);
        if let Some(variable) = shell.variables.get(name.as_bstr()) {
            text.extend_from_slice(&shell.declaration_of(name.as_bstr(), variable));
            continue;
        }
        shell.print(request.builtin, &std::mem::take(&mut text))?;
        let start = format!("{}: ", request.builtin);
        shell.complain([start.as_bytes(), &name, b": not found"].concat());
        all = false;
    }
    let status = shell.print(request.builtin, &text)?;
    Ok(if status.success() { ExitStatus::from_bool(all) } else { status })
}

/// `local` alone: the variables of the function that is running, whatever attributes are asked for.
fn print_locals(shell: &mut Shell, request: &Request) -> Flow {
    let Some(scope) = shell.variables.scopes().find(|scope| scope.kind == ScopeKind::Function)
    else {
        return Ok(ExitStatus::SUCCESS);
    };
    let mut locals: Vec<_> = scope.variables.iter().collect();
    locals.sort_unstable_by_key(|(name, _)| *name);
    let mut text = BString::default();
    for (name, variable) in locals {
        text.extend_from_slice(&shell.declaration_of(name.as_bstr(), variable));
    }
    shell.print(request.builtin, &text)
}

/// All that is asked for.
fn has(variable: &Variable, wanted: Attributes) -> bool {
    let shown = variable.shown_attributes();
    let pairs = [
        (shown.indexed, wanted.indexed),
        (shown.associative, wanted.associative),
        (shown.integer, wanted.integer),
        (shown.nameref, wanted.nameref),
        (shown.readonly, wanted.readonly),
        (shown.trace, wanted.trace),
        (shown.exported, wanted.exported),
        (shown.capitalize, wanted.capitalize),
        (shown.lowercase, wanted.lowercase),
        (shown.uppercase, wanted.uppercase),
    ];
    pairs.iter().all(|(shown, wanted)| *shown || !wanted)
}
