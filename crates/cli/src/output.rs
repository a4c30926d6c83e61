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
