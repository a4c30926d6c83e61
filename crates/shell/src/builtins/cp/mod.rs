//! `cp`: copies files and directories.

mod parents;
mod settings;

use bstr::{BStr, BString, ByteSlice};

use super::operations::copy::Copier;
use super::operations::destination::{self, Destination};
use super::operations::{self, path};
use super::{Command, Context, Run, ToolError};
use crate::arguments::{Arguments, OptionSpec, both, flag, long};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 28] = [
    both('a', "a", "archive", "keep everything there is to keep: the same as -dR --preserve=all"),
    long("attributes-only", "copy the attributes, not the content"),
    OptionSpec { id: "b", ..long("backup", "keep what would be overwritten").may_take("CONTROL") },
    flag('b', "b", "keep what would be overwritten under another name"),
    flag('d', "d", "copy symbolic links as links and keep hard links"),
    both('f', "f", "force", "replace what cannot be opened for writing"),
    both('i', "i", "interactive", "ask before overwriting"),
    flag('H', "H", "follow symbolic links that are named on the command line"),
    both('l', "l", "link", "make hard links instead of copies"),
    both('L', "L", "dereference", "follow all symbolic links"),
    both('n', "n", "no-clobber", "never overwrite"),
    both('P', "P", "no-dereference", "follow no symbolic link"),
    flag('p', "p", "keep mode, owner and times"),
    long("preserve", "keep these attributes").may_take("LIST"),
    long("no-preserve", "do not keep these attributes").takes("LIST"),
    long("parents", "keep the directories of the names beneath the target"),
    both('r', "r", "recursive", "copy directories with all they contain").also(&['R']),
    long("reflink", "share the data where possible: auto, always or never").may_take("WHEN"),
    long("remove-destination", "replace files instead of writing into them"),
    long("sparse", "make holes: auto, always or never").takes("WHEN"),
    long("strip-trailing-slashes", "ignore slashes at the end of the sources"),
    both('s', "s", "symbolic-link", "make symbolic links instead of copies"),
    both('S', "S", "suffix", "what the names of backups end in").takes("SUFFIX"),
    both('t', "t", "target-directory", "copy into this directory").takes("DIRECTORY"),
    both('T', "T", "no-target-directory", "take the destination as a file, never into it"),
    both('u', "u", "update", "copy only what is newer or missing"),
    both('v', "v", "verbose", "show each name"),
    both('x', "x", "one-file-system", "stay on this file system"),
];

pub static COMMAND: Command = Command {
    name: "cp",
    synopsis: "cp [OPTION]... SOURCE... DESTINATION",
    summary: "copy files and directories",
    options: &OPTIONS,
    run: Run::Tool(run),
};

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let mut arguments = operations::parse(context, &OPTIONS, words)?;
    let options = settings::options(context, &arguments)?;
    let Some(destination) = destination::take(context, &mut arguments)? else {
        return Ok(ExitStatus::FAILURE);
    };
    let with_parents = arguments.has("parents");
    if with_parents && !matches!(destination, Destination::Into(_)) {
        let message = "with --parents, the destination must be a directory";
        return Err(operations::misuse(context, message));
    }
    let mut copier = Copier::new(options);
    let mut success = true;
    let into = matches!(destination, Destination::Into(_));
    for source in sources(&arguments, into) {
        success &= match &destination {
            Destination::Into(directory) if with_parents => {
                parents::copy(context, &mut copier, source, directory.as_bstr())?
            }
            // A copy of `a/..` must not end up beside the directory it goes into.
            Destination::Into(directory) if path::last(source) == ".." => {
                let target = path::join(directory.as_bstr(), BStr::new("."));
                copier.copy(context, source, target.as_bstr())?
            }
            _ => copier.copy(context, source, destination.of(source).as_bstr())?,
        };
    }
    Ok(ExitStatus::from_bool(success))
}

/// As GNU has it, slashes are stripped only from what goes into a directory.
fn sources(arguments: &Arguments, into: bool) -> impl Iterator<Item = &BStr> {
    let strip = into && arguments.has("strip-trailing-slashes");
    arguments.operands.iter().map(move |source| {
        if strip { path::without_slashes(source.as_bstr()) } else { source.as_bstr() }
    })
}
