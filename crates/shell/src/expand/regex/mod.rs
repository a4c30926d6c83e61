//! `[[ text =~ regex ]]`: POSIX extended regular expressions on top of the `regex` crate.
//!
//! Differences that remain: a back-reference is refused (status 2); which of several equally long ways a group
//! matched is decided by the order of the alternatives; a match that could be longer by another alternative is
//! looked for only near the end of the text.

mod translate;

use std::cell::RefCell;
use std::collections::HashMap;

use bstr::{BStr, BString};
use regex::bytes::{Captures, Regex, RegexBuilder};

use super::field::{Expansion, Mark, Origin};
use crate::shell::Shell;
use crate::status::{ExitStatus, Running};
use crate::variables::{IndexedArray, Value};

/// How far behind the end of a match a longer one is looked for.
const FARTHEST: usize = 256;

/// Compiled expressions kept per thread: loops match with the same one again and again.
const KEPT: usize = 32;

#[derive(Clone)]
struct Compiled {
    /// Finds the first match.
    first: Regex,
    /// The same for a whole text, if the first match need not be the longest.
    whole: Option<Regex>,
}

thread_local! {
    static CACHE: RefCell<HashMap<(BString, bool), Option<Compiled>>> = RefCell::new(HashMap::new());
}

impl Shell {
    /// The status of `[[ text =~ regex ]]`; sets `BASH_REMATCH`. Status 2: no regular expression.
    pub(crate) fn match_regex(&mut self, text: &BStr, regex: &BStr) -> Running<ExitStatus> {
        let Some(compiled) = compile(regex, self.options.nocasematch) else {
            return Ok(ExitStatus::USAGE);
        };
        let groups = compiled.groups(text);
        let matched = !groups.is_empty();
        let variable = self.variables.get_or_create(BStr::new(b"BASH_REMATCH"));
        variable.value = Some(Value::Indexed(groups.into_iter().collect::<IndexedArray>()));
        Ok(ExitStatus::from_bool(matched))
    }
}

fn compile(regex: &BStr, ignore_case: bool) -> Option<Compiled> {
    let key = (BString::from(regex), ignore_case);
    if let Some(known) = CACHE.with_borrow(|cache| cache.get(&key).cloned()) {
        return known;
    }
    let compiled = translate::translate(regex).and_then(|text| build(&text, ignore_case));
    CACHE.with_borrow_mut(|cache| {
        if cache.len() >= KEPT {
            cache.clear();
        }
        cache.insert(key, compiled.clone());
    });
    compiled
}

fn build(text: &str, ignore_case: bool) -> Option<Compiled> {
    let build = |text: &str| {
        RegexBuilder::new(text)
            .case_insensitive(ignore_case)
            .dot_matches_new_line(true)
            .build()
            .ok()
    };
    let first = build(text)?;
    let whole = if text.contains(['|', '?']) { build(&format!("^(?:{text})$")) } else { None };
    Some(Compiled { first, whole })
}

impl Compiled {
    /// The match and its groups, in order; empty if there is no match.
    fn groups(&self, text: &[u8]) -> Vec<BString> {
        let Some(found) = self.first.captures(text) else { return Vec::new() };
        let longer = self.longer(text, &found);
        let captures = longer.as_ref().unwrap_or(&found);
        captures
            .iter()
            .map(|group| group.map(|group| BString::from(group.as_bytes())).unwrap_or_default())
            .collect()
    }

    /// POSIX wants the longest of the first matches, the crate gives the one of the first alternative.
    fn longer<'t>(&self, text: &'t [u8], found: &Captures<'t>) -> Option<Captures<'t>> {
        let whole = self.whole.as_ref()?;
        let found = found.get(0)?;
        if text.len() - found.end() > FARTHEST {
            return None;
        }
        (found.end() + 1..=text.len()).rev().find_map(|end| {
            // Anchors in the expression mean the ends of the whole text.
            if end < text.len() && whole.as_str().contains("\\z") {
                return None;
            }
            whole.captures(text.get(found.start()..end)?)
        })
    }
}

/// The expression with everything quoted made literal, as bash hands it on.
pub(super) fn quoted_as_literal(expansion: &Expansion) -> BString {
    let mut all = Vec::with_capacity(expansion.text.len() + 8);
    let mut brackets = translate::Brackets::default();
    for (mark, text) in expansion.stretches() {
        match mark {
            Mark::Break => all.push(b' '),
            // Inside `[…]` nothing but the brackets has a meaning.
            Mark::Text(Origin::Quoted) if brackets.inside() => all.extend_from_slice(text),
            Mark::Text(Origin::Quoted) => translate::push_escaped(&mut all, text),
            Mark::Text(_) => {
                brackets.follow(text);
                all.extend_from_slice(text);
            }
        }
    }
    all.into()
}
