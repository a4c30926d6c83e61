//! Here-documents. The operator announces one, the body follows after the next newline, wherever that is.

use bstr::{BString, ByteSlice};

use super::cursor::Reader;
use super::dollar::Quoting;
use super::input::Input;
use super::parts::Parts;
use super::scan::{self, DOCUMENT_STOPS};
use super::{OpenDocument, Parsed};
use crate::ast::{HereDocument, Operation, Word, WordPart};
use crate::{Span, SyntaxErrorKind};

/// A here-document whose body has not been reached.
#[derive(Debug, Clone)]
pub(super) struct PendingDocument {
    /// Its place in [`Reader::bodies`].
    index: usize,
    delimiter: BString,
    quoted: bool,
    strip_tabs: bool,
    in_substitution: bool,
}

/// A body's place in the input.
struct Extent {
    start: usize,
    end: usize,
    /// Behind the line with the delimiter.
    resume: usize,
}

impl Reader<'_, '_> {
    /// The delimiter behind `<<`. The body is a placeholder until the tree is complete: its span holds the
    /// index of the body.
    pub fn here_document(&mut self, strip_tabs: bool) -> Parsed<HereDocument> {
        self.skip_blanks();
        if !self.at_word() {
            return self.unexpected_in_line();
        }
        // What looks like a substitution in the delimiter is text, and so are the documents in it.
        let (announced, bodies) = (self.pending.len(), self.bodies.len());
        let (delimiter, quoted) = self.delimiter()?;
        self.pending.truncate(announced);
        self.bodies.truncate(bodies);
        if delimiter.contains(&b'\n') || (strip_tabs && delimiter.starts_with(b"\t")) {
            return self.other("here-document delimiter that no line can be".into());
        }
        if self.enclosing.contains(&delimiter) {
            return self.other("here-document inside one with the same delimiter".into());
        }
        let index = self.bodies.len();
        self.bodies.push(Word::default());
        self.pending.push(PendingDocument {
            index,
            delimiter: delimiter.clone(),
            quoted,
            strip_tabs,
            in_substitution: self.in_substitution,
        });
        let span = Span { start: index as u32, ..Span::default() };
        Ok(HereDocument { delimiter, quoted, strip_tabs, body: Word { parts: Vec::new(), span } })
    }

    /// A word without its quotes; expansions in it are plain text.
    fn delimiter(&mut self) -> Parsed<(BString, bool)> {
        let mut delimiter = BString::default();
        let mut quoted = false;
        while let Some(byte) = self.peek() {
            let start = self.input.position;
            let mut piece = Parts::default();
            let substitution = matches!(byte, b'<' | b'>') && self.peek_second() == Some(b'(');
            if substitution {
                self.process_substitution(&mut piece)?;
            } else if scan::contains(&scan::METACHARACTERS, byte) {
                break;
            } else if !self.quote_or_expansion(byte, &mut piece)? {
                self.bump();
            }
            match piece.into_vec().pop() {
                Some(
                    WordPart::Escaped(text)
                    | WordPart::SingleQuoted(text)
                    | WordPart::AnsiQuoted(text),
                ) => {
                    quoted = true;
                    delimiter.extend_from_slice(&text);
                }
                Some(WordPart::DoubleQuoted(_) | WordPart::LocaleQuoted(_)) => {
                    quoted = true;
                    let text = self.written(start, self.input.position);
                    delimiter.extend_from_slice(&inside_double_quotes(&text));
                }
                _ => {
                    let text = self.written(start, self.input.position);
                    delimiter.extend_from_slice(&text);
                }
            }
        }
        Ok((delimiter, quoted))
    }

    /// Reads the bodies of all announced documents; the position is at the start of a line.
    pub fn read_pending_documents(&mut self) -> Parsed<()> {
        for document in std::mem::take(&mut self.pending) {
            let extent = self.extent(&document)?;
            self.enclosing.push(document.delimiter.clone());
            let body = self.body(&document, &extent);
            self.enclosing.pop();
            let body = body?;
            self.input.position = extent.resume.min(self.input.end);
            if let Some(place) = self.bodies.get_mut(document.index) {
                *place = body;
            }
        }
        Ok(())
    }

    fn extent(&mut self, document: &PendingDocument) -> Parsed<Extent> {
        let start = self.input.position;
        let mut line_start = start;
        while line_start < self.input.end {
            let (line_end, line) = self.document_line(line_start, document.quoted);
            let tabs = if document.strip_tabs { leading_tabs(&line) } else { 0 };
            let text = line.get(tabs..).unwrap_or_default();
            if text == document.delimiter {
                return Ok(Extent { start, end: line_start, resume: line_end + 1 });
            }
            if document.in_substitution && ends_before_parenthesis(text, &document.delimiter) {
                let resume = line_start + tabs + document.delimiter.len();
                if self.in_substitution {
                    return Ok(Extent { start, end: line_start, resume });
                }
                // Announced inside `$(…)`, begun outside: bash reads on, but nobody can write that down again.
                return self.other("here-document ends in front of a parenthesis".into());
            }
            line_start = line_end + 1;
        }
        let text = self.input.slice(start, self.input.end);
        let last_line = text.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        if self.enclosing.iter().any(|delimiter| delimiter == last_line) {
            return self.other("here-document inside one with the same delimiter".into());
        }
        let end = start + if document.quoted { text.len() } else { without_continuation(text) };
        self.open_document.get_or_insert_with(|| OpenDocument {
            delimiter: document.delimiter.clone(),
            strip_tabs: document.strip_tabs,
        });
        Ok(Extent { start, end, resume: self.input.end.max(start) })
    }

    /// The line at `start`: where it ends, and its text. In an unquoted document a backslash joins lines.
    fn document_line(&self, start: usize, quoted: bool) -> (usize, std::borrow::Cow<'_, [u8]>) {
        let mut end = start;
        let mut joined = false;
        loop {
            let rest = self.input.slice(end, self.input.end);
            end += rest.find_byte(b'\n').unwrap_or(rest.len());
            let text = self.input.slice(start, end);
            let backslashes = text.iter().rev().take_while(|byte| **byte == b'\\').count();
            if quoted || backslashes % 2 == 0 || end >= self.input.end {
                break;
            }
            joined = true;
            end += 1;
        }
        let text = self.input.slice(start, end);
        if !quoted && end >= self.input.end && text.ends_with(b"\\") {
            let kept = without_continuation(text);
            return (end, self.written(start, start + kept).to_vec().into());
        }
        if joined { (end, self.written(start, end).to_vec().into()) } else { (end, text.into()) }
    }

    fn body(&mut self, document: &PendingDocument, extent: &Extent) -> Parsed<Word> {
        let text = self.input.slice(extent.start, extent.end);
        let tabs = document.strip_tabs && (text.starts_with(b"\t") || text.contains_str("\n\t"));
        if document.quoted {
            return Ok(self.quoted_body(extent, tabs));
        }
        if tabs {
            let inside = self.without_tabs(extent, false);
            return self.nested(|reader| reader.within(inside, Self::document_word));
        }
        let end = std::mem::replace(&mut self.input.end, extent.end);
        let pending = std::mem::take(&mut self.pending);
        let in_substitution = std::mem::replace(&mut self.in_substitution, false);
        let body = self.nested(Self::document_word);
        self.input.end = end;
        self.pending = pending;
        self.in_substitution = in_substitution;
        body
    }

    fn quoted_body(&mut self, extent: &Extent, tabs: bool) -> Word {
        let mark = self.mark();
        let mut parts = Parts::default();
        if tabs {
            parts.literal(self.without_tabs(extent, true).rest());
        } else {
            parts.literal(self.input.slice(extent.start, extent.end));
        }
        end_last_line(&mut parts);
        self.input.position = extent.end;
        parts.into_word(self.span_since(mark))
    }

    /// The body of `<<-`: its lines without the tabs in front.
    fn without_tabs<'other>(&mut self, extent: &Extent, quoted: bool) -> Input<'other> {
        let line = self.input.line_at(extent.start);
        let mut text = Vec::with_capacity(extent.end - extent.start);
        let mut offsets = Vec::new();
        let mut start = extent.start;
        while start < extent.end {
            let (line_end, _) = self.document_line(start, quoted);
            let end = (line_end + 1).min(extent.end);
            let tabs = leading_tabs(self.input.slice(start, end));
            offsets.push(self.input.offset_step(text.len(), start + tabs));
            text.extend_from_slice(self.input.slice(start + tabs, end));
            start = end;
        }
        Input::replaced(text, offsets, line)
    }

    /// An unquoted body, up to the end of the input. Bash expands it only when it runs, so what is broken in
    /// it is not an error here.
    fn document_word(&mut self) -> Parsed<Word> {
        let mark = self.mark();
        let mut parts = Parts::default();
        while let Some(stop) = self.literal_run(&DOCUMENT_STOPS, &mut parts) {
            if stop == b'\\' {
                self.quoted_backslash(&mut parts, b"$`\\");
                continue;
            }
            let start = self.input.position;
            let attempt = self.attempt();
            let result = match stop {
                b'$' => self.dollar(&mut parts, Quoting::Double),
                // Unlike inside double quotes, `\"` stays as it is.
                _ => self.backquoted(&mut parts, Quoting::None),
            };
            match result {
                Ok(()) => {}
                Err(error) if matches!(error.kind, SyntaxErrorKind::TooDeep(_)) => {
                    return Err(error);
                }
                Err(error) => {
                    self.abandon(attempt);
                    let mut text = self.input.slice(start, self.input.end).to_vec();
                    if !text.ends_with(b"\n") {
                        text.push(b'\n');
                    }
                    self.input.position = self.input.end;
                    parts.bad(&text, error.span);
                }
            }
        }
        end_last_line(&mut parts);
        Ok(parts.into_word(self.span_since(mark)))
    }
}

/// The length of a body that the end of the text cut off, without a continuation that leads nowhere.
fn without_continuation(text: &[u8]) -> usize {
    let line = text.strip_suffix(b"\n").unwrap_or(text);
    let backslashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
    if backslashes % 2 == 1 { line.len() - 1 } else { text.len() }
}

/// A body cut off by the end of the text still ends in a newline.
fn end_last_line(parts: &mut Parts) {
    let complete = match parts.as_slice().last() {
        None => true,
        Some(WordPart::Parameter(expansion)) => {
            matches!(&expansion.operation, Operation::Bad(text) if text.ends_with(b"\n"))
        }
        Some(_) => parts.last_literal_byte() == Some(b'\n'),
    };
    if !complete {
        parts.literal(b"\n");
    }
}

/// Bash 5.2 lets `EOF)` end a document inside `$(…)`.
fn ends_before_parenthesis(line: &[u8], delimiter: &[u8]) -> bool {
    !delimiter.is_empty() && line.strip_prefix(delimiter).is_some_and(|rest| rest.contains(&b')'))
}

fn leading_tabs(line: &[u8]) -> usize {
    line.iter().take_while(|byte| **byte == b'\t').count()
}

/// `"…"` or `$"…"` as written: the text between, after quote removal.
fn inside_double_quotes(written: &[u8]) -> Vec<u8> {
    let inside = written.strip_prefix(b"$").unwrap_or(written);
    let inside = inside.strip_prefix(b"\"").unwrap_or(inside);
    let inside = inside.strip_suffix(b"\"").unwrap_or(inside);
    let mut text = Vec::with_capacity(inside.len());
    let mut rest = inside;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if let (b'\\', Some((next @ (b'\\' | b'"' | b'$' | b'`'), behind))) =
            (*byte, rest.split_first())
        {
            text.push(*next);
            rest = behind;
        } else {
            text.push(*byte);
        }
    }
    text
}
