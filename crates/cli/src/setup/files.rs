//! Files of agents: read as text, replaced as a whole, with what was there kept beside them.

#![expect(
    clippy::disallowed_methods,
    reason = "configuration of the operator's other programs, outside of any project's tree, on the operator's word"
)]

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// More is nobody's configuration.
const LARGEST: u64 = 16 << 20;

/// `None`: there is none.
pub fn read(path: &Path) -> io::Result<Option<String>> {
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(Some(text))
}

/// A project's file that is a link, or behind one, to somewhere else: whoever made the repository would choose what is
/// written.
pub fn leads_elsewhere(path: &Path, root: &Path) -> bool {
    if fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink()) {
        return true;
    }
    let above = path.ancestors().skip(1).find_map(|above| fs::canonicalize(above).ok());
    !above.is_some_and(|above| above.starts_with(root))
}

/// Whole or not at all. The path of the copy of what was there.
pub fn replace(path: &Path, old: Option<&str>, new: &str) -> io::Result<Option<PathBuf>> {
    // A link of the operator's own (many keep such files elsewhere) stays one.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(folder)?;
    if read(&path)?.as_deref() != old {
        return Err(io::Error::other("somebody has changed it in the meantime"));
    }
    let backup = old.map(|old| keep(&path, old)).transpose()?;
    let temporary = beside(&path, &format!("{}.new", std::process::id()));
    let permissions = fs::metadata(&path).map(|it| it.permissions()).ok();
    let written =
        written(&temporary, new, permissions).and_then(|()| fs::rename(&temporary, &path));
    if written.is_err() {
        let _it_may_not_be_there = fs::remove_file(&temporary);
    }
    written.map(|()| backup)
}

/// Beside it, under a name that nothing has.
fn keep(path: &Path, old: &str) -> io::Result<PathBuf> {
    let names =
        std::iter::once("bak".to_owned()).chain((1..100).map(|number| format!("bak.{number}")));
    let permissions = fs::metadata(path)?.permissions();
    for name in names {
        let backup = beside(path, &name);
        match written(&backup, old, Some(permissions.clone())) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            kept => return kept.map(|()| backup),
        }
    }
    Err(io::Error::other("there are a hundred copies of it already"))
}

fn written(path: &Path, text: &str, permissions: Option<fs::Permissions>) -> io::Result<()> {
    // For its owner only, until it is known who else may read it: such files have keys in them.
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(
        permissions.unwrap_or_else(|| std::os::unix::fs::PermissionsExt::from_mode(0o644)),
    )?;
    file.sync_all()
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}
