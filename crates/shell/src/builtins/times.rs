//! `times`

use bstr::BString;

use super::{Command, Run};
use crate::shell::Shell;
use crate::status::Flow;

pub static COMMAND: Command = Command {
    name: "times",
    synopsis: "times",
    summary: "Print the time the shell and its programs have used.",
    options: &[],
    run: Run::Builtin { special: true, run },
};

/// The kernel does not say how much of it was its own, and commands in process are no children.
fn run(shell: &mut Shell, _words: &[BString]) -> Flow {
    let used = shell.host.processor_time();
    let (minutes, seconds) = (used.as_secs() / 60, used.as_secs_f64() % 60.0);
    let text = format!("{minutes}m{seconds:.3}s 0m0.000s\n0m0.000s 0m0.000s\n");
    shell.print("times", text.as_bytes())
}
