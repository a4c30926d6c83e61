//! `which`

use bstr::{BString, ByteSlice};

use super::{Command, Context, Run, ToolError};
use crate::arguments::{self, OptionSpec, Order, flag};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 1] = [flag('a', "a", "print every match, not only the first")];

pub static COMMAND: Command = Command {
    name: "which",
    synopsis: "which [-a] NAME...",
    summary: "print where programs are found in PATH",
    options: &OPTIONS,
    run: Run::Tool(run),
};

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = arguments::parse(&OPTIONS, words, Order::OptionsFirst)?;
    let mut found_all = !arguments.operands.is_empty();
    for name in &arguments.operands {
        let places = context.program_places(name.as_bstr());
        found_all &= !places.is_empty();
        let count = if arguments.has("a") { places.len() } else { 1 };
        for place in places.iter().take(count) {
            context.output.line(place)?;
        }
    }
    Ok(ExitStatus::from_bool(found_all))
}
