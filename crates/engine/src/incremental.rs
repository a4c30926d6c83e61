//! A script that comes in by standard input: read no further than needed, so that its commands can read on.

use bstr::{BString, ByteSlice};
use exacta_shell::shell::Shell;
use exacta_shell::status::{ExitStatus, Flow};
use exacta_syntax::{Limits, ParseOptions, parse};

pub fn run_input(shell: &mut Shell) -> Flow {
    let mut status = ExitStatus::SUCCESS;
    let mut pending = BString::default();
    let mut first_line = 1;
    let mut lines = 0;
    loop {
        let more = read_line(shell, &mut pending);
        lines += 1;
        if pending.is_empty() {
            return Ok(status);
        }
        if more && is_incomplete(shell, &pending) {
            continue;
        }
        status = shell.run_text(pending.as_bstr(), first_line)?;
        pending.clear();
        first_line += std::mem::take(&mut lines);
        if !more {
            return Ok(status);
        }
    }
}

/// Appends one line; `false` at the end of the input. One byte at a time: what follows belongs to the commands.
fn read_line(shell: &Shell, line: &mut BString) -> bool {
    let input = shell.file_or_closed(0);
    let mut byte = [0];
    while matches!(input.read(&mut byte), Ok(1)) {
        line.push(byte[0]);
        if byte == *b"\n" {
            return true;
        }
    }
    false
}

fn is_incomplete(shell: &Shell, text: &BString) -> bool {
    if text.ends_with(b"\\\n") {
        return true;
    }
    let options = ParseOptions { extglob: shell.options.extglob, posix: shell.options.posix };
    parse(text, options, Limits::default()).is_err_and(|error| error.is_incomplete())
}
