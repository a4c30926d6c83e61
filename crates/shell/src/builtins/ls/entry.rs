//! One thing to list.

use bstr::BString;

use crate::dates::Moment;
use crate::filesystem::{FileKind, Metadata};

use super::options::TimeKind;

#[derive(Debug)]
pub(super) struct Entry {
    /// As it is shown.
    pub(super) name: BString,
    /// An operand as it was given.
    pub(super) given: BString,
    pub(super) kind: FileKind,
    /// Only if it was asked for; `None` then means that it could not be found out.
    pub(super) metadata: Option<Metadata>,
    /// Of a symbolic link.
    pub(super) target: Option<BString>,
    pub(super) target_metadata: Option<Metadata>,
}

impl Entry {
    pub(super) fn new(name: BString, kind: FileKind) -> Entry {
        Entry {
            name,
            given: BString::default(),
            kind,
            metadata: None,
            target: None,
            target_metadata: None,
        }
    }

    /// Is it listed by what is in it, as an operand?
    pub(super) fn is_listed_directory(&self) -> bool {
        self.kind == FileKind::Directory
    }

    /// A directory or a link to one.
    pub(super) fn leads_to_directory(&self) -> bool {
        self.kind == FileKind::Directory
            || self.target_metadata.is_some_and(|metadata| metadata.is_directory())
    }

    pub(super) fn size(&self) -> u64 {
        self.metadata.map_or(0, |metadata| metadata.size)
    }

    pub(super) fn time(&self, kind: TimeKind) -> Option<Moment> {
        let metadata = self.metadata.as_ref()?;
        let time = match kind {
            TimeKind::Modified => metadata.modified,
            TimeKind::Changed => metadata.changed,
            TimeKind::Accessed => metadata.accessed,
            TimeKind::Created => metadata.created?,
        };
        Some(Moment::from(time))
    }
}
