//! One writer for each project in a process, however many sessions there are.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use bstr::{BStr, BString};
use exacta_store::audit::{
    Ahead, AuditError, Captured, Cleanser, Database, Entry, Ledger, Signing, Writer,
};
use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::AuditOptions;
use crate::filesystem::state::{State, open_path};
use crate::project::record_elsewhere;

/// By device and inode of the state directory: two paths may lead to one.
type Writers = HashMap<(u64, u64), Weak<Writer>>;

static WRITERS: LazyLock<Mutex<Writers>> = LazyLock::new(Mutex::default);

/// The writer of the project with this state, which is made if it is missing.
pub(super) fn of(
    state: &State,
    root: &BStr,
    options: &AuditOptions,
) -> Result<Arc<Writer>, AuditError> {
    let opened = writable(state, root).map_err(failed)?;
    let stat = rustix::fs::fstat(&opened).map_err(|errno| failed(errno.into()))?;
    let place = (stat.st_dev, stat.st_ino);
    let mut writers = WRITERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(writer) = writers.get(&place).and_then(Weak::upgrade)
        && writer.check().is_ok()
    {
        return Ok(writer);
    }
    let signing = Signing { folder: options.keys.clone(), project: root.to_vec() };
    let eager = options.eager;
    // A process that is there for one request opens no database if it can be helped.
    let ahead = eager.then(|| Ahead::open_beside(opened.as_fd(), &signing)).flatten();
    let open = move || {
        let database = Database::open(opened.as_fd(), &signing)?;
        if eager {
            Ahead::make(&signing, &database);
        }
        Ok(Box::new(database) as Box<dyn Ledger>)
    };
    let writer = Writer::new(Box::new(open), options.limits).with_ahead(ahead);
    let writer = Arc::new(writer);
    writers.retain(|_, writer| writer.strong_count() > 0);
    writers.insert(place, Arc::downgrade(&writer));
    Ok(writer)
}

/// Records what has changed nothing, for a process that ends with it: nobody waits until a database is open.
pub(super) fn leave(
    (state, root): &(State, BString),
    options: &AuditOptions,
    entry: Entry,
    streams: [Captured; 2],
    cleanser: &Arc<dyn Cleanser>,
) -> Result<(), AuditError> {
    let opened = writable(state, root.as_ref()).map_err(failed)?;
    let signing = Signing { folder: options.keys.clone(), project: root.to_vec() };
    let kept = (&signing, &options.limits);
    exacta_store::audit::leave(opened.as_fd(), kept, entry, streams, cleanser)
}

/// The state, or where the record is kept of a project that is only there to be read.
fn writable(state: &State, root: &BStr) -> io::Result<OwnedFd> {
    let opened = state.open().and_then(|opened| {
        let access = rustix::fs::Access::WRITE_OK;
        rustix::fs::accessat(&opened, ".", access, AtFlags::EACCESS)?;
        Ok(opened)
    });
    match opened {
        Err(error) if is_read_only(&error) => open_path(&record_elsewhere(root)?),
        opened => opened,
    }
}

pub(super) fn is_read_only(error: &io::Error) -> bool {
    let read_only = [Errno::ACCESS, Errno::PERM, Errno::ROFS];
    Errno::from_io_error(error).is_some_and(|errno| read_only.contains(&errno))
}

fn failed(error: io::Error) -> AuditError {
    let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
    AuditError::System { doing: "open the state", path: ".clada".into(), errno }
}
