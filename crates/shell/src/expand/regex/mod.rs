//! `[[ text =~ expression ]]`: POSIX extended expressions, matched by [`crate::regex`].

mod quotes;

use std::cell::RefCell;
use std::collections::HashMap;

use bstr::{BStr, BString};

use crate::regex::{Error, GroupMatcher, Syntax, parse_posix};
use crate::shell::Shell;
use crate::status::{ExitStatus, Interrupt, Running};
use crate::variables::{IndexedArray, Value};

pub(super) use quotes::quoted_as_literal;

/// Compiled expressions kept per thread: loops match with the same one again and again.
const KEPT: usize = 32;

thread_local! {
    static CACHE: RefCell<HashMap<(BString, bool), GroupMatcher>> = RefCell::new(HashMap::new());
}

impl Shell {
    /// The status of `[[ text =~ regex ]]`; sets `BASH_REMATCH`. Status 2: no regular expression.
    pub(crate) fn match_regex(&mut self, text: &BStr, regex: &BStr) -> Running<ExitStatus> {
        let found = match self.find_groups(text, regex) {
            Ok(found) => found,
            Err(Error::Stopped) => {
                self.control.check().map_err(Interrupt::Stopped)?;
                return Ok(ExitStatus::USAGE);
            }
            Err(Error::Invalid(_) | Error::Unsupported(_) | Error::TooComplex) => {
                return Ok(ExitStatus::USAGE);
            }
        };
        let matched = found.is_some();
        let groups: IndexedArray = found.unwrap_or_default().into_iter().collect();
        let variable = self.variables.get_or_create(BStr::new(b"BASH_REMATCH"));
        variable.value = Some(Value::Indexed(groups));
        Ok(ExitStatus::from_bool(matched))
    }

    /// The match and its groups; one that took no part is empty.
    fn find_groups(&self, text: &BStr, regex: &BStr) -> Result<Option<Vec<BString>>, Error> {
        let key = (BString::from(regex), self.options.nocasematch);
        let cached = CACHE.with_borrow_mut(|cache| cache.remove(&key));
        let mut matcher = if let Some(matcher) = cached {
            matcher
        } else {
            let node = parse_posix(regex, Syntax::POSIX_EXTENDED, key.1)?.node;
            GroupMatcher::new(&node)?
        };
        let found = matcher.find(text, &self.control)?;
        CACHE.with_borrow_mut(|cache| {
            if cache.len() >= KEPT {
                cache.clear();
            }
            cache.insert(key, matcher);
        });
        Ok(found.map(|groups| {
            let text_of = |group: Option<std::ops::Range<usize>>| {
                group.and_then(|range| text.get(range)).unwrap_or_default().into()
            };
            groups.into_iter().map(text_of).collect()
        }))
    }
}
