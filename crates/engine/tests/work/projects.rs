//! Real work: what people build, test and commit with, in the jail. A tool that is not installed is not tried, and said so.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use exacta::programs::ProgramOptions;
use exacta::{Outcome, Request};
use libtest_mimic::{Failed, Trial};

use crate::scene::Scene;

struct Work {
    name: &'static str,
    /// All of them must be installed.
    needs: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    script: &'static str,
    /// The last line of the output.
    last: &'static str,
}

const WORK: [Work; 10] = [
    Work {
        name: "git commit",
        needs: &["git"],
        files: &[("a.txt", "a\n")],
        script: "set -e; git init -q .; git config user.email a@example.com; git config user.name A; git add -A; \
                 git commit -qm first; echo b >> a.txt; git commit -qam second; git log --oneline | wc -l",
        last: "2",
    },
    Work {
        name: "make and a C compiler",
        needs: &["make", "gcc"],
        files: &[
            (
                "main.c",
                "#include <stdio.h>\nint twice(int);\nint main(void){printf(\"%d\\n\",twice(21));return 0;}\n",
            ),
            ("twice.c", "int twice(int x){return 2*x;}\n"),
            (
                "Makefile",
                "main: main.o twice.o\n\t$(CC) -o $@ $^\n%.o: %.c\n\t$(CC) -O2 -c -o $@ $<\n",
            ),
        ],
        script: "set -e; make -j2 >&2; ./main",
        last: "42",
    },
    Work {
        name: "a Python environment of its own",
        needs: &["python3"],
        files: &[("t.py", "import sys, venv\nprint(sys.prefix != sys.base_prefix)\n")],
        script: "set -e; python3 -m venv --without-pip env; env/bin/python t.py",
        last: "True",
    },
    Work {
        name: "Python's own test runner",
        needs: &["python3"],
        files: &[
            ("thing.py", "def add(a, b):\n    return a + b\n"),
            (
                "test_thing.py",
                "import unittest, thing, tempfile, subprocess\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(thing.add(1, 2), 3)\n    def test_files(self):\n        with tempfile.NamedTemporaryFile() as f:\n            f.write(b'x')\n    def test_child(self):\n        self.assertEqual(subprocess.check_output(['echo', 'hi']), b'hi\\n')\n",
            ),
        ],
        script: "python3 -m unittest -q 2>&1",
        last: "OK",
    },
    Work {
        name: "pytest",
        needs: &["pytest"],
        files: &[(
            "test_it.py",
            "def test_it(tmp_path):\n    (tmp_path / 'x').write_text('y')\n    assert (tmp_path / 'x').read_text() == 'y'\n",
        )],
        script: "python3 -m pytest -q 2>&1 | grep -o '1 passed'",
        last: "1 passed",
    },
    Work {
        name: "npm test",
        needs: &["npm", "node"],
        files: &[
            (
                "package.json",
                "{\"name\":\"t\",\"version\":\"1.0.0\",\"scripts\":{\"test\":\"node --test\"}}\n",
            ),
            (
                "add.test.js",
                "const t = require('node:test'); const a = require('node:assert');\nt('adds', () => a.strictEqual(1 + 1, 2));\nt('fails not', async () => { await new Promise(r => setTimeout(r, 5)); });\n",
            ),
        ],
        script: "npm test 2>&1 | grep -oE '(pass|fail) [0-9]+' | tr '\\n' ' '; echo",
        last: "pass 2 fail 0 ",
    },
    Work {
        name: "cargo build of two crates",
        needs: &["cargo"],
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"top\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nbelow = { path = \"below\" }\n",
            ),
            (
                "src/main.rs",
                "fn main() { println!(\"{}\", below::answer()); }\n#[test] fn t() { assert_eq!(below::answer(), 42); }\n",
            ),
            (
                "below/Cargo.toml",
                "[package]\nname = \"below\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
            ),
            ("below/src/lib.rs", "pub fn answer() -> u32 { 42 }\n"),
        ],
        script: "set -e; cargo build --offline --quiet; cargo test --offline --quiet >/dev/null; cargo run --offline --quiet",
        last: "42",
    },
    Work {
        // One of our own: whoever builds these tests has it.
        name: "cargo build with a dependency that is fetched already",
        needs: &["cargo"],
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"top\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nmemchr = \"2\"\n",
            ),
            ("src/main.rs", "fn main() { println!(\"{:?}\", memchr::memchr(b'b', b\"abc\")); }\n"),
        ],
        script: "cargo run --offline --quiet",
        last: "Some(1)",
    },
    Work {
        name: "a Java compiler",
        needs: &["javac", "java"],
        files: &[(
            "Main.java",
            "public class Main { public static void main(String[] a) { System.out.println(6 * 7); } }\n",
        )],
        script: "set -e; javac Main.java; java Main",
        last: "42",
    },
    Work {
        name: "a Go compiler",
        needs: &["go"],
        files: &[
            ("go.mod", "module t\n\ngo 1.20\n"),
            ("main.go", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(42) }\n"),
        ],
        script: "set -e; go build -o t .; ./t",
        last: "42",
    },
];

pub fn trials() -> Vec<Trial> {
    let path: Vec<PathBuf> =
        std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect();
    let installed = |name: &&str| path.iter().any(|folder| is_program(&folder.join(name)));
    let made = WORK.iter().map(|work| {
        let path = path.clone();
        let missing = !work.needs.iter().all(installed);
        let name = format!("work::{}", work.name);
        Trial::test(name, move || check(work, path)).with_ignored_flag(missing)
    });
    made.collect()
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

fn check(work: &Work, path: Vec<PathBuf>) -> Result<(), Failed> {
    let scene = Scene::new();
    for (name, content) in work.files {
        scene.write(name, content);
    }
    let mut options = scene.options();
    options.environment.retain(|(name, _)| name != "PATH");
    options.programs = Some(ProgramOptions { path, ..ProgramOptions::default() });
    options.limits.wall_time = Some(Duration::from_secs(300));
    let outcome = Scene::session(options).run(&Request::new(work.script));
    expect_last(work, &outcome)
}

fn expect_last(work: &Work, outcome: &Outcome) -> Result<(), Failed> {
    let stdout = String::from_utf8_lossy(&outcome.stdout);
    let last = stdout.lines().last().unwrap_or_default();
    if last == work.last {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&outcome.stderr);
    Err(format!("status {}\nstdout: {stdout}\nstderr: {stderr}", outcome.status.0).into())
}
