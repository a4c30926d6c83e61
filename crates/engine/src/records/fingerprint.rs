//! What a record leaves behind, in one number: what was shown and what is applied are the same, or they are not.

use exacta_store::{Facts, Journal, RecordId, Side, UndoError};
use sha2::{Digest as _, Sha256};

use crate::approvals::Digest;

pub(super) fn of(journal: &Journal, id: RecordId) -> Result<Digest, UndoError> {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for change in journal.diff(id)? {
        parts.push(change.path.into());
        parts.push(change.moved_from.map(Into::into).unwrap_or_default());
        parts.push(change.before.as_ref().map(|side| facts(&side.facts)).unwrap_or_default());
        parts.push(change.after.as_ref().map(|side| facts(&side.facts)).unwrap_or_default());
        parts.push(content(journal, change.after.as_ref())?);
    }
    Ok(Digest::of_parts(parts.iter().map(Vec::as_slice)))
}

/// What a person would call the same is the same: when it was written does not count.
fn facts(facts: &Facts) -> Vec<u8> {
    let numbers = [facts.mode, facts.user, facts.group].map(u64::from);
    let numbers = numbers.into_iter().chain([facts.size, facts.device_number]);
    let mut bytes = format!("{:?}", facts.kind).into_bytes();
    bytes.extend(numbers.flat_map(u64::to_le_bytes));
    bytes.extend(facts.target.iter().flat_map(|target| target.iter()));
    bytes
}

fn content(journal: &Journal, side: Option<&Side>) -> Result<Vec<u8>, UndoError> {
    let mut hash = Sha256::new();
    if let Some(content) = side.map(|side| journal.content(side)).transpose()?.flatten() {
        content.each(|piece| hash.update(piece))?;
    }
    Ok(hash.finalize().to_vec())
}
