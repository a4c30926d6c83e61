//! Programs that are denied whatever their words are: what is refused by name alone need not exist at all.

use std::collections::HashSet;

use bstr::BStr;

use super::compile::outright_programs;
use super::{Rule, RuleSet, builtin, pattern, profile_bit};
use crate::judge::Profile;

/// The names, gathered once: whoever asks has thousands to ask about.
#[derive(Debug, Clone, Default)]
pub struct Outright {
    names: HashSet<String>,
    /// Those with `*` or `?` in them, each with how many of its first bytes stand for themselves.
    open: Vec<(usize, String)>,
    /// What most names are recognised by as none of the first, and as none of the others: by how those begin.
    likely: Likely,
    likely_open: Likely,
}

/// A set of names that says of a name whether it may be in it, at a glance: by its first two bytes and its length.
#[derive(Debug, Clone)]
struct Likely([u64; 64]);

impl Default for Likely {
    fn default() -> Self {
        Likely([0; 64])
    }
}

impl Likely {
    /// A word, and a bit of it.
    fn place(name: &[u8]) -> (usize, u64) {
        let byte = |at: usize| usize::from(name.get(at).copied().unwrap_or(0).to_ascii_lowercase());
        let mixed = byte(0) * 131 + byte(1) * 29 + name.len();
        (mixed / 64 % 64, 1 << (mixed % 64))
    }

    fn add(&mut self, name: &[u8]) {
        let (word, bit) = Self::place(name);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    fn may_have(&self, name: &[u8]) -> bool {
        let (word, bit) = Self::place(name);
        self.0.get(word).is_none_or(|word| word & bit != 0)
    }
}

impl Outright {
    /// Are commands of this name denied, but for what a rule excepts, such as asking for the version?
    pub fn denies(&self, name: &BStr) -> bool {
        // Most begin in another way, and nearly all names are none of these.
        let begins = |plain: usize, pattern: &str| {
            let (ours, theirs) = (name.get(..plain), pattern.as_bytes().get(..plain));
            ours.zip(theirs).is_some_and(|(ours, theirs)| ours.eq_ignore_ascii_case(theirs))
        };
        let is_known = || {
            let lower = name.to_ascii_lowercase();
            std::str::from_utf8(&lower).is_ok_and(|name| self.names.contains(name))
        };
        let is_open = || {
            self.open.iter().any(|(plain, pattern)| {
                begins(*plain, pattern) && pattern::matches(pattern, &name.to_ascii_lowercase())
            })
        };
        let may_be_open = name.get(..1).is_none_or(|first| self.likely_open.may_have(first));
        (self.likely.may_have(name) && is_known()) || (may_be_open && is_open())
    }

    fn add(&mut self, program: &str) {
        let alternatives = program.contains('|');
        if let Some(plain) = program.find(['*', '?', '\\', '|']) {
            let plain = if alternatives { 0 } else { plain };
            match program.as_bytes().get(..1) {
                Some(first) if plain > 0 => self.likely_open.add(first),
                _ => self.likely_open = Likely([u64::MAX; 64]),
            }
            self.open.push((plain, program.to_owned()));
        } else {
            self.likely.add(program.as_bytes());
            self.names.insert(program.to_owned());
        }
    }
}

impl RuleSet {
    /// A rule that may be lifted does not count, and none that is only about some words.
    pub fn outright(&self, profile: Profile) -> Outright {
        let mut outright = Outright::default();
        self.each_outright(profile, |program| outright.add(program));
        outright
    }

    /// The names and patterns themselves.
    pub fn each_outright(&self, profile: Profile, mut each: impl FnMut(&str)) {
        let profile = profile_bit(profile);
        if !self.bare {
            let lifts = |at| builtin::numbered(at).is_none_or(|rule| self.is_lifted(rule));
            let mut last = (usize::MAX, false);
            for (at, program) in builtin::outright(profile) {
                if last.0 != at {
                    last = (at, self.loaded.is_empty() || !lifts(at));
                }
                if last.1 {
                    each(program);
                }
            }
        }
        for one in self.loaded.iter().filter(|one| one.compiled.profiles & profile != 0) {
            if !self.is_lifted(&one.rule) {
                outright_programs(&one.compiled).for_each(&mut each);
            }
        }
    }

    /// Some rule takes this one out of force, if only for some commands.
    fn is_lifted(&self, rule: &Rule) -> bool {
        self.loaded.iter().any(|one| {
            one.rule.tier.may_override(rule.tier)
                && one.rule.written.overrides.iter().any(|id| **id == *rule.id)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_denied_by_name_and_what_is_not() {
        let rules = RuleSet::load(&[]).expect("the built-in rules").outright(Profile::Dev);
        for denied in ["curl", "wget", "nc", "sudo", "mkfs.ext4", "fdisk", "CURL", "Mkfs.EXT4"] {
            assert!(rules.denies(denied.into()), "{denied}");
        }
        for not in ["ls", "git", "python3", "bash", "dd", "npm", "chmod", "cargo", "base64"] {
            assert!(!rules.denies(not.into()), "{not}");
        }
        assert!(!RuleSet::none().outright(Profile::Dev).denies("curl".into()));
    }
}
