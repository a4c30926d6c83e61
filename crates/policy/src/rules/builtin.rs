//! The default rules: checked and indexed when the crate is built, so that starting costs nothing. What a person
//! reads of a rule is unpacked when the rule first matches.

use std::sync::OnceLock;

use bstr::{BStr, ByteSlice};
use serde::de::DeserializeOwned;

use super::compile::{About, Compiled, Ruling};
use super::matching::{self, Command};
use super::pattern::{Beginnings, Lists};
use super::{Rule, Subject, Tier, schema};
use crate::verdict::Source;

/// A piece of [`TEXTS`]: where, and how many bytes.
type Text = (u32, u16);

/// A rule as the build script writes it. There is no pointer in it: thousands of them would have to be put right each time
/// that the program starts.
struct BuiltIn {
    id: Text,
    /// Which of [`FILES`].
    file: u8,
    line: u32,
    /// Where in [`WRITTEN`].
    written: (u32, u32),
    compiled: (u32, u32),
    ruling: Ruling,
    profiles: u8,
    what: What,
}

/// What a rule is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Command,
    Variable,
    Write,
    Read,
    Delete,
    Code,
    Situation,
    Shape,
}

impl What {
    fn concerns(self, subject: &Subject<'_>) -> bool {
        match subject {
            Subject::Command { .. } => self == What::Command,
            Subject::Variable { .. } => self == What::Variable,
            Subject::Write { .. } => self == What::Write,
            Subject::Read { .. } => self == What::Read,
            Subject::Delete { .. } => matches!(self, What::Write | What::Delete),
            Subject::Code { .. } => self == What::Code,
            Subject::Situation(_) => self == What::Situation,
            Subject::Shape(_) => self == What::Shape,
        }
    }
}

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

static WRITTEN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rules.bin"));

static MADE: [OnceLock<Rule>; COUNT] = [const { OnceLock::new() }; COUNT];
static COMPILED: [OnceLock<Option<Compiled>>; COUNT] = [const { OnceLock::new() }; COUNT];

/// Calls `found` for every default rule that matches.
pub fn matching(subject: &Subject<'_>, profile: u8, found: &mut dyn FnMut(&'static Rule)) {
    let each = |rule: u16| {
        made(usize::from(rule)).map(&mut *found);
    };
    match subject {
        Subject::Command { reading, input, builtin } => {
            let command = Command { reading, input, builtin: *builtin };
            about_command(&command, profile).for_each(each);
        }
        _ => about_other(subject, profile).for_each(each),
    }
}

fn about_command(command: &Command<'_>, profile: u8) -> impl Iterator<Item = u16> {
    let name = command.reading.name.as_bstr();
    let by_name = named(name).iter().chain(lowered(name)).copied();
    let open = OPEN.iter().filter_map(|(rule, place, program)| {
        let known = RULES.get(usize::from(*rule))?;
        let could = matching::program_could(text(*program), known.ruling, command);
        could.then_some((*rule, *place))
    });
    let all = by_name.chain(open);
    all.filter(move |(rule, place)| matches(*rule, *place, profile, command)).map(|(rule, _)| rule)
}

fn about_other(subject: &Subject<'_>, profile: u8) -> impl Iterator<Item = u16> {
    let path = matching::path_of(subject).map(|path| (path, Beginnings::of(path)));
    // Nearly every path is meant by none, and nothing is unpacked for that.
    let means = move |&(start, end): &(u32, u32)| {
        let globs = GLOBS.get(start as usize..end as usize).unwrap_or_default();
        path.is_none_or(|(path, beginnings)| {
            globs.iter().any(|glob| matching::glob_means(text(*glob), path, beginnings))
        })
    };
    let matches = move |(rule, globs): &&(u16, (u32, u32))| {
        RULES.get(usize::from(*rule)).is_some_and(|known| {
            known.profiles & profile != 0
                && known.what.concerns(subject)
                && means(globs)
                && compiled_of(usize::from(*rule)).map_or_else(
                    || known.ruling != Ruling::Allow,
                    |compiled| matching::other(compiled, subject),
                )
        })
    };
    OTHERS.iter().filter(matches).map(|(rule, _)| *rule)
}

/// Could a default rule ask about or deny a command of this name?
pub fn restricts(name: &BStr) -> bool {
    let restricts =
        |rule: u16| RULES.get(usize::from(rule)).is_some_and(|rule| rule.ruling != Ruling::Allow);
    let by_name = [named(name), lowered(name)].into_iter().flatten().any(|(rule, place)| {
        let could = || {
            let About::Command(patterns) = &compiled_of(usize::from(*rule))?.about else {
                return None;
            };
            let pattern = patterns.get(usize::from(*place))?;
            Some(matching::could_be(&pattern.program, name))
        };
        restricts(*rule) && could().unwrap_or(true)
    });
    let could = |(rule, _, program): &(u16, u16, Text)| {
        restricts(*rule) && matching::could_be(text(*program), name)
    };
    by_name || OPEN.iter().any(could)
}

/// The programs that default rules deny whatever their words are, with the number of the rule. Nothing is unpacked for it.
pub fn outright(profile: u8) -> impl Iterator<Item = (usize, &'static str)> {
    let all = OUTRIGHT.iter().map(|(rule, program)| (usize::from(*rule), text(*program)));
    all.filter(move |(rule, _)| RULES.get(*rule).is_some_and(|it| it.profiles & profile != 0))
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
    (0..COUNT).filter_map(|at| Some((made(at)?, compiled_of(at)?)))
}

/// What the rules of one file are matched by. Only those are unpacked.
pub fn of_file(name: &str) -> impl Iterator<Item = &'static Compiled> {
    let its = |rule: &&BuiltIn| {
        let file = FILES.get(usize::from(rule.file)).copied().unwrap_or_default();
        file.strip_prefix("built-in:") == Some(name)
    };
    let numbered = RULES.iter().enumerate().filter(move |(_, rule)| its(rule));
    numbered.filter_map(|(at, _)| compiled_of(at))
}

/// Is there a default rule of this name?
pub fn has(id: &str) -> bool {
    RULES.iter().any(|rule| text(rule.id) == id)
}

/// The lists that every file can use.
pub fn lists() -> Lists {
    unpacked(LISTS).unwrap_or_default()
}

/// Where the patterns about a program are.
fn named(name: &BStr) -> &'static [(u16, u16)] {
    let found = NAMES.binary_search_by(|(known, _)| text(*known).as_bytes().cmp(name));
    let (start, end) =
        found.ok().and_then(|at| NAMES.get(at)).map_or((0, 0), |(_, places)| *places);
    PLACES.get(start as usize..end as usize).unwrap_or_default()
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
    let Some(known) = RULES.get(usize::from(rule)).filter(|it| it.profiles & profile != 0) else {
        return false;
    };
    // The build script wrote it, so it can be read; if it could not, nothing would be looser for it.
    let Some(rule) = compiled_of(usize::from(rule)) else { return known.ruling != Ruling::Allow };
    let About::Command(patterns) = &rule.about else { return false };
    let pattern = patterns.get(usize::from(place));
    pattern.is_some_and(|pattern| matching::command(rule, pattern, command))
}

/// The piece of the texts. The build script wrote both.
fn text((start, length): Text) -> &'static str {
    let start = start as usize;
    TEXTS.get(start..start + usize::from(length)).unwrap_or_default()
}

fn unpacked<T: DeserializeOwned>((start, end): (u32, u32)) -> Option<T> {
    postcard::from_bytes(WRITTEN.get(start as usize..end as usize)?).ok()
}

/// What a rule is matched by, unpacked when it is first asked for.
fn compiled_of(at: usize) -> Option<&'static Compiled> {
    let known = RULES.get(at)?;
    COMPILED.get(at)?.get_or_init(|| unpacked(known.compiled)).as_ref()
}

fn made(at: usize) -> Option<&'static Rule> {
    let known = RULES.get(at)?;
    Some(MADE.get(at)?.get_or_init(|| make(known)))
}

fn make(known: &BuiltIn) -> Rule {
    // The build script wrote it, so it can be read; if it could not, the verdict would still stand.
    let written = unpacked(known.written).unwrap_or_else(|| schema::Rule {
        id: text(known.id).to_owned(),
        ..schema::Rule::default()
    });
    let file = FILES.get(usize::from(known.file)).copied().unwrap_or_default();
    let source = Source { file: file.into(), line: known.line };
    Rule::new(written, known.ruling, Tier::BuiltIn, source)
}
