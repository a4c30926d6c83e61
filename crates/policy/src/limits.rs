//! How much of the machine programs may use, by profile, and which of them get more.
//!
//! A profile's numbers are for programs of any kind (S3 §6). Compilers, build tools, test runners and package managers
//! could not work with them: those that are known here raise them for the request that runs them, and the report says so.

use bstr::{BString, ByteSlice};

use crate::judge::Profile;

/// What everything that a request runs may use together, open files aside, which are each process's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    pub processor_seconds: u64,
    pub memory_bytes: u64,
    /// At one time, threads not counted.
    pub processes: u32,
    /// At one time, threads counted.
    pub tasks: u32,
    pub open_files: u64,
    /// Of its output, as much is reported.
    pub output_bytes: u64,
}

const MEGABYTE: u64 = 1 << 20;

/// S3 §6. `safe` runs what only reads, with what `dev` has.
const DEV: Allowance = Allowance {
    processor_seconds: 60,
    memory_bytes: 512 * MEGABYTE,
    processes: 5,
    tasks: 256,
    open_files: 100,
    output_bytes: MEGABYTE,
};

const FULL_AUTO: Allowance = Allowance {
    processor_seconds: 300,
    memory_bytes: 2048 * MEGABYTE,
    processes: 20,
    tasks: 1024,
    open_files: 500,
    output_bytes: 10 * MEGABYTE,
};

/// For what starts many others.
const BUILD: Allowance = Allowance {
    processor_seconds: 3600,
    memory_bytes: 8192 * MEGABYTE,
    processes: 256,
    tasks: 4096,
    open_files: 4096,
    output_bytes: 0,
};

/// For a compiler with its parts.
const COMPILER: Allowance = Allowance {
    processor_seconds: 600,
    memory_bytes: 4096 * MEGABYTE,
    processes: 32,
    tasks: 1024,
    open_files: 1024,
    output_bytes: 0,
};

/// Modules of Python that start many others, or are run as a build is.
const MODULES: [&str; 16] = [
    "build",
    "compileall",
    "ensurepip",
    "hatch",
    "mypy",
    "nox",
    "pip",
    "pipenv",
    "poetry",
    "pre_commit",
    "pytest",
    "pylint",
    "tox",
    "unittest",
    "uv",
    "venv",
];

/// Names without their versions.
const RAISED: [(&Allowance, &[&str]); 2] = [
    (
        &BUILD,
        &[
            "ant",
            "bazel",
            "bazelisk",
            "buck2",
            "bundle",
            "bun",
            "bunx",
            "cabal",
            "cargo",
            "cmake",
            "composer",
            "conan",
            "corepack",
            "ctest",
            "deno",
            "dotnet",
            "dune",
            "gem",
            "go",
            "gradle",
            "gradlew",
            "jest",
            "just",
            "make",
            "gmake",
            "bmake",
            "meson",
            "mix",
            "mocha",
            "mvn",
            "mvnw",
            "ninja",
            "nox",
            "npm",
            "npx",
            "nx",
            "opam",
            "phpunit",
            "pip",
            "pipenv",
            "pipx",
            "pnpm",
            "pre-commit",
            "mypy",
            "pylint",
            "webpack",
            "playwright",
            "pnpx",
            "poetry",
            "pytest",
            "py.test",
            "rake",
            "rebar3",
            "rspec",
            "rustup",
            "sbt",
            "scons",
            "stack",
            "swift",
            "tox",
            "turbo",
            "uv",
            "uvx",
            "vite",
            "vitest",
            "yarn",
            "xmake",
            "zig",
        ],
    ),
    (
        &COMPILER,
        &[
            "c++", "cc", "clang", "clang++", "esbuild", "g++", "gcc", "gfortran", "ghc", "javac",
            "javadoc", "kotlinc", "ld", "ocamlopt", "rustc", "rustdoc", "scalac", "swiftc", "tsc",
        ],
    ),
];

impl Allowance {
    pub fn of(profile: Profile) -> Self {
        match profile {
            Profile::Safe | Profile::Dev => DEV,
            Profile::FullAuto => FULL_AUTO,
        }
    }

    /// What a command gets, if that is more.
    pub fn raised_for(self, words: &[BString]) -> Option<Self> {
        let (name, rest) = words.split_first()?;
        let name = name.rsplit_str(b"/").next().and_then(|name| name.to_str().ok())?;
        let more = match without_version(name) {
            "python" | "pypy" => {
                (module_of(rest)).filter(|it| MODULES.contains(it)).map(|_| &BUILD)
            }
            bare => by_name(name).or_else(|| by_name(bare)),
        };
        Some(self.at_least(more?)).filter(|raised| *raised != self)
    }

    /// The larger of each.
    pub fn at_least(self, other: &Self) -> Self {
        Allowance {
            processor_seconds: self.processor_seconds.max(other.processor_seconds),
            memory_bytes: self.memory_bytes.max(other.memory_bytes),
            processes: self.processes.max(other.processes),
            tasks: self.tasks.max(other.tasks),
            open_files: self.open_files.max(other.open_files),
            output_bytes: self.output_bytes.max(other.output_bytes),
        }
    }
}

fn by_name(program: &str) -> Option<&'static Allowance> {
    RAISED.iter().find(|(_, names)| names.contains(&program)).map(|(more, _)| *more)
}

/// `python -m MODULE`; options before it take no words of their own but `-W` and `-X`.
fn module_of(words: &[BString]) -> Option<&str> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_slice() {
            b"-m" => return words.next()?.to_str().ok(),
            b"-W" | b"-X" => {
                words.next();
            }
            joined if joined.starts_with(b"-m") => return joined.get(2..)?.to_str().ok(),
            option if option.starts_with(b"-") => {}
            _ => return None,
        }
    }
    None
}

/// `python3.11` is `python`, `gcc-12` is `gcc`.
fn without_version(name: &str) -> &str {
    let bare =
        name.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
    let bare = bare.strip_suffix('-').unwrap_or(bare);
    if bare.is_empty() { name } else { bare }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profiles_are_those_of_the_specification() {
        let of = |profile| {
            let Allowance {
                processor_seconds,
                memory_bytes,
                processes,
                open_files,
                output_bytes,
                ..
            } = Allowance::of(profile);
            (processor_seconds, memory_bytes >> 20, processes, open_files, output_bytes >> 20)
        };
        assert_eq!(of(Profile::Dev), (60, 512, 5, 100, 1));
        assert_eq!(of(Profile::FullAuto), (300, 2048, 20, 500, 10));
    }

    #[test]
    fn builds_get_more_whatever_their_version() {
        let words = |text: &str| text.split(' ').map(BString::from).collect::<Vec<_>>();
        let dev = Allowance::of(Profile::Dev);
        for name in [
            "cargo",
            "npm",
            "make",
            "clang-14",
            "gcc-12",
            "c++",
            "pip3",
            "pip3.11",
            "./node_modules/.bin/jest",
            "python3 -m pytest -q",
            "/usr/bin/python3.11 -W error -mpip x",
        ] {
            let raised = dev.raised_for(&words(name)).unwrap_or(dev);
            assert!(raised.processes > dev.processes, "{name}");
            assert_eq!(raised.output_bytes, dev.output_bytes, "{name}");
        }
        for name in [
            "perl",
            "python3",
            "node",
            "sh",
            "tool",
            "3",
            "cargoes",
            "",
            "python3 -m json.tool",
            "python3 x.py -m pip",
        ] {
            assert_eq!(dev.raised_for(&words(name)), None, "{name}");
        }
    }
}
