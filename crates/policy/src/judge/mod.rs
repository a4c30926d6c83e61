//! Puts the pieces together: events and actions in, findings out, the strictest wins.

use bstr::{BStr, BString};

use crate::event::Access;

/// S3 §2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Profile {
    Safe,
    #[default]
    Dev,
    FullAuto,
}

/// What is about to happen, every word known.
#[derive(Debug, Clone, Copy)]
pub enum Action<'a> {
    Run {
        argv: &'a [BString],
        /// What differs from the environment the session began with; only programs see it.
        environment: &'a [(BString, BString)],
        directory: &'a BStr,
    },
    Open {
        path: &'a BStr,
        access: Access,
    },
}

#[derive(Debug)]
pub struct Policy {}
