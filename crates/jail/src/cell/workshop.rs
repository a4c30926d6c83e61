//! Overlays over trees of the view: to hide what is in them, and to keep what is written apart.
//!
//! What the overlays are made of stands somewhere in the old root while the new one is built, and goes with it before
//! anybody could look: an overlay keeps hold of its layers by itself. To take it away on its own would cost as much as all
//! the overlays, for the kernel waits until nobody can be looking.
#![expect(clippy::disallowed_methods, reason = "the view is made of the host itself")]

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, mkdirat, statat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen,
};

use super::masks;
use super::view::{PLACE, Root, attach, clone, inside, mount_memory};
use crate::ladder::{Missing, Wall};
use crate::outcome::{AtStep, Failure};
use crate::plan::{Access, Tree, View};
use crate::system::mount::{NO_DEVICES, NO_SET_USER, READ_ONLY, set_flags};

/// Directories of the host that every system has and that nobody needs any more once the trees are taken.
const SPARE: [&str; 2] = ["/sys", "/dev"];

/// What is to be laid over one tree.
#[derive(Default)]
pub struct Laid<'a> {
    /// For what is written.
    pub layer: Option<OwnedFd>,
    /// One that is ready.
    pub mask: Option<&'a OwnedFd>,
}

pub struct Workshop {
    /// Where [masks] are made.
    pub memory: OwnedFd,
    place: &'static Path,
    /// Why there are no masks.
    pub refused: Option<Errno>,
}

impl Workshop {
    /// Whether a view needs one.
    pub fn is_needed(view: &View) -> bool {
        let is_plain =
            |tree: &Tree| tree.hidden.is_empty() && !matches!(tree.access, Access::Layer(_));
        !view.trees.iter().all(is_plain)
    }

    /// To be called when every tree was taken hold of, or nobody here looks for them.
    pub fn open() -> Result<Self, Failure> {
        let step = "make a place for layers";
        let memory = mount_memory("mode=0755").at(step)?;
        let put = |place: &&&str| attach(&memory, CWD, Path::new(place)).is_ok();
        let place = SPARE.iter().find(put).ok_or(Errno::NOENT).at(step)?;
        mkdirat(&memory, "nothing", Mode::from_raw_mode(0o555)).at(step)?;
        Ok(Workshop { memory, place: Path::new(place), refused: None })
    }

    /// What is to be mounted over a tree as it asks for it, if anything is. Where there is no overlay, something empty lies over
    /// what should be absent, and that is told.
    pub fn finish(
        &self,
        tree: &Tree,
        mount: &OwnedFd,
        Laid { layer, mask }: Laid<'_>,
        number: usize,
        root: &Root,
    ) -> Result<(Option<OwnedFd>, Option<Missing>), Failure> {
        let step = || format!("lay over {}", tree.target.display());
        match (&tree.access, layer) {
            (Access::Layer(_), Some(layer)) => {
                let step = step();
                set_flags(layer.as_fd(), NO_SET_USER | NO_DEVICES).at(&step)?;
                let over = self.overlay(tree, Some(&layer), number).at(&step)?;
                Ok((Some(over), None))
            }
            (Access::Layer(_), None) => Err(Failure::new(step(), Errno::BADF)),
            (Access::Read, _) if !tree.hidden.is_empty() => {
                let refused = match self.masked(tree, mask, number) {
                    Ok(over) => return Ok((Some(over), None)),
                    Err(refused) => refused,
                };
                let step = step();
                self.cover(tree, mount, root).at(&step)?;
                Ok((None, Some(Missing::new(Wall::Overlay, Failure::new(step, refused)))))
            }
            (Access::Write, _) => self.cover_written(tree, mount, root).map(|()| (None, None)),
            (Access::Read, _) => Ok((None, None)),
        }
    }

    /// With the mask that is ready. Not every file system can hold one for an overlay; then it is made.
    fn masked(&self, tree: &Tree, mask: Option<&OwnedFd>, number: usize) -> Result<OwnedFd, Errno> {
        let Some(mask) = mask else { return self.overlay(tree, None, number) };
        self.laid_out(mask, number).and_then(|()| self.overlay(tree, None, number)).or_else(|_| {
            // Beside it, for what lies there cannot be changed.
            let beside = usize::MAX - number;
            masks::make(&self.memory, &[masks::Mask::of(beside, tree)])?;
            self.overlay(tree, None, beside)
        })
    }

    /// Where the kernel finds it.
    fn laid_out(&self, mask: &OwnedFd, number: usize) -> Result<(), Errno> {
        let name = masks::name(number);
        mkdirat(&self.memory, name.as_str(), Mode::from_raw_mode(0o755))?;
        set_flags(mask.as_fd(), READ_ONLY | NO_SET_USER | NO_DEVICES).map_err(|_| Errno::PERM)?;
        attach(mask, &self.memory, Path::new(&name))
    }

    /// In a tree that is written to directly, names are covered.
    pub fn cover_written(&self, tree: &Tree, mount: &OwnedFd, root: &Root) -> Result<(), Failure> {
        if tree.access != Access::Write || tree.hidden.is_empty() {
            return Ok(());
        }
        self.cover(tree, mount, root).at(&format!("lay over {}", tree.target.display()))
    }

    /// An overlay over the tree in which hidden names are gone, for lookups and for listings; without a layer to
    /// write to it is read-only.
    fn overlay(
        &self,
        tree: &Tree,
        layer: Option<&OwnedFd>,
        number: usize,
    ) -> Result<OwnedFd, Errno> {
        let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        let mut lower = Vec::new();
        if !tree.hidden.is_empty() {
            if let Some(refused) = self.refused {
                return Err(refused);
            }
            lower = self.path(&masks::name(number));
            lower.push(b':');
        }
        lower.extend(escaped(&Path::new(PLACE).join(inside(&tree.target))));
        fsconfig_set_string(&context, "lowerdir", lower)?;
        let mut attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        match layer {
            Some(layer) => {
                let name = format!("layer{number}");
                mkdirat(&self.memory, name.as_str(), Mode::from_raw_mode(0o700))?;
                attach(layer, &self.memory, Path::new(&name))?;
                fsconfig_set_string(&context, "upperdir", self.path(&format!("{name}/upper")))?;
                fsconfig_set_string(&context, "workdir", self.path(&format!("{name}/work")))?;
            }
            None => attributes |= MountAttrFlags::MOUNT_ATTR_RDONLY,
        }
        fsconfig_set_flag(&context, "userxattr")?;
        fsconfig_create(&context)?;
        fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
    }

    /// Something empty over each name: it is listed, but it holds nothing and cannot be changed.
    fn cover(&self, tree: &Tree, mount: &OwnedFd, root: &Root) -> Result<(), Errno> {
        for hidden in &tree.hidden {
            let found = match statat(mount, hidden, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => found,
                Err(Errno::NOENT | Errno::NOTDIR) => continue,
                Err(error) => return Err(error),
            };
            let cover = if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
                clone(&self.memory, Path::new("nothing"), false)?
            } else {
                clone(&root.directory, Path::new("dev/null"), false)?
            };
            set_flags(cover.as_fd(), READ_ONLY).map_err(|_| Errno::PERM)?;
            attach(&cover, mount, hidden)?;
        }
        Ok(())
    }

    /// Where a name of the workshop is.
    fn path(&self, name: &str) -> Vec<u8> {
        escaped(&self.place.join(name))
    }
}

/// Overlay reads colons, commas and backslashes in its options.
pub fn escaped(path: &Path) -> Vec<u8> {
    let mut escaped = Vec::new();
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b':' | b'\\' | b',') {
            escaped.push(b'\\');
        }
        escaped.push(*byte);
    }
    escaped
}
