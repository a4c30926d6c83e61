//! A program's descriptors: the shell's own where they are real, and pipes with somebody pumping where they are not.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use exacta_jail::Failure;
use exacta_shell::filesystem::OpenFile;
use rustix::event::PollFlags;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::filesystem::CurrentRequest;

/// What a program gets under which number.
pub struct Descriptors {
    all: Vec<(u32, End)>,
}

enum End {
    Real(Arc<dyn OpenFile>),
    /// The program's end of a pipe; ours, and the file behind it.
    Pumped {
        theirs: OwnedFd,
        ours: OwnedFd,
        file: Arc<dyn OpenFile>,
        input: bool,
    },
}

/// Threads that carry bytes between pipes and what is no descriptor.
pub struct Pumps {
    outputs: Vec<JoinHandle<()>>,
}

impl Descriptors {
    pub fn of(files: &[(u32, Arc<dyn OpenFile>)]) -> Result<Self, Failure> {
        let all = files.iter().map(|(number, file)| {
            if file.descriptor().is_some() {
                return Ok((*number, End::Real(Arc::clone(file))));
            }
            let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)
                .map_err(|error| Failure::new("make a pipe", error))?;
            let input = *number == 0;
            let (theirs, ours) = if input { (reader, writer) } else { (writer, reader) };
            Ok((*number, End::Pumped { theirs, ours, file: Arc::clone(file), input }))
        });
        Ok(Descriptors { all: all.collect::<Result<_, _>>()? })
    }

    pub fn given(&self) -> Vec<(u32, BorrowedFd<'_>)> {
        let given = self.all.iter().filter_map(|(number, end)| match end {
            End::Real(file) => Some((*number, file.descriptor()?)),
            End::Pumped { theirs, .. } => Some((*number, theirs.as_fd())),
        });
        given.collect()
    }

    /// Lets go of the program's ends, and starts to carry.
    pub fn pump(self, request: &CurrentRequest) -> Result<Pumps, Failure> {
        let mut outputs = Vec::new();
        for (_, end) in self.all {
            let End::Pumped { theirs, ours, file, input } = end else { continue };
            drop(theirs);
            let request = request.clone();
            let work =
                move || if input { feed(&*file, &ours, &request) } else { drain(&ours, &file) };
            let thread = thread::Builder::new().name("pump".into()).spawn(work);
            let thread = thread.map_err(|error| Failure::new("start a thread", error))?;
            if !input {
                outputs.push(thread);
            }
        }
        Ok(Pumps { outputs })
    }
}

impl Pumps {
    /// Waits until everything that was written has arrived. Input that nobody read is left behind.
    pub fn finish(self) {
        for output in self.outputs {
            let _it_has_said_so_itself = output.join();
        }
    }
}

fn feed(from: &dyn OpenFile, to: &OwnedFd, request: &CurrentRequest) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let mut rest = buffer.get(..count).unwrap_or_default();
        while !rest.is_empty() {
            if request.wait(to, PollFlags::OUT, None).is_err() {
                return;
            }
            // At most what a ready pipe takes without blocking.
            let chunk = rest.get(..rest.len().min(4096)).unwrap_or_default();
            match rustix::io::write(to, chunk) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }
}

fn drain(from: &OwnedFd, to: &Arc<dyn OpenFile>) {
    let mut buffer = vec![0; 64 << 10];
    let mut heard = true;
    loop {
        match rustix::io::read(from, &mut buffer) {
            Ok(0) => return,
            // A reader that is gone ends the program by closing our end, as a pipe would.
            Ok(count) if heard => {
                heard = to.write_all(buffer.get(..count).unwrap_or_default()).is_ok();
                if !heard {
                    return;
                }
            }
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
