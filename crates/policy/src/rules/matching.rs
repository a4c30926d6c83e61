//! Does a rule match?
//!
//! A word that is known only in part is matched by what is known. Where it can have several values, a rule that
//! allows must match all of them, and one that asks or denies any of them: not knowing never loosens.

use bstr::{BStr, ByteSlice};

use crate::code::Level;
use crate::effect::Language;
use crate::event::{Input, Shape};
use crate::programs::{GivenOption, Reading};
use crate::word::Word;

use super::Subject;
use super::compile::{About, Compiled, Ruling, Texts};
use super::pattern::{self, Beginnings, Case, Pattern};

/// What is asked of a word with several values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    All,
    Any,
}

impl Sense {
    fn of(ruling: Ruling) -> Sense {
        match ruling {
            Ruling::Allow => Sense::All,
            Ruling::Confirm | Ruling::Deny => Sense::Any,
        }
    }

    fn opposite(self) -> Sense {
        match self {
            Sense::All => Sense::Any,
            Sense::Any => Sense::All,
        }
    }
}

/// A command as rules see it.
#[derive(Debug, Clone, Copy)]
pub struct Command<'a> {
    pub reading: &'a Reading,
    pub input: &'a Input,
    pub builtin: bool,
}

/// Could this pattern match some command of this name that runs in process?
pub fn could_be(program: &str, name: &BStr) -> bool {
    let program = program.strip_prefix("builtin:").unwrap_or(program);
    !program.contains('/') && pattern::matches(program, &name.to_ascii_lowercase())
}

/// Whether a pattern about this program can match the command in a rule of this kind.
pub fn program_could(program: &str, ruling: Ruling, command: &Command<'_>) -> bool {
    program_matches(program, command, Sense::of(ruling))
}

/// Does this pattern of the rule match the command, and do the rule's conditions hold?
pub fn command(rule: &Compiled, pattern: &Pattern, command: &Command<'_>) -> bool {
    let sense = Sense::of(rule.ruling);
    let Some(used) = pattern_matches(pattern, command, sense) else { return false };
    let rest = command.reading.operands.get(used..).unwrap_or_default();
    let given = Given { options: &command.reading.options, operands: rest };
    if rule.operands_at_most.is_some_and(|most| rest.len() > most) {
        return false;
    }
    (rule.with.is_empty() || rule.with.iter().any(|item| given.has(item, sense)))
        && rule.with_all.iter().all(|item| given.has(item, sense))
        && !rule.without.iter().any(|item| given.has(item, sense.opposite()))
        && (rule.piped_from.is_empty() || comes_from(command.input, &rule.piped_from))
        && (!rule.alone || nothing_else(rule, pattern, &given, sense))
        && !rule.except.iter().any(|p| pattern_matches(p, command, sense.opposite()).is_some())
}

/// The same for everything that is not a command.
pub fn other(rule: &Compiled, subject: &Subject<'_>) -> bool {
    match (&rule.about, subject) {
        (About::Variable(names), Subject::Variable { name, value }) => {
            any(names, name) && value_matches(rule, *value)
        }
        (About::Write(globs), Subject::Write { path } | Subject::Delete { path })
        | (About::Read(globs), Subject::Read { path })
        | (About::Delete(globs), Subject::Delete { path }) => {
            any_path(globs, path)
                && !(rule.made && matches!(subject, Subject::Delete { .. }))
                && (rule.with.is_empty() || any_path(&rule.with, path))
                && !any_path(&rule.without, path)
        }
        (About::Code(languages), Subject::Code { language, level }) => {
            let least = if rule.dangerous_only { Level::Dangerous } else { Level::Unclear };
            *level >= least
                && languages.iter().any(|name| name == "*" || name == language_name(*language))
        }
        (About::Situation(names), Subject::Situation(situation)) => {
            names.iter().any(|name| name == situation)
        }
        (About::Shape(names), Subject::Shape(shape)) => {
            names.iter().any(|name| name == shape_name(shape))
        }
        _ => false,
    }
}

pub fn language_name(language: Language) -> &'static str {
    match language {
        Language::Shell => "shell",
        Language::Python => "python",
        Language::Perl => "perl",
        Language::Ruby => "ruby",
        Language::Node => "node",
        Language::Php => "php",
        Language::Lua => "lua",
        Language::Awk => "awk",
        Language::Sed => "sed",
        Language::Vim => "vim",
        Language::Ed => "ed",
        Language::Make => "make",
        Language::Sql => "sql",
        Language::PowerShell => "powershell",
        Language::R => "r",
        Language::Tcl => "tcl",
        Language::Emacs => "emacs",
        Language::Gdb => "gdb",
        Language::Jq => "jq",
        Language::Other => "other",
    }
}

fn shape_name(shape: &Shape) -> &'static str {
    match shape {
        Shape::ForkBomb { .. } => "fork-bomb",
        Shape::Endless { .. } => "endless",
        Shape::Climbs => "climbs",
    }
}

fn any(patterns: &Texts, text: &BStr) -> bool {
    patterns.iter().any(|pattern| pattern::matches(pattern, text))
}

fn any_path(globs: &Texts, path: &BStr) -> bool {
    let beginnings = Beginnings::of(path);
    globs.iter().any(|glob| glob_means(glob, path, beginnings))
}

/// Does the glob match the path, of which these are the beginnings?
pub fn glob_means(glob: &str, path: &BStr, beginnings: Beginnings) -> bool {
    beginnings.admit(glob.as_bytes()) && pattern::path_matches(glob.as_bytes(), path)
}

/// The path that is written, read or removed, for rules about paths.
pub fn path_of<'a>(subject: &Subject<'a>) -> Option<&'a BStr> {
    match subject {
        Subject::Write { path } | Subject::Read { path } | Subject::Delete { path } => Some(path),
        _ => None,
    }
}

/// A value that is not known may be any.
fn value_matches(rule: &Compiled, value: Option<&BStr>) -> bool {
    let Some(value) = value else { return rule.ruling != Ruling::Allow || rule.with.is_empty() };
    (rule.with.is_empty() || any(&rule.with, value)) && !excused(&rule.without, value)
}

/// Several words are excused if each of them is, or a harmless option would excuse those behind it; a pattern that
/// has blanks itself is about the whole.
fn excused(without: &Texts, value: &BStr) -> bool {
    let blank = |byte: &u8| byte.is_ascii_whitespace();
    if !value.iter().any(blank) {
        return any(without, value);
    }
    let whole = without.iter().filter(|pattern| pattern.contains(' '));
    let mut words = value.split(blank).filter(|word| !word.is_empty());
    whole.into_iter().any(|pattern| pattern::matches(pattern, value))
        || words.all(|word| any(without, word.as_bstr()))
}

/// How many operands the pattern used up, if it matches.
fn pattern_matches(pattern: &Pattern, command: &Command<'_>, sense: Sense) -> Option<usize> {
    if !program_matches(&pattern.program, command, sense) {
        return None;
    }
    let reading = command.reading;
    let mut used = 0;
    for word in pattern::words(&pattern.rest) {
        if word == pattern::END {
            // `aws --version`, but not `aws x delete-y --version 1`.
            return (used == reading.operands.len()).then_some(used);
        }
        if is_option(word) {
            let given = Given { options: &reading.options, operands: &[] };
            if !given.has(word, sense) {
                return None;
            }
        } else {
            if !word_matches(word, reading.operands.get(used)?, sense) {
                return None;
            }
            used += 1;
        }
    }
    Some(used)
}

/// A rule that allows a program by its name does not mean a file of that name somewhere.
fn program_matches(program: &str, command: &Command<'_>, sense: Sense) -> bool {
    let reading = command.reading;
    if begins_otherwise(program, reading) {
        return false;
    }
    if let Some(name) = program.strip_prefix("builtin:") {
        return command.builtin && pattern::matches(name, &reading.name);
    }
    // A package with a scope is a name: `npx @scope/tool`.
    if program.contains('/') && !program.starts_with("\\@") {
        return reading.path.as_ref().is_some_and(|path| word_matches(program, path, sense));
    }
    if sense == Sense::All && reading.path.is_some() {
        return false;
    }
    // Windows and macOS do not care for case, so neither do rules that ask or deny.
    let case = if sense == Sense::Any { Case::Either } else { Case::Exact };
    pattern::matches_in(program.as_bytes(), &reading.name, case)
}

/// Most programs are not the one that is meant, and differ in their first letter.
fn begins_otherwise(program: &str, reading: &Reading) -> bool {
    let (Some(wanted), Some(found)) = (program.bytes().next(), reading.name.first()) else {
        return false;
    };
    wanted.is_ascii_alphanumeric()
        && !wanted.eq_ignore_ascii_case(found)
        && reading.path.is_none()
        && !program.starts_with("builtin:")
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// What a command was given.
struct Given<'a> {
    options: &'a [GivenOption],
    operands: &'a [Word],
}

impl Given<'_> {
    /// Is one of the alternatives of `item` among the options or operands?
    fn has(&self, item: &str, sense: Sense) -> bool {
        if self.options.is_empty() && self.operands.is_empty() {
            return false;
        }
        // Of `dd` and of Windows' programs; lists of alternatives are long, so it is asked once.
        let bare = self
            .options
            .iter()
            .any(|option| option.names.first().is_some_and(|name| !name.starts_with(b"-")));
        pattern::each(item).any(|one| {
            if is_option(one) {
                return !self.options.is_empty() && self.has_option(one, sense);
            }
            self.operands.iter().any(|word| one_matches(one, word, sense))
                || bare && self.options.iter().any(|option| named_operand(one, option, sense))
        }) || self.operands.iter().any(|word| different_values(item, word, sense))
    }

    /// `-rf` is an option of that name, or both `-r` and `-f`.
    fn has_option(&self, wanted: &str, sense: Sense) -> bool {
        if self.options.iter().any(|given| option_matches(wanted, given, sense)) {
            return sense == Sense::Any || !self.is_taken_back(wanted);
        }
        let Some(letters) = wanted.strip_prefix('-') else { return false };
        // Longer ones are names: `-exec` is not `-e -x -e -c`.
        let cluster =
            (2..=3).contains(&letters.len()) && letters.bytes().all(|b| b.is_ascii_alphanumeric());
        cluster
            && letters.bytes().all(|letter| {
                let name = [b'-', letter];
                self.options.iter().any(|given| given.names.iter().any(|n| n.as_bytes() == name))
            })
    }

    /// `--dry-run=client --dry-run=none`, `-n --no-dry-run`: what excuses a command must hold to its end. Which of
    /// them a program heeds is its own affair, so one that says otherwise suffices.
    fn is_taken_back(&self, wanted: &str) -> bool {
        const NO: [&str; 5] = ["false", "none", "no", "0", "off"];
        let name = wanted.split_once('=').map_or(wanted, |(name, _)| name);
        let called = |given: &GivenOption, name: &str| {
            given.names.iter().any(|it| pattern::matches_one(name.as_bytes(), it))
        };
        let opposite = |given: &GivenOption, of: &GivenOption| {
            of.names.iter().any(|name| {
                let name = name.strip_prefix(b"--").unwrap_or_default();
                !name.is_empty()
                    && given.names.iter().any(|it| it.strip_prefix(b"--no-") == Some(name))
            })
        };
        let asked = || self.options.iter().filter(|given| called(given, name));
        asked().any(|given| {
            let refuses = |value: &Word| NO.iter().any(|no| value.shown() == *no);
            !option_matches(wanted, given, Sense::All) || given.value.as_ref().is_some_and(refuses)
        }) || self.options.iter().any(|given| asked().any(|it| opposite(given, it)))
    }
}

/// `--config=*` wants a value, `--config` does not care.
fn option_matches(wanted: &str, given: &GivenOption, sense: Sense) -> bool {
    let (name, value) = match wanted.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (wanted, None),
    };
    given.names.iter().any(|given| pattern::matches_one(name.as_bytes(), given))
        && value.is_none_or(|pattern| {
            given.value.as_ref().is_some_and(|word| one_matches(pattern, word, sense))
        })
}

/// `of=/dev/sda` of `dd` and `/w:c` of Windows' programs may be read as options without a dash.
fn named_operand(wanted: &str, given: &GivenOption, sense: Sense) -> bool {
    let (name, value) = match wanted.split_once(['=', ':']) {
        Some((name, value)) => (name, Some(value)),
        None => (wanted, None),
    };
    let named = given.names.iter().any(|given| {
        !given.starts_with(b"-") && pattern::matches_in(name.as_bytes(), given, Case::Either)
    });
    named
        && value.is_none_or(|pattern| {
            given.value.as_ref().is_some_and(|word| one_matches(pattern, word, sense))
        })
}

fn word_matches(pattern: &str, word: &Word, sense: Sense) -> bool {
    pattern::each(pattern).any(|one| one_matches(one, word, sense))
        || different_values(pattern, word, sense)
}

/// Different values may need different alternatives.
fn different_values(pattern: &str, word: &Word, sense: Sense) -> bool {
    sense == Sense::All
        && matches!(word, Word::Dynamic(dynamic) if dynamic.values.len() > 1
            && dynamic.values.iter().all(|value| pattern::matches(pattern, value)))
}

fn one_matches(pattern: &str, word: &Word, sense: Sense) -> bool {
    let matches = |text: &bstr::BString| pattern::matches_one(pattern.as_bytes(), text);
    let dynamic = match word {
        Word::Literal(text) => return matches(text),
        Word::Dynamic(dynamic) => dynamic,
    };
    let sure = pattern::open_prefix(pattern)
        .is_some_and(|prefix| dynamic.prefix.starts_with(prefix.as_bytes()));
    let by_value = match sense {
        Sense::All => !dynamic.values.is_empty() && dynamic.values.iter().all(matches),
        // A pattern for file names also stands for itself: `rm -rf /*`; and so does what the script wrote: `$PPID`.
        Sense::Any => {
            dynamic.values.iter().any(matches)
                || dynamic.glob.as_ref().is_some_and(matches)
                || matches(&dynamic.written)
        }
    };
    sure || by_value
}

/// Is one of the commands before this one in the pipeline among these?
fn comes_from(input: &Input, names: &Texts) -> bool {
    let Input::Pipe(commands) = input else { return false };
    commands.iter().any(|command| {
        let values = command.values().unwrap_or_default();
        values.iter().any(|value| {
            let name = value.rsplit_once_str("/").map_or(value.as_bytes(), |(_, name)| name);
            names.iter().any(|pattern| pattern::matches(pattern, name))
        })
    })
}

/// Everything given is named by the pattern or the conditions.
fn nothing_else(rule: &Compiled, pattern: &Pattern, given: &Given<'_>, sense: Sense) -> bool {
    let items = || rule.with.iter().chain(rule.with_all.iter()).map(AsRef::as_ref);
    let options = || pattern::words(&pattern.rest).chain(items()).flat_map(pattern::each);
    given.options.iter().all(|option| {
        options().any(|one| {
            if is_option(one) {
                option_matches(one, option, sense) || in_cluster(one, option)
            } else {
                named_operand(one, option, sense)
            }
        })
    }) && given.operands.iter().all(|word| items().any(|item| word_matches(item, word, sense)))
}

/// `-r` is named by `-rf`.
fn in_cluster(wanted: &str, given: &GivenOption) -> bool {
    !wanted.starts_with("--")
        && given.names.iter().any(|name| match name.as_bytes() {
            [b'-', letter] => wanted.bytes().skip(1).any(|byte| byte == *letter),
            _ => false,
        })
}
