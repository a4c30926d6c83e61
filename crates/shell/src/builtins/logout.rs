//! `logout` and `suspend`: for shells with a terminal; here they say what bash says.

use bstr::BString;

use super::{Command, Run};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt};

pub static COMMAND: Command = Command {
    name: "logout",
    synopsis: "logout [n]",
    summary: "Leave a login shell.",
    options: &[],
    run: Run::Builtin { special: false, run },
};

pub static SUSPEND: Command = Command {
    name: "suspend",
    synopsis: "suspend [-f]",
    summary: "Stop the shell until it is continued; not possible without a terminal.",
    options: &[],
    run: Run::Builtin { special: false, run: run_suspend },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    if !shell.options.login_shell {
        shell.complain("logout: not login shell: use `exit'");
        return Ok(ExitStatus::FAILURE);
    }
    let status = words.first().and_then(super::number::parse);
    Err(Interrupt::Exit(status.map_or(shell.status, ExitStatus::from_number)))
}

fn run_suspend(shell: &mut Shell, _words: &[BString]) -> Flow {
    shell.complain("suspend: cannot suspend: no job control");
    Ok(ExitStatus::FAILURE)
}
