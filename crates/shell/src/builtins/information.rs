//! `--help` and `--version` of tools, drawn from the table.

use std::fmt::Write;

use bstr::BString;

use super::Command;
use crate::arguments::{OptionSpec, ValueSpec};

/// The text to print instead of running the tool, if its first word asks for it.
pub fn tool_information(command: &Command, words: &[BString]) -> Option<String> {
    match words.first()?.as_slice() {
        b"--help" => Some(help(command)),
        b"--version" => Some(format!("{} (exacta) {}\n", command.name, env!("CARGO_PKG_VERSION"))),
        _ => None,
    }
}

fn help(command: &Command) -> String {
    let mut text = format!("Usage: {}\n{}\n", command.synopsis, command.summary);
    if !command.options.is_empty() {
        text.push('\n');
    }
    for option in command.options {
        let names = names(option);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {names:<28} {}", option.help);
    }
    text
}

/// `-n, --lines=NUM`
pub(super) fn names(option: &OptionSpec) -> String {
    let (short_value, long_value) = match option.value {
        ValueSpec::None => (String::new(), String::new()),
        ValueSpec::Required(name) => (format!(" {name}"), format!("={name}")),
        ValueSpec::Optional(name) => (format!("[{name}]"), format!("[={name}]")),
    };
    match (option.short, option.long) {
        (Some(short), Some(long)) => format!("-{short}, --{long}{long_value}"),
        (Some(short), None) => format!("-{short}{short_value}"),
        (None, Some(long)) => format!("    --{long}{long_value}"),
        (None, None) => option.id.to_owned(),
    }
}
