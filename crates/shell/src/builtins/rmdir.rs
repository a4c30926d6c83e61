//! `rmdir`: removes empty directories.

use bstr::{BStr, BString, ByteSlice};

use super::operations::quote::quoted;
use super::operations::{self, destination, fail, misuse, path, say};
use super::{Command, Context, Run, ToolError};
use crate::arguments::{OptionSpec, both, long};
use crate::errno;
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 3] = [
    long("ignore-fail-on-non-empty", "say nothing about directories that are not empty"),
    both('p', "p", "parents", "remove the parents that become empty, too"),
    both('v', "v", "verbose", "show each directory before it is removed"),
];

pub static COMMAND: Command = Command {
    name: "rmdir",
    synopsis: "rmdir [OPTION]... DIRECTORY...",
    summary: "remove empty directories",
    options: &OPTIONS,
    run: Run::Tool(run),
};

struct Remover {
    ignore_full: bool,
    verbose: bool,
}

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = operations::parse(context, &OPTIONS, words)?;
    if arguments.operands.is_empty() {
        return Err(misuse(context, "missing operand"));
    }
    let remover = Remover {
        ignore_full: arguments.has("ignore-fail-on-non-empty"),
        verbose: arguments.has("v"),
    };
    let mut success = true;
    for operand in &arguments.operands {
        context.control().check()?;
        let mut removed = remover.remove(context, operand.as_bstr(), "failed to remove")?;
        if removed == Removed::Yes && arguments.has("p") {
            removed = remover.remove_parents(context, operand.as_bstr())?;
        }
        success &= removed != Removed::Failed;
    }
    Ok(ExitStatus::from_bool(success))
}

#[derive(PartialEq, Eq)]
enum Removed {
    Yes,
    /// Not empty, and the user does not mind.
    Left,
    Failed,
}

impl Remover {
    fn remove(
        &self,
        context: &mut Context<'_>,
        name: &BStr,
        doing: &str,
    ) -> Result<Removed, ToolError> {
        if self.verbose {
            let line = [b"rmdir: removing directory, ", quoted(name).as_bytes()].concat();
            context.output.line(&line)?;
        }
        let path = context.path(name);
        let removed = match path::last(name).as_bytes() {
            b"." => Err(errno::error(errno::EINVAL)),
            b".." => Err(errno::error(errno::ENOTEMPTY)),
            _ => context.files().remove_directory(path.as_bstr()),
        };
        match removed {
            Ok(()) => Ok(Removed::Yes),
            Err(error) if self.ignore_full && is_full(&error) => Ok(Removed::Left),
            Err(error) if errno::is(&error, errno::ENOTDIR) && leads_on(context, name) => {
                say(
                    context,
                    &[doing.as_bytes(), b" ", &quoted(name), b": Symbolic link not followed"],
                );
                Ok(Removed::Failed)
            }
            Err(error) => {
                fail(context, doing, name, &error);
                Ok(Removed::Failed)
            }
        }
    }

    fn remove_parents(&self, context: &mut Context<'_>, name: &BStr) -> Result<Removed, ToolError> {
        let mut name = path::without_slashes(name);
        while let Some(end) = name.rfind_byte(b'/') {
            name = path::without_slashes(name.get(..end).unwrap_or_default().as_bstr());
            if name.is_empty() {
                break;
            }
            match self.remove(context, name, "failed to remove directory")? {
                Removed::Yes => {}
                other => return Ok(other),
            }
        }
        Ok(Removed::Yes)
    }
}

/// `link/`: the kernel minds the link, though the slash asks for the directory that it leads to.
fn leads_on(context: &Context<'_>, name: &BStr) -> bool {
    super::rm::is_slashed_link(context, name) && destination::is_directory(context, name)
}

fn is_full(error: &std::io::Error) -> bool {
    [errno::ENOTEMPTY, errno::EEXIST, errno::EBUSY].iter().any(|number| errno::is(error, *number))
}
