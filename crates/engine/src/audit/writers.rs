//! One writer for each project in a process, however many sessions there are.

use std::collections::HashMap;
use std::os::fd::AsFd;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use bstr::BStr;
use exacta_store::audit::{AuditError, Database, Ledger, Signing, Writer};
use rustix::io::Errno;

use super::AuditOptions;
use crate::filesystem::state::State;

/// By device and inode of the state directory: two paths may lead to one.
type Writers = HashMap<(u64, u64), Weak<Writer>>;

static WRITERS: LazyLock<Mutex<Writers>> = LazyLock::new(Mutex::default);

/// The writer of the project with this state, which is made if it is missing.
pub(super) fn of(
    state: &State,
    root: &BStr,
    options: &AuditOptions,
) -> Result<Arc<Writer>, AuditError> {
    let opened = state.open().map_err(failed)?;
    let stat = rustix::fs::fstat(&opened).map_err(|errno| failed(errno.into()))?;
    let place = (stat.st_dev, stat.st_ino);
    let mut writers = WRITERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(writer) = writers.get(&place).and_then(Weak::upgrade)
        && writer.check().is_ok()
    {
        return Ok(writer);
    }
    let signing = Signing { folder: options.keys.clone(), project: root.to_vec() };
    let open = move || {
        let database = Database::open(opened.as_fd(), &signing)?;
        Ok(Box::new(database) as Box<dyn Ledger>)
    };
    let writer = Arc::new(Writer::new(Box::new(open), options.limits));
    writers.retain(|_, writer| writer.strong_count() > 0);
    writers.insert(place, Arc::downgrade(&writer));
    Ok(writer)
}

fn failed(error: std::io::Error) -> AuditError {
    let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
    AuditError::System { doing: "open the state", path: ".clada".into(), errno }
}
