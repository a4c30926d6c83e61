//! Where a request reads from and writes to.

use std::sync::Arc;

use exacta_shell::files::FileTable;
use exacta_shell::filesystem::OpenFile;
use exacta_shell::pipe::Bytes;

use super::{Session, Streams};
use crate::audit::{Witnessing, same_file};
use crate::heard_output::Stream;
use crate::kept_output::Collected;
use crate::metered::Metered;

impl Session {
    pub(super) fn open_streams(&self, streams: &Streams) -> (FileTable, [Collected; 2]) {
        let control = &self.shell.control;
        let metered = |file: Arc<dyn OpenFile>| {
            Arc::new(Metered::new(file, Arc::clone(control))) as Arc<dyn OpenFile>
        };
        let mut listener = None;
        let (input, output, errors) = match streams {
            Streams::Captured { input } => {
                (Arc::new(Bytes::new(input.clone())) as Arc<dyn OpenFile>, None, None)
            }
            Streams::Heard { input, listener: who } => {
                listener = Some(who);
                (Arc::clone(input), None, None)
            }
            Streams::Given { input, output, errors } => {
                (Arc::clone(input), Some(Arc::clone(output)), Some(Arc::clone(errors)))
            }
        };
        let (limit, redaction) = (self.output.as_ref(), &self.redaction);
        let witnessing = if self.audit.is_on() {
            Witnessing::UpTo(self.audit.output_bytes())
        } else {
            Witnessing::Nothing
        };
        // What goes to one place is one stream: the order of what is written there stays.
        let one = limit.is_none()
            && matches!((&output, &errors), (Some(output), Some(errors)) if same_file(&**output, &**errors));
        let to = |stream| listener.map(|listener| (listener, stream));
        let heard = to(Stream::Output);
        let (output, kept) = Collected::of(limit, output, "txt", witnessing, redaction, heard);
        if one && self.audit.is_on() {
            let output = metered(output);
            let table = FileTable::standard(input, Arc::clone(&output), output);
            return (table, [kept, Collected::nothing()]);
        }
        let heard = to(Stream::Errors);
        let (errors, kept_errors) =
            Collected::of(limit, errors, "err.txt", witnessing, redaction, heard);
        (FileTable::standard(input, metered(output), metered(errors)), [kept, kept_errors])
    }
}
