//! Modes, owners and times of copies.

use std::io;

use bstr::{BStr, ByteSlice};

use super::super::super::Context;
use super::super::fail;
use super::{Copier, Pair};
use crate::errno;
use crate::filesystem::Follow;

impl Copier {
    /// Permissions of something that is made: those of the original, as far as the umask lets them.
    pub(super) fn new_mode(&self, context: &Context<'_>, pair: &Pair<'_>) -> u32 {
        let directory = pair.from.is_directory();
        let wanted = match (self.options.preserve.default_mode, directory) {
            (true, true) => 0o777,
            (true, false) => 0o666,
            (false, true) => pair.from.permissions & 0o1777,
            (false, false) if pair.from.is_file() => pair.from.permissions & 0o777,
            // What a pipe or a device gives becomes an ordinary file.
            (false, false) => 0o666 & pair.from.permissions,
        };
        // Until the owner is right nobody else gets in.
        let owner_only = self.options.preserve.ownership && self.options.preserve.mode;
        context.masked(wanted) & if owner_only { 0o1700 } else { 0o1777 }
    }

    /// Gives the target what is to be kept of the original. `false`: something was reported.
    pub(super) fn keep_attributes(&self, context: &mut Context<'_>, pair: &Pair<'_>) -> bool {
        let preserve = self.options.preserve;
        let follow = if pair.from.is_symlink() { Follow::No } else { Follow::Yes };
        let mut success = true;
        if preserve.timestamps {
            let (accessed, modified) = (Some(pair.from.accessed), Some(pair.from.modified));
            let set = |context: &Context<'_>, path: &BStr| {
                context.files().set_times(path, accessed, modified, follow)
            };
            success &= keep(context, pair.target, "preserving times for", set);
        }
        let mut special = 0o7777;
        if preserve.ownership {
            let (user, group) = (Some(pair.from.user), Some(pair.from.group));
            let path = context.path(pair.target);
            // Only the superuser may give files away; others keep what they may, as GNU does.
            if context.files().set_owner(path.as_bstr(), user, group, follow).is_err() {
                special = 0o1777;
            }
        }
        if preserve.mode && !pair.from.is_symlink() {
            let mode = pair.from.permissions & special;
            let set =
                |context: &Context<'_>, path: &BStr| context.files().set_mode(path, mode, follow);
            success &= keep(context, pair.target, "preserving permissions for", set);
        }
        success
    }
}

fn keep(
    context: &mut Context<'_>,
    target: &BStr,
    doing: &str,
    set: impl Fn(&Context<'_>, &BStr) -> io::Result<()>,
) -> bool {
    let path = context.path(target);
    match set(context, path.as_bstr()) {
        Ok(()) => true,
        Err(error) if errno::is(&error, errno::EOPNOTSUPP) => true,
        Err(error) => {
            fail(context, doing, target, &error);
            false
        }
    }
}
