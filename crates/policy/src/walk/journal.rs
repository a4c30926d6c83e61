//! A map that remembers how it was: branches are walked one after the other from the same beginning, and cost only
//! what they change.

use std::collections::{HashMap, HashSet};

use bstr::{BStr, BString};

/// What a branch left behind.
pub(super) type Changes<V> = HashMap<BString, V>;

#[derive(Debug)]
pub(super) struct Journal<V> {
    map: HashMap<BString, V>,
    trail: Vec<(BString, Option<V>)>,
}

impl<V> Default for Journal<V> {
    fn default() -> Self {
        Journal { map: HashMap::new(), trail: Vec::new() }
    }
}

impl<V: Clone> Journal<V> {
    pub fn get(&self, name: &BStr) -> Option<&V> {
        if self.map.is_empty() { None } else { self.map.get(name) }
    }

    pub fn set(&mut self, name: &BStr, value: V) {
        let old = self.map.insert(name.into(), value);
        self.trail.push((name.into(), old));
    }

    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&BString, &V)> {
        self.map.iter()
    }

    pub fn mark(&self) -> usize {
        self.trail.len()
    }

    /// The names set since, some more than once.
    pub fn changed_since(&self, mark: usize) -> impl Iterator<Item = &BString> {
        self.trail.iter().skip(mark).map(|(name, _)| name)
    }

    /// What these names had just before they were set for the first time since.
    pub fn before(&self, mark: usize, names: &[BString]) -> Vec<(BString, Option<V>)> {
        let mut wanted: HashSet<&BString> = names.iter().collect();
        let first = self.trail.iter().skip(mark).filter(|(name, _)| wanted.remove(name));
        first.cloned().collect()
    }

    /// It is not known how much of what came since has happened.
    pub fn blur(&mut self, mark: usize, before: impl Fn(&BStr) -> V, join: impl Fn(V, &V) -> V) {
        if self.trail.len() <= mark {
            return;
        }
        let mut known: HashMap<BString, V> = HashMap::new();
        for (name, old) in self.trail.iter().skip(mark) {
            let old = old.clone().unwrap_or_else(|| before(name.as_ref()));
            let joined = match known.remove(name) {
                Some(other) => join(other, &old),
                None => old,
            };
            known.insert(name.clone(), joined);
        }
        for (name, value) in known {
            let value = match self.map.get(&name) {
                Some(last) => join(value, last),
                None => value,
            };
            self.set(name.as_ref(), value);
        }
    }

    /// As it was then; what it was until now comes back.
    pub fn rollback(&mut self, mark: usize) -> Changes<V> {
        let mut changes = Changes::new();
        while self.trail.len() > mark {
            let Some((name, old)) = self.trail.pop() else { break };
            let last = match old {
                Some(old) => self.map.insert(name.clone(), old),
                None => self.map.remove(&name),
            };
            if let Some(last) = last {
                changes.entry(name).or_insert(last);
            }
        }
        changes
    }

    /// After one of several ways was taken, and `stayed` if possibly none: `before` gives what a name had when the
    /// map has nothing, `join` what is known of two.
    pub fn merge(
        &mut self,
        ways: Vec<Changes<V>>,
        stayed: bool,
        before: impl Fn(&BStr) -> V,
        join: impl Fn(V, &V) -> V,
    ) {
        let count = ways.len();
        let mut merged: HashMap<BString, (V, usize)> = HashMap::new();
        for way in ways {
            for (name, value) in way {
                match merged.remove(&name) {
                    None => drop(merged.insert(name, (value, 1))),
                    Some((other, seen)) => {
                        drop(merged.insert(name, (join(other, &value), seen + 1)));
                    }
                }
            }
        }
        for (name, (mut value, seen)) in merged {
            if stayed || seen < count {
                let old = self.map.get(&name).cloned().unwrap_or_else(|| before(name.as_ref()));
                value = join(value, &old);
            }
            self.set(name.as_ref(), value);
        }
    }
}
