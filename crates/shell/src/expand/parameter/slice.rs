//! `${x:offset:length}` of texts, of the positional parameters and of arrays.

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::Arithmetic;

use super::subject::{Place, Reference, Subject};
use crate::expand::characters;
use crate::shell::Shell;
use crate::status::{ExitStatus, Interrupt, Running};
use crate::variables::Value;

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
            Some(length) => Some(self.evaluate(length)?),
            None => None,
        };
        match (&reference.subject, &reference.place) {
            (Subject::One(text), _) => self.slice_text(text, offset, length).map(Subject::One),
            (Subject::List(values), Place::List { name: Some(name), .. })
                if let [only] = values.as_slice()
                    && matches!(
                        self.value_of(name.as_bstr()).as_deref(),
                        Some(Value::Scalar(_))
                    ) =>
            {
                self.slice_text(only, offset, length).map(Subject::One)
            }
            (Subject::List(values), Place::List { name, .. }) => {
                let from = match name {
                    None => self.slice_of_positional(values, offset),
                    Some(name) => self.slice_of_array(name, offset),
                };
                let Some(from) = from else { return Ok(Subject::List(Vec::new())) };
                self.shorten(from, length).map(Subject::List)
            }
            _ => Ok(Subject::Unset),
        }
    }

    fn slice_text(&self, text: &BString, offset: i64, length: Option<i64>) -> Running<BString> {
        let encoding = self.encoding();
        let total = characters::count(text, encoding) as i64;
        let start = if offset < 0 { total.saturating_add(offset) } else { offset };
        if start < 0 || start > total {
            return Ok(BString::default());
        }
        let end = match length {
            None => total,
            Some(length) if length < 0 => {
                let end = total.saturating_add(length);
                if end < start {
                    return Err(self.negative_length(length));
                }
                end
            }
            Some(length) => start.saturating_add(length).min(total),
        };
        Ok(characters::slice(text, start as usize, end as usize, encoding).into())
    }

    /// `$0` is element 0, unless the offset is counted from the end.
    fn slice_of_positional(&self, values: &[BString], offset: i64) -> Option<Vec<BString>> {
        let total = values.len() as i64 + 1;
        let start = if offset < 0 { total.checked_add(offset)? } else { offset };
        match start {
            0 => Some([std::slice::from_ref(&self.name), values].concat()),
            1.. => values.get(start as usize - 1..).map(<[_]>::to_vec),
            _ => None,
        }
    }

    /// The offset is an index for an indexed array, a place in the list (from 1) for others.
    fn slice_of_array(&self, name: &BString, offset: i64) -> Option<Vec<BString>> {
        let value = self.value_of(name.as_bstr())?;
        match &*value {
            Value::Indexed(array) => {
                let start = if offset < 0 {
                    (array.next_index() as i64).checked_add(offset)?
                } else {
                    offset
                };
                let start = u64::try_from(start).ok()?;
                let chosen = array.iter().filter(|(index, _)| *index >= start);
                Some(chosen.map(|(_, value)| value.clone()).collect())
            }
            Value::Associative(array) => {
                let total = array.len() as i64 + 1;
                let start = if offset < 0 { total.checked_add(offset)? } else { offset };
                let skipped = usize::try_from(start).ok()?.saturating_sub(1);
                Some(array.iter().skip(skipped).map(|(_, value)| value.clone()).collect())
            }
            Value::Scalar(text) => Some(vec![text.clone()]),
        }
    }

    fn shorten(&self, mut values: Vec<BString>, length: Option<i64>) -> Running<Vec<BString>> {
        match length {
            None => {}
            Some(length) if length < 0 => return Err(self.negative_length(length)),
            Some(length) => values.truncate(usize::try_from(length).unwrap_or(usize::MAX)),
        }
        Ok(values)
    }

    fn negative_length(&self, length: i64) -> Interrupt {
        self.complain(format!("{length}: substring expression < 0"));
        self.discard_mildly(ExitStatus::FAILURE)
    }
}
