//! `select`: a numbered menu on standard error, an answer from standard input.

use std::borrow::Cow;

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{CompoundCommand, ForLoop};

use super::compound::Next;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Running};

impl Shell {
    pub(super) fn run_select(&mut self, command: &ForLoop, whole: &CompoundCommand) -> Flow {
        self.line = whole.span.line;
        if !self.is_loop_variable(command)? {
            return Ok(ExitStatus::FAILURE);
        }
        let words = self.loop_words(command)?;
        if words.is_empty() {
            return Ok(ExitStatus::SUCCESS);
        }
        let mut shows_menu = true;
        loop {
            self.step()?;
            if shows_menu {
                self.write_error(&menu(&words, self.columns()));
            }
            let prompt = self.scalar_of("PS3".into()).map_or("#? ".into(), Cow::into_owned);
            self.write_error(&prompt);
            let Some(line) = self.read_answer()? else {
                self.print("select", b"\n")?;
                return Ok(ExitStatus::FAILURE);
            };
            shows_menu = line.is_empty();
            if line.is_empty() {
                continue;
            }
            let number = line.to_str().ok().and_then(|line| line.trim().parse::<usize>().ok());
            let chosen = number.and_then(|number| words.get(number.checked_sub(1)?));
            self.assign_scalar("REPLY".into(), line.clone())?;
            self.assign_scalar(command.variable.as_bstr(), chosen.cloned().unwrap_or_default())?;
            match self.run_body(&command.body)? {
                Next::Iterate(_) => {}
                Next::Leave(left) => return Ok(left),
            }
            shows_menu = self.scalar_of("REPLY".into()).is_none_or(|reply| reply.is_empty());
        }
    }

    /// A line without its newline; `None` at the end of the input. Byte by byte: the rest belongs to the body.
    fn read_answer(&mut self) -> Running<Option<BString>> {
        let input = self.file_or_closed(0);
        let mut line = BString::default();
        let mut byte = [0];
        loop {
            let count = input.read(&mut byte);
            self.control.check()?;
            match count {
                Ok(1) if byte == *b"\n" => return Ok(Some(line)),
                Ok(1) => line.push(byte[0]),
                _ if line.is_empty() => return Ok(None),
                _ => return Ok(Some(line)),
            }
        }
    }

    fn columns(&self) -> usize {
        let columns = self.scalar_of("COLUMNS".into());
        columns.and_then(|columns| columns.to_str().ok()?.parse().ok()).unwrap_or(80)
    }
}

/// In columns from top to bottom, as wide as the longest entry, within the width of the terminal.
fn menu(words: &[BString], width: usize) -> Vec<u8> {
    let all_digits = words.len().to_string().len();
    let longest = words.iter().map(|word| word.chars().count()).max().unwrap_or(0);
    let cell = longest + all_digits + BETWEEN + 2;
    let columns = (width / cell).max(1);
    let rows = words.len().div_ceil(columns);
    let rows = if rows == 1 { words.len() } else { rows };
    let first_digits = rows.to_string().len();
    let mut text = Vec::new();
    for row in 0..rows {
        let (mut at, mut column) = (row, 0);
        while let Some(word) = words.get(at) {
            let digits = if column == 0 { first_digits } else { all_digits };
            text.extend_from_slice(format!("{:>digits$}) ", at + 1).as_bytes());
            text.extend_from_slice(word);
            at += rows;
            if at < words.len() {
                indent(&mut text, column + word.chars().count() + digits + BETWEEN, column + cell);
            }
            column += cell;
        }
        text.push(b'\n');
    }
    text
}

/// Width of `) ` behind a number.
const BETWEEN: usize = 2;

/// From one column to another, with tabs where they fit.
fn indent(text: &mut Vec<u8>, from: usize, to: usize) {
    const TAB: usize = 8;
    let mut column = from;
    while column < to {
        if to / TAB > column / TAB {
            text.push(b'\t');
            column += TAB - column % TAB;
        } else {
            text.push(b' ');
            column += 1;
        }
    }
}
