//! `ln`: makes hard and symbolic links.

use std::collections::HashSet;
use std::io;

use bstr::{BStr, BString, ByteSlice};

use super::operations::backup::Backup;
use super::operations::destination::Destination;
use super::operations::quote::quoted;
use super::operations::{self, destination, fail, is_same, path, prompt, replace, say, tell};
use super::{Command, Context, Run, ToolError};
use crate::arguments::{Arguments, OptionSpec, both, flag, long};
use crate::errno;
use crate::filesystem::{Follow, MayMiss, Metadata};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 13] = [
    OptionSpec { id: "b", ..long("backup", "keep what would be replaced").may_take("CONTROL") },
    flag('b', "b", "keep what would be replaced under another name"),
    both('f', "f", "force", "replace what is there"),
    both('i', "i", "interactive", "ask before replacing"),
    both('L', "L", "logical", "link to what symbolic links lead to"),
    both('n', "n", "no-dereference", "take a link to a directory as a file"),
    both('P', "P", "physical", "link to symbolic links themselves"),
    both('r', "r", "relative", "write the target relative to the link"),
    both('s', "s", "symbolic", "make symbolic links"),
    both('S', "S", "suffix", "what the names of backups end in").takes("SUFFIX"),
    both('t', "t", "target-directory", "make the links in this directory").takes("DIRECTORY"),
    both('T', "T", "no-target-directory", "take the name of the link as a file always"),
    both('v', "v", "verbose", "show each link"),
];

pub static COMMAND: Command = Command {
    name: "ln",
    synopsis: "ln [OPTION]... TARGET... [LINK]",
    summary: "make links between files",
    options: &OPTIONS,
    run: Run::Tool(run),
};

struct Linker {
    symbolic: bool,
    relative: bool,
    logical: bool,
    replaces: bool,
    asks: bool,
    backup: Option<Backup>,
    verbose: bool,
    /// Hard links made by this command, not to be replaced by it.
    made: HashSet<BString>,
}

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let mut arguments = operations::parse(context, &OPTIONS, words)?;
    let last = arguments.last_of(&["f", "i"]);
    let mut linker = Linker {
        symbolic: arguments.has("s"),
        relative: arguments.has("r"),
        logical: arguments.last_of(&["L", "P"]) == Some("L"),
        replaces: last.is_some(),
        asks: last == Some("i"),
        backup: Backup::of(context, &arguments)?,
        verbose: arguments.has("v"),
        made: HashSet::new(),
    };
    if linker.relative && !linker.symbolic {
        return Err(ToolError::usage("cannot do --relative without --symbolic"));
    }
    let Some(destination) = take_destination(context, &mut arguments)? else {
        return Ok(ExitStatus::FAILURE);
    };
    let mut success = true;
    for target in &arguments.operands {
        let name = destination.of(target.as_bstr());
        success &= linker.link(context, target.as_bstr(), name.as_bstr())?;
    }
    Ok(ExitStatus::from_bool(success))
}

/// As for `cp`, and besides: one operand is linked into the current directory.
fn take_destination(
    context: &mut Context<'_>,
    arguments: &mut Arguments,
) -> Result<Option<Destination>, ToolError> {
    if arguments.value("t").is_some() || arguments.has("T") {
        return destination::take(context, arguments);
    }
    if let [_] = arguments.operands.as_slice() {
        return Ok(Some(Destination::Into(".".into())));
    }
    if let Some(last) = arguments.operands.last().cloned()
        && let Err(error) = operations::metadata(context, last.as_bstr(), Follow::Yes)
        && !errno::is(&error, errno::ENOENT)
        && arguments.operands.len() == 2
        && arguments.has("n")
    {
        fail(context, "failed to access", last.as_bstr(), &error);
        return Ok(None);
    }
    let last = arguments.operands.last().cloned().unwrap_or_default();
    if arguments.has("n") && is_link(context, last.as_bstr()) {
        if arguments.operands.len() > 2 {
            fail(context, "target", last.as_bstr(), &errno::error(errno::ENOTDIR));
            return Ok(None);
        }
        return Ok(arguments.operands.pop().map(Destination::Exactly));
    }
    destination::take(context, arguments)
}

fn is_link(context: &Context<'_>, name: &BStr) -> bool {
    let path = context.path(name);
    context.files().metadata(path.as_bstr(), Follow::No).is_ok_and(|found| found.is_symlink())
}

impl Linker {
    /// `false`: something was reported.
    fn link(
        &mut self,
        context: &mut Context<'_>,
        target: &BStr,
        name: &BStr,
    ) -> Result<bool, ToolError> {
        context.control().check()?;
        let mut found = None;
        if !self.symbolic {
            let follow = if self.logical { Follow::Yes } else { Follow::No };
            match operations::metadata(context, target, follow) {
                Ok(metadata) if metadata.is_directory() => {
                    say(context, &[target, b": hard link not allowed for directory"]);
                    return Ok(false);
                }
                Ok(metadata) => found = Some(metadata),
                Err(error) => {
                    fail(context, "failed to access", target, &error);
                    return Ok(false);
                }
            }
        }
        let mut backup = None;
        let mut replace = false;
        let path = context.path(name);
        if let Ok(old) = context.files().metadata(path.as_bstr(), Follow::No)
            && (self.replaces || self.backup.is_some())
        {
            if let Some(done) = self.check_old(context, target, name, &old, found.as_ref())? {
                return Ok(done);
            }
            match self.backup.as_ref().map(|backup| backup.make(context, name)).transpose() {
                Ok(made) => backup = made,
                Err(error) => {
                    fail(context, "cannot backup", name, &error);
                    return Ok(false);
                }
            }
            replace = backup.is_none();
        }
        let text = self.text(context, target, name);
        if let Err(error) = self.make(context, target, text.as_bstr(), name, replace) {
            self.explain(context, target, name, &error);
            return Ok(false);
        }
        if !self.symbolic {
            self.made.insert(name.into());
        }
        if self.verbose {
            self.announce(context, text.as_bstr(), name, backup.as_ref())?;
        }
        Ok(true)
    }

    /// What is there may be replaced unless this says how it ended.
    fn check_old(
        &self,
        context: &mut Context<'_>,
        target: &BStr,
        name: &BStr,
        old: &Metadata,
        found: Option<&Metadata>,
    ) -> Result<Option<bool>, ToolError> {
        if old.is_directory() {
            say(context, &[name, b": cannot overwrite directory"]);
            return Ok(Some(false));
        }
        if self.made.contains(name) {
            let (name, target) = (quoted(name), quoted(target));
            say(context, &[b"will not overwrite just-created ", &name, b" with ", &target]);
            return Ok(Some(false));
        }
        if self.asks && !prompt::ask(context, &[b"replace ", &quoted(name)])? {
            return Ok(Some(true));
        }
        if is_only_name(context, target, name, old, found) {
            let (target, name) = (quoted(target), quoted(name));
            say(context, &[&target, b" and ", &name, b" are the same file"]);
            return Ok(Some(false));
        }
        // The link that is wanted is already there under this very name.
        if found.is_some_and(|found| is_same(found, old)) && self.backup.is_none() {
            if self.verbose {
                self.announce(context, target, name, None)?;
            }
            return Ok(Some(true));
        }
        Ok(None)
    }

    /// What a symbolic link says.
    fn text(&self, context: &Context<'_>, target: &BStr, name: &BStr) -> BString {
        if !self.relative {
            return target.into();
        }
        let canonical = |name: &BStr| {
            let path = context.path(name);
            let canonical = context.files().canonicalize(path.as_bstr(), MayMiss::Everything);
            canonical.unwrap_or_else(|_| path::normalized(path.as_bstr()))
        };
        let directory = canonical(path::parent(name));
        relative(canonical(target).as_bstr(), directory.as_bstr())
    }

    fn make(
        &self,
        context: &Context<'_>,
        target: &BStr,
        text: &BStr,
        name: &BStr,
        replace: bool,
    ) -> io::Result<()> {
        let mut existing = context.path(target);
        if self.logical && !self.symbolic {
            existing = context.files().canonicalize(existing.as_bstr(), MayMiss::Nothing)?;
        }
        let make = |path: &BStr| {
            if self.symbolic {
                context.files().create_symlink(text, path)
            } else {
                context.files().create_hard_link(existing.as_bstr(), path)
            }
        };
        if replace {
            replace::replace(context, name, make)
        } else {
            make(context.path(name).as_bstr())
        }
    }

    fn explain(&self, context: &mut Context<'_>, target: &BStr, name: &BStr, error: &io::Error) {
        if errno::is(error, errno::ENOENT) {
            context.complain_of(name, error);
            return;
        }
        let reason = errno::text(error);
        let (link, to) = (quoted(name), quoted(target));
        let kind: &[u8] = if self.symbolic { b"symbolic" } else { b"hard" };
        let what = [b"failed to create ", kind, b" link ", &link].concat();
        let exists = errno::is(error, errno::EEXIST);
        if self.symbolic || exists {
            say(context, &[&what, b": ", reason.as_bytes()]);
        } else {
            say(context, &[&what, b" => ", &to, b": ", reason.as_bytes()]);
        }
    }

    fn announce(
        &self,
        context: &mut Context<'_>,
        text: &BStr,
        name: &BStr,
        backup: Option<&BString>,
    ) -> Result<(), ToolError> {
        let arrow: &[u8] = if self.symbolic { b" -> " } else { b" => " };
        let (name, text) = (quoted(name), quoted(text));
        let backup = backup.map(|backup| quoted(backup.as_bstr()));
        let mut parts: Vec<&[u8]> = Vec::new();
        if let Some(backup) = &backup {
            parts.extend([backup.as_slice(), b" ~ "]);
        }
        parts.extend([name.as_slice(), arrow, &text]);
        tell(context, &parts)
    }
}

/// The target is the very entry that would be replaced, not another name of the same file.
fn is_only_name(
    context: &Context<'_>,
    target: &BStr,
    name: &BStr,
    old: &Metadata,
    found: Option<&Metadata>,
) -> bool {
    let there = match found {
        Some(found) => Some(*found),
        None => operations::metadata(context, target, Follow::Yes).ok(),
    };
    let only_name =
        |there: &Metadata| there.links == 1 || operations::is_same_entry(context, target, name);
    there.is_some_and(|there| is_same(&there, old) && only_name(&there))
}

/// The way from a directory to a path; both absolute and without `.` and `..`.
fn relative(path: &BStr, directory: &BStr) -> BString {
    let parts = |path: &BStr| -> Vec<BString> {
        path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).map(Into::into).collect()
    };
    let (path, directory) = (parts(path), parts(directory));
    let common = path.iter().zip(&directory).take_while(|(one, other)| one == other).count();
    let mut steps: Vec<BString> = vec!["..".into(); directory.len() - common];
    steps.extend(path.into_iter().skip(common));
    if steps.is_empty() {
        return ".".into();
    }
    bstr::join("/", steps).into()
}
