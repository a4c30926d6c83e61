//! `exacta doctor`: tries in a real jail what must not work there, and says which promises hold, by what, and what is
//! missing for the others. Nothing is concluded from settings of the system; those are read only to name a remedy.

mod examine;
mod ground;
mod hooks;
mod promises;
mod remedies;
mod render;

pub use examine::standing;

use exacta::policy::limits::Allowance;
use exacta_jail::Level;
use exacta_jail::outcome::Walls;
use exacta_jail::plan::Limits;

use crate::exit::Exit;
use crate::invocation::Global;
use crate::launch::{self, Launch};
use crate::output;
use crate::table::Look;
use crate::verbs::failed;
use promises::{Examined, State};

/// All there is to tell.
pub struct Findings {
    pub root: String,
    pub least: Level,
    /// An error: no jail at all could be made.
    pub walls: Result<Walls, String>,
    pub limits: Limits,
    pub promises: Vec<Examined>,
    /// Of agents, as they are configured.
    pub hooks: Vec<hooks::Tried>,
}

impl Findings {
    /// What is promised at this rung and was not kept.
    fn is_broken(&self) -> bool {
        self.promises.iter().any(|examined| examined.state == State::Broken)
    }

    /// Programs run at this rung.
    fn runs(&self) -> bool {
        self.walls.as_ref().is_ok_and(|walls| walls.level >= self.least)
    }

    fn exit(&self) -> Exit {
        match &self.walls {
            Err(_) => Exit::Failed,
            Ok(_) if self.is_broken() => Exit::Broken,
            Ok(walls) => Exit::Rung(walls.level),
        }
    }
}

pub fn perform(global: &Global) -> Exit {
    let launch = match Launch::new(global) {
        Ok(launch) => launch,
        Err(problem) => return failed(&problem),
    };
    let findings = match examined(&launch) {
        Ok(findings) => findings,
        Err(problem) => return failed(&problem),
    };
    let look = Look::of_output(launch::no_colour());
    output::print(&if global.json {
        format!("{}\n", render::as_json(&findings))
    } else {
        render::as_text(&findings, look)
    });
    findings.exit()
}

fn examined(launch: &Launch) -> std::io::Result<Findings> {
    let mut findings = examine::all(launch)?;
    findings.hooks = hooks::examine(&launch.options.root);
    findings.promises.extend(hooks::promise(&findings.hooks));
    Ok(findings)
}

/// For whoever asks elsewhere.
pub fn told(launch: &Launch) -> std::io::Result<serde_json::Value> {
    examined(launch).map(|findings| render::as_json(&findings))
}

/// The limits of a program that gets no more than usual.
pub fn allowance(launch: &Launch) -> Allowance {
    let usual = Allowance::of(launch.configuration.policy.profile());
    launch.configuration.limits.applied_to(usual)
}
