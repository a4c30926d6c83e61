//! Tables for people: aligned, coloured and cut to the width on a terminal, plain tab-separated text in a pipe.

use std::fmt::Write as _;
use std::io::IsTerminal;

use exacta::policy::Decision;

use crate::terminal::visible;

/// How standard output is to be written.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Columns, if it is a terminal.
    pub width: Option<usize>,
    pub colour: bool,
}

impl Look {
    /// As the terminal is, if it is one; `NO_COLOR` is respected.
    pub fn of_output(no_colour: bool) -> Self {
        let stdout = std::io::stdout();
        if !stdout.is_terminal() {
            return Look { width: None, colour: false };
        }
        let size = rustix::termios::tcgetwinsize(&stdout).ok();
        let width = size.map_or(80, |size| usize::from(size.ws_col).max(40));
        Look { width: Some(width), colour: !no_colour }
    }

    pub fn decision(self, decision: Decision) -> String {
        let colour = match decision {
            Decision::Allow => "32",
            Decision::Confirm => "33",
            Decision::Deny => "31",
        };
        self.painted(decision.name(), colour)
    }

    pub fn heading(self, text: &str) -> String {
        self.painted(text, "1")
    }

    pub fn painted(self, text: &str, colour: &str) -> String {
        if self.colour { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Rows under headings. In a pipe there are neither headings nor padding.
pub fn table(look: Look, headings: &[&str], rows: &[Vec<String>]) -> String {
    painted_table(look, headings, rows, &|_, _| None)
}

/// The colour of a cell, by its column and text.
pub type Paint<'a> = &'a dyn Fn(usize, &str) -> Option<&'static str>;

/// The same with colours.
pub fn painted_table(
    look: Look,
    headings: &[&str],
    rows: &[Vec<String>],
    paint: Paint<'_>,
) -> String {
    let mut text = String::new();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| visible(cell)).collect()).collect();
    let Some(width) = look.width else {
        for row in &rows {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{}", row.join("\t"));
        }
        return text;
    };
    let widths: Vec<usize> = headings
        .iter()
        .enumerate()
        .map(|(column, heading)| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(heading.len()).min(48)
        })
        .collect();
    let heading: Vec<String> = headings.iter().map(|heading| (*heading).to_owned()).collect();
    let plain = Look { colour: false, ..look };
    let _ = writeln!(text, "{}", look.heading(&line(plain, &heading, &widths, width, paint)));
    for row in &rows {
        let _ = writeln!(text, "{}", line(look, row, &widths, width, paint));
    }
    text
}

fn line(look: Look, row: &[String], widths: &[usize], width: usize, paint: Paint<'_>) -> String {
    let mut text = String::new();
    let mut taken = 0;
    let last = row.len().saturating_sub(1);
    for (column, (cell, wanted)) in row.iter().zip(widths).enumerate() {
        let room = if column == last { width.saturating_sub(taken) } else { *wanted };
        let fitted = fitted(cell, room.max(8));
        match paint(column, cell) {
            Some(colour) => text.push_str(&look.painted(&fitted, colour)),
            None => text.push_str(&fitted),
        }
        if column != last {
            let padding = wanted.saturating_sub(fitted.chars().count()) + 2;
            text.extend(std::iter::repeat_n(' ', padding));
            taken += fitted.chars().count() + padding;
        }
    }
    text
}

fn fitted(cell: &str, room: usize) -> String {
    if cell.chars().count() <= room {
        return cell.to_owned();
    }
    cell.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}
