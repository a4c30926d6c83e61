//! `exacta audit …` and `exacta shell history`: what was recorded, searched, exported and verified.

mod export;
mod formats;
pub mod history;
mod json;
mod show;
mod tail;
mod verify;

use exacta::audit::Trail;
use exacta::audit::store::AuditError;

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
    }
}

pub(super) fn trail(global: &Global) -> Result<Trail, Exit> {
    let root = launch::root(global).map_err(|problem| super::failed(&problem))?;
    Ok(Trail::of(&root, launch::keys()))
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
