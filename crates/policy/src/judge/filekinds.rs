//! What a file of a project is by its name: code in a language that is read here, a source in another one, or a
//! manifest that names commands.

use bstr::{BStr, ByteSlice};

use crate::effect::Language;

/// What a file is by its name.
pub(super) enum FileKind {
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
    SOURCES.iter().any(|end| name.ends_with(end.as_bytes())).then_some(FileKind::Source)
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
