//! A stream of output on its way to a caller who gets results without secrets (`redact.results = true`). Whoever writes never
//! notices; what is not decided yet is held until the line ends.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use exacta_shell::errno;
use exacta_shell::filesystem::{FileKind, Metadata, OpenFile};
use exacta_shell::pipe::stream_metadata;

use crate::redaction::{Redactor, Report, Rules};

pub struct RedactedOutput {
    target: Arc<dyn OpenFile>,
    redactor: Mutex<Redactor>,
}

impl RedactedOutput {
    pub fn new(rules: &Rules, target: Arc<dyn OpenFile>) -> Self {
        RedactedOutput { target, redactor: Mutex::new(Redactor::new(rules.clone())) }
    }

    /// Passes on what was held, once nobody writes any more.
    pub fn finish(&self) -> Report {
        let mut redactor = self.redactor.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rest = Vec::new();
        let report = redactor.finish(&mut rest);
        let _nobody_may_read = self.target.write_all(&rest);
        report
    }
}

impl OpenFile for RedactedOutput {
    fn read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(errno::error(errno::EBADF))
    }

    fn write(&self, data: &[u8]) -> io::Result<usize> {
        let mut redactor = self.redactor.lock().unwrap_or_else(PoisonError::into_inner);
        let mut decided = Vec::new();
        redactor.push(data, &mut decided);
        self.target.write_all(&decided)?;
        Ok(data.len())
    }

    fn metadata(&self) -> io::Result<Metadata> {
        Ok(stream_metadata(FileKind::Fifo))
    }

    fn is_terminal(&self) -> bool {
        self.target.is_terminal()
    }
}
