//! Commands inside commands: words, texts for a shell, code in other languages.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::{Limits, ParseOptions, parse};

use super::command::Subjected;
use super::given::{
    beginning_suffices, checks, is_bare_tool, is_data, loads_one_file, only_checks,
    only_shows_that_it_runs, positional, reads_lines_as_commands,
};
use super::inquiry::Inquiry;
use crate::code::{self, Level};
use crate::effect::{Effect, Language, More};
use crate::event::{Access, Input, Invocation, Via};
use crate::programs::{self, Kind};
use crate::rules::Subject;
use crate::surroundings::Place;
use crate::verdict::Finding;
use crate::walk::{Inherited, Start, walk};
use crate::word::Word;

/// How often it is remembered that a command is given every file.
const MOST_PLACES: usize = 64;

impl Inquiry<'_> {
    /// A text for a shell.
    pub fn script(&mut self, text: &BStr, start: &Start) {
        match parse(
            text,
            ParseOptions { extglob: true, ..ParseOptions::default() },
            Limits::default(),
        ) {
            Ok(tree) => {
                let world = super::home::Before(self.world);
                walk(&tree, start, &world, &mut |event| self.event(&event));
            }
            Err(error) => {
                let findings = self.situation("syntax", &error.to_string());
                self.note(vec![text.into()], &start.via, findings);
            }
        }
    }

    /// An effect of a command that is itself a command or code.
    pub fn nested_effect(&mut self, subjected: &Subjected<'_>, effect: &Effect) {
        let via = via(subjected);
        let finds_scripts = self.finds_scripts;
        self.finds_scripts &= super::added::finds_scripts(subjected, self.lists_scripts);
        if self.each_of_all.len() < MOST_PLACES && self.gives_everything(subjected) {
            self.each_of_all.push("{}".into());
        }
        self.nested(|inquiry| match effect {
            // A function of the text that is called like a wrapper takes its words in its own way.
            Effect::Run { words, .. }
                if subjected.invocation.defined && !programs::read(words).known => {}
            Effect::Run { words, assignments, more } => {
                inquiry.run(subjected, words, assignments, *more, via);
            }
            Effect::Shell(text) | Effect::Split(text) => {
                inquiry.hidden(subjected, text, &via);
                inquiry.shell(subjected, text, via);
            }
            Effect::Code { language, text } => inquiry.code(subjected, *language, text, via),
            Effect::CodeFromInput(language) => inquiry.code_from_input(subjected, *language, via),
            Effect::ScriptFile { language, path } => {
                inquiry.script_file(subjected, *language, path, via);
            }
            _ => {}
        });
        self.finds_scripts = finds_scripts;
    }

    /// A program of the project may be run by who names it. In an option of a tool that is not made to run others it
    /// is a trap: `git -c core.pager=./x log`.
    fn hidden(&mut self, subjected: &Subjected<'_>, text: &Word, via: &Via) {
        let name = subjected.reading.name.as_bstr();
        let harmless = || self.harmless_command(text) && !only_shows_that_it_runs(text);
        if Kind::Hides.includes(name) && !harmless() {
            let about = text.shown().to_str_lossy();
            let findings = self.situation_unless("executing-option", &about, &subjected.lifted);
            self.note(vec![text.shown().into()], via, findings);
        }
    }

    fn run(
        &mut self,
        subjected: &Subjected<'_>,
        words: &[Word],
        assignments: &[(BString, Word)],
        more: More,
        via: Via,
    ) {
        let known =
            if more == More::Unknown { super::added::words(subjected, words) } else { None };
        let mut words = super::added::with_usual_place(subjected, words);
        if more == More::None && self.gives_everything(subjected) {
            let place = |word: &mut Word| {
                if word.shown() == "{}" {
                    *word = super::added::everything();
                }
            };
            words.iter_mut().for_each(place);
        }
        if let Some(lines) = super::added::lines(subjected) {
            return self.run_each(subjected, &words, assignments, &lines, &via);
        }
        for words in self.given_sought(subjected, &words) {
            self.run_words(subjected, words, assignments, More::Unknown, via.clone());
        }
        super::added::place_found(subjected, &mut words);
        if more == More::Unknown && super::added::keeps_a_place(subjected) {
            // Nothing follows the words then: the last of them is where `cp` writes.
            self.run_words(subjected, words.clone(), assignments, more, via.clone());
        }
        if let Some(known) = known {
            words = known;
        } else if more == More::Unknown {
            words.push(self.unknown_words(subjected));
        }
        self.run_words(subjected, words, assignments, more, via);
    }

    /// `xargs -I{} command {}` with lines that are known.
    fn run_each(
        &mut self,
        subjected: &Subjected<'_>,
        words: &[Word],
        assignments: &[(BString, Word)],
        (place, lines): &(BString, Vec<BString>),
        via: &Via,
    ) {
        for line in lines {
            let words = words.iter().map(|word| super::added::placed(word, place, line)).collect();
            self.run_words(subjected, words, assignments, More::Unknown, via.clone());
        }
    }

    fn run_words(
        &mut self,
        subjected: &Subjected<'_>,
        words: Vec<Word>,
        assignments: &[(BString, Word)],
        more: More,
        via: Via,
    ) {
        let invocation = subjected.invocation;
        // What a wrapper is given holds for what it runs.
        let mut all = invocation.assignments.clone();
        all.extend_from_slice(assignments);
        let inner = Invocation {
            words,
            assignments: all,
            input: if more == More::Unknown { Input::Inherited } else { invocation.input.clone() },
            directory: subjected.directory.clone(),
            via,
            defined: false,
            followed: invocation.followed,
        };
        self.holding(inner.words.len(), |inquiry| inquiry.command(&inner));
    }

    pub fn shell(&mut self, subjected: &Subjected<'_>, text: &Word, via: Via) {
        let Some(values) = text.values() else {
            return self.unknown_code(subjected, text, via);
        };
        let start = Start {
            directory: subjected.directory.clone(),
            input: subjected.invocation.input.clone(),
            via,
            positional: positional(subjected),
            variables: self.inherited(subjected),
        };
        for value in values {
            if value.trim_ascii().is_empty() {
                // Nobody hands over nothing: a variable is meant to be set when it runs.
                self.unknown_code(subjected, text, start.via.clone());
            } else if !subjected.invocation.followed {
                self.script(value.as_bstr(), &start);
            }
        }
    }

    /// The variables of a text that another shell reads.
    fn inherited(&self, subjected: &Subjected<'_>) -> Vec<Inherited> {
        let given = subjected.invocation.assignments.iter();
        let given: Vec<Inherited> = given
            .map(|(name, value)| Inherited {
                name: name.clone(),
                value: value.clone(),
                certain: true,
            })
            .collect();
        if self.exported.is_empty() {
            return given;
        }
        self.exported.iter().cloned().chain(given).collect()
    }

    fn unknown_code(&mut self, subjected: &Subjected<'_>, text: &Word, via: Via) {
        if let Some(known) = self.with_jobs(text).filter(|_| subjected.reading.name == "trap") {
            return self.shell(subjected, &Word::Literal(known), via);
        }
        let about = text.shown().to_str_lossy();
        let findings = self.situation_unless("dynamic-code", &about, &subjected.lifted);
        self.note(vec![text.shown().into()], &via, findings);
    }

    fn code(&mut self, subjected: &Subjected<'_>, language: Language, text: &Word, via: Via) {
        if language == Language::Shell {
            return self.shell(subjected, text, via);
        }
        let Some(values) = text.values() else {
            if !beginning_suffices(language, text) && !loads_one_file(language, text) {
                self.unknown_code(subjected, text, via);
            }
            return;
        };
        for value in values {
            self.known_code(subjected, language, value.as_bstr(), &via, is_unclear);
        }
    }

    /// Code that is there to read; `asks` says about which levels, for what was seen, the rules are asked.
    pub fn known_code(
        &mut self,
        subjected: &Subjected<'_>,
        language: Language,
        text: &BStr,
        via: &Via,
        asks: impl Fn(&code::Reading) -> bool,
    ) {
        let reading = code::read(language, text);
        let origin = self.origin.take();
        let only_built = std::mem::take(&mut self.only_built);
        let mut findings = Vec::new();
        if asks(&reading) {
            let subject = Subject::Code { language, level: reading.level };
            for mut finding in self.rules_on(&subject, &subjected.lifted) {
                finding.about.clone_from(&reading.seen);
                findings.push(finding);
            }
        }
        let mut nested = Vec::new();
        let mut recipes = Vec::new();
        for effect in &reading.effects {
            match effect {
                Effect::Open { path, access } => {
                    self.path_in_code(path, *access, subjected, origin.as_ref(), &mut findings);
                    if let Some(path) = path.as_literal() {
                        self.program_copied(path, *access, None, &mut findings);
                    }
                    if *access == Access::Write
                        && let Some(path) = super::paths::key(path, &subjected.directory)
                    {
                        self.freshly_filled(&path, &[Word::literal(text)]);
                    }
                }
                Effect::Connect(_) if only_built => {}
                // The databases of a program are its own.
                Effect::Code { language: Language::Sql, .. } if origin.is_some() => {}
                // `spawn('npm', words)`: nobody knows the words, and the tool alone does nothing.
                Effect::Run { words, .. } if origin.is_some() && is_bare_tool(words) => {}
                // Its recipes are what make is there to run.
                Effect::Shell(text) if language == Language::Make => recipes.push(text),
                Effect::Connect(target) => {
                    let about = target.shown().to_str_lossy();
                    findings.extend(self.situation_unless("network", &about, &subjected.lifted));
                }
                effect => nested.push(effect),
            }
        }
        self.note(vec![text.into()], via, findings);
        for recipe in recipes {
            self.nested(|inquiry| inquiry.shell(subjected, recipe, via.clone()));
        }
        for effect in nested {
            self.nested_effect(subjected, effect);
        }
    }

    /// Standard input read as code.
    fn code_from_input(&mut self, subjected: &Subjected<'_>, language: Language, via: Via) {
        match &subjected.invocation.input {
            // A shell that reads whatever comes: nobody starts one without handing it something to do.
            Input::Inherited if language == Language::Shell => {
                let findings =
                    self.situation_unless("piped-code", "standard input", &subjected.lifted);
                self.note(vec![subjected.reading.name.clone()], &via, findings);
            }
            Input::Inherited => {}
            Input::Text(text) => self.code(subjected, language, text, via),
            Input::File(path) => {
                if reads_lines_as_commands(subjected, path) || self.is_left_beside(subjected, path)
                {
                    return self.decoded(subjected, path);
                }
                self.script_file(subjected, language, path, via);
            }
            Input::Pipe(names) => {
                let names = names.iter().map(|name| name.shown().as_bytes());
                let about = BString::from(bstr::join(" | ", names));
                let findings =
                    self.situation_unless("piped-code", &about.to_str_lossy(), &subjected.lifted);
                self.note(vec![about], &via, findings);
            }
        }
    }

    /// Has this very text put something known into the file?
    fn wrote(&self, path: &Word, subjected: &Subjected<'_>) -> bool {
        super::paths::key(path, &subjected.directory)
            .is_some_and(|path| self.written.contains_key(&path))
    }

    /// `bash < /tmp/x`: something that lies beside the project, and that this text has not put there.
    fn is_left_beside(&self, subjected: &Subjected<'_>, path: &Word) -> bool {
        self.place_of(path, &subjected.directory) == Some(Place::Scratch)
            && !self.wrote(path, subjected)
    }

    /// Runs a file that the same text has written while it decoded something: a pipe into a shell, in two steps.
    pub fn decoded(&mut self, subjected: &Subjected<'_>, path: &Word) {
        let about = path.shown().to_str_lossy();
        let findings = self.situation_unless("piped-code", &about, &subjected.lifted);
        self.note(vec![path.shown().into()], &via(subjected), findings);
    }

    /// A file that is read as code. One of the project may do what the project does; what this very text has
    /// written into it is read.
    fn script_file(
        &mut self,
        subjected: &Subjected<'_>,
        language: Language,
        path: &Word,
        via: Via,
    ) {
        let shown = path.shown();
        if shown == "{}" || super::added::is_unknown(path) {
            self.any_fresh(subjected, &via);
        }
        let unknown = super::added::is_unknown(path)
            || (shown == "{}" && !self.finds_scripts)
            || (language == Language::Shell && is_data(shown) && !self.wrote(path, subjected));
        if unknown && !checks(subjected) {
            return self.unknown_code(subjected, path, via);
        }
        if matches!(shown.as_bytes(), b"-" | b"/dev/stdin" | b"/dev/fd/0" | b"/proc/self/fd/0") {
            return self.code_from_input(subjected, language, via);
        }
        let mut findings: Vec<Finding> = Vec::new();
        if shown.contains_str("://") {
            findings.extend(self.situation_unless(
                "network",
                &shown.to_str_lossy(),
                &subjected.lifted,
            ));
        } else if shown.starts_with(b"<(") || shown.starts_with(b"/dev/fd/") {
            findings.extend(self.situation_unless(
                "piped-code",
                &shown.to_str_lossy(),
                &subjected.lifted,
            ));
        } else {
            self.path(path, Access::Execute, subjected, &mut findings);
        }
        let scratch = self.place_of(path, &subjected.directory) == Some(Place::Scratch);
        if scratch && matches!(language, Language::Vim | Language::Emacs | Language::Other) {
            // Settings of a tool are no work of the project when they lie beside it.
            let about = shown.to_str_lossy();
            findings.extend(self.situation_unless("executing-option", &about, &subjected.lifted));
        }
        if scratch && super::command::is_hidden(path) {
            let about = shown.to_str_lossy();
            findings.extend(self.situation_unless("unknown-program", &about, &subjected.lifted));
        }
        self.note(vec![shown.into()], &via, findings);
        self.chosen_scripts(subjected, language, path, &via);
        let absolute = super::paths::key(path, &subjected.directory);
        self.guessed_script(subjected, absolute.as_ref(), &via);
        if absolute.as_ref().is_some_and(|path| self.comes_from_hidden(path)) {
            self.decoded(subjected, path);
        }
        let Some(absolute) = absolute.filter(|_| !only_checks(subjected)) else { return };
        if let Some(content) = self.written.get(&absolute).cloned() {
            if language == Language::Shell {
                self.shell(subjected, &Word::Literal(content), via);
            } else {
                self.origin = super::fed::folder_of(&absolute);
                let asks = super::telling::of_named(language, content.as_bstr());
                self.known_code(subjected, language, content.as_bstr(), &via, asks);
            }
        }
    }
}

fn is_unclear(reading: &code::Reading) -> bool {
    reading.level >= Level::Unclear
}

pub(super) fn is_dangerous(reading: &code::Reading) -> bool {
    reading.level >= Level::Dangerous
}

fn via(subjected: &Subjected<'_>) -> Via {
    let mut via = subjected.invocation.via.clone();
    via.push(subjected.reading.name.clone());
    via
}
