//! Sorted inputs: checking that they are (`-c`), and merging several (`-m`), a line at a time.

use std::cmp::Ordering;
use std::io;

use super::table::Rules;
use crate::lines::LineReader;

/// What `-c` found out of order.
pub struct Disorder {
    pub number: u64,
    pub line: Vec<u8>,
}

/// The first line that does not come after the one before it.
pub fn find_disorder(
    reader: &mut LineReader,
    rules: &Rules,
    unique: bool,
    separator: u8,
) -> io::Result<Option<Disorder>> {
    let mut before: Option<Vec<u8>> = None;
    let mut number = 0;
    while let Some(line) = reader.next_line()? {
        let line = line.strip_suffix(&[separator]).unwrap_or(line);
        number += 1;
        match &mut before {
            None => before = Some(line.to_vec()),
            Some(before) => {
                let order = rules.compare(before, line);
                if order == Ordering::Greater || (unique && order == Ordering::Equal) {
                    return Ok(Some(Disorder { number, line: line.to_vec() }));
                }
                before.clear();
                before.extend_from_slice(line);
            }
        }
    }
    Ok(None)
}

/// Several sorted inputs as one.
pub struct Merge {
    sources: Vec<Source>,
    separator: u8,
}

struct Source {
    reader: LineReader,
    line: Vec<u8>,
    /// Which operand, for messages and for the order of equal lines.
    operand: usize,
}

/// A read error and the operand it came from.
pub type SourceError = (usize, io::Error);

impl Merge {
    pub fn new(readers: Vec<LineReader>, separator: u8) -> Result<Self, SourceError> {
        let mut merge = Merge { sources: Vec::new(), separator };
        for (operand, reader) in readers.into_iter().enumerate() {
            let mut source = Source { reader, line: Vec::new(), operand };
            if source.advance(separator)? {
                merge.sources.push(source);
            }
        }
        Ok(merge)
    }

    /// Puts the next line into `line`; false at the end. Of equal lines the earlier operand's comes first.
    pub fn next(&mut self, rules: &Rules, line: &mut Vec<u8>) -> Result<bool, SourceError> {
        let mut first = 0;
        for (at, source) in self.sources.iter().enumerate().skip(1) {
            let Some(best) = self.sources.get(first) else { break };
            if rules.compare(&source.line, &best.line) == Ordering::Less {
                first = at;
            }
        }
        let Some(source) = self.sources.get_mut(first) else { return Ok(false) };
        std::mem::swap(line, &mut source.line);
        if !source.advance(self.separator)? {
            self.sources.remove(first);
        }
        Ok(true)
    }
}

impl Source {
    fn advance(&mut self, separator: u8) -> Result<bool, SourceError> {
        self.line.clear();
        match self.reader.next_line() {
            Ok(Some(line)) => {
                self.line.extend_from_slice(line.strip_suffix(&[separator]).unwrap_or(line));
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error) => Err((self.operand, error)),
        }
    }
}
