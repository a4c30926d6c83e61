//! The state of reading, and the smallest steps: bytes, blanks, comments, newlines, depth, errors.

use bstr::{BString, ByteSlice};

use super::heredoc::PendingDocument;
use super::input::{Input, Mark};
use super::{Aliases, OpenDocument, ParseOptions, Parsed};
use crate::ast::Word;
use crate::{Limits, Span, SyntaxError, SyntaxErrorKind};

pub(super) struct Reader<'run, 'source> {
    pub input: Input<'source>,
    pub options: ParseOptions,
    pub limits: Limits,
    pub aliases: &'run dyn Aliases,
    /// Constructs that are open around the current position.
    depth: usize,
    /// Here-documents whose body begins after the next newline.
    pub pending: Vec<PendingDocument>,
    /// Bodies that have been read; they are put into the tree when it is complete.
    pub bodies: Vec<Word>,
    /// A here-document that ended with the text instead of its delimiter.
    pub open_document: Option<OpenDocument>,
    /// The delimiters of the here-documents around the current position.
    pub enclosing: Vec<BString>,
    /// Inside `$(…)` or `<(…)`, where a here-document may end in front of the `)`.
    pub in_substitution: bool,
    /// In the value of an assignment, where a tilde may follow a colon even inside `${…}`.
    pub in_value: bool,
}

impl<'run, 'source> Reader<'run, 'source> {
    pub fn new(
        input: Input<'source>,
        options: ParseOptions,
        limits: Limits,
        aliases: &'run dyn Aliases,
    ) -> Self {
        Reader {
            input,
            options,
            limits,
            aliases,
            depth: 0,
            pending: Vec::new(),
            bodies: Vec::new(),
            open_document: None,
            enclosing: Vec::new(),
            in_substitution: false,
            in_value: false,
        }
    }

    /// Runs a rule one level deeper. Every rule that can contain itself comes through here: this is the
    /// one place where depth is counted.
    pub fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.check_depth(1)?;
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    /// Fails if `more` levels would be too many.
    pub fn check_depth(&mut self, more: usize) -> Parsed<()> {
        if self.depth + more > self.limits.depth {
            return self.error(SyntaxErrorKind::TooDeep(self.limits.depth));
        }
        Ok(())
    }

    /// What is left of the depth, for parsers that count on their own.
    pub fn depth_left(&self) -> usize {
        self.limits.depth.saturating_sub(self.depth)
    }

    /// The byte at the position, behind any line continuations.
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = self.input.byte_at(self.input.position)?;
            if byte != b'\\' || self.input.byte_at(self.input.position + 1) != Some(b'\n') {
                return Some(byte);
            }
            self.input.position += 2;
        }
    }

    /// The position behind line continuations that begin at `position`.
    pub fn after_continuations(&self, mut position: usize) -> usize {
        while self.input.byte_at(position) == Some(b'\\')
            && self.input.byte_at(position + 1) == Some(b'\n')
        {
            position += 2;
        }
        position
    }

    /// The byte after the one at the position.
    pub fn peek_second(&mut self) -> Option<u8> {
        self.peek()?;
        self.input.byte_at(self.after_continuations(self.input.position + 1))
    }

    pub fn bump(&mut self) {
        self.input.position += 1;
    }

    /// Consumes `expected` if it comes next.
    pub fn accept(&mut self, expected: u8) -> bool {
        let found = self.peek() == Some(expected);
        if found {
            self.bump();
        }
        found
    }

    /// Whether `text` comes next, with line continuations anywhere in it.
    pub fn looking_at(&mut self, text: &[u8]) -> bool {
        self.end_if_looking_at(text).is_some()
    }

    pub fn accept_text(&mut self, text: &[u8]) -> bool {
        let end = self.end_if_looking_at(text);
        if let Some(end) = end {
            self.input.position = end;
        }
        end.is_some()
    }

    fn end_if_looking_at(&self, text: &[u8]) -> Option<usize> {
        let mut position = self.input.position;
        for expected in text {
            position = self.after_continuations(position);
            if self.input.byte_at(position)? != *expected {
                return None;
            }
            position += 1;
        }
        Some(position)
    }

    /// Skips spaces and tabs, and a comment if one begins after them: the newline stays.
    pub fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.bump(),
                Some(b'#') => {
                    let length = self.input.rest().find_byte(b'\n');
                    self.input.position =
                        length.map_or(self.input.end, |length| self.input.position + length);
                    return;
                }
                _ => return,
            }
        }
    }

    /// Consumes a newline, and the here-documents that wait for it.
    pub fn accept_newline(&mut self) -> Parsed<bool> {
        if self.peek() != Some(b'\n') {
            return Ok(false);
        }
        self.bump();
        if !self.pending.is_empty() {
            self.read_pending_documents()?;
        }
        Ok(true)
    }

    /// Skips blanks, comments and newlines.
    pub fn skip_newlines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if !self.accept_newline()? {
                return Ok(());
            }
        }
    }

    pub fn mark(&mut self) -> Mark {
        self.input.mark()
    }

    pub fn span_since(&self, mark: Mark) -> Span {
        self.input.span_since(mark)
    }

    /// Fails at the position.
    pub fn error<T>(&mut self, kind: SyntaxErrorKind) -> Parsed<T> {
        let mark = self.mark();
        Err(Box::new(SyntaxError { kind, span: self.span_since(mark) }))
    }

    /// Fails with words of its own, about what began at `mark`.
    pub fn other_since<T>(&mut self, mark: Mark, words: String) -> Parsed<T> {
        let span = self.span_since(mark);
        Err(Box::new(SyntaxError { kind: SyntaxErrorKind::Other(words), span }))
    }

    pub fn other<T>(&mut self, words: String) -> Parsed<T> {
        self.error(SyntaxErrorKind::Other(words))
    }

    /// The text ended inside something that began at `mark`.
    pub fn unclosed<T>(&mut self, closing: char, mark: Mark) -> Parsed<T> {
        self.input.position = self.input.end;
        let span = self.span_since(mark);
        Err(Box::new(SyntaxError { kind: SyntaxErrorKind::Unclosed(closing), span }))
    }

    /// Bash counts a line more if the last one does not end.
    fn unexpected_end<T>(&mut self) -> Parsed<T> {
        let mut mark = self.mark();
        let last = self.input.end.checked_sub(1).and_then(|last| self.input.byte_at(last));
        mark.line += u32::from(last != Some(b'\n'));
        let span = self.span_since(mark);
        Err(Box::new(SyntaxError { kind: SyntaxErrorKind::UnexpectedEnd, span }))
    }

    /// The next token is not allowed here. If it cannot even be read, that is the error.
    pub fn unexpected<T>(&mut self) -> Parsed<T> {
        self.skip_blanks();
        if self.peek().is_none() {
            return self.unexpected_end();
        }
        let mark = self.mark();
        let token = self.token_text()?;
        let span = self.span_since(mark);
        Err(Box::new(SyntaxError { kind: SyntaxErrorKind::UnexpectedToken(token), span }))
    }
}

impl Reader<'_, '_> {
    /// The same where a newline is not allowed either: bash sees one at the end of the text.
    pub fn unexpected_in_line<T>(&mut self) -> Parsed<T> {
        self.skip_blanks();
        if self.peek().is_none() {
            return self.error(SyntaxErrorKind::UnexpectedToken("newline".into()));
        }
        self.unexpected()
    }
}

/// Operators by length, as they appear in messages.
const OPERATORS: [&[u8]; 24] = [
    b"<<<", b"<<-", b"&>>", b";;&", b"&&", b"||", b"|&", b";;", b";&", b"<<", b">>", b"<&", b">&",
    b">|", b"<>", b"&>", b"|", b"&", b";", b"(", b")", b"<", b">", b"\n",
];

impl Reader<'_, '_> {
    /// Reads one token and returns it as bash's messages show it; the empty text at the end.
    pub fn token_text(&mut self) -> Parsed<String> {
        self.skip_blanks();
        if self.peek().is_none() {
            return Ok(String::new());
        }
        for operator in OPERATORS {
            let substitution = matches!(operator, b"<" | b">") && self.peek_second() == Some(b'(');
            if !substitution && self.accept_text(operator) {
                let text = operator.to_str_lossy().into_owned();
                return Ok(if operator == b"\n" { "newline".into() } else { text });
            }
        }
        let start = self.input.position;
        self.plain_word()?;
        Ok(self.input.slice(start, self.input.position).to_str_lossy().into_owned())
    }
}
