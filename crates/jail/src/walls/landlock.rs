//! The same grants once more, held by another part of the kernel.

use std::io;

use crate::plan::View;

/// Returns the version in force.
pub fn restrict(_view: &View) -> io::Result<u32> {
    Ok(0)
}
