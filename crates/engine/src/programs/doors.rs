//! Sockets of the host's services that lie in what programs see.
//!
//! A socket with a path is not of any network: whoever reaches the path reaches the service behind it, which is outside,
//! with powers of its own. No filter can tell, for the path is in memory, and the kernel's grants for files say nothing
//! about connecting. So the sockets that somebody outside listens at are covered by something empty. Those that
//! programs make inside are not of this network, and are not seen here.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own system is looked at, for what programs must not reach"
)]

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use bstr::{BString, ByteSlice};
use exacta_jail::plan::{Access, Tree, View};

/// A socket as it is now: another one at the same path is another door.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Door {
    path: PathBuf,
    inode: u64,
}

/// Remembers where names lead: most of them are there all the time.
#[derive(Debug, Default)]
pub struct Doors {
    known: HashMap<BString, PathBuf>,
    /// The kernel's list. To find it takes as long as to read it, and it is read before each request.
    list: Option<fs::File>,
}

impl Doors {
    /// Those in the trees of a view, in order.
    pub fn in_view(&mut self, view: &View) -> Vec<Door> {
        let text = self.all_sockets().unwrap_or_default();
        let mut found: Vec<Door> = Vec::new();
        for name in text.lines().filter_map(name_in) {
            if name.starts_with(b"/") {
                let path = self.resolved(name);
                found.extend(path.filter(|path| is_in(view, path)).and_then(|it| door(&it)));
            } else {
                found.extend(projects(view).flat_map(|tree| seen_from(tree, name)));
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// The whole list as it is now. It does not say how long it is.
    fn all_sockets(&mut self) -> io::Result<Vec<u8>> {
        const PIECE: usize = 16 << 10;
        let list = match self.list.take() {
            Some(list) => list,
            None => fs::File::open("/proc/self/net/unix")?,
        };
        let (mut text, mut length) = (vec![0; PIECE], 0);
        loop {
            match list.read_at(text.get_mut(length..).unwrap_or_default(), length as u64) {
                Ok(0) => break,
                Ok(count) => length += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            text.resize(length + PIECE, 0);
        }
        text.truncate(length);
        self.list = Some(list);
        Ok(text)
    }

    fn resolved(&mut self, name: &[u8]) -> Option<PathBuf> {
        if let Some(known) = self.known.get(name.as_bstr()) {
            return Some(known.clone());
        }
        let real = fs::canonicalize(name.to_path().ok()?).ok()?;
        self.known.insert(name.into(), real.clone());
        Some(real)
    }
}

/// Covers them in a view.
pub fn close(view: &mut View, doors: &[Door]) {
    for tree in &mut view.trees {
        let inside = doors.iter().filter_map(|door| door.path.strip_prefix(&tree.source).ok());
        tree.hidden.extend(inside.map(Path::to_owned));
    }
}

/// The name in a line of the kernel's list, if it has one that is a path: what follows seven fields.
fn name_in(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line;
    for _ in 0..7 {
        let end = rest.find_byte(b' ')?;
        rest = rest.get(end..)?.trim_start_with(|it| it == ' ');
    }
    let is_path = !rest.is_empty() && !rest.starts_with(b"@") && rest != b"Path";
    is_path.then_some(rest)
}

fn is_in(view: &View, path: &Path) -> bool {
    view.trees.iter().any(|tree| path.starts_with(&tree.source))
}

/// A name that was given relative to a directory nobody knows: as seen from the root of each project.
fn seen_from(tree: &Tree, name: &[u8]) -> Vec<Door> {
    let Ok(name) = name.to_path() else { return Vec::new() };
    let plain: Vec<_> =
        name.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    let ends = (0..plain.len()).filter_map(|from| plain.get(from..));
    ends.filter_map(|end| door(&tree.source.join(end.iter().collect::<PathBuf>()))).collect()
}

fn projects(view: &View) -> impl Iterator<Item = &Tree> {
    view.trees.iter().filter(|tree| tree.access == Access::Write && tree.source == tree.target)
}

fn door(path: &Path) -> Option<Door> {
    let found = fs::symlink_metadata(path).ok()?;
    let is_door = found.file_type().is_socket();
    is_door.then(|| Door { path: path.to_owned(), inode: found.ino() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever was read before.
    #[test]
    fn the_list_is_read_anew() -> io::Result<()> {
        let name = std::env::temp_dir().join(format!("exacta-doors-{}", std::process::id()));
        let mut doors = Doors::default();
        let known = |doors: &mut Doors| {
            Ok(doors.all_sockets()?.contains_str(name.as_os_str().as_encoded_bytes()))
        };
        let before: io::Result<bool> = known(&mut doors);
        let sockets: Vec<_> =
            (0..400).map(|_| std::os::unix::net::UnixDatagram::unbound()).collect();
        let door = std::os::unix::net::UnixListener::bind(&name)?;
        let open: io::Result<bool> = known(&mut doors);
        drop((door, sockets));
        let after: io::Result<bool> = known(&mut doors);
        fs::remove_file(&name)?;
        assert_eq!((before?, open?, after?), (false, true, false));
        Ok(())
    }

    #[test]
    fn names_are_read() {
        let line = b"0000000000000000: 00000002 00000000 00010000 0001 01 12345 /a/b c";
        assert_eq!(name_in(line), Some(b"/a/b c".as_slice()));
        let nameless = b"0000000000000000: 00000002 00000000 00010000 0001 01 12345 @/a/b";
        assert_eq!(name_in(nameless), None);
        assert_eq!(name_in(b"0000000000000000: 00000003 00000000 00000000 0001 03 1234"), None);
        assert_eq!(name_in(b"Num RefCount Protocol Flags Type St Inode Path"), None);
    }
}
