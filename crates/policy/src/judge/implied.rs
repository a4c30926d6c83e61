//! Tools that run code of the project without being told which: `make`, `npm test`, `pytest`, `cargo build`. What
//! this very text has put into such files runs with them, and is read as if it were named.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::filekinds::{FileKind, is_task_file, kind_of};
use super::inquiry::Inquiry;
use super::quoted;
use crate::code::{Level, Reading};
use crate::effect::Language;
use crate::event::{Input, Via};
use crate::hosts::{host_of, is_loopback};
use crate::programs;
use crate::rules::Subject;
use crate::verdict::{Decision, Verdict};
use crate::word::Word;

/// So many files that were written are remembered until something runs them.
const MOST_FILES: usize = 64;

/// A file that this text has written, and that nothing has run since.
#[derive(Debug, Clone)]
pub(super) struct Fresh {
    path: BString,
    text: BString,
    /// The text is what wrote the file, not what is in it.
    guessed: bool,
}

/// What makes a program of such a source start another one.
const STARTING: &[&str] = &[
    "Command",
    "exec",
    "system",
    "popen",
    "spawn",
    "Process",
    "Runtime",
    "shell",
    "cmd",
    "execute",
    "commandLine",
    "go:generate",
];

/// What removes files, in languages nobody here reads …
const REMOVING: &[&str] = &[
    "RemoveAll",
    "os.Remove",
    "remove_dir",
    "remove_file",
    "unlink",
    "rmdir",
    "remove(",
    "rm_rf",
    "Files.delete",
    "deleteRecursively",
    ".delete(",
    "Directory.Delete",
    "File.Delete",
    "removeItem",
    "File.rm",
    "removeDirectory",
    "deleteTree",
    "removeFile",
    "nftw",
];

/// … what is secret wherever it lies …
const SECRET: &[&str] = &[
    ".ssh/",
    "id_rsa",
    "id_ed25519",
    ".netrc",
    ".aws/",
    ".git-credentials",
    ".gnupg",
    ".kube/",
    ".pypirc",
    ".docker/config",
];

/// … and what is not the project's.
const ELSEWHERE: &[&str] = &[
    "HOME",
    "UserHomeDir",
    "home_dir",
    "USERPROFILE",
    "user.home",
    "user_home",
    "UserProfile",
    "homeDirectory",
    "\"/home",
    "\"/root",
    "\"/etc",
    "\"/\"",
    "\"/usr",
    "\"/var",
];

/// … what writes, …
const WRITING: &[&str] = &[
    "WriteFile",
    "os.Create",
    "os.OpenFile",
    "fs::write",
    "File::create",
    "OpenOptions",
    "FileWriter",
    "Files.write",
    "writeText",
    "ofstream",
    "fopen(",
    "WriteAll",
    "File.write",
    "StreamWriter",
];

/// … what connects, …
const CONNECTING: &[&str] = &[
    "net.Dial",
    "TcpStream::connect",
    "new Socket(",
    "connect(",
    "TcpClient",
    "Socket.connect",
    "http.Get(",
    "http.Post",
    "http.NewRequest",
    "reqwest::",
    "ureq::",
    "HttpClient",
    "HttpURLConnection",
    "openConnection(",
    "WebClient",
];

/// … and a shell without a text, which takes its commands from somewhere.
const SHELLS: &[&str] = &[
    "\"sh\"",
    "\"bash\"",
    "\"/bin/sh\"",
    "\"/bin/bash\"",
    "\"/usr/bin/sh\"",
    "\"/usr/bin/bash\"",
    "\"cmd.exe\"",
    "\"/bin/sh -i\"",
    "\"/bin/bash -i\"",
];

impl Inquiry<'_> {
    /// A file was written, with this in it.
    pub fn freshly_written(&mut self, path: &BString, text: &BString) {
        self.remember(path, text.clone(), false);
    }

    /// A file was written by a command of these words; nobody knows what is in it.
    pub fn freshly_filled(&mut self, path: &BString, words: &[Word]) {
        if !words.is_empty() {
            let mut text = BString::from(bstr::join(" ", words.iter().map(Word::shown)));
            // What a word can be stands in lines of its own.
            for word in words {
                for value in word.values().filter(|values| values.len() > 1).unwrap_or_default() {
                    text.push(b'\n');
                    text.extend_from_slice(value);
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

    /// The files that were written with known content and not run since, of those that are wanted.
    pub fn unrun(&self, wanted: fn(&BStr) -> bool) -> Vec<(BString, BString)> {
        let known =
            self.fresh.iter().filter(|fresh| !fresh.guessed && wanted(fresh.path.as_bstr()));
        known.map(|fresh| (fresh.path.clone(), fresh.text.clone())).collect()
    }

    fn remember(&mut self, path: &BString, text: BString, guessed: bool) {
        if self.fresh.len() < MOST_FILES {
            self.fresh.push(Fresh { path: path.clone(), text, guessed });
        }
    }

    /// Reads what a tool that runs the project would now run.
    pub fn implied(&mut self, subjected: &Subjected<'_>) {
        if let Some(source) = compiled_input(subjected) {
            self.remember(&"input.c".into(), source.clone(), false);
        }
        if self.fresh.is_empty() || !runs_the_project(subjected) {
            return;
        }
        let mut via = subjected.invocation.via.clone();
        via.push(subjected.reading.name.clone());
        self.any_fresh(subjected, &via);
    }

    /// Reads all that was written and not run yet.
    pub fn any_fresh(&mut self, subjected: &Subjected<'_>, via: &Via) {
        for fresh in std::mem::take(&mut self.fresh) {
            self.nested(|inquiry| inquiry.implied_file(subjected, &fresh, via));
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
            self.texts_in(subjected, &fresh, via);
        }
    }

    fn implied_file(&mut self, subjected: &Subjected<'_>, fresh: &Fresh, via: &Via) {
        if !fresh.guessed {
            let mut findings = Vec::new();
            self.built_in_files(&fresh.path, fresh.text.as_bstr(), &mut findings);
            self.note(vec![fresh.path.clone()], via, findings);
        }
        let Some(kind) = kind_of(fresh.path.as_bstr()) else { return };
        match kind {
            _ if fresh.guessed => self.texts_in(subjected, fresh, via),
            FileKind::Code(Language::Shell) => {
                self.shell(subjected, &Word::Literal(fresh.text.clone()), via.clone());
            }
            FileKind::Code(language) => {
                self.known_code(subjected, language, fresh.text.as_bstr(), via, is_telling);
                if is_task_file(fresh.path.as_bstr()) {
                    self.texts_in(subjected, fresh, via);
                }
            }
            FileKind::Source => {
                if STARTING.iter().any(|name| fresh.text.contains_str(name)) {
                    self.texts_in(subjected, fresh, via);
                }
                self.reaches_elsewhere(subjected, fresh, via);
            }
            FileKind::Manifest => self.texts_in(subjected, fresh, via),
        }
    }

    /// `os.RemoveAll(os.Getenv("HOME"))`: removes or writes what is not the project's, or reads what is secret there;
    /// a shell on a connection, or one that nobody gives a text to.
    fn reaches_elsewhere(&mut self, subjected: &Subjected<'_>, fresh: &Fresh, via: &Via) {
        let names = |sights: &[&str]| sights.iter().any(|sight| fresh.text.contains_str(sight));
        let elsewhere = names(ELSEWHERE) && (names(REMOVING) || names(SECRET) || names(WRITING));
        let shell = names(STARTING) && names(SHELLS);
        let bare = shell && !fresh.text.contains_str("\"-c\"");
        if elsewhere || bare || (names(CONNECTING) && (shell || self.reaches_a_stranger(fresh))) {
            let subject = Subject::Code { language: Language::Other, level: Level::Dangerous };
            let findings = self.rules_on(&subject, &subjected.lifted);
            self.note(vec![fresh.path.clone()], via, findings);
        }
    }

    /// The source names a machine, or takes the name from a variable that this text exports.
    fn reaches_a_stranger(&self, fresh: &Fresh) -> bool {
        const ADDRESSES: [&str; 4] = ["http://", "https://", "tcp://", "ws://"];
        let named = |text: &BStr| {
            ADDRESSES.iter().any(|scheme| {
                text.find_iter(scheme).any(|at| {
                    let rest = text.get(at..).unwrap_or_default();
                    let ends = |byte: &u8| b"\"'` \\".contains(byte) || byte.is_ascii_whitespace();
                    let end = rest.iter().position(ends).unwrap_or(rest.len());
                    let address = rest.get(..end).unwrap_or(rest).as_bstr();
                    !is_loopback(host_of(address)) && address.len() > scheme.len()
                })
            })
        };
        let reads = ["Getenv", "env::var", "getenv", "GetEnvironmentVariable"];
        let looks_like_a_host = |value: &BStr| value.contains(&b'.') && !value.starts_with(b"/");
        let from_variable = reads.iter().any(|sight| fresh.text.contains_str(sight))
            && self.exported.iter().any(|it| {
                let value = it.value.shown();
                named(value) || (fresh.text.contains_str(&it.name) && looks_like_a_host(value))
            });
        named(fresh.text.as_bstr()) || from_variable
    }

    /// Texts that would be refused if somebody typed them.
    fn texts_in(&mut self, subjected: &Subjected<'_>, fresh: &Fresh, via: &Via) {
        let found = quoted::commands(fresh.text.as_bstr()).into_iter().find(|text| {
            let verdict = self.aside(|inquiry| {
                inquiry.shell(subjected, &Word::Literal(text.clone()), via.clone());
            });
            is_refused(&verdict)
        });
        let Some(text) = found else { return };
        let subject = Subject::Code { language: Language::Other, level: Level::Dangerous };
        let mut findings = self.rules_on(&subject, &subjected.lifted);
        for finding in &mut findings {
            finding.about.clone_from(&text);
        }
        self.note(vec![fresh.path.clone()], via, findings);
    }
}

/// Denied, or asked about for what it does and not for being unknown.
fn is_refused(verdict: &Verdict) -> bool {
    const TELLING: [&str; 12] = [
        "ask-rm-everything",
        "home-path",
        "network",
        "piped-code",
        "read-credentials",
        "write-agent-instructions",
        "write-agent-settings",
        "write-credentials",
        "write-editor-tasks",
        "write-git-internals",
        "write-shell-startup",
        "whole-project",
    ];
    verdict.decision == Decision::Deny
        || verdict.commands.iter().flat_map(|command| &command.findings).any(|finding| {
            finding.decision > Decision::Allow && TELLING.iter().any(|rule| *finding.rule == **rule)
        })
}

/// A project's own code may well use the network and start programs, which are judged where they are named. What it
/// has little reason to do is to remove trees, to run text that it makes, or to hide what it runs.
fn is_telling(reading: &Reading) -> bool {
    const SIGHTS: [&str; 17] = [
        "system",
        "popen",
        "eval",
        "exec",
        "b64",
        "base64",
        "rmtree",
        "rmSync",
        "rmdir",
        "unlink",
        "pty",
        "ctypes",
        "Function",
        "marshal",
        "__import__",
        "$(shell",
        "include",
    ];
    reading.level == Level::Dangerous && SIGHTS.iter().any(|it| reading.seen.contains_str(it))
}

/// `gcc -xc - <<< 'int main() { system("x"); }'`
fn compiled_input<'s>(subjected: &'s Subjected<'_>) -> Option<&'s BString> {
    let reading = subjected.reading;
    let compiles = programs::Kind::Compiles.includes(reading.name.as_bstr())
        && subjected.invocation.words.iter().any(|word| word.shown() == "-");
    match &subjected.invocation.input {
        Input::Text(Word::Literal(text)) if compiles => Some(text),
        _ => None,
    }
}

fn runs_the_project(subjected: &Subjected<'_>) -> bool {
    let reading = subjected.reading;
    reading.path.is_some() || programs::Kind::RunsProject.includes(reading.name.as_bstr())
}
