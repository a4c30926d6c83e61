//! `declare -f` and `-F`: functions are printed and given attributes, never made.

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::{Request, written};
use crate::builtins::DeclarationArgument;
use crate::shell::{Function, Shell};
use crate::status::{ExitStatus, Flow};
use crate::variables::Attributes;

pub(super) fn declare(
    shell: &mut Shell,
    request: &Request,
    names: &[DeclarationArgument<'_>],
) -> Flow {
    let changes = request.on != Attributes::default() || request.off != Attributes::default();
    let mut all = true;
    let mut text = BString::default();
    for argument in names {
        let name = written(argument);
        if !matches!(argument, DeclarationArgument::Word(_)) || name.contains(&b'=') {
            let builtin = request.builtin;
            shell.complain(format!("{builtin}: cannot use `-f' to make functions"));
            return Ok(ExitStatus::FAILURE);
        }
        let Some(function) = shell.functions.get(name.as_bytes()).map(Arc::clone) else {
            all = false;
            continue;
        };
        if changes && !request.print {
            all &= change(shell, request, &function);
        } else if request.function_names && !request.print {
            text.extend_from_slice(&name);
            if shell.options.extdebug {
                text.extend_from_slice(format!(" {} ", function.line).as_bytes());
                text.extend_from_slice(&function.source);
            }
            text.push(b'\n');
        } else {
            text.extend_from_slice(&shown(&function, request));
        }
    }
    let status = shell.print(request.builtin, &text)?;
    Ok(if status.success() { ExitStatus::from_bool(all) } else { status })
}

/// Every function, sorted by name; with attributes, only those that have one of them.
pub(super) fn all(shell: &Shell, request: &Request) -> BString {
    let any = !(request.on.exported || request.on.readonly || request.on.trace);
    let mut text = BString::default();
    for function in shell.functions.values() {
        let wanted = request.on.exported && function.exported
            || request.on.readonly && function.readonly
            || request.on.trace && function.traced;
        if any || wanted {
            text.extend_from_slice(&shown(function, request));
        }
    }
    text
}

/// Its text unless only names are wanted, then its attributes if it has any.
fn shown(function: &Function, request: &Request) -> BString {
    let mut text = BString::default();
    if !request.function_names {
        let body = exacta_syntax::print_function(function.name.as_bstr(), &function.body);
        text.extend_from_slice(&body);
        text.push(b'\n');
    }
    let letters = [(function.readonly, "r"), (function.traced, "t"), (function.exported, "x")];
    let letters: String = letters.iter().filter(|(on, _)| *on).map(|(_, letter)| *letter).collect();
    if request.function_names || !letters.is_empty() {
        text.extend_from_slice(format!("declare -f{letters} ").as_bytes());
        text.extend_from_slice(&function.name);
        text.push(b'\n');
    }
    text
}

fn change(shell: &mut Shell, request: &Request, function: &Function) -> bool {
    if request.off.readonly && function.readonly {
        let start = format!("{}: ", request.builtin);
        shell.complain([start.as_bytes(), &function.name, b": readonly function"].concat());
        return false;
    }
    let mut changed = Function { name: function.name.clone(), ..function.clone() };
    changed.exported = (changed.exported || request.on.exported) && !request.off.exported;
    changed.readonly |= request.on.readonly;
    changed.traced = (changed.traced || request.on.trace) && !request.off.trace;
    Arc::make_mut(&mut shell.functions).insert(function.name.clone(), Arc::new(changed));
    true
}

/// Changes one function by name, as `export -f` and `readonly -f` do. `false`: there is none.
pub(super) fn change_named(shell: &mut Shell, request: &Request, name: &BStr) -> bool {
    match shell.functions.get(name.as_bytes()).map(Arc::clone) {
        Some(function) => change(shell, request, &function),
        None => false,
    }
}
