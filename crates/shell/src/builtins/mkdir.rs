//! `mkdir`: makes directories.

use std::io;

use bstr::{BStr, BString, ByteSlice};

use super::operations::quote::quoted;
use super::operations::{self, fail, misuse, path};
use super::{Command, Context, Run, ToolError};
use crate::arguments::{OptionSpec, both};
use crate::errno;
use crate::filesystem::Follow;
use crate::mode::{self, Applied, Mode};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 3] = [
    both('m', "m", "mode", "set permissions as chmod does").takes("MODE"),
    both('p', "p", "parents", "make parents as needed, accept what exists"),
    both('v', "v", "verbose", "show each directory that is made"),
];

pub static COMMAND: Command = Command {
    name: "mkdir",
    synopsis: "mkdir [OPTION]... DIRECTORY...",
    summary: "make directories",
    options: &OPTIONS,
    run: Run::Tool(run),
};

struct Maker {
    /// What `-m` asks for.
    mode: Option<Applied>,
    parents: bool,
    verbose: bool,
}

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = operations::parse(context, &OPTIONS, words)?;
    if arguments.operands.is_empty() {
        return Err(misuse(context, "missing operand"));
    }
    let mode = arguments.value("m").map(|text| {
        let mode = Mode::parse(text);
        let umask = context.umask();
        mode.map(|mode| mode.apply_noting(0o777, true, umask))
            .ok_or_else(|| ToolError::usage(format!("invalid mode '{}'", text.to_str_lossy())))
    });
    let maker =
        Maker { mode: mode.transpose()?, parents: arguments.has("p"), verbose: arguments.has("v") };
    let mut success = true;
    for operand in &arguments.operands {
        success &= maker.make(context, operand.as_bstr())?;
    }
    Ok(ExitStatus::from_bool(success))
}

impl Maker {
    fn make(&self, context: &mut Context<'_>, name: &BStr) -> Result<bool, ToolError> {
        context.control().check()?;
        let error = match self.create(context, name) {
            Ok(()) => return self.made(context, name),
            Err(error) => error,
        };
        if !self.parents {
            fail(context, "cannot create directory", name, &error);
            return Ok(false);
        }
        if is_directory(context, name) {
            return Ok(true);
        }
        if errno::is(&error, errno::ENOTDIR) {
            let file = first_not_directory(context, name);
            fail(context, "cannot create directory", file, &error);
            return Ok(false);
        }
        if !errno::is(&error, errno::ENOENT) || name.is_empty() {
            fail(context, "cannot create directory", name, &error);
            return Ok(false);
        }
        if !self.make_parents(context, name)? {
            return Ok(false);
        }
        match self.create(context, name) {
            Ok(()) => self.made(context, name),
            Err(_) if is_directory(context, name) => Ok(true),
            Err(error) => {
                fail(context, "cannot create directory", name, &error);
                Ok(false)
            }
        }
    }

    /// From the nearest ancestor that is there downwards: those above it may be out of sight.
    fn make_parents(&self, context: &mut Context<'_>, name: &BStr) -> Result<bool, ToolError> {
        let mut missing = Vec::new();
        let mut parent = path::parent(name);
        while parent != "." && parent != "/" && !is_directory(context, parent) {
            missing.push(parent);
            parent = path::parent(parent);
        }
        // Owners must be able to go on inside, whatever the umask says.
        let mode = context.masked(0o777) | 0o300;
        for (at, parent) in missing.iter().rev().enumerate() {
            let path = context.path(parent);
            match context.files().create_directory(path.as_bstr(), mode) {
                Ok(()) => {
                    if self.verbose {
                        tell_made(context, parent)?;
                    }
                }
                Err(_) if is_directory(context, parent) => {}
                Err(error) => {
                    // Nothing made yet and nothing there: it is the whole path that is out of reach.
                    let absent = at == 0 && errno::is(&error, errno::ENOENT);
                    let shown = if absent { name } else { parent };
                    fail(context, "cannot create directory", shown, &error);
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn create(&self, context: &Context<'_>, name: &BStr) -> io::Result<()> {
        let path = context.path(name);
        let Some(applied) = self.mode else {
            return context.files().create_directory(path.as_bstr(), context.masked(0o777));
        };
        // The sticky bit alone, as GNU has it, leaves the rest to the umask.
        let mode = match applied.touched {
            mode::STICKY => context.masked(applied.mode),
            _ => applied.mode,
        };
        context.files().create_directory(path.as_bstr(), mode & 0o777)?;
        // A directory inherits its parent's group bit; it stays unless the mode speaks of it.
        let made = context.files().metadata(path.as_bstr(), Follow::No)?;
        let inherited = made.permissions & (mode::SET_USER | mode::SET_GROUP) & !applied.touched;
        let wanted = mode | inherited;
        if made.permissions != wanted {
            context.files().set_mode(path.as_bstr(), wanted, Follow::No)?;
        }
        Ok(())
    }

    fn made(&self, context: &mut Context<'_>, name: &BStr) -> Result<bool, ToolError> {
        if self.verbose {
            tell_made(context, name)?;
        }
        Ok(true)
    }
}

fn tell_made(context: &mut Context<'_>, name: &BStr) -> Result<(), ToolError> {
    let line = [b"mkdir: created directory ", quoted(name).as_bytes()].concat();
    context.output.line(&line)
}

fn is_directory(context: &Context<'_>, name: &BStr) -> bool {
    let path = context.path(name);
    context.files().metadata(path.as_bstr(), Follow::Yes).is_ok_and(|found| found.is_directory())
}

/// The outermost part of a name that is there and no directory.
fn first_not_directory<'a>(context: &Context<'_>, name: &'a BStr) -> &'a BStr {
    let mut blocking = name;
    let mut part = name;
    while part != "." && part != "/" {
        let path = context.path(part);
        if context.files().metadata(path.as_bstr(), Follow::No).is_ok() {
            return part;
        }
        blocking = part;
        part = path::parent(part);
    }
    blocking
}
