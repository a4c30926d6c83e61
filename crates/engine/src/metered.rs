//! Output of a request, counted against its limit.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

use exacta_shell::control::Control;
use exacta_shell::errno;
use exacta_shell::filesystem::{Metadata, OpenFile, Real, RealFiles};

/// So much is never written.
const UNLIMITED: u64 = 1 << 40;

/// Passes everything on, and stops the request when it has written too much.
pub struct Metered {
    file: Arc<dyn OpenFile>,
    control: Arc<Control>,
}

impl Metered {
    pub fn new(file: Arc<dyn OpenFile>, control: Arc<Control>) -> Self {
        Metered { file, control }
    }
}

impl OpenFile for Metered {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }

    fn write(&self, data: &[u8]) -> io::Result<usize> {
        // What a request that is over still writes is why it is over.
        let running = self.control.check().is_ok();
        if running && let Err(stop) = self.control.produce(data.len()) {
            self.control.stop(stop);
            return Err(errno::error(errno::EINTR));
        }
        self.file.write(data)
    }

    fn seek(&self, position: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }

    fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.file.truncate(length)
    }

    fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        self.file.wait_readable(timeout)
    }

    fn is_terminal(&self) -> bool {
        self.file.is_terminal()
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.file.descriptor()
    }

    /// What a program writes is counted too, unless there is nothing to count against.
    fn real(&self, maker: &dyn RealFiles) -> io::Result<Real> {
        if self.control.limits.output_bytes < UNLIMITED {
            return Ok(Real::No);
        }
        self.file.real(maker)
    }

    fn is_source(&self) -> bool {
        self.file.is_source()
    }

    fn finish(&self) -> io::Result<()> {
        self.file.finish()
    }
}
