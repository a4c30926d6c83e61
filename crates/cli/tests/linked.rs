//! How the executable is linked: whole, and at a place that nobody knows.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test looks at the executable"
)]

use std::fs;

/// Kinds of program headers, as the ELF specification numbers them.
const LOADED: u32 = 1;
const LOADER: u32 = 3;
/// Of files: at the place that it says, or anywhere.
const FIXED: u16 = 2;
const ANYWHERE: u16 = 3;
/// Where linkers put an executable that nobody has said anything about.
const USUAL: [u64; 2] = [0x20_0000, 0x40_0000];

fn number<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let found = bytes.get(at..at + N).and_then(|it| it.try_into().ok());
    found.expect("a file that is long enough")
}

#[test]
fn it_needs_no_loader_and_nobody_knows_where_it_lies() {
    let bytes = fs::read(env!("CARGO_BIN_EXE_exacta")).expect("the executable");
    let headers = usize::try_from(u64::from_le_bytes(number(&bytes, 32))).expect("a place");
    let size = usize::from(u16::from_le_bytes(number(&bytes, 54)));
    let count = usize::from(u16::from_le_bytes(number(&bytes, 56)));
    let kind = |at: usize| u32::from_le_bytes(number(&bytes, headers + at * size));
    let place = |at: usize| u64::from_le_bytes(number(&bytes, headers + at * size + 16));
    // What the build script could have.
    let how = env!("EXACTA_LINKED");
    let expected = if how == "whole" { FIXED } else { ANYWHERE };
    assert_eq!(u16::from_le_bytes(number(&bytes, 16)), expected, "its addresses would be known");
    if how == "libraries" {
        println!("the C library is not here as an archive, so that it is linked as a library");
        return;
    }
    assert!(count > 0 && (0..count).all(|at| kind(at) != LOADER), "it asks for a loader");
    if how == "whole" {
        let first = (0..count).filter(|at| kind(*at) == LOADED).map(place).min();
        let first = first.expect("something that is loaded");
        assert!(!USUAL.contains(&first), "it lies where everybody looks: {first:#x}");
    }
}
