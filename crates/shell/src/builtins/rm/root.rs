//! What `rm` must never take: the project's root and everything it is in.

use bstr::{BStr, ByteSlice};

use super::super::Context;
use super::super::operations::quote::quoted;
use super::super::operations::{path, say};
use crate::filesystem::{Follow, MayMiss};

/// `..` at the root, `../..` one below it.
pub(super) fn climbs_out(context: &Context<'_>, operand: &BStr) -> bool {
    let absolute = path::normalized(context.path(operand).as_bstr());
    let root = path::normalized(context.files().root());
    path::is_dot_or_dot_dot(path::last(operand))
        && path::contains(absolute.as_bstr(), root.as_bstr())
}

/// The project's root, or a directory that the root is in, by whatever name. Such a directory need not be visible
/// to be recognised: the script knows where it runs.
pub(super) fn is_root_or_above(context: &Context<'_>, operand: &BStr) -> bool {
    if operand.is_empty() || path::is_dot_or_dot_dot(path::last(operand)) {
        return false;
    }
    let files = context.files();
    let absolute = path::normalized(context.path(operand).as_bstr());
    let root = path::normalized(files.root());
    if path::contains(absolute.as_bstr(), root.as_bstr()) {
        return true;
    }
    let link = files.metadata(context.path(operand).as_bstr(), Follow::No);
    link.is_ok_and(|found| found.is_directory()) && files.is_root(context.path(operand).as_bstr())
}

pub(super) fn refuse(context: &mut Context<'_>, operand: &BStr) {
    let path = context.path(operand);
    let canonical = context.files().canonicalize(path.as_bstr(), MayMiss::Everything);
    let absolute = canonical.unwrap_or_else(|_| path::normalized(path.as_bstr()));
    let (what, name) = (b"it is dangerous to operate recursively on ", quoted(operand));
    if path::without_slashes(operand) == absolute {
        say(context, &[what, &name]);
    } else {
        say(context, &[what, &name, b" (same as ", &quoted(absolute.as_bstr()), b")"]);
    }
}
