//! Whole directories: made, filled, and only then given the mode and times of the original.

use bstr::{BStr, ByteSlice};

use super::super::super::{Context, ToolError};
use super::super::quote::quoted;
use super::super::{entries_by_inode, fail, is_same_entry, path, say, tell};
use super::{Copier, Dereference, Identity, Pair, identity};
use crate::errno;
use crate::filesystem::{Follow, Metadata};

/// Trees may be deeper than the stack of a pipeline's thread.
const RED_ZONE: usize = 128 << 10;
const STACK: usize = 1 << 20;

impl Copier {
    pub(super) fn copy_directory(
        &mut self,
        context: &mut Context<'_>,
        pair: &Pair<'_>,
        above: &mut Vec<Identity>,
    ) -> Result<bool, ToolError> {
        let own = identity(&pair.from);
        if let Some(done) = self.was_met_before(context, pair) {
            return Ok(done);
        }
        if above.contains(&own) && self.options.dereference != Dereference::Never {
            say(context, &[b"cannot copy cyclic symbolic link ", &quoted(pair.source)]);
            return Ok(false);
        }
        let made = pair.to.is_none();
        if made && !self.make_directory(context, pair)? {
            return Ok(false);
        }
        above.push(own);
        let filled = stacker::maybe_grow(RED_ZONE, STACK, || self.fill(context, pair, above));
        above.pop();
        let kept = self.keep_directory_attributes(context, pair, made);
        Ok(filled? && kept)
    }

    /// A directory that this command has made or copied already. `None`: go on.
    fn was_met_before(&mut self, context: &mut Context<'_>, pair: &Pair<'_>) -> Option<bool> {
        let key = identity(&pair.from);
        if self.made_directories.contains(&key) {
            return Some(self.has_met_itself(context));
        }
        let Some(earlier) = self.directories.get(&key).cloned() else {
            if pair.top {
                self.directories.insert(key, pair.target.into());
            }
            return None;
        };
        if is_same_entry(context, pair.source, earlier.as_bstr()) {
            return Some(self.has_met_itself(context));
        }
        let name = quoted(pair.source);
        if is_same_entry(context, pair.target, earlier.as_bstr()) {
            say(context, &[b"warning: source directory ", &name, b" specified more than once"]);
            return Some(true);
        }
        if self.follows(pair.top) {
            return None;
        }
        let (target, earlier) = (quoted(pair.target), quoted(earlier.as_bstr()));
        let what = b"will not create hard link ";
        say(context, &[what, &target, b" to directory ", &earlier]);
        Some(false)
    }

    /// Says so; there is no success in it.
    fn has_met_itself(&mut self, context: &mut Context<'_>) -> bool {
        self.met_itself = true;
        let (source, target) = (&self.top_source, &self.top_target);
        let (source, target) = (quoted(source.as_bstr()), quoted(target.as_bstr()));
        say(context, &[b"cannot copy a directory, ", &source, b", into itself, ", &target]);
        false
    }

    fn make_directory(
        &mut self,
        context: &mut Context<'_>,
        pair: &Pair<'_>,
    ) -> Result<bool, ToolError> {
        let path = context.path(pair.target);
        // Ours to fill, whatever the original allows.
        let mode = self.new_mode(context, pair) | 0o700;
        let made = context.files().create_directory(path.as_bstr(), mode);
        if let Err(error) = made {
            fail(context, "cannot create directory", pair.target, &error);
            return Ok(false);
        }
        if let Ok(found) = context.files().metadata(path.as_bstr(), Follow::No) {
            self.made_directories.insert(identity(&found));
        }
        if self.options.verbose {
            let (source, target) = (quoted(pair.source), quoted(pair.target));
            if self.options.moving {
                tell(context, &[b"created directory ", &target])?;
            } else {
                tell(context, &[&source, b" -> ", &target])?;
            }
        }
        Ok(true)
    }

    fn fill(
        &mut self,
        context: &mut Context<'_>,
        pair: &Pair<'_>,
        above: &mut Vec<Identity>,
    ) -> Result<bool, ToolError> {
        let names = match entries_by_inode(context, pair.source) {
            Ok(names) => names,
            Err(error) => {
                fail(context, "cannot access", pair.source, &error);
                return Ok(false);
            }
        };
        let mut success = true;
        for name in names {
            let source = path::join(pair.source, name.as_bstr());
            if self.is_elsewhere(context, source.as_bstr(), &pair.from) {
                continue;
            }
            let target = path::join(pair.target, name.as_bstr());
            success &= self.copy_entry(context, source.as_bstr(), target.as_bstr(), above)?;
            if self.met_itself {
                break;
            }
        }
        Ok(success)
    }

    /// `-x`: on another file system than the directory it is in.
    fn is_elsewhere(&self, context: &Context<'_>, source: &BStr, parent: &Metadata) -> bool {
        self.options.one_file_system
            && context
                .files()
                .metadata(context.path(source).as_bstr(), Follow::No)
                .is_ok_and(|found| found.is_directory() && found.device != parent.device)
    }

    fn keep_directory_attributes(
        &self,
        context: &mut Context<'_>,
        pair: &Pair<'_>,
        made: bool,
    ) -> bool {
        if made && !self.options.preserve.mode {
            let mode = self.new_mode(context, pair);
            let path = context.path(pair.target);
            if mode & 0o700 != 0o700
                && let Err(error) = context.files().set_mode(path.as_bstr(), mode, Follow::No)
                && !errno::is(&error, errno::ENOENT)
            {
                fail(context, "preserving permissions for", pair.target, &error);
                return false;
            }
        }
        self.keep_attributes(context, pair)
    }
}
