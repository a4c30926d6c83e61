//! What the overlay writes about its entries in their extended attributes.

use std::os::fd::AsFd;

use bstr::ByteSlice;
use rustix::io::Errno;

use crate::system;

/// Of an overlay in a user namespace, and of one made by root.
const PREFIXES: [&[u8]; 2] = [b"user.overlay.", b"trusted.overlay."];

const LOCKED: &[u8] = b"user.overlay.locked";

#[derive(Default, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Nothing of what lies below is seen in this directory.
    pub opaque: bool,
    /// Says that something is not there; an older way is a device 0:0.
    pub whiteout: bool,
    /// Was copied from below.
    pub origin: bool,
    /// Its content is elsewhere.
    pub elsewhere: bool,
    /// It is open so that we can look into it; this is its mode. Not the overlay's but ours.
    pub locked: Option<u32>,
    pub any: bool,
}

impl Marks {
    pub(crate) fn of(parent: impl AsFd, name: &[u8]) -> Result<Self, Errno> {
        let object = system::open_object(parent, name)?;
        let mut marks = Marks::default();
        for attribute in system::attribute_names(&object)? {
            let Some(mark) = mark(&attribute) else { continue };
            marks.any = true;
            match mark {
                // `x` only says that there are whiteouts of the other kind inside.
                b"opaque" => {
                    let value = system::attribute(&object, &attribute)?;
                    marks.opaque |= value.is_some_and(|value| value == "y");
                }
                b"whiteout" => marks.whiteout = true,
                b"origin" => marks.origin = true,
                b"redirect" | b"metacopy" => marks.elsewhere = true,
                b"locked" => {
                    let value = system::attribute(&object, &attribute)?;
                    marks.locked = value.and_then(|value| value.to_str().ok()?.parse().ok());
                }
                _ => {}
            }
        }
        Ok(marks)
    }
}

fn mark(attribute: &[u8]) -> Option<&[u8]> {
    PREFIXES.iter().find_map(|prefix| attribute.strip_prefix(*prefix))
}

/// Opens a directory of a layer into which we, its owners, may not look. Its mode is kept with it.
pub(crate) fn unlock(parent: impl AsFd, name: &[u8], mode: u32) -> Result<(), Errno> {
    let object = system::open_object(parent, name)?;
    // Without this bit attributes cannot be set.
    system::set_mode(&object, mode | 0o200)?;
    system::set_attribute(&object, LOCKED, mode.to_string().as_bytes())?;
    system::set_mode(&object, mode | 0o700)
}

/// Gives it its mode again.
pub(super) fn lock(parent: impl AsFd, name: &[u8], mode: u32) -> Result<(), Errno> {
    let object = system::open_object(parent, name)?;
    system::remove_attribute(&object, LOCKED)?;
    system::set_mode(&object, mode)
}

/// Takes all of them off, but for what is locked: that comes last.
pub(super) fn strip(object: impl AsFd) -> Result<(), Errno> {
    for attribute in system::attribute_names(&object)? {
        if mark(&attribute).is_some() && attribute != LOCKED {
            system::remove_attribute(&object, &attribute)?;
        }
    }
    Ok(())
}
