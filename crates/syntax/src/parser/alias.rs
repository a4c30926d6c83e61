//! Aliases: the value is text put in front of the input, so it may hold anything.

use bstr::{BStr, BString};

use super::Parsed;
use super::cursor::Reader;
use super::scan;

impl Reader<'_, '_> {
    /// Replaces the word at the position, and whatever it turns into, as long as it is an alias.
    pub fn expand_aliases(&mut self) -> Parsed<()> {
        if !self.aliases.any() {
            return Ok(());
        }
        while self.expand_alias()? {
            self.skip_blanks();
        }
        Ok(())
    }

    /// The same for an argument, which is eligible only behind an alias that ended in a blank.
    pub fn expand_argument_alias(&mut self) -> Parsed<()> {
        match self.input.alias_next {
            Some(position) if self.input.position >= position => {
                self.input.alias_next = None;
                self.expand_aliases()
            }
            _ => Ok(()),
        }
    }

    fn expand_alias(&mut self) -> Parsed<bool> {
        self.peek();
        self.input.retire_aliases();
        let start = self.input.position;
        let Some(end) = self.end_of_candidate(start) else { return Ok(false) };
        let name = self.written(start, end);
        let active = self.input.aliases.iter().any(|alias| alias.name == name);
        if active {
            return Ok(false);
        }
        let Some(value) = self.aliases.alias(BStr::new(&name)) else { return Ok(false) };
        self.push_alias(name, value, end)
    }

    /// The end of a word in which nothing is quoted or expanded.
    fn end_of_candidate(&self, start: usize) -> Option<usize> {
        let mut position = start;
        loop {
            position = self.after_continuations(position);
            match self.input.byte_at(position) {
                Some(b'\\' | b'\'' | b'"' | b'$' | b'`') => return None,
                Some(byte) if !scan::contains(&scan::METACHARACTERS, byte) => position += 1,
                _ if position == start => return None,
                _ => return Some(position),
            }
        }
    }

    fn push_alias(&mut self, name: BString, mut value: BString, end: usize) -> Parsed<bool> {
        let mark = self.mark();
        let start = std::mem::replace(&mut self.input.position, end);
        let origin = match self.input.aliases.first() {
            Some(outer) => outer.origin,
            None => self.span_since(mark),
        };
        self.input.position = start;
        let last = value.last().copied();
        if matches!(last, Some(b' ' | b'\t')) {
            self.input.alias_next = Some(end);
        }
        if last.is_none_or(|byte| !scan::contains(&scan::METACHARACTERS, byte)) {
            // The value's last word does not merge with what follows.
            value.push(b' ');
        }
        if self.input.push_alias(name, &value, end, origin) {
            Ok(true)
        } else {
            self.other("alias: value too long".into())
        }
    }
}
