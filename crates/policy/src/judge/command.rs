//! One effective command: which program it is, what the rules say of it, what its words do.

use bstr::{BStr, BString, ByteSlice};

use super::inquiry::{Inquiry, Lifted, built_in};
use crate::effect::{Effect, Language, More};
use crate::event::{Access, Directory, Input, Invocation};
use crate::glob;
use crate::programs::{self, Reading};
use crate::rules::Subject;
use crate::rules::grant::Grant;
use crate::surroundings::Place;
use crate::verdict::{Decision, Finding};
use crate::walk::LATE;
use crate::word::Word;

/// How many files a pattern in the place of a command is compared with.
const GLOB_LIMIT: usize = 64;

/// A command with what its program's table says of it.
pub(super) struct Subjected<'a> {
    pub invocation: &'a Invocation,
    pub reading: &'a Reading,
    pub builtin: bool,
    /// Rules that do not count for it.
    pub lifted: Vec<Lifted>,
    /// Hosts that a matching rule grants.
    pub hosts: Vec<Grant>,
    /// A matching rule has it write directly.
    pub direct: bool,
    pub directory: Directory,
}

impl<'a> Subjected<'a> {
    /// A program of which nothing but its words is known.
    pub fn of(invocation: &'a Invocation, reading: &'a Reading) -> Self {
        Subjected {
            invocation,
            reading,
            builtin: false,
            lifted: Vec::new(),
            hosts: Vec::new(),
            direct: false,
            directory: invocation.directory.clone(),
        }
    }
}

impl Inquiry<'_> {
    /// Judges a command and everything that its words make it do.
    pub fn command(&mut self, invocation: &Invocation) {
        if !self.count() {
            return;
        }
        let Some(name) = invocation.words.first() else { return };
        match name {
            // The place that `xargs -I{}` and `find -exec` keep for what comes.
            Word::Literal(place) if place == "{}" => {
                let mut findings = self.situation("dynamic-command", "{}");
                self.unknown_in_task(invocation, &mut findings);
                self.note_command(invocation, findings);
            }
            Word::Literal(_) => self.named_command(invocation),
            Word::Dynamic(dynamic) => {
                if !dynamic.values.is_empty() {
                    let values = dynamic.values.clone();
                    return self.each_name(invocation, values);
                }
                if let Some(pattern) = &dynamic.glob {
                    let found = self.glob(invocation, pattern.as_bstr());
                    if !found.is_empty() {
                        return self.each_name(invocation, found);
                    }
                }
                let about = dynamic.written.to_str_lossy();
                let mut findings = self.situation("dynamic-command", &about);
                self.unknown_in_task(invocation, &mut findings);
                self.note_command(invocation, findings);
            }
        }
    }

    /// A name that can only be one of these.
    fn each_name(&mut self, invocation: &Invocation, names: Vec<BString>) {
        for name in names {
            let mut invocation = invocation.clone();
            if let Some(first) = invocation.words.first_mut() {
                *first = Word::Literal(name);
            }
            self.command(&invocation);
        }
    }

    /// What a pattern in the place of a command can mean: files that are there, and programs that may be.
    fn glob(&self, invocation: &Invocation, pattern: &BStr) -> Vec<BString> {
        let Some(pattern) = super::paths::absolute(pattern, &invocation.directory) else {
            return Vec::new();
        };
        let mut found = self.world.glob(pattern.as_bstr(), GLOB_LIMIT);
        found.extend(system_programs(pattern.as_bstr()));
        found
    }

    fn named_command(&mut self, invocation: &Invocation) {
        let reading = programs::read(&invocation.words);
        let builtin = reading.path.is_none() && self.world.is_builtin(reading.name.as_bstr());
        let mut subjected = Subjected { builtin, ..Subjected::of(invocation, &reading) };
        self.decodes |= decodes(&reading);
        self.note_listing(&reading);
        self.note_sought(&subjected);
        self.note_processes(&subjected);
        self.reads_over(&subjected);
        if let Some(home) = super::home::goes_home(&reading, self.world.root()) {
            self.at_home = home;
        }
        let piped = matches!(invocation.input, Input::Pipe(_));
        self.remade = remakes(&reading, &invocation.input) || (self.remade && piped);
        self.unpacks_decoded |= self.decodes && unpacks(&reading);
        self.note_maker(invocation, &reading);
        self.joined = self.joins(&subjected);
        let mut findings = self.by_rules(&mut subjected);
        self.soften(&subjected, &mut findings);
        self.by_path(&mut subjected, &mut findings);
        subjected.hosts.iter().for_each(|grant| self.reach(grant));
        if findings.is_empty() {
            findings = self.unmatched(&subjected);
        }
        self.direct |= subjected.direct;
        if !subjected.builtin && !subjected.direct && self.world.writes_directly() {
            let about = reading.name.to_str_lossy();
            findings.extend(self.situation_unless("direct-write", &about, &subjected.lifted));
        }
        self.listed_names(&subjected, &mut findings);
        if self.deletes_everything(&reading) {
            findings.extend(self.situation("whole-project", "find -delete"));
        }
        self.told(&subjected, &mut findings);
        if self.at_home && unpacks(&reading) {
            findings.extend(self.situation("home-path", "~"));
        }
        if invocation.via.iter().any(|step| step == LATE) {
            findings.extend(self.situation("late-text", LATE));
        }
        for (name, value) in &invocation.assignments {
            self.looks_up(name, value);
            self.variable(name, value, &mut findings);
        }
        let nested = self.effects(&mut subjected, &mut findings);
        self.unread(&subjected, &mut findings);
        self.names_secrets(&subjected, &mut findings);
        self.in_task(&subjected, &mut findings);
        self.note_command(invocation, findings);
        for effect in nested {
            self.nested_effect(&subjected, effect);
        }
        self.written_program(&subjected);
        self.listed(&subjected);
        self.names_in_input(&subjected);
        self.through(&subjected);
        self.implied(&subjected);
    }

    /// All commands of `{ echo x; cat y; } > z` make one text, with what they are fed.
    fn note_maker(&mut self, invocation: &Invocation, reading: &Reading) {
        const MOST: usize = 256;
        if !makes_texts(reading) || self.maker.len() > MOST {
            return;
        }
        self.maker.extend_from_slice(&invocation.words);
        if let Input::Text(text) = &invocation.input {
            self.maker.push(text.clone());
        }
    }

    /// `cat a b`, of files that this text has written.
    fn joins(&self, subjected: &Subjected<'_>) -> Option<BString> {
        let reading = subjected.reading;
        if reading.name != "cat" || self.written.is_empty() || reading.operands.is_empty() {
            return None;
        }
        let contents = reading.operands.iter().map(|operand| {
            let path = super::paths::absolute(operand.as_literal()?, &subjected.directory)?;
            self.written.get(&path)
        });
        let contents: Option<Vec<&BString>> = contents.collect();
        contents.map(|contents| bstr::concat(contents).into())
    }

    /// What a rule says by the words alone, and their place makes harmless.
    fn soften(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        super::effects::talks_to_itself(subjected, findings);
        self.empties_a_part(subjected, findings);
        super::production::spare_tests(subjected, findings);
    }

    /// What its words tell together, or with what it is fed.
    fn told(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        self.removes_sought(subjected, findings);
        self.ends_processes(subjected, findings);
        self.changes_production(subjected, findings);
        self.answered(subjected, findings);
        // `eval $X`: nobody evaluates nothing, so the variable is meant to be set when it runs.
        if subjected.reading.name == "eval"
            && subjected.invocation.words.iter().skip(1).all(|word| word.shown() == "--")
            && !self.comes_back
        {
            findings.extend(self.situation("dynamic-code", "eval"));
        }
    }

    /// `printf '%s' ~/.ssh/*`: whoever lists what is guarded wants more than the names.
    fn listed_names(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        if !matches!(subjected.reading.name.as_slice(), b"echo" | b"printf") {
            return;
        }
        for word in subjected.invocation.words.iter().skip(1) {
            if matches!(word, Word::Dynamic(dynamic) if dynamic.glob.is_some()) {
                self.path(word, Access::Read, subjected, findings);
            }
        }
    }

    /// A program that this very text has written: `cat > x.sh <<E …; ./x.sh`.
    fn written_program(&mut self, subjected: &Subjected<'_>) {
        let path = subjected.reading.path.clone().or_else(|| self.looked_up(subjected));
        let Some(path) = &path else { return };
        let Some(absolute) = super::paths::key(path, &subjected.directory) else { return };
        if self.comes_from_hidden(&absolute) {
            self.decoded(subjected, path);
        }
        let Some(content) = self.written.get(&absolute) else { return };
        if let Some(words) = interpreter_of(content.as_bstr(), path, subjected) {
            let effect = Effect::Run { words, assignments: Vec::new(), more: More::None };
            return self.nested_effect(subjected, &effect);
        }
        let language = language_of(content.as_bstr());
        self.nested_effect(subjected, &Effect::ScriptFile { language, path: path.clone() });
    }

    /// What is in the file was decoded, or may have been unpacked from what was.
    pub fn comes_from_hidden(&self, path: &BString) -> bool {
        self.decodes && self.filled.contains(path)
            || self.unpacks_decoded && !self.written.contains_key(path)
    }

    /// A name that leads to what this text has put into a directory of programs.
    fn looked_up(&self, subjected: &Subjected<'_>) -> Option<Word> {
        if self.written.is_empty() && self.filled.is_empty() {
            return None;
        }
        let name = subjected.invocation.words.first()?.as_literal()?;
        let looked_up = self.program_directories.iter().find_map(|directory| {
            let path = BString::from([directory.as_slice(), b"/", name.as_bytes()].concat());
            let there = self.written.contains_key(&path) || self.filled.contains(&path);
            there.then_some(Word::Literal(path))
        });
        // Package managers look there without being told.
        let end = [b"/.bin/", name.as_bytes()].concat();
        let installed = || self.written.keys().find(|path| path.ends_with(&end));
        looked_up.or_else(|| installed().map(|path| Word::Literal(path.clone())))
    }

    fn by_rules(&self, subjected: &mut Subjected<'_>) -> Vec<Finding> {
        let subject = Subject::Command {
            reading: subjected.reading,
            input: &subjected.invocation.input,
            builtin: subjected.builtin,
        };
        let mut findings = Vec::new();
        for rule in self.policy.rules().matching(&subject, self.policy.profile()) {
            subjected.hosts.extend(rule.hosts.iter().cloned());
            subjected.direct |= rule.written.direct;
            let lifts = rule.written.overrides.iter();
            subjected.lifted.extend(lifts.map(|id| Lifted { rule: id.clone(), by: rule.tier }));
            findings.push(self.finding(rule, subjected.reading.name.clone()));
        }
        findings
    }

    /// A program named by its path: the project's own, or something outside.
    fn by_path(&self, subjected: &mut Subjected<'_>, findings: &mut Vec<Finding>) {
        let Some(path) = &subjected.reading.path else { return };
        self.path(path, Access::Execute, subjected, findings);
        if !looks_like_a_path(path) {
            return;
        }
        let place = self.place_of(path, &subjected.directory);
        if !matches!(place, Some(Place::Project | Place::Scratch) | None) {
            return;
        }
        // It only has the name of what a rule is about: nobody knows what it is.
        subjected.hosts.clear();
        subjected.direct = false;
        for finding in findings.iter_mut() {
            if finding.decision == Decision::Deny {
                *finding = Finding { decision: Decision::Confirm, ..finding.clone() };
            }
        }
        findings.retain(|finding| finding.decision > Decision::Allow);
        findings.extend(self.situation("project-program", &path.shown().to_str_lossy()));
        if place == Some(Place::Scratch) && is_hidden(path) {
            findings.extend(self.situation("unknown-program", &path.shown().to_str_lossy()));
        }
        if let Some(shell) = subjected.invocation.words.iter().skip(1).find(|it| is_shell(it)) {
            let about = shell.shown().to_str_lossy();
            findings.extend(self.situation("executing-option", &about));
        }
    }

    /// No rule is about this command.
    fn unmatched(&self, subjected: &Subjected<'_>) -> Vec<Finding> {
        if subjected.invocation.defined || self.world.is_defined(subjected.reading.name.as_bstr()) {
            let reason = "a function or alias of the script: what it runs is judged by itself";
            return vec![built_in(Decision::Allow, "defined-here", reason)];
        }
        if subjected.builtin {
            let reason = "runs in process, confined to the project";
            return vec![built_in(Decision::Allow, "in-process", reason)];
        }
        let name = subjected.reading.name.to_str_lossy();
        if is_task(subjected) || is_script_of_package(subjected) {
            return self.situation("project-program", &name);
        }
        self.situation_unless("unknown-program", &name, &subjected.lifted)
    }
}

/// `/tmp/.x`: nobody who builds something hides it.
pub(super) fn is_hidden(path: &Word) -> bool {
    let mut parts = path.shown().split_str("/");
    parts.any(|part| part.starts_with(b".") && part != b"." && part != b"..")
}

/// `hatch run cov`: a name that is no program is a task in the settings of the project.
fn is_task(subjected: &Subjected<'_>) -> bool {
    const RUNNERS: [&str; 4] = ["hatch", "pdm", "pipenv", "rye"];
    let via = subjected.invocation.via.last();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(byte);
    via.is_some_and(|via| RUNNERS.iter().any(|runner| via == runner))
        && !subjected.reading.known
        && subjected.reading.name.iter().all(plain)
}

/// `yarn setup`, `pnpm gen:types`: a word that is no subcommand is a script in the package's manifest. Those that
/// publish are asked about, as `npm run publish` is.
fn is_script_of_package(subjected: &Subjected<'_>) -> bool {
    const RUNNERS: [&str; 3] = ["bun", "pnpm", "yarn"];
    const ASKED: [&str; 9] =
        ["deploy", "dlx", "global", "link", "login", "publish", "release", "ship", "unplug"];
    let reading = subjected.reading;
    let runs = RUNNERS.iter().any(|runner| reading.name == *runner) && reading.path.is_none();
    let name = reading.operands.first().and_then(Word::as_literal).unwrap_or_default();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(byte);
    let asked = |part: &[u8]| ASKED.iter().any(|it| part == it.as_bytes());
    runs && !name.is_empty()
        && name.iter().all(plain)
        && name.first().is_some_and(u8::is_ascii_alphabetic)
        && !name.split(|byte| b":-".contains(byte)).any(asked)
        && !programs::read(&[Word::literal(name)]).known
}

/// Puts files wherever it stands.
fn unpacks(reading: &Reading) -> bool {
    const NAMES: [&str; 10] =
        ["7z", "7za", "bsdtar", "cpio", "gtar", "pax", "tar", "unar", "unrar", "unzip"];
    NAMES.iter().any(|name| reading.name == *name)
}

/// Turns text that nobody can read into something else.
fn decodes(reading: &Reading) -> bool {
    const DECODERS: [(&str, &[&str]); 8] = [
        ("base64", &["-d", "-D", "--decode"]),
        ("base32", &["-d", "-D", "--decode"]),
        ("basenc", &["-d", "-D", "--decode"]),
        ("xxd", &["-r", "-revert"]),
        ("openssl", &["-d"]),
        ("gpg", &["-d", "--decrypt"]),
        ("age", &["-d", "--decrypt"]),
        ("uudecode", &[]),
    ];
    let given = |wanted: &[&str]| {
        let mut names = reading.options.iter().flat_map(|option| &option.names);
        wanted.is_empty() || names.any(|name| wanted.iter().any(|it| name == it))
    };
    DECODERS.iter().any(|(name, options)| reading.name == *name && given(options))
}

/// `sed s/x/y/ <<< TEXT`: whoever changes a text that he has just written hides what it becomes.
fn remakes(reading: &Reading, input: &Input) -> bool {
    const CHANGING: [&str; 9] = ["awk", "cut", "gawk", "perl", "python", "rev", "sed", "tac", "tr"];
    matches!(input, Input::Text(_)) && CHANGING.iter().any(|name| reading.name == *name)
}

/// Prints or writes what its words say.
pub(super) fn makes_texts(reading: &Reading) -> bool {
    const MAKERS: [&str; 15] = [
        "awk", "cat", "echo", "ed", "envsubst", "ex", "gawk", "jq", "node", "perl", "printf",
        "python", "ruby", "sed", "yq",
    ];
    MAKERS.iter().any(|name| reading.name == *name)
}

/// Not an address, and nothing that only looks like a path or a name: `curl\u{a0}http://x`.
fn looks_like_a_path(path: &Word) -> bool {
    path.as_literal().is_none_or(|path| {
        // `rm -rf /` in one word has a slash, but is no path.
        let first = path.split_str(" ").next().unwrap_or_default();
        !path.contains_str("://")
            && first.contains(&b'/')
            && path.chars().all(|c| c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ')
    })
}

/// `#!/bin/rm -rf`: what runs is the program of the first line, if that is none which reads the rest as code.
fn interpreter_of(content: &BStr, path: &Word, subjected: &Subjected<'_>) -> Option<Vec<Word>> {
    let line = content.lines().next()?.strip_prefix(b"#!")?;
    let mut words: Vec<Word> = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .map(Word::literal)
        .collect();
    let reading = programs::read(&words);
    let reads = reading
        .effects
        .iter()
        .any(|effect| !matches!(effect, Effect::Open { .. } | Effect::Directory(_)));
    if words.is_empty() || reads || !reading.known {
        return None;
    }
    words.push(path.clone());
    words.extend(subjected.invocation.words.iter().skip(1).cloned());
    Some(words)
}

/// By its first line; without one a shell reads it.
fn language_of(content: &BStr) -> Language {
    const KNOWN: [(&str, Language); 8] = [
        ("python", Language::Python),
        ("node", Language::Node),
        ("perl", Language::Perl),
        ("ruby", Language::Ruby),
        ("php", Language::Php),
        ("lua", Language::Lua),
        ("awk", Language::Awk),
        ("make", Language::Make),
    ];
    let first = content.lines().next().unwrap_or_default();
    let named = |name: &str| first.starts_with(b"#!") && first.contains_str(name);
    KNOWN.iter().find(|(name, _)| named(name)).map_or(Language::Shell, |(_, language)| *language)
}

/// `./tool /bin/sh`: whoever hands a shell to a program wants it started.
fn is_shell(word: &Word) -> bool {
    const SHELLS: [&str; 5] = ["bash", "dash", "ksh", "sh", "zsh"];
    let Some(word) = word.as_literal() else { return false };
    let program = word.split_str(" ").next().unwrap_or_default();
    let name = program.strip_prefix(b"/bin/").or_else(|| program.strip_prefix(b"/usr/bin/"));
    name.is_some_and(|name| SHELLS.iter().any(|shell| name == shell.as_bytes()))
}

/// Directories where programs are.
const PROGRAM_DIRECTORIES: [&[u8]; 6] =
    [b"/bin", b"/sbin", b"/usr/bin", b"/usr/sbin", b"/usr/local/bin", b"/usr/local/sbin"];

/// Programs with a table that the pattern matches in a directory of programs, on this machine or not.
fn system_programs(pattern: &BStr) -> Vec<BString> {
    let Some((directory, last)) = pattern.rsplit_once_str("/") else { return Vec::new() };
    let wanted: Vec<&[u8]> = directory.split_str("/").collect();
    let place = PROGRAM_DIRECTORIES.iter().find(|known| {
        let parts: Vec<&[u8]> = known.split_str("/").collect();
        parts.len() == wanted.len()
            && wanted.iter().zip(&parts).all(|(pattern, part)| glob::matches(pattern, part))
    });
    let Some(place) = place else { return Vec::new() };
    let names = programs::known_names().filter(|name| glob::matches(last, name.as_bytes()));
    names.map(|name| BString::from([place, &b"/"[..], name.as_bytes()].concat())).collect()
}
