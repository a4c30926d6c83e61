//! Redirects: an optional descriptor, an operator, and what it points to.

use bstr::BString;

use super::Parsed;
use super::cursor::Reader;
use super::parts::push_tight;
use super::scan;
use super::words::WordKind;
use crate::ast::{
    DuplicateDirection, FileOperator, Redirect, RedirectDescriptor, RedirectKind, Word, WordPart,
};

/// Operators, longest first.
#[derive(Debug, Clone, Copy)]
enum Operator {
    HereString,
    HereDocument { strip_tabs: bool },
    File(FileOperator),
    Duplicate(DuplicateDirection),
}

const OPERATORS: [(&[u8], Operator); 12] = [
    (b"<<<", Operator::HereString),
    (b"<<-", Operator::HereDocument { strip_tabs: true }),
    (b"&>>", Operator::File(FileOperator::AppendBoth)),
    (b"<<", Operator::HereDocument { strip_tabs: false }),
    (b">>", Operator::File(FileOperator::Append)),
    (b"<&", Operator::Duplicate(DuplicateDirection::Input)),
    (b">&", Operator::Duplicate(DuplicateDirection::Output)),
    (b">|", Operator::File(FileOperator::Clobber)),
    (b"<>", Operator::File(FileOperator::ReadWrite)),
    (b"&>", Operator::File(FileOperator::WriteBoth)),
    (b"<", Operator::File(FileOperator::Read)),
    (b">", Operator::File(FileOperator::Write)),
];

impl Reader<'_, '_> {
    /// Reads the redirect at the position into `redirects`, if there is one.
    pub fn redirect(&mut self, redirects: &mut Vec<Redirect>) -> Parsed<bool> {
        let descriptor = match self.peek() {
            Some(b'<' | b'>') if self.peek_second() != Some(b'(') => None,
            Some(b'&') if self.peek_second() == Some(b'>') => None,
            Some(b'0'..=b'9' | b'{') => match self.descriptor() {
                Some(descriptor) => Some(descriptor),
                None => return Ok(false),
            },
            _ => return Ok(false),
        };
        let mark = self.mark();
        let (descriptor, position) = match descriptor {
            Some((descriptor, position)) => (Some(descriptor), position),
            None => (None, self.input.position),
        };
        self.input.position = position;
        let Some((text, operator)) =
            OPERATORS.iter().find(|(text, _)| self.looking_at(text)).copied()
        else {
            return Ok(false);
        };
        self.accept_text(text);
        let kind = self.redirect_kind(operator)?;
        let descriptor = descriptor.or_else(|| implied_descriptor(&kind));
        push_tight(redirects, Redirect { descriptor, kind, span: self.span_since(mark) });
        Ok(true)
    }

    /// Any number of redirects, as after a compound command.
    pub fn redirects(&mut self, redirects: &mut Vec<Redirect>) -> Parsed<()> {
        self.skip_blanks();
        while self.redirect(redirects)? {
            self.skip_blanks();
        }
        Ok(())
    }

    /// A number, `{name}` or `{name[1]}` directly in front of `<` or `>`, and where the operator begins.
    fn descriptor(&mut self) -> Option<(RedirectDescriptor, usize)> {
        let named = self.peek() == Some(b'{');
        let start = self.input.position + usize::from(named);
        let mut end = self.after_continuations(start);
        let belongs = if named { scan::is_name_byte } else { |byte: u8| byte.is_ascii_digit() };
        while belongs(self.input.byte_at(end)?) {
            end = self.after_continuations(end + 1);
        }
        if named && self.input.byte_at(end) == Some(b'[') {
            end = self.after_continuations(end + 1);
            while belongs(self.input.byte_at(end)?) {
                end = self.after_continuations(end + 1);
            }
            if self.input.byte_at(end) != Some(b']') {
                return None;
            }
            end = self.after_continuations(end + 1);
        }
        let text = self.written(start, end);
        let descriptor = if named {
            let closed = self.input.byte_at(end) == Some(b'}');
            let valid = text.first().is_some_and(|byte| scan::is_name_start(*byte));
            end = self.after_continuations(end + 1);
            (closed && valid).then_some(RedirectDescriptor::Variable(text))?
        } else {
            RedirectDescriptor::Number(number(&text)?)
        };
        let substitution = self.input.byte_at(self.after_continuations(end + 1)) == Some(b'(');
        match self.input.byte_at(end) {
            Some(b'<' | b'>') if !substitution => Some((descriptor, end)),
            _ => None,
        }
    }

    fn redirect_kind(&mut self, operator: Operator) -> Parsed<RedirectKind> {
        Ok(match operator {
            Operator::HereString => RedirectKind::HereString(self.required_word(WordKind::Plain)?),
            Operator::HereDocument { strip_tabs } => {
                RedirectKind::HereDocument(self.here_document(strip_tabs)?)
            }
            Operator::File(operator) => {
                let target = self.file_target()?;
                RedirectKind::File { operator, target }
            }
            Operator::Duplicate(direction) => {
                let target = self.duplicate_target()?;
                RedirectKind::Duplicate { direction, target }
            }
        })
    }

    /// A descriptor in front of another redirect is not a file's name.
    fn file_target(&mut self) -> Parsed<Word> {
        self.skip_blanks();
        if self.at_descriptor() {
            return self.unexpected();
        }
        self.required_word(WordKind::Argument)
    }

    fn at_descriptor(&mut self) -> bool {
        matches!(self.peek(), Some(b'0'..=b'9' | b'{')) && self.descriptor().is_some()
    }

    /// In `>&-x` the `-` is a token of its own.
    fn duplicate_target(&mut self) -> Parsed<Word> {
        self.skip_blanks();
        if self.peek() != Some(b'-') {
            return self.required_word(WordKind::Argument);
        }
        let mark = self.mark();
        self.bump();
        let parts = vec![WordPart::Literal(BString::from("-"))];
        Ok(Word { parts, span: self.span_since(mark) })
    }
}

/// Bash shows `>&2` as `1>&2` and `<&3` as `0<&3`; only for files the descriptor stays implied.
fn implied_descriptor(kind: &RedirectKind) -> Option<RedirectDescriptor> {
    let RedirectKind::Duplicate { direction, target } = kind else { return None };
    let [WordPart::Literal(text)] = target.parts.as_slice() else { return None };
    let digits = text.strip_suffix(b"-").unwrap_or(text);
    digits.iter().all(u8::is_ascii_digit).then_some(RedirectDescriptor::Number(match direction {
        DuplicateDirection::Input => 0,
        DuplicateDirection::Output => 1,
    }))
}

/// Descriptors that do not fit are words to bash.
fn number(digits: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(digits).ok()?;
    text.parse::<i32>().ok().map(i32::cast_unsigned)
}
