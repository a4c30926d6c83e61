//! What programs may ask of the kernel.

use std::io;
use std::os::fd::OwnedFd;

use crate::plan::Plan;

pub fn restrict(_plan: &Plan) -> io::Result<Option<OwnedFd>> {
    Ok(None)
}
