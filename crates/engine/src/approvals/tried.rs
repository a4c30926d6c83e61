//! What has run apart and waits for a yes: what it would change and what it has said. Nothing of it is in the project
//! before that, and what is approved is the result, not the text.

use std::path::Path;

use bstr::ByteSlice;
use serde::{Deserialize, Serialize};

use super::Digest;
use crate::records::{RecordId, Records, UndoError, Watch};
use crate::redaction::Rules;

/// More of a diff, or of a stream, nobody reads before he decides; `exacta diff` shows the whole.
const LONGEST: usize = 64 << 10;

/// The result of a request on trial, as it is shown to whoever decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// The record that is held; absent: it would change nothing.
    pub held: Option<u64>,
    pub exit: u8,
    /// How many paths it would change.
    pub paths: usize,
    /// How it would change them, without secrets.
    pub changes: String,
    pub stdout: String,
    pub stderr: String,
    /// Not all of it is here.
    pub shortened: bool,
    /// Of what is held, byte for byte, and of all that stands here.
    pub digest: String,
}

impl Tried {
    pub(crate) fn of(
        root: &Path,
        held: Option<RecordId>,
        exit: u8,
        [stdout, stderr]: [&[u8]; 2],
    ) -> Result<Self, UndoError> {
        let rules = Rules::new();
        let mut shortened = false;
        let mut shown = |bytes: &[u8]| {
            let text = rules.redact_text(&bytes.to_str_lossy()).0;
            let cut = shortened_to(&text, LONGEST);
            shortened |= cut.is_some();
            cut.unwrap_or(text)
        };
        let (mut paths, mut changes) = (0, String::new());
        if let Some(id) = held {
            let records = Records::open(root, Watch::default())?;
            let (count, patch) = records.patch(id)?;
            (paths, changes) = (count, shown(&patch));
        }
        let mut tried = Tried {
            held: held.map(|id| id.0),
            exit,
            paths,
            changes,
            stdout: shown(stdout),
            stderr: shown(stderr),
            shortened,
            digest: String::new(),
        };
        tried.digest = tried.fingerprint(root)?.to_string();
        Ok(tried)
    }

    fn fingerprint(&self, root: &Path) -> Result<Digest, UndoError> {
        let held = match self.held {
            Some(id) => Records::open(root, Watch::default())?.fingerprint(RecordId(id))?,
            None => Digest::of_parts([]),
        };
        let (held, exit) = (held.to_string(), [self.exit]);
        let shown = [&self.changes, &self.stdout, &self.stderr].map(String::as_bytes);
        Ok(Digest::of_parts([held.as_bytes(), &exit].into_iter().chain(shown)))
    }

    /// Somebody has said yes to exactly this.
    pub(crate) fn apply(&self, root: &Path) -> Result<(), String> {
        let failed = |error: UndoError| format!("what it changes cannot be applied: {error}");
        if self.fingerprint(root).map_err(failed)?.to_string() != self.digest {
            return Err("what is held is not what was shown: deny it, and run it again".into());
        }
        let Some(id) = self.held else { return Ok(()) };
        let records = Records::open(root, Watch::default()).map_err(failed)?;
        records.commit(RecordId(id)).map(|_plan| ()).map_err(failed)
    }

    /// Somebody has said no, or nobody anything.
    pub(crate) fn discard(&self, root: &Path) -> Result<(), String> {
        let Some(id) = self.held else { return Ok(()) };
        let records = Records::open(root, Watch::default());
        match records.and_then(|records| records.discard(RecordId(id))) {
            Ok(()) | Err(UndoError::NoSuchRecord(_)) => Ok(()),
            Err(error) => Err(format!("what it would change cannot be dropped: {error}")),
        }
    }
}

/// Its beginning and its end; `None`: all of it fits.
pub(crate) fn shortened_to(text: &str, longest: usize) -> Option<String> {
    let left_out = text.len().checked_sub(longest).filter(|left_out| *left_out > 0)?;
    let half = longest / 2;
    let head = (0..=half).rev().find_map(|at| text.get(..at)).unwrap_or_default();
    let start = text.len() - half;
    let tail = (start..=text.len()).find_map(|at| text.get(at..)).unwrap_or_default();
    Some(format!("{head}\n[… about {left_out} bytes left out …]\n{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_and_end_are_left_of_what_is_long() {
        assert_eq!(shortened_to("short", 5), None);
        let text = "ä".repeat(100);
        let cut = shortened_to(&text, 9).expect("it is longer");
        assert_eq!(cut, "ää\n[… about 191 bytes left out …]\nää");
    }
}
