//! Records that changed nothing, of processes that end at once. Whoever opens the database next takes them over into the chain.
//!
//! To open a database, and to bring it in order again, takes longer than most of what such a process was started for. So it adds
//! its record to a file beside it, which is one call, and leaves. What has changed something never goes this way: its intent is
//! in the chain before it happens.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::FileType;
use rustix::io::Errno;

use super::chain::sha256;
use super::database::{Database, Signing};
use super::entry::Entry;
use super::error::AuditError;
use super::ledger::{Draft, Durability, Ledger as _, Limits, Manner};
use super::opening;
use crate::system;

pub(super) const NAME: &str = "exacta.db-new";

/// Whoever makes it longer than this takes it over himself.
const LONGEST: u64 = 256 << 10;

/// Before each record: its length, and the beginning of its digest.
const FRAME: usize = 4 + 8;

/// Adds a record. It is there when this returns, whatever becomes of this process.
pub fn leave(
    state: BorrowedFd<'_>,
    signing: &Signing,
    limits: &Limits,
    draft: &Draft,
) -> Result<(), AuditError> {
    // Beside a database that nobody could open it would wait for ever.
    opening::look(state)?;
    let body = postcard::to_allocvec(&(&draft.entry, &draft.beside))
        .map_err(|_unreadable| failed("put a record into words", Errno::INVAL))?;
    let length = u32::try_from(body.len()).map_err(|_| failed("add a record", Errno::FBIG))?;
    let mut frame = Vec::with_capacity(FRAME + body.len());
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(sha256(&body).get(..8).unwrap_or_default());
    frame.extend_from_slice(&body);
    let file = open(state)?;
    system::lock(&file).map_err(|errno| failed("have it alone", errno))?;
    let before = length_of(&file)?;
    if let Err(errno) = system::append(&file, &frame) {
        // Half of a record would hide those that follow.
        let _as_it_was = system::truncate(&file, before);
        return Err(failed("add a record", errno));
    }
    drop(file);
    if before + frame.len() as u64 > LONGEST {
        Database::open(state, signing)?.retain(limits)?;
    }
    Ok(())
}

/// Whether there is anything to take over.
pub(super) fn is_waiting(state: BorrowedFd<'_>) -> bool {
    let found = system::stat(state, NAME.as_bytes()).ok().flatten();
    found.is_some_and(|stat| stat.st_size > 0)
}

/// Brings what waits into the chain. Done twice it is done once: a record that is there already is not added again.
pub(super) fn take_over(state: BorrowedFd<'_>, database: &mut Database) -> Result<(), AuditError> {
    if !is_waiting(state) {
        return Ok(());
    }
    let file = open(state)?;
    system::lock(&file).map_err(|errno| failed("have it alone", errno))?;
    let bytes = system::read_whole(&file).map_err(|errno| failed("read it", errno))?;
    let mut drafts = Vec::new();
    for draft in Frames(&bytes) {
        if !is_known(database, &draft)? {
            drafts.push(draft);
        }
    }
    if !drafts.is_empty() {
        // Perhaps nothing else follows in this process: the log beside the database is to stay short.
        database.append(&drafts, Manner { durability: Durability::Process, last: true })?;
    }
    system::truncate(&file, 0).map_err(|errno| failed("empty it", errno))
}

fn is_known(database: &Database, draft: &Draft) -> Result<bool, AuditError> {
    match &draft.entry {
        Entry::Outcome(outcome) => database.has_request(&outcome.asked.id),
        // Nothing else is left here.
        _ => Ok(true),
    }
}

/// Whole records, up to one that is not.
struct Frames<'a>(&'a [u8]);

impl Iterator for Frames<'_> {
    type Item = Draft;

    fn next(&mut self) -> Option<Draft> {
        let (length, rest) = self.0.split_first_chunk::<4>()?;
        let (digest, rest) = rest.split_first_chunk::<8>()?;
        let (body, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        self.0 = rest;
        if sha256(body).get(..8) != Some(digest) {
            return None;
        }
        let (entry, beside) = postcard::from_bytes(body).ok()?;
        Some(Draft { entry, beside })
    }
}

/// A plain file of the user's own with no other name, made if it is missing.
fn open(state: BorrowedFd<'_>) -> Result<OwnedFd, AuditError> {
    let opened = match system::open_appending(state, NAME.as_bytes()) {
        Err(Errno::NOENT) => {
            match system::make_file(state, NAME.as_bytes()) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(failed("make it", errno)),
            }
            system::open_appending(state, NAME.as_bytes())
        }
        opened => opened,
    };
    let not_ours = || AuditError::NotOurs { name: NAME.to_owned() };
    let file = match opened {
        Err(Errno::LOOP) => return Err(not_ours()),
        file => file.map_err(|errno| failed("open it", errno))?,
    };
    let stat = system::stat_handle(&file).map_err(|errno| failed("look at it", errno))?;
    let plain = system::kind(&stat) == FileType::RegularFile && stat.st_nlink == 1;
    if !plain || stat.st_uid != system::user() {
        return Err(not_ours());
    }
    Ok(file)
}

fn length_of(file: &OwnedFd) -> Result<u64, AuditError> {
    let stat = system::stat_handle(file.as_fd()).map_err(|errno| failed("look at it", errno))?;
    Ok(u64::try_from(stat.st_size).unwrap_or(0))
}

fn failed(doing: &'static str, errno: Errno) -> AuditError {
    AuditError::System { doing, path: format!(".clada/{NAME}"), errno }
}
