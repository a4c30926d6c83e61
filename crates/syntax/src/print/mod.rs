//! Tree to text, in the layout of bash's `declare -f`. What is printed parses to the same tree.

use bstr::{BStr, BString};

use crate::ast::{Command, CompoundCommand, List, Word};

/// `name () \n{ \n    body\n}` as `declare -f` prints it, without a final newline.
pub fn print_function(name: &BStr, body: &CompoundCommand) -> BString {
    let _ = (name, body);
    BString::default()
}

pub fn print_list(list: &List) -> BString {
    let _ = list;
    BString::default()
}

pub fn print_command(command: &Command) -> BString {
    let _ = command;
    BString::default()
}

pub fn print_word(word: &Word) -> BString {
    let _ = word;
    BString::default()
}
