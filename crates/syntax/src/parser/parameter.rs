//! `${…}` in all its forms. What bash rejects only when it expands it is kept as written.

use super::Parsed;
use super::arithmetic_text::ArithmeticEnd;
use super::cursor::Reader;
use super::dollar::{Quoting, special_parameter};
use super::input::Mark;
use super::parts::Parts;
use super::scan::{self, PARAMETER_WORD_STOPS};
use crate::SyntaxErrorKind;
use crate::ast::{
    CaseChange, DefaultKind, Operation, Parameter, ParameterExpansion, ReplaceKind, Selector, Word,
    WordPart,
};

/// What a word inside `${…}` is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Behind `:-` and the like; inside double quotes it is quoted itself.
    Default,
    /// A pattern or its replacement: quotes always work.
    Pattern,
    /// A pattern that a slash ends.
    SearchPattern,
}

impl Reader<'_, '_> {
    /// `${…}` at the position.
    pub fn braced_parameter(&mut self, mark: Mark, quoting: Quoting) -> Parsed<ParameterExpansion> {
        let start = self.input.position;
        if !self.input.dead_ends.contains(&start) {
            let attempt = self.attempt();
            self.accept_text(b"${");
            if let Some(mut expansion) = self.valid_parameter(mark, quoting)? {
                expansion.span = self.span_since(mark);
                return Ok(expansion);
            }
            self.abandon(attempt);
            self.input.dead_ends.insert(start);
        }
        self.accept_text(b"${");
        self.parameter_word(Role::Default, quoting, mark)?;
        self.accept(b'}');
        let text = self.written(start, self.input.position);
        let span = self.span_since(mark);
        let parameter = Parameter::Variable(bstr::BString::default());
        Ok(expansion(parameter, None, Operation::Bad(text), span))
    }

    /// The whole expansion behind `${`, or `None` if it is not one.
    fn valid_parameter(
        &mut self,
        mark: Mark,
        quoting: Quoting,
    ) -> Parsed<Option<ParameterExpansion>> {
        let start = self.input.position;
        if self.accept(b'#') {
            if let Some(length) = self.length()? {
                return Ok(Some(length));
            }
            self.input.position = start;
        }
        let indirect = self.peek() == Some(b'!') && self.indirection_follows();
        if indirect {
            self.bump();
            if let Some(names) = self.names_with_prefix() {
                return Ok(Some(names));
            }
        }
        let Some(parameter) = self.parameter() else { return Ok(None) };
        let Some(selector) = self.selector(&parameter)? else { return Ok(None) };
        let Some(operation) = self.nested(|reader| reader.operation(quoting, mark))? else {
            return Ok(None);
        };
        if !self.accept(b'}') {
            return Ok(None);
        }
        let mut expansion = expansion(parameter, selector, operation, crate::Span::default());
        expansion.indirect = indirect;
        Ok(Some(expansion))
    }

    /// Behind `${#`: a length, if nothing else follows the parameter.
    fn length(&mut self) -> Parsed<Option<ParameterExpansion>> {
        let Some(parameter) = self.parameter() else { return Ok(None) };
        let Some(selector) = self.selector(&parameter)? else { return Ok(None) };
        if !self.accept(b'}') {
            return Ok(None);
        }
        Ok(Some(expansion(parameter, selector, Operation::Length, crate::Span::default())))
    }

    /// Whether the `!` at the position is indirection and not the parameter `$!`.
    fn indirection_follows(&mut self) -> bool {
        match self.peek_second() {
            Some(b'#' | b'?' | b'@' | b'*') => {
                let third = self.after_continuations(self.input.position + 1) + 1;
                self.input.byte_at(self.after_continuations(third)) == Some(b'}')
            }
            Some(byte) => scan::is_name_byte(byte),
            None => false,
        }
    }

    /// `${!prefix*}` or `${!prefix@}`, behind the `!`.
    fn names_with_prefix(&mut self) -> Option<ParameterExpansion> {
        let start = self.input.position;
        let name = self.name();
        for (text, separate) in [(b"*}", false), (b"@}", true)] {
            if !name.is_empty() && self.accept_text(text) {
                let operation = Operation::NamesWithPrefix { separate };
                let span = crate::Span::default();
                return Some(expansion(Parameter::Variable(name), None, operation, span));
            }
        }
        self.input.position = start;
        None
    }

    fn parameter(&mut self) -> Option<Parameter> {
        let first = self.peek()?;
        if scan::is_name_start(first) {
            return Some(Parameter::Variable(self.name()));
        }
        if first.is_ascii_digit() {
            let digits = self.name_bytes(|byte| byte.is_ascii_digit());
            let number = digits.iter().fold(0_u32, |number, digit| {
                number.saturating_mul(10).saturating_add(u32::from(digit - b'0'))
            });
            return Some(Parameter::Positional(number));
        }
        let parameter = special_parameter(first)?;
        self.bump();
        Some(parameter)
    }

    /// `[@]`, `[*]`, `[…]` or nothing. The outer `None`: it is broken.
    fn selector(&mut self, parameter: &Parameter) -> Parsed<Option<Option<Selector>>> {
        if self.peek() != Some(b'[') {
            return Ok(Some(None));
        }
        if !matches!(parameter, Parameter::Variable(_)) {
            return Ok(None);
        }
        if self.accept_text(b"[@]") {
            return Ok(Some(Some(Selector::All)));
        }
        if self.accept_text(b"[*]") {
            return Ok(Some(Some(Selector::Joined)));
        }
        match self.subscript() {
            Ok(subscript) if subscript.text.parts.is_empty() => Ok(None),
            Ok(subscript) => Ok(Some(Some(Selector::Index(Box::new(subscript))))),
            Err(error) if matches!(error.kind, SyntaxErrorKind::TooDeep(_)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Everything between the parameter and the `}`, which stays.
    fn operation(&mut self, quoting: Quoting, mark: Mark) -> Parsed<Option<Operation>> {
        let (Some(first), second) = (self.peek(), self.peek_second()) else { return Ok(None) };
        if first == b'}' {
            return Ok(Some(Operation::Plain));
        }
        if first == b':' {
            return match second {
                Some(b'}') | None => Ok(None),
                Some(b'-' | b'=' | b'?' | b'+') => {
                    self.bump();
                    self.default(true, quoting, mark)
                }
                Some(_) => self.slice().map(Some),
            };
        }
        match first {
            b'-' | b'=' | b'?' | b'+' => self.default(false, quoting, mark),
            b'#' | b'%' => self.remove(first, quoting, mark).map(Some),
            b'/' => self.replace(quoting, mark).map(Some),
            b'^' | b',' | b'~' => self.change_case(first, quoting, mark).map(Some),
            b'@' => Ok(self.transform()),
            _ => Ok(None),
        }
    }

    fn default(&mut self, colon: bool, quoting: Quoting, mark: Mark) -> Parsed<Option<Operation>> {
        let kind = match self.peek() {
            Some(b'-') => DefaultKind::Use,
            Some(b'=') => DefaultKind::Assign,
            Some(b'?') => DefaultKind::Fail,
            _ => DefaultKind::Alternative,
        };
        self.bump();
        let word = self.parameter_word(Role::Default, quoting, mark)?;
        Ok(Some(Operation::Default { kind, colon, word }))
    }

    fn remove(&mut self, sign: u8, quoting: Quoting, mark: Mark) -> Parsed<Operation> {
        self.bump();
        let longest = self.accept(sign);
        let pattern = self.parameter_word(Role::Pattern, quoting, mark)?;
        Ok(if sign == b'#' {
            Operation::RemovePrefix { longest, pattern }
        } else {
            Operation::RemoveSuffix { longest, pattern }
        })
    }

    fn replace(&mut self, quoting: Quoting, mark: Mark) -> Parsed<Operation> {
        self.bump();
        let kind = match self.peek() {
            Some(b'/') => ReplaceKind::All,
            Some(b'#') => ReplaceKind::Prefix,
            Some(b'%') => ReplaceKind::Suffix,
            _ => ReplaceKind::First,
        };
        if kind != ReplaceKind::First {
            self.bump();
        }
        let pattern = self.parameter_word(Role::SearchPattern, quoting, mark)?;
        let replacement = if self.accept(b'/') {
            Some(self.parameter_word(Role::Pattern, quoting, mark)?)
        } else {
            None
        };
        Ok(Operation::Replace { kind, pattern, replacement })
    }

    fn change_case(&mut self, sign: u8, quoting: Quoting, mark: Mark) -> Parsed<Operation> {
        let change = match sign {
            b'^' => CaseChange::Upper,
            b',' => CaseChange::Lower,
            _ => CaseChange::Toggle,
        };
        self.bump();
        let all = self.accept(sign);
        let pattern = self.parameter_word(Role::Pattern, quoting, mark)?;
        let pattern = if pattern.parts.is_empty() { None } else { Some(pattern) };
        Ok(Operation::ChangeCase { change, all, pattern })
    }

    fn slice(&mut self) -> Parsed<Operation> {
        self.bump();
        let offset = self.arithmetic(ArithmeticEnd::Colon)?;
        let length =
            if self.accept(b':') { Some(self.arithmetic(ArithmeticEnd::Brace)?) } else { None };
        Ok(Operation::Slice { offset, length })
    }

    fn transform(&mut self) -> Option<Operation> {
        self.bump();
        let letter = self.peek().filter(|letter| b"UuLQEPAKak".contains(letter))?;
        self.bump();
        Some(Operation::Transform(letter))
    }

    /// A word up to the `}` (or slash) that ends it, which stays.
    fn parameter_word(&mut self, role: Role, quoting: Quoting, opening: Mark) -> Parsed<Word> {
        let mark = self.mark();
        let quoted = role == Role::Default && quoting == Quoting::Double;
        let mut parts = Parts::default();
        if !quoted && self.peek() == Some(b'~') {
            self.tilde_in_parameter(&mut parts);
        } else if role == Role::SearchPattern && self.slash_begins_pattern() {
            self.literal_byte(b'/', &mut parts);
        }
        // Inside double quotes single quotes are text, yet they hide the `}`.
        let mut hidden_until = 0;
        while let Some(stop) = self.literal_run(&PARAMETER_WORD_STOPS, &mut parts) {
            let hidden = self.input.position < hidden_until;
            match stop {
                b'}' if !hidden => return Ok(parts.into_word(self.span_since(mark))),
                b'/' if role == Role::SearchPattern => {
                    return Ok(parts.into_word(self.span_since(mark)));
                }
                b'}' | b'/' => self.literal_byte(stop, &mut parts),
                b'<' | b'>' if quoted || self.peek_second() != Some(b'(') => {
                    self.literal_byte(stop, &mut parts);
                }
                b'<' | b'>' => self.process_substitution(&mut parts)?,
                b'\'' if quoted => {
                    if !hidden {
                        hidden_until = self.closing_quote()?;
                    }
                    self.literal_byte(stop, &mut parts);
                }
                _ if quoted => self.quoted_special(stop, &mut parts)?,
                _ => {
                    self.quote_or_expansion(stop, &mut parts)?;
                }
            }
        }
        Err(self.unclosed('}', opening))
    }

    /// In `${x////y}` the first slash behind the operator belongs to the pattern. It cannot behind `/#` and
    /// `/%`, where an empty pattern is common.
    fn slash_begins_pattern(&mut self) -> bool {
        self.peek() == Some(b'/')
            && self.input.byte_at(self.input.position.wrapping_sub(1)) == Some(b'/')
    }

    /// A word behind `:-` inside double quotes.
    fn quoted_special(&mut self, stop: u8, parts: &mut Parts) -> Parsed<()> {
        match stop {
            b'\\' if self.input.byte_at(self.input.position + 1) == Some(b'\'') => {
                self.literal_byte(b'\\', parts);
                self.literal_byte(b'\'', parts);
            }
            b'\\' => self.quoted_backslash(parts, b"$`\"\\}"),
            b'"' => parts.push(WordPart::DoubleQuoted(self.double_quoted()?)),
            b'$' if self.peek_second() == Some(b'\'') => {
                self.accept(b'$');
                self.peek();
                parts.push(WordPart::AnsiQuoted(self.ansi_quoted()?));
            }
            b'$' => self.dollar(parts, Quoting::Double)?,
            _ => self.backquoted(parts, Quoting::Double)?,
        }
        Ok(())
    }
}

fn expansion(
    parameter: Parameter,
    selector: Option<Selector>,
    operation: Operation,
    span: crate::Span,
) -> ParameterExpansion {
    ParameterExpansion { parameter, selector, indirect: false, operation, braced: true, span }
}
