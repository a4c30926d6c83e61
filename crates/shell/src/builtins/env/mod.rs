//! `env`: prints the environment, or runs a command in another one.

mod split;

use bstr::{BStr, BString, ByteSlice};

use super::{Command, Context, Run, ToolError, input};
use crate::arguments::{self, OptionSpec, Order, both};
use crate::filesystem::Follow;
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 5] = [
    both('C', "C", "chdir", "run the command in DIR").takes("DIR"),
    both('i', "i", "ignore-environment", "begin with an empty environment"),
    both('0', "0", "null", "end each line with NUL, not newline"),
    both('S', "S", "split-string", "split the string into words, as in a #! line").takes("STRING"),
    both('u', "u", "unset", "take NAME out of the environment").takes("NAME"),
];

pub static COMMAND: Command = Command {
    name: "env",
    synopsis: "env [OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]",
    summary: "print the environment, or run a command in another one",
    options: &OPTIONS,
    run: Run::Tool(run),
};

/// When `env` itself fails.
const TROUBLE: ExitStatus = ExitStatus(125);

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let words = split_strings(context, words)?;
    let arguments = arguments::parse(&OPTIONS, &words, Order::OptionsFirst)
        .map_err(|error| error.with_hint("env", TROUBLE))?;
    let mut operands = arguments.operands.as_slice();
    let mut ignore = arguments.has("i");
    if let [dash, rest @ ..] = operands
        && dash == "-"
    {
        (ignore, operands) = (true, rest);
    }
    let mut environment = if ignore { Vec::new() } else { context.environment() };
    if let Some(path) = context.started_as().filter(|_| !ignore) {
        set(&mut environment, "_".into(), path.as_bstr());
    }
    for name in arguments.values("u") {
        if name.is_empty() || name.contains(&b'=') {
            let message = format!("cannot unset {}: Invalid argument", input::shown(name));
            return Err(ToolError::Usage(message, TROUBLE));
        }
        environment.retain(|(existing, _)| existing != name);
    }
    while let [word, rest @ ..] = operands {
        let Some((name, value)) = word.split_once_str("=") else { break };
        set(&mut environment, name.as_bstr(), value.as_bstr());
        operands = rest;
    }
    let directory = arguments.value("C");
    if operands.is_empty() {
        if directory.is_some() {
            return Err(wrong_use("must specify command with --chdir (-C)"));
        }
        return print(context, &environment, arguments.has("0"));
    }
    if arguments.has("0") {
        return Err(wrong_use("cannot specify --null (-0) with command"));
    }
    run_command(context, operands, environment, directory)
}

fn wrong_use(message: &str) -> ToolError {
    ToolError::hinted("env", message, TROUBLE)
}

/// A later value takes the place of an earlier one.
fn set(environment: &mut Vec<(BString, BString)>, name: &BStr, value: &BStr) {
    match environment.iter_mut().find(|(existing, _)| existing == name) {
        Some((_, slot)) => *slot = value.into(),
        None => environment.push((name.into(), value.into())),
    }
}

fn print(
    context: &mut Context<'_>,
    environment: &[(BString, BString)],
    null: bool,
) -> Result<ExitStatus, ToolError> {
    let end = if null { 0 } else { b'\n' };
    for (name, value) in environment {
        context.output.write(name)?;
        context.output.write(b"=")?;
        context.output.write(value)?;
        context.output.write(&[end])?;
    }
    Ok(ExitStatus::SUCCESS)
}

fn run_command(
    context: &mut Context<'_>,
    argv: &[BString],
    environment: Vec<(BString, BString)>,
    directory: Option<&BStr>,
) -> Result<ExitStatus, ToolError> {
    let directory = match directory {
        None => None,
        Some(name) => {
            let path = context.path(name);
            let found = context.files().metadata(path.as_bstr(), Follow::Yes);
            match found {
                Ok(metadata) if metadata.is_directory() => Some(path),
                Ok(_) => {
                    let name = input::quoted(name);
                    let parts: [&[u8]; 3] =
                        [b"cannot change directory to ", &name, b": Not a directory"];
                    input::complain(context, &parts, None);
                    return Ok(TROUBLE);
                }
                Err(error) => {
                    context.complain_of(name, &error);
                    return Ok(TROUBLE);
                }
            }
        }
    };
    let Some(name) = argv.first() else { return Ok(ExitStatus::SUCCESS) };
    if !context.has_command(name.as_bstr()) {
        context.complain_of(name.as_bstr(), &crate::errno::error(crate::errno::ENOENT));
        return Ok(ExitStatus::NOT_FOUND);
    }
    Ok(context.run_in(argv, environment, directory)?)
}

/// Puts the words of `-S` strings in their place: they may be options too.
fn split_strings(context: &Context<'_>, words: &[BString]) -> Result<Vec<BString>, ToolError> {
    let variable = |name: &BStr| {
        let environment = context.environment();
        environment.into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
    };
    let mut words = words.to_vec();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let Some(found) = split_option(word, words.get(at + 1)) else { break };
        match found {
            Found::Other(length) => at += length,
            Found::String { flags, string, length } => {
                let mut parts = split::split(&string, variable)
                    .map_err(|message| ToolError::Usage(message, TROUBLE))?;
                if !flags.is_empty() {
                    parts.insert(0, flags);
                }
                words.splice(at..at + length, parts);
            }
        }
    }
    Ok(words)
}

/// What an option word is to `-S`.
enum Found {
    /// Another option, of so many words.
    Other(usize),
    /// `-S string`, perhaps with flags in front (`-iS`).
    String { flags: BString, string: BString, length: usize },
}

/// `None`: no option, or the end of them.
fn split_option(word: &BString, next: Option<&BString>) -> Option<Found> {
    let flags = BString::default();
    if let Some(long) = word.strip_prefix(b"--") {
        if let Some(string) = long.strip_prefix(b"split-string=") {
            return Some(Found::String { flags, string: string.into(), length: 1 });
        }
        if long == b"split-string" {
            let string = next?.clone();
            return Some(Found::String { flags, string, length: 2 });
        }
        let takes_next = matches!(long, b"unset" | b"chdir");
        return if long.is_empty() {
            None
        } else {
            Some(Found::Other(1 + usize::from(takes_next)))
        };
    }
    let letters = word.strip_prefix(b"-").filter(|letters| !letters.is_empty())?;
    for (at, letter) in letters.iter().enumerate() {
        let attached = letters.get(at + 1..).unwrap_or_default();
        match letter {
            b'u' | b'C' => return Some(Found::Other(1 + usize::from(attached.is_empty()))),
            b'S' => {
                let before = word.get(..=at).filter(|flags| flags.len() > 1);
                let flags = before.map(BString::from).unwrap_or_default();
                return Some(match attached {
                    b"" => Found::String { flags, string: next?.clone(), length: 2 },
                    string => Found::String { flags, string: string.into(), length: 1 },
                });
            }
            _ => {}
        }
    }
    Some(Found::Other(1))
}
