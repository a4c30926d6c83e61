//! Bytes that are already there to be read, and what collects those that are written.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::errno;
use crate::filesystem::{FileKind, Metadata, OpenFile, Real, RealFiles};
use crate::pipe::stream_metadata;

/// Reads bytes that are already there: here-documents, and standard input given by a caller.
pub struct Bytes {
    bytes: Vec<u8>,
    place: Mutex<Place>,
}

enum Place {
    At(usize),
    /// A program was given it, and reads on where this process has stopped.
    Real(Arc<dyn OpenFile>),
}

impl Bytes {
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Bytes { bytes: bytes.into(), place: Mutex::new(Place::At(0)) }
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenFile for Bytes {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut place = self.place();
        match &mut *place {
            Place::At(position) => {
                let mut rest = self.bytes.get(*position..).unwrap_or_default();
                let count = io::Read::read(&mut rest, buffer)?;
                *position += count;
                Ok(count)
            }
            Place::Real(file) => file.read(buffer),
        }
    }

    fn write(&self, _data: &[u8]) -> io::Result<usize> {
        Err(errno::error(errno::EBADF))
    }

    fn metadata(&self) -> io::Result<Metadata> {
        Ok(Metadata { size: self.bytes.len() as u64, ..stream_metadata(FileKind::File) })
    }

    fn real(&self, maker: &dyn RealFiles) -> io::Result<Real> {
        let mut place = self.place();
        let file = match &*place {
            Place::At(position) => {
                maker.holding(self.bytes.get(*position..).unwrap_or_default())?
            }
            Place::Real(file) => Arc::clone(file),
        };
        *place = Place::Real(Arc::clone(&file));
        Ok(Real::Other(file))
    }

    fn is_source(&self) -> bool {
        true
    }
}

/// Collects what is written, up to nothing but memory: the caller limits by [`Control::produce`].
#[derive(Default)]
pub struct Capture {
    bytes: Mutex<Vec<u8>>,
}

impl Capture {
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl OpenFile for Capture {
    fn read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(errno::error(errno::EBADF))
    }

    fn write(&self, data: &[u8]) -> io::Result<usize> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(data);
        Ok(data.len())
    }

    fn metadata(&self) -> io::Result<Metadata> {
        Ok(stream_metadata(FileKind::Fifo))
    }
}
