//! The tree of the world: layers over the machine's directories, so that all can be read and nothing is changed.
//!
//! One layer over `/` would do, but an ordinary user may not look beneath mounts: then `/` is put together from layers
//! over the directories in it that hold no mount, and so on downwards where something is needed.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, mount};

use crate::Here;
use crate::limits;
use crate::mounts::{self, Mount};
use crate::passport::Passport;
use crate::refusal::{Refusal, While};

/// Made anew for each world.
const OWN: [&str; 5] = ["/proc", "/sys", "/dev", "/run", "/tmp"];

/// Where programs and their libraries are; mounts there are a part of the world.
const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/nix", "/gnu"];

/// A file beside a mount is copied; what is larger is nothing a test needs.
const LARGEST_COPY: u64 = 1 << 20;

struct Layers<'a> {
    passport: &'a Passport,
    mounts: Vec<Mount>,
    needed: Vec<PathBuf>,
    /// Whom the tree belongs to, if that is not whoever lays it out.
    owner: Option<u32>,
    count: u32,
    problems: Vec<String>,
}

/// What the tests read: the sources, the binaries, and what lies beside the sources.
pub fn needed(here: &Here, program: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let workspace = workspace(here);
    let folder = program.ancestors().nth(2).unwrap_or(program).to_owned();
    let mut needed = vec![workspace.to_owned(), program.to_owned(), folder];
    needed.push(env::current_dir().when(|| "finding the current directory".into())?);
    needed.extend(workspace.parent().map(|parent| parent.join("shared")));
    needed.extend(here.scratch.clone());
    needed.retain(|path| path.exists());
    Ok(needed)
}

fn workspace(here: &Here) -> &Path {
    let has_lock = |folder: &&Path| folder.join("Cargo.lock").is_file();
    here.manifest.ancestors().find(has_lock).unwrap_or(&here.manifest)
}

pub fn lay(passport: &Passport, here: &Here, owner: Option<u32>) -> Result<(), Refusal> {
    let mounts = mounts::all()?;
    let needed = needed(here, &passport.program)?;
    let mut layers = Layers { passport, mounts, needed, owner, count: 0, problems: Vec::new() };
    let tree = passport.tree();
    // Only this mount belongs to whoever lays it out: whoever is in the world cannot reach it.
    layers.temporary(&passport.staging, "mode=0755")?;
    fs::create_dir(&tree).when(|| format!("making {}", tree.display()))?;
    for point in layers.points() {
        layers.place(&point);
    }
    for (own, mode) in [("/tmp", "mode=1777"), ("/run", "mode=0755")] {
        layers.owned(Path::new(own), mode)?;
    }
    layers.place_in_own();
    if owner.is_some() {
        layers.open_up(here);
    }
    if let Some(scratch) = &here.scratch {
        layers.owned(scratch, "mode=0755")?;
    }
    layers.check()
}

impl Layers<'_> {
    fn inside(&self, path: &Path) -> PathBuf {
        self.passport.tree().join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Mounts that become a part of the world, the outer ones first.
    fn points(&self) -> Vec<PathBuf> {
        let wanted = |mount: &&Mount| {
            !self.is_own(&mount.point) && self.concerns(&mount.point) && mount.kind != "autofs"
        };
        let mut points: Vec<PathBuf> =
            self.mounts.iter().filter(wanted).map(|mount| mount.point.clone()).collect();
        points.sort_by_key(|point| (point.components().count(), point.clone()));
        points.dedup();
        points
    }

    fn is_own(&self, path: &Path) -> bool {
        OWN.iter().any(|own| path.starts_with(own)) || path.starts_with(&self.passport.staging)
    }

    /// It holds something that is needed, or is a part of that.
    fn concerns(&self, path: &Path) -> bool {
        let related = |other: &Path| other.starts_with(path) || path.starts_with(other);
        self.needed.iter().any(|needed| related(needed))
            || SYSTEM.iter().any(|system| related(Path::new(system)))
    }

    fn place(&mut self, point: &Path) {
        let target = self.inside(point);
        let placed = fs::create_dir_all(&target).and_then(|()| {
            self.overlay(Some(point), &target).or_else(|error| {
                if !self.holds_mounts(point) {
                    return Err(error);
                }
                self.overlay(None, &target)?;
                self.place_pieces(point)
            })
        });
        self.note(point, placed);
    }

    fn note(&mut self, path: &Path, done: io::Result<()>) {
        if let Err(error) = done {
            self.problems.push(format!("a layer over {}: {error}", path.display()));
        }
    }

    fn holds_mounts(&self, path: &Path) -> bool {
        self.mounts.iter().any(|mount| mount.point != path && mount.point.starts_with(path))
    }

    fn place_pieces(&mut self, directory: &Path) -> io::Result<()> {
        for entry in fs::read_dir(directory)?.flatten() {
            let (path, target) = (entry.path(), self.inside(&entry.path()));
            let placed = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => {
                    fs::read_link(&path).and_then(|to| symlink(to, &target))
                }
                Ok(kind) if kind.is_dir() => self.place_directory(&path, &target),
                Ok(kind) if kind.is_file() => copy_small(&path, &target),
                _ => Ok(()),
            };
            self.note(&path, placed);
        }
        Ok(())
    }

    fn place_directory(&mut self, path: &Path, target: &Path) -> io::Result<()> {
        fs::create_dir(target)?;
        let is_mount = self.mounts.iter().any(|mount| mount.point == path);
        if self.is_own(path) || is_mount {
            return Ok(());
        }
        match self.overlay(Some(path), target) {
            Err(_) if self.holds_mounts(path) && self.concerns(path) => self.place_pieces(path),
            placed => placed,
        }
    }

    /// What is needed although it lies where each world has its own.
    fn place_in_own(&mut self) {
        let mut paths: Vec<PathBuf> =
            self.needed.iter().filter(|path| self.is_own(path) && path.is_dir()).cloned().collect();
        paths.sort();
        let mut placed: Option<PathBuf> = None;
        for path in paths {
            if placed.as_ref().is_some_and(|placed| path.starts_with(placed)) {
                continue;
            }
            let target = self.inside(&path);
            let done =
                fs::create_dir_all(&target).and_then(|()| self.overlay(Some(&path), &target));
            self.note(&path, done);
            placed = Some(path);
        }
    }

    /// A layer that takes all changes, over a directory or over nothing.
    fn overlay(&mut self, lower: Option<&Path>, target: &Path) -> io::Result<()> {
        self.count += 1;
        let layer = self.passport.staging.join(format!("layer-{}", self.count));
        let empty = layer.join("empty");
        let (upper, work) = (layer.join("upper"), layer.join("work"));
        for folder in [&empty, &upper, &work] {
            fs::create_dir_all(folder)?;
        }
        let own = if self.owner.is_some() { "metacopy=on" } else { "userxattr" };
        let options = format!(
            "lowerdir={},upperdir={},workdir={},{own}",
            escape(lower.unwrap_or(&empty))?,
            escape(&upper)?,
            escape(&work)?,
        );
        let (name, flags) = (self.passport.mount_name(), MountFlags::NODEV);
        let options = std::ffi::CString::new(options)?;
        mount(name.as_str(), target, "overlay", flags, Some(options.as_c_str()))?;
        Ok(())
    }

    /// A place in memory that belongs to the world's root.
    fn owned(&self, path: &Path, mode: &str) -> Result<(), Refusal> {
        let target = self.inside(path);
        fs::create_dir_all(&target).when(|| format!("making {}", path.display()))?;
        let owner = self.owner.map(|owner| format!(",uid={owner},gid={owner}"));
        self.temporary(&target, &format!("{mode}{}", owner.unwrap_or_default()))
    }

    fn temporary(&self, target: &Path, options: &str) -> Result<(), Refusal> {
        temporary(&self.passport.mount_name(), target, options)
    }

    /// The world's root is nobody to the machine, and may read only what everybody may: in the layers, and only there,
    /// that is all that the tests need.
    fn open_up(&mut self, here: &Here) {
        for path in self.needed.clone() {
            let done = allow_all(&self.inside(&path), 0o5);
            self.note(&path, done);
            for above in path.ancestors().skip(1) {
                let done = allow_all(&self.inside(above), 0o1);
                self.note(above, done);
            }
        }
        let binaries =
            self.inside(self.passport.program.ancestors().nth(2).unwrap_or(Path::new("/")));
        for entry in fs::read_dir(binaries).into_iter().flatten().flatten() {
            let _a_test_that_needs_it_says_so = allow_all(&entry.path(), 0o5);
        }
        open_tree(&self.inside(workspace(here)));
    }

    fn check(self) -> Result<(), Refusal> {
        let mut missing: Vec<String> = self
            .needed
            .iter()
            .filter(|path| !self.inside(path).exists())
            .map(|path| format!("{} is not in the world", path.display()))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        missing.extend(self.problems);
        Err(Refusal::many(missing))
    }
}

/// A file system in memory, of a size that leaves room for the others of this world.
pub fn temporary(name: &str, target: &Path, options: &str) -> Result<(), Refusal> {
    let options = format!("{options},size={}", limits::memory() / 4);
    let options = std::ffi::CString::new(options).when(|| "options of a mount".into())?;
    mount(name, target, "tmpfs", MountFlags::NODEV | MountFlags::NOSUID, Some(options.as_c_str()))
        .when(|| format!("mounting tmpfs on {}", target.display()))
}

/// Everybody may do what its owner may, as far as wanted: read (4) and enter or execute (1).
fn allow_all(path: &Path, wanted: u32) -> io::Result<()> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_symlink() {
        return Ok(());
    }
    let mode = metadata.permissions().mode();
    let opened = mode | (mode >> 6 & wanted);
    if mode == opened {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(opened))
}

fn open_tree(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let skipped = ["target", ".git"].iter().any(|name| entry.file_name() == *name);
        let _a_test_that_needs_it_says_so = allow_all(&entry.path(), 0o5);
        if !skipped && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_tree(&entry.path());
        }
    }
}

fn copy_small(path: &Path, target: &Path) -> io::Result<()> {
    if fs::metadata(path)?.len() > LARGEST_COPY {
        return Ok(());
    }
    fs::copy(path, target).map(|_bytes| ())
}

/// Commas divide options, and colons layers.
fn escape(path: &Path) -> io::Result<String> {
    let text = path.to_str().ok_or_else(|| io::Error::other("a path that is not UTF-8"))?;
    Ok(text.replace('\\', "\\\\").replace(':', "\\:").replace(',', "\\,"))
}
