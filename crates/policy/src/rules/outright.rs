//! Programs that are denied whatever their words are: what is refused by name alone need not exist at all.

use bstr::BStr;

use super::compile::{About, Compiled, Ruling};
use super::{Rule, RuleSet, builtin, matching, profile_bit};
use crate::judge::Profile;

impl RuleSet {
    /// Are commands of this name denied, but for what a rule excepts, such as asking for the version? A rule that may be
    /// lifted does not count, and none that is only about some words.
    pub fn denies_outright(&self, name: &BStr, profile: Profile) -> bool {
        let profile = profile_bit(profile);
        let denies = |rule: &Rule, compiled: &Compiled| {
            compiled.profiles & profile != 0
                && by_name_alone(compiled, name)
                && !self.is_lifted_somewhere(rule)
        };
        let built_in =
            !self.bare && builtin::naming(name).any(|(rule, compiled)| denies(rule, compiled));
        built_in || self.loaded.iter().any(|one| denies(&one.rule, &one.compiled))
    }

    fn is_lifted_somewhere(&self, rule: &Rule) -> bool {
        self.loaded.iter().any(|one| {
            one.rule.tier.may_override(rule.tier)
                && one.rule.written.overrides.iter().any(|id| **id == *rule.id)
        })
    }
}

fn by_name_alone(rule: &Compiled, name: &BStr) -> bool {
    let About::Command(patterns) = &rule.about else { return false };
    let unconditional = rule.ruling == Ruling::Deny
        && rule.with.is_empty()
        && rule.with_all.is_empty()
        && rule.piped_from.is_empty()
        && rule.operands_at_most.is_none()
        && !rule.alone;
    let is_bare = |program: &str| !program.starts_with("builtin:");
    unconditional
        && patterns.iter().any(|pattern| {
            pattern.rest.is_empty()
                && is_bare(&pattern.program)
                && matching::could_be(pattern, name)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_denied_by_name_and_what_is_not() {
        let rules = RuleSet::load(&[]).expect("the built-in rules");
        for denied in ["curl", "wget", "nc", "sudo", "mkfs.ext4", "fdisk"] {
            assert!(rules.denies_outright(denied.into(), Profile::Dev), "{denied}");
        }
        for not in ["ls", "git", "python3", "bash", "dd", "npm", "chmod", "cargo", "base64"] {
            assert!(!rules.denies_outright(not.into(), Profile::Dev), "{not}");
        }
        assert!(!RuleSet::none().denies_outright("curl".into(), Profile::Dev));
    }
}
