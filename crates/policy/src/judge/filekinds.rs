//! What a file of a project is by its name: code in a language that is read here, a source in another one, a manifest
//! that names commands, something that only people or other machines read, or something that some tool may load.

use bstr::{BStr, ByteSlice};

use crate::effect::Language;

/// What a file is by its name.
pub(super) enum FileKind {
    Code(Language),
    /// Of a language nobody here reads: the texts in it that start programs.
    Source,
    /// Names commands as texts: `package.json`, `justfile`.
    Manifest,
    /// Nobody here knows, and some tool may.
    Unknown,
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

/// Files for people, for other machines, and data of tests: by their ends, their beginnings and their folders.
const DOCUMENTS: &[&str] = &[
    ".adoc",
    ".asc",
    ".bib",
    ".css",
    ".csv",
    ".diff",
    ".env",
    ".example",
    ".gitignore",
    ".gql",
    ".graphql",
    ".htm",
    ".html",
    ".jsonl",
    ".less",
    ".lock",
    ".log",
    ".markdown",
    ".md",
    ".mdx",
    ".ndjson",
    ".out",
    ".patch",
    ".pem",
    ".png",
    ".po",
    ".prisma",
    ".proto",
    ".pub",
    ".rst",
    ".sass",
    ".scss",
    ".snap",
    ".sql",
    ".sum",
    ".svg",
    ".tsv",
    ".txt",
    ".xsd",
];

const DOCUMENT_NAMES: &[&str] = &[
    ".dockerignore",
    ".editorconfig",
    ".env",
    ".gitlab-ci",
    ".travis",
    "AUTHORS",
    "CHANGELOG",
    "CODEOWNERS",
    "CONTRIBUTING",
    "Containerfile",
    "Dockerfile",
    "Jenkinsfile",
    "LICENSE",
    "action.yaml",
    "action.yml",
    "NOTICE",
    "README",
    "azure-pipelines",
    "compose.",
    "docker-compose",
];

const DATA_FOLDERS: &[&str] = &[
    "/.circleci/",
    "/.github/",
    "/__fixtures__/",
    "/__snapshots__/",
    "/charts/",
    "/fixtures/",
    "/k8s/",
    "/kubernetes/",
    "/manifests/",
    "/test/data/",
    "/testdata/",
    "/tests/data/",
];

pub(super) fn kind_of(path: &BStr) -> Option<FileKind> {
    let name = path.rsplit_once_str("/").map_or(path.as_bytes(), |(_, name)| name);
    if let Some((_, language)) = NAMES.iter().find(|(known, _)| name == known.as_bytes()) {
        return Some(FileKind::Code(*language));
    }
    if MANIFESTS.iter().any(|known| name == known.as_bytes()) {
        return Some(FileKind::Manifest);
    }
    if let Some((_, language)) = ENDINGS.iter().find(|(end, _)| name.ends_with(end.as_bytes())) {
        return Some(FileKind::Code(*language));
    }
    if SOURCES.iter().any(|end| name.ends_with(end.as_bytes())) {
        return Some(FileKind::Source);
    }
    (!is_document(path, name)).then_some(FileKind::Unknown)
}

/// For people, for other machines, or data of tests: no tool on this machine runs what stands in it.
fn is_document(path: &BStr, name: &[u8]) -> bool {
    DOCUMENTS.iter().any(|end| name.ends_with(end.as_bytes()))
        || DOCUMENT_NAMES.iter().any(|begin| name.starts_with(begin.as_bytes()))
        || DATA_FOLDERS.iter().any(|folder| path.contains_str(folder))
}

/// Settings without a language of their own: code stands in them as texts, if at all.
pub(super) fn is_data(path: &BStr) -> bool {
    const ENDINGS: [&str; 12] = [
        ".cfg",
        ".conf",
        ".ini",
        ".json",
        ".json5",
        ".jsonc",
        ".plist",
        ".properties",
        ".toml",
        ".xml",
        ".yaml",
        ".yml",
    ];
    ENDINGS.iter().any(|end| path.ends_with(end.as_bytes()))
}

/// Rules of something that looks for attacks, or cases of its tests: what stands in them is looked for, and run by
/// nobody.
pub(super) fn lists_patterns(inside: &BStr, text: &BStr) -> bool {
    const LOOKING: [&str; 12] = [
        "detect",
        "examples",
        "forbidden",
        "indicators",
        "match",
        "message",
        "pattern",
        "patterns",
        "regex",
        "regexes",
        "signature",
        "signatures",
    ];
    const RUNNING: [&str; 22] = [
        "args",
        "cmd",
        "cmds",
        "command",
        "commands",
        "entry",
        "entrypoint",
        "exec",
        "hook",
        "hooks",
        "plugin",
        "plugins",
        "run",
        "script",
        "scripts",
        "setup",
        "sh",
        "shell",
        "steps",
        "task",
        "tasks",
        "test",
    ];
    let keys = || {
        text.split(|byte| b"\n,{".contains(byte)).filter_map(|part| {
            let (key, _) = part.split_once_str(":").or_else(|| part.split_once_str("="))?;
            Some(key.trim_with(|c| c.is_whitespace() || matches!(c, '"' | '\'' | '-')))
        })
    };
    let has = |known: &[&str]| {
        keys().any(|key| known.iter().any(|it| key.eq_ignore_ascii_case(it.as_bytes())))
    };
    let tests = ["test/", "tests/", "spec/"].iter().any(|it| inside.starts_with(it.as_bytes()));
    (tests || has(&LOOKING)) && !has(&RUNNING)
}

/// A hook of version control that a tool installs, or what names one.
pub(super) fn is_hook(path: &BStr) -> bool {
    ["hook", ".husky", "pre-commit", "lint-staged", "lintstaged", "commitlint", "overcommit"]
        .iter()
        .any(|part| path.contains_str(part))
}

/// By its name a tool loads it when it starts: settings, plugins, hooks, what prepares tests.
pub(super) fn is_loaded_at_once(path: &BStr) -> bool {
    const PARTS: [&str; 22] = [
        "boot",
        "bootstrap",
        "build",
        "conf",
        "config",
        "conftest",
        "extension",
        "formatter",
        "hook",
        "hooks",
        "init",
        "loader",
        "plugin",
        "plugins",
        "preload",
        "preset",
        "register",
        "reporter",
        "setup",
        "sitecustomize",
        "transform",
        "transformer",
    ];
    const FOLDERS: [&str; 8] = [
        "/.storybook/",
        "/_plugins/",
        "/boot/",
        "/buildSrc/",
        "/hooks/",
        "/initializers/",
        "/plugins/",
        "/profile_default/startup/",
    ];
    let name = path.rsplit_once_str("/").map_or(path.as_bytes(), |(_, name)| name);
    let (stem, rest) = name.split_once_str(".").unwrap_or((name, b""));
    let named = |part: &[u8]| PARTS.iter().any(|it| part == it.as_bytes());
    stem.is_empty()
        || rest.is_empty()
        || FOLDERS.iter().any(|folder| path.contains_str(folder))
        || is_task_file(path)
        || name.split(|byte| b".-_".contains(byte)).any(named)
        || [&b"rc"[..], b"file", b"extension", b"plugin"].iter().any(|end| stem.ends_with(end))
}

/// Files of code whose own words run commands: `sh 'rm x'`, `session.run("rm", "x")`.
pub(super) fn is_task_file(path: &BStr) -> bool {
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
