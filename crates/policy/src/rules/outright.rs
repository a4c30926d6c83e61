//! Programs that are denied whatever their words are: what is refused by name alone need not exist at all.

use std::collections::HashSet;

use bstr::BStr;

use super::compile::{About, Compiled, Ruling};
use super::{Rule, RuleSet, builtin, pattern, profile_bit};
use crate::judge::Profile;

/// The names, gathered once: whoever asks has thousands to ask about.
#[derive(Debug, Clone, Default)]
pub struct Outright {
    names: HashSet<String>,
    /// Those with `*` or `?` in them, each with how many of its first bytes stand for themselves.
    open: Vec<(usize, String)>,
}

impl Outright {
    /// Are commands of this name denied, but for what a rule excepts, such as asking for the version?
    pub fn denies(&self, name: &BStr) -> bool {
        let lower = name.to_ascii_lowercase();
        let known = std::str::from_utf8(&lower).is_ok_and(|name| self.names.contains(name));
        // Most begin in another way, and nearly all names are none of these.
        let begins = |plain: usize, pattern: &str| {
            pattern.as_bytes().get(..plain).is_some_and(|plain| lower.starts_with(plain))
        };
        known
            || self.open.iter().any(|(plain, pattern)| {
                begins(*plain, pattern) && pattern::matches(pattern, &lower)
            })
    }

    fn add(&mut self, rule: &Compiled) {
        let About::Command(patterns) = &rule.about else { return };
        for one in patterns.iter().filter(|one| one.rest.is_empty()) {
            let program = &*one.program;
            // A path is one place of many, and a builtin is no program.
            if program.contains('/') || program.starts_with("builtin:") {
                continue;
            }
            let alternatives = program.contains('|');
            if let Some(plain) = program.find(['*', '?', '\\', '|']) {
                self.open.push((if alternatives { 0 } else { plain }, program.to_owned()));
            } else {
                self.names.insert(program.to_owned());
            }
        }
    }
}

impl RuleSet {
    /// A rule that may be lifted does not count, and none that is only about some words.
    pub fn outright(&self, profile: Profile) -> Outright {
        let profile = profile_bit(profile);
        let denies = |rule: &Compiled| rule.profiles & profile != 0 && is_unconditional(rule);
        let mut outright = Outright::default();
        if !self.bare {
            for (at, compiled) in builtin::packed().filter(|(_, compiled)| denies(compiled)) {
                let lifts = || builtin::numbered(at).is_none_or(|rule| self.is_lifted(rule));
                if self.loaded.is_empty() || !lifts() {
                    outright.add(compiled);
                }
            }
        }
        for one in self.loaded.iter().filter(|one| denies(&one.compiled)) {
            if !self.is_lifted(&one.rule) {
                outright.add(&one.compiled);
            }
        }
        outright
    }

    /// Some rule takes this one out of force, if only for some commands.
    fn is_lifted(&self, rule: &Rule) -> bool {
        self.loaded.iter().any(|one| {
            one.rule.tier.may_override(rule.tier)
                && one.rule.written.overrides.iter().any(|id| **id == *rule.id)
        })
    }
}

fn is_unconditional(rule: &Compiled) -> bool {
    rule.ruling == Ruling::Deny
        && rule.with.is_empty()
        && rule.with_all.is_empty()
        && rule.piped_from.is_empty()
        && rule.operands_at_most.is_none()
        && !rule.alone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_denied_by_name_and_what_is_not() {
        let rules = RuleSet::load(&[]).expect("the built-in rules").outright(Profile::Dev);
        for denied in ["curl", "wget", "nc", "sudo", "mkfs.ext4", "fdisk"] {
            assert!(rules.denies(denied.into()), "{denied}");
        }
        for not in ["ls", "git", "python3", "bash", "dd", "npm", "chmod", "cargo", "base64"] {
            assert!(!rules.denies(not.into()), "{not}");
        }
        assert!(!RuleSet::none().outright(Profile::Dev).denies("curl".into()));
    }
}
