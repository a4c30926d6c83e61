//! `caller`

use bstr::{BString, ByteSlice};

use super::{Command, Run, number, usage};
use crate::shell::{FrameKind, Shell};
use crate::status::{ExitStatus, Flow};

pub static COMMAND: Command = Command {
    name: "caller",
    synopsis: "caller [expr]",
    summary: "Print where the running function was called.",
    options: &[],
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let arguments = match usage::parse(shell, &COMMAND, words) {
        Ok(arguments) => arguments,
        Err(status) => return Ok(status),
    };
    let level = match arguments.operands.first() {
        None => None,
        Some(word) => {
            let level = number::parse(word).and_then(|level| usize::try_from(level).ok());
            if level.is_none() {
                let what = format!("{}: invalid number", word.to_str_lossy());
                return Ok(usage::complain(shell, &COMMAND, &what));
            }
            level
        }
    };
    let frames: Vec<_> = shell.frames.iter().rev().collect();
    let at = level.unwrap_or(0);
    let Some(frame) = frames.get(at) else { return Ok(ExitStatus::FAILURE) };
    let line = frame.call_line;
    let outer = frames.get(at + 1);
    let script = if shell.script.is_empty() { None } else { Some(shell.script.clone()) };
    let source = outer.map(|outer| outer.source.clone()).or_else(|| script.clone());
    let mut text = BString::from(line.to_string());
    if level.is_some() {
        let name = match outer {
            Some(outer) if outer.kind == FrameKind::Function => outer.name.clone(),
            Some(_) => "source".into(),
            None if script.is_some() => "main".into(),
            None => return Ok(ExitStatus::FAILURE),
        };
        text.push(b' ');
        text.extend_from_slice(&name);
    }
    text.push(b' ');
    text.extend_from_slice(source.as_deref().map_or(b"NULL".as_slice(), |source| source));
    text.push(b'\n');
    shell.print("caller", &text)
}
