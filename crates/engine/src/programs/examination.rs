//! What the jail of a project would be, for whoever examines it: the plan that its programs would run by.

#![expect(clippy::disallowed_methods, reason = "the operator's own system is looked at")]

use std::io;
use std::path::PathBuf;

use bstr::BString;
use exacta_jail::Plan;
use exacta_jail::plan::Access;
use exacta_policy::limits::Allowance;

use super::{Programs, limits};

pub struct Examination {
    /// With the limits of a program that gets no more than usual.
    pub plan: Plan,
    pub environment: Vec<(BString, BString)>,
    /// A program of the host that is denied outright, if it has one.
    pub blocked: Option<PathBuf>,
}

impl Examination {
    /// Without what is made only when a program runs, for who wants to change nothing.
    pub fn of_what_is_there(mut self) -> Self {
        self.plan.view.trees.retain(|tree| std::fs::symlink_metadata(&tree.source).is_ok());
        self
    }
}

impl Programs {
    /// Makes what the jail needs to be there, and nothing else.
    pub fn make_places(&self) -> io::Result<()> {
        self.prepared.make_places()
    }

    pub fn examine(&self) -> Examination {
        let usual = self.chosen.applied_to(Allowance::of(self.policy.profile()));
        let plan = Plan { limits: limits::of_jail(&usual), ..self.prepared.plan().clone() };
        let system = plan.view.trees.iter().filter(|tree| tree.access == Access::Read);
        let hidden =
            system.flat_map(|tree| tree.hidden.iter().map(|hidden| tree.target.join(hidden)));
        let is_file =
            |path: &PathBuf| std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        let blocked = hidden.into_iter().find(is_file);
        Examination { blocked, plan, environment: self.prepared.environment.clone() }
    }
}
