//! The table that `kill -l` and `trap -l` print.

use crate::interpret::{signal_name, signal_numbers};

const COLUMNS: usize = 5;

pub(super) fn list() -> String {
    let mut text = String::new();
    let numbers: Vec<i32> = signal_numbers().collect();
    for row in numbers.chunks(COLUMNS) {
        let cells: Vec<String> = row
            .iter()
            .map(|number| format!("{number:>2}) SIG{}", signal_name(*number).unwrap_or_default()))
            .collect();
        text.push_str(&cells.join("\t"));
        // Bash ends the last, incomplete row with a tab.
        text.push_str(if row.len() == COLUMNS { "\n" } else { "\t\n" });
    }
    text
}
