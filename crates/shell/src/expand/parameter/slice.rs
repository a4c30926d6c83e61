//! `${x:offset:length}` of texts, of the positional parameters and of arrays.

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::Arithmetic;

use super::subject::{Place, Reference, Subject};
use crate::expand::characters;
use crate::shell::Shell;
use crate::status::{ExitStatus, Interrupt, Running};
use crate::variables::Value;

/// A length, and how it is written.
type Length = (i64, BString);

impl Shell {
    pub(super) fn slice(
        &mut self,
        reference: &Reference,
        offset: &Arithmetic,
        length: Option<&Arithmetic>,
    ) -> Running<Subject> {
        if matches!(reference.subject, Subject::Unset) {
            return Ok(Subject::Unset);
        }
        let offset = self.evaluate(offset)?;
        let length = match length {
            Some(length) => Some((self.evaluate(length)?, exacta_syntax::print_word(&length.text))),
            None => None,
        };
        match (&reference.subject, &reference.place) {
            (Subject::List(values), Place::List { name: None, .. }) => {
                self.slice_positional(values, offset, length).map(Subject::list)
            }
            (Subject::List(_), Place::List { name: Some(name), .. }) => {
                self.slice_variable(name, offset, length)
            }
            (Subject::One(text), _) => self.slice_text(text, offset, length).map(Subject::One),
            _ => Ok(Subject::Unset),
        }
    }

    fn slice_text(&self, text: &BString, offset: i64, length: Option<Length>) -> Running<BString> {
        let encoding = self.encoding();
        let total = characters::count(text, encoding) as i64;
        let Some(start) = first_of(offset, total) else { return Ok(BString::default()) };
        let end = match length {
            None => total,
            Some((length, written)) if length < 0 => {
                let end = total.saturating_add(length);
                if end < start {
                    return Err(self.negative_length(&written));
                }
                end
            }
            Some((length, _)) => start.saturating_add(length).min(total),
        };
        Ok(characters::slice(text, start as usize, end as usize, encoding).into())
    }

    /// `$0` is element 0.
    fn slice_positional(
        &self,
        values: &[BString],
        offset: i64,
        length: Option<Length>,
    ) -> Running<Vec<BString>> {
        let Some(start) = first_of(offset, values.len() as i64 + 1) else { return Ok(Vec::new()) };
        let length = self.at_least_zero(length)?;
        let all = std::iter::once(&self.name).chain(values);
        Ok(all.skip(start as usize).take(length).cloned().collect())
    }

    /// The offset is an index for an indexed array, a place in the list (from 1) for an associative one.
    fn slice_variable(
        &self,
        name: &BString,
        offset: i64,
        length: Option<Length>,
    ) -> Running<Subject> {
        let Some(value) = self.value_of(name.as_bstr()) else { return Ok(Subject::Unset) };
        let chosen = match &*value {
            Value::Scalar(text) => {
                return self.slice_text(text, offset, length).map(Subject::One);
            }
            Value::Indexed(array) => match first_of(offset, array.next_index() as i64) {
                None => Vec::new(),
                Some(start) => {
                    let length = self.at_least_zero(length)?;
                    let from = array.iter().filter(|(index, _)| *index >= start as u64);
                    from.take(length).map(|(_, value)| value.clone()).collect()
                }
            },
            Value::Associative(array) => {
                let total = array.len() as i64;
                match first_of(offset, total + 1).filter(|start| *start <= total) {
                    None => Vec::new(),
                    Some(start) => {
                        // If there is any, bash gives at least one.
                        let length = self.at_least_zero(length)?.max(1);
                        let from = array.iter().skip((start - 1).max(0) as usize);
                        from.take(length).map(|(_, value)| value.clone()).collect()
                    }
                }
            }
        };
        Ok(Subject::list(chosen))
    }

    fn at_least_zero(&self, length: Option<Length>) -> Running<usize> {
        match length {
            None => Ok(usize::MAX),
            Some((length, written)) => {
                usize::try_from(length).map_err(|_| self.negative_length(&written))
            }
        }
    }

    fn negative_length(&self, written: &BString) -> Interrupt {
        self.complain([written.as_slice(), b": substring expression < 0"].concat());
        Interrupt::Discard(ExitStatus::FAILURE)
    }
}

/// Where to begin; `None` if that is before the first or behind the end.
fn first_of(offset: i64, total: i64) -> Option<i64> {
    let start = if offset < 0 { total.saturating_add(offset) } else { offset };
    (0..=total).contains(&start).then_some(start)
}
