//! What was found after an attempt, for whoever holds it against what was expected.

use std::path::Path;

use super::work::Work;
use super::{Check, Expect, PlannedStep, TaskError};
use crate::filesystem;
use crate::records::{Records, State as RecordState, Turn, Watch};
use crate::session::Storage;

impl Work<'_> {
    pub(super) fn checks(
        &self,
        step: usize,
        planned: &PlannedStep,
    ) -> Result<Vec<Check>, TaskError> {
        let Some(attempt) = self.last_attempt(step) else { return Ok(Vec::new()) };
        let mut changed = Vec::new();
        if planned.expect.changed_only.is_some() {
            let records = Records::open(self.tasks.root(), Watch::default())?;
            for record in self.tasks.left_by(attempt)? {
                if record.state == RecordState::Applied {
                    let effects = records.preview(Turn::Undo, &[record.id])?;
                    changed.extend(effects.into_iter().flat_map(|it| [Some(it.path), it.from]));
                }
            }
        }
        let _changed: Vec<_> = changed.into_iter().flatten().collect();
        Ok(check(&planned.expect, attempt, self.tasks.root()))
    }
}

/// Until the whole of it is there.
fn check(expect: &Expect, attempt: &super::Attempt, root: &Path) -> Vec<Check> {
    let exit = attempt.exit_code.unwrap_or(-1);
    let mut checks = vec![Check {
        what: "exit_code".into(),
        expected: expect.exit_code.to_string(),
        found: exit.to_string(),
        held: exit == expect.exit_code,
    }];
    for text in &expect.stdout_contains {
        checks.push(Check {
            what: "stdout_contains".into(),
            expected: text.clone(),
            found: attempt.stdout.clone(),
            held: attempt.stdout.contains(text.as_str()),
        });
    }
    let files = filesystem::open(root, Storage::Directory);
    let there = |path: &str| {
        let path = root.join(path);
        let path = bstr::BStr::new(path.as_os_str().as_encoded_bytes());
        let follow = exacta_shell::filesystem::Follow::No;
        files.as_ref().is_ok_and(|opened| opened.files.metadata(path, follow).is_ok())
    };
    for (what, paths, wanted) in
        [("files_exist", &expect.files_exist, true), ("files_absent", &expect.files_absent, false)]
    {
        for path in paths {
            let found = there(path);
            checks.push(Check {
                what: what.into(),
                expected: path.clone(),
                found: if found { "it is there".into() } else { "it is not there".into() },
                held: found == wanted,
            });
        }
    }
    checks
}
