//! What a text leaves behind in files that run by themselves later: a download piped into a shell in `setup.py`, a
//! connection for a shell in a `Makefile`. Nothing runs it now, so it is asked about and not refused, and only what no
//! project has a use for counts.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use super::obeyed::is_for_a_server;
use super::quoted;
use crate::code::Level;
use crate::effect::Language;
use crate::event::{Directory, Invocation};
use crate::programs;
use crate::rules::Subject;
use crate::verdict::{Decision, Verdict};
use crate::word::Word;

/// Files that are run without being named: when a project is built, tested, installed or opened.
const RUN_LATER: &[&str] = &[
    "CMakeLists.txt",
    "GNUmakefile",
    "Gemfile",
    "Justfile",
    "Makefile",
    "Rakefile",
    "SConstruct",
    "Taskfile.yml",
    "binding.gyp",
    "build.gradle",
    "build.gradle.kts",
    "build.rs",
    "build.sbt",
    "build.xml",
    "composer.json",
    "conftest.py",
    "extconf.rb",
    "gulpfile.js",
    "justfile",
    "makefile",
    "manage.py",
    "meson.build",
    "mix.exs",
    "noxfile.py",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "wscript",
    "__init__.py",
];

const ENDINGS: &[&str] =
    &[".gemspec", ".podspec", ".config.js", ".config.ts", ".config.mjs", "rc.js"];

impl Inquiry<'_> {
    /// Looks at what was written and not run.
    pub fn left_behind(&mut self) {
        if self.fresh.is_empty() {
            return;
        }
        self.web_shells();
        self.obeyed_by_servers();
        let left = self.unrun(is_run_later);
        for (path, text) in left {
            let words = vec![Word::Literal(path.clone())];
            let reading = programs::read(&words);
            let directory = Directory::Known(self.world.directory().into());
            let invocation = Invocation { words, directory, ..Invocation::default() };
            let subjected = Subjected::of(&invocation, &reading);
            self.left_in(&subjected, &path, text.as_bstr());
        }
    }

    /// `<?php system($_GET["c"]);`: a page that runs what its visitors say.
    fn web_shells(&mut self) {
        for (path, text) in self.unrun(is_page) {
            if runs_requests(text.as_bstr()) {
                let subject = Subject::Code { language: Language::Other, level: Level::Dangerous };
                let findings = self.rules_on(&subject, &[]);
                self.note(vec![path], &Vec::new(), findings);
            }
        }
    }

    fn left_in(&mut self, subjected: &Subjected<'_>, path: &BString, text: &BStr) {
        let attacks = quoted::commands(text).into_iter().find(|text| {
            let typed = Word::Literal(text.clone());
            let verdict = self.aside(|inquiry| inquiry.shell(subjected, &typed, Vec::new()));
            is_attack(&verdict)
        });
        let Some(seen) = attacks else { return };
        let subject = Subject::Code { language: Language::Other, level: Level::Dangerous };
        let mut findings = self.rules_on(&subject, &[]);
        for finding in &mut findings {
            finding.about.clone_from(&seen);
        }
        self.note(vec![path.clone()], &Vec::new(), findings);
    }
}

fn is_page(path: &BStr) -> bool {
    const PAGES: [&str; 10] =
        [".php", ".phtml", ".php5", ".phar", ".jsp", ".jspx", ".asp", ".aspx", ".cgi", ".cfm"];
    PAGES.iter().any(|end| path.ends_with(end.as_bytes()))
}

/// Something that runs texts stands on the same line as what a visitor has sent.
fn runs_requests(text: &BStr) -> bool {
    const RUNNING: [&str; 14] = [
        "system(",
        "exec(",
        "passthru(",
        "popen(",
        "proc_open(",
        "eval(",
        "assert(",
        "eval ",
        "execute(",
        "Execute(",
        "create_function(",
        "Process.Start",
        "ProcessBuilder",
        "execute ",
    ];
    const SENT: [&str; 14] = [
        "$_GET",
        "$_POST",
        "$_REQUEST",
        "$_COOKIE",
        "$_SERVER[",
        "php://input",
        "request(",
        "Request(",
        "request.getParameter",
        "Request.QueryString",
        "Request.Form",
        "Request[",
        "Request.Item",
        "request.form",
    ];
    let names = |line: &[u8], sights: &[&str]| sights.iter().any(|sight| line.contains_str(sight));
    text.lines().any(|line| names(line, &RUNNING) && names(line, &SENT) || line.contains_str("`$_"))
}

fn is_run_later(path: &BStr) -> bool {
    let name = path.rsplit_once_str("/").map_or(path.as_bytes(), |(_, name)| name);
    RUN_LATER.iter().any(|known| name == known.as_bytes())
        || is_for_a_server(path)
        || ENDINGS.iter().any(|end| name.ends_with(end.as_bytes()))
}

/// A download that is run, or a connection that a shell listens on.
fn is_attack(verdict: &Verdict) -> bool {
    const RAW: [&str; 3] = ["block-netcat", "block-netcat-siblings", "block-decoded-shell"];
    const FETCHING: [&str; 2] = ["block-curl", "block-fetch-siblings"];
    let found = |wanted: &[&str]| {
        verdict.commands.iter().flat_map(|command| &command.findings).any(|finding| {
            finding.decision > Decision::Allow && wanted.iter().any(|rule| *finding.rule == **rule)
        })
    };
    found(&RAW)
        || found(&FETCHING)
            && (found(&["piped-code"]) || found(&["read-credentials"]) || sends(verdict))
}

/// `curl -F x=@file`, `wget --post-file=x`: a file goes out.
fn sends(verdict: &Verdict) -> bool {
    const SENDING: [&str; 9] = [
        "-F",
        "--form",
        "-T",
        "--upload-file",
        "-d",
        "--data",
        "--data-binary",
        "--post-file",
        "--body-file",
    ];
    let sending = |word: &BString| {
        let name = word.split_once_str("=").map_or(word.as_slice(), |(name, _)| name);
        SENDING.iter().any(|it| name == it.as_bytes())
    };
    let file = |word: &BString| word.contains(&b'@') || word.contains_str("-file");
    verdict.commands.iter().any(|command| {
        let argv = &command.argv;
        argv.iter().any(sending)
            && (argv.iter().any(file)
                || argv.iter().any(|word| word == "-T" || word == "--upload-file"))
    })
}
