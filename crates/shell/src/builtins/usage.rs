//! Options of bash's own builtins: up to the first operand, with bash's words for what is wrong.

use bstr::BString;

use super::{Command, ToolError};
use crate::arguments::{self, Arguments, Order};
use crate::shell::Shell;
use crate::status::ExitStatus;

/// Parses the words after a builtin's name by its own table. What is wrong is printed; the status is to be
/// returned.
pub(super) fn parse(
    shell: &Shell,
    command: &'static Command,
    words: &[BString],
) -> Result<Arguments, ExitStatus> {
    arguments::parse(command.options, words, Order::OptionsFirst).map_err(|error| {
        let what = match error {
            ToolError::Unsupported(option) if option.starts_with("--") => {
                "--: invalid option".to_owned()
            }
            ToolError::Unsupported(option) => format!("-{option}: invalid option"),
            ToolError::Usage(message, _) => match message.strip_prefix(MISSING) {
                Some(letter) => {
                    format!("-{}: option requires an argument", letter.trim_matches('\''))
                }
                None => message,
            },
            ToolError::Output(_) | ToolError::Interrupted(_) => String::new(),
        };
        complain(shell, command, &what)
    })
}

const MISSING: &str = "option requires an argument -- ";

/// `read: -z: invalid option`, how it is used, and status 2.
pub(super) fn complain(shell: &Shell, command: &'static Command, what: &str) -> ExitStatus {
    shell.complain(format!("{}: {what}", command.name));
    print(shell, command);
    ExitStatus::USAGE
}

/// `read: usage: read [-r] …` on standard error.
pub(super) fn print(shell: &Shell, command: &'static Command) {
    shell.write_error(format!("{}: usage: {}\n", command.name, command.synopsis).as_bytes());
}
