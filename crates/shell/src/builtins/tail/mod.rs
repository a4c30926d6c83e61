//! `tail`: the end of files, by lines or bytes, or what is added to them.

mod copy;
mod follow;
mod settings;

use bstr::{BStr, BString, ByteSlice};

use self::follow::Followed;
use self::settings::{Follow, OPTIONS, Settings};
use super::head::Headers;
use super::input::{self, Wording};
use super::{Command, Context, Run, ToolError};
use crate::filesystem::FileKind;
use crate::status::ExitStatus;

pub static COMMAND: Command = Command {
    name: "tail",
    synopsis: "tail [OPTION]... [FILE]...",
    summary: "print the last ten lines of each file, or as many as are asked for",
    options: &OPTIONS,
    run: Run::Tool(run),
};

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let settings = Settings::parse(words)?;
    for warning in &settings.warnings {
        context.complain(warning);
    }
    let operands = input::or_standard_input(settings.operands.clone());
    if settings.follow == Some(Follow::Name) && operands.iter().any(|operand| operand == "-") {
        return Err(ToolError::usage("cannot follow '-' by name"));
    }
    if settings.count == 0 && !settings.from_start && settings.follow.is_none() {
        return Ok(ExitStatus::SUCCESS);
    }
    let mut headers = Headers::new(settings.headers, operands.len());
    let mut status = ExitStatus::SUCCESS;
    let mut followed = Vec::new();
    for operand in &operands {
        let (file, done) = tail(context, &settings, &mut headers, operand.as_bstr())?;
        if !done {
            status = ExitStatus::FAILURE;
        }
        followed.extend(file);
    }
    match settings.follow {
        // Standard input that was a pipe leaves nothing to follow, and that is no failure.
        Some(_) if followed.is_empty() && status.success() => Ok(status),
        Some(follow) => follow::follow(context, &settings, follow, &mut headers, followed),
        None => Ok(status),
    }
}

/// Prints the end of one file. Gives what is to be followed, and whether all went well.
fn tail(
    context: &mut Context<'_>,
    settings: &Settings,
    headers: &mut Headers,
    operand: &BStr,
) -> Result<(Option<Followed>, bool), ToolError> {
    let Some(file) = input::open(context, operand, Wording::Sentence)? else {
        return Ok((Some(Followed::missing(operand)), false));
    };
    headers.print(context, operand)?;
    let kind = file.metadata().map_or(FileKind::Fifo, |metadata| metadata.kind);
    if let Err(error) = copy::end_of(context, &file, settings)? {
        input::read_failed(context, operand, &error, Wording::Sentence)?;
        if settings.follow.is_some() && kind == FileKind::Directory {
            let text = b": cannot follow end of this type of file; giving up on this name";
            input::complain(context, &[operand, text], None);
        }
        return Ok((None, false));
    }
    // A pipe on standard input has come to its end: there is nothing to follow.
    if operand == "-" && kind == FileKind::Fifo {
        return Ok((None, true));
    }
    Ok((Some(Followed::open(operand, file)), true))
}
