//! What would be said of a text, without running anything of it.

use bstr::{BStr, ByteSlice};
use exacta_policy::Verdict;

use super::Session;
use crate::approvals::Digest;
use crate::gate::Refused;
use crate::proposal::{blocked_by_name, normalised};
use crate::surroundings::World;

impl Session {
    /// What the judge sees of this session.
    pub fn world(&self) -> World<'_> {
        World {
            files: &*self.gate.files,
            directory: self.shell.directory.as_bstr(),
            shell: Some(&self.shell),
            grants: &self.gate.judgement.grants,
        }
    }

    /// A verdict on a text, and nothing else.
    pub fn test(&self, text: &BStr) -> Verdict {
        self.gate.judgement.policy.screen(text, &self.world())
    }

    /// The same with what was said never to run in this project.
    pub fn foresee(&self, text: &BStr) -> Verdict {
        let mut verdict = self.test(text);
        let written = normalised(text);
        if self.gate.is_blocked(written.as_bstr()) {
            let Refused { finding, .. } = blocked_by_name(written.as_bstr());
            (verdict.decision, verdict.finding) = (finding.decision, *finding);
        }
        verdict
    }

    /// What changes with every rule and setting that it is judged by.
    pub fn rules_version(&self) -> Digest {
        self.gate.judgement.version
    }
}
