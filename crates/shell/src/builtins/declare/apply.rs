//! One argument of `declare` or `local` with a name: where it goes, its attributes, its value.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::AssignedValue;

use super::declaration::{Declaration, Given, Subscript};
use super::{Request, written};
use crate::builtins::DeclarationArgument;
use crate::shell::Shell;
use crate::status::Running;
use crate::variables::{
    Attributes, Mode, Place, ScopeKind, Value, Variable, is_reference_target, parse_assignment_text,
};

/// `false`: refused, and printed.
pub(super) fn apply(
    shell: &mut Shell,
    request: &Request,
    argument: &DeclarationArgument<'_>,
) -> Running<bool> {
    let Some(declaration) = Declaration::of(argument) else {
        if let DeclarationArgument::Word(word) = argument
            && word == "-"
            && request.local
        {
            shell.variables.save_options(&shell.options);
            return Ok(true);
        }
        shell.complain_of_identifier(request.builtin, written(argument).as_bstr());
        return Ok(false);
    };
    if declare_quickly(shell, request, &declaration) {
        return Ok(true);
    }
    if request.on.nameref && !check_reference(shell, request, &declaration) {
        return Ok(false);
    }
    let Some(place) = find_place(shell, request, &declaration) else { return Ok(false) };
    if declaration.is_list() && shell.is_readonly_at(&place) {
        // A list is assigned as by a statement, with what follows from a mistake in one.
        shell.refuse_readonly(place.name.as_bstr());
        return shell.unwind_unless(false).map(|()| false);
    }
    if !check(shell, request, &declaration, &place) {
        return Ok(false);
    }
    let variable = shell.variables.at_mut(place.depth, place.name.as_bstr());
    make_array(variable, request, &declaration);
    let before = variable.attributes;
    set_conversions(&mut variable.attributes, request);
    let stored = store(shell, &declaration, &place)?;
    let variable = shell.variables.at_mut(place.depth, place.name.as_bstr());
    if !stored {
        variable.attributes = before;
        return Ok(false);
    }
    set_rest(&mut variable.attributes, request);
    if variable.is_array() && (request.off.indexed || request.off.associative) {
        complain(shell, request, declaration.name, NOT_THIS_WAY);
        return Ok(false);
    }
    if request.on.exported || request.on.readonly {
        shell.keep_beyond_command(place.name.as_bstr(), place.depth);
    }
    Ok(true)
}

/// `local name` and `local name=value` without any option, by far the most frequent.
fn declare_quickly(shell: &mut Shell, request: &Request, declaration: &Declaration<'_>) -> bool {
    let options = &shell.options;
    if !request.is_plain() || options.localvar_inherit || options.allexport {
        return false;
    }
    let value = match (&declaration.value, &declaration.subscript, declaration.mode) {
        (None, None, _) => None,
        (Some(Given::Scalar(value)), None, Mode::Replace) => {
            Some(Value::Scalar(BString::from(*value)))
        }
        _ => return false,
    };
    shell.variables.declare_plain_local(declaration.name, value).is_ok()
}

/// `declare -n name=target`: the target must be a name, and not the reference itself.
fn check_reference(shell: &Shell, request: &Request, declaration: &Declaration<'_>) -> bool {
    let builtin = request.builtin;
    let name = declaration.name;
    if declaration.subscript.is_some() {
        let start = format!("{builtin}: ");
        let reason = b": reference variable cannot be an array";
        shell.complain([start.as_bytes(), name, reason].concat());
        return false;
    }
    let Some(Given::Scalar(target)) = declaration.value else { return true };
    if target.is_empty() {
        shell.complain_of_identifier(builtin, target);
        return false;
    }
    if !is_reference_target(target) {
        complain_of_target(shell, builtin, target);
        return false;
    }
    if target == name && (!shell.variables.in_function() || request.global) {
        let start = format!("{builtin}: ");
        let reason = b": nameref variable self references not allowed";
        shell.complain([start.as_bytes(), name, reason].concat());
        return false;
    }
    if target == name {
        let start = format!("{builtin}: warning: ");
        shell.complain([start.as_bytes(), name, b": circular name reference"].concat());
    }
    true
}

fn complain_of_target(shell: &Shell, builtin: &str, target: &BStr) {
    let start = format!("{builtin}: `");
    let reason = b"': invalid variable name for name reference";
    shell.complain([start.as_bytes(), target, reason].concat());
}

/// Where the variable is or will be: in the function that is running, the global scope, or wherever it is found.
fn find_place(
    shell: &mut Shell,
    request: &Request,
    declaration: &Declaration<'_>,
) -> Option<Place> {
    let name = declaration.name;
    let literal = request.on.nameref || request.off.nameref;
    let own = |depth| Some(Place { depth, name: name.into(), subscript: None });
    match shell.variables.function_depth() {
        Some(function) if !request.global => {
            let is_own = shell.variables.get_at(function, name);
            if is_own.is_some_and(|variable| variable.attributes.nameref) && !literal {
                let target = shell.locate(name)?;
                // What the reference of a function leads to is made in that function.
                let exists = shell.variables.depth_of(target.name.as_bstr()).is_some();
                let depth = if exists { target.depth } else { function };
                return Some(Place { depth, ..target });
            }
            if let Some(given) = given_to_eval(shell, name, function) {
                return own(given);
            }
            if is_own.is_none() && !may_hide(shell, request, name) {
                return None;
            }
            let inherit = request.inherit || shell.options.localvar_inherit;
            shell.variables.declare_local(name, inherit);
            own(function)
        }
        Some(_) => own(0),
        None if literal => own(shell.variables.depth_of(name).unwrap_or(0)),
        None => shell.locate(name),
    }
}

/// `name=1 eval 'local name'`: the local is the one that was given, and is gone with it.
fn given_to_eval(shell: &Shell, name: &BStr, function: usize) -> Option<usize> {
    let depth = shell.variables.depth_of(name).filter(|depth| *depth > function)?;
    (!shell.variables.is_own_temporary(depth, shell.depth)).then_some(depth)
}

/// A global variable that is read-only cannot be hidden by a local.
fn may_hide(shell: &Shell, request: &Request, name: &BStr) -> bool {
    let Some(depth) = shell.variables.depth_of(name) else { return true };
    let readonly =
        shell.variables.get_at(depth, name).is_some_and(|found| found.attributes.readonly);
    if readonly && shell.variables.kind_at(depth) == ScopeKind::Global {
        complain_of_readonly(shell, request.builtin, name);
        return false;
    }
    true
}

fn complain_of_readonly(shell: &Shell, builtin: &str, name: &BStr) {
    let start = format!("{builtin}: ");
    shell.complain([start.as_bytes(), name, b": readonly variable"].concat());
}

const NOT_THIS_WAY: &str = ": cannot destroy array variables in this way";

fn complain(shell: &Shell, request: &Request, name: &BStr, reason: &str) -> bool {
    let start = format!("{}: ", request.builtin);
    shell.complain([start.as_bytes(), name, reason.as_bytes()].concat());
    false
}

/// What cannot be done to the variable that is there.
fn check(shell: &Shell, request: &Request, declaration: &Declaration<'_>, place: &Place) -> bool {
    let Some(variable) = shell.variables.get_at(place.depth, place.name.as_bstr()) else {
        return true;
    };
    let assigns = declaration.value.is_some();
    let complain = |reason: &str| complain(shell, request, declaration.name, reason);
    if variable.attributes.readonly && (assigns || request.off.readonly) {
        return complain(": readonly variable");
    }
    if variable.is_array() && (request.off.indexed || request.off.associative) {
        return complain(NOT_THIS_WAY);
    }
    if variable.is_associative() && request.on.indexed && !request.on.associative {
        return complain(": cannot convert associative to indexed array");
    }
    if variable.is_array() && !variable.is_associative() && request.on.associative {
        return complain(": cannot convert indexed to associative array");
    }
    if request.on.nameref {
        if variable.is_array() {
            return complain(": reference variable cannot be an array");
        }
        let target = variable.as_scalar().filter(|_| !assigns);
        if let Some(target) = target.filter(|target| !is_reference_target(target.as_bstr())) {
            complain_of_target(shell, request.builtin, target.as_bstr());
            return false;
        }
    }
    true
}

fn make_array(variable: &mut Variable, request: &Request, declaration: &Declaration<'_>) {
    let list = matches!(declaration.value, Some(Given::List(_)));
    let wanted = request.wants_array() || list || declaration.subscript.is_some();
    if !wanted || variable.is_array() || request.on.nameref {
        return;
    }
    match variable.value {
        Some(_) => variable.become_array(request.on.associative),
        None if request.on.associative => variable.attributes.associative = true,
        None => variable.attributes.indexed = true,
    }
}

/// Attributes that change the value being assigned.
fn set_conversions(attributes: &mut Attributes, request: &Request) {
    let (on, off) = (&request.on, &request.off);
    attributes.integer = (attributes.integer || on.integer) && !off.integer;
    attributes.nameref = (attributes.nameref || on.nameref) && !off.nameref;
    if on.nameref {
        // What it refers to has attributes of its own.
        attributes.integer = false;
    }
    if on.changes_case() {
        attributes.lowercase = on.lowercase;
        attributes.uppercase = on.uppercase;
        attributes.capitalize = on.capitalize;
    }
    attributes.lowercase &= !off.lowercase;
    attributes.uppercase &= !off.uppercase;
    attributes.capitalize &= !off.capitalize;
}

/// Attributes that would be in the way of the assignment, or have nothing to do with it.
fn set_rest(attributes: &mut Attributes, request: &Request) {
    attributes.readonly |= request.on.readonly;
    attributes.exported = (attributes.exported || request.on.exported) && !request.off.exported;
    attributes.trace = (attributes.trace || request.on.trace) && !request.off.trace;
}

fn store(shell: &mut Shell, declaration: &Declaration<'_>, place: &Place) -> Running<bool> {
    let name = place.name.as_bstr();
    let mode = declaration.mode;
    match (&declaration.value, &declaration.subscript) {
        (None, _) => Ok(true),
        (Some(Given::List(_)), Some(_)) => {
            let reason = b": cannot assign list to array member";
            shell.complain([declaration.written.as_bytes(), reason].concat());
            Ok(false)
        }
        (Some(Given::List(elements)), None) => shell.store_list(place, elements, mode),
        (Some(Given::Scalar(value)), Some(subscript)) => {
            let key = match subscript {
                Subscript::Text(text) => shell.element_key_of_text(name, text)?,
                Subscript::Tree(tree) => shell.element_key(name, tree)?,
            };
            shell.store_element(place, key, (*value).into(), mode)
        }
        (Some(Given::Scalar(value)), None) => {
            let variable = shell.variables.at_mut(place.depth, name);
            if variable.attributes.nameref {
                variable.value = Some(Value::Scalar((*value).into()));
                return Ok(true);
            }
            let is_array = variable.is_array();
            if is_array && value.starts_with(b"(") && value.ends_with(b")") {
                return store_list_text(shell, place, value, mode);
            }
            shell.store_scalar(place, (*value).into(), mode)
        }
    }
}

/// `declare -a "name=(…)"`: the text is read as the list it looks like.
fn store_list_text(shell: &mut Shell, place: &Place, text: &BStr, mode: Mode) -> Running<bool> {
    let source = [b"a=", text.as_bytes()].concat();
    match parse_assignment_text(source.as_bstr()).map(|assignment| assignment.value) {
        Some(AssignedValue::Array(elements)) => shell.store_list(place, &elements, mode),
        _ => shell.store_scalar(place, text.into(), mode),
    }
}
