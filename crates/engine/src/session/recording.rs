//! A request in the record of its project: begun, and how it has ended.

use std::sync::Arc;

use bstr::{BStr, ByteSlice};
use exacta_shell::filesystem::OpenFile;
use exacta_shell::status::{ExitStatus, Interrupt, Stop};
use exacta_store::audit::{AuditError, Captured};

use super::Session;
use crate::audit::{Ended, Held, explained};

impl Session {
    /// Where an earlier record could not be written nothing is done any more.
    pub(super) fn begin_record(&self, text: &BStr, id: Option<[u8; 16]>) -> Result<(), Interrupt> {
        let directory = self.shell.directory.as_bstr();
        let begun = self.audit.begin(text, directory, id, &self.shell.control);
        begun.map_err(|error| Interrupt::Stopped(Stop::Unrecorded(explained(&error))))
    }

    /// Keeps the record of the project open beyond this session.
    pub fn held_record(&self) -> Option<Held> {
        self.audit.held()
    }

    /// What changes something is announced first, also where all of it is to wait for a person.
    pub(super) fn announce(&self, effect: &str) -> Result<(), Interrupt> {
        let announced = self.audit.intend(effect);
        announced.map_err(|error| Interrupt::Stopped(Stop::Unrecorded(explained(&error))))
    }

    /// How it has ended. That this cannot be recorded is said, and is a failure whatever the command has done.
    pub(super) fn record(
        &self,
        ended: &Ended<'_>,
        streams: [Captured; 2],
        said_to: Option<&Arc<dyn OpenFile>>,
    ) -> Result<(), ExitStatus> {
        if !self.audit.is_on() || matches!(ended.outcome.stopped, Some(Stop::Unrecorded(_))) {
            return Ok(());
        }
        let finished = self.audit.finish(ended.in_words(), streams);
        finished.map_err(|error| unrecorded(&error, said_to))
    }
}

fn unrecorded(error: &AuditError, said_to: Option<&Arc<dyn OpenFile>>) -> ExitStatus {
    if let Some(errors) = said_to {
        let text =
            format!("exacta: what this request did was not recorded: {}\n", explained(error));
        let _nobody_listens = errors.write_all(text.as_bytes());
    }
    ExitStatus::UNABLE
}
