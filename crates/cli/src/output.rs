//! The one place that writes to the process's own streams.

use std::io::{self, Write};

/// A message of exacta's own. That standard error is gone is nothing we could report.
pub fn error(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Text on standard output; a closed pipe ends it silently.
pub fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// Whether somebody still reads standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    There,
    Gone,
}

/// Bytes on standard output. Who makes much of it stops when nobody reads any more.
pub fn print_bytes(bytes: &[u8]) -> Reader {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Reader::There,
        Err(_) => Reader::Gone,
    }
}
