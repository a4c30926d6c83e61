//! Every command that runs in process: one file each, one table.
//!
//! Help, documentation, completions and policy are drawn from [`TABLE`]. Two kinds: builtins of bash change the
//! shell and get all of it; tools (`ls`, `grep`) get a [`Context`], which can read the shell but not change it.

mod context;
mod information;
mod table;

mod alias;
mod backwards;
mod basename;
mod bash;
mod r#break;
mod builtin;
mod caller;
mod cat;
mod cd;
mod chmod;
mod choice;
mod colon;
mod command;
mod completion;
mod r#continue;
mod cp;
mod cut;
mod date;
mod declare;
mod describe;
mod digits;
mod directory;
mod dirname;
mod dirs;
mod disown;
mod echo;
mod enable;
mod env;
mod escape;
mod eval;
mod exec;
mod exit;
mod export;
mod r#false;
mod fg;
mod find;
mod getopts;
mod grep;
mod hash;
mod head;
mod help;
mod history;
mod input;
mod jobs;
mod kill;
mod r#let;
mod levels;
mod ln;
mod local;
mod logout;
mod ls;
mod mapfile;
mod mkdir;
mod mktemp;
mod mv;
mod number;
mod operations;
mod popd;
mod printf;
mod pushd;
mod pwd;
mod read;
mod readonly;
mod realpath;
mod r#return;
mod rm;
mod rmdir;
mod seq;
mod set;
mod shift;
mod shopt;
mod signal_table;
mod sizes;
mod sleep;
mod sort;
mod source;
mod stat;
mod tail;
mod tee;
mod test;
mod times;
mod touch;
mod tr;
mod trap;
mod r#true;
mod r#type;
mod ulimit;
mod umask;
mod unalias;
mod uniq;
mod unset;
mod usage;
mod wait;
mod wc;
mod which;
mod xargs;
mod yes;

use std::io;

use bstr::BString;
use exacta_syntax::ast::Assignment;

pub use completion::Specification;
pub use context::{Context, Output};
pub use information::tool_information;
pub use table::TABLE;

use crate::arguments::OptionSpec;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt};

/// One row of the table.
pub struct Command {
    pub name: &'static str,
    /// `ls [OPTION]... [FILE]...`
    pub synopsis: &'static str,
    pub summary: &'static str,
    pub options: &'static [OptionSpec],
    pub run: Run,
}

#[derive(Clone, Copy)]
pub enum Run {
    /// A builtin of bash. `special`: one of POSIX's special builtins.
    Builtin { special: bool, run: BuiltinFunction },
    /// A builtin whose arguments may be assignments: `declare`, `export`, `local`, `readonly`, `typeset`.
    Declaration { special: bool, run: DeclarationFunction },
    /// A tool: a program elsewhere, a function here.
    Tool(ToolFunction),
}

/// The words after the name.
pub type BuiltinFunction = fn(&mut Shell, &[BString]) -> Flow;
pub type DeclarationFunction = fn(&mut Shell, &[DeclarationArgument<'_>]) -> Flow;
pub type ToolFunction = fn(&mut Context<'_>, &[BString]) -> Result<ExitStatus, ToolError>;

/// An argument of `declare` and its kin. All are expanded before the first takes effect, as in bash.
#[derive(Debug)]
pub enum DeclarationArgument<'a> {
    /// An option, a name, or text that may turn out to be an assignment (`declare "$name=1"`).
    Word(BString),
    Scalar {
        assignment: &'a Assignment,
        value: BString,
    },
    /// `name=(…)`: the elements are expanded when they are assigned.
    Array(&'a Assignment),
}

/// Why a tool did not end in a status of its own.
#[derive(Debug)]
pub enum ToolError {
    /// An option or construct that is not there (`x`, `--long`, or for others a phrase). Only before the tool has
    /// had any effect: the real program may be run instead.
    Unsupported(String),
    /// Wrong use: the message after `name: `, and the status.
    Usage(String, ExitStatus),
    /// Writing to standard output failed. `EPIPE` ends the tool silently, as the signal would.
    Output(io::Error),
    Interrupted(Interrupt),
}

impl ToolError {
    /// Wrong use with status 1, as most GNU tools have it.
    pub fn usage(message: impl Into<String>) -> Self {
        ToolError::Usage(message.into(), ExitStatus::FAILURE)
    }

    /// Wrong use after which GNU tools also say where to read more, as they do for a missing operand.
    pub fn hinted(name: &str, message: impl Into<String>, status: ExitStatus) -> Self {
        ToolError::Usage(message.into(), status).with_hint(name, status)
    }

    /// For errors of `arguments::parse`: adds the second line, and the status this tool has for wrong use.
    pub fn with_hint(self, name: &str, status: ExitStatus) -> Self {
        match self {
            ToolError::Usage(message, _) => {
                let hint = format!("{message}\nTry '{name} --help' for more information.");
                ToolError::Usage(hint, status)
            }
            other => other,
        }
    }
}

impl From<Interrupt> for ToolError {
    fn from(interrupt: Interrupt) -> Self {
        ToolError::Interrupted(interrupt)
    }
}

impl From<crate::status::Stop> for ToolError {
    fn from(stop: crate::status::Stop) -> Self {
        ToolError::Interrupted(stop.into())
    }
}

/// Operands after an optional `--`, for builtins without options.
fn without_dashes(words: &[BString]) -> &[BString] {
    match words {
        [first, rest @ ..] if first == "--" => rest,
        words => words,
    }
}

/// Finds a command by its exact name.
pub fn find(name: &[u8]) -> Option<&'static Command> {
    let at = TABLE.binary_search_by(|command| command.name.as_bytes().cmp(name)).ok()?;
    TABLE.get(at).copied()
}
