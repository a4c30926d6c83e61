//! A real directory with a canary beside it: no path leads out, and no script made of harmless-looking commands reads
//! or changes anything outside or in exacta's own directory.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use exacta::filesystem::{Confined, Places, probe};
use exacta::gate::Judgement;
use exacta::{Request, Session, SessionOptions};

const SECRET: &str = "CANARY-5d0e";

/// The first byte says whether the others are a path or a script.
pub fn check(bytes: &[u8]) {
    static STAGE: Mutex<Option<Stage>> = Mutex::new(None);
    let mut stage = STAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let stage = stage.get_or_insert_with(Stage::new);
    match bytes.split_first() {
        Some((0..=63, path)) => stage.check_path(path),
        Some((_, choices)) => stage.check_script(&script(choices, &stage.base)),
        None => {}
    }
}

struct Stage {
    base: PathBuf,
    files: Confined,
    forbidden: BTreeMap<PathBuf, String>,
    project: BTreeMap<PathBuf, String>,
}

impl Stage {
    fn new() -> Self {
        let base = std::env::temp_dir().join(format!("exacta-confine-{}", std::process::id()));
        let _an_old_one = fs::remove_dir_all(&base);
        fs::create_dir_all(&base).expect("a temporary directory");
        let base = base.canonicalize().expect("a real path");
        lay_out(&base);
        let files = Confined::open(&Places::in_project(base.join("root"))).expect("a root");
        let (forbidden, project) = (look(&base, true), look(&base, false));
        Stage { base, files, forbidden, project }
    }

    fn check_path(&self, bytes: &[u8]) {
        let root = self.base.join("root").into_os_string().into_encoded_bytes();
        probe::path(&self.files, bytes.into());
        probe::path(&self.files, [&root[..], b"/", bytes].concat().as_slice().into());
        probe::path(&self.files, [b"/tmp/", bytes].concat().as_slice().into());
    }

    /// What exists inside may be refused, as a directory is that is run like a program: `xargs: a/b: Permission denied`.
    fn names_something_inside(&self, line: &str) -> bool {
        let root = self.base.join("root");
        let named = line.split(": ").filter(|part| !part.is_empty());
        let mut found = named.flat_map(|part| {
            ["", "a", "a/b", "d", "new"].map(|directory| root.join(directory).join(part))
        });
        found.any(|path| {
            let real = path.canonicalize().unwrap_or_default();
            real.starts_with(&root) && !real.starts_with(root.join(".clada"))
        })
    }

    fn check_script(&mut self, script: &str) {
        let mut options = SessionOptions::new(self.base.join("root"));
        options.limits = super::expand::limits();
        // What the judge would stop is not the question: the wall must hold by itself.
        options.judgement = Some(Judgement::none());
        // The record is exacta's own, and would be a change of what scripts must not change.
        options.audit = None;
        let mut session = Session::new(options).expect("a session");
        let outcome = session.run_script(&Request::new(script));
        for text in [&outcome.stdout, &outcome.stderr] {
            let text = String::from_utf8_lossy(text);
            assert!(!text.contains(SECRET), "{script}\nshows the secret:\n{text}");
            for line in text.lines().filter(|line| line.to_lowercase().contains("denied")) {
                assert!(self.names_something_inside(line), "{script}\nsays so:\n{text}");
            }
        }
        assert_eq!(look(&self.base, true), self.forbidden, "{script}\nchanged what it must not");
        if look(&self.base, false) != self.project {
            // The first stage's directory is taken away, so the next one is laid out afresh.
            *self = Stage::new();
        }
    }
}

fn lay_out(base: &Path) {
    for directory in [
        "outside/d",
        "root/a/b",
        "root/d",
        "root/.clada/tmp",
        "root/.clada/trash",
        "root/.clada/preimages",
    ] {
        fs::create_dir_all(base.join(directory)).expect("a directory");
    }
    for file in ["outside/secret", "outside/d/secret", "root/.clada/secret"] {
        fs::write(base.join(file), SECRET).expect("a canary");
    }
    for file in ["root/f", "root/a/f", "root/a/b/f"] {
        fs::write(base.join(file), "own\n").expect("a file");
    }
    let outside = base.join("outside").display().to_string();
    for (name, target) in [
        ("l", "../outside"),
        ("a/l", outside.as_str()),
        ("up", ".."),
        ("s", ".clada"),
        ("a/loop", ".."),
    ] {
        symlink(target, base.join("root").join(name)).expect("a link");
    }
}

/// Everything beneath `outside` and `.clada`, or everything else. Not what exacta itself writes.
fn look(base: &Path, forbidden: bool) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let places: &[&str] = if forbidden { &["outside", "root/.clada"] } else { &["root"] };
    for place in places {
        look_into(&base.join(place), forbidden, &mut found);
    }
    for entry in fs::read_dir(base).expect("the base").flatten().filter(|_| forbidden) {
        found.insert(entry.path(), String::new());
    }
    found
}

fn look_into(path: &Path, state: bool, found: &mut BTreeMap<PathBuf, String>) {
    let Ok(stat) = fs::symlink_metadata(path) else { return };
    let text = format!("{:o} {} {} {}", stat.mode(), stat.size(), stat.nlink(), stat.ino());
    if stat.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let own = ["tmp", "trash", "preimages", "undo"].iter().any(|own| name == *own) && state;
            if !own && (state || name != ".clada") {
                look_into(&entry.path(), state, found);
            }
        }
        found.insert(path.to_owned(), format!("{:o} {}", stat.mode(), stat.ino()));
    } else {
        let content = fs::read(path).unwrap_or_default();
        found.insert(path.to_owned(), format!("{text} {}", content.escape_ascii()));
    }
}

/// `@` is a path.
const COMMANDS: &[&str] = &[
    "cat @",
    "cat < @",
    "cat @ @",
    "head -c 9 @",
    "tail @",
    "ls -la @",
    "ls -R @",
    "stat @",
    "stat -L @",
    "find @",
    "find -L @ -type f -exec cat {} +",
    "find @ -delete",
    "grep -r . @",
    "grep -R . @ @",
    "wc @",
    "sort @",
    "sort -o @ @",
    "cp @ @",
    "cp -r @ @",
    "cp -a @ @",
    "cp -rL @ @",
    "cp -l @ @",
    "cp -s @ @",
    "cp -t @ @",
    "mv @ @",
    "mv -T @ @",
    "mv -t @ @",
    "mv -b @ @",
    "ln @ @",
    "ln -s @ @",
    "ln -sf @ @",
    "ln -sfn @ @",
    "ln -sr @ @",
    "rm -rf @",
    "rm -r @",
    "rm @",
    "rmdir @",
    "rmdir -p @",
    "mkdir @",
    "mkdir -p @",
    "touch @",
    "touch -r @ @",
    "chmod 777 @",
    "chmod -R 700 @",
    "echo x > @",
    "echo x >> @",
    "echo x >| @",
    "echo x <> @",
    "exec 3< @; cat <&3",
    "tee @ < @",
    "cd @",
    "cd -P @",
    "pushd @",
    "pwd -P",
    "cd -",
    "cd",
    ". @",
    "bash @",
    "@",
    "[ -e @ ]",
    "[[ @ -ef @ ]]",
    "echo @/*",
    "echo @/../*",
    "realpath @",
    "realpath -m @",
    "mktemp -p @",
    "x=$(< @); echo $x",
    "mapfile x < @; echo ${x[@]}",
    "HOME=@; cat ~/secret",
    "PATH=@; secret",
    "CDPATH=@; cd d",
    "TMPDIR=@ mktemp",
    "xargs -a @ echo",
    "env -C @ cat secret",
    "date -r @",
    "cat <(cat @)",
    "cat <<< $(cat @)",
];

/// Put together to a path, with slashes between.
const NAMES: &[&str] = &[
    "..",
    "..",
    "..",
    ".",
    "a",
    "b",
    "d",
    "f",
    "l",
    "up",
    "s",
    "loop",
    "new",
    "secret",
    "outside",
    "root",
    ".clada",
    ".CLADA",
    "tmp",
    ".trash",
    "*",
    "?*",
    ".*",
    "~",
    "$PWD",
    "$OLDPWD",
    "/",
    "//",
    "/tmp",
    "/proc/self/root",
    "/proc/self/cwd",
    "/dev/fd",
    "BASE",
    "BASE/root",
    "BASE/outside",
    "{a,..}",
    "'",
    "\\.\\.",
    "\"..\"",
    "$'\\x2e.'",
    "etc",
    "passwd",
];

/// A script from choices: which commands, which names, how many of each.
fn script(choices: &[u8], base: &Path) -> String {
    let mut choices = choices.iter().copied();
    let mut script = String::new();
    for _ in 0..8 {
        let Some(choice) = choices.next() else { break };
        let command = COMMANDS.get(usize::from(choice) % COMMANDS.len()).copied().unwrap_or("pwd");
        for piece in command.split_inclusive('@') {
            script += piece.trim_end_matches('@');
            if piece.ends_with('@') {
                script += &path(&mut choices, base);
            }
        }
        script.push('\n');
    }
    script
}

fn path(choices: &mut impl Iterator<Item = u8>, base: &Path) -> String {
    let length = choices.next().unwrap_or(0) % 5 + 1;
    let mut path = String::new();
    for _ in 0..length {
        let choice = choices.next().unwrap_or(0);
        let name = NAMES.get(usize::from(choice) % NAMES.len()).copied().unwrap_or("a");
        // A name with a slash begins anew; the others follow each other.
        if !path.is_empty() && !name.starts_with('/') {
            path.push('/');
        }
        path += &name.replace("BASE", &base.display().to_string());
    }
    path
}
