//! Which element a subscript means.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{Assignment, Command, Subscript, WordPart};

use crate::shell::Shell;
use crate::status::Running;

/// An element of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementKey {
    Index(i64),
    Key(BString),
}

impl Shell {
    /// Which element a subscript means: a key of an associative array, else a number.
    pub fn element_key(&mut self, name: &BStr, subscript: &Subscript) -> Running<ElementKey> {
        if self.is_associative(name) {
            return Ok(ElementKey::Key(self.expand_to_string(&subscript.text)?));
        }
        let evaluated = match with_quotes(subscript) {
            Some(quoted) => self.evaluate(&quoted),
            None => self.evaluate(subscript),
        };
        self.beyond_evals(evaluated).map(ElementKey::Index)
    }

    /// The same for a subscript that is only known as text (`unset 'a[k]'`, `read 'a[1]'`, namerefs): it is
    /// expanded once more, as bash does.
    pub fn element_key_of_text(&mut self, name: &BStr, subscript: &BStr) -> Running<ElementKey> {
        if subscript.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            return self.element_key_of_plain_text(name, subscript);
        }
        match parse_subscript(subscript) {
            Some(parsed) => self.element_key(name, &parsed),
            None => self.element_key_of_plain_text(name, subscript),
        }
    }

    /// A subscript in which nothing is left to expand.
    pub(crate) fn element_key_of_plain_text(
        &mut self,
        name: &BStr,
        subscript: &BStr,
    ) -> Running<ElementKey> {
        if self.is_associative(name) {
            return Ok(ElementKey::Key(subscript.into()));
        }
        if let Some(number) = subscript.to_str().ok().and_then(plain_number) {
            return Ok(ElementKey::Index(number));
        }
        let evaluated = self.evaluate_text(subscript);
        self.beyond_evals(evaluated).map(ElementKey::Index)
    }

    pub(crate) fn is_associative(&self, name: &BStr) -> bool {
        match self.variables.get(name) {
            Some(variable) if variable.attributes.nameref => {
                let target = self.resolve_name(name);
                let variable = self.variables.get(target.name.as_bstr());
                variable.is_some_and(super::Variable::is_associative)
            }
            Some(variable) => variable.is_associative(),
            None => false,
        }
    }
}

/// Arithmetic knows no single quotes: they are characters of the expression, and a mistake in it.
fn with_quotes(subscript: &Subscript) -> Option<Subscript> {
    let is_quoted = |part: &WordPart| matches!(part, WordPart::SingleQuoted(_));
    if !subscript.text.parts.iter().any(is_quoted) {
        return None;
    }
    let mut quoted = subscript.clone();
    quoted.expression = None;
    for part in &mut quoted.text.parts {
        if let WordPart::SingleQuoted(text) = part {
            *part = WordPart::Literal([b"'", text.as_slice(), b"'"].concat().into());
        }
    }
    Some(quoted)
}

/// Decimal without a leading zero, which would make it octal.
fn plain_number(text: &str) -> Option<i64> {
    if text.len() > 1 && text.starts_with('0') { None } else { text.parse().ok() }
}

/// Text to a subscript, by the grammar of an assignment.
fn parse_subscript(text: &BStr) -> Option<Subscript> {
    let source = [b"a[", text.as_bytes(), b"]="].concat();
    parse_assignment_text(source.as_bstr())?.subscript
}

/// Text that is an assignment to its tree: `declare -a "x=($list)"`. `None` if it is anything else.
pub(crate) fn parse_assignment_text(text: &BStr) -> Option<Assignment> {
    let options = exacta_syntax::ParseOptions::default();
    let list = exacta_syntax::parse(text, options, exacta_syntax::Limits::default()).ok()?;
    let [item] = <[_; 1]>::try_from(list.items).ok()?;
    if item.background || !item.chain.rest.is_empty() || item.chain.first.negated {
        return None;
    }
    let [stage] = <[_; 1]>::try_from(item.chain.first.stages).ok()?;
    let Command::Simple(simple) = stage.command else { return None };
    if !simple.words.is_empty() || !simple.redirects.is_empty() {
        return None;
    }
    let [assignment] = <[_; 1]>::try_from(simple.assignments).ok()?;
    Some(assignment)
}

/// A subscript that consists of exactly this text, unquoted.
pub(crate) fn is_literally(subscript: &Subscript, text: &[u8]) -> bool {
    match subscript.text.parts.as_slice() {
        [] => text.is_empty(),
        [WordPart::Literal(literal)] => literal == text,
        _ => false,
    }
}

/// `a[i]` as written, for messages.
pub(crate) fn written_element(name: &BStr, subscript: &Subscript) -> BString {
    let text = exacta_syntax::print_word(&subscript.text);
    [name.as_bytes(), b"[", &text, b"]"].concat().into()
}
