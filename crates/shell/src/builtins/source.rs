//! `source` and `.`

use std::borrow::Cow;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::{Command, Run, usage};
use crate::errno;
use crate::filesystem::{Follow, OpenOptions};
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt};

pub static COMMAND: Command = Command {
    name: "source",
    synopsis: "source filename [arguments]",
    summary: "Run the commands of a file in this shell.",
    options: &[],
    run: Run::Builtin { special: true, run },
};

pub static DOT: Command = Command {
    name: ".",
    synopsis: ". filename [arguments]",
    summary: "Run the commands of a file in this shell.",
    options: &[],
    run: Run::Builtin { special: true, run: run_dot },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    source(shell, &COMMAND, words)
}

fn run_dot(shell: &mut Shell, words: &[BString]) -> Flow {
    source(shell, &DOT, words)
}

fn source(shell: &mut Shell, command: &'static Command, words: &[BString]) -> Flow {
    if let Some(option) = words.first().filter(|word| word.len() > 1 && word.starts_with(b"-"))
        && option != "--"
    {
        let letter = option.chars().nth(1).unwrap_or('-');
        return Ok(usage::complain(shell, command, &format!("-{letter}: invalid option")));
    }
    let [name, arguments @ ..] = super::without_dashes(words) else {
        return Ok(usage::complain(shell, command, "filename argument required"));
    };
    let path = find_file(shell, name.as_bstr());
    let text = match read(shell, path.as_bstr()) {
        Ok(text) => text,
        Err(problem) => {
            shell.control.check()?;
            let mut message = shell.as_written(name.as_bstr()).to_vec();
            message.extend_from_slice(format!(": {problem}").as_bytes());
            if problem == IS_DIRECTORY {
                message.splice(0..0, format!("{}: ", command.name).into_bytes());
            }
            shell.complain(message);
            let fatal = shell.options.posix && command.name == "." && !shell.options.interactive;
            return if fatal {
                Err(Interrupt::Exit(ExitStatus::FAILURE))
            } else {
                Ok(ExitStatus::FAILURE)
            };
        }
    };
    let replaced = (!arguments.is_empty())
        .then(|| std::mem::replace(&mut shell.positional, Arc::new(arguments.to_vec().into())));
    let outer = std::mem::take(&mut shell.transient.parameters_set);
    let flow = shell.run_sourced(name.as_bstr(), text.as_bstr());
    // `set --` inside the file stays in force, as in bash.
    if let Some(before) = replaced
        && !shell.transient.parameters_set
    {
        shell.positional = before;
    }
    shell.transient.parameters_set |= outer;
    flow
}

const IS_DIRECTORY: &str = "is a directory";

fn read(shell: &Shell, path: &BStr) -> Result<Vec<u8>, String> {
    let absolute = shell.absolute(path);
    let metadata = shell.host.files().metadata(absolute.as_bstr(), Follow::Yes);
    if metadata.is_ok_and(|metadata| metadata.is_directory()) {
        return Err(IS_DIRECTORY.into());
    }
    let mut text = Vec::new();
    let file = shell.open(path, OpenOptions::reading());
    match file.and_then(|file| file.read_within(&shell.control, &mut text)) {
        Ok(()) => Ok(text),
        Err(error) => Err(errno::text(&error)),
    }
}

/// A name without a slash is looked up in `PATH`, then in the current directory.
fn find_file(shell: &Shell, name: &BStr) -> BString {
    if name.contains(&b'/') || !shell.options.sourcepath {
        return name.into();
    }
    let path = shell.scalar_of("PATH".into()).map(Cow::into_owned).unwrap_or_default();
    for directory in path.split_str(b":").filter(|directory| !directory.is_empty()) {
        let mut candidate = BString::from(directory);
        candidate.push(b'/');
        candidate.extend_from_slice(name);
        let absolute = shell.absolute(candidate.as_bstr());
        let metadata = shell.host.files().metadata(absolute.as_bstr(), Follow::Yes);
        if metadata.is_ok_and(|metadata| metadata.is_file()) {
            return candidate;
        }
    }
    name.into()
}
