//! The person in front of the terminal. Never standard input: whoever feeds the command could answer for them.

#![expect(
    clippy::disallowed_methods,
    reason = "the controlling terminal is the operator's, and the only file the binary opens by itself"
)]

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};

use rustix::termios::{QueueSelector, isatty, tcflush};

/// A longer line is nobody's answer.
const LONGEST_ANSWER: u64 = 4096;

/// Asks on the controlling terminal and waits for a line. `None`: there is no terminal, or nobody at it.
pub fn ask(question: &str) -> Option<String> {
    ask_shown(&visible(question))
}

/// The same with a text that is safe to show as it is.
pub fn ask_shown(question: &str) -> Option<String> {
    use std::io::Read as _;
    let mut terminal: File = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
    if !isatty(&terminal) {
        return None;
    }
    let _nothing_else = crate::progress::aside();
    // What was typed before the question was seen is no answer to it.
    let _ = tcflush(&terminal, QueueSelector::IFlush);
    terminal.write_all(question.as_bytes()).ok()?;
    terminal.flush().ok()?;
    let mut answer = String::new();
    BufReader::new(terminal.take(LONGEST_ANSWER)).read_line(&mut answer).ok()?;
    answer.ends_with('\n').then_some(answer)
}

/// Nothing in the text may move the cursor, hide or reorder what is shown.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            _ if character.is_control() || is_invisible(character) => {
                shown.extend(character.escape_unicode());
            }
            _ => shown.push(character),
        }
    }
    shown
}

/// The same for a line of a file, whose tabs are its layout.
pub fn visible_line(text: &str) -> String {
    let pieces: Vec<String> = text.split('\t').map(visible).collect();
    pieces.join("\t")
}

/// Marks that reorder text, and characters that take no room.
pub fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_the_cursor_or_hides() {
        let shown = visible("rm x\r\x1b[2K\nls \u{202e}a\u{200b}b ü \u{9b}A");
        assert_eq!(shown, r"rm x\r\u{1b}[2K\nls \u{202e}a\u{200b}b ü \u{9b}A");
    }
}
