//! `mv`: renames, or copies and deletes where a rename cannot do.

use bstr::{BStr, BString, ByteSlice};

use super::operations::backup::Backup;
use super::operations::copy::{Copier, Dereference, Options, Overwrite, Preserve, Update};
use super::operations::destination;
use super::operations::quote::quoted;
use super::operations::{self, fail, is_same, is_same_entry, path, prompt, say, tell};
use super::{Command, Context, Run, ToolError};
use crate::arguments::{Arguments, OptionSpec, both, flag, long};
use crate::errno;
use crate::filesystem::{Follow, MayMiss, Metadata};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 11] = [
    OptionSpec { id: "b", ..long("backup", "keep what would be overwritten").may_take("CONTROL") },
    flag('b', "b", "keep what would be overwritten under another name"),
    both('f', "f", "force", "never ask"),
    both('i', "i", "interactive", "ask before overwriting"),
    both('n', "n", "no-clobber", "never overwrite"),
    long("strip-trailing-slashes", "ignore slashes at the end of the sources"),
    both('S', "S", "suffix", "what the names of backups end in").takes("SUFFIX"),
    both('t', "t", "target-directory", "move into this directory").takes("DIRECTORY"),
    both('T', "T", "no-target-directory", "take the destination as a file, never into it"),
    both('u', "u", "update", "move only what is newer or missing"),
    both('v', "v", "verbose", "show each name"),
];

pub static COMMAND: Command = Command {
    name: "mv",
    synopsis: "mv [OPTION]... SOURCE... DESTINATION",
    summary: "move or rename files and directories",
    options: &OPTIONS,
    run: Run::Tool(run),
};

struct Mover {
    overwrite: Overwrite,
    /// `-f`: not even about files that may not be written.
    never_ask: bool,
    update: Update,
    backup: Option<Backup>,
    verbose: bool,
    copier: Copier,
    /// Names made by earlier sources of this command.
    made: Vec<(u64, u64)>,
}

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let mut arguments = operations::parse(context, &OPTIONS, words)?;
    let mut mover = Mover::new(context, &arguments)?;
    let Some(destination) = destination::take(context, &mut arguments)? else {
        return Ok(ExitStatus::FAILURE);
    };
    let strip = arguments.has("strip-trailing-slashes");
    let mut success = true;
    for source in &arguments.operands {
        let source = source.as_bstr();
        let source = if strip { path::without_slashes(source) } else { source };
        success &= mover.move_one(context, source, destination.of(source).as_bstr())?;
    }
    Ok(ExitStatus::from_bool(success))
}

/// What happened to a target that was there.
enum Cleared {
    /// Free, or to be replaced; the name of the backup.
    Go(Option<BString>),
    /// Nothing more to do; whether that is a success.
    Stop(bool),
}

impl Mover {
    fn new(context: &Context<'_>, arguments: &Arguments) -> Result<Self, ToolError> {
        let last = arguments.last_of(&["f", "i", "n"]);
        let overwrite = match last {
            Some("i") => Overwrite::Ask,
            Some("n") => Overwrite::Never,
            _ => Overwrite::Always,
        };
        let backup = Backup::of(context, arguments)?;
        if backup.is_some() && overwrite == Overwrite::Never {
            let message = "options --backup and --no-clobber are mutually exclusive";
            return Err(operations::misuse(context, message));
        }
        let verbose = arguments.has("v");
        let preserve = Preserve {
            mode: true,
            ownership: true,
            timestamps: true,
            links: true,
            default_mode: false,
        };
        let copying = Options {
            recursive: true,
            dereference: Dereference::Never,
            preserve,
            verbose,
            moving: true,
            ..Options::default()
        };
        Ok(Mover {
            overwrite,
            never_ask: last == Some("f"),
            update: if arguments.has("u") { Update::Older } else { Update::All },
            backup,
            verbose,
            copier: Copier::new(copying),
            made: Vec::new(),
        })
    }

    fn move_one(
        &mut self,
        context: &mut Context<'_>,
        source: &BStr,
        target: &BStr,
    ) -> Result<bool, ToolError> {
        context.control().check()?;
        let from = match operations::metadata(context, source, Follow::No) {
            Ok(from) => from,
            Err(error) => {
                fail(context, "cannot stat", source, &error);
                return Ok(false);
            }
        };
        let backup = match self.clear(context, source, target, &from)? {
            Cleared::Go(backup) => backup,
            Cleared::Stop(success) => return Ok(success),
        };
        let (old, new) = (context.path(source), context.path(target));
        match context.files().rename(old.as_bstr(), new.as_bstr(), true) {
            Ok(()) => {
                self.made.push((from.device, from.inode));
                if self.verbose {
                    announce(context, source, target, backup.as_ref())?;
                }
                Ok(true)
            }
            Err(error) => {
                let moved = if errno::is(&error, errno::EXDEV) {
                    self.copy_and_delete(context, source, target, &from)?
                } else {
                    explain(context, source, target, &from, &error);
                    false
                };
                if let Some(backup) = backup.filter(|_| !moved) {
                    Backup::undo(context, backup.as_bstr(), target);
                }
                Ok(moved)
            }
        }
    }

    /// Looks at what is in the way.
    fn clear(
        &self,
        context: &mut Context<'_>,
        source: &BStr,
        target: &BStr,
        from: &Metadata,
    ) -> Result<Cleared, ToolError> {
        let path = context.path(target);
        let to = match context.files().metadata(path.as_bstr(), Follow::No) {
            Ok(to) => to,
            Err(error) if errno::is(&error, errno::ENOENT) => return Ok(Cleared::Go(None)),
            Err(error) => {
                fail(context, "cannot stat", target, &error);
                return Ok(Cleared::Stop(false));
            }
        };
        if self.overwrite == Overwrite::Never {
            return Ok(Cleared::Stop(true));
        }
        let same = is_same(from, &to) || is_link_to(context, source, target, from, &to);
        if same && (self.backup.is_none() || is_same_entry(context, source, target)) {
            let (source, target) = (quoted(source), quoted(target));
            say(context, &[&source, b" and ", &target, b" are the same file"]);
            return Ok(Cleared::Stop(false));
        }
        if !self.may_overwrite(context, target, from, &to)? {
            return Ok(Cleared::Stop(true));
        }
        if self.backup.is_none() && !kinds_fit(context, source, target, from, &to) {
            return Ok(Cleared::Stop(false));
        }
        if self.made.contains(&(to.device, to.inode)) && self.backup.is_none() {
            let (source, target) = (quoted(source), quoted(target));
            say(context, &[b"will not overwrite just-created ", &target, b" with ", &source]);
            return Ok(Cleared::Stop(false));
        }
        let Some(backup) = &self.backup else { return Ok(Cleared::Go(None)) };
        match backup.make(context, target) {
            Ok(name) => Ok(Cleared::Go(Some(name))),
            Err(error) => {
                fail(context, "cannot backup", target, &error);
                Ok(Cleared::Stop(false))
            }
        }
    }

    fn may_overwrite(
        &self,
        context: &mut Context<'_>,
        target: &BStr,
        from: &Metadata,
        to: &Metadata,
    ) -> Result<bool, ToolError> {
        if self.update == Update::Older && !from.is_directory() && to.modified >= from.modified {
            return Ok(false);
        }
        let writable = to.is_symlink() || prompt::is_writable(context, target);
        let asks = match self.overwrite {
            Overwrite::Never | Overwrite::Ask => true,
            Overwrite::Always => !self.never_ask && !writable && context.input.is_terminal(),
        };
        if !asks {
            return Ok(true);
        }
        let name = quoted(target);
        if writable {
            return prompt::ask(context, &[b"overwrite ", &name]);
        }
        let (number, text) = prompt::mode_texts(context, target);
        let mode = format!(", overriding mode {number} ({text})");
        prompt::ask(context, &[b"replace ", &name, mode.as_bytes()])
    }

    /// The target is on another file system. The original goes only when the copy is complete.
    fn copy_and_delete(
        &mut self,
        context: &mut Context<'_>,
        source: &BStr,
        target: &BStr,
        from: &Metadata,
    ) -> Result<bool, ToolError> {
        let path = context.path(target);
        if from.is_directory() && context.files().metadata(path.as_bstr(), Follow::No).is_ok() {
            // A rename would take the place of an empty directory only; neither is a copy mixed into a full one.
            if let Err(error) = context.files().remove_directory(path.as_bstr()) {
                let (source, target) = (quoted(source), quoted(target));
                let reason = errno::text(&error);
                let why = format!("; unable to remove target: {reason}");
                let what = b"inter-device move failed: ";
                say(context, &[what, &source, b" to ", &target, why.as_bytes()]);
                return Ok(false);
            }
        }
        if !self.copier.copy(context, source, target)? {
            return Ok(false);
        }
        let removed = if self.verbose { super::rm::listing(context, source)? } else { Vec::new() };
        let path = context.path(source);
        if let Err(error) = context.files().trash(path.as_bstr()) {
            fail(context, "cannot remove", source, &error);
            return Ok(false);
        }
        context.output.write(&removed)?;
        Ok(true)
    }
}

/// A link to the very name it would replace: if the file has other names, GNU is afraid to lose this one.
fn is_link_to(
    context: &Context<'_>,
    source: &BStr,
    target: &BStr,
    from: &Metadata,
    to: &Metadata,
) -> bool {
    let canonical = |name: &BStr| {
        let parent = context.path(path::parent(name));
        let parent = context.files().canonicalize(parent.as_bstr(), MayMiss::Nothing).ok()?;
        Some(path::join(parent.as_bstr(), path::last(name)))
    };
    let leads_to = || {
        let path = context.path(source);
        context.files().canonicalize(path.as_bstr(), MayMiss::Nothing).ok()
    };
    from.is_symlink() && to.links > 1 && leads_to().is_some() && leads_to() == canonical(target)
}

/// A directory takes the place of a directory only, anything else the place of anything else.
fn kinds_fit(
    context: &mut Context<'_>,
    source: &BStr,
    target: &BStr,
    from: &Metadata,
    to: &Metadata,
) -> bool {
    let (source, target) = (quoted(source), quoted(target));
    match (from.is_directory(), to.is_directory()) {
        (true, false) => say(
            context,
            &[b"cannot overwrite non-directory ", &target, b" with directory ", &source],
        ),
        (false, true) => {
            say(context, &[b"cannot overwrite directory ", &target, b" with non-directory"]);
        }
        _ => return true,
    }
    false
}

fn announce(
    context: &mut Context<'_>,
    source: &BStr,
    target: &BStr,
    backup: Option<&BString>,
) -> Result<(), ToolError> {
    let (source, target) = (quoted(source), quoted(target));
    let mut parts: Vec<&[u8]> = vec![b"renamed ", &source, b" -> ", &target];
    let backup = backup.map(|backup| quoted(backup.as_bstr()));
    if let Some(backup) = &backup {
        parts.extend([b" (backup: ".as_slice(), backup, b")"]);
    }
    tell(context, &parts)
}

fn explain(
    context: &mut Context<'_>,
    source: &BStr,
    target: &BStr,
    from: &Metadata,
    error: &std::io::Error,
) {
    let (old, new) = (quoted(source), quoted(target));
    if errno::is(error, errno::ENOENT) {
        context.complain_of(target, error);
    } else if errno::is(error, errno::EINVAL) && from.is_directory() {
        let what = b" to a subdirectory of itself, ";
        say(context, &[b"cannot move ", &old, what, &new]);
    } else {
        let reason = errno::text(error);
        say(context, &[b"cannot move ", &old, b" to ", &new, b": ", reason.as_bytes()]);
    }
}
