//! The printer's layout is that of `declare -f`.

use bstr::{BStr, ByteSlice};
use exacta_syntax::ast::{Command, List};
use exacta_syntax::{Limits, ParseOptions, parse, print_function};

use crate::corpus::bash_output;

fn our_declaration(list: &List) -> Vec<u8> {
    let Command::Function(function) = &list.items[0].chain.first.stages[0].command else {
        panic!("not a function: {list:?}");
    };
    let mut text = print_function(BStr::new(&function.name), &function.body).to_vec();
    text.push(b'\n');
    text
}

#[test]
fn functions_look_like_those_of_bash() {
    let mut failures = Vec::new();
    for source in include_str!("functions.txt").split("%%%%\n") {
        let list = parse(source.as_bytes(), ParseOptions::default(), Limits::default()).unwrap();
        let ours = our_declaration(&list);
        let theirs = bash_output(format!("{source}\ndeclare -f f\n").as_bytes());
        if ours != theirs {
            failures.push(format!(
                "=== {source}--- we\n{}--- bash\n{}",
                ours.as_bstr(),
                theirs.as_bstr()
            ));
        }
    }
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
}
