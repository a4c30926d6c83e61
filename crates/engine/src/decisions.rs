//! What people have decided for good about this project, as a running session uses it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bstr::{BStr, ByteSlice};

use crate::commands_file::{CommandsFile, CommandsFileError, Decision, Decisions, Entered, Trust};
use crate::filesystem::state::State;

pub struct ProjectDecisions {
    file: CommandsFile,
    trust: Arc<dyn Trust>,
    known: Mutex<Decisions>,
}

impl ProjectDecisions {
    /// Reads the file; one that is broken is an error, and nothing runs.
    pub(crate) fn read(
        root: PathBuf,
        state: Option<&State>,
        trust: Arc<dyn Trust>,
    ) -> Result<Self, CommandsFileError> {
        let file = CommandsFile::of(root);
        let known = match state {
            Some(state) => file.read_in(state, &*trust)?,
            None => file.read(&*trust)?,
        };
        let known = Mutex::new(known);
        Ok(ProjectDecisions { file, trust, known })
    }

    /// Nothing is blocked at all: the usual case, and every command asks.
    pub fn blocks_nothing(&self) -> bool {
        self.known().blocked().is_empty()
    }

    pub fn is_blocked(&self, text: &BStr) -> bool {
        self.about(text) == Decision::Blocked
    }

    pub fn is_allowed(&self, text: &BStr) -> bool {
        self.about(text) == Decision::Allowed
    }

    fn about(&self, text: &BStr) -> Decision {
        text.to_str().map_or(Decision::Unknown, |text| self.known().about(text))
    }

    pub fn allow(&self, text: &str) -> Result<Entered, CommandsFileError> {
        let entered = self.file.allow(text, &*self.trust)?;
        *self.known() = self.file.read(&*self.trust)?;
        Ok(entered)
    }

    pub fn block(&self, text: &str) -> Result<(), CommandsFileError> {
        self.file.block(text, &*self.trust)?;
        *self.known() = self.file.read(&*self.trust)?;
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, Decisions> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
