//! Tools that run code of the project without being told which: `make`, `npm test`, `pytest`, `cargo build`. What
//! this very text has put into such files runs with them, and is read as if it were named.

use bstr::{BStr, BString, ByteSlice};

use super::command::{Subjected, makes_texts};
use super::edits;
use super::filekinds::{
    FileKind, is_data, is_hook, is_loaded_at_once, is_task_file, kind_of, lists_patterns,
};
use super::given::only_checks;
use super::inquiry::Inquiry;
use super::sights::{self, Loaded};
use super::sources::starts_programs;
use super::telling;
use super::texts::Texts;
use crate::code::Level;
use crate::effect::Language;
use crate::event::{Input, Via};
use crate::programs;
use crate::rules::Subject;
use crate::word::Word;

/// So many files that were written are remembered until something runs them.
const MOST_FILES: usize = 64;

/// A file that this text has written, and that nothing has run since.
#[derive(Debug, Clone)]
pub(super) struct Fresh {
    pub path: BString,
    pub text: BString,
    /// The text is what wrote the file, not what is in it.
    guessed: bool,
    /// What is in it was made of something unreadable, for all that is known.
    decoded: bool,
}

impl Inquiry<'_> {
    /// A file was written, with this in it.
    pub fn freshly_written(&mut self, path: &BString, text: &BString) {
        self.obeyed_by_git(path, text.as_bstr());
        self.remember(path, text.clone(), false);
    }

    /// A file was written by a command of these words; nobody knows what is in it.
    pub fn freshly_filled(&mut self, path: &BString, words: &[Word]) {
        if !words.is_empty() || self.decodes {
            let mut text = BString::from(bstr::join(" ", words.iter().map(Word::shown)));
            // What a word can be stands in lines of its own.
            for word in words {
                for value in word.values().filter(|values| values.len() > 1).unwrap_or_default() {
                    text.push(b'\n');
                    text.extend_from_slice(value);
                }
                for piece in edits::inserted(word.shown().as_bstr()) {
                    text.push(b'\n');
                    text.extend_from_slice(&piece);
                }
            }
            self.remember(path, text, true);
        }
    }

    /// What was written into one file is in another now.
    pub fn fresh_elsewhere(&mut self, source: &BString, target: &BString) {
        let found = self.fresh.iter().rfind(|fresh| fresh.path == *source).cloned();
        if let Some(fresh) = found {
            self.remember(target, fresh.text, fresh.guessed);
        }
    }

    /// The files that were written and not run since, of those that are wanted. What edits a file says what comes into it.
    pub fn unrun(&self, wanted: fn(&BStr) -> bool) -> Vec<(BString, BString)> {
        let known = self.fresh.iter().filter(|fresh| wanted(fresh.path.as_bstr()));
        known.map(|fresh| (fresh.path.clone(), fresh.text.clone())).collect()
    }

    /// A file that was written with commands in it, for a shell or for a tool that runs them.
    pub fn fresh_commands(&self) -> Option<BString> {
        let has_commands = |fresh: &&Fresh| {
            let path = fresh.path.as_bstr();
            is_task_file(path)
                || matches!(
                    kind_of(path),
                    Some(FileKind::Manifest | FileKind::Code(Language::Shell))
                )
        };
        self.fresh.iter().find(has_commands).map(|fresh| fresh.path.clone())
    }

    fn remember(&mut self, path: &BString, text: BString, guessed: bool) {
        if self.fresh.len() < MOST_FILES {
            let decoded = guessed && self.decodes;
            self.fresh.push(Fresh { path: path.clone(), text, guessed, decoded });
        }
    }

    /// Reads what a tool that runs the project would now run.
    pub fn implied(&mut self, subjected: &Subjected<'_>) {
        if let Some(source) = source_on_input(subjected) {
            self.remember(&"input.c".into(), source.clone(), false);
        }
        if self.unpacks_decoded
            && programs::Kind::RunsProject.includes(subjected.reading.name.as_bstr())
        {
            self.decoded(subjected, &Word::Literal(subjected.reading.name.clone()));
        }
        if self.fresh.is_empty() || only_checks(subjected) {
            return;
        }
        self.written_in_task(subjected);
        let mut via = subjected.invocation.via.clone();
        via.push(subjected.reading.name.clone());
        if may_load_the_project(subjected) {
            self.any_fresh(subjected, &via);
        } else if runs_hooks(subjected) {
            let hooks = |fresh: &mut Fresh| is_hook(fresh.path.as_bstr());
            let hooks: Vec<Fresh> = self.fresh.extract_if(.., hooks).collect();
            self.these_fresh(subjected, &hooks, &via);
        }
    }

    /// Reads all that was written and not run yet.
    pub fn any_fresh(&mut self, subjected: &Subjected<'_>, via: &Via) {
        let all = std::mem::take(&mut self.fresh);
        // What a tool itself writes it does not load in the same run.
        let (own, others): (Vec<Fresh>, Vec<Fresh>) =
            all.into_iter().partition(|fresh| fresh.guessed && is_own(subjected, fresh));
        self.these_fresh(subjected, &others, via);
        self.fresh.extend(own);
    }

    fn these_fresh(&mut self, subjected: &Subjected<'_>, all: &[Fresh], via: &Via) {
        for fresh in all {
            let loaded = loaded(self.inside(fresh.path.as_bstr()), fresh, all);
            self.nested(|inquiry| inquiry.implied_file(subjected, fresh, loaded, via));
            if let Some(both) = with_parts(fresh, all)
                && let Some(seen) = sights::harm(both.as_bstr(), Loaded::WithProgram)
            {
                self.harmful(subjected, fresh, seen.into(), via);
            }
        }
    }

    /// A script that this text has written with a command whose words tell what may be in it; or a pipe with a name.
    pub fn guessed_script(&mut self, subjected: &Subjected<'_>, path: Option<&BString>, via: &Via) {
        let Some(path) = path else { return };
        if self.pipes.contains(path) {
            self.decoded(subjected, &Word::Literal(path.clone()));
        }
        let guess = self.fresh.iter().rfind(|fresh| fresh.guessed && fresh.path == *path).cloned();
        if let Some(fresh) = guess {
            self.texts_in(subjected, &fresh, via, Texts::All);
        }
    }

    fn implied_file(
        &mut self,
        subjected: &Subjected<'_>,
        fresh: &Fresh,
        loaded: Loaded,
        via: &Via,
    ) {
        if !fresh.guessed {
            let mut findings = Vec::new();
            self.built_in_files(&fresh.path, fresh.text.as_bstr(), &mut findings);
            self.note(vec![fresh.path.clone()], via, findings);
        }
        let Some(kind) = kind_of(fresh.path.as_bstr()) else { return };
        let (path, text) = (self.inside(fresh.path.as_bstr()), fresh.text.as_bstr());
        if fresh.decoded && !matches!(kind, FileKind::Unknown) {
            self.decoded(subjected, &Word::Literal(fresh.path.clone()));
        }
        match kind {
            // What a compiler makes of other files; and what the words of such a file would make in turn.
            FileKind::Unknown if fresh.guessed && (self.apart || !is_typed(fresh)) => return,
            FileKind::Code(Language::Shell) if !fresh.guessed => {
                let text = without_test_names(&fresh.text);
                return self.shell(subjected, &Word::Literal(text), via.clone());
            }
            _ if fresh.guessed => self.texts_in(subjected, fresh, via, Texts::All),
            FileKind::Code(language) => {
                self.origin = super::fed::folder_of(&fresh.path);
                self.only_built = loaded == Loaded::WithProgram && !is_named(subjected, fresh);
                let asks = telling::of_loaded(language, fresh.text.as_bstr());
                self.known_code(subjected, language, fresh.text.as_bstr(), via, asks);
                let texts = match language {
                    _ if is_task_file(fresh.path.as_bstr()) => Texts::All,
                    Language::Perl | Language::Php | Language::Ruby => Texts::StartedOrQuoted,
                    _ => Texts::Started,
                };
                self.texts_in(subjected, fresh, via, texts);
            }
            FileKind::Source => {
                if starts_programs(fresh.text.as_bstr()) {
                    self.texts_in(subjected, fresh, via, Texts::All);
                }
                self.reaches_elsewhere(subjected, fresh, via);
            }
            FileKind::Manifest => self.texts_in(subjected, fresh, via, Texts::All),
            FileKind::Unknown if is_data(fresh.path.as_bstr()) && lists_patterns(path, text) => {
                return;
            }
            FileKind::Unknown => self.texts_in(subjected, fresh, via, Texts::Anywhere),
        }
        if let Some(seen) = sights::harm(fresh.text.as_bstr(), loaded) {
            self.harmful(subjected, fresh, seen.into(), via);
        }
    }

    /// Asks about a file for what was seen in it.
    pub fn harmful(&mut self, subjected: &Subjected<'_>, fresh: &Fresh, seen: BString, via: &Via) {
        let subject = Subject::Code { language: Language::Other, level: Level::Dangerous };
        let mut findings = self.rules_on(&subject, &subjected.lifted);
        for finding in &mut findings {
            finding.about.clone_from(&seen);
        }
        self.note(vec![fresh.path.clone()], via, findings);
    }
}

/// Does the command run the file by its name? Who only checks it does not.
fn is_named(subjected: &Subjected<'_>, fresh: &Fresh) -> bool {
    const CHECKING: [&str; 14] = [
        "biome", "black", "eslint", "flake8", "isort", "mypy", "prettier", "pylint", "pyright",
        "rubocop", "ruff", "standard", "tsc", "xo",
    ];
    let path = fresh.path.as_slice();
    let name = path.rsplit_once_str("/").map_or(path, |(_, name)| name);
    let mut words = subjected.invocation.words.iter().skip(1);
    words.any(|word| word.shown().ends_with_str(name))
        && !CHECKING.iter().any(|checking| subjected.reading.name == *checking)
}

/// A program in two files, neither of which tells: one finds the home, the other removes what it is given.
fn with_parts(fresh: &Fresh, all: &[Fresh]) -> Option<BString> {
    let code = |it: &Fresh| matches!(kind_of(it.path.as_bstr()), Some(FileKind::Code(_)));
    let named = |other: &&Fresh| {
        let name = other.path.rsplit_once_str("/").map_or(other.path.as_slice(), |(_, name)| name);
        let stem = name.split_once_str(".").map_or(name, |(stem, _)| stem);
        let imported = |quote: &str| fresh.text.contains_str([quote.as_bytes(), stem].concat());
        other.path != fresh.path
            && stem.len() > 1
            && code(other)
            && ["./", "import ", "from ", "from .", "require_relative '", "require_relative \""]
                .iter()
                .any(|quote| imported(quote))
    };
    if all.len() < 2 || !code(fresh) {
        return None;
    }
    let parts: Vec<&BString> = all.iter().filter(named).map(|other| &other.text).collect();
    let all = parts.iter().map(|text| text.as_slice()).chain([fresh.text.as_slice()]);
    (!parts.is_empty()).then(|| BString::from(bstr::join("\n", all)))
}

/// `@test "name" {` of a file of tests for shells is a function to the shell.
fn without_test_names(text: &BString) -> BString {
    if !text.contains_str("@test ") {
        return text.clone();
    }
    // What such a file calls besides programs; `run` only keeps what its words print.
    let mut plain = BString::default();
    for name in ["assert", "assert_equal", "assert_failure", "assert_line", "assert_output"]
        .iter()
        .chain(&["assert_success", "load", "refute", "refute_line", "refute_output", "skip"])
    {
        plain.extend_from_slice(name.as_bytes());
        plain.extend_from_slice(b"() { :; }\n");
    }
    let text = BString::from(text.replace("{ run ", "{ "));
    for line in text.lines() {
        let body = line
            .trim_ascii_start()
            .strip_prefix(b"@test ")
            .and_then(|rest| rest.find_byte(b'{').and_then(|at| rest.get(at..)));
        match body {
            Some(body) => {
                plain.extend_from_slice(b"tested() ");
                plain.extend_from_slice(body);
            }
            None => {
                let line = line.trim_ascii_start();
                plain.extend_from_slice(line.strip_prefix(b"run ").unwrap_or(line));
            }
        }
        plain.push(b'\n');
    }
    plain
}

/// Is this the command that has written it?
fn is_own(subjected: &Subjected<'_>, fresh: &Fresh) -> bool {
    let words = bstr::join(" ", subjected.invocation.words.iter().map(Word::shown));
    fresh.text.starts_with(&words)
}

/// What wrote it has the content among its words.
fn is_typed(fresh: &Fresh) -> bool {
    let name = fresh.text.split_str(" ").next().unwrap_or_default();
    let reading = programs::read(&[Word::literal(name)]);
    !reading.known || makes_texts(&reading) || ["tee", "dd"].iter().any(|it| name == it.as_bytes())
}

/// When the code in a file runs: by its name, or because other settings name it.
fn loaded(inside: &BStr, fresh: &Fresh, all: &[Fresh]) -> Loaded {
    let path = fresh.path.as_bstr();
    if is_data(path) {
        return Loaded::AsData;
    }
    let name = path.rsplit_once_str("/").map_or(path.as_bytes(), |(_, name)| name);
    let stem = name.split_once_str(".").map_or(name, |(stem, _)| stem);
    let names_it = |other: &Fresh| {
        other.path != fresh.path
            && !stem.is_empty()
            && matches!(kind_of(other.path.as_bstr()), Some(FileKind::Manifest | FileKind::Unknown))
            && other.text.contains_str(stem)
    };
    // Part of the program, or a test of it.
    let tests = ["test", "spec", "Test", "Spec"].iter().any(|part| name.contains_str(part))
        || inside.starts_with(b"src/")
        || inside.contains_str("/src/");
    let known = matches!(kind_of(path), Some(FileKind::Code(_) | FileKind::Source));
    if !known || (is_loaded_at_once(path) && !tests) || all.iter().any(names_it) {
        Loaded::AtOnce
    } else {
        Loaded::WithProgram
    }
}

/// `gcc -xc - <<< 'int main() { system("x"); }'`, `ocaml -stdin <<< …`: a source that no file has.
fn source_on_input<'s>(subjected: &'s Subjected<'_>) -> Option<&'s BString> {
    let reading = subjected.reading;
    let Input::Text(Word::Literal(text)) = &subjected.invocation.input else { return None };
    let name = reading.name.as_bstr();
    let compiles = programs::Kind::Compiles.includes(name)
        && subjected.invocation.words.iter().any(|word| word.shown() == "-");
    let mut options = reading.options.iter().flat_map(|option| &option.names);
    let told = options.any(|name| name.ends_with_str("stdin"))
        || subjected.invocation.words.iter().any(|word| word.shown().ends_with_str("stdin"));
    (compiles || told && programs::Kind::RunsProject.includes(name)).then_some(text)
}

/// Whatever is not known to load nothing may find what was written: settings, plugins, tasks, sources.
fn may_load_the_project(subjected: &Subjected<'_>) -> bool {
    let reading = subjected.reading;
    let name = reading.name.as_bstr();
    reading.path.is_some()
        || programs::Kind::RunsProject.includes(name)
        || !(subjected.builtin
            || subjected.invocation.defined
            || programs::Kind::LoadsNothing.includes(name))
}

/// `git commit`: what this text has put into hooks runs.
fn runs_hooks(subjected: &Subjected<'_>) -> bool {
    const RUNNING: [&str; 9] =
        ["am", "checkout", "commit", "merge", "pull", "push", "rebase", "stash", "switch"];
    let mut words = subjected.invocation.words.iter();
    subjected.reading.name == "git"
        && words.any(|word| RUNNING.iter().any(|running| word.shown() == *running))
}
