//! Where `cp`, `mv` and `ln` put things: exactly there, or into a directory.

use bstr::{BStr, BString, ByteSlice};

use super::super::{Context, ToolError};
use super::{path, shown};
use crate::arguments::Arguments;
use crate::errno;
use crate::filesystem::Follow;

#[derive(Debug)]
pub(in crate::builtins) enum Destination {
    Exactly(BString),
    Into(BString),
}

impl Destination {
    /// The name that a source gets.
    pub(in crate::builtins) fn of(&self, source: &BStr) -> BString {
        match self {
            Destination::Exactly(name) => name.clone(),
            Destination::Into(directory) => path::join(directory.as_bstr(), path::last(source)),
        }
    }
}

/// Takes the destination off the operands, which are the sources afterwards. `None`: it was reported.
pub(in crate::builtins) fn take(
    context: &mut Context<'_>,
    arguments: &mut Arguments,
) -> Result<Option<Destination>, ToolError> {
    let exactly = arguments.has("T");
    let target = arguments.value("t").map(BString::from);
    let operands = &mut arguments.operands;
    if let Some(directory) = target {
        if exactly {
            return Err(ToolError::usage(
                "cannot combine --target-directory (-t) and --no-target-directory (-T)",
            ));
        }
        if operands.is_empty() {
            return Err(super::misuse(context, "missing file operand"));
        }
        let is_directory = check_directory(context, directory.as_bstr(), "target directory");
        return Ok(is_directory.then_some(Destination::Into(directory)));
    }
    let Some(last) = operands.pop() else {
        return Err(super::misuse(context, "missing file operand"));
    };
    if operands.is_empty() {
        let after = shown(last.as_bstr());
        let message = format!("missing destination file operand after {after}");
        return Err(super::misuse(context, message));
    }
    if exactly {
        if operands.len() == 1 {
            return Ok(Some(Destination::Exactly(last)));
        }
        operands.push(last);
        let extra = operands.get(2).map(|extra| shown(extra.as_bstr())).unwrap_or_default();
        return Err(super::misuse(context, format!("extra operand {extra}")));
    }
    if is_directory(context, last.as_bstr()) {
        return Ok(Some(Destination::Into(last)));
    }
    if operands.len() == 1 {
        return Ok(Some(Destination::Exactly(last)));
    }
    check_directory(context, last.as_bstr(), "target");
    Ok(None)
}

pub(in crate::builtins) fn is_directory(context: &Context<'_>, name: &BStr) -> bool {
    let path = context.path(name);
    context.files().metadata(path.as_bstr(), Follow::Yes).is_ok_and(|found| found.is_directory())
}

/// `false`: it is not a directory, and that was reported.
fn check_directory(context: &mut Context<'_>, name: &BStr, what: &str) -> bool {
    let path = context.path(name);
    let error = match context.files().metadata(path.as_bstr(), Follow::Yes) {
        Ok(found) if found.is_directory() => return true,
        Ok(_) => errno::error(errno::ENOTDIR),
        Err(error) => error,
    };
    super::fail(context, what, name, &error);
    false
}
