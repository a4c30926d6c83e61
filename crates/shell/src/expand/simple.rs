//! The words that most words are: one literal, one quoted text, one plain variable. They cost one allocation.

use std::borrow::Cow;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{Operation, Parameter, ParameterExpansion, Selector, Word, WordPart};

use super::pattern;
use super::split::Separators;
use crate::long;
use crate::shell::Shell;
use crate::status::Running;

impl Shell {
    /// Does the whole work if the word is a simple one; `false`: it is not, and nothing has happened.
    pub(super) fn expand_simple_word(
        &mut self,
        word: &Word,
        into: &mut Vec<BString>,
    ) -> Running<bool> {
        let [part] = word.parts.as_slice() else { return Ok(false) };
        match part {
            WordPart::Literal(text) if !pattern::looks_active(text, self.options.extglob) => {
                into.push(text.clone());
            }
            WordPart::SingleQuoted(text) | WordPart::Escaped(text) | WordPart::AnsiQuoted(text) => {
                into.push(text.clone());
            }
            WordPart::DoubleQuoted(parts) => return self.expand_simple_quotes(parts, into),
            WordPart::Parameter(parameter) => {
                return self.expand_simple_variable(parameter, into);
            }
            WordPart::Arithmetic(arithmetic) => {
                let number = BString::from(self.evaluate_in_word(arithmetic)?.to_string());
                if self.stays_whole(&number) {
                    into.push(number);
                    return Ok(true);
                }
                // Digits in IFS: the long way, without evaluating twice.
                let mut expansion = self.new_expansion();
                expansion.push(super::field::Origin::Expanded, &number)?;
                self.finish_fields(expansion, into)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn expand_simple_quotes(&self, parts: &[WordPart], into: &mut Vec<BString>) -> Running<bool> {
        match parts {
            [] => into.push(BString::default()),
            [WordPart::Literal(text)] => into.push(text.clone()),
            [WordPart::Parameter(parameter)] => match self.plain_variable(parameter) {
                Some(value) => into.push(owned(value)?),
                None => return self.expand_simple_list(parameter, into),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `"$@"` and `"${a[@]}"`
    fn expand_simple_list(
        &self,
        parameter: &ParameterExpansion,
        into: &mut Vec<BString>,
    ) -> Running<bool> {
        if parameter.indirect || !matches!(parameter.operation, Operation::Plain) {
            return Ok(false);
        }
        match (&parameter.parameter, &parameter.selector) {
            (Parameter::All, None) => into.append(&mut *long::collect(self.positional.iter())?),
            (Parameter::Variable(name), Some(Selector::All)) => {
                into.append(&mut *self.elements_of(name.as_bstr())?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn expand_simple_variable(
        &self,
        parameter: &ParameterExpansion,
        into: &mut Vec<BString>,
    ) -> Running<bool> {
        let Some(value) = self.plain_variable(parameter) else { return Ok(false) };
        if value.is_empty() {
            return Ok(true);
        }
        if !self.stays_whole(&value)
            || !self.options.noglob && pattern::looks_active(&value, self.options.extglob)
        {
            return Ok(false);
        }
        into.push(owned(value)?);
        Ok(true)
    }

    /// `$x` without anything, if it is set; also `$1`.
    pub(super) fn plain_variable(&self, expansion: &ParameterExpansion) -> Option<Cow<'_, BStr>> {
        if expansion.selector.is_some()
            || expansion.indirect
            || !matches!(expansion.operation, Operation::Plain)
        {
            return None;
        }
        match &expansion.parameter {
            Parameter::Variable(name) => {
                let value = self.scalar_of(name.as_bstr())?;
                // What is behind a nameref is no borrowed text: the others need not be asked.
                let is_list = matches!(value, Cow::Owned(_))
                    && !expansion.braced
                    && self.list_behind(name.as_bstr()).is_some();
                (!is_list).then_some(value)
            }
            Parameter::Positional(number) => {
                let at = (*number as usize).checked_sub(1)?;
                self.positional.get(at).map(|value| Cow::Borrowed(value.as_bstr()))
            }
            _ => None,
        }
    }

    /// Would splitting leave this text as it is?
    fn stays_whole(&self, text: &[u8]) -> bool {
        match self.scalar_of(BStr::new(b"IFS")) {
            None => memchr::memchr3(b' ', b'\t', b'\n', text).is_none(),
            Some(ifs) if *ifs == *b" \t\n" => memchr::memchr3(b' ', b'\t', b'\n', text).is_none(),
            ifs => Separators::new(ifs.as_deref()).leaves_whole(text),
        }
    }
}

fn owned(text: Cow<'_, BStr>) -> Running<BString> {
    match text {
        Cow::Borrowed(text) => Ok(long::copy(text)?),
        Cow::Owned(text) => Ok(text),
    }
}
