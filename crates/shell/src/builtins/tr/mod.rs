//! `tr`: translates, deletes or squeezes bytes.

mod plan;
mod set;

use bstr::{BString, ByteSlice};

use self::plan::{Modes, Plan};
use self::set::{Set, SetError};
use super::{Command, Context, Run, ToolError, input};
use crate::arguments::{self, OptionSpec, Order, both};
use crate::errno;
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 4] = [
    both('c', "c", "complement", "everything that is not in SET1").also(&['C']),
    both('d', "d", "delete", "delete what is in SET1"),
    both('s', "s", "squeeze-repeats", "one byte in place of several equal ones in a row"),
    both('t', "t", "truncate-set1", "use no more of SET1 than SET2 is long"),
];

pub static COMMAND: Command = Command {
    name: "tr",
    synopsis: "tr [OPTION]... SET1 [SET2]",
    summary: "translate, squeeze or delete bytes of standard input",
    options: &OPTIONS,
    run: Run::Tool(run),
};

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = arguments::parse(&OPTIONS, words, Order::OptionsFirst)
        .map_err(|error| error.with_hint("tr", ExitStatus::FAILURE))?;
    let modes = Modes {
        complement: arguments.has("c"),
        delete: arguments.has("d"),
        squeeze: arguments.has("s"),
        truncate: arguments.has("t"),
    };
    check_operands(modes, &arguments.operands)?;
    let mut sets = Vec::new();
    for operand in &arguments.operands {
        let set = Set::parse(operand).map_err(|error| match error {
            SetError::Wrong(message) => ToolError::usage(message),
            SetError::Unsupported(what) => ToolError::Unsupported(what),
        })?;
        for warning in &set.warnings {
            context.complain(warning);
        }
        sets.push(set);
    }
    let Some(first) = sets.first() else { return Ok(ExitStatus::FAILURE) };
    let plan = Plan::new(modes, first, sets.get(1)).map_err(ToolError::usage)?;
    copy(context, modes, &plan, sets.len() > 1)
}

fn check_operands(modes: Modes, operands: &[BString]) -> Result<(), ToolError> {
    let hint = |message: String| Err(ToolError::hinted("tr", message, ExitStatus::FAILURE));
    let least = 1 + usize::from(modes.delete == modes.squeeze);
    let most = 1 + usize::from(!modes.delete || modes.squeeze);
    match operands {
        [] => hint("missing operand".to_owned()),
        [only] if least == 2 => {
            let doing =
                if modes.squeeze { "both deleting and squeezing repeats" } else { "translating" };
            let only = input::shown(only.as_bstr());
            hint(format!("missing operand after {only}\nTwo strings must be given when {doing}."))
        }
        [_, extra, ..] if most == 1 => {
            let extra = input::shown(extra.as_bstr());
            let reason = "Only one string may be given when deleting without squeezing repeats.";
            let reason = if operands.len() == 2 { format!("\n{reason}") } else { String::new() };
            hint(format!("extra operand {extra}{reason}"))
        }
        [_, _, extra, ..] => hint(format!("extra operand {}", input::shown(extra.as_bstr()))),
        _ => Ok(()),
    }
}

/// What no byte is.
const NO_BYTE: u16 = 256;

fn copy(
    context: &mut Context<'_>,
    modes: Modes,
    plan: &Plan,
    has_second: bool,
) -> Result<ExitStatus, ToolError> {
    let file = std::sync::Arc::clone(&context.input);
    let mut reader = input::reader(context, &file);
    let mut text = Vec::new();
    let mut last = NO_BYTE;
    let translates = has_second && !modes.delete;
    loop {
        let chunk = match reader.next_chunk() {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Ok(ExitStatus::SUCCESS),
            Err(error) => {
                context.interrupted(&error)?;
                context.complain(format!("read error: {}", errno::text(&error)));
                return Ok(ExitStatus::FAILURE);
            }
        };
        text.clear();
        if modes.delete {
            delete(chunk, &plan.deleted, &mut text);
        } else if translates {
            text.extend(chunk.iter().map(|byte| plan.translated[usize::from(*byte)]));
        } else {
            text.extend_from_slice(chunk);
        }
        if modes.squeeze {
            squeeze(&mut text, &plan.squeezed, &mut last);
        }
        context.output.write(&text)?;
    }
}

fn delete(chunk: &[u8], deleted: &[bool; 256], into: &mut Vec<u8>) {
    // Each byte is written and counted only if it stays: no branch to mispredict.
    into.resize(chunk.len(), 0);
    let mut length = 0;
    for byte in chunk {
        if let Some(slot) = into.get_mut(length) {
            *slot = *byte;
        }
        length += usize::from(!deleted[usize::from(*byte)]);
    }
    into.truncate(length);
}

/// `last` is the byte before, from one chunk to the next; no byte equals it at the beginning.
fn squeeze(text: &mut Vec<u8>, squeezed: &[bool; 256], last: &mut u16) {
    let mut length = 0;
    for at in 0..text.len() {
        let byte = text[at];
        text[length] = byte;
        length += usize::from(u16::from(byte) != *last || !squeezed[usize::from(byte)]);
        *last = u16::from(byte);
    }
    text.truncate(length);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squeezing_in_chunks_of_any_size() {
        let mut squeezed = [false; 256];
        squeezed[usize::from(b'a')] = true;
        let text = b"aaabbaaacaa";
        for size in 1..=text.len() {
            let mut last = NO_BYTE;
            let mut all = Vec::new();
            for chunk in text.chunks(size) {
                let mut chunk = chunk.to_vec();
                squeeze(&mut chunk, &squeezed, &mut last);
                all.extend(chunk);
            }
            assert_eq!(all.as_bstr(), "abbaca", "in chunks of {size}");
        }
    }
}
