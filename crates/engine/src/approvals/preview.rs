//! What a question is about, tried by whoever is to decide it: the command runs apart as it does where people are asked
//! afterwards, and whatever comes of it is dropped.

use std::sync::{Mutex, PoisonError};

use super::{Answer, Approver, Question, Tried};

/// Says no to everything, and keeps what it was shown.
#[derive(Debug, Default)]
pub struct Preview(Mutex<Option<Tried>>);

impl Preview {
    /// What came of it; absent: it was not run, as it could change more than the project.
    pub fn take(&self) -> Option<Tried> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Approver for Preview {
    fn ask(&self, question: &Question) -> Answer {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&question.tried);
        Answer::No
    }

    fn name(&self) -> &'static str {
        "a preview"
    }
}
