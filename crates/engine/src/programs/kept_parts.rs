//! Parts of the view that are the same for every jail, kept in the operator's state: the whiteouts of hidden programs, and the
//! files of `/etc`.
//!
//! To make them name by name for each jail takes as long as a good part of it. What is kept is called by a digest of all that is in
//! it and of what that was made from. It has its name when it is complete and is not changed any more: what would be different is
//! another one. Like what is remembered, it lies where nothing in a jail reaches it, and is used only if nobody but the operator
//! can have written it. Where it cannot be had, the jail makes its own.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own system and state, which no script can see"
)]

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use exacta_jail::plan::{Access, Ready, ReadyPart, Tree, View};
use rustix::fs::{CWD, FileType, FlockOperation, Mode, flock, mknodat};
use rustix::process::geteuid;
use sha2::{Digest as _, Sha256};

use super::remembered::Remembered;
use super::seen::Seen;
use super::small_trees::{self, Copiable};

/// In the operator's state.
const FOLDER: &str = "view";
/// Of how these are made; another one makes others.
const FIRST: &[u8] = concat!("exacta view 3 ", env!("CARGO_PKG_VERSION"), "\0").as_bytes();
/// So many are kept, and those that were made lately: a jail may use one that nobody else would.
const MOST: usize = 16;
const LATELY: Duration = Duration::from_secs(24 * 60 * 60);
const UNFINISHED: &str = ".new-";

/// Held for as long as something may be in use: nobody removes it meanwhile.
#[derive(Debug, Default)]
pub struct InUse {
    handles: Vec<fs::File>,
}

impl InUse {
    /// Whether all of it is there, as far as the operator has not cleared it away.
    pub fn is_there(&self) -> bool {
        self.handles.iter().all(|it| it.metadata().is_ok_and(|found| found.nlink() > 0))
    }
}

/// Has a view use what is kept of it. To be called when nothing is added to it any more.
pub fn use_for(view: &mut View, state: Option<&Path>, remembered: &mut Remembered) -> InUse {
    // Whoever could change a link on the way could put something else there.
    let state = state.and_then(|state| fs::canonicalize(state).ok());
    let folder = state.filter(|state| is_nobody_elses(state)).map(|state| state.join(FOLDER));
    let Some(folder) = folder.filter(|folder| is_own(folder) || made_folder(folder)) else {
        return InUse::default();
    };
    let settings = settings(&folder, view, remembered);
    let contained = |tree: &Tree| settings.iter().any(|(ready, _)| contains(ready, tree));
    let masked = view.trees.iter().filter(|tree| is_masked(tree) && !contained(tree));
    let masks: Vec<_> = masked.filter_map(|tree| mask(&folder, tree)).collect();
    let (ready, handles) = masks.into_iter().chain(settings).unzip();
    view.ready = ready;
    InUse { handles }
}

fn contains(ready: &Ready, tree: &Tree) -> bool {
    matches!(&ready.part, ReadyPart::Settings { trees, .. } if trees.contains(&tree.target))
}

fn is_masked(tree: &Tree) -> bool {
    tree.access == Access::Read && !tree.hidden.is_empty()
}

fn mask(folder: &Path, tree: &Tree) -> Option<(Ready, fs::File)> {
    let mut digest = begun(b"mask");
    tree.hidden.iter().for_each(|hidden| add(&mut digest, &[hidden.as_os_str().as_bytes()]));
    let (source, handle) = kept(folder, digest, |made| {
        let mut first: Option<PathBuf> = None;
        for hidden in &tree.hidden {
            let place = made.join(hidden);
            make_folders(made, hidden)?;
            // One says it for all.
            match &first {
                Some(first) => fs::hard_link(first, &place)?,
                None => {
                    mknodat(CWD, &place, FileType::CharacterDevice, Mode::empty(), 0)?;
                    first = Some(place);
                }
            }
        }
        Ok(())
    })?;
    Some((Ready { source, part: ReadyPart::Mask(tree.target.clone()) }, handle))
}

/// Directories above a name, for everybody to look into.
fn make_folders(made: &Path, name: &Path) -> io::Result<()> {
    let above: Vec<&Path> = name.ancestors().skip(1).collect();
    for folder in above.into_iter().rev().filter(|folder| !folder.as_os_str().is_empty()) {
        make_folder(&made.join(folder))?;
    }
    Ok(())
}

/// For everybody inside to look into.
pub fn make_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o755))),
    }
}

fn settings(folder: &Path, view: &View, remembered: &mut Remembered) -> Option<(Ready, fs::File)> {
    let target = Path::new("/etc");
    // Byte by byte: all that is in the view is asked, several times before each first program.
    let inside = |path: &Path| path.as_os_str().as_bytes().starts_with(b"/etc/");
    let copies: Vec<&Path> =
        view.copies.iter().map(PathBuf::as_path).filter(|path| inside(path)).collect();
    let trees: Vec<&Tree> = view.trees.iter().filter(|tree| is_setting(tree, view)).collect();
    let Copiable { trees: small, files: known } = small_trees::among(&trees, &copies, remembered);
    let known = known?;
    let files = || view.files.iter().filter(|file| inside(&file.target));
    let links = || view.links.iter().filter(|link| inside(&link.target));
    let folders = || view.trees.iter().map(|tree| &tree.target).filter(|path| inside(path));
    let mut digest = begun(b"settings");
    for file in files() {
        add(&mut digest, &[b"file", file.target.as_os_str().as_bytes(), &file.content]);
    }
    for link in links() {
        let (target, text) = (link.target.as_os_str(), link.text.as_os_str());
        add(&mut digest, &[b"link", target.as_bytes(), text.as_bytes()]);
    }
    for path in folders() {
        add(&mut digest, &[b"folder", path.as_os_str().as_bytes()]);
    }
    for small in &small {
        add(&mut digest, &[b"tree", small.tree.target.as_os_str().as_bytes(), &small.digest]);
    }
    add(&mut digest, &[b"copies", &known]);
    let (source, handle) = kept(folder, digest, |made| {
        let place = |path: &Path| -> io::Result<PathBuf> {
            let below = path.strip_prefix(target).unwrap_or(path);
            make_folders(made, below)?;
            Ok(made.join(below))
        };
        for file in files() {
            write(&place(&file.target)?, &file.content, 0o644)?;
        }
        for path in &copies {
            write(&place(path)?, &fs::read(path)?, 0o644)?;
        }
        // What was copied is what it was known by.
        if small_trees::digest_of_files(&copies, &mut Seen::default()).as_ref() != Some(&known) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        for link in links() {
            symlink(&link.text, place(&link.target)?)?;
        }
        folders().try_for_each(|path| make_folder(&place(path)?))?;
        small.iter().try_for_each(|small| small.copy(&place(&small.tree.target)?))
    })?;
    let trees = small.iter().map(|small| small.tree.target.clone()).collect();
    Some((Ready { source, part: ReadyPart::Settings { folder: target.to_owned(), trees } }, handle))
}

/// A directory of settings, in which nothing else of the view lies.
fn is_setting(tree: &Tree, view: &View) -> bool {
    // Byte by byte: every tree is compared with every other one, before each first program.
    let target = tree.target.as_os_str().as_bytes();
    let name = target.strip_prefix(b"/etc/").filter(|name| !name.contains(&b'/'));
    let holds = |other: &Tree| {
        let below = other.target.as_os_str().as_bytes().strip_prefix(target);
        below.is_some_and(|below| below.starts_with(b"/"))
    };
    name.is_some() && !view.trees.iter().any(holds)
}

pub fn write(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(content)?;
    file.set_permissions(fs::Permissions::from_mode(mode))
}

fn begun(what: &[u8]) -> Sha256 {
    let mut digest = Sha256::new();
    digest.update(FIRST);
    add(&mut digest, &[what]);
    digest
}

/// Parts that cannot be taken for others.
pub fn add(digest: &mut Sha256, parts: &[&[u8]]) {
    for part in parts {
        digest.update(part.len().to_le_bytes());
        digest.update(part);
    }
}

/// The one of this digest, made if there is none, and what is to be held while it is used.
fn kept(
    folder: &Path,
    digest: Sha256,
    make: impl FnOnce(&Path) -> io::Result<()>,
) -> Option<(PathBuf, fs::File)> {
    let path = folder.join(exacta_store::audit::hex(&digest.finalize()));
    if let Some(handle) = held(&path) {
        return Some((path, handle));
    }
    let unfinished = folder.join(format!("{UNFINISHED}{}", uuid::Uuid::new_v4()));
    let made = fs::create_dir(&unfinished)
        .and_then(|()| fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o755)))
        .and_then(|()| make(&unfinished))
        // All that is in it: it is believed by its name for a long time.
        .and_then(|()| bring_to_disk(&unfinished))
        .and_then(|()| fs::rename(&unfinished, &path));
    if made.is_err() {
        let _nobody_uses_it = fs::remove_dir_all(&unfinished);
    }
    clear(folder, &path);
    held(&path).map(|handle| (path, handle))
}

/// Files, and directories with the names in them.
fn bring_to_disk(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let (entry, kind) = entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind)))?;
        if kind.is_dir() {
            bring_to_disk(&entry.path())?;
        } else if kind.is_file() {
            fs::File::open(entry.path())?.sync_all()?;
        }
    }
    fs::File::open(path)?.sync_all()
}

/// Takes hold of one: whoever wants to remove it sees that. `None`: there is none, or somebody else may have written it.
fn held(path: &Path) -> Option<fs::File> {
    let handle = fs::File::open(path).ok()?;
    flock(&handle, FlockOperation::NonBlockingLockShared).ok()?;
    let (found, named) = (handle.metadata().ok()?, fs::symlink_metadata(path).ok()?);
    // Another may lie there by now.
    let is_same = (found.dev(), found.ino()) == (named.dev(), named.ino());
    (is_same && is_owned(&named)).then_some(handle)
}

fn made_folder(folder: &Path) -> bool {
    let _it_may_be_there = fs::DirBuilder::new().mode(0o700).create(folder);
    is_own(folder)
}

/// A directory that nobody but the operator can have written to.
fn is_own(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| is_owned(&found))
}

fn is_owned(found: &fs::Metadata) -> bool {
    found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & 0o022 == 0
}

/// The same, and nobody else can put something in its place, or in the place of what it lies in.
fn is_nobody_elses(state: &Path) -> bool {
    const STICKY: u32 = 0o1000;
    let is_safe = |path: &Path| {
        fs::metadata(path).is_ok_and(|found| {
            let is_ours = [0, geteuid().as_raw()].contains(&found.uid());
            is_ours && (found.mode() & 0o022 == 0 || found.mode() & STICKY != 0)
        })
    };
    is_own(state) && state.ancestors().skip(1).all(is_safe)
}

/// Removes what is of no more use, and what nobody has finished. Each has another name before anything of it is gone.
fn clear(folder: &Path, newest: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let age = |path: &Path| {
        let made = fs::symlink_metadata(path).and_then(|found| found.modified()).ok()?;
        SystemTime::now().duration_since(made).ok()
    };
    let others = entries.flatten().map(|entry| entry.path()).filter(|path| path != newest);
    let mut others: Vec<_> = others.filter_map(|path| Some((age(&path)?, path))).collect();
    others.sort();
    for (_, path) in others.iter().skip(MOST).filter(|(age, _)| *age > LATELY) {
        let gone = folder.join(format!("{UNFINISHED}{}", uuid::Uuid::new_v4()));
        let unused = fs::File::open(path)
            .ok()
            .filter(|handle| flock(handle, FlockOperation::NonBlockingLockExclusive).is_ok());
        if unused.is_some() && fs::rename(path, &gone).is_ok() {
            let _next_time_again = fs::remove_dir_all(gone);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileTypeExt;

    use exacta_jail::plan::{SyntheticFile, SyntheticLink};

    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("exacta-{name}-{}", std::process::id()));
            let _left = fs::remove_dir_all(&path);
            fs::DirBuilder::new().mode(0o700).create(&path).expect("a directory");
            Folder(path)
        }

        fn kept(&self) -> Vec<PathBuf> {
            let entries = fs::read_dir(self.0.join(FOLDER)).into_iter().flatten().flatten();
            let mut kept: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            kept.sort();
            kept
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _it_may_be_gone = fs::remove_dir_all(&self.0);
        }
    }

    fn view() -> View {
        let tree = |target: &str, hidden: &[&str]| Tree {
            source: target.into(),
            target: target.into(),
            access: Access::Read,
            hidden: hidden.iter().map(PathBuf::from).collect(),
        };
        let file = |name: &str| SyntheticFile {
            target: Path::new("/etc").join(name),
            content: "content\n".into(),
        };
        View {
            trees: vec![
                tree("/usr", &["bin/one", "bin/two", "local/bin/three"]),
                tree("/etc/ssl", &[]),
            ],
            files: vec![file("passwd"), file("deeper/one")],
            links: vec![SyntheticLink { target: "/etc/localtime".into(), text: "/zone".into() }],
            ..View::default()
        }
    }

    fn used(view: &View, state: Option<&Path>) -> Vec<Ready> {
        let mut view = view.clone();
        let _in_use = kept_for(&mut view, state);
        view.ready
    }

    fn kept_for(view: &mut View, state: Option<&Path>) -> InUse {
        let mut remembered = Remembered::open(state);
        let in_use = use_for(view, state, &mut remembered);
        remembered.remember();
        in_use
    }

    fn source(ready: &[Ready], of: impl Fn(&ReadyPart) -> bool) -> &Path {
        &ready.iter().find(|ready| of(&ready.part)).expect("it is ready").source
    }

    #[test]
    fn parts_are_made_once_and_used_until_they_would_be_different() {
        let state = Folder::new("kept-once");
        let ready = used(&view(), Some(&state.0));
        let mask = source(&ready, |part| *part == ReadyPart::Mask("/usr".into()));
        for name in ["bin/one", "bin/two", "local/bin/three"] {
            let found = fs::symlink_metadata(mask.join(name)).expect("a whiteout");
            assert!(found.file_type().is_char_device() && found.rdev() == 0, "{name}");
        }
        let settings = source_of_settings(&ready);
        assert_eq!(fs::read(settings.join("passwd")).expect("a file"), b"content\n");
        assert_eq!(fs::read_link(settings.join("localtime")).expect("it"), Path::new("/zone"));
        assert!(settings.join("ssl").is_dir());
        assert_eq!(fs::read(settings.join("deeper/one")).expect("a file"), b"content\n");
        let first = state.kept();
        assert_eq!(first.len(), 2);
        assert_eq!(used(&view(), Some(&state.0)), ready);
        assert_eq!(state.kept(), first, "nothing is made again");
        let mut other = view();
        other.trees[0].hidden.pop();
        other.files[0].content = "other\n".into();
        let changed = used(&other, Some(&state.0));
        assert!(changed.iter().all(|part| !ready.contains(part)));
        assert_eq!(state.kept().len(), 4);
    }

    #[test]
    fn a_copy_is_made_again_when_its_file_has_changed() {
        let state = Folder::new("kept-copies");
        let file = state.0.join("file");
        fs::write(&file, "one\n").expect("a file");
        let known = small_trees::digest_of_files(&[&file], &mut Seen::default());
        assert_eq!(known, None, "it may change once more");
        let mut older = view();
        older.copies = vec!["/etc/os-release".into()];
        let _in_use = kept_for(&mut older, Some(&state.0));
        let copied = source_of_settings(&older.ready);
        let of_system = fs::read("/etc/os-release").expect("every system has one");
        assert_eq!(fs::read(copied.join("os-release")).expect("a copy"), of_system);
        older.copies = vec!["/etc/shadow".into()];
        let _in_use = kept_for(&mut older, Some(&state.0));
        assert_eq!(older.ready.len(), 1, "what not everybody may read is for the jail to copy");
    }

    #[test]
    fn a_small_directory_of_settings_is_copied_and_a_change_of_it_makes_another() {
        let state = Folder::new("kept-small");
        let source = state.0.join("ssl");
        fs::create_dir(&source).expect("a directory");
        fs::write(source.join("file"), "one").expect("a file");
        let mut small = view();
        small.trees[1].source.clone_from(&source);
        let contained =
            |ready: &[Ready]| ready.iter().any(|ready| contains(ready, &small.trees[1]));
        assert!(!contained(&used(&small, Some(&state.0))), "it may change once more");
        super::super::seen::settle();
        let ready = used(&small, Some(&state.0));
        assert!(contained(&ready));
        let settings = source_of_settings(&ready).to_owned();
        assert_eq!(fs::read(settings.join("ssl/file")).expect("a file"), b"one");
        assert_eq!(used(&small, Some(&state.0)), ready, "nothing is made again");
        fs::write(source.join("file"), "two").expect("a file");
        super::super::seen::settle();
        let changed = source_of_settings(&used(&small, Some(&state.0))).to_owned();
        assert_eq!(fs::read(changed.join("ssl/file")).expect("a file"), b"two");
        assert_eq!(fs::read(settings.join("ssl/file")).expect("a file"), b"one", "as it was");
    }

    fn source_of_settings(ready: &[Ready]) -> &Path {
        source(ready, |part| matches!(part, ReadyPart::Settings { .. }))
    }

    #[test]
    fn what_is_cleared_away_is_noticed() {
        let state = Folder::new("kept-cleared");
        let mut used = view();
        let in_use = kept_for(&mut used, Some(&state.0));
        assert!(in_use.is_there());
        fs::remove_dir_all(&used.ready[0].source).expect("it can be removed");
        assert!(!in_use.is_there());
    }

    #[test]
    fn what_others_could_have_written_is_not_used() {
        for open in ["", FOLDER, "part"] {
            let state = Folder::new("kept-open");
            let ready = used(&view(), Some(&state.0));
            assert_eq!(ready.len(), 2);
            let place = match open {
                "part" => ready[0].source.clone(),
                open => state.0.join(open),
            };
            fs::set_permissions(&place, fs::Permissions::from_mode(0o777)).expect("a mode");
            let expected = usize::from(open == "part");
            assert_eq!(used(&view(), Some(&state.0)).len(), expected, "{open:?}");
        }
        assert_eq!(used(&view(), None).len(), 0);
    }

    #[test]
    fn what_is_old_goes_unless_it_is_in_use() {
        let state = Folder::new("kept-old");
        let mut used = view();
        let in_use = kept_for(&mut used, Some(&state.0));
        let long_ago = SystemTime::now() - 2 * LATELY;
        let age = |path: &Path| {
            let opened = fs::File::open(path).expect("a directory");
            opened.set_modified(long_ago).expect("a time");
        };
        for number in 0..MOST {
            let name = state.0.join(FOLDER).join(format!("{UNFINISHED}{number}"));
            fs::create_dir_all(name.join("some")).expect("a directory");
            age(&name);
        }
        used.ready.iter().for_each(|ready| age(&ready.source));
        let mut other = view();
        other.files[0].content = "other\n".into();
        drop(kept_for(&mut other, Some(&state.0)));
        assert!(used.ready.iter().all(|ready| ready.source.exists()), "they are in use");
        assert!(state.kept().len() <= MOST + 4);
        drop(in_use);
        other.files[0].content = "another\n".into();
        drop(kept_for(&mut other, Some(&state.0)));
        assert_eq!(state.kept().len(), MOST + 1);
    }

    #[test]
    fn what_cannot_be_made_is_left_to_the_jail() {
        let state = Folder::new("kept-none");
        fs::write(state.0.join(FOLDER), "").expect("a file in the way");
        assert!(used(&view(), Some(&state.0)).is_empty());
        assert!(used(&view(), Some(&state.0.join("missing"))).is_empty());
    }
}
