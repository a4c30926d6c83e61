//! What a command that waits for an approval would change: it runs apart, as far as that can do no harm, and is dropped.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use exacta::approvals::{Pending, Preview, Tried, When};
use exacta::gate::Face;
use exacta::{EngineError, Request, Session};

use crate::launch::Launch;

/// Nobody waits longer for a look at something.
const LONGEST: Duration = Duration::from_secs(60);

/// Why there is nothing to be seen.
#[derive(Debug)]
pub enum NoPreview {
    /// What it is was not kept.
    Redacted,
    /// It has run already, or is decided.
    Settled,
    /// It reaches out of the project, or cannot be undone.
    NotApart,
    Failed(EngineError),
}

impl fmt::Display for NoPreview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPreview::Redacted => {
                f.write_str("the command has a secret in it that was not kept: it cannot be tried")
            }
            NoPreview::Settled => {
                f.write_str("it is decided already, or was tried when it was asked")
            }
            NoPreview::NotApart => f.write_str(
                "it could change more than the project, or cannot be undone: it is not tried",
            ),
            NoPreview::Failed(error) => error.fmt(f),
        }
    }
}

/// Tries what the question is about. The session that asked is not there: its variables and functions are missing.
pub fn of(launch: Launch, pending: &Pending) -> Result<Tried, NoPreview> {
    if pending.redacted {
        return Err(NoPreview::Redacted);
    }
    if pending.tried.is_some() || pending.state != exacta::approvals::State::Pending {
        return Err(NoPreview::Settled);
    }
    let preview = Arc::new(Preview::default());
    let mut options = launch.session(Face::Run, Arc::clone(&preview) as _);
    if let Some(judgement) = &mut options.judgement {
        judgement.when = When::After;
        judgement.asker.agent.clone_from(&pending.agent);
    }
    options.directory = Some(PathBuf::from(&pending.directory));
    options.limits.wall_time = Some(LONGEST);
    let mut session = Session::new(options).map_err(NoPreview::Failed)?;
    // Its output is nobody's but who asks for it, and stands in what was tried.
    let _refused_as_it_should_be = session.run_script(&Request::new(pending.command.as_str()));
    let tried = preview.take();
    drop(session);
    tried.ok_or(NoPreview::NotApart)
}
