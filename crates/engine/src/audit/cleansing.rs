//! The redaction of a session, as the record of commands asks for it.

use std::borrow::Cow;
use std::sync::Arc;

use exacta_store::audit::{Cleansed, Cleanser};

use crate::redaction::{Redaction, Rules};

/// Takes out what a session's redaction does.
pub(crate) fn of(redaction: &Arc<Redaction>) -> Arc<dyn Cleanser> {
    Arc::new(Session(Arc::clone(redaction)))
}

struct Session(Arc<Redaction>);

impl Cleanser for Session {
    fn cleansed(&self, text: &[u8]) -> Option<Cleansed> {
        cleansed(self.0.rules(), text)
    }
}

/// The built-in rules, for what belongs to no session.
pub(super) struct Usual;

impl Cleanser for Usual {
    fn cleansed(&self, text: &[u8]) -> Option<Cleansed> {
        cleansed(&Rules::new(), text)
    }
}

fn cleansed(rules: &Rules, text: &[u8]) -> Option<Cleansed> {
    let (clean, report) = rules.redact(text);
    let Cow::Owned(text) = clean else { return None };
    let kinds = report.kinds.into_iter();
    let kinds = kinds.map(|(kind, count)| (kind, u32::try_from(count).unwrap_or(u32::MAX)));
    Some(Cleansed { text, kinds: kinds.collect() })
}
