//! The reference of all commands, drawn from their table.

use std::fmt::Write;

use exacta_shell::arguments::{OptionSpec, ValueSpec};
use exacta_shell::builtins::{Command, Run, TABLE};

/// `docs/commands.md`
pub fn markdown() -> String {
    let mut text = String::from(
        "# Commands\n\nDrawn from the table in `crates/shell/src/builtins/table.rs`; `ACCEPT=1 cargo test -p exacta --test reference` writes it anew.\n",
    );
    let is_tool = |command: &&&Command| matches!(command.run, Run::Tool(_));
    section(&mut text, "Builtins of bash", TABLE.iter().filter(|command| !is_tool(command)));
    section(&mut text, "Tools", TABLE.iter().filter(is_tool));
    text
}

fn section<'a>(
    text: &mut String,
    title: &str,
    commands: impl Iterator<Item = &'a &'static Command>,
) {
    let _ = write!(text, "\n## {title}\n");
    for command in commands {
        let _ = write!(
            text,
            "\n### `{}`\n\n{}\n\n    {}\n",
            command.name, command.summary, command.synopsis
        );
        if command.options.is_empty() {
            continue;
        }
        text.push_str("\n| option | |\n|---|---|\n");
        for option in command.options {
            let help = option.help.replace('|', "\\|");
            let _ = writeln!(text, "| `{}` | {help} |", spelling(option));
        }
    }
}

/// `-n, --lines=NUM`
pub fn spelling(option: &OptionSpec) -> String {
    let mut forms: Vec<String> =
        option.short.iter().chain(option.also).map(|letter| format!("-{letter}")).collect();
    forms.extend(option.long.map(|long| format!("--{long}")));
    let forms = forms.join(", ");
    match option.value {
        ValueSpec::None => forms,
        ValueSpec::Required(name) if option.long.is_some() => format!("{forms}={name}"),
        ValueSpec::Required(name) => format!("{forms} {name}"),
        ValueSpec::Optional(name) if option.long.is_some() => format!("{forms}[={name}]"),
        ValueSpec::Optional(name) => format!("{forms}[{name}]"),
    }
}
