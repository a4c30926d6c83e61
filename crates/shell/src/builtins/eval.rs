//! `eval`

use bstr::{BString, ByteSlice};

use super::{Command, Run, usage, without_dashes};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

pub static COMMAND: Command = Command {
    name: "eval",
    synopsis: "eval [arg ...]",
    summary: "Run the arguments, joined by spaces, as a command.",
    options: &[],
    run: Run::Builtin { special: true, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    if let Some(option) = words.first().filter(|word| word.len() > 1 && word.starts_with(b"-"))
        && option != "--"
    {
        return Ok(usage::complain(shell, &COMMAND, &invalid(option)));
    }
    let text = bstr::join(" ", without_dashes(words));
    if text.iter().all(u8::is_ascii_whitespace) {
        return Ok(ExitStatus::SUCCESS);
    }
    shell.evaluate_script(text.as_bstr())
}

fn invalid(option: &BString) -> String {
    let letter = option.chars().nth(1).unwrap_or('-');
    format!("-{letter}: invalid option")
}
