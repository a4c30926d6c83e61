//! What a dollar sign begins.

use bstr::BString;

use super::Parsed;
use super::cursor::Reader;
use super::input::Mark;
use super::parts::Parts;
use super::scan;
use crate::ast::{Operation, Parameter, ParameterExpansion, WordPart};

/// Whether an expansion stands inside double quotes (or in a here-document, which reads like them).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    None,
    Double,
}

impl Reader<'_, '_> {
    /// Outside quotes `$'…'` and `$"…"` exist too.
    pub fn unquoted_dollar(&mut self, parts: &mut Parts) -> Parsed<()> {
        match self.peek_second() {
            Some(b'\'') => {
                self.accept(b'$');
                self.peek();
                parts.push(WordPart::AnsiQuoted(self.ansi_quoted()?));
                Ok(())
            }
            Some(b'"') => {
                self.accept(b'$');
                self.peek();
                parts.push(WordPart::LocaleQuoted(self.double_quoted()?));
                Ok(())
            }
            _ => self.dollar(parts, Quoting::None),
        }
    }

    /// The `$` at the position: an expansion, or itself.
    pub fn dollar(&mut self, parts: &mut Parts, quoting: Quoting) -> Parsed<()> {
        let second = self.peek_second();
        let mark = self.mark();
        match second {
            Some(b'(') => return self.dollar_parenthesis(parts, mark),
            Some(b'{') => return self.dollar_brace(parts, quoting, mark),
            Some(b'[') => return self.bracket_arithmetic(parts, mark),
            _ => {}
        }
        let special = second.and_then(special_parameter);
        if second.is_some_and(scan::is_name_start) {
            self.bump();
            let name = self.name();
            self.push_parameter(parts, Parameter::Variable(name), mark);
        } else if let Some(parameter) = special {
            self.bump();
            self.peek();
            self.bump();
            self.push_parameter(parts, parameter, mark);
        } else {
            self.literal_byte(b'$', parts);
        }
        Ok(())
    }

    fn dollar_brace(&mut self, parts: &mut Parts, quoting: Quoting, mark: Mark) -> Parsed<()> {
        let expansion = self.nested(|reader| reader.braced_parameter(mark, quoting))?;
        parts.push(WordPart::Parameter(expansion));
        Ok(())
    }

    fn push_parameter(&self, parts: &mut Parts, parameter: Parameter, mark: Mark) {
        parts.push(WordPart::Parameter(Box::new(ParameterExpansion {
            parameter,
            selector: None,
            indirect: false,
            operation: Operation::Plain,
            braced: false,
            span: self.span_since(mark),
        })));
    }

    /// The name at the position; empty if there is none.
    pub fn name(&mut self) -> BString {
        if !self.peek().is_some_and(scan::is_name_start) {
            return BString::default();
        }
        self.name_bytes(scan::is_name_byte)
    }

    /// A run of bytes, read through line continuations.
    pub fn name_bytes(&mut self, belongs: impl Fn(u8) -> bool) -> BString {
        let mut name = BString::default();
        while self.peek().is_some() {
            let rest = self.input.rest();
            let length = rest.iter().position(|byte| !belongs(*byte)).unwrap_or(rest.len());
            if length == 0 {
                break;
            }
            name.extend_from_slice(rest.get(..length).unwrap_or_default());
            self.input.position += length;
        }
        name
    }
}

/// `$1`, `$@` and so on: one byte.
pub(super) fn special_parameter(byte: u8) -> Option<Parameter> {
    Some(match byte {
        b'0'..=b'9' => Parameter::Positional(u32::from(byte - b'0')),
        b'@' => Parameter::All,
        b'*' => Parameter::Joined,
        b'#' => Parameter::Count,
        b'?' => Parameter::Status,
        b'-' => Parameter::Options,
        b'$' => Parameter::ProcessId,
        b'!' => Parameter::BackgroundId,
        _ => return None,
    })
}
