//! Any bytes: no panic, no overflow, and whatever parses prints to a text that parses to the same tree.

use exacta_syntax::{Limits, Missing, ParseOptions, missing, parse, print_list};

pub fn check(bytes: &[u8]) {
    for extglob in [false, true] {
        let options = ParseOptions { extglob, ..ParseOptions::default() };
        let limits = Limits::default();
        let needs = missing(bytes, options, limits);
        let Ok(tree) = parse(bytes, options, limits) else {
            assert_ne!(
                needs,
                Missing::Nothing,
                "an error that no line could mend, and nothing missing"
            );
            continue;
        };
        let complete = matches!(needs, Missing::Nothing | Missing::Delimiter(_));
        assert!(complete, "it parses, and still {needs:?}");
        let printed = print_list(&tree);
        match parse(&printed, options, limits) {
            Ok(again) => assert_eq!(tree, again, "printed as: {printed}"),
            Err(error) => panic!("does not parse again: {error}\n{printed}"),
        }
    }
}
