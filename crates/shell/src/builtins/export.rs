//! `export`

use super::declare::{Attribute, run_attribute};
use super::{Command, DeclarationArgument, Run};
use crate::arguments::{OptionSpec, flag};
use crate::shell::Shell;
use crate::status::Flow;

static OPTIONS: [OptionSpec; 5] = [
    flag('f', "f", "each name is a function"),
    flag('n', "n", "do not export any longer"),
    flag('p', "p", "print what is exported"),
    flag('a', "a", "each name is an indexed array"),
    flag('A', "A", "each name is an associative array"),
];

pub static COMMAND: Command = Command {
    name: "export",
    synopsis: "export [-fn] [name[=value] ...] or export -p",
    summary: "Pass variables on to programs",
    options: &OPTIONS,
    run: Run::Declaration { special: true, run },
};

fn run(shell: &mut Shell, arguments: &[DeclarationArgument<'_>]) -> Flow {
    run_attribute(shell, &COMMAND, Attribute::Exported, arguments)
}
