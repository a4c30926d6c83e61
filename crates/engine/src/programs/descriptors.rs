//! A program's descriptors: the shell's own where they are real, and pipes with somebody carrying where they are not.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use exacta_jail::Failure;
use exacta_shell::filesystem::{OpenFile, Real};

use super::carrying::{Carrier, Carriers, Source};
use crate::filesystem::{CurrentRequest, RealMaker, open_pipe};

/// What a program gets under which number.
#[derive(Default)]
pub struct Descriptors {
    given: Vec<(u32, Given)>,
    carriers: Vec<Carrier>,
    sources: Vec<Source>,
}

#[derive(Clone)]
enum Given {
    File(Arc<dyn OpenFile>),
    /// The program's end of a pipe whose other end is ours.
    End(Arc<OwnedFd>),
}

impl Descriptors {
    /// The same file under two numbers is the same to the program, so that what it writes keeps its order.
    pub fn of(
        files: &[(u32, Arc<dyn OpenFile>)],
        request: &CurrentRequest,
    ) -> Result<Self, Failure> {
        let maker = RealMaker { request: request.clone() };
        let mut descriptors = Descriptors::default();
        let mut known: Vec<(&Arc<dyn OpenFile>, Given)> = Vec::new();
        for (number, file) in files {
            let before = known.iter().find(|(other, _)| Arc::ptr_eq(other, file));
            let given = match before {
                Some((_, given)) => given.clone(),
                None => descriptors
                    .give(file, &maker)
                    .map_err(|error| Failure::new("share a file with a program", error))?,
            };
            known.push((file, given.clone()));
            descriptors.given.push((*number, given));
        }
        Ok(descriptors)
    }

    fn give(&mut self, file: &Arc<dyn OpenFile>, maker: &RealMaker) -> io::Result<Given> {
        match file.real(maker)? {
            Real::Itself => return Ok(Given::File(Arc::clone(file))),
            Real::Other(real) => return Ok(Given::File(real)),
            Real::No => {}
        }
        let (reader, writer) = open_pipe()?;
        let theirs = if file.is_source() {
            self.sources.push(Source { from: Arc::clone(file), to: writer });
            reader
        } else {
            self.carriers.push(Carrier::new(reader, Arc::clone(file))?);
            writer
        };
        Ok(Given::End(Arc::new(theirs)))
    }

    pub fn given(&self) -> Vec<(u32, BorrowedFd<'_>)> {
        let given = self.given.iter().filter_map(|(number, given)| match given {
            Given::File(file) => Some((*number, file.descriptor()?)),
            Given::End(end) => Some((*number, end.as_fd())),
        });
        given.collect()
    }

    /// The program has its own now: lets go of its ends, and begins to carry.
    pub fn carry(self, request: &CurrentRequest) -> Result<Carriers, Failure> {
        for source in self.sources {
            source.feed(request).map_err(|error| Failure::new("start a thread", error))?;
        }
        Ok(Carriers::new(self.carriers))
    }
}
