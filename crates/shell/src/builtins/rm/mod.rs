//! `rm`: deletes softly. What goes is moved to the project's `.trash`, in one piece where it can be.

mod listing;
mod root;

use bstr::{BStr, BString, ByteSlice};

pub(super) use self::listing::listing;
use self::listing::removed_line;
use super::operations::choice::choose;
use super::operations::prompt::{ask, is_writable};
use super::operations::quote::quoted;
use super::operations::{self, fail, misuse, path, say};
use super::{Command, Context, Run, ToolError};
use crate::arguments::{Arguments, OptionSpec, both, flag, long};
use crate::errno;
use crate::filesystem::{FileKind, Follow, Metadata};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 9] = [
    both('d', "d", "dir", "remove empty directories, too"),
    both('f', "f", "force", "ignore what does not exist, never ask"),
    flag('i', "i", "ask about every file"),
    flag('I', "I", "ask once before removing more than three files, or recursively"),
    long("interactive", "when to ask: never, once (-I) or always (-i)").may_take("WHEN"),
    long("preserve-root", "do not remove the root (always in force)").may_take("all"),
    long("no-preserve-root", "accepted; the root is not removed all the same"),
    both('r', "r", "recursive", "remove directories with all they contain").also(&['R']),
    both('v', "v", "verbose", "show each name"),
];

pub static COMMAND: Command = Command {
    name: "rm",
    synopsis: "rm [OPTION]... [FILE]...",
    summary: "move files and directories to the trash",
    options: &OPTIONS,
    run: Run::Tool(run),
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Asking {
    /// Only about files that may not be written, and only on a terminal.
    IfProtected,
    Never,
    Once,
    Always,
}

struct Remover {
    recursive: bool,
    empty_directories: bool,
    ignore_missing: bool,
    asking: Asking,
    verbose: bool,
}

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = operations::parse(context, &OPTIONS, words)?;
    let remover = Remover::new(context, &arguments)?;
    let operands = &arguments.operands;
    if operands.is_empty() {
        if remover.ignore_missing {
            return Ok(ExitStatus::SUCCESS);
        }
        return Err(misuse(context, "missing operand"));
    }
    if remover.asking == Asking::Once && (remover.recursive || operands.len() > 3) {
        let count = operands.len();
        let arguments = if count == 1 { "argument" } else { "arguments" };
        let how = if remover.recursive { " recursively" } else { "" };
        let question = format!("remove {count} {arguments}{how}");
        if !ask(context, &[question.as_bytes()])? {
            return Ok(ExitStatus::SUCCESS);
        }
    }
    let mut success = true;
    for operand in operands {
        context.control().check()?;
        success &= remover.remove(context, operand.as_bstr())?;
    }
    Ok(ExitStatus::from_bool(success))
}

/// What was decided about an entry and all below it.
enum Decision {
    /// Take it whole.
    All,
    /// Only these, which are whole themselves.
    Parts(Vec<BString>),
}

impl Remover {
    fn new(context: &Context<'_>, arguments: &Arguments) -> Result<Self, ToolError> {
        let mut asking = Asking::IfProtected;
        let mut ignore_missing = false;
        for option in &arguments.options {
            match option.id {
                "f" => (asking, ignore_missing) = (Asking::Never, true),
                "i" => (asking, ignore_missing) = (Asking::Always, false),
                "I" => (asking, ignore_missing) = (Asking::Once, false),
                "interactive" => {
                    let rows: [&[&str]; 3] =
                        [&["never", "no", "none"], &["once"], &["always", "yes"]];
                    let value = option.value.as_ref().map(|value| value.as_bstr());
                    let value = value.unwrap_or(BStr::new("always"));
                    asking = match choose(context, "--interactive", value, &rows)? {
                        0 => Asking::Never,
                        1 => Asking::Once,
                        _ => Asking::Always,
                    };
                    ignore_missing = ignore_missing && asking == Asking::Never;
                }
                "preserve-root" if option.value.is_some() => {
                    return Err(ToolError::Unsupported("--preserve-root=all".to_owned()));
                }
                _ => {}
            }
        }
        Ok(Remover {
            recursive: arguments.has("r"),
            empty_directories: arguments.has("d"),
            ignore_missing,
            asking,
            verbose: arguments.has("v"),
        })
    }

    /// One operand. `false`: something was reported.
    fn remove(&self, context: &mut Context<'_>, operand: &BStr) -> Result<bool, ToolError> {
        if self.recursive && root::is_root_or_above(context, operand) {
            root::refuse(context, operand);
            return Ok(false);
        }
        let found = match operations::metadata(context, operand, Follow::No) {
            Ok(found) => found,
            // What is above the root is out of sight, but everybody knows that it is a directory.
            Err(error)
                if errno::is(&error, errno::ENOENT) && root::climbs_out(context, operand) =>
            {
                self.may_take_directory(context, operand);
                return Ok(false);
            }
            Err(error) => {
                let absent = [errno::ENOENT, errno::ENOTDIR, errno::ELOOP];
                if self.ignore_missing && absent.iter().any(|number| errno::is(&error, *number)) {
                    return Ok(true);
                }
                fail(context, "cannot remove", operand, &error);
                return Ok(false);
            }
        };
        if found.is_directory() && !self.may_take_directory(context, operand) {
            return Ok(false);
        }
        if found.is_directory() && is_slashed_link(context, operand) {
            return self.empty(context, operand, &found);
        }
        match self.decide(context, operand, &found)? {
            Some(Decision::All) => self.take(context, operand, &found),
            Some(Decision::Parts(parts)) => {
                let mut success = true;
                for part in parts {
                    let found = operations::metadata(context, part.as_bstr(), Follow::No);
                    if let Ok(found) = found {
                        success &= self.take(context, part.as_bstr(), &found)?;
                    }
                }
                Ok(success)
            }
            None => Ok(true),
        }
    }

    /// `link/`: what is in the directory goes, but a link cannot be removed by the name of what it leads to.
    fn empty(
        &self,
        context: &mut Context<'_>,
        operand: &BStr,
        found: &Metadata,
    ) -> Result<bool, ToolError> {
        let descends = self.asking != Asking::Always
            || self.agree(context, b"descend into ", operand, found)?;
        if !descends {
            return Ok(true);
        }
        let mut success = true;
        for child in children(context, operand) {
            let child = path::join(operand, child.as_bstr());
            success &= self.remove(context, child.as_bstr())?;
        }
        if !self.ignore_missing {
            fail(context, "cannot remove", operand, &errno::error(errno::ENOTDIR));
        }
        Ok(success && self.ignore_missing)
    }

    fn may_take_directory(&self, context: &mut Context<'_>, operand: &BStr) -> bool {
        if !self.recursive && !self.empty_directories {
            fail(context, "cannot remove", operand, &errno::error(errno::EISDIR));
            return false;
        }
        if !self.recursive && !is_empty(context, operand) {
            fail(context, "cannot remove", operand, &errno::error(errno::ENOTEMPTY));
            return false;
        }
        if path::is_dot_or_dot_dot(path::last(operand)) {
            let what = b"refusing to remove '.' or '..' directory: skipping ";
            say(context, &[what, &quoted(operand)]);
            return false;
        }
        true
    }

    /// Asks whatever there is to ask. `None`: nothing is to be removed.
    fn decide(
        &self,
        context: &mut Context<'_>,
        name: &BStr,
        found: &Metadata,
    ) -> Result<Option<Decision>, ToolError> {
        context.control().check()?;
        let careful = match self.asking {
            Asking::Always => true,
            Asking::IfProtected => context.input.is_terminal(),
            Asking::Never | Asking::Once => false,
        };
        if !careful {
            return Ok(Some(Decision::All));
        }
        if !found.is_directory() || is_empty(context, name) {
            let agreed = self.agree(context, b"remove ", name, found)?;
            return Ok(agreed.then_some(Decision::All));
        }
        if !self.agree(context, b"descend into ", name, found)? {
            return Ok(None);
        }
        stacker::maybe_grow(128 << 10, 1 << 20, || self.decide_inside(context, name, found))
    }

    fn decide_inside(
        &self,
        context: &mut Context<'_>,
        name: &BStr,
        found: &Metadata,
    ) -> Result<Option<Decision>, ToolError> {
        let mut parts = Vec::new();
        let mut whole = true;
        for child in children(context, name) {
            let child = path::join(name, child.as_bstr());
            let Ok(found) = operations::metadata(context, child.as_bstr(), Follow::No) else {
                continue;
            };
            match self.decide(context, child.as_bstr(), &found)? {
                Some(Decision::All) => parts.push(child),
                Some(Decision::Parts(some)) => {
                    whole = false;
                    parts.extend(some);
                }
                None => whole = false,
            }
        }
        if whole && self.agree(context, b"remove ", name, found)? {
            return Ok(Some(Decision::All));
        }
        Ok(Some(Decision::Parts(parts)))
    }

    /// `rm: remove write-protected regular file 'a'?`; yes without a question where none is due.
    fn agree(
        &self,
        context: &mut Context<'_>,
        verb: &[u8],
        name: &BStr,
        found: &Metadata,
    ) -> Result<bool, ToolError> {
        let protected = !found.is_symlink() && !is_writable(context, name);
        if self.asking != Asking::Always && !protected {
            return Ok(true);
        }
        let guard: &[u8] = if protected { b"write-protected " } else { b"" };
        let kind = kind_text(found);
        ask(context, &[verb, guard, kind.as_bytes(), b" ", &quoted(name)])
    }

    /// Moves one entry, with all below it, to the trash.
    fn take(
        &self,
        context: &mut Context<'_>,
        name: &BStr,
        found: &Metadata,
    ) -> Result<bool, ToolError> {
        let list = if !self.verbose {
            Vec::new()
        } else if found.is_directory() {
            listing(context, name)?
        } else {
            removed_line(name, false)
        };
        let path = context.path(name);
        match context.files().trash(path.as_bstr()) {
            Ok(()) => {
                context.output.write(&list)?;
                Ok(true)
            }
            Err(error) => {
                fail(context, "cannot remove", name, &error);
                Ok(false)
            }
        }
    }
}

/// A link with a slash behind it.
pub(super) fn is_slashed_link(context: &Context<'_>, name: &BStr) -> bool {
    let link = context.path(path::without_slashes(name));
    name.ends_with(b"/")
        && context
            .files()
            .metadata(link.as_bstr(), Follow::No)
            .is_ok_and(|found| found.is_symlink())
}

pub(super) fn kind_text(found: &Metadata) -> &'static str {
    match found.kind {
        FileKind::File if found.size == 0 => "regular empty file",
        FileKind::File => "regular file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symbolic link",
        FileKind::Fifo => "fifo",
        FileKind::Socket => "socket",
        FileKind::BlockDevice => "block special file",
        FileKind::CharacterDevice => "character special file",
    }
}

/// Names in a directory, in the order of the file system; none where it cannot be read.
fn children(context: &Context<'_>, name: &BStr) -> Vec<BString> {
    let path = context.path(name);
    let opened = context.files().open_directory(path.as_bstr(), Follow::No);
    let entries = opened.and_then(|directory| directory.entries()).unwrap_or_default();
    entries.into_iter().map(|entry| entry.name).collect()
}

fn is_empty(context: &Context<'_>, name: &BStr) -> bool {
    let path = context.path(name);
    let opened = context.files().open_directory(path.as_bstr(), Follow::No);
    opened.and_then(|directory| directory.entries()).is_ok_and(|entries| entries.is_empty())
}
