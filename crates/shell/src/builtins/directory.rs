//! Changing the working directory, for `cd`, `pushd` and `popd`; and the stack of directories.

use std::borrow::Cow;
use std::io;

use bstr::{BStr, BString, ByteSlice};

use crate::errno;
use crate::filesystem::{Access, Follow, MayMiss};
use crate::shell::Shell;
use crate::status::Running;

/// How `..` and symbolic links are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// `..` takes back the last name, even if that was a link.
    Logical,
    /// Links are resolved first.
    Physical,
}

impl Way {
    /// `-P` and `-L`, the last one given; else `set -P`.
    pub fn chosen(shell: &Shell, given: Option<&str>) -> Self {
        let default = if shell.options.physical { "P" } else { "L" };
        if given.unwrap_or(default) == "P" { Way::Physical } else { Way::Logical }
    }
}

impl Shell {
    /// Where a path leads, if that is a directory one can go to.
    pub(super) fn find_directory(&self, path: &BStr, way: Way) -> io::Result<BString> {
        let absolute = self.absolute(path);
        let files = self.host.files();
        let found = match way {
            Way::Logical => self.without_dots(absolute.as_bstr())?,
            Way::Physical => files.canonicalize(absolute.as_bstr(), MayMiss::Nothing)?,
        };
        let metadata = files.metadata(found.as_bstr(), Follow::Yes)?;
        if !metadata.is_directory() {
            return Err(errno::error(errno::ENOTDIR));
        }
        files.access(found.as_bstr(), Access::Execute)?;
        Ok(found)
    }

    /// The path without `.` and `..` and doubled slashes. What `..` takes back must be a directory.
    fn without_dots(&self, path: &BStr) -> io::Result<BString> {
        let mut clean: Vec<u8> = Vec::with_capacity(path.len());
        for name in path.split(|byte| *byte == b'/') {
            match name {
                b"" | b"." => {}
                b".." => {
                    // Out of a directory that is gone there is a way up.
                    if !clean.is_empty() && clean != self.directory.as_bytes() {
                        let metadata = self.host.files().metadata(clean.as_bstr(), Follow::Yes)?;
                        if !metadata.is_directory() {
                            return Err(errno::error(errno::ENOTDIR));
                        }
                    }
                    clean.truncate(clean.rfind_byte(b'/').unwrap_or(0));
                }
                name => {
                    clean.push(b'/');
                    clean.extend_from_slice(name);
                }
            }
        }
        if clean.is_empty() {
            clean.push(b'/');
        }
        Ok(clean.into())
    }

    /// Makes it the working directory; `PWD` and `OLDPWD` follow. `false`: one of them is read-only (printed).
    pub(super) fn enter_directory(&mut self, directory: BString) -> Running<bool> {
        let old = self.scalar_of("PWD".into()).map(Cow::into_owned);
        let old = old.unwrap_or_else(|| self.directory.clone());
        self.directory = directory.clone();
        let kept = self.try_assign_scalar("OLDPWD".into(), old)?;
        Ok(self.try_assign_scalar("PWD".into(), directory)? && kept)
    }

    /// The current directory and those beneath it, as `dirs` shows them: with `~` unless `long`.
    pub(crate) fn shown_directory_stack(&self, long: bool) -> Vec<BString> {
        let home = self.scalar_of("HOME".into()).unwrap_or_default();
        std::iter::once(&self.directory)
            .chain(self.directory_stack.iter().rev())
            .map(|path| if long { path.clone() } else { with_tilde(path.as_bstr(), &home) })
            .collect()
    }

    /// `pushd: x: No such file or directory`
    pub(super) fn complain_of_directory(&self, builtin: &str, operand: &BStr, error: &io::Error) {
        let start = format!("{builtin}: ");
        let text = format!(": {}", errno::text(error));
        let shown = self.as_written(operand);
        self.complain([start.as_bytes(), shown, text.as_bytes()].concat());
    }
}

fn with_tilde(path: &BStr, home: &BStr) -> BString {
    match path.strip_prefix(home.as_bytes()) {
        Some(rest) if home.len() > 1 && (rest.is_empty() || rest.starts_with(b"/")) => {
            [b"~", rest].concat().into()
        }
        _ => path.into(),
    }
}

/// A place in the stack of directories: `+N` counts from the left of what `dirs` shows, `-N` from the right.
/// `None`: not of that form.
pub(super) fn parse_place(text: &BStr) -> Option<Place> {
    let (from_left, digits) = match text.split_first()? {
        (b'+', digits) => (true, digits),
        (b'-', digits) => (false, digits),
        _ => return None,
    };
    let number = super::read::parse_number(digits.as_bstr())?;
    Some(Place { from_left, number })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    from_left: bool,
    pub number: u64,
}

impl Place {
    /// Counted from the left, among so many; `None`: outside.
    pub fn within(self, count: usize) -> Option<usize> {
        let number = usize::try_from(self.number).ok().filter(|number| *number < count)?;
        Some(if self.from_left { number } else { count - 1 - number })
    }
}
