//! The default rules: checked and indexed when the crate is built, so that starting costs nothing. What a person
//! reads of a rule is unpacked when the rule first matches.

use std::borrow::Cow;
use std::sync::OnceLock;

use bstr::{BStr, ByteSlice};

use super::compile::{About, Compiled, Ruling};
use super::matching::{self, Command};
use super::pattern::{Lists, Pattern};
use super::{Rule, Subject, Tier, schema};
use crate::verdict::Source;

/// A rule as the build script writes it.
struct BuiltIn {
    id: &'static str,
    file: &'static str,
    line: u32,
    /// Where in [`WRITTEN`].
    written: (usize, usize),
    compiled: Compiled,
}

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

static WRITTEN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rules.bin"));

static MADE: [OnceLock<Rule>; COUNT] = [const { OnceLock::new() }; COUNT];

/// Calls `found` for every default rule that matches.
pub fn matching(subject: &Subject<'_>, profile: u8, found: &mut dyn FnMut(&'static Rule)) {
    match subject {
        Subject::Command { reading, input, builtin } => {
            let command = Command { reading, input, builtin: *builtin };
            for places in [named(reading.name.as_bstr()), lowered(reading.name.as_bstr()), OPEN] {
                for (rule, place) in places {
                    if matches(*rule, *place, profile, &command) {
                        made(usize::from(*rule)).map(&mut *found);
                    }
                }
            }
        }
        _ => {
            for rule in OTHERS {
                let Some(known) = RULES.get(usize::from(*rule)) else { continue };
                if known.compiled.profiles & profile != 0
                    && matching::other(&known.compiled, subject)
                {
                    made(usize::from(*rule)).map(&mut *found);
                }
            }
        }
    }
}

/// Could a default rule ask about or deny a command of this name?
pub fn restricts(name: &BStr) -> bool {
    [named(name), lowered(name), OPEN].into_iter().flatten().any(|(rule, place)| {
        let Some(rule) = RULES.get(usize::from(*rule)) else { return false };
        let About::Command(patterns) = &rule.compiled.about else { return false };
        let pattern = patterns.get(usize::from(*place));
        rule.compiled.ruling != Ruling::Allow
            && pattern.is_some_and(|pattern| matching::could_be(pattern, name))
    })
}

/// What every default rule is matched by, with its number. Nothing is unpacked for it.
pub fn packed() -> impl Iterator<Item = (usize, &'static Compiled)> {
    RULES.iter().map(|rule| &rule.compiled).enumerate()
}

/// The rule of this number, unpacked.
pub fn numbered(at: usize) -> Option<&'static Rule> {
    made(at)
}

/// All of them, in the order of files and lines.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    (0..COUNT).filter_map(made)
}

/// Every default rule with what it is matched by.
pub fn compiled() -> impl Iterator<Item = (&'static Rule, &'static Compiled)> {
    (0..COUNT).filter_map(|at| Some((made(at)?, &RULES.get(at)?.compiled)))
}

/// Is there a default rule of this name?
pub fn has(id: &str) -> bool {
    RULES.iter().any(|rule| rule.id == id)
}

/// The lists that every file can use.
pub fn lists() -> Lists {
    let owned = |items: &&[&str]| items.iter().map(|item| (*item).to_owned()).collect();
    LISTS.iter().map(|(name, items)| ((*name).to_owned(), owned(items))).collect()
}

/// Where the patterns about a program are.
fn named(name: &BStr) -> &'static [(u16, u16)] {
    let found = NAMES.binary_search_by(|(known, _)| known.as_bytes().cmp(name));
    found.ok().and_then(|at| NAMES.get(at)).map_or(&[], |(_, places)| places)
}

/// Windows and macOS do not care for case, so neither do rules that ask or deny.
fn lowered(name: &BStr) -> &'static [(u16, u16)] {
    if name.iter().any(u8::is_ascii_uppercase) {
        named(name.to_ascii_lowercase().as_bstr())
    } else {
        &[]
    }
}

fn matches(rule: u16, place: u16, profile: u8, command: &Command<'_>) -> bool {
    let Some(rule) = RULES.get(usize::from(rule)) else { return false };
    let About::Command(patterns) = &rule.compiled.about else { return false };
    rule.compiled.profiles & profile != 0
        && patterns
            .get(usize::from(place))
            .is_some_and(|pattern| matching::command(&rule.compiled, pattern, command))
}

fn made(at: usize) -> Option<&'static Rule> {
    let known = RULES.get(at)?;
    Some(MADE.get(at)?.get_or_init(|| make(known)))
}

fn make(known: &BuiltIn) -> Rule {
    let (start, end) = known.written;
    let written = WRITTEN.get(start..end).and_then(|bytes| postcard::from_bytes(bytes).ok());
    // The build script wrote it, so it can be read; if it could not, the verdict would still stand.
    let written = written
        .unwrap_or_else(|| schema::Rule { id: known.id.to_owned(), ..schema::Rule::default() });
    let source = Source { file: known.file.into(), line: known.line };
    Rule::new(written, known.compiled.ruling, Tier::BuiltIn, source)
}
