//! The database file, found by handle. `SQLite` opens by path, follows links and makes files as it likes; so what it will
//! find is looked at first, relative to the state directory that is open already, and the path it is given leads there.
//!
//! A repository may bring a `.clada` of its own with links in it: they are refused. Files are never opened here, only
//! looked at: to close one would take away the locks that another connection of this process has on it.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::error::{AuditError, database};
use super::schema;
use crate::system;

pub const NAME: &str = "exacta.db";
const BESIDE: [&str; 3] = [NAME, "exacta.db-wal", "exacta.db-shm"];

/// Several processes take turns; one that holds on for so long is stuck.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// To write to it. Made if it is missing.
pub(crate) fn for_writing(state: BorrowedFd<'_>) -> Result<Connection, AuditError> {
    if !look(state)? {
        match system::make_file(state, NAME.as_bytes()) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed("make it", errno)),
        }
    }
    let connection = connect(state)?;
    schema::prepare(&connection)?;
    // Whoever ends would move everything into the main file and wait for the disk, twice.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .map_err(database("be opened"))?;
    Ok(connection)
}

/// To look at it, with its version. [`AuditError::Nothing`] where there is none.
pub(crate) fn for_reading(state: BorrowedFd<'_>) -> Result<(Connection, i64), AuditError> {
    if !look(state)? {
        return Err(AuditError::Nothing);
    }
    let connection = connect(state)?;
    let version = schema::check(&connection)?;
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .and_then(|_| connection.pragma_update(None, "query_only", true))
        .map_err(database("be opened"))?;
    Ok((connection, version))
}

fn connect(state: BorrowedFd<'_>) -> Result<Connection, AuditError> {
    let path = format!("/proc/self/fd/{}/{NAME}", state.as_raw_fd());
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(database("be opened"))?;
    connection.busy_timeout(PATIENCE).map_err(database("be opened"))?;
    Ok(connection)
}

/// Whether it is there. Whatever is there is a plain file of the user's own, with no other name.
pub(crate) fn look(state: BorrowedFd<'_>) -> Result<bool, AuditError> {
    let mut there = false;
    for name in BESIDE {
        let found = system::stat(state, name.as_bytes());
        let Some(stat) = found.map_err(|errno| failed("look at it", errno))? else { continue };
        let plain = system::kind(&stat) == FileType::RegularFile && stat.st_nlink == 1;
        if !plain || stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(AuditError::NotOurs { name: name.to_owned() });
        }
        there |= name == NAME;
    }
    Ok(there)
}

/// Bytes in the log beside it.
pub(crate) fn length_of_log(state: BorrowedFd<'_>) -> u64 {
    let found = system::stat(state, b"exacta.db-wal").ok().flatten();
    found.map_or(0, |stat| stat.st_size.try_into().unwrap_or(0))
}

/// The state directory for as long as the database is open.
pub(crate) fn keep(state: BorrowedFd<'_>) -> Result<OwnedFd, AuditError> {
    let kept = state.try_clone_to_owned();
    kept.map_err(|error| failed("keep it", Errno::from_io_error(&error).unwrap_or(Errno::IO)))
}

fn failed(doing: &'static str, errno: Errno) -> AuditError {
    AuditError::System { doing, path: format!(".clada/{NAME}"), errno }
}
