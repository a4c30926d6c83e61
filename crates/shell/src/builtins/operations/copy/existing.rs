//! What is already at the destination: whether it may go, and who has to be asked.

use bstr::{BStr, BString, ByteSlice};

use super::super::super::{Context, ToolError};
use super::super::quote::quoted;
use super::super::{fail, is_same, is_same_entry, prompt, say, tell};
use super::{Copier, Make, Options, Overwrite, Pair, Step, Update, identity};
use crate::errno;
use crate::filesystem::{FileKind, Follow, Metadata};

impl Copier {
    /// Finds out what is at the target, and whether the source may take its place.
    pub(super) fn look_at_target(
        &mut self,
        context: &mut Context<'_>,
        pair: &mut Pair<'_>,
    ) -> Result<Step, ToolError> {
        let path = context.path(pair.target);
        let follow = if self.minds_the_link_itself(&pair.from) { Follow::No } else { Follow::Yes };
        let found = match context.files().metadata(path.as_bstr(), follow) {
            Ok(found) => found,
            Err(error) if errno::is(&error, errno::ENOENT) => {
                return Ok(self.look_at_free_name(context, pair));
            }
            Err(error) => {
                fail(context, "cannot stat", pair.target, &error);
                return Ok(Step::Done(false));
            }
        };
        pair.to = Some(found);
        if !pair.from.is_directory() && found.is_directory() && self.refuses_directory(pair) {
            let target = quoted(pair.target);
            say(context, &[b"cannot overwrite directory ", &target, b" with non-directory"]);
            return Ok(Step::Done(false));
        }
        if self.options.make == Make::HardLink && is_same(&pair.from, &found) {
            return Ok(Step::Done(true));
        }
        if self.is_same_file(context, pair, &found) {
            let (source, target) = (quoted(pair.source), quoted(pair.target));
            say(context, &[&source, b" and ", &target, b" are the same file"]);
            return Ok(Step::Done(false));
        }
        if pair.from.is_directory() {
            return Ok(self.check_directory_target(context, pair, &found));
        }
        self.check_overwrite(context, pair, &found)
    }

    fn refuses_directory(&self, pair: &Pair<'_>) -> bool {
        self.options.backup.is_none() && !pair.from.is_directory()
    }

    /// A copy of data writes through a link at the target; anything else takes the link's place.
    fn minds_the_link_itself(&self, from: &Metadata) -> bool {
        let options = &self.options;
        let copies_data = from.is_file() || (!options.recursive && !from.is_symlink());
        !copies_data
            || options.moving
            || options.make != Make::Copies
            || options.backup.is_some()
            || options.remove_destination
    }

    /// A dangling link is a trap: writing through it makes a file somewhere else.
    fn look_at_free_name(&self, context: &mut Context<'_>, pair: &Pair<'_>) -> Step {
        let path = context.path(pair.target);
        let link = context.files().metadata(path.as_bstr(), Follow::No);
        if pair.from.is_directory() || !link.is_ok_and(|link| link.is_symlink()) {
            return Step::Continue;
        }
        if self.options.force && self.options.make == Make::Copies {
            return Step::Continue;
        }
        say(context, &[b"not writing through dangling symlink ", &quoted(pair.target)]);
        Step::Done(false)
    }

    fn is_same_file(&self, context: &Context<'_>, pair: &Pair<'_>, found: &Metadata) -> bool {
        let Options { make, remove_destination, ref backup, .. } = self.options;
        if !is_same(&pair.from, found) {
            return false;
        }
        // Replacing one of several names of a file leaves the others alone.
        let replaces = remove_destination || backup.is_some() || make == Make::SymbolicLink;
        let is_other_name = || !is_same_entry(context, pair.source, pair.target);
        !(replaces && !pair.from.is_directory() && is_other_name())
    }

    fn check_directory_target(
        &self,
        context: &mut Context<'_>,
        pair: &Pair<'_>,
        found: &Metadata,
    ) -> Step {
        if found.is_directory() || (found.is_symlink() && self.leads_to_directory(context, pair)) {
            return Step::Continue;
        }
        let (source, target) = (quoted(pair.source), quoted(pair.target));
        say(context, &[b"cannot overwrite non-directory ", &target, b" with directory ", &source]);
        Step::Done(false)
    }

    fn leads_to_directory(&self, context: &Context<'_>, pair: &Pair<'_>) -> bool {
        let path = context.path(pair.target);
        let found = context.files().metadata(path.as_bstr(), Follow::Yes);
        !self.options.moving && pair.top && found.is_ok_and(|found| found.is_directory())
    }

    fn check_overwrite(
        &self,
        context: &mut Context<'_>,
        pair: &Pair<'_>,
        found: &Metadata,
    ) -> Result<Step, ToolError> {
        let options = &self.options;
        if options.update == Update::Older && found.modified >= pair.from.modified {
            return Ok(Step::Done(true));
        }
        match options.overwrite {
            Overwrite::Never => return Ok(Step::Done(true)),
            Overwrite::Ask if !options.moving => {
                if !self.ask(context, pair.target)? {
                    return Ok(Step::Done(true));
                }
            }
            Overwrite::Ask | Overwrite::Always => {}
        }
        if pair.top && options.backup.is_none() && self.made.contains(&identity(found)) {
            let (source, target) = (quoted(pair.source), quoted(pair.target));
            say(context, &[b"will not overwrite just-created ", &target, b" with ", &source]);
            return Ok(Step::Done(false));
        }
        Ok(Step::Continue)
    }

    fn ask(&self, context: &mut Context<'_>, target: &BStr) -> Result<bool, ToolError> {
        let name = quoted(target);
        if prompt::is_writable(context, target) {
            return prompt::ask(context, &[b"overwrite ", &name]);
        }
        let (number, text) = prompt::mode_texts(context, target);
        if self.options.force || self.options.remove_destination {
            let mode = format!(", overriding mode {number} ({text})");
            return prompt::ask(context, &[b"replace ", &name, mode.as_bytes()]);
        }
        let mode = format!(" (mode {number}, {text}); try anyway");
        prompt::ask(context, &[b"unwritable ", &name, mode.as_bytes()])
    }

    /// Moves the old file to its backup, or notes that it is to be replaced rather than written through.
    /// `Err`: it ended here, and whether that is a success.
    pub(super) fn clear_target(
        &self,
        context: &mut Context<'_>,
        pair: &mut Pair<'_>,
    ) -> Result<Result<Option<BString>, bool>, ToolError> {
        if pair.to.is_none() {
            return Ok(Ok(None));
        }
        if let Some(backup) = &self.options.backup {
            return Ok(match backup.make(context, pair.target) {
                Ok(name) => {
                    pair.to = None;
                    Ok(Some(name))
                }
                Err(error) => {
                    fail(context, "cannot backup", pair.target, &error);
                    Err(false)
                }
            });
        }
        if self.options.remove_destination && self.options.verbose {
            tell(context, &[b"removed ", &quoted(pair.target)])?;
        }
        Ok(Ok(None))
    }

    /// The old name is replaced by something new instead of being opened and written.
    pub(super) fn replaces(&self, pair: &Pair<'_>) -> bool {
        let Some(to) = &pair.to else { return false };
        let options = &self.options;
        let keeps_links = options.preserve.links && to.links > 1;
        options.remove_destination || options.moving || keeps_links || to.kind == FileKind::Symlink
    }
}
