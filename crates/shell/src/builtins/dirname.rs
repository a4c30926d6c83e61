//! `dirname`: paths without their last component.

use bstr::{BStr, BString, ByteSlice};

use super::{Command, Context, Run, ToolError};
use crate::arguments::{self, OptionSpec, Order, both};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 1] = [both('z', "z", "zero", "end each line with NUL, not newline")];

pub static COMMAND: Command = Command {
    name: "dirname",
    synopsis: "dirname [OPTION] PATH...",
    summary: "print paths without their last component",
    options: &OPTIONS,
    run: Run::Tool(run),
};

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = arguments::parse(&OPTIONS, words, Order::Anywhere)
        .map_err(|error| error.with_hint("dirname", ExitStatus::FAILURE))?;
    if arguments.operands.is_empty() {
        return Err(ToolError::hinted("dirname", "missing operand", ExitStatus::FAILURE));
    }
    let end = if arguments.has("z") { 0 } else { b'\n' };
    for path in &arguments.operands {
        context.output.write(directory(path.as_bstr()))?;
        context.output.write(&[end])?;
    }
    Ok(ExitStatus::SUCCESS)
}

fn directory(path: &BStr) -> &[u8] {
    let without_slashes = |text: &BStr| text.iter().rposition(|byte| *byte != b'/');
    let root: &[u8] = if path.starts_with(b"/") { b"/" } else { b"." };
    let Some(name_end) = without_slashes(path) else { return root };
    let before = path.get(..name_end).and_then(|before| before.rfind_byte(b'/'));
    let Some(slash) = before else { return b"." };
    let parent = path.get(..slash).unwrap_or_default().as_bstr();
    match without_slashes(parent) {
        Some(end) => parent.get(..=end).unwrap_or_default(),
        None => root,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories() {
        let cases = [
            ("/a/b", "/a"),
            ("a/b", "a"),
            ("a//b//", "a"),
            ("c", "."),
            ("a/", "."),
            ("/", "/"),
            ("//", "/"),
            ("///a", "/"),
            ("//a/b", "//a"),
            ("", "."),
            ("a/b/.", "a/b"),
        ];
        for (path, expected) in cases {
            assert_eq!(directory(path.into()).as_bstr(), expected, "{path:?}");
        }
    }
}
