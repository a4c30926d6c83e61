//! `basename`: the last component of paths, perhaps without a suffix.

use bstr::{BStr, BString, ByteSlice};

use super::{Command, Context, Run, ToolError, input};
use crate::arguments::{self, OptionSpec, Order, both};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 3] = [
    both('a', "a", "multiple", "every operand is a path"),
    both('s', "s", "suffix", "take SUFFIX off; implies -a").takes("SUFFIX"),
    both('z', "z", "zero", "end each line with NUL, not newline"),
];

pub static COMMAND: Command = Command {
    name: "basename",
    synopsis: "basename PATH [SUFFIX] | basename OPTION... PATH...",
    summary: "print paths without their directories",
    options: &OPTIONS,
    run: Run::Tool(run),
};

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let hint = |message: String| ToolError::hinted("basename", message, ExitStatus::FAILURE);
    let arguments = arguments::parse(&OPTIONS, words, Order::OptionsFirst)
        .map_err(|error| error.with_hint("basename", ExitStatus::FAILURE))?;
    let mut suffix = arguments.value("s").unwrap_or_default();
    let mut paths = arguments.operands.as_slice();
    if !arguments.has("a") && !arguments.has("s") {
        if let Some(extra) = paths.get(2) {
            return Err(hint(format!("extra operand {}", input::shown(extra.as_bstr()))));
        }
        if let [_, only_suffix] = paths {
            suffix = only_suffix.as_bstr();
        }
        paths = paths.get(..1).unwrap_or_default();
    }
    if paths.is_empty() {
        return Err(hint("missing operand".to_owned()));
    }
    let end = if arguments.has("z") { 0 } else { b'\n' };
    for path in paths {
        context.output.write(without_suffix(last_component(path.as_bstr()), suffix))?;
        context.output.write(&[end])?;
    }
    Ok(ExitStatus::SUCCESS)
}

/// `/` for a path of slashes only, empty for an empty one.
fn last_component(path: &BStr) -> &[u8] {
    let Some(end) = path.iter().rposition(|byte| *byte != b'/') else {
        return path.get(..1).unwrap_or_default();
    };
    let start = path.get(..end).and_then(|before| before.rfind_byte(b'/')).map_or(0, |at| at + 1);
    path.get(start..=end).unwrap_or_default()
}

/// A name that is all suffix keeps it.
fn without_suffix<'a>(name: &'a [u8], suffix: &[u8]) -> &'a [u8] {
    match name.strip_suffix(suffix) {
        Some(stem) if !stem.is_empty() => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components() {
        let cases = [
            ("/a/b.c", "b.c"),
            ("a/b//", "b"),
            ("/", "/"),
            ("//", "/"),
            ("", ""),
            ("a", "a"),
            ("/a", "a"),
        ];
        for (path, expected) in cases {
            assert_eq!(last_component(path.into()).as_bstr(), expected, "{path:?}");
        }
        assert_eq!(without_suffix(b"b.c", b".c"), b"b");
        assert_eq!(without_suffix(b".c", b".c"), b".c");
    }
}
