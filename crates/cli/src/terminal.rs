//! The person in front of the terminal. Never standard input: whoever feeds the command could answer for them.

#![expect(
    clippy::disallowed_methods,
    reason = "the controlling terminal is the operator's, and the only file the binary opens by itself"
)]

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, isatty, tcflush};

/// A longer line is nobody's answer.
const LONGEST_ANSWER: u64 = 4096;

/// How often it is looked whether somebody else has answered, in nanoseconds.
const LOOK: i64 = 200_000_000;

/// Asks on the controlling terminal and waits for a line. `None`: there is no terminal, or nobody at it.
pub fn ask(question: &str) -> Option<String> {
    ask_shown(&visible(question))
}

/// The same with a text that is safe to show as it is.
pub fn ask_shown(question: &str) -> Option<String> {
    let mut terminal = own()?;
    let _nothing_else = crate::progress::aside();
    // What was typed before the question was seen is no answer to it.
    let _ = tcflush(&terminal, QueueSelector::IFlush);
    terminal.write_all(question.as_bytes()).ok()?;
    terminal.flush().ok()?;
    line_of(terminal)
}

/// What came of a question that others may answer too.
#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    Answer(String),
    /// It need not be answered here any more.
    Overtaken,
    /// There is no terminal, or nobody at it.
    Nobody,
}

/// The same as long as the question is open; it is looked after from time to time.
pub fn ask_while(question: &str, open: &mut dyn FnMut() -> bool) -> Said {
    let Some(mut terminal) = own() else { return Said::Nobody };
    let _nothing_else = crate::progress::aside();
    let _ = tcflush(&terminal, QueueSelector::IFlush);
    if terminal.write_all(question.as_bytes()).and_then(|()| terminal.flush()).is_err() {
        return Said::Nobody;
    }
    while open() {
        let wait = Timespec { tv_sec: 0, tv_nsec: LOOK };
        let mut events = [PollFd::new(&terminal, PollFlags::IN)];
        match poll(&mut events, Some(&wait)) {
            Ok(0) | Err(Errno::INTR) => {}
            // A terminal has something to read when the line is complete.
            Ok(_) => return line_of(terminal).map_or(Said::Nobody, Said::Answer),
            Err(_) => return Said::Nobody,
        }
    }
    let _ = terminal.write_all(b"\n");
    Said::Overtaken
}

fn own() -> Option<File> {
    let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
    isatty(&terminal).then_some(terminal)
}

fn line_of(terminal: File) -> Option<String> {
    use std::io::Read as _;
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
