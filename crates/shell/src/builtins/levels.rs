//! What `break` and `continue` have in common.

use bstr::BString;

use super::{Command, number};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt};

/// Checks the number of loops and leaves them.
pub(super) fn leave(
    shell: &mut Shell,
    command: &Command,
    words: &[BString],
    interrupt: fn(u32) -> Interrupt,
) -> Flow {
    let name = command.name;
    let words = match words {
        [first, rest @ ..] if first == "--" => rest,
        words => words,
    };
    if shell.loop_depth == 0 {
        shell.complain(format!("{name}: only meaningful in a `for', `while', or `until' loop"));
        return Ok(ExitStatus::SUCCESS);
    }
    let levels = match words {
        [] => 1,
        [word] => {
            let levels = number::required(shell, name, word);
            levels.ok_or(Interrupt::Exit(ExitStatus(128)))?
        }
        _ => {
            shell.complain(format!("{name}: too many arguments"));
            return Err(shell.drop_all_texts());
        }
    };
    if levels < 1 {
        shell.complain(format!("{name}: {levels}: loop count out of range"));
        shell.transient.loop_failed = true;
        return Err(Interrupt::Break(shell.loop_depth));
    }
    let levels = u32::try_from(levels).unwrap_or(u32::MAX).min(shell.loop_depth);
    Err(interrupt(levels))
}
