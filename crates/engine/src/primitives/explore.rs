//! Every command that a text would run, through wrappers, inner shells, substitutions and inline code.

use bstr::{BStr, BString, ByteSlice};
use exacta_policy::code;
use exacta_policy::effect::{Effect, Language};
use exacta_policy::event::{Access, Directory, Event, Input, Invocation, Shape};
use exacta_policy::programs::{self, Reading};
use exacta_policy::surroundings::{Place, Surroundings};
use exacta_policy::walk::{Start, walk};
use exacta_policy::word::Word;
use exacta_syntax::{Limits, ParseOptions, SyntaxError, parse};

/// Commands inside commands: deeper than anything that is not built to hide.
const MAXIMUM_DEPTH: u32 = 16;
/// More than anybody types.
const MAXIMUM_COMMANDS: usize = 100_000;

/// What a text would do.
#[derive(Default)]
pub(super) struct Seen {
    pub commands: Vec<Command>,
    pub opens: Vec<(Word, Access)>,
    /// Those among them that are redirects.
    pub redirects: Vec<(Word, Access)>,
    /// A function that starts itself again and again.
    pub bomb: bool,
    /// Text that nobody knows is run as code: from a pipe, a substitution, a variable.
    pub unknown_code: bool,
    /// The names of the commands whose output is run as code.
    pub code_from: Vec<BString>,
    /// There was more than could be looked at.
    pub cut: bool,
}

pub(super) struct Command {
    pub words: Vec<Word>,
    pub reading: Reading,
    pub directory: Directory,
    /// Written as such, not found inside another command.
    pub outermost: bool,
}

/// Stands for the value of a variable that the text itself does not set. A word that contains it by itself is taken for
/// unknown too, which only makes the answer stricter.
pub(super) const UNKNOWN: u8 = 1;

pub(super) fn explore(text: &BStr) -> Result<Seen, Box<SyntaxError>> {
    let mut explorer = Explorer { seen: Seen::default(), depth: 0, variables: Variables::Unknown };
    explorer.text(text, &Start::default())?;
    if has_default(text) {
        explorer.variables = Variables::Unset;
        explorer.text(text, &Start::default())?;
    }
    Ok(explorer.seen)
}

/// `${name:-value}` and its kin: a second look is needed for the case that it is not set.
fn has_default(text: &BStr) -> bool {
    text.find_iter("${").any(|at| {
        let rest = text.get(at + 2..).unwrap_or_default();
        let name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let end = rest.iter().position(|byte| !name(byte)).unwrap_or(rest.len());
        matches!(rest.get(end..), Some([b':', b'-' | b'=', ..] | [b'-' | b'=', ..]))
    })
}

/// The environment, of which nothing is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variables {
    Unknown,
    Unset,
}

impl Surroundings for Variables {
    fn root(&self) -> &BStr {
        "/project".into()
    }

    fn directory(&self) -> &BStr {
        self.root()
    }

    fn variable(&self, name: &BStr) -> Option<BString> {
        (*self == Variables::Unknown && name != "IFS").then(|| BString::from(vec![UNKNOWN]))
    }

    fn place(&self, _path: &BStr) -> Place {
        Place::Project
    }

    fn is_builtin(&self, _name: &BStr) -> bool {
        false
    }

    fn is_defined(&self, _name: &BStr) -> bool {
        false
    }

    fn glob(&self, _pattern: &BStr, _limit: usize) -> Vec<BString> {
        Vec::new()
    }
}

struct Explorer {
    seen: Seen,
    depth: u32,
    variables: Variables,
}

impl Explorer {
    fn text(&mut self, text: &BStr, start: &Start) -> Result<(), Box<SyntaxError>> {
        let options = ParseOptions { extglob: true, ..ParseOptions::default() };
        let tree = parse(text, options, Limits::default())?;
        let variables = self.variables;
        walk(&tree, start, &variables, &mut |event| self.event(event));
        Ok(())
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Command(invocation) => self.invocation(&invocation),
            Event::Open(open) => {
                if self.depth == 0 {
                    self.seen.redirects.push((open.path.clone(), open.access));
                }
                self.seen.opens.push((open.path, open.access));
            }
            Event::Shape(Shape::ForkBomb { .. }) => self.seen.bomb = true,
            Event::Assign(_) | Event::Shape(Shape::Endless { .. } | Shape::Climbs) => {}
        }
    }

    fn invocation(&mut self, invocation: &Invocation) {
        if self.seen.commands.len() >= MAXIMUM_COMMANDS || self.depth > MAXIMUM_DEPTH {
            self.seen.cut = true;
            return;
        }
        let values = invocation.words.first().and_then(Word::values).unwrap_or_default();
        if values.len() < 2 {
            return self.command(invocation, invocation.words.clone());
        }
        for value in values {
            let mut words = vec![Word::Literal(value.clone())];
            words.extend(invocation.words.iter().skip(1).cloned());
            self.command(invocation, words);
        }
    }

    fn command(&mut self, invocation: &Invocation, words: Vec<Word>) {
        let reading = programs::read(&words);
        let mut directory = invocation.directory.clone();
        for effect in &reading.effects {
            if let Effect::Directory(path) = effect {
                directory = entered(&directory, path);
            }
        }
        let effects = reading.effects.clone();
        let outermost = self.depth == 0 && invocation.via.is_empty();
        self.seen.commands.push(Command {
            words,
            reading,
            directory: directory.clone(),
            outermost,
        });
        self.depth += 1;
        for effect in effects {
            self.effect(invocation, &directory, effect);
        }
        self.depth -= 1;
    }

    fn effect(&mut self, outer: &Invocation, directory: &Directory, effect: Effect) {
        match effect {
            Effect::Run { words, .. } => self.invocation(&Invocation {
                words,
                input: outer.input.clone(),
                directory: directory.clone(),
                ..Invocation::default()
            }),
            Effect::Shell(text) | Effect::Split(text) => self.shell(directory, &text),
            Effect::Code { language, text } => self.code(outer, directory, language, &text),
            Effect::CodeFromInput(language) => self.input(outer, directory, language),
            Effect::ScriptFile { path, .. } if path.shown().starts_with(b"<(") => {
                self.unknown(&path);
            }
            Effect::Open { path, access } => self.seen.opens.push((path, access)),
            _ => {}
        }
    }

    fn shell(&mut self, directory: &Directory, text: &Word) {
        let Some(values) = text.values() else { return self.unknown(text) };
        for value in values {
            self.seen.unknown_code |= value.contains(&UNKNOWN);
            let start = Start { directory: directory.clone(), ..Start::default() };
            // Inside another command an error ends only that shell, after what came before it.
            if self.text(value.as_bstr(), &start).is_err() {
                self.seen.cut = true;
            }
        }
    }

    fn code(&mut self, outer: &Invocation, directory: &Directory, language: Language, text: &Word) {
        if language == Language::Shell {
            return self.shell(directory, text);
        }
        let Some(values) = text.values() else { return };
        for value in values {
            for effect in code::read(language, value.as_bstr()).effects {
                self.effect(outer, directory, effect);
            }
        }
    }

    fn input(&mut self, outer: &Invocation, directory: &Directory, language: Language) {
        match &outer.input {
            Input::Text(text) => self.code(outer, directory, language, text),
            Input::Pipe(names) => {
                self.seen.unknown_code = true;
                self.seen.code_from.extend(names.iter().map(|name| base_name(name.shown())));
            }
            Input::Inherited | Input::File(_) => {}
        }
    }

    /// Code that is made when it runs: by whom, as far as it is written there.
    fn unknown(&mut self, text: &Word) {
        self.seen.unknown_code = true;
        let line = [b": ", text.shown().as_bytes()].concat();
        let (seen, depth) = (Seen::default(), self.depth + 1);
        let mut inner = Explorer { seen, depth, variables: self.variables };
        if inner.depth <= MAXIMUM_DEPTH && inner.text(line.as_bstr(), &Start::default()).is_ok() {
            let names = inner.seen.commands.iter().map(|command| command.reading.name.clone());
            self.seen.code_from.extend(names);
        }
    }
}

fn entered(directory: &Directory, path: &Word) -> Directory {
    let Some(path) = path.as_literal() else { return Directory::Unknown };
    match directory.expected() {
        _ if path.starts_with(b"/") => Directory::Known(path.into()),
        Some(directory) => {
            Directory::Known([directory.as_slice(), b"/", path.as_bytes()].concat().into())
        }
        None => Directory::Unknown,
    }
}

/// A command's name without its directory.
pub(super) fn base_name(name: &BStr) -> BString {
    name.rsplit_str("/").next().unwrap_or_default().into()
}
