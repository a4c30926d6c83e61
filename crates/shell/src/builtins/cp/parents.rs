//! `--parents`: the directories of a name are made beneath the target before the copy.

use bstr::{BStr, BString, ByteSlice};

use super::super::operations::copy::Copier;
use super::super::operations::{fail, metadata, path};
use super::super::{Context, ToolError};
use crate::errno;
use crate::filesystem::{Follow, Metadata};

pub(super) fn copy(
    context: &mut Context<'_>,
    copier: &mut Copier,
    source: &BStr,
    directory: &BStr,
) -> Result<bool, ToolError> {
    let name = path::without_slashes(source);
    let Some(made) = make_parents(context, copier, name, directory)? else { return Ok(false) };
    let target = beneath(directory, name);
    let copied = copier.copy(context, source, target.as_bstr())?;
    for (parent, original) in made.iter().rev() {
        finish(context, copier, parent.as_bstr(), original);
    }
    Ok(copied)
}

/// `/a/b` beneath `d` is `d/a/b`.
fn beneath(directory: &BStr, name: &BStr) -> BString {
    let start = name.iter().position(|byte| *byte != b'/').unwrap_or(name.len());
    path::join(directory, name.get(start..).unwrap_or_default().as_bstr())
}

/// Makes what is missing, outermost first. `None`: something was reported.
fn make_parents(
    context: &mut Context<'_>,
    copier: &Copier,
    name: &BStr,
    directory: &BStr,
) -> Result<Option<Vec<(BString, Metadata)>>, ToolError> {
    let mut made = Vec::new();
    let slashes = name.iter().enumerate().filter(|(at, byte)| **byte == b'/' && *at > 0);
    for (end, _) in slashes {
        let parent = name.get(..end).unwrap_or_default().as_bstr();
        if parent.ends_with(b"/") {
            continue;
        }
        let target = beneath(directory, parent);
        let path = context.path(target.as_bstr());
        let original = match metadata(context, parent, Follow::Yes) {
            Ok(original) => original,
            Err(error) => {
                fail(context, "failed to get attributes of", parent, &error);
                return Ok(None);
            }
        };
        let mode = context.masked(original.permissions & 0o777) | 0o700;
        match context.files().create_directory(path.as_bstr(), mode) {
            Ok(()) => {
                if copier.options.verbose {
                    context.output.line(&[parent.as_bytes(), b" -> ", &target].concat())?;
                }
                made.push((target, original));
            }
            Err(error) if errno::is(&error, errno::EEXIST) => {}
            Err(error) => {
                fail(context, "cannot make directory", target.as_bstr(), &error);
                return Ok(None);
            }
        }
    }
    Ok(Some(made))
}

/// What is kept of files is kept of their directories.
fn finish(context: &mut Context<'_>, copier: &Copier, name: &BStr, original: &Metadata) {
    let path = context.path(name);
    let path = path.as_bstr();
    let preserve = copier.options.preserve;
    let mut done = Ok(());
    if preserve.ownership {
        let (user, group) = (Some(original.user), Some(original.group));
        let _only_root_may = context.files().set_owner(path, user, group, Follow::Yes);
    }
    if preserve.mode {
        done = context.files().set_mode(path, original.permissions, Follow::Yes);
    } else if original.permissions & 0o700 != 0o700 {
        let mode = context.masked(original.permissions & 0o777);
        done = context.files().set_mode(path, mode, Follow::Yes);
    }
    if preserve.timestamps && done.is_ok() {
        let (accessed, modified) = (Some(original.accessed), Some(original.modified));
        done = context.files().set_times(path, accessed, modified, Follow::Yes);
    }
    if let Err(error) = done {
        fail(context, "failed to preserve attributes of", name, &error);
    }
}
