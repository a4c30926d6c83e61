//! Putting something new in the place of an old name in one step: made beside it, then renamed over it.
//!
//! At no moment is the name missing, and if making fails the old thing is still there.

use std::io;

use bstr::{BStr, BString, ByteSlice};

use super::super::Context;
use super::path;
use crate::errno;

/// Chances to meet a name that is taken are nil unless somebody makes them on purpose.
const TRIES: u32 = 16;

/// `make` creates something at the path it is given, which does not exist; then it becomes `name`.
pub(in crate::builtins) fn replace(
    context: &Context<'_>,
    name: &BStr,
    mut make: impl FnMut(&BStr) -> io::Result<()>,
) -> io::Result<()> {
    let target = context.path(path::without_slashes(name));
    for _ in 0..TRIES {
        let beside = temporary_name(context, target.as_bstr());
        match make(beside.as_bstr()) {
            Err(error) if errno::is(&error, errno::EEXIST) => continue,
            result => result?,
        }
        let renamed = context.files().rename(beside.as_bstr(), target.as_bstr(), true);
        if renamed.is_err() {
            // The error of the rename is the one to report; the stray goes where deleted things go.
            let _stray = context.files().trash(beside.as_bstr());
        }
        return renamed;
    }
    Err(errno::error(errno::EEXIST))
}

/// A hidden name in the same directory.
fn temporary_name(context: &Context<'_>, target: &BStr) -> BString {
    let name = format!(".{}-{:016x}", context.name, context.host().random());
    path::join(path::parent(target), name.as_bytes().as_bstr())
}
