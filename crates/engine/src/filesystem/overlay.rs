//! Reads one tree, writes in memory: what a dry run works on. The tree below is never changed.
//!
//! Every node of the tree in memory may have a place below it comes from. Names are looked up there until they are
//! changed here; content is copied up on the first write; a deleted name leaves a mark that hides the one below. A
//! renamed directory keeps its place below, so a rename costs the same whatever is in it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use exacta_shell::filesystem::FileSystem;

use super::confined::Confined;
use super::memory::Memory;
use super::mounts::Places;

/// A tree in memory over the real project.
pub fn over_directory(root: &Path) -> io::Result<Memory> {
    let places = Places { make_temporary: false, ..Places::in_project(root) };
    over(Arc::new(Confined::open(&places)?))
}

/// A tree in memory over any other.
pub fn over(lower: Arc<dyn FileSystem>) -> io::Result<Memory> {
    Memory::from_lower(lower)
}
