//! `shift`

use std::sync::Arc;

use bstr::BString;

use super::{Command, Run, number, without_dashes};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

pub static COMMAND: Command = Command {
    name: "shift",
    synopsis: "shift [n]",
    summary: "Drop the first n positional parameters, or the first.",
    options: &[],
    run: Run::Builtin { special: true, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let count = match without_dashes(words) {
        [] => 1,
        [word] => {
            let Some(count) = number::required(shell, "shift", word) else {
                return Ok(ExitStatus::FAILURE);
            };
            count
        }
        _ => {
            shell.complain("shift: too many arguments");
            return Err(shell.drop_all_texts());
        }
    };
    let available = shell.positional.len();
    match usize::try_from(count) {
        Ok(count) if count <= available => {
            if count > 0 {
                Arc::make_mut(&mut shell.positional).drain(..count);
            }
            Ok(ExitStatus::SUCCESS)
        }
        outside => {
            if outside.is_err() || shell.options.shift_verbose {
                shell.complain(format!("shift: {count}: shift count out of range"));
            }
            Ok(ExitStatus::FAILURE)
        }
    }
}
