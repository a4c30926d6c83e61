//! A request on trial: it runs apart, nobody sees what it says, and the session is as it was, until somebody says yes.

use std::sync::Arc;

use bstr::ByteSlice;
use exacta_shell::files::FileTable;
use exacta_shell::filesystem::OpenFile;
use exacta_shell::shell::Shell;
use exacta_shell::status::{ExitStatus, Flow, Interrupt, Stop};

use super::Session;
use crate::approvals::Tried;
use crate::audit::Witnessing;
use crate::gate::Refused;
use crate::kept_output::{Collected, OutputLimit};
use crate::metered::Metered;
use crate::records::RecordId;
use crate::undo::UndoReport;

/// So much of each stream is kept while nobody has decided, where the caller sets no limit.
const MOST_OUTPUT: u64 = 16 << 20;

pub(super) struct Trial {
    /// The shell as the request found it.
    before: Shell,
    /// Where the caller wants what it says.
    given: FileTable,
    said: [Collected; 2],
}

impl Session {
    /// From now on what the request writes and says goes elsewhere, if it is on trial. Where that is impossible, it is asked
    /// about now.
    pub(super) fn begin_trial(&mut self) -> Result<Option<Trial>, Interrupt> {
        if !self.gate.is_trying() {
            return Ok(None);
        }
        self.announce("hold")?;
        // Without layers it would not be apart while it runs.
        if self.host.lay().is_err() || self.host.is_mirrored() {
            return self.gate.ask_first().map(|()| None).map_err(|refused| self.stopped(&refused));
        }
        let bytes = self.output.as_ref().map_or(MOST_OUTPUT, |limit| limit.bytes);
        let limit = OutputLimit::new(bytes, None, "");
        let collect = || {
            let (limit, redaction) = (Some(&limit), &self.redaction);
            let (file, said) = Collected::of(limit, None, "", Witnessing::Nothing, redaction, None);
            let metered = Metered::new(file, Arc::clone(&self.shell.control));
            (Arc::new(metered) as Arc<dyn OpenFile>, said)
        };
        let ((output, said), (errors, complained)) = (collect(), collect());
        let mut table = self.shell.files.clone();
        for (descriptor, file) in [(1, output), (2, errors)] {
            if table.get(descriptor).is_some() {
                table.set(descriptor, Some(file));
            }
        }
        let before = self.shell.clone();
        let given = std::mem::replace(&mut self.shell.files, table);
        Ok(Some(Trial { before, given, said: [said, complained] }))
    }

    /// What was approved while nobody waited is given to whoever asks for it again.
    pub(super) fn replay(&self, tried: &Tried) -> Flow {
        for (descriptor, text) in [(1, &tried.stdout), (2, &tried.stderr)] {
            if let Some(file) = self.shell.files.get(descriptor) {
                let _nobody_listens = file.write_all(text.as_bytes());
            }
        }
        Ok(ExitStatus(tried.exit))
    }

    /// Everything of it has ended and is held. Somebody decides, and the caller is told what came of it: all of it, or why
    /// it gets nothing.
    pub(super) fn end_trial(
        &mut self,
        trial: Trial,
        status: ExitStatus,
        stopped: Option<Stop>,
        held: Option<UndoReport>,
    ) -> (ExitStatus, Option<UndoReport>, Option<Stop>) {
        let Trial { before, given, said } = trial;
        let said = said.map(|said| said.take().bytes);
        let id = held.as_ref().map(|held| held.id);
        let decided = self.decided(id, status, stopped.is_some(), [&said[0], &said[1]]);
        let Err(stop) = decided else {
            for (descriptor, bytes) in [(1, &said[0]), (2, &said[1])] {
                if let Some(file) = given.get(descriptor) {
                    let _nobody_listens = file.write_all(bytes);
                }
            }
            return (status, id.map(|id| applied(id.0)), None);
        };
        let control = Arc::clone(&self.shell.control);
        self.shell = before;
        (self.shell.control, self.shell.files) = (control, given);
        let stop = stop.or(stopped).unwrap_or(Stop::Cancelled);
        let status = self.shell.end_request(Err(Interrupt::Stopped(stop.clone())));
        self.shell.files = FileTable::default();
        (status, None, Some(stop))
    }

    /// An error without a reason: it was stopped, and the caller knows why.
    fn decided(
        &self,
        held: Option<RecordId>,
        status: ExitStatus,
        stopped: bool,
        said: [&[u8]; 2],
    ) -> Result<(), Option<Stop>> {
        let root = self.gate.files.root().to_path_lossy();
        let tried = Tried::of(&root, held, status.0, said);
        let tried = tried.map_err(|error| {
            self.gate.drop_trial();
            Some(Stop::Unrecorded(format!("what it would change cannot be shown: {error}")))
        })?;
        if stopped {
            self.gate.drop_trial();
            let _cleaned_up_later = tried.discard(&root);
            return Err(None);
        }
        self.gate.decide(tried).map_err(|refused| Some(self.refused(&refused)))
    }

    fn refused(&self, refused: &Refused) -> Stop {
        Stop::Refused(self.gate.as_refusal(refused))
    }

    pub(super) fn stopped(&self, refused: &Refused) -> Interrupt {
        Interrupt::Stopped(self.refused(refused))
    }
}

/// It was held, and is in the project now.
pub(super) fn applied(id: u64) -> UndoReport {
    UndoReport { id: RecordId(id), strategy: "restore".to_owned() }
}
