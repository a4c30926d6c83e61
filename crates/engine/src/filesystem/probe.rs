//! For fuzzing: what must hold for every path, whatever its bytes are.

use std::os::fd::AsRawFd;

use bstr::{BStr, ByteSlice};
use exacta_shell::filesystem::{FileSystem, Follow, MayMiss, OpenOptions};

use super::path::{components, is_hidden};

/// Looks a path up in several ways and panics if one of them leads out of the tree or they disagree. Changes nothing.
pub fn path(files: &dyn FileSystem, path: &BStr) {
    let canonical = files.canonicalize(path, MayMiss::Nothing);
    let found = files.metadata(path, Follow::Yes);
    assert_eq!(canonical.is_ok(), found.is_ok(), "{path:?}: {canonical:?}, {found:?}");
    if let (Ok(canonical), Ok(found)) = (&canonical, &found) {
        assert!(is_visible(files, canonical.as_bstr()), "{path:?} leads to {canonical:?}");
        match files.metadata(canonical.as_bstr(), Follow::No) {
            Ok(again) => {
                let same = (again.device, again.inode) == (found.device, found.inode);
                assert!(same, "{path:?} and {canonical:?} are different things");
            }
            Err(error) => assert!(!error.to_string().is_empty(), "{path:?}: {error}"),
        }
    }
    let reading = files.open(path, OpenOptions::reading());
    if let Ok(file) = reading
        && let Some(descriptor) = file.descriptor()
        && let Ok(canonical) = &canonical
    {
        check_descriptor(files, canonical.as_bstr(), descriptor.as_raw_fd());
    }
    let _neither = files.read_link(path);
    let _may_panic = files.open_directory(path, Follow::Yes).and_then(|found| found.entries());
}

fn is_visible(files: &dyn FileSystem, canonical: &BStr) -> bool {
    let beneath = |point: &BStr| super::path::strip_point(canonical, point).is_some();
    let inside = beneath(files.root()) || beneath(BStr::new("/tmp")) || beneath(BStr::new("/dev"));
    let below = super::path::strip_point(canonical, files.root()).unwrap_or(canonical);
    inside && !components(canonical).any(|part| part == b"..") && !components(below).any(is_hidden)
}

/// Where the kernel says a descriptor is: under the project, wherever the project lies.
fn check_descriptor(files: &dyn FileSystem, canonical: &BStr, number: i32) {
    let Ok(real) = rustix::fs::readlink(format!("/proc/self/fd/{number}"), Vec::new()) else {
        return;
    };
    let real = BStr::new(real.as_bytes());
    let (root, device) = (files.root(), canonical.starts_with(b"/dev/"));
    let inside = super::path::strip_point(real, root).is_some() || (device && real == canonical);
    assert!(inside, "{canonical:?} is open at {real:?}");
}
