//! Layers that say of names that they are not there, to be laid over trees of a view.
//!
//! There are many such names, and each of them takes the kernel a moment: so init makes them, while the warden has the trees.
#![expect(clippy::disallowed_methods, reason = "made in memory that nobody else has seen yet")]

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, linkat, mkdirat, mknodat, openat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::plan::{Access, Ready, ReadyPart, Tree, View};

/// One of them says it for all: another name takes less than another file.
const ABSENT: &str = "absent";

/// What is to be hidden in one tree.
#[derive(Debug, Serialize, Deserialize)]
pub struct Mask {
    /// Of the tree, in its view.
    number: usize,
    #[serde(with = "crate::paths::all")]
    hidden: Vec<PathBuf>,
}

/// Those that a view needs and that are not ready. In a tree that is written to directly, names are covered.
pub fn of(view: &View) -> Vec<Mask> {
    let is_ready = |tree: &Tree| ready(view, tree).is_some();
    let trees = view.trees.iter().enumerate();
    let masked = trees.filter(|(_, tree)| is_masked(tree) && !is_ready(tree));
    masked.map(|(number, tree)| Mask::of(number, tree)).collect()
}

impl Mask {
    pub fn of(number: usize, tree: &Tree) -> Self {
        Mask { number, hidden: tree.hidden.clone() }
    }
}

/// Which of the parts that are ready is a tree's mask.
pub fn ready(view: &View, tree: &Tree) -> Option<usize> {
    let is_it = |ready: &Ready| matches!(&ready.part, ReadyPart::Mask(of) if *of == tree.target);
    view.ready.iter().position(is_it).filter(|_| tree.access == Access::Read)
}

pub fn is_masked(tree: &Tree) -> bool {
    !tree.hidden.is_empty() && tree.access != Access::Write
}

/// The directory of a tree's mask, in the memory they are made in.
pub fn name(number: usize) -> String {
    format!("mask{number}")
}

pub fn make(memory: &OwnedFd, masks: &[Mask]) -> Result<(), Errno> {
    if !masks.is_empty() {
        match mknodat(memory, ABSENT, FileType::CharacterDevice, Mode::empty(), 0) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
    }
    masks.iter().try_for_each(|mask| white_out(memory, mask))
}

fn white_out(memory: &OwnedFd, Mask { number, hidden }: &Mask) -> Result<(), Errno> {
    let mask = name(*number);
    mkdirat(memory, mask.as_str(), Mode::from_raw_mode(0o755))?;
    let mut last: Option<(&Path, OwnedFd)> = None;
    for hidden in hidden {
        let (Some(above), Some(name)) = (hidden.parent(), hidden.file_name()) else {
            return Err(Errno::INVAL);
        };
        // Many lie in one directory, one after the other.
        let folder = match last.take() {
            Some((known, folder)) if known == above => folder,
            _ => open_folder(memory, &mask, above)?,
        };
        match linkat(memory, ABSENT, &folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        last = Some((above, folder));
    }
    Ok(())
}

/// A directory of a mask, made with those above it.
fn open_folder(memory: &OwnedFd, mask: &str, path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = openat(memory, mask, flags, Mode::empty())?;
    for component in path.components() {
        let name = component.as_os_str();
        match mkdirat(&folder, name, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        folder = openat(&folder, name, flags, Mode::empty())?;
    }
    Ok(folder)
}
