//! Any bytes: no panic, no overflow, and whatever parses prints to a text that parses to the same tree.

#![no_main]

use exacta_syntax::{Limits, ParseOptions, parse, print_list};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for extglob in [false, true] {
        let options = ParseOptions { extglob, ..ParseOptions::default() };
        let Ok(tree) = parse(bytes, options, Limits::default()) else { continue };
        let printed = print_list(&tree);
        match parse(&printed, options, Limits::default()) {
            Ok(again) => assert_eq!(tree, again, "printed as: {printed}"),
            Err(error) => panic!("does not parse again: {error}\n{printed}"),
        }
    }
});
