//! Copying files and trees: the engine of `cp`, and of `mv` where a rename cannot do.
//!
//! Names are carried as the user wrote them, for messages; every operation goes through the file system by path,
//! one step at a time, and none of them leaves it.

mod attributes;
mod data;
mod directory;
mod existing;
mod options;
mod special;

use std::collections::{HashMap, HashSet};

use bstr::{BStr, BString, ByteSlice};

use super::super::{Context, ToolError};
use super::backup::Backup;
use super::quote::quoted;
use super::{fail, metadata, path, say, tell};
use crate::filesystem::{FileKind, Follow, Metadata};

pub(in crate::builtins) use options::{
    Dereference, Make, Options, Overwrite, Preserve, Sparse, Update,
};

/// One run of a command: what was copied so far decides what a later name means.
pub(in crate::builtins) struct Copier {
    pub options: Options,
    /// Where files with several names went, to keep them one file.
    linked: HashMap<Identity, BString>,
    /// Command-line sources seen so far, with the name they get: naming one twice is a slip.
    sources: HashSet<(Identity, BString)>,
    /// Files made for command-line sources: a second source must not overwrite them.
    made: HashSet<Identity>,
    /// Where directories of the command line went: to meet one of these as a source again means that a copy has met
    /// itself, or that the user has named something twice.
    directories: HashMap<Identity, BString>,
    /// Every directory made so far: to meet one of these as a source means that a copy has met itself. Remembering
    /// only the first would not do: in the order of inodes a later one may be met before it, without end.
    made_directories: HashSet<Identity>,
    /// The copy of the current source met itself: there is no point in going on.
    met_itself: bool,
    top_source: BString,
    top_target: BString,
}

type Identity = (u64, u64);

fn identity(metadata: &Metadata) -> Identity {
    (metadata.device, metadata.inode)
}

/// Something to copy, and what there is at its destination.
struct Pair<'a> {
    source: &'a BStr,
    target: &'a BStr,
    from: Metadata,
    /// What is at the target, as far as copying minds it; `None`: the name is free.
    to: Option<Metadata>,
    /// Named by the user, not found in a directory.
    top: bool,
}

/// What a step decided.
enum Step {
    Continue,
    /// Nothing more to do here; whether that is a success.
    Done(bool),
}

impl Copier {
    pub(in crate::builtins) fn new(options: Options) -> Self {
        Copier {
            options,
            linked: HashMap::new(),
            sources: HashSet::new(),
            made: HashSet::new(),
            directories: HashMap::new(),
            made_directories: HashSet::new(),
            met_itself: false,
            top_source: BString::default(),
            top_target: BString::default(),
        }
    }

    /// Copies a source that the user named. `false`: something was reported.
    pub(in crate::builtins) fn copy(
        &mut self,
        context: &mut Context<'_>,
        source: &BStr,
        target: &BStr,
    ) -> Result<bool, ToolError> {
        self.met_itself = false;
        self.top_source = source.into();
        self.top_target = target.into();
        self.copy_entry(context, source, target, &mut Vec::new())
    }

    /// `above` holds the directories being copied; empty for what the user named.
    fn copy_entry(
        &mut self,
        context: &mut Context<'_>,
        source: &BStr,
        target: &BStr,
        above: &mut Vec<Identity>,
    ) -> Result<bool, ToolError> {
        context.control().check()?;
        let top = above.is_empty();
        let from = match metadata(context, source, self.options.dereference.for_source(top)) {
            Ok(from) => from,
            Err(error) => {
                fail(context, "cannot stat", source, &error);
                return Ok(false);
            }
        };
        if from.is_directory() && !self.options.recursive {
            let why = if self.options.recursion_excluded { "" } else { "-r not specified; " };
            say(context, &[why.as_bytes(), b"omitting directory ", &quoted(source)]);
            return Ok(false);
        }
        if top && !from.is_directory() && self.is_repeated(context, source, target, &from) {
            return Ok(true);
        }
        let mut pair = Pair { source, target, from, to: None, top };
        if let Step::Done(success) = self.look_at_target(context, &mut pair)? {
            return Ok(success);
        }
        if from.is_directory() {
            return self.copy_directory(context, &pair, above);
        }
        self.copy_other(context, &mut pair)
    }

    /// The user named the same file twice, and it would go to the same place.
    fn is_repeated(
        &mut self,
        context: &mut Context<'_>,
        source: &BStr,
        target: &BStr,
        from: &Metadata,
    ) -> bool {
        let key = (identity(from), BString::from(path::without_slashes(target)));
        if self.options.backup.is_some() || self.sources.insert(key) {
            return false;
        }
        say(context, &[b"warning: source file ", &quoted(source), b" specified more than once"]);
        true
    }

    /// Everything but a directory.
    fn copy_other(
        &mut self,
        context: &mut Context<'_>,
        pair: &mut Pair<'_>,
    ) -> Result<bool, ToolError> {
        let backup = match self.clear_target(context, pair)? {
            Ok(backup) => backup,
            Err(success) => return Ok(success),
        };
        // A move does not mention the further names of a file that it has copied.
        if self.options.verbose && !self.options.moving {
            self.announce(context, pair, backup.as_ref())?;
        }
        if let Some(done) = self.link_to_earlier(context, pair)? {
            return Ok(done);
        }
        if self.options.verbose && self.options.moving {
            self.announce(context, pair, None)?;
        }
        let success = self.make_copy(context, pair)?;
        match backup {
            Some(backup) if !success => Backup::undo(context, backup.as_bstr(), pair.target),
            _ if success => self.remember(context, pair),
            _ => {}
        }
        Ok(success)
    }

    fn make_copy(&self, context: &mut Context<'_>, pair: &Pair<'_>) -> Result<bool, ToolError> {
        Ok(match (self.options.make, pair.from.kind) {
            (Make::HardLink, kind) if kind != FileKind::Symlink || !self.follows(pair.top) => {
                self.make_hard_link(context, pair)
            }
            (Make::SymbolicLink, _) => self.make_symbolic_link(context, pair),
            (_, FileKind::Symlink) => self.copy_symlink(context, pair),
            (_, FileKind::File) => self.copy_data(context, pair)?,
            _ if !self.options.recursive => self.copy_data(context, pair)?,
            _ => self.copy_special(context, pair),
        })
    }

    fn announce(
        &self,
        context: &mut Context<'_>,
        pair: &Pair<'_>,
        backup: Option<&BString>,
    ) -> Result<(), ToolError> {
        let (source, target) = (quoted(pair.source), quoted(pair.target));
        let verb: &[u8] = if self.options.moving { b"copied " } else { b"" };
        let mut parts: Vec<&[u8]> = vec![verb, &source, b" -> ", &target];
        let backup = backup.map(|backup| quoted(backup.as_bstr()));
        if let Some(backup) = &backup {
            parts.extend([b" (backup: ".as_slice(), backup, b")"]);
        }
        tell(context, &parts)
    }

    /// Remembers what was made, for the sources that follow.
    fn remember(&mut self, context: &Context<'_>, pair: &Pair<'_>) {
        if !pair.top {
            return;
        }
        let path = context.path(pair.target);
        if let Ok(made) = context.files().metadata(path.as_bstr(), Follow::No) {
            self.made.insert(identity(&made));
        }
    }

    fn follows(&self, top: bool) -> bool {
        self.options.dereference.for_source(top) == Follow::Yes
    }
}
