//! Links and special files.

use std::io;

use bstr::{BStr, ByteSlice};

use super::super::super::{Context, ToolError};
use super::super::quote::quoted;
use super::super::{fail, replace, say};
use super::{Copier, Make, Pair, identity};
use crate::errno;
use crate::filesystem::{FileKind, Follow};

impl Copier {
    /// A file met before under another name becomes a link to its copy. `None`: it was not met before.
    pub(super) fn link_to_earlier(
        &mut self,
        context: &mut Context<'_>,
        pair: &Pair<'_>,
    ) -> Result<Option<bool>, ToolError> {
        let several = pair.from.links > 1 || self.follows(pair.top);
        if !self.options.preserve.links || !several || self.options.make != Make::Copies {
            return Ok(None);
        }
        let key = identity(&pair.from);
        let Some(earlier) = self.linked.get(&key) else {
            self.linked.insert(key, pair.target.into());
            return Ok(None);
        };
        let existing = context.path(earlier.as_bstr());
        let linked = make(context, pair, |context, path| {
            context.files().create_hard_link(existing.as_bstr(), path)
        });
        if let Err(error) = &linked {
            let (target, earlier) = (quoted(pair.target), quoted(earlier.as_bstr()));
            let reason = errno::text(error);
            let what = b"cannot create hard link ";
            say(context, &[what, &target, b" to ", &earlier, b": ", reason.as_bytes()]);
        }
        Ok(Some(linked.is_ok()))
    }

    pub(super) fn make_hard_link(&self, context: &mut Context<'_>, pair: &Pair<'_>) -> bool {
        let mut existing = context.path(pair.source);
        if self.follows(pair.top) {
            let missing = crate::filesystem::MayMiss::Nothing;
            match context.files().canonicalize(existing.as_bstr(), missing) {
                Ok(canonical) => existing = canonical,
                Err(error) => {
                    fail(context, "cannot stat", pair.source, &error);
                    return false;
                }
            }
        }
        if pair.to.is_some() && !self.may_replace() {
            return exists(context, pair, b"cannot create hard link ");
        }
        let linked = make(context, pair, |context, path| {
            context.files().create_hard_link(existing.as_bstr(), path)
        });
        reported(context, pair, b"cannot create hard link ", linked)
    }

    /// `-s`. A relative name means something else in another directory.
    pub(super) fn make_symbolic_link(&self, context: &mut Context<'_>, pair: &Pair<'_>) -> bool {
        if !pair.source.starts_with(b"/") && pair.target.contains(&b'/') {
            let parent = context.path(super::super::path::parent(pair.target));
            let directory = context.path(BStr::new("."));
            let files = context.files();
            let places = [parent, directory]
                .map(|path| files.metadata(path.as_bstr(), Follow::Yes).ok())
                .map(|found| found.as_ref().map(identity));
            if places[0] != places[1] {
                let what = b": can make relative symbolic links only in current directory";
                say(context, &[pair.target, what]);
                return false;
            }
        }
        if pair.to.is_some() && !self.may_replace() {
            return exists(context, pair, b"cannot create symbolic link ");
        }
        let source = pair.source;
        let linked =
            make(context, pair, |context, path| context.files().create_symlink(source, path));
        reported(context, pair, b"cannot create symbolic link ", linked)
    }

    /// A copy of the link itself.
    pub(super) fn copy_symlink(&self, context: &mut Context<'_>, pair: &Pair<'_>) -> bool {
        let text = match context.files().read_link(context.path(pair.source).as_bstr()) {
            Ok(text) => text,
            Err(error) => {
                fail(context, "cannot read symbolic link", pair.source, &error);
                return false;
            }
        };
        let linked = make(context, pair, |context, path| {
            context.files().create_symlink(text.as_bstr(), path)
        });
        match linked {
            Ok(()) => self.keep_attributes(context, pair),
            Err(error) => {
                fail(context, "cannot create symbolic link", pair.target, &error);
                false
            }
        }
    }

    /// A fifo can be made anew; devices and sockets cannot.
    pub(super) fn copy_special(&self, context: &mut Context<'_>, pair: &Pair<'_>) -> bool {
        let mode = context.masked(pair.from.permissions & 0o777);
        let made = match pair.from.kind {
            FileKind::Fifo => {
                make(context, pair, |context, path| context.files().create_fifo(path, mode))
            }
            _ => Err(errno::error(errno::EPERM)),
        };
        match made {
            Ok(()) => self.keep_attributes(context, pair),
            Err(error) => {
                let fifo = pair.from.kind == FileKind::Fifo;
                let what = if fifo { "cannot create fifo" } else { "cannot create special file" };
                fail(context, what, pair.target, &error);
                false
            }
        }
    }

    fn may_replace(&self) -> bool {
        self.options.force || self.options.remove_destination
    }
}

fn exists(context: &mut Context<'_>, pair: &Pair<'_>, what: &[u8]) -> bool {
    reported(context, pair, what, Err(errno::error(errno::EEXIST)))
}

/// Reports a failure to make a link; whether there was none.
fn reported(context: &mut Context<'_>, pair: &Pair<'_>, what: &[u8], done: io::Result<()>) -> bool {
    let Err(error) = done else { return true };
    if errno::is(&error, errno::ENOENT) {
        context.complain_of(pair.target, &error);
        return false;
    }
    let (source, target) = (quoted(pair.source), quoted(pair.target));
    let reason = errno::text(&error);
    say(context, &[what, &target, b" to ", &source, b": ", reason.as_bytes()]);
    false
}

/// Makes something at the target; what is there already is replaced in one step.
fn make(
    context: &Context<'_>,
    pair: &Pair<'_>,
    make: impl Fn(&Context<'_>, &BStr) -> io::Result<()>,
) -> io::Result<()> {
    if pair.to.is_some() {
        return replace::replace(context, pair.target, |beside| make(context, beside));
    }
    make(context, context.path(pair.target).as_bstr())
}
