//! The descriptors that a program is given: files as they are, directories opened anew inside.
//!
//! A directory that somebody has opened outside leads outside: from it `..` goes up the host's own tree, past every wall but
//! one. So none is ever handed over. What goes in is where it is, and init opens what its view has there; where that has
//! nothing, the program is given nothing.

#![expect(
    clippy::disallowed_methods,
    reason = "inside, what the view has; outside, what is open already"
)]

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

use crate::limits::files;
use crate::plan::{Tree, View};
use crate::system::process;

/// Those among descriptors, each with where it is.
pub type Directories = Vec<(u32, BString)>;

/// What can be handed over, and the directories. What cannot be found out about is none of the former.
pub fn divided<'a>(
    descriptors: &[(u32, BorrowedFd<'a>)],
) -> (Vec<(u32, BorrowedFd<'a>)>, Directories) {
    let (mut given, mut directories) = (Vec::new(), Directories::new());
    for (number, descriptor) in descriptors {
        let kind = fstat(descriptor).map(|found| FileType::from_raw_mode(found.st_mode));
        if matches!(kind, Ok(kind) if kind != FileType::Directory) {
            given.push((*number, *descriptor));
        } else {
            let name = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
            directories.push((*number, files::target(Path::new(&name)).unwrap_or_default()));
        }
    }
    (given, directories)
}

/// Puts each descriptor under its number, in the process that becomes the program. First all out of the way of all numbers, then
/// each into its place, and directories last of all.
pub fn place(
    files: &[(u32, OwnedFd)],
    directories: &[(u32, Option<PathBuf>)],
    aside: &mut Vec<(i32, ManuallyDrop<OwnedFd>)>,
) -> Result<(), io::Error> {
    let numbers = files.iter().map(|(number, _)| number);
    let most = numbers.chain(directories.iter().map(|(number, _)| number)).max();
    // The first number that none of the program's comes to.
    let above = most.map_or(3, |most| most.saturating_add(1));
    let above = i32::try_from(above).map_err(|_| Errno::BADF)?;
    for (number, descriptor) in files {
        let number = i32::try_from(*number).map_err(|_| Errno::BADF)?;
        let descriptor = fcntl_dupfd_cloexec(descriptor.as_fd(), above)?;
        // Open in this process only: whoever has the memory afterwards must not close it.
        aside.push((number, ManuallyDrop::new(descriptor)));
    }
    for (number, descriptor) in aside {
        process::place(descriptor.as_fd(), *number)?;
    }
    for (number, place) in directories {
        let number = i32::try_from(*number).map_err(|_| Errno::BADF)?;
        let opened = reopened(place.as_deref())?;
        // It may have come to be in somebody's place.
        let aside = fcntl_dupfd_cloexec(&opened, above)?;
        drop(opened);
        process::place(aside.as_fd(), number)?;
    }
    Ok(())
}

/// What a view has there, or nothing.
fn reopened(place: Option<&Path>) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = place.map(|place| open(place, flags, Mode::empty()));
    match opened {
        Some(Ok(directory)) => Ok(directory),
        None | Some(Err(_)) => open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()),
    }
}

/// Where something of the host is in a view. What was opened in the view itself is called by its name there.
pub fn inside(place: &BStr, view: &View) -> Option<PathBuf> {
    let place = place.to_path().ok()?;
    let source = |tree: &&Tree| place.starts_with(&tree.source);
    let nearest = view.trees.iter().filter(source).max_by_key(|it| it.source.as_os_str().len());
    match nearest {
        Some(tree) => Some(tree.target.join(place.strip_prefix(&tree.source).ok()?)),
        None => {
            let is_known = view.trees.iter().any(|tree| place.starts_with(&tree.target));
            is_known.then(|| place.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Access;

    #[test]
    fn places_are_found_in_the_view_or_nowhere() {
        let tree = |source: &str, target: &str| Tree {
            source: source.into(),
            target: target.into(),
            access: Access::Write,
            hidden: Vec::new(),
        };
        let trees = vec![
            tree("/usr", "/usr"),
            tree("/projects/p/.clada/tmp", "/tmp"),
            tree("/projects/p", "/projects/p"),
        ];
        let view = View { trees, ..View::default() };
        for (place, expected) in [
            ("/projects/p/sub", Some("/projects/p/sub")),
            ("/projects/p", Some("/projects/p")),
            ("/projects/p/.clada/tmp/x", Some("/tmp/x")),
            ("/projects/p/.clada/undo", Some("/projects/p/.clada/undo")),
            ("/tmp/x", Some("/tmp/x")),
            ("/projects/pq", None),
            ("/projects", None),
            ("/", None),
            ("/etc", None),
            ("", None),
        ] {
            assert_eq!(inside(place.into(), &view), expected.map(PathBuf::from), "{place}");
        }
    }
}
