//! What the overlay writes about its entries in their extended attributes.

use std::os::fd::AsFd;

use rustix::io::Errno;

use crate::system;

/// Of an overlay in a user namespace, and of one made by root.
const PREFIXES: [&[u8]; 2] = [b"user.overlay.", b"trusted.overlay."];

#[derive(Default, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    /// Nothing of what lies below is seen in this directory.
    pub opaque: bool,
    /// Says that something is not there; an older way is a device 0:0.
    pub whiteout: bool,
    /// Was copied from below.
    pub origin: bool,
    /// Its content is elsewhere.
    pub elsewhere: bool,
    pub any: bool,
}

impl Marks {
    pub(super) fn of(parent: impl AsFd, name: &[u8]) -> Result<Self, Errno> {
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
                _ => {}
            }
        }
        Ok(marks)
    }
}

fn mark(attribute: &[u8]) -> Option<&[u8]> {
    PREFIXES.iter().find_map(|prefix| attribute.strip_prefix(*prefix))
}

/// Takes all of them off.
pub(super) fn strip(object: impl AsFd) -> Result<(), Errno> {
    for attribute in system::attribute_names(&object)? {
        if mark(&attribute).is_some() {
            system::remove_attribute(&object, &attribute)?;
        }
    }
    Ok(())
}
