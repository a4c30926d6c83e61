//! `exacta shell …`: what the judge would say, and by which rules (S3 §10).

mod lists;
pub mod status;
pub mod test;

use std::sync::Arc;

use exacta::Session;
use exacta::approvals::Unattended;
use exacta::gate::Face;

use super::failed;
use crate::exit::Exit;
use crate::invocation::{Global, ShellVerb};
use crate::launch::{self, Launch};
use crate::table::Look;

pub fn perform(global: &Global, verb: &ShellVerb) -> Exit {
    let mut launch = match Launch::new(global) {
        Ok(launch) => launch,
        Err(problem) => return failed(&problem),
    };
    // As `run` would start: at the root.
    launch.options.directory = None;
    let look = Look::of_output(launch::no_colour());
    match verb {
        ShellVerb::Status => status::show(global, &launch, look),
        ShellVerb::Allowlist => lists::show(global, &launch, look, lists::Which::Allowed),
        ShellVerb::Blocklist => lists::show(global, &launch, look, lists::Which::Blocked),
        ShellVerb::Rules => lists::show(global, &launch, look, lists::Which::All),
        ShellVerb::History(history) => super::audit::history::perform(global, history),
        ShellVerb::Test(text) => {
            with_session(launch, |session| test::one(global, session, text.as_ref(), look))
        }
        ShellVerb::TestBatch => with_session(launch, test::batch),
    }
}

fn with_session(launch: Launch, body: impl FnOnce(&Session) -> Exit) -> Exit {
    match Session::new(launch.session(Face::Run, Arc::new(Unattended))) {
        Ok(session) => body(&session),
        Err(problem) => failed(&problem),
    }
}
