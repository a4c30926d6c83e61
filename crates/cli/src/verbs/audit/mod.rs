//! `exacta audit …` and `exacta shell history`: what was recorded, searched, exported and verified.

mod export;
mod formats;
pub mod history;
pub mod json;
mod prune;
mod show;
mod tail;
mod verify;

use exacta::EngineError;
use exacta::audit::Trail;
use exacta::audit::store::{AuditError, Limits};

use crate::exit::Exit;
use crate::invocation::{AuditVerb, Global};
use crate::{launch, output};

pub fn perform(global: &Global, verb: AuditVerb) -> Exit {
    let trail = match trail(global) {
        Ok(trail) => trail,
        Err(exit) => return exit,
    };
    match verb {
        AuditVerb::Verify { heads } => verify::perform(global, &trail, heads),
        AuditVerb::Head => verify::head(global, &trail),
        AuditVerb::Tail { follow, filter } => tail::perform(global, &trail, filter, follow),
        AuditVerb::Export { format, filter } => export::perform(&trail, format, &filter),
        AuditVerb::Prune { dry_run } => prune::perform(global, dry_run),
    }
}

pub(super) fn trail(global: &Global) -> Result<Trail, Exit> {
    trail_of(global).map_err(|problem| super::failed(&problem))
}

/// The record of the project that the command line is about.
pub fn trail_of(global: &Global) -> Result<Trail, EngineError> {
    let root = launch::root(global)?;
    // What is wrong with the configuration is not said here, and no reason to forget anything.
    let forever = Limits { days: u64::MAX, bytes: u64::MAX };
    let limits = launch::configuration(global).map_or(forever, |configuration| configuration.audit);
    Ok(Trail::of(&root, launch::keys(), limits))
}

/// Says what, why, and what to do next. That there is nothing is no failure.
pub(super) fn refused(error: &AuditError) -> Exit {
    if *error == AuditError::Nothing {
        output::error(&format!("{error}\n"));
        return Exit::Success;
    }
    let hint = error.next().map(|next| format!("\nhint: {next}")).unwrap_or_default();
    super::failed(&format!("{error}{hint}"))
}
