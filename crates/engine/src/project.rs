//! Which directory is the project, and where exacta keeps its state: asked by the operator's side only,
//! before any script runs.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own paths, named before a script exists that could race them"
)]

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use bstr::BString;
use rustix::fs::{Mode, OFlags};
use sha2::{Digest as _, Sha256};

use crate::error::EngineError;
use crate::operator_file;

/// Where exacta keeps its state in a project.
pub(crate) const STATE: &str = ".clada";

const MARKERS: &[&str] = &[".exacta.toml", ".clada", ".git"];

/// The nearest directory upwards that is marked as a project; else the start itself.
pub fn find_root(start: &Path) -> PathBuf {
    let marked = |directory: &&Path| {
        MARKERS.iter().any(|marker| fs::symlink_metadata(directory.join(marker)).is_ok())
    };
    start.ancestors().find(marked).unwrap_or(start).to_owned()
}

/// The root by its real path: that is where the script sees it.
pub fn canonical_root(root: &Path) -> Result<PathBuf, EngineError> {
    if operator_file::is_real_directory(root) {
        return Ok(root.to_owned());
    }
    let wrap = |error| EngineError::Root { path: root.to_owned(), error };
    let canonical = operator_file::canonical(root).map_err(wrap)?;
    let metadata = fs::metadata(&canonical).map_err(wrap)?;
    if metadata.is_dir() { Ok(canonical) } else { Err(wrap(io::ErrorKind::NotADirectory.into())) }
}

/// A script that the operator names may lie anywhere.
pub fn read_operator_file(path: &Path) -> io::Result<BString> {
    fs::read(path).map(BString::from)
}

/// A file that the operator names may lie anywhere too. Whole or not at all, and never through a link: whoever made one in
/// the project would choose what is overwritten.
pub fn write_operator_file(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let temporary = path.with_file_name(name);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&temporary)?;
    let placed = file.write_all(text).and_then(|()| fs::rename(&temporary, path));
    if placed.is_err() {
        let _it_may_not_be_there = fs::remove_file(&temporary);
    }
    placed
}

/// A file that came with the project: itself and not what a link makes of it, and no more than people write.
pub fn read_project_file(root: &Path, name: &str) -> io::Result<Option<BString>> {
    const MAXIMUM_SIZE: u64 = 16 << 20;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(root, flags, Mode::empty())?;
    Ok(crate::kept_file::read(&root, name, MAXIMUM_SIZE)?.map(BString::from))
}

/// A file at the root of the project, whole or not at all; one that is there is only replaced if `force` says so.
pub fn write_project_file(root: &Path, name: &str, text: &[u8], force: bool) -> io::Result<()> {
    let temporary = root.join(format!("{name}.{}", std::process::id()));
    fs::write(&temporary, text)?;
    let placed = if force {
        fs::rename(&temporary, root.join(name))
    } else {
        // Unlike a rename, a link never replaces anything.
        fs::hard_link(&temporary, root.join(name))
    };
    if placed.is_err() || !force {
        fs::remove_file(&temporary)?;
    }
    placed
}

/// Nothing of these roots is granted: all that there is is the private `/tmp`.
pub(crate) fn grants_nothing(root: &Path) -> bool {
    root == Path::new("/") || root == Path::new("/tmp")
}

/// Where the state of a root is: in it, and where nothing of it is granted, with the user's own state.
pub(crate) fn state_path(root: &Path) -> io::Result<PathBuf> {
    if !grants_nothing(root) {
        return Ok(root.join(STATE));
    }
    Ok(user_state()?.join("tmp"))
}

/// Where the record of a project is that this user cannot write to: nothing but its record is needed to read in it.
pub(crate) fn record_elsewhere(root: &[u8]) -> io::Result<PathBuf> {
    let name = exacta_store::audit::hex(&Sha256::digest(root));
    Ok(user_state()?.join("records").join(name))
}

/// The user's own state.
fn user_state() -> io::Result<PathBuf> {
    let directory =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || Some(directory("HOME")?.join(".local/state"));
    let states = directory("XDG_STATE_HOME").or_else(home).ok_or_else(|| {
        let problem = "neither XDG_STATE_HOME nor HOME says where the state of this root can be";
        io::Error::new(io::ErrorKind::NotFound, problem)
    })?;
    Ok(states.join("exacta"))
}

/// The state, made on demand: only for its owner, ignored by git.
pub fn state_directory(root: &Path) -> io::Result<PathBuf> {
    let state = state_path(root)?;
    if let Some(above) = state.parent().filter(|_| grants_nothing(root)) {
        fs::create_dir_all(above)?;
    }
    let found = match fs::symlink_metadata(&state) {
        Ok(found) => found,
        Err(_) => match fs::DirBuilder::new().mode(0o700).create(&state) {
            Ok(()) => {
                fs::write(state.join(".gitignore"), "*\n")?;
                return Ok(state);
            }
            // Somebody else was first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::symlink_metadata(&state)?
            }
            Err(error) => return Err(error),
        },
    };
    if !found.is_dir() {
        return Err(rustix::io::Errno::NOTDIR.into());
    }
    if found.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(&state, fs::Permissions::from_mode(0o700))?;
    }
    Ok(state)
}

/// What `/tmp` is for all sessions that have none of their own, from the state on.
pub(crate) const TEMPORARY: &str = "tmp";

/// A file for output that is too long for a report, and its path as a script sees it.
pub(crate) fn create_spill(
    root: &Path,
    temporary: &Path,
    name: &str,
) -> io::Result<(fs::File, String)> {
    let folder = directory_in_state(&state_directory(root)?, temporary)?;
    let path = folder.join(name);
    let file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    Ok((file, format!("/tmp/{name}")))
}

/// A directory of the state, made on demand with those above it. None of them is a link: the state may have come with
/// the repository, and a link could lead anywhere.
pub(crate) fn directory_in_state(state: &Path, below: &Path) -> io::Result<PathBuf> {
    let whole = state.join(below);
    // After the first time all of them are there, which is one question.
    if operator_file::is_real_directory(&whole) {
        return Ok(whole);
    }
    let mut folder = state.to_owned();
    for component in below.components() {
        let Component::Normal(name) = component else {
            return Err(rustix::io::Errno::INVAL.into());
        };
        folder.push(name);
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !fs::symlink_metadata(&folder)?.is_dir() {
                    return Err(rustix::io::Errno::NOTDIR.into());
                }
            }
            made => made?,
        }
    }
    Ok(folder)
}

/// The path without links, as far as it is there.
pub(crate) fn canonical_so_far(path: &Path) -> PathBuf {
    let real = path.ancestors().find_map(|above| {
        let rest = path.strip_prefix(above).ok()?;
        let real = operator_file::canonical(above).ok()?;
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    });
    real.unwrap_or_else(|| path.to_owned())
}
