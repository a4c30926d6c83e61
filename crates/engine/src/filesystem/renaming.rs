//! Renaming, with and without replacing, and how it is recorded.

use std::io;

use bstr::{BStr, BString, ByteSlice};
use exacta_shell::errno;
use rustix::fs::RenameFlags;
use rustix::io::Errno;

use super::recorded::{Announcing, Recorder, may_replace};
use super::resolve::Spot;
use super::{cover, metadata};

/// As rename(2); with `replace: false` an existing target is `EEXIST`. Places are those in the project.
pub(crate) fn rename(
    recorder: &Recorder,
    (from, to): (&Spot, &Spot),
    places: (Option<BString>, Option<BString>),
    replace: bool,
) -> io::Result<()> {
    let (old, new) = match places {
        (Some(old), Some(new)) if is_named(from) && is_named(to) => (old, new),
        places => {
            recorder.check_same_side(&places)?;
            return plainly(from, to, replace);
        }
    };
    match recorder.at(Some(old.clone()))? {
        None => plainly(from, to, replace),
        Some(announcing) if replace => {
            replacing(&announcing, (from, to), (old.as_bstr(), new.as_bstr()))
        }
        Some(announcing) => announcing.rename(new.as_bstr(), || to_free_name(from, to)),
    }
}

/// `.` is no name: the kernel has its own answer for that, and it is never a rename.
fn is_named(spot: &Spot) -> bool {
    spot.name != "."
}

fn plainly(from: &Spot, to: &Spot, replace: bool) -> io::Result<()> {
    cover::making(|| {
        if !replace {
            return to_free_name(from, to);
        }
        let (old, new) = (from.raw_name(), to.raw_name());
        Ok(rustix::fs::renameat(&from.directory, &**old, &to.directory, &**new)?)
    })
}

fn to_free_name(from: &Spot, to: &Spot) -> io::Result<()> {
    let (old, new) = (from.raw_name(), to.raw_name());
    let flags = RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(&from.directory, &**old, &to.directory, &**new, flags) {
        // EINVAL also means "into itself"; without the flag the kernel says which it was.
        Err(Errno::INVAL | Errno::NOSYS) => {
            if metadata::of_entry(&to.directory, to.name.as_bstr()).is_ok() {
                return Err(errno::error(errno::EEXIST));
            }
            Ok(rustix::fs::renameat(&from.directory, &**old, &to.directory, &**new)?)
        }
        result => Ok(result?),
    }
}

/// Looks first whether there is something to replace, because that is recorded in another way. If the answer changes
/// meanwhile, it is asked again.
fn replacing(
    announcing: &Announcing<'_>,
    (from, to): (&Spot, &Spot),
    (old, new): (&BStr, &BStr),
) -> io::Result<()> {
    loop {
        if metadata::of_entry(&to.directory, to.name.as_bstr()).is_ok() {
            let differ = may_replace(from, to, (old, new))?;
            return if differ { announcing.rename_over(new) } else { Ok(()) };
        }
        match announcing.rename(new, || to_free_name(from, to)) {
            Err(error) if errno::is(&error, errno::EEXIST) => {}
            result => return result,
        }
    }
}
