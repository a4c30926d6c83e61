//! Tree to text, in the layout of bash's `declare -f`. What is printed parses to the same tree.
//!
//! Where the two goals disagree the tree wins: bash prints `$'\n'` as a quoted line break and `|&` as
//! `2>&1 |`, and it misplaces some here-documents.

mod compound;
mod layout;
mod parameter;
mod redirect;
mod statement;
mod word;

use bstr::{BStr, BString};

use crate::ast::{Command, CompoundCommand, List, Word};

use layout::Printer;
use word::Surroundings;

/// `name () \n{ \n    body\n}` as `declare -f` prints it, without a final newline.
pub fn print_function(name: &BStr, body: &CompoundCommand) -> BString {
    let mut printer = Printer::default();
    if statement::needs_function_keyword(name) {
        printer.text(b"function ");
    }
    printer.text(name);
    printer.text(b" () ");
    printer.function_body(body);
    printer.finish()
}

pub fn print_list(list: &List) -> BString {
    let mut printer = Printer::default();
    printer.list(list);
    printer.finish()
}

pub fn print_command(command: &Command) -> BString {
    let mut printer = Printer::default();
    printer.command(command);
    printer.finish()
}

pub fn print_word(word: &Word) -> BString {
    let mut printer = Printer::default();
    printer.word(word, Surroundings::Unquoted);
    printer.finish()
}
