//! Where a path leads, asked before anything is opened: for verdicts and for the words of a refusal.
//!
//! Nothing relies on the answer to stay true. The wall is the file system, which resolves again when it opens; this
//! only tells "not there yet" from "outside", which the file system never does.

use bstr::{BStr, BString, ByteSlice};
use exacta_policy::Place;
use exacta_shell::filesystem::{FileSystem, MayMiss};
use exacta_shell::shell::own_descriptor;

use crate::filesystem::path::{self, MAXIMUM_LINKS, PATH_MAX};

/// The private temporary directory, as a script names it.
const TEMPORARY: &str = "/tmp";

/// The devices that a script can open.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Where an absolute path leads, links followed. What is missing leads to where it would be made.
pub fn place(files: &dyn FileSystem, path: &BStr) -> Place {
    resolve(files, path).0
}

/// The path that an absolute path leads to, if it stays inside: what a rule about the file must be held against.
pub fn real_path(files: &dyn FileSystem, path: &BStr) -> Option<BString> {
    resolve(files, path).1
}

fn resolve(files: &dyn FileSystem, path: &BStr) -> (Place, Option<BString>) {
    if !path.starts_with(b"/") || path.contains(&0) || path.len() >= PATH_MAX {
        return (Place::Outside, None);
    }
    // One system call where it exists: the usual case. Only what fails is taken apart.
    match files.canonicalize(path, MayMiss::LastComponent) {
        Ok(real) => (of_real_path(files.root(), real.as_bstr()), Some(real)),
        Err(_) => Walk::new(files, path).run(),
    }
}

/// A path as a command in `directory` means it, made absolute and nothing more.
pub fn absolute(directory: &BStr, path: &BStr) -> BString {
    if path.starts_with(b"/") {
        return path.into();
    }
    path::child(directory, path)
}

/// By the text of a path without links and `..`.
fn of_real_path(root: &BStr, path: &BStr) -> Place {
    let point = match Point::of(root, path) {
        Some((point, rest)) if !path::has_hidden(rest) => point,
        Some(_) => return Place::Hidden,
        None => return device(path),
    };
    match point {
        Point::Root => Place::Project,
        Point::Temporary => Place::Scratch,
    }
}

fn device(path: &BStr) -> Place {
    let parts: Vec<&[u8]> = path::components(path).collect();
    let named = path::join(parts.iter().copied());
    let known = DEVICES.iter().any(|device| named == *device);
    if (known && !path::asks_directory(path)) || own_descriptor(named.as_bstr()).is_some() {
        Place::Device
    } else {
        Place::Outside
    }
}

/// Where a tree begins.
#[derive(Clone, Copy)]
enum Point {
    Root,
    Temporary,
}

impl Point {
    /// The longer one first: the project may itself lie under `/tmp`.
    fn of<'a>(root: &BStr, path: &'a BStr) -> Option<(Point, &'a BStr)> {
        let in_root = path::strip_point(path, root).map(|rest| (Point::Root, rest));
        in_root.or_else(|| {
            path::strip_point(path, TEMPORARY.into()).map(|rest| (Point::Temporary, rest))
        })
    }

    fn path(self, root: &BStr) -> &BStr {
        match self {
            Point::Root => root,
            Point::Temporary => TEMPORARY.into(),
        }
    }
}

/// Component by component, past what is missing.
struct Walk<'a> {
    files: &'a dyn FileSystem,
    /// Absolute; what a link or the caller named, not walked yet.
    start: BString,
    links: u32,
}

/// One tree walked as far as it goes.
enum Walked {
    /// It leads here, if it stays inside to this path.
    Here(Place, Option<BString>),
    /// An absolute link: everything begins again.
    Again,
}

impl<'a> Walk<'a> {
    fn new(files: &'a dyn FileSystem, path: &BStr) -> Self {
        Walk { files, start: path.into(), links: 0 }
    }

    fn run(mut self) -> (Place, Option<BString>) {
        loop {
            match self.walk_tree() {
                Walked::Here(place, path) => return (place, path),
                Walked::Again => {}
            }
        }
    }

    fn walk_tree(&mut self) -> Walked {
        let root = self.files.root();
        let start = std::mem::take(&mut self.start);
        let Some((point, rest)) = Point::of(root, start.as_bstr()) else {
            return Walked::Here(device(start.as_bstr()), None);
        };
        let mut pending: Vec<BString> = path::components(rest).map(BString::from).collect();
        pending.reverse();
        let mut names: Vec<BString> = Vec::new();
        while let Some(name) = pending.pop() {
            if name == ".." {
                // Above a tree there is nothing, not even a way back into it.
                match names.pop() {
                    Some(_) => continue,
                    None => return Walked::Here(Place::Outside, None),
                }
            }
            if path::is_hidden(&name) {
                return Walked::Here(Place::Hidden, None);
            }
            names.push(name);
            let point = path::components(point.path(root));
            let so_far = path::join(point.chain(names.iter().map(|name| &***name)));
            // Neither a link nor there at all: the name stands for itself.
            let Ok(target) = self.files.read_link(so_far.as_bstr()) else { continue };
            self.links += 1;
            if self.links > MAXIMUM_LINKS {
                return Walked::Here(Place::Outside, None);
            }
            if target.starts_with(b"/") {
                self.start = with_pending(target, &pending);
                return Walked::Again;
            }
            names.pop();
            let parts: Vec<BString> = path::components(&target).map(BString::from).collect();
            pending.extend(parts.into_iter().rev());
        }
        let parts = path::components(point.path(root)).chain(names.iter().map(|name| &***name));
        let place = match point {
            Point::Root => Place::Project,
            Point::Temporary => Place::Scratch,
        };
        Walked::Here(place, Some(path::join(parts)))
    }
}

/// What an absolute link names, with what was still to come behind it.
fn with_pending(mut target: BString, pending: &[BString]) -> BString {
    for name in pending.iter().rev() {
        target.push(b'/');
        target.extend_from_slice(name);
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystem::Memory;

    /// Links that lead everywhere.
    fn world() -> Memory {
        let files = Memory::new(b"/home/user/project");
        for directory in ["src", "src/deep", ".git"] {
            let path = format!("/home/user/project/{directory}");
            files.create_directory(BStr::new(&path), 0o755).expect("a directory");
        }
        let links = [
            ("out", "/etc"),
            ("up", "../.."),
            ("src/inner", "../.git"),
            ("dangling", "nowhere/yet"),
            ("dangling-out", "/nowhere/yet"),
            ("loop", "loop"),
            ("absolute", "/home/user/project/src"),
            ("scratch", "/tmp/x"),
            ("null", "/dev/null"),
            ("state", ".clada"),
        ];
        for (link, target) in links {
            let path = format!("/home/user/project/{link}");
            files.create_symlink(BStr::new(target), BStr::new(&path)).expect("a link");
        }
        files
    }

    #[test]
    fn every_path_has_a_place() {
        let files = world();
        let cases = [
            ("/home/user/project", Place::Project),
            ("/home/user/project/", Place::Project),
            ("/home/user/project/src/../README.md", Place::Project),
            ("/home/user/project/missing/deeper/still", Place::Project),
            ("/home/user/project/missing/../../project/x", Place::Outside),
            ("/home/user/project/src/../../../../etc/passwd", Place::Outside),
            ("/home/user/project/../project/src", Place::Outside),
            ("/home/user/project/out/passwd", Place::Outside),
            ("/home/user/project/out", Place::Outside),
            ("/home/user/project/up/x", Place::Outside),
            ("/home/user/project/src/inner/config", Place::Project),
            ("/home/user/project/dangling/x", Place::Project),
            ("/home/user/project/dangling-out", Place::Outside),
            ("/home/user/project/loop", Place::Outside),
            ("/home/user/project/absolute/a/b/c", Place::Project),
            ("/home/user/project/absolute/../../x", Place::Outside),
            ("/home/user/project/scratch", Place::Scratch),
            ("/home/user/project/null", Place::Device),
            ("/home/user/project/state/commands.json", Place::Hidden),
            ("/home/user/project/.clada", Place::Hidden),
            ("/home/user/project/a/.CLADA/b", Place::Hidden),
            ("/home/user/project2", Place::Outside),
            ("/home/user", Place::Outside),
            ("/", Place::Outside),
            ("/etc/passwd", Place::Outside),
            ("/tmp", Place::Scratch),
            ("/tmp/a/b/c", Place::Scratch),
            ("/tmp/../etc", Place::Outside),
            ("/tmp/.clada", Place::Hidden),
            ("/dev/null", Place::Device),
            ("//dev/./null", Place::Device),
            ("/dev/null/", Place::Outside),
            ("/dev/stdin", Place::Device),
            ("/dev/fd/3", Place::Device),
            ("/dev/fd/3/x", Place::Outside),
            ("/dev/sda", Place::Outside),
            ("/dev/tcp/host/80", Place::Outside),
            ("relative", Place::Outside),
            ("", Place::Outside),
            ("/home/user/project/a\0b", Place::Outside),
        ];
        for (path, expected) in cases {
            assert_eq!(place(&files, BStr::new(path)), expected, "{path:?}");
        }
    }
}
