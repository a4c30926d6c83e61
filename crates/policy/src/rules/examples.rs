//! The examples in a rule, checked: what would this line do, and does the rule match any of it?
//!
//! The same reading as the judge's, without a world around it: a project at `/project` with nothing in it.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::{Limits, ParseOptions};

use crate::code::{self, Level};
use crate::effect::{Effect, Language};
use crate::event::{Access, Directory, Event, Input, Invocation, Shape};
use crate::judge::Profile;
use crate::programs::{self, Reading};
use crate::surroundings::{Place, Surroundings};
use crate::walk::{Start, walk};
use crate::word::Word;

use super::compile::{About, Compiled, Problem, Ruling};
use super::matching::{self, Command};
use super::{Rule, RuleSet, Subject};

const ROOT: &str = "/project";
/// Texts within texts.
const DEPTH: usize = 8;

/// What runs in process in an example; enough to tell a builtin from a program.
const BUILTINS: &[&str] = &[
    ".", ":", "[", "alias", "basename", "cat", "cd", "cp", "date", "declare", "dirname", "echo",
    "env", "eval", "exec", "exit", "export", "false", "find", "grep", "head", "ls", "mkdir", "mv",
    "printf", "pwd", "read", "rm", "sed", "set", "sort", "source", "tail", "tee", "test", "touch",
    "tr", "true", "type", "uniq", "unset", "wc", "xargs",
];

/// The examples that do not hold, and hints that the rule itself stands against.
pub fn check(set: &RuleSet, rule: &Rule, compiled: &Compiled) -> Vec<Problem> {
    let written = &rule.written;
    let mut problems = Vec::new();
    for (item, line) in written.matches.iter().enumerate() {
        if !line_matches(set, compiled, line) {
            let hint = "the rule does not do what the example says; correct one of them";
            let message = format!("the rule does not match `{line}`");
            problems.push(problem("match", item, message, hint));
        }
    }
    for (item, line) in written.not_match.iter().enumerate() {
        if line_matches(set, compiled, line) {
            let hint = "the rule reaches further than the example says; correct one of them";
            let message = format!("the rule matches `{line}`");
            problems.push(problem("not_match", item, message, hint));
        }
    }
    if compiled.ruling != Ruling::Allow {
        for suggested in quoted(&written.hint).filter(|line| line_matches(set, compiled, line)) {
            let message = format!("the rule stands against its own suggestion `{suggested}`");
            let hint = "suggest a command that the rule does not match";
            problems.push(problem("hint", 0, message, hint));
        }
    }
    problems
}

/// Does the rule match anything that this line would do?
pub fn line_matches(set: &RuleSet, compiled: &Compiled, line: &str) -> bool {
    let situation = matches!(compiled.about, About::Situation(_));
    seen(line).iter().any(|one| {
        one.matches(compiled)
            || (situation
                && one.is_unknown(set)
                && matching::other(compiled, &Subject::Situation("unknown-program")))
    })
}

fn problem(key: &'static str, item: usize, message: String, hint: &str) -> Problem {
    Problem { key, item: Some(item), message, hint: hint.to_owned() }
}

/// The commands that a hint suggests: between backquotes.
fn quoted(hint: &str) -> impl Iterator<Item = &str> {
    hint.split('`').skip(1).step_by(2)
}

/// Something that a line would do.
#[derive(Debug)]
enum Seen {
    Command { reading: Reading, input: Input, builtin: bool },
    Variable { name: BString, value: Option<BString> },
    Path { path: BString, access: Access },
    Code { language: Language, level: Level },
    Situation(&'static str),
    Shape(Shape),
}

impl Seen {
    fn matches(&self, rule: &Compiled) -> bool {
        let subject = match self {
            Seen::Command { reading, input, builtin } => {
                let command = Command { reading, input, builtin: *builtin };
                let About::Command(patterns) = &rule.about else { return false };
                return patterns.iter().any(|pattern| matching::command(rule, pattern, &command));
            }
            Seen::Variable { name, value } => Subject::Variable {
                name: name.as_bstr(),
                value: value.as_ref().map(|v| v.as_bstr()),
            },
            Seen::Path { path, access } => match access {
                Access::Write => Subject::Write { path: path.as_bstr() },
                Access::Delete => Subject::Delete { path: path.as_bstr() },
                Access::Read | Access::Execute | Access::Enter => {
                    Subject::Read { path: path.as_bstr() }
                }
            },
            Seen::Code { language, level } => Subject::Code { language: *language, level: *level },
            Seen::Situation(name) => Subject::Situation(name),
            Seen::Shape(shape) => Subject::Shape(shape),
        };
        matching::other(rule, &subject)
    }

    /// A program that no rule says anything about.
    fn is_unknown(&self, set: &RuleSet) -> bool {
        match self {
            Seen::Command { reading, input, builtin: false } => {
                let subject = Subject::Command { reading, input, builtin: false };
                set.matching(&subject, Profile::Dev).is_empty()
            }
            _ => false,
        }
    }
}

fn seen(line: &str) -> Vec<Seen> {
    let mut all = Vec::new();
    shell(line.as_bytes(), &start(Input::Inherited), 0, &mut all);
    all
}

fn start(input: Input) -> Start {
    Start { directory: Directory::Known(ROOT.into()), input, ..Start::default() }
}

fn shell(text: &[u8], start: &Start, depth: usize, all: &mut Vec<Seen>) {
    if depth > DEPTH {
        return all.push(Seen::Situation("limit"));
    }
    let Ok(list) = exacta_syntax::parse(text, ParseOptions::default(), Limits::default()) else {
        return all.push(Seen::Situation("syntax"));
    };
    let mut events = Vec::new();
    walk(&list, start, &Empty, &mut |event| events.push(event));
    for event in events {
        match event {
            Event::Command(invocation) => command(&invocation, depth, all),
            Event::Open(open) => path(&open.path, open.access, &open.directory, all),
            Event::Assign(assign) => variable(assign.name, &assign.value, all),
            Event::Shape(shape) => all.push(Seen::Shape(shape)),
        }
    }
}

fn command(invocation: &Invocation, depth: usize, all: &mut Vec<Seen>) {
    for (name, value) in &invocation.assignments {
        variable(name.clone(), value, all);
    }
    let Some(name) = invocation.words.first() else { return };
    if depth > DEPTH || name.as_literal().is_none() {
        let situation = if depth > DEPTH { "limit" } else { "dynamic-command" };
        return all.push(Seen::Situation(situation));
    }
    let reading = programs::read(&invocation.words);
    for effect in &reading.effects {
        consequence(effect, invocation, depth + 1, all);
    }
    let builtin = reading.path.is_none() && Empty.is_builtin(reading.name.as_bstr());
    if !invocation.defined {
        all.push(Seen::Command { reading, input: invocation.input.clone(), builtin });
    }
}

fn consequence(effect: &Effect, from: &Invocation, depth: usize, all: &mut Vec<Seen>) {
    let start = Start { directory: from.directory.clone(), ..start(from.input.clone()) };
    match effect {
        Effect::Run { words, assignments, .. } => {
            let inner = Invocation {
                words: words.clone(),
                assignments: assignments.clone(),
                defined: false,
                ..from.clone()
            };
            command(&inner, depth, all);
        }
        Effect::Shell(text) | Effect::Split(text) => match text.as_literal() {
            Some(text) => shell(text, &start, depth, all),
            None => all.push(Seen::Situation("dynamic-code")),
        },
        Effect::Code { language, text } => source(*language, text, from, depth, all),
        Effect::CodeFromInput(language) => match &from.input {
            Input::Text(text) => source(*language, text, from, depth, all),
            Input::Pipe(_) => all.push(Seen::Situation("piped-code")),
            Input::Inherited | Input::File(_) => {}
        },
        Effect::ScriptFile { path: file, .. } => path(file, Access::Execute, &from.directory, all),
        Effect::Open { path: file, access } => path(file, *access, &from.directory, all),
        Effect::Connect(_) => all.push(Seen::Situation("network")),
        Effect::Assign { name, value } => variable(name.clone(), value, all),
        Effect::Executes { .. } => all.push(Seen::Situation("executing-option")),
        Effect::UnknownOption(_) => all.push(Seen::Situation("unknown-option")),
        Effect::Directory(_) => {}
    }
}

fn source(language: Language, text: &Word, from: &Invocation, depth: usize, all: &mut Vec<Seen>) {
    let Some(text) = text.as_literal() else { return all.push(Seen::Situation("dynamic-code")) };
    if language == Language::Shell {
        let start = Start { directory: from.directory.clone(), ..start(Input::Inherited) };
        return shell(text, &start, depth, all);
    }
    if depth > DEPTH {
        return all.push(Seen::Situation("limit"));
    }
    let found = code::read(language, text);
    all.push(Seen::Code { language, level: found.level });
    for effect in &found.effects {
        consequence(effect, from, depth + 1, all);
    }
}

fn variable(name: BString, value: &Word, all: &mut Vec<Seen>) {
    all.push(Seen::Variable { name, value: value.as_literal().map(ToOwned::to_owned) });
}

fn path(word: &Word, access: Access, directory: &Directory, all: &mut Vec<Seen>) {
    let Some(text) = word.as_literal() else { return };
    let directory = directory.expected().map_or(ROOT.into(), |directory| directory.as_bstr());
    let path = relative(text, directory);
    if path.starts_with(b"/") && !path.starts_with(b"/dev/") && !path.starts_with(b"/tmp/") {
        all.push(Seen::Situation("outside"));
    }
    all.push(Seen::Path { path, access });
}

/// Relative to the root if inside, else absolute.
fn relative(text: &BStr, directory: &BStr) -> BString {
    let mut parts: Vec<&[u8]> = Vec::new();
    let base: &[u8] = if text.starts_with(b"/") { b"" } else { directory };
    for part in base.split(|byte| *byte == b'/').chain(text.split(|byte| *byte == b'/')) {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    match parts.split_first() {
        Some((&b"project", [])) => ".".into(),
        Some((&b"project", inside)) => BString::from(bstr::join("/", inside)),
        _ => BString::from([b"/", bstr::join("/", &parts).as_slice()].concat()),
    }
}

/// A project with nothing in it.
struct Empty;

impl Surroundings for Empty {
    fn root(&self) -> &BStr {
        ROOT.into()
    }

    fn directory(&self) -> &BStr {
        ROOT.into()
    }

    fn variable(&self, name: &BStr) -> Option<BString> {
        matches!(name.as_bytes(), b"HOME" | b"PWD").then(|| ROOT.into())
    }

    fn place(&self, path: &BStr) -> Place {
        match relative(path, ROOT.into()).as_slice() {
            path if path.starts_with(b"/dev/") => Place::Device,
            path if path.starts_with(b"/tmp") => Place::Scratch,
            path if path.starts_with(b"/") => Place::Outside,
            _ => Place::Project,
        }
    }

    fn is_builtin(&self, name: &BStr) -> bool {
        BUILTINS.iter().any(|builtin| name == *builtin)
    }

    fn is_defined(&self, _name: &BStr) -> bool {
        false
    }

    fn glob(&self, _pattern: &BStr, _limit: usize) -> Vec<BString> {
        Vec::new()
    }
}
