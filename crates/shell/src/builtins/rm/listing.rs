//! The lines of `rm -v`.

use bstr::{BStr, ByteSlice};

use super::super::operations::path;
use super::super::operations::quote::quoted;
use super::super::{Context, ToolError};
use super::children;
use crate::filesystem::Follow;

/// The lines of `rm -rv`: what is in a directory comes before the directory.
pub(in crate::builtins) fn listing(
    context: &Context<'_>,
    name: &BStr,
) -> Result<Vec<u8>, ToolError> {
    let mut lines = Vec::new();
    list(context, name, &mut lines)?;
    Ok(lines)
}

fn list(context: &Context<'_>, name: &BStr, lines: &mut Vec<u8>) -> Result<(), ToolError> {
    context.control().check()?;
    let path = context.path(name);
    let found = context.files().metadata(path.as_bstr(), Follow::No);
    let is_directory = found.is_ok_and(|found| found.is_directory());
    if is_directory {
        for child in children(context, name) {
            let child = path::join(name, child.as_bstr());
            stacker::maybe_grow(128 << 10, 1 << 20, || list(context, child.as_bstr(), lines))?;
        }
    }
    lines.extend(removed_line(name, is_directory));
    Ok(())
}

pub(super) fn removed_line(name: &BStr, is_directory: bool) -> Vec<u8> {
    let what: &[u8] = if is_directory { b"removed directory " } else { b"removed " };
    [what, &quoted(name), b"\n"].concat()
}
