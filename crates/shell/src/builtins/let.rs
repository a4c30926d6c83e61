//! `let`

use bstr::{BString, ByteSlice};

use super::{Command, Run};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt};

pub static COMMAND: Command = Command {
    name: "let",
    synopsis: "let EXPRESSION...",
    summary: "evaluate arithmetic; true if the last value is not zero",
    options: &[],
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let expressions = match words.split_first() {
        Some((first, rest)) if first == "--" => rest,
        _ => words,
    };
    if expressions.is_empty() {
        shell.complain("let: expression expected");
        return Ok(ExitStatus::FAILURE);
    }
    let mut last = 0;
    for expression in expressions {
        match shell.evaluate_text_for("let", expression.as_bstr()) {
            Ok(value) => last = value,
            // The message is printed; a builtin that fails does not end the line it stands on.
            Err(Interrupt::Discard(status)) => return Ok(status),
            Err(interrupt) => return Err(interrupt),
        }
    }
    Ok(ExitStatus::from_bool(last != 0))
}
