//! Walking trees of files.
