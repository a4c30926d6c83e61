//! Commands that cannot fail, so that `&&` behind them always goes on.

use bstr::{BStr, ByteSlice};
use exacta_syntax::ast::{
    Argument, AssignedValue, Assignment, Command, Operation, Pipeline, Redirect, RedirectKind,
    SimpleCommand, Word, WordPart,
};

use super::state::State;
use super::variables::{is_name, plain};

pub(super) fn is_reliable(pipeline: &Pipeline, state: &State) -> bool {
    let [stage] = pipeline.stages.as_slice() else { return false };
    let Command::Simple(command) = &stage.command else { return false };
    if pipeline.negated || !command.redirects.iter().all(opens_nothing) {
        return false;
    }
    let settable = |assignment: &Assignment| !state.read_only.contains(&assignment.name);
    match command.words.first() {
        // The status of an assignment is that of its last substitution.
        None => command.assignments.iter().all(|assignment| {
            settable(assignment)
                && match &assignment.value {
                    AssignedValue::Scalar(word) => word.parts.iter().all(is_quiet),
                    AssignedValue::Array(_) => true,
                }
        }),
        Some(Argument::Assignment(_)) => false,
        Some(Argument::Word(word)) => plain(word).is_some_and(|name| {
            state.function(name).is_none()
                && state.aliases(name).is_none()
                && never_fails(name, command, &settable)
        }),
    }
}

fn never_fails(
    name: &BStr,
    command: &SimpleCommand,
    settable: &dyn Fn(&Assignment) -> bool,
) -> bool {
    let operands = command.words.get(1..).unwrap_or_default();
    match name.as_bytes() {
        // Where a `cd` leads if it fails is known by itself.
        b":" | b"true" | b"echo" | b"pwd" | b"cd" | b"pushd" | b"popd" => true,
        b"export" => operands.iter().all(|operand| match operand {
            Argument::Assignment(assignment) => settable(assignment),
            Argument::Word(word) => plain(word).is_some_and(|name| is_name(name)),
        }),
        b"printf" => match operands.first() {
            Some(Argument::Word(format)) => prints_texts(format),
            _ => false,
        },
        b"set" => operands.iter().all(|operand| match operand {
            Argument::Word(word) => plain(word).is_some_and(is_known_option),
            Argument::Assignment(_) => false,
        }),
        _ => false,
    }
}

/// Its target is there whatever happens.
fn opens_nothing(redirect: &Redirect) -> bool {
    match &redirect.kind {
        RedirectKind::HereDocument(_) | RedirectKind::HereString(_) => true,
        RedirectKind::File { target, .. } => plain(target).is_some_and(|path| *path == "/dev/null"),
        RedirectKind::Duplicate { target, .. } => {
            plain(target).is_some_and(|number| *number == "1" || *number == "2")
        }
    }
}

/// A format with which nothing can be wrong.
fn prints_texts(format: &Word) -> bool {
    let [WordPart::SingleQuoted(text) | WordPart::Literal(text)] = format.parts.as_slice() else {
        return false;
    };
    if text.starts_with(b"-") {
        return false;
    }
    let mut rest: &[u8] = text;
    while let Some(at) = rest.find_byte(b'%') {
        if !matches!(rest.get(at + 1), Some(b's' | b'%')) {
            return false;
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    true
}

/// `-e`, `-euo`, `pipefail`
fn is_known_option(word: &BStr) -> bool {
    match word.strip_prefix(b"-").or(word.strip_prefix(b"+")) {
        Some(letters) => {
            !letters.is_empty() && letters.iter().all(|letter| b"aefuvxBCo".contains(letter))
        }
        None => ["pipefail", "errexit", "nounset", "xtrace"].iter().any(|name| *word == *name),
    }
}

/// No command runs in it.
pub(super) fn is_quiet(part: &WordPart) -> bool {
    match part {
        WordPart::Command(_) | WordPart::Process(_) => false,
        WordPart::Parameter(expansion) => expansion.operation == Operation::Plain,
        WordPart::Arithmetic(arithmetic) => arithmetic.expression.is_some(),
        WordPart::DoubleQuoted(parts) | WordPart::LocaleQuoted(parts) => parts.iter().all(is_quiet),
        _ => true,
    }
}
