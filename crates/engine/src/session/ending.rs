//! The end of a request as a transaction: what becomes of what it has written, and what is said of that.

use std::sync::Arc;

use bstr::ByteSlice;
use exacta_shell::filesystem::OpenFile;
use exacta_shell::status::{ExitStatus, Interrupt};
use exacta_store::UndoError;

use super::Session;
use crate::programs::Tally;
use crate::undo::{Keep, UndoReport, Why};

/// Never in silence.
const UNPROTECTED: &str =
    "exacta: what programs have changed cannot be undone: without namespaces there are no layers\n";

/// The exit status of what exacta could not do.
const UNABLE: u8 = 125;
/// The exit status of what nobody has approved.
const REFUSED: u8 = 126;

impl Session {
    /// A request whose changes are to wait writes nothing into the project from its first command on.
    pub(super) fn lay(&self, keep: Keep) -> Result<(), Interrupt> {
        if keep != Keep::Hold {
            return Ok(());
        }
        self.announce("hold")?;
        self.host.lay().map_err(|why| {
            if let Some(errors) = self.shell.files.get(2) {
                let text = format!("exacta: what it would change cannot be held: {why}\n");
                let _nobody_listens = errors.write_all(text.as_bytes());
            }
            Interrupt::Exit(ExitStatus(UNABLE))
        })
    }

    /// What programs did that no record can take back.
    pub(super) fn note_irreversible(&self, tally: &Tally, said_to: Option<&Arc<dyn OpenFile>>) {
        let Some(transactions) = &self.transactions else { return };
        if self.direct || tally.direct || tally.unprotected {
            transactions.mark_irreversible("its programs wrote directly");
        }
        if tally.unprotected
            && let Some(errors) = said_to
        {
            let _nobody_listens = errors.write_all(UNPROTECTED.as_bytes());
        }
        if tally.reached_out {
            transactions.mark_irreversible("what was sent over the network stays sent");
        }
    }

    /// After everything of the request has ended: what it has written to a layer comes into the project, and its record is
    /// closed. What could not be applied waits, and the request has not done what it was asked for. That the record could
    /// not be closed is said like any other failure of exacta's own: the change has been made, and somebody relies on
    /// being able to take it back.
    pub(super) fn close_record(
        &self,
        status: &mut ExitStatus,
        keep: Keep,
        said_to: Option<Arc<dyn OpenFile>>,
    ) -> Option<UndoReport> {
        let transactions = self.transactions.as_ref()?;
        let say = |text: String| {
            if let Some(errors) = &said_to {
                let _nobody_listens = errors.write_all(text.as_bytes());
            }
        };
        let exit = i32::from(status.0);
        let keep = match keep {
            Keep::Apply if self.gate.judged().grant.is_some() => Keep::ApplyAll,
            keep => keep,
        };
        let held = match self.host.settle(keep, exit) {
            Ok(held) => held,
            Err(error) => {
                let spoilt = matches!(error, UndoError::CopySpoilt { .. });
                if spoilt {
                    transactions.mark_irreversible("the copy that was made for undo was changed");
                }
                let what = if spoilt { "cannot be undone" } else { "was not applied" };
                let next = error.next().map(|next| format!("hint: {next}\n")).unwrap_or_default();
                say(format!("exacta: what this request changed {what}: {error}\n{next}"));
                *status = ExitStatus(UNABLE);
                None
            }
        };
        if let Some(held) = &held
            && let Some((why, exit)) = why_not(&held.why)
        {
            let id = held.id;
            say(format!(
                "exacta: what this request changed was not applied: {why}\nhint: it is held as {id}: exacta diff {id} \
                 shows it, exacta commit {id} applies it, exacta discard {id} drops it\n"
            ));
            *status = exit;
        }
        let report = transactions.finish(exit).unwrap_or_else(|error| {
            say(format!("exacta: what this request changed may not be undoable: {error}\n"));
            None
        });
        let held = held.map(|held| UndoReport { id: held.id, strategy: "hold".to_owned() });
        held.or(report)
    }
}

/// In words, and how the request ends then. `None`: that is what was asked for.
fn why_not(why: &Why) -> Option<(String, ExitStatus)> {
    match why {
        Why::Asked => None,
        Why::Failed(error) => Some((error.to_string(), ExitStatus(UNABLE))),
        Why::Guarded(paths) => {
            // Names may hold anything, and this is read on a terminal.
            let named = paths.iter().take(5).map(|path| path.escape_bytes().to_string());
            let named = named.collect::<Vec<_>>().join(", ");
            let more = if paths.len() > 5 { ", …" } else { "" };
            let text = format!(
                "it writes what runs later on the host, and nobody has approved that: {named}{more}"
            );
            Some((text, ExitStatus(REFUSED)))
        }
    }
}
