//! Printing a line: what comes before it, its matches in colour or alone.

use std::ops::Range;

use bstr::{BStr, BString};

use super::color::Colors;
use super::patterns::is_text;
use super::search::{Halt, Searcher};

use super::options::{BinaryFiles, Output};

impl Searcher<'_> {
    /// Prints a line of the buffer, newline included. A line that is no text is only noted.
    pub(super) fn print_line(
        &mut self,
        line: Range<usize>,
        selected: bool,
        name: &BStr,
    ) -> Result<(), Halt> {
        let separator = if selected { b':' } else { b'-' };
        let only_matching = self.output.only_matching;
        if !only_matching && !self.print_head(line.start..line.end - 1, line.end, separator, name) {
            return Ok(());
        }
        let matching = selected != self.output.invert;
        let output = self.output;
        let mut rest = line.start;
        if let Some(colors) = &output.colors {
            let (line_color, match_color) = colors.of_line(selected, output.invert);
            if matching && (only_matching || !match_color.is_empty()) {
                let paint = Some((colors, line_color, match_color));
                let Some(end) = self.print_matches(line.clone(), paint, separator, name)? else {
                    return Ok(());
                };
                rest = end;
            }
            if !only_matching && !line_color.is_empty() {
                rest = self.print_tail(rest..line.end, colors, line_color);
            }
        } else if only_matching
            && matching
            && self.print_matches(line.clone(), None, separator, name)?.is_none()
        {
            return Ok(());
        }
        if !only_matching {
            let text = self.buffer.get(rest..line.end).unwrap_or_default();
            self.out.extend_from_slice(text);
        }
        self.file.last_out = Some(line.end);
        Ok(())
    }

    /// The name, the number, the offset. `false`: the text is none, nothing is printed.
    fn print_head(
        &mut self,
        text: Range<usize>,
        line_end: usize,
        separator: u8,
        name: &BStr,
    ) -> bool {
        let output = self.output;
        if output.binary != BinaryFiles::Text
            && !is_text(self.buffer.get(text.clone()).unwrap_or_default())
        {
            self.file.encoding_error = true;
            return false;
        }
        if self.with_name {
            print_name(&mut self.out, output, name, Some(separator));
        }
        if output.line_numbers {
            // A line has one number however many matches are printed of it.
            if self.file.counted_to < line_end {
                self.count_lines(line_end);
            }
            let (number, width) = (self.file.line_number, self.file.number_width);
            print_number(&mut self.out, output, number, width, separator, |colors| {
                &colors.line_number
            });
        }
        if output.byte_offsets {
            let offset = self.file.offset + text.start as u64;
            let width = self.file.number_width;
            print_number(&mut self.out, output, offset, width, separator, |colors| {
                &colors.byte_offset
            });
        }
        let prefixed = self.with_name || output.line_numbers || output.byte_offsets;
        if output.initial_tab && prefixed && !text.is_empty() {
            self.out.push(b'\t');
        }
        true
    }

    /// Every match of a line that matches: alone, or in colour between the rest of the line. Gives where the
    /// rest begins; `None` if a match is no text.
    fn print_matches(
        &mut self,
        line: Range<usize>,
        paint: Option<(&Colors, &BString, &BString)>,
        separator: u8,
        name: &BStr,
    ) -> Result<Option<usize>, Halt> {
        let only_matching = self.output.only_matching;
        let text_end = line.end - 1;
        let mut printed = line.start;
        let mut from = line.start;
        while from < line.end {
            let text = self.buffer.get(line.start..text_end).unwrap_or_default();
            let found = self
                .matcher
                .find_at(&mut self.scratch, text, from - line.start)
                .map_err(Halt::Pattern)?;
            let Some(found) = found else { break };
            let found = found.start + line.start..found.end + line.start;
            if found.is_empty() {
                if found.start >= text_end {
                    break;
                }
                from = found.start + 1;
                continue;
            }
            if only_matching {
                if !self.print_head(found.clone(), line.end, separator, name) {
                    return Ok(None);
                }
            } else if let Some((colors, line_color, _)) = paint {
                let before = self.buffer.get(printed..found.start).unwrap_or_default();
                // The colour of the match replaces that of the line.
                colors.start(&mut self.out, line_color);
                self.out.extend_from_slice(before);
            }
            let text = self.buffer.get(found.clone()).unwrap_or_default();
            match paint {
                Some((colors, _, match_color)) => {
                    colors.start(&mut self.out, match_color);
                    self.out.extend_from_slice(text);
                    colors.end(&mut self.out, match_color);
                }
                None => self.out.extend_from_slice(text),
            }
            if only_matching {
                self.out.push(self.output.end);
            }
            printed = found.end;
            from = found.end;
        }
        Ok(Some(if only_matching { line.end } else { printed }))
    }

    /// What follows the last match, in the line's colour, up to the newline and a carriage return before it.
    fn print_tail(&mut self, rest: Range<usize>, colors: &Colors, line_color: &BString) -> usize {
        let text = self.buffer.get(rest.clone()).unwrap_or_default();
        let body = text.strip_suffix(&[self.output.end]).unwrap_or(text);
        let body = body.strip_suffix(b"\r").unwrap_or(body);
        if !body.is_empty() {
            colors.start(&mut self.out, line_color);
            self.out.extend_from_slice(body);
            colors.end(&mut self.out, line_color);
        }
        rest.start + body.len()
    }

    pub(super) fn print_group_separator(&mut self) {
        print_group_separator(&mut self.out, self.output);
    }
}

pub(super) fn print_group_separator(out: &mut Vec<u8>, output: &Output) {
    let Some(separator) = &output.separator else { return };
    colored(out, output.colors.as_ref(), |colors| &colors.separator, separator);
    out.push(b'\n');
}

/// The name of the file; `None`: in a list of names.
pub(super) fn print_name(out: &mut Vec<u8>, output: &Output, name: &BStr, separator: Option<u8>) {
    colored(out, output.colors.as_ref(), |colors| &colors.file_name, name);
    match separator {
        _ if output.null_after_name => out.push(0),
        Some(separator) => print_separator(out, output, separator),
        None => out.push(b'\n'),
    }
}

fn print_separator(out: &mut Vec<u8>, output: &Output, separator: u8) {
    colored(out, output.colors.as_ref(), |colors| &colors.separator, &[separator]);
}

fn print_number(
    out: &mut Vec<u8>,
    output: &Output,
    number: u64,
    width: usize,
    separator: u8,
    color: fn(&Colors) -> &BString,
) {
    // Written by hand: this is done for every line.
    let mut digits = [b' '; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        if let Some(digit) = digits.get_mut(at) {
            *digit = b'0' + (rest % 10) as u8;
        }
        rest /= 10;
        if rest == 0 || at == 0 {
            break;
        }
    }
    let start = at.min(digits.len() - width.min(digits.len()));
    let text = digits.get(start..).unwrap_or_default();
    colored(out, output.colors.as_ref(), color, text);
    print_separator(out, output, separator);
}

fn colored(
    out: &mut Vec<u8>,
    colors: Option<&Colors>,
    choose: fn(&Colors) -> &BString,
    text: &[u8],
) {
    match colors {
        None => out.extend_from_slice(text),
        Some(colors) => {
            colors.start(out, choose(colors));
            out.extend_from_slice(text);
            colors.end(out, choose(colors));
        }
    }
}
