//! Backups of what would be overwritten: `-b`, `--backup=numbered`, `-S`.

use std::io;

use bstr::{BStr, BString, ByteSlice};

use super::super::{Context, ToolError};
use super::{choice, path};
use crate::arguments::Arguments;
use crate::errno;
use crate::filesystem::Follow;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::builtins) struct Backup {
    method: Method,
    suffix: BString,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    /// `a~`, always the same name.
    Simple,
    /// `a.~1~`, `a.~2~`, …
    Numbered,
    /// Numbered where there are numbered ones already.
    Existing,
}

const METHODS: [&[&str]; 4] =
    [&["none", "off"], &["simple", "never"], &["existing", "nil"], &["numbered", "t"]];

impl Backup {
    /// From the options `b` (`--backup`) and `S` (`--suffix`). A suffix alone asks for a backup, too.
    pub(in crate::builtins) fn of(
        context: &Context<'_>,
        arguments: &Arguments,
    ) -> Result<Option<Self>, ToolError> {
        if !arguments.has("b") && !arguments.has("S") {
            return Ok(None);
        }
        let variable = context.variable("VERSION_CONTROL");
        // `-b` has no value and does not take back one that was given.
        let (option, value) = match (arguments.values("b").last(), &variable) {
            (Some(value), _) => ("backup type", Some(value)),
            (None, variable) => {
                ("$VERSION_CONTROL", variable.as_ref().map(|value| value.as_bstr()))
            }
        };
        let row =
            value.map(|value| choice::choose(context, option, value, &METHODS)).transpose()?;
        let method = match row {
            Some(0) => return Ok(None),
            Some(1) => Method::Simple,
            Some(3) => Method::Numbered,
            _ => Method::Existing,
        };
        let suffix = arguments.value("S").map(BString::from);
        let suffix = suffix.or_else(|| context.variable("SIMPLE_BACKUP_SUFFIX"));
        let usable = |suffix: &BString| !suffix.is_empty() && !suffix.contains(&b'/');
        Ok(Some(Backup { method, suffix: suffix.filter(usable).unwrap_or_else(|| "~".into()) }))
    }

    /// Renames the file out of the way; gives its new name.
    pub(in crate::builtins) fn make(
        &self,
        context: &Context<'_>,
        name: &BStr,
    ) -> io::Result<BString> {
        let backup = self.name(context, name)?;
        let (from, to) = (context.path(name), context.path(backup.as_bstr()));
        context.files().rename(from.as_bstr(), to.as_bstr(), true)?;
        Ok(backup)
    }

    /// Takes a backup back: what was to take its place could not be made.
    pub(in crate::builtins) fn undo(context: &mut Context<'_>, backup: &BStr, name: &BStr) {
        let (from, to) = (context.path(backup), context.path(name));
        if let Err(error) = context.files().rename(from.as_bstr(), to.as_bstr(), false) {
            super::fail(context, "cannot un-backup", name, &error);
        }
    }

    fn name(&self, context: &Context<'_>, name: &BStr) -> io::Result<BString> {
        let name = path::without_slashes(name);
        let simple: BString = [name.as_bytes(), self.suffix.as_bytes()].concat().into();
        if self.method == Method::Simple {
            return Ok(simple);
        }
        match (self.method, highest_number(context, name)?) {
            (Method::Existing, 0) => Ok(simple),
            (_, highest) => {
                let next = highest.checked_add(1).ok_or_else(|| errno::error(errno::EFBIG))?;
                Ok([name.as_bytes(), format!(".~{next}~").as_bytes()].concat().into())
            }
        }
    }
}

/// The largest N of `name.~N~`; 0 if there is none.
fn highest_number(context: &Context<'_>, name: &BStr) -> io::Result<u64> {
    let directory = context.path(path::parent(name));
    let own = path::last(name);
    let number = |entry: &BStr| -> Option<u64> {
        let digits = entry.strip_prefix(&**own)?.strip_prefix(b".~")?.strip_suffix(b"~")?;
        digits.to_str().ok()?.parse().ok()
    };
    let entries = context.files().open_directory(directory.as_bstr(), Follow::Yes)?.entries()?;
    Ok(entries.iter().filter_map(|entry| number(entry.name.as_bstr())).max().unwrap_or(0))
}
