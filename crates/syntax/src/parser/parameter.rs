//! `${…}` in all its forms. What bash rejects only when it expands it is kept as written.

use bstr::BString;

use super::Parsed;
use super::arithmetic_text::ArithmeticEnd;
use super::cursor::Reader;
use super::dollar::{Quoting, special_parameter};
use super::input::Mark;
use super::parts::Parts;
use super::scan::{self, PARAMETER_WORD_STOPS};
use super::tilde;
use crate::ast::{
    CaseChange, DefaultKind, Operation, Parameter, ParameterExpansion, ReplaceKind, Selector, Word,
    WordPart,
};
use crate::{Span, SyntaxErrorKind};

/// What a word inside `${…}` is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Behind `:-` and the like; inside double quotes it is quoted itself.
    Default,
    /// A pattern or its replacement: quotes always work.
    Pattern,
    /// A pattern that a slash ends.
    SearchPattern,
    /// The same behind `//`: in `${x////y}` its first byte may be a slash. It cannot behind `/#` and `/%`,
    /// where an empty pattern is common.
    AllPattern,
}

impl Reader<'_, '_> {
    /// `${…}` at the position. Read in place, like commands.
    pub fn braced_parameter(
        &mut self,
        mark: Mark,
        quoting: Quoting,
    ) -> Parsed<Box<ParameterExpansion>> {
        let start = self.input.position;
        let mut expansion = Box::new(empty_expansion());
        if !self.input.dead_ends.contains(&start) {
            let attempt = self.attempt();
            self.accept_text(b"${");
            if self.valid_parameter(&mut expansion, mark, quoting)? {
                expansion.span = self.span_since(mark);
                return Ok(expansion);
            }
            self.abandon(attempt);
            self.input.dead_ends.insert(start);
        }
        self.accept_text(b"${");
        self.parameter_word(Role::Default, quoting, mark)?;
        self.accept(b'}');
        *expansion = empty_expansion();
        let text = BString::from(self.input.slice(start, self.input.position));
        expansion.operation = Operation::Bad(text);
        expansion.span = self.span_since(mark);
        Ok(expansion)
    }

    /// The whole expansion behind `${`; false if it is not one.
    fn valid_parameter(
        &mut self,
        expansion: &mut ParameterExpansion,
        mark: Mark,
        quoting: Quoting,
    ) -> Parsed<bool> {
        let start = self.input.position;
        if self.accept(b'#') {
            if self.length(expansion)? {
                return Ok(true);
            }
            self.input.position = start;
        }
        expansion.indirect = self.peek() == Some(b'!') && self.indirection_follows();
        if expansion.indirect {
            self.bump();
            if self.names_with_prefix(expansion) {
                return Ok(true);
            }
        }
        let valid = self.parameter_and_selector(expansion)?
            && self.nested(|reader| reader.operation(&mut expansion.operation, quoting, mark))?;
        Ok(valid && self.accept(b'}'))
    }

    /// Behind `${#`: a length, if nothing else follows the parameter.
    fn length(&mut self, expansion: &mut ParameterExpansion) -> Parsed<bool> {
        let valid = self.parameter_and_selector(expansion)? && self.accept(b'}');
        if valid {
            expansion.operation = Operation::Length;
        }
        Ok(valid)
    }

    fn parameter_and_selector(&mut self, expansion: &mut ParameterExpansion) -> Parsed<bool> {
        let Some(parameter) = self.parameter() else { return Ok(false) };
        expansion.parameter = parameter;
        expansion.selector = None;
        if self.peek() != Some(b'[') {
            return Ok(true);
        }
        self.selector(expansion)
    }

    /// Whether the `!` at the position is indirection and not the parameter `$!`.
    fn indirection_follows(&mut self) -> bool {
        match self.peek_second() {
            // `${!#}`, `${!#%x}`, `${!@}`; but `${!-x}` is a default for `$!`.
            Some(b'#' | b'?' | b'@' | b'*') => true,
            Some(byte) => scan::is_name_byte(byte),
            None => false,
        }
    }

    /// `${!prefix*}` or `${!prefix@}`, behind the `!`.
    fn names_with_prefix(&mut self, expansion: &mut ParameterExpansion) -> bool {
        let start = self.input.position;
        let name = self.name();
        for (text, separate) in [(b"*}", false), (b"@}", true)] {
            if !name.is_empty() && self.accept_text(text) {
                expansion.parameter = Parameter::Variable(name);
                expansion.operation = Operation::NamesWithPrefix { separate };
                expansion.indirect = false;
                return true;
            }
        }
        self.input.position = start;
        false
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

    /// `[@]`, `[*]` or `[…]`; false if it is broken.
    fn selector(&mut self, expansion: &mut ParameterExpansion) -> Parsed<bool> {
        if !matches!(expansion.parameter, Parameter::Variable(_)) {
            return Ok(false);
        }
        if self.accept_text(b"[@]") {
            expansion.selector = Some(Selector::All);
            return Ok(true);
        }
        if self.accept_text(b"[*]") {
            expansion.selector = Some(Selector::Joined);
            return Ok(true);
        }
        match self.subscript_in_braces() {
            Ok(subscript) if subscript.text.parts.is_empty() => Ok(false),
            Ok(subscript) => {
                expansion.selector = Some(Selector::Index(Box::new(subscript)));
                Ok(true)
            }
            Err(error) if matches!(error.kind, SyntaxErrorKind::TooDeep(_)) => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Everything between the parameter and the `}`, which stays; false if it is nothing that exists.
    fn operation(&mut self, place: &mut Operation, quoting: Quoting, mark: Mark) -> Parsed<bool> {
        let (Some(first), second) = (self.peek(), self.peek_second()) else { return Ok(false) };
        match (first, second) {
            (b'}', _) => {
                *place = Operation::Plain;
                Ok(true)
            }
            (b':', None | Some(b'}')) => Ok(false),
            (b':', Some(b'-' | b'=' | b'?' | b'+')) => {
                self.bump();
                self.default(place, true, quoting, mark)
            }
            (b':', Some(_)) => self.slice(place),
            (b'-' | b'=' | b'?' | b'+', _) => self.default(place, false, quoting, mark),
            (b'#' | b'%', _) => self.remove(place, first, quoting, mark),
            (b'/', _) => self.replace(place, quoting, mark),
            (b'^' | b',' | b'~', _) => self.change_case(place, first, quoting, mark),
            (b'@', _) => Ok(self.transform(place)),
            _ => Ok(false),
        }
    }

    fn default(
        &mut self,
        place: &mut Operation,
        colon: bool,
        quoting: Quoting,
        mark: Mark,
    ) -> Parsed<bool> {
        let kind = match self.peek() {
            Some(b'-') => DefaultKind::Use,
            Some(b'=') => DefaultKind::Assign,
            Some(b'?') => DefaultKind::Fail,
            _ => DefaultKind::Alternative,
        };
        self.bump();
        let mut word = self.parameter_word(Role::Default, quoting, mark)?;
        if self.in_value && quoting == Quoting::None {
            word = tilde::after_colons(word);
        }
        *place = Operation::Default { kind, colon, word };
        Ok(true)
    }

    fn remove(
        &mut self,
        place: &mut Operation,
        sign: u8,
        quoting: Quoting,
        mark: Mark,
    ) -> Parsed<bool> {
        self.bump();
        let longest = self.accept(sign);
        let pattern = self.parameter_word(Role::Pattern, quoting, mark)?;
        *place = if sign == b'#' {
            Operation::RemovePrefix { longest, pattern }
        } else {
            Operation::RemoveSuffix { longest, pattern }
        };
        Ok(true)
    }

    fn replace(&mut self, place: &mut Operation, quoting: Quoting, mark: Mark) -> Parsed<bool> {
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
        let role = if kind == ReplaceKind::All { Role::AllPattern } else { Role::SearchPattern };
        let pattern = self.parameter_word(role, quoting, mark)?;
        let mut replacement = None;
        if self.accept(b'/') {
            replacement = Some(self.parameter_word(Role::Pattern, quoting, mark)?);
        }
        *place = Operation::Replace { kind, pattern, replacement };
        Ok(true)
    }

    fn change_case(
        &mut self,
        place: &mut Operation,
        sign: u8,
        quoting: Quoting,
        mark: Mark,
    ) -> Parsed<bool> {
        let change = match sign {
            b'^' => CaseChange::Upper,
            b',' => CaseChange::Lower,
            _ => CaseChange::Toggle,
        };
        self.bump();
        let all = self.accept(sign);
        let pattern = self.parameter_word(Role::Pattern, quoting, mark)?;
        let pattern = if pattern.parts.is_empty() { None } else { Some(pattern) };
        *place = Operation::ChangeCase { change, all, pattern };
        Ok(true)
    }

    fn slice(&mut self, place: &mut Operation) -> Parsed<bool> {
        self.bump();
        let offset = self.arithmetic(ArithmeticEnd::Colon)?;
        let mut length = None;
        if self.accept(b':') {
            length = Some(self.arithmetic(ArithmeticEnd::Brace)?);
        }
        *place = Operation::Slice { offset: *offset, length: length.map(|length| *length) };
        Ok(true)
    }

    fn transform(&mut self, place: &mut Operation) -> bool {
        self.bump();
        let letter = self.peek().filter(|letter| b"UuLQEPAKak".contains(letter));
        if let Some(letter) = letter {
            self.bump();
            *place = Operation::Transform(letter);
        }
        letter.is_some()
    }

    /// A word up to the `}` (or slash) that ends it, which stays.
    fn parameter_word(&mut self, role: Role, quoting: Quoting, opening: Mark) -> Parsed<Word> {
        let mark = self.mark();
        let quoted = role == Role::Default && quoting == Quoting::Double;
        let mut parts = Parts::default();
        if !quoted && self.peek() == Some(b'~') {
            self.tilde_in_parameter(&mut parts);
        } else if role == Role::AllPattern && self.peek() == Some(b'/') {
            self.literal_byte(b'/', &mut parts);
        }
        // Inside double quotes single quotes are text, yet they hide the `}`.
        let mut hidden_until = 0;
        while let Some(stop) = self.literal_run(&PARAMETER_WORD_STOPS, &mut parts) {
            let hidden = self.input.position < hidden_until;
            match stop {
                b'}' if !hidden => return Ok(parts.into_word(self.span_since(mark))),
                b'/' if matches!(role, Role::SearchPattern | Role::AllPattern) => {
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
                // Odd, but so it is: the quote vanishes.
                b'"' if quoted && hidden => self.bump(),
                _ if quoted => self.quoted_special(stop, &mut parts)?,
                _ => {
                    self.quote_or_expansion(stop, &mut parts)?;
                }
            }
        }
        self.unclosed('}', opening)
    }

    /// A word behind `:-` inside double quotes.
    fn quoted_special(&mut self, stop: u8, parts: &mut Parts) -> Parsed<()> {
        match stop {
            b'\\' if self.escaped_quote(parts) => {}
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

fn empty_expansion() -> ParameterExpansion {
    ParameterExpansion {
        parameter: Parameter::Variable(BString::default()),
        selector: None,
        indirect: false,
        operation: Operation::Plain,
        braced: true,
        span: Span::default(),
    }
}
