//! `find`
//!
//! The whole expression is read before anything is visited: a predicate that is not here is refused while nothing
//! has happened yet. The order is the walk's, a directory before its entries unless `-depth` is given.

mod actions;
mod evaluate;
mod expression;
mod list;
mod parse;
mod primaries;
mod printf;
mod times;

use bstr::{BStr, BString, ByteSlice};

use super::{Command, Context, Run, ToolError};
use crate::arguments::{OptionSpec, flag};
use crate::status::ExitStatus;
use crate::walk::{Symlinks, Visit, Walk};

use evaluate::Finder;
use expression::Settings;

pub static COMMAND: Command = Command {
    name: "find",
    synopsis: "find [-H] [-L] [-P] [PATH]... [EXPRESSION]",
    summary: "search for files in a directory tree",
    options: &OPTIONS,
    run: Run::Tool(run),
};

/// What stands before the paths. The expression has a language of its own.
static OPTIONS: [OptionSpec; 3] = [
    flag('P', "P", "never follow symbolic links (default)"),
    flag('L', "L", "follow symbolic links"),
    flag('H', "H", "follow symbolic links given as paths"),
];

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let (symlinks, words) = leading_options(words)?;
    let count =
        words.iter().position(|word| is_expression(word.as_bstr(), true)).unwrap_or(words.len());
    let (paths, words) = words.split_at(count);
    let settings = Settings { symlinks, ..Settings::new(context) };
    let (expression, settings) = parse::parse(context, words, settings)?;
    let here = [BString::from(".")];
    let paths = if paths.is_empty() { here.as_slice() } else { paths };
    let mut finder = Finder::new(context, settings, &expression)?;
    for path in paths {
        find_in(&mut finder, path.as_bstr())?;
        if finder.quit {
            break;
        }
    }
    finder.finish()
}

/// `-H`, `-L`, `-P`, `-O3`; the last of the first three holds.
fn leading_options(words: &[BString]) -> Result<(Symlinks, &[BString]), ToolError> {
    let mut symlinks = Symlinks::Never;
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        match word.as_bytes() {
            b"-P" => symlinks = Symlinks::Never,
            b"-L" => symlinks = Symlinks::Always,
            b"-H" => symlinks = Symlinks::CommandLine,
            b"--" => return Ok((symlinks, after)),
            b"-D" => return Err(ToolError::Unsupported("-D".to_owned())),
            optimize if optimize.starts_with(b"-O") && optimize.len() > 2 => {}
            _ => break,
        }
        rest = after;
    }
    Ok((symlinks, rest))
}

/// Does a word begin or belong to the expression? `leading`: nothing of it has been seen.
fn is_expression(word: &BStr, leading: bool) -> bool {
    match word.as_bytes() {
        b"(" | b"!" | [b'-', _, ..] => true,
        b")" | b"," => !leading,
        _ => false,
    }
}

fn find_in(finder: &mut Finder<'_, '_>, operand: &BStr) -> Result<(), ToolError> {
    let host = finder.context.host();
    let control = finder.context.control();
    let root = finder.context.path(operand);
    let symlinks = finder.settings.symlinks;
    let shown = finder.context.as_written(operand).to_owned();
    let mut walk = match Walk::new(host.files(), control, symlinks, shown.as_bstr(), root) {
        Ok(walk) => walk,
        Err(error) => return finder.fail(operand, &error),
    };
    finder.start(&mut walk, shown);
    while let Some(visit) = walk.next()? {
        match visit {
            Visit::Entry => finder.entry(&mut walk)?,
            Visit::Leave => finder.leave(&mut walk)?,
            Visit::Unreadable(error) => {
                let path = walk.path().to_owned();
                finder.fail(path.as_bstr(), &error)?;
            }
            Visit::Loop(above) => finder.report_loop(walk.path(), above.as_bstr()),
        }
        if finder.quit {
            break;
        }
    }
    finder.end_of_operand()
}
