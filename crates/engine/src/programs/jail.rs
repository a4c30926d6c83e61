//! The jail of a session: made when the first program needs it, and kept for the next.

use std::os::fd::BorrowedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use exacta_jail::{Cell, Failure, Plan, Program, Running, Spawner};

pub struct Jail {
    plan: Plan,
    standing: Mutex<Option<Standing>>,
}

/// Fields are dropped in this order.
struct Standing {
    cell: Cell,
    _spawner: Spawner,
    /// Something was started since it was last swept.
    used: bool,
}

impl Jail {
    pub fn new(plan: Plan) -> Self {
        Jail { plan, standing: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Standing>> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a program with these descriptors under these numbers.
    pub fn start(
        &self,
        program: &Program,
        descriptors: &[(u32, BorrowedFd<'_>)],
    ) -> Result<Running, Failure> {
        let mut standing = self.lock();
        let mut ready = match standing.take() {
            Some(ready) => ready,
            None => {
                let spawner = Spawner::start()?;
                let cell = spawner.build(&self.plan)?;
                Standing { cell, _spawner: spawner, used: false }
            }
        };
        ready.used = true;
        let started = ready.cell.start(program, descriptors);
        *standing = Some(ready);
        started
    }

    /// Sends a signal to a program that runs.
    pub fn signal(&self, running: &Running, signal: u8) -> Result<(), Failure> {
        self.lock().as_mut().map_or(Ok(()), |ready| ready.cell.signal(running, signal))
    }

    /// Ends all that runs inside.
    pub fn sweep(&self) {
        let mut standing = self.lock();
        let Some(ready) = standing.as_mut().filter(|ready| ready.used) else { return };
        ready.used = false;
        // A jail that cannot be swept is not used again; dropping it ends everything in it.
        if ready.cell.sweep().is_err() {
            *standing = None;
        }
    }
}
