//! One task of an agent at a time, whichever process and project it is in, in the order in which they were asked for.
//!
//! Each takes a ticket: a numbered file in the operator's state, with a lock on it while its owner lives. Whoever has the
//! lowest number among those that live has the turn. Numbers are given away under a lock of the queue, and who has died is
//! swept there.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::locks::{self, Held};
use crate::filesystem::state::open_path;
use crate::kept_file;

const FOLDER: &str = "turns";
const LOCK: &str = "lock";
/// What a ticket is called until it has its lock.
const NEW: &str = "new";
const PAUSE: Duration = Duration::from_millis(20);

/// A place in the queue of an agent, until this goes.
#[derive(Debug)]
pub(super) struct Ticket {
    folder: Arc<OwnedFd>,
    number: u64,
    _held: Held,
}

/// Where the queues are.
pub(super) fn place(state: &Path) -> PathBuf {
    state.join(FOLDER)
}

/// At the end of an agent's queue. `state`: the operator's own.
pub(super) fn take(state: &Path, agent: &str) -> io::Result<Ticket> {
    let digest = exacta_store::audit::hex(&Sha256::digest(agent.as_bytes()));
    let name = digest.get(..32).unwrap_or(&digest);
    let folder = Arc::new(open_path(&place(state).join(name))?);
    let _lock = kept_file::lock(&folder, LOCK)?;
    let mut last = 0;
    for number in numbers(&folder)? {
        if locks::is_held(&folder, &named(number))? {
            last = last.max(number);
        } else {
            locks::remove(&folder, &named(number))?;
        }
    }
    locks::remove(&folder, NEW)?;
    let held = locks::try_hold(&folder, NEW)?.ok_or(io::ErrorKind::WouldBlock)?;
    let number = last.saturating_add(1);
    locks::rename(&folder, NEW, &named(number))?;
    Ok(Ticket { folder, number, _held: held })
}

impl Ticket {
    /// Waits until nobody is ahead. False: `goes_on` has said so. `told`: how many are.
    pub(super) fn wait(
        &self,
        goes_on: &dyn Fn() -> bool,
        told: &mut dyn FnMut(usize),
    ) -> io::Result<bool> {
        let mut before = 0;
        loop {
            let ahead = self.ahead()?;
            if ahead == 0 {
                return Ok(true);
            }
            if ahead != before {
                told(ahead);
            }
            before = ahead;
            if !goes_on() {
                return Ok(false);
            }
            thread::sleep(PAUSE);
        }
    }

    /// How many that live have a lower number. Nobody can get one while this is there.
    fn ahead(&self) -> io::Result<usize> {
        let mut ahead = 0;
        for number in numbers(&self.folder)? {
            let counts = number < self.number && locks::is_held(&self.folder, &named(number))?;
            ahead += usize::from(counts);
        }
        Ok(ahead)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // One that stays is swept: its lock is gone.
        let _swept_later = locks::remove(&self.folder, &named(self.number));
    }
}

fn numbers(folder: &OwnedFd) -> io::Result<Vec<u64>> {
    Ok(locks::names(folder)?.iter().filter_map(|name| name.parse().ok()).collect())
}

fn named(number: u64) -> String {
    format!("{number:016}")
}
