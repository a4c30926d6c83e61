//! Listings that are not long: one name per line, in columns, separated by commas.

use super::Listing;
use super::entry::Entry;
use super::name::{Frills, Name};

/// No column is narrower: a letter and two blanks.
const LEAST: usize = 3;
const GAP: usize = 2;

impl Listing<'_, '_> {
    pub(super) fn print_lines(&mut self, entries: &[Entry], names: &[Name], widths: Frills) {
        for (entry, name) in entries.iter().zip(names) {
            let frills = self.frills(entry, widths);
            self.out.extend_from_slice(frills.as_bytes());
            self.push(&name.text, name.color_at);
            self.out.push(self.options.end);
        }
    }

    /// What is printed for each entry and how wide it is.
    fn cells(&self, entries: &[Entry], names: &[Name], widths: Frills) -> Vec<Name> {
        entries
            .iter()
            .zip(names)
            .map(|(entry, name)| {
                let mut text = self.frills(entry, widths).into_bytes();
                let width = text.len() + name.width;
                let color_at = name.color_at.map(|at| text.len() + at);
                text.extend_from_slice(&name.text);
                Name { text, width, color_at }
            })
            .collect()
    }

    /// In lines: `a, b, c`.
    pub(super) fn print_separated(
        &mut self,
        entries: &[Entry],
        names: &[Name],
        widths: Frills,
        separator: u8,
    ) {
        let limit = self.options.width;
        let mut position = 0;
        for (number, cell) in self.cells(entries, names, widths).into_iter().enumerate() {
            let width = if limit == 0 { 0 } else { cell.width };
            if number > 0 {
                self.out.push(separator);
                if limit == 0 || position + width + 2 < limit {
                    position += 2;
                    self.out.push(b' ');
                } else {
                    position = 0;
                    self.out.push(self.options.end);
                }
            }
            self.push(&cell.text, cell.color_at);
            position += width;
        }
        self.out.push(self.options.end);
    }

    pub(super) fn print_columns(
        &mut self,
        entries: &[Entry],
        names: &[Name],
        widths: Frills,
        down: bool,
    ) {
        let cells = self.cells(entries, names, widths);
        let widths: Vec<usize> = cells.iter().map(|cell| cell.width).collect();
        let columns = arrange(&widths, self.options.width, down);
        let count = columns.len().max(1);
        let rows = cells.len().div_ceil(count);
        for row in 0..rows {
            let mut position = 0;
            for (column, column_width) in columns.iter().enumerate() {
                let (at, next) = if down {
                    (column * rows + row, (column + 1) * rows + row)
                } else {
                    (row * count + column, row * count + column + 1)
                };
                let Some(cell) = cells.get(at) else { break };
                self.push(&cell.text, cell.color_at);
                let last = column + 1 == count || next >= cells.len();
                if last {
                    break;
                }
                self.indent(position + cell.width, position + column_width);
                position += column_width;
            }
            self.out.push(self.options.end);
        }
    }

    /// With tabs as far as they go.
    fn indent(&mut self, from: usize, to: usize) {
        let tab = self.options.tab;
        let mut from = from;
        while from < to {
            if tab != 0 && to / tab > (from + 1) / tab {
                self.out.push(b'\t');
                from += tab - from % tab;
            } else {
                self.out.push(b' ');
                from += 1;
            }
        }
    }
}

/// The widths of as many columns as fit into a line.
fn arrange(widths: &[usize], limit: usize, down: bool) -> Vec<usize> {
    let most = limit.div_ceil(LEAST).min(widths.len()).max(1);
    let mut best = vec![widths.iter().copied().max().unwrap_or(0)];
    for count in (2..=most).rev() {
        let rows = widths.len().div_ceil(count);
        let mut columns = vec![LEAST; count];
        let mut total = count * LEAST;
        let fits = widths.iter().enumerate().all(|(number, width)| {
            let column = if down { number / rows } else { number % count };
            let needed = width + if column + 1 == count { 0 } else { GAP };
            if let Some(known) = columns.get_mut(column).filter(|known| **known < needed) {
                total += needed - *known;
                *known = needed;
            }
            total < limit
        });
        if fits {
            best = columns;
            break;
        }
    }
    best
}
