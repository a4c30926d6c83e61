//! How the executable is linked: whole, and at a place that nobody knows.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test looks at the executable"
)]

use std::fs;

/// Kinds of program headers, as the ELF specification numbers them.
const LOADER: u32 = 3;
/// Of files: may lie anywhere.
const ANYWHERE: u16 = 3;

fn number<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let found = bytes.get(at..at + N).and_then(|it| it.try_into().ok());
    found.expect("a file that is long enough")
}

#[test]
fn it_needs_no_loader_and_lies_anywhere() {
    let bytes = fs::read(env!("CARGO_BIN_EXE_exacta")).expect("the executable");
    assert_eq!(u16::from_le_bytes(number(&bytes, 16)), ANYWHERE, "its addresses would be known");
    // What the build script could have.
    if env!("EXACTA_LINKED") == "libraries" {
        println!("the C library is not here as an archive, so that it is linked as a library");
        return;
    }
    let headers = usize::try_from(u64::from_le_bytes(number(&bytes, 32))).expect("a place");
    let size = usize::from(u16::from_le_bytes(number(&bytes, 54)));
    let count = usize::from(u16::from_le_bytes(number(&bytes, 56)));
    let kind = |at: usize| u32::from_le_bytes(number(&bytes, headers + at * size));
    assert!(count > 0 && (0..count).all(|at| kind(at) != LOADER), "it asks for a loader");
}
