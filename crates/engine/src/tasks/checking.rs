//! What was found after an attempt, for [`evaluation`](super::evaluation).

use std::cell::RefCell;
use std::io;
use std::path::Path;

use bstr::{BStr, ByteSlice};
use exacta_shell::filesystem::{FileSystem, Follow};

use super::evaluation::{Facts, Written, evaluate, of_output};
use super::work::Work;
use super::{Attempt, Check, PlannedStep, TaskError};
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
        let wanted = planned.expect.changed_only.is_some();
        let changed = if wanted { Some(self.changed_by(attempt)?) } else { None };
        // One that an older version has noted was not looked at before it was cut.
        let output = match &attempt.output {
            Some(output) => output.clone(),
            None => {
                let kept = |text| Written { bytes: str::as_bytes(text), cut: attempt.truncated };
                of_output(&planned.expect, kept(&attempt.stdout), kept(&attempt.stderr))
            }
        };
        let root = self.tasks.root();
        let files = filesystem::open(root, Storage::Directory)?.files;
        let unseen = RefCell::new(Vec::new());
        let exists = |path: &str| {
            let whole = root.join(path);
            match files.metadata(BStr::new(whole.as_os_str().as_encoded_bytes()), Follow::No) {
                Ok(_) => true,
                Err(error) => {
                    let nothing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
                    if !nothing.contains(&error.kind()) || leads_out(&*files, root, path) {
                        unseen.borrow_mut().push(not_seen(path, &error));
                    }
                    false
                }
            }
        };
        let facts = Facts {
            exit_code: attempt.exit_code,
            timed_out: attempt.timed_out,
            refused: attempt.refused.as_deref(),
            output: &output,
            exists: &exists,
            changed: changed.as_deref(),
        };
        let mut checks = evaluate(&planned.expect, &facts);
        // Where nobody can look, nothing is absent.
        checks.extend(unseen.take());
        Ok(checks)
    }

    /// The paths that are others now, from the root on.
    fn changed_by(&self, attempt: &Attempt) -> Result<Vec<String>, TaskError> {
        let records = Records::open(self.tasks.root(), Watch::default())?;
        let mut changed = Vec::new();
        for record in self.tasks.left_by(attempt)? {
            if record.state == RecordState::Applied {
                let effects = records.preview(Turn::Undo, &[record.id])?;
                let paths = effects.into_iter().flat_map(|it| [Some(it.path), it.from]).flatten();
                changed.extend(paths.map(|path| path.to_str_lossy().into_owned()));
            }
        }
        Ok(changed)
    }
}

/// A link on the way leads to where nobody can look.
fn leads_out(files: &dyn FileSystem, root: &Path, path: &str) -> bool {
    let on_the_way = Path::new(path).ancestors().skip(1).filter(|part| *part != Path::new(""));
    on_the_way.map(|part| root.join(part)).any(|part| {
        let part = BStr::new(part.as_os_str().as_encoded_bytes());
        let link = files.metadata(part, Follow::No).is_ok_and(|found| found.is_symlink());
        link && files.metadata(part, Follow::Yes).is_err()
    })
}

fn not_seen(path: &str, error: &io::Error) -> Check {
    Check {
        what: "files".to_owned(),
        expected: format!("to see whether {path} is there"),
        found: exacta_shell::errno::text(error),
        held: false,
    }
}
