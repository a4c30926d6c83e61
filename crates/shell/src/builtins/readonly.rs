//! `readonly`

use super::declare::{Attribute, run_attribute};
use super::{Command, DeclarationArgument, Run};
use crate::arguments::{OptionSpec, flag};
use crate::shell::Shell;
use crate::status::Flow;

static OPTIONS: [OptionSpec; 4] = [
    flag('a', "a", "each name is an indexed array"),
    flag('A', "A", "each name is an associative array"),
    flag('f', "f", "each name is a function"),
    flag('p', "p", "print what is read-only"),
];

pub static COMMAND: Command = Command {
    name: "readonly",
    synopsis: "readonly [-aAf] [name[=value] ...] or readonly -p",
    summary: "Make variables and functions unchangeable",
    options: &OPTIONS,
    run: Run::Declaration { special: true, run },
};

fn run(shell: &mut Shell, arguments: &[DeclarationArgument<'_>]) -> Flow {
    run_attribute(shell, &COMMAND, Attribute::Readonly, arguments)
}
