//! Who may override whom.
//!
//! The strictest rule wins, whoever wrote it, so no tier can loosen another by an allow rule alone. Only `overrides`
//! takes a rule out of force, only where the overriding rule matches, and only a rule of the same or a lower tier.
//! A project that nobody trusts can add questions and refusals, nothing else.

use crate::verdict::Decision;

use super::{Rule, Tier};

impl Tier {
    /// May rules of this tier loosen anything?
    pub fn may_loosen(self) -> bool {
        self != Tier::Project
    }

    /// May a rule of this tier take one of `other` out of force?
    pub fn may_override(self, other: Tier) -> bool {
        self.may_loosen() && self >= other
    }

    pub fn name(self) -> &'static str {
        match self {
            Tier::BuiltIn => "built-in",
            Tier::Project => "project (not trusted)",
            Tier::TrustedProject => "project",
            Tier::User => "user",
            Tier::System => "system",
        }
    }
}

/// Takes the overridden rules out and puts the strictest first.
pub fn settle(found: &mut Vec<&Rule>) {
    if found.iter().any(|rule| !rule.written.overrides.is_empty()) {
        let all = found.clone();
        found.retain(|rule| !all.iter().any(|by| overrides(by, rule)));
    }
    found.sort_by_key(|rule| std::cmp::Reverse(rule.decision));
}

fn overrides(by: &Rule, rule: &Rule) -> bool {
    by.id != rule.id
        && by.tier.may_override(rule.tier)
        && by.written.overrides.iter().any(|id| **id == *rule.id)
}

/// What an untrusted project wrote in vain: why, or nothing.
pub fn ignored(rule: &Rule) -> Option<&'static str> {
    match rule.decision {
        _ if rule.tier.may_loosen() => None,
        Decision::Allow => Some("an allow rule of a project that is not trusted does not count"),
        _ if !rule.written.overrides.is_empty() => {
            Some("`overrides` of a project that is not trusted does not count")
        }
        _ => None,
    }
}
