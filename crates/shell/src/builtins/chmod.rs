//! `chmod`: changes permissions.

use bstr::{BStr, BString, ByteSlice};

use super::operations::quote::quoted;
use super::operations::{self, fail, misuse, path, say, tell};
use super::{Command, Context, Run, ToolError};
use crate::arguments::{Arguments, OptionSpec, both, long};
use crate::errno;
use crate::filesystem::{FileKind, Follow, Metadata};
use crate::mode::{self, Mode};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 8] = [
    both('c', "c", "changes", "show what is changed"),
    both('f', "f", "silent", "say little about errors"),
    OptionSpec { id: "f", ..long("quiet", "the same") },
    both('v', "v", "verbose", "show every file"),
    long("no-preserve-root", "accepted and without effect"),
    long("preserve-root", "do not change the root recursively"),
    long("reference", "use the permissions of this file").takes("FILE"),
    both('R', "R", "recursive", "change directories with all they contain"),
];

pub static COMMAND: Command = Command {
    name: "chmod",
    synopsis: "chmod [OPTION]... MODE FILE...",
    summary: "change the permissions of files",
    options: &OPTIONS,
    run: Run::Tool(run),
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Telling {
    Nothing,
    Changes,
    Everything,
}

struct Changer {
    mode: Mode,
    recursive: bool,
    quiet: bool,
    telling: Telling,
    umask: u32,
    /// The mode looked like an option (`chmod -w f`): what the umask made of it is worth a word.
    warns: bool,
}

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let (words, written) = take_modes(words);
    let mut arguments = operations::parse(context, &OPTIONS, &words)?;
    let Some(mode) = find_mode(context, &mut arguments, written.as_ref())? else {
        return Ok(ExitStatus::FAILURE);
    };
    let telling = match arguments.last_of(&["c", "v"]) {
        Some("c") => Telling::Changes,
        Some(_) => Telling::Everything,
        None => Telling::Nothing,
    };
    let changer = Changer {
        mode,
        recursive: arguments.has("R"),
        quiet: arguments.has("f"),
        telling,
        umask: context.umask(),
        warns: written.is_some(),
    };
    let mut success = true;
    for operand in &arguments.operands {
        success &= changer.change(context, operand.as_bstr(), true)?;
    }
    Ok(ExitStatus::from_bool(success))
}

/// Words like `-x` are modes, not options. Gives the other words, and the modes joined as if by commas.
fn take_modes(words: &[BString]) -> (Vec<BString>, Option<BString>) {
    let mut rest = Vec::new();
    let mut modes: Vec<&[u8]> = Vec::new();
    let mut words = words.iter();
    for word in words.by_ref() {
        match word.as_slice() {
            b"--" => {
                rest.push(word.clone());
                break;
            }
            [b'-', letter, ..] if b"rwxXstugoa,+=01234567".contains(letter) => modes.push(word),
            _ => rest.push(word.clone()),
        }
    }
    rest.extend(words.cloned());
    let joined = (!modes.is_empty()).then(|| BString::from(modes.join(&b',')));
    (rest, joined)
}

/// From `--reference`, a word like an option, or the first operand. `None`: it was reported.
fn find_mode(
    context: &mut Context<'_>,
    arguments: &mut Arguments,
    written: Option<&BString>,
) -> Result<Option<Mode>, ToolError> {
    let reference = arguments.value("reference").map(BString::from);
    if reference.is_some() && written.is_some() {
        return Err(misuse(context, "cannot combine mode and --reference options"));
    }
    let needs_mode = reference.is_none() && written.is_none();
    if arguments.operands.is_empty() {
        let message = match written {
            Some(mode) => format!("missing operand after '{}'", mode.to_str_lossy()),
            None => "missing operand".to_owned(),
        };
        return Err(misuse(context, message));
    }
    let first = needs_mode.then(|| arguments.operands.remove(0));
    if let Some(mode) = first.as_ref().filter(|_| arguments.operands.is_empty()) {
        let message = format!("missing operand after '{}'", mode.to_str_lossy());
        return Err(misuse(context, message));
    }
    if let Some(text) = first.as_ref().or(written) {
        let message = || format!("invalid mode: '{}'", text.to_str_lossy());
        let mode = Mode::parse(text.as_bstr()).ok_or_else(|| misuse(context, message()))?;
        return Ok(Some(mode));
    }
    let name = reference.unwrap_or_default();
    match operations::metadata(context, name.as_bstr(), Follow::Yes) {
        Ok(found) => Ok(Some(Mode::exactly(found.permissions))),
        Err(error) => {
            fail(context, "failed to get attributes of", name.as_bstr(), &error);
            Ok(None)
        }
    }
}

impl Changer {
    /// `top`: named by the user, so that a link is followed. `false`: something was reported.
    fn change(&self, context: &mut Context<'_>, name: &BStr, top: bool) -> Result<bool, ToolError> {
        context.control().check()?;
        let follow = if top { Follow::Yes } else { Follow::No };
        let found = match operations::metadata(context, name, follow) {
            Ok(found) => found,
            Err(error) => return self.unreachable(context, name, &error),
        };
        if found.is_symlink() {
            if self.telling == Telling::Everything {
                let name = quoted(name);
                let what = b"neither symbolic link ";
                tell(context, &[what, &name, b" nor referent has been changed"])?;
            }
            return Ok(true);
        }
        let mut success = self.change_one(context, name, &found, follow)?;
        if self.recursive && found.is_directory() {
            success &= stacker::maybe_grow(128 << 10, 1 << 20, || self.descend(context, name))?;
        }
        Ok(success)
    }

    fn unreachable(
        &self,
        context: &mut Context<'_>,
        name: &BStr,
        error: &std::io::Error,
    ) -> Result<bool, ToolError> {
        let is_link = operations::metadata(context, name, Follow::No).is_ok();
        if !self.quiet {
            if is_link && errno::is(error, errno::ENOENT) {
                say(context, &[b"cannot operate on dangling symlink ", &quoted(name)]);
            } else {
                fail(context, "cannot access", name, error);
            }
        }
        if self.telling == Telling::Everything {
            tell(context, &[&quoted(name), b" could not be accessed"])?;
        }
        Ok(false)
    }

    fn change_one(
        &self,
        context: &mut Context<'_>,
        name: &BStr,
        found: &Metadata,
        follow: Follow,
    ) -> Result<bool, ToolError> {
        let old = found.permissions;
        let new = self.mode.apply(old, found.is_directory(), self.umask);
        let path = context.path(name);
        let changed = context.files().set_mode(path.as_bstr(), new, follow);
        let mut success = changed.is_ok();
        if let Err(error) = &changed
            && !self.quiet
        {
            fail(context, "changing permissions of", name, error);
        }
        self.tell_change(context, name, old, new, success)?;
        let expected = self.mode.apply(old, found.is_directory(), 0);
        if success && self.warns && new & !expected != 0 {
            let [new, expected] = [new, expected].map(letters);
            let text = format!(": new permissions are {new}, not {expected}");
            say(context, &[name, text.as_bytes()]);
            success = false;
        }
        Ok(success)
    }

    fn tell_change(
        &self,
        context: &mut Context<'_>,
        name: &BStr,
        old: u32,
        new: u32,
        success: bool,
    ) -> Result<(), ToolError> {
        let changed = success && old != new;
        let tells = match self.telling {
            Telling::Nothing => false,
            Telling::Changes => changed,
            Telling::Everything => true,
        };
        if !tells {
            return Ok(());
        }
        let name = quoted(name);
        let (before, after) = (letters(old), letters(new));
        let (verb, rest) = match (success, changed) {
            (true, false) => ("mode of ", format!(" retained as {new:04o} ({after})")),
            (true, true) => {
                ("mode of ", format!(" changed from {old:04o} ({before}) to {new:04o} ({after})"))
            }
            (false, _) => (
                "failed to change mode of ",
                format!(" from {old:04o} ({before}) to {new:04o} ({after})"),
            ),
        };
        tell(context, &[verb.as_bytes(), &name, rest.as_bytes()])
    }

    fn descend(&self, context: &mut Context<'_>, name: &BStr) -> Result<bool, ToolError> {
        let path = context.path(name);
        let opened = context.files().open_directory(path.as_bstr(), Follow::Yes);
        let entries = match opened.and_then(|directory| directory.entries()) {
            Ok(entries) => entries,
            Err(error) => {
                if !self.quiet {
                    fail(context, "cannot read directory", name, &error);
                }
                return Ok(false);
            }
        };
        let mut success = true;
        for entry in entries {
            let child = path::join(name, entry.name.as_bstr());
            success &= self.change(context, child.as_bstr(), false)?;
        }
        Ok(success)
    }
}

/// `rwxr-xr-x`
fn letters(permissions: u32) -> String {
    mode::permission_text(FileKind::File, permissions).split_off(1)
}
