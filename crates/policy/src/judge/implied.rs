//! Tools that run code of the project without being told which: `make`, `npm test`, `pytest`, `cargo build`. What
//! this very text has put into such files runs with them, and is read as if it were named.

use bstr::{BStr, BString, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use super::quoted;
use crate::code::{Level, Reading};
use crate::effect::Language;
use crate::event::{Input, Via};
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

/// Programs that build, test, check or run a project: with its settings, its plugins, its own code. Sorted.
const RUNNERS: &[&str] = &[
    "ant",
    "ava",
    "babel",
    "bazel",
    "behave",
    "black",
    "bmake",
    "buck",
    "build",
    "bun",
    "bunx",
    "bundle",
    "bundler",
    "busted",
    "c++",
    "cabal",
    "cargo",
    "cc",
    "clang",
    "clang++",
    "cmake",
    "composer",
    "coverage",
    "crystal",
    "ctest",
    "cypress",
    "dart",
    "deno",
    "django-admin",
    "dotnet",
    "dub",
    "dune",
    "elixir",
    "esbuild",
    "eslint",
    "flask",
    "flutter",
    "g++",
    "gcc",
    "gmake",
    "go",
    "gradle",
    "gradlew",
    "groovy",
    "grunt",
    "guard",
    "gulp",
    "hatch",
    "inv",
    "invoke",
    "jake",
    "jasmine",
    "java",
    "javac",
    "jest",
    "jshell",
    "julia",
    "just",
    "karma",
    "kotlin",
    "kotlinc",
    "lefthook",
    "lein",
    "lerna",
    "lua",
    "make",
    "mage",
    "meson",
    "mill",
    "mix",
    "mocha",
    "moon",
    "mvn",
    "mvnw",
    "mypy",
    "next",
    "nim",
    "nimble",
    "ninja",
    "node",
    "nox",
    "npm",
    "npx",
    "nuxt",
    "nx",
    "nyc",
    "ocaml",
    "pants",
    "pdm",
    "perl",
    "php",
    "phpunit",
    "pip",
    "pipenv",
    "playwright",
    "pnpm",
    "pnpx",
    "poe",
    "poetry",
    "pre-commit",
    "prettier",
    "prove",
    "pylint",
    "pytest",
    "python",
    "R",
    "Rscript",
    "rails",
    "rake",
    "rebar3",
    "rollup",
    "rspec",
    "rubocop",
    "ruby",
    "runghc",
    "rustc",
    "sbt",
    "scala",
    "scons",
    "sphinx-build",
    "stack",
    "storybook",
    "stylelint",
    "svelte-kit",
    "swc",
    "swift",
    "swiftc",
    "task",
    "tox",
    "ts-node",
    "tsx",
    "turbo",
    "unittest",
    "uv",
    "uvicorn",
    "vite",
    "vitest",
    "vue-cli-service",
    "waf",
    "webpack",
    "yarn",
    "zig",
];

/// What a file is by its name.
enum Kind {
    Code(Language),
    /// Of a language nobody here reads: the texts in it that start programs.
    Source,
    /// Names commands as texts: `package.json`, `justfile`.
    Manifest,
}

const ENDINGS: &[(&str, Language)] = &[
    (".mk", Language::Make),
    (".js", Language::Node),
    (".cjs", Language::Node),
    (".mjs", Language::Node),
    (".jsx", Language::Node),
    (".ts", Language::Node),
    (".cts", Language::Node),
    (".mts", Language::Node),
    (".tsx", Language::Node),
    (".py", Language::Python),
    (".rb", Language::Ruby),
    (".rake", Language::Ruby),
    (".gemspec", Language::Ruby),
    (".pl", Language::Perl),
    (".pm", Language::Perl),
    (".t", Language::Perl),
    (".php", Language::Php),
    (".lua", Language::Lua),
    (".R", Language::R),
    (".sh", Language::Shell),
    (".bash", Language::Shell),
    (".bats", Language::Shell),
];

const NAMES: &[(&str, Language)] = &[
    ("Makefile", Language::Make),
    ("makefile", Language::Make),
    ("GNUmakefile", Language::Make),
    ("BSDmakefile", Language::Make),
    ("Rakefile", Language::Ruby),
    ("Gemfile", Language::Ruby),
    ("Guardfile", Language::Ruby),
    ("Vagrantfile", Language::Ruby),
    ("SConstruct", Language::Python),
    ("wscript", Language::Python),
    (".Rprofile", Language::R),
];

const SOURCES: &[&str] = &[
    ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".m", ".mm", ".rs", ".go", ".java", ".kt", ".kts",
    ".scala", ".sc", ".groovy", ".gradle", ".swift", ".cs", ".csproj", ".fs", ".dart", ".zig",
    ".nim", ".cr", ".d", ".ex", ".exs", ".erl", ".hs", ".ml", ".jl", ".clj", ".cmake", ".bzl",
];

const MANIFESTS: &[&str] = &[
    "package.json",
    "composer.json",
    "deno.json",
    "deno.jsonc",
    "bunfig.toml",
    "turbo.json",
    "nx.json",
    "project.json",
    "lerna.json",
    "justfile",
    "Justfile",
    ".justfile",
    "Taskfile.yml",
    "Taskfile.yaml",
    "taskfile.yml",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    "lefthook.yaml",
    "pyproject.toml",
    "Pipfile",
    "tox.ini",
    "setup.cfg",
    "pytest.ini",
    "Cargo.toml",
    "Makefile.toml",
    "build.xml",
    "pom.xml",
    "meson.build",
    "build.ninja",
    "CMakeLists.txt",
    "BUILD",
    "BUILD.bazel",
    "WORKSPACE",
    "Procfile",
    "dune",
    "project.clj",
    "rebar.config",
];

/// What makes a program of such a source start another one.
const STARTING: &[&str] = &[
    "Command", "exec", "system", "popen", "spawn", "Process", "Runtime", "shell", "cmd", "execute",
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
        let Some(kind) = kind_of(fresh.path.as_bstr()) else { return };
        match kind {
            _ if fresh.guessed => self.texts_in(subjected, fresh, via),
            Kind::Code(Language::Shell) => {
                self.shell(subjected, &Word::Literal(fresh.text.clone()), via.clone());
            }
            Kind::Code(language) => {
                self.known_code(subjected, language, fresh.text.as_bstr(), via, is_telling);
                if is_task_file(fresh.path.as_bstr()) {
                    self.texts_in(subjected, fresh, via);
                }
            }
            Kind::Source => {
                if STARTING.iter().any(|name| fresh.text.contains_str(name)) {
                    self.texts_in(subjected, fresh, via);
                }
                self.removes_elsewhere(subjected, fresh, via);
            }
            Kind::Manifest => self.texts_in(subjected, fresh, via),
        }
    }

    /// `os.RemoveAll(os.Getenv("HOME"))`: removes what is not the project's.
    fn removes_elsewhere(&mut self, subjected: &Subjected<'_>, fresh: &Fresh, via: &Via) {
        let names = |sights: &[&str]| sights.iter().any(|sight| fresh.text.contains_str(sight));
        if names(REMOVING) && names(ELSEWHERE) {
            let subject = Subject::Code { language: Language::Other, level: Level::Dangerous };
            let findings = self.rules_on(&subject, &subjected.lifted);
            self.note(vec![fresh.path.clone()], via, findings);
        }
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

/// Files of code whose own words run commands: `sh 'rm x'`, `session.run("rm", "x")`.
fn is_task_file(path: &BStr) -> bool {
    const STEMS: [&str; 12] = [
        "Gruntfile",
        "Guardfile",
        "Jakefile",
        "Rakefile",
        "SConstruct",
        "Vagrantfile",
        "dodo",
        "fabfile",
        "gulpfile",
        "noxfile",
        "tasks",
        "wscript",
    ];
    let name = path.rsplit_once_str("/").map_or(path.as_bytes(), |(_, name)| name);
    let stem = name.split_once_str(".").map_or(name, |(stem, _)| stem);
    STEMS.iter().any(|known| stem == known.as_bytes()) || name.ends_with(b".rake")
}

/// `gcc -xc - <<< 'int main() { system("x"); }'`
fn compiled_input<'s>(subjected: &'s Subjected<'_>) -> Option<&'s BString> {
    const COMPILERS: [&str; 9] =
        ["c++", "cc", "clang", "clang++", "g++", "gcc", "go", "rustc", "tcc"];
    let reading = subjected.reading;
    let compiles = COMPILERS.iter().any(|name| reading.name == *name)
        && subjected.invocation.words.iter().any(|word| word.shown() == "-");
    match &subjected.invocation.input {
        Input::Text(Word::Literal(text)) if compiles => Some(text),
        _ => None,
    }
}

fn runs_the_project(subjected: &Subjected<'_>) -> bool {
    let reading = subjected.reading;
    reading.path.is_some() || RUNNERS.iter().any(|name| reading.name == *name)
}

fn kind_of(path: &BStr) -> Option<Kind> {
    let name = path.rsplit_once_str("/").map_or(path.as_bytes(), |(_, name)| name);
    if let Some((_, language)) = NAMES.iter().find(|(known, _)| name == known.as_bytes()) {
        return Some(Kind::Code(*language));
    }
    if MANIFESTS.iter().any(|known| name == known.as_bytes()) {
        return Some(Kind::Manifest);
    }
    if let Some((_, language)) = ENDINGS.iter().find(|(end, _)| name.ends_with(end.as_bytes())) {
        return Some(Kind::Code(*language));
    }
    SOURCES.iter().any(|end| name.ends_with(end.as_bytes())).then_some(Kind::Source)
}
