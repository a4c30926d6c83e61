//! Chance, with a seed: random operations must give the same on every file system, and a random path must lead where a
//! simple model says.

use std::collections::BTreeMap;

use bstr::{BStr, ByteSlice};
use exacta::filesystem::probe;
use exacta_shell::filesystem::FileSystem;

use crate::battery::undone;
use crate::operations::{OPERATIONS, absolute, run};
use crate::scratch::{Scratch, backends, recorded};
use crate::there_and_back::Before;

/// xorshift64*: enough chance for a test, and the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn path(&mut self) -> String {
        let start = self.pick(&["", "", "", "", "", "~/", "/tmp/", "./", "../", "/", "~/../root/"]);
        let mut path = start.to_owned();
        for _ in 0..=self.below(3) {
            path += self
                .pick(&["a", "b", "c", "d", "a", "b", "c", ".", "..", ".clada", ".trash", "a/"]);
            path += "/";
        }
        if self.below(6) > 0 {
            path.pop();
        }
        path
    }

    /// One of few places, so that most of what is done has something to be done to.
    fn near_path(&mut self) -> String {
        let places =
            ["a", "b", "c", "d", "a/b", "a/c", "b/a", "b/a/c", "c/a", "./d/../a", "~/b", "."];
        self.pick(&places).to_owned()
    }

    fn line(&mut self) -> String {
        self.line_with(Chance::path)
    }

    fn near_line(&mut self) -> String {
        self.line_with(Chance::near_path)
    }

    fn line_with(&mut self, path: fn(&mut Self) -> String) -> String {
        let (operation, paths) = OPERATIONS[self.below(OPERATIONS.len())];
        let one = path(self);
        match operation {
            "write" | "append" | "overwrite" | "create" => {
                format!("{operation} {one} {}", self.pick(&["x", "yy", "zzz"]))
            }
            "symlink" => format!(
                "symlink {one} {}",
                if self.below(4) == 0 { "~/a".into() } else { path(self) }
            ),
            "chmod" => format!("chmod {one} {}", self.pick(&["700", "755", "711"])),
            "fifo" => format!("stat {one}"),
            _ if paths == 2 => format!("{operation} {one} {}", path(self)),
            _ => format!("{operation} {one}"),
        }
    }
}

fn rounds(usual: u64) -> u64 {
    std::env::var("EXACTA_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

pub fn all_file_systems_agree_on_random_operations() {
    for seed in 1..=rounds(60) {
        let backends = backends();
        let mut chance = Chance(seed);
        let untouched: Vec<_> = backends.iter().map(|backend| backend.scratch.tree()).collect();
        let mut history = String::new();
        for _ in 0..150 {
            let line = if seed % 2 == 0 { chance.line() } else { chance.near_line() };
            history += &format!("{line}\n");
            // What is not renamed where it is recorded would lead to other trees: see `renaming.rs`.
            let recorded = backends.iter().find(|backend| backend.transactions.is_some()).unwrap();
            let answer = run(&*recorded.files, &line);
            if answer == "EXDEV" {
                continue;
            }
            let results = backends.iter().map(|backend| match &backend.transactions {
                Some(_) => answer.clone(),
                None => run(&*backend.files, &line),
            });
            let results: Vec<_> = results.collect();
            let first = results.first().unwrap();
            for (result, backend) in results.iter().zip(&backends) {
                let same = result == first || is_known_difference(&line, first, result);
                assert!(same, "seed {seed}: {history}real: {first}\n{}: {result}", backend.name);
            }
        }
        for (tree, backend) in untouched.iter().zip(&backends) {
            if !backend.name.starts_with("real") {
                assert_eq!(
                    *tree,
                    backend.scratch.tree(),
                    "seed {seed}, {}: the disk has changed",
                    backend.name
                );
            }
        }
        let dumps: Vec<_> = backends
            .iter()
            .map(|backend| run(&*backend.files, "walk ~") + &run(&*backend.files, "walk /tmp"))
            .collect();
        for (dump, backend) in dumps.iter().zip(&backends) {
            let root = backend.files.root().to_string();
            let first = dumps[0].replace(&backends[0].files.root().to_string(), &root);
            assert_eq!(*dump, first, "seed {seed}, {}", backend.name);
        }
    }
}

/// Undone and redone after every few lines, and all of it in the end.
pub fn what_happens_by_chance_can_be_undone() {
    for seed in 1..=rounds(40) {
        let backend = recorded();
        let transactions = backend.transactions.as_ref().unwrap();
        let mut chance = Chance(seed * 7919);
        for _ in 0..6 {
            transactions.finish(0).unwrap();
            let before = Before::of(&backend.scratch.root());
            transactions.begin(BStr::new("chance"), backend.files.root());
            let mut history = format!("seed {seed}: ");
            for _ in 0..25 {
                let line = if seed % 4 == 0 { chance.line() } else { chance.near_line() };
                history += &format!("{line} => {}\n", run(&*backend.files, &line));
            }
            undone(&backend, Some(&before), &history);
        }
    }
}

/// Sizes of links differ with the length of the root's path; nothing else may.
fn is_known_difference(line: &str, one: &str, other: &str) -> bool {
    let cut = |text: &str| text.rsplit_once(' ').map(|(start, _)| start.to_owned());
    let links = line.starts_with("lstat") && one.starts_with("Symlink") && cut(one) == cut(other);
    links
        || (line.starts_with("readlink") || line.starts_with("walk"))
            && one.contains("/root")
            && other.contains("/root")
}

/// The simplest thing that can resolve a path: a map from names to what they are, and recursion.
#[derive(Default)]
struct Model(BTreeMap<Vec<String>, Entry>);

#[derive(Clone, PartialEq)]
enum Entry {
    Directory,
    File,
    Link(String),
}

impl Model {
    /// `None` for everything that is not there. The path is relative to the root.
    fn resolve(&self, at: &[String], path: &str, links: u32) -> Option<Vec<String>> {
        let mut at = at.to_vec();
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        for (index, part) in parts.iter().enumerate() {
            if !at.is_empty() && self.0.get(&at) != Some(&Entry::Directory) {
                return None;
            }
            match *part {
                "." => continue,
                ".." => {
                    at.pop()?;
                    continue;
                }
                name => at.push(name.to_owned()),
            }
            if let Entry::Link(text) = self.0.get(&at)?.clone() {
                if links == 0 {
                    return None;
                }
                at.pop();
                let more =
                    parts[index + 1..].iter().fold(String::new(), |more, part| more + "/" + part);
                let slash = if path.ends_with('/') { "/" } else { "" };
                let rest = format!("{text}{more}{slash}");
                return match rest.strip_prefix("ROOT") {
                    Some(rest) => self.resolve(&[], rest, links - 1),
                    None if rest.starts_with('/') => None,
                    None => self.resolve(&at, &rest, links - 1),
                };
            }
        }
        let directory = at.is_empty() || self.0.get(&at) == Some(&Entry::Directory);
        let asks = path.ends_with('/') && !parts.is_empty();
        (directory || (!asks && self.0.contains_key(&at))).then_some(at)
    }

    fn random(chance: &mut Chance) -> Self {
        let mut model = Model::default();
        for _ in 0..25 {
            let directories: Vec<Vec<String>> = std::iter::once(Vec::new())
                .chain(
                    model
                        .0
                        .iter()
                        .filter(|(_, entry)| **entry == Entry::Directory)
                        .map(|(path, _)| path.clone()),
                )
                .collect();
            let mut path = directories[chance.below(directories.len())].clone();
            path.push(chance.pick(&["a", "b", "c", "d", "e"]).to_owned());
            let entry = match chance.below(5) {
                0 => Entry::File,
                1 | 2 => Entry::Directory,
                _ => Entry::Link(Self::link(chance)),
            };
            model.0.entry(path).or_insert(entry);
        }
        model
    }

    fn link(chance: &mut Chance) -> String {
        let start = chance.pick(&[
            "",
            "",
            "",
            "../",
            "../../",
            "ROOT/",
            "ROOT/../",
            "/etc/",
            "./",
            "ROOT/a/../",
        ]);
        let names =
            chance.pick(&["a", "b", "c", "d/e", "a/b", "..", "../a", "b/..", "c/", "a/../b", "."]);
        format!("{start}{names}")
    }

    fn build(&self, root: &std::path::Path) {
        for (path, entry) in &self.0 {
            let place = root.join(path.join("/"));
            match entry {
                Entry::Directory => std::fs::create_dir(place).unwrap(),
                Entry::File => std::fs::write(place, "x").unwrap(),
                Entry::Link(text) => {
                    std::os::unix::fs::symlink(text.replace("ROOT", root.to_str().unwrap()), place)
                        .unwrap();
                }
            }
        }
    }
}

pub fn random_paths_lead_where_the_model_says() {
    let mut found = 0;
    for seed in 1..=rounds(40) {
        let mut chance = Chance(seed * 7919);
        let scratch = Scratch::new();
        let model = Model::random(&mut chance);
        model.build(&scratch.root());
        let before = scratch.canary();
        let systems: [&dyn FileSystem; 3] = [
            &scratch.confined(),
            &scratch.confined_by_walking(),
            &exacta::filesystem::over_directory(&scratch.root()).unwrap(),
        ];
        for _ in 0..300 {
            let mut path = String::new();
            for _ in 0..=chance.below(5) {
                path += chance.pick(&["a", "b", "c", "d", "e", "a", "b", ".", "..", "", "x"]);
                path += "/";
            }
            if chance.below(3) > 0 {
                path.pop();
            }
            let wanted = match model.resolve(&[], &path, 40) {
                Some(names) if names.is_empty() => "~".to_owned(),
                Some(names) => format!("~/{}", names.join("/")),
                None => "nothing".to_owned(),
            };
            for (number, files) in systems.iter().enumerate() {
                let result = run(*files, &format!("real ~/{path}"));
                let result = if result.starts_with('~') { result } else { "nothing".to_owned() };
                assert_eq!(result, wanted, "seed {seed}, system {number}: {path:?}");
                found += usize::from(result != "nothing");
                probe::path(*files, absolute(*files, &format!("~/{path}")).as_bstr());
            }
        }
        assert_eq!(scratch.canary(), before);
    }
    assert!(found > 1000, "{found}");
}

pub fn random_bytes_are_no_way_out() {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink("..", scratch.root().join("up")).unwrap();
    std::os::unix::fs::symlink("/", scratch.root().join("all")).unwrap();
    std::fs::create_dir(scratch.root().join("d")).unwrap();
    let before = scratch.canary();
    let files = scratch.confined();
    let mut chance = Chance(42);
    for _ in 0..5_000 {
        let mut bytes = if chance.below(2) == 0 { files.root().to_vec() } else { Vec::new() };
        for _ in 0..chance.below(12) {
            let piece = chance.pick(&[
                "/", "/", "..", ".", "d", "up", "all", "etc", "/tmp", ".clada", "\0", "\u{fe00}",
                "dev", "null",
            ]);
            bytes.extend_from_slice(piece.as_bytes());
            if chance.below(9) == 0 {
                bytes.push(chance.below(256) as u8);
            }
        }
        probe::path(&files, bytes.as_bstr());
    }
    assert_eq!(scratch.canary(), before);
}
