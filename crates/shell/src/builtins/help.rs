//! `help`

use std::fmt::Write;

use bstr::{BString, ByteSlice};

use super::{Command, Run, TABLE, usage};
use crate::arguments::{Arguments, OptionSpec, flag};
use crate::fnmatch::Pattern;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow};

static OPTIONS: [OptionSpec; 3] = [
    flag('d', "d", "one line for each"),
    flag('m', "m", "in the layout of a manual page"),
    flag('s', "s", "only how it is used"),
];

pub static COMMAND: Command = Command {
    name: "help",
    synopsis: "help [-dms] [pattern ...]",
    summary: "Describe commands.",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    if arguments.operands.is_empty() {
        let lines = TABLE.iter().map(|command| format!(" {}\n", command.synopsis));
        let text: String = lines.collect();
        return shell.print("help", text.as_bytes());
    }
    let mut status = ExitStatus::FAILURE;
    for word in &arguments.operands {
        let found: Vec<_> = matching(word);
        if found.is_empty() {
            let topic = word.to_str_lossy();
            shell.complain(format!("help: no help topics match `{topic}'."));
            continue;
        }
        status = ExitStatus::SUCCESS;
        for command in found {
            let text = describe(command, &arguments);
            shell.print("help", text.as_bytes())?;
        }
    }
    Ok(status)
}

/// An exact name, else every name the word is a pattern or a beginning of.
fn matching(word: &BString) -> Vec<&'static Command> {
    if let Some(command) = super::find(word) {
        return vec![command];
    }
    let pattern = Pattern::new(word, false);
    let fits = |command: &&&Command| {
        pattern.matches(command.name.as_bytes())
            || (pattern.is_literal() && command.name.as_bytes().starts_with(word))
    };
    TABLE.iter().filter(fits).copied().collect()
}

fn describe(command: &Command, arguments: &Arguments) -> String {
    let Command { name, synopsis, summary, .. } = command;
    match arguments.last_of(&["d", "m", "s"]) {
        Some("d") => format!("{name} - {summary}\n"),
        Some("s") => format!("{name}: {synopsis}\n"),
        Some(_) => format!(
            "NAME\n    {name} - {summary}\n\nSYNOPSIS\n    {synopsis}\n\nDESCRIPTION\n    {summary}\n{}",
            options(command)
        ),
        None => format!("{name}: {synopsis}\n    {summary}\n{}", options(command)),
    }
}

fn options(command: &Command) -> String {
    let mut text = String::new();
    if !command.options.is_empty() {
        text.push_str("\n    Options:\n");
    }
    for option in command.options {
        let names = super::information::names(option);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "      {names:<20} {}", option.help);
    }
    text
}
