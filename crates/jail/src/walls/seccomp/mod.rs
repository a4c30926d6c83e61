//! What programs may ask of the kernel.
//!
//! What no ordinary program needs does not exist: the answer is the one of a kernel built without it (ENOSYS), which
//! libraries know how to live with. Calls of a foreign architecture end the process, for a filter that reads numbers
//! of one table cannot speak about another. Two things are not decided here but asked about outside, while the caller
//! waits: room for another thread beside the limit on processes, and, for the record, what is executed.

mod program;
mod rules;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use rules::Choices;

use crate::plan::Plan;
use crate::system::seccomp;

/// Puts up the filter, for this process and all that come of it.
///
/// `None`: the filter stands, but nobody can be asked from outside, as the kernel is too old for that or somebody
/// around us does so already. Then processes are not counted.
pub fn restrict(plan: &Plan) -> io::Result<Option<OwnedFd>> {
    let choices = Choices { debugging: plan.debugging, asking: true };
    let asking = compiled(choices)?;
    for flags in [seccomp::LISTENER | seccomp::WAIT_KILLABLE, seccomp::LISTENER] {
        match seccomp::install(asking, flags) {
            Ok(listener) => return Ok(listener),
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EBUSY)) => {}
            Err(error) => return Err(error),
        }
    }
    seccomp::install(compiled(Choices { asking: false, ..choices })?, 0)
}

/// The filters of this process, made when first asked for. The spawner asks before it copies itself, so that jails
/// find them made.
pub fn prepare() -> io::Result<()> {
    for debugging in [false, true] {
        compiled(Choices { debugging, asking: true })?;
    }
    Ok(())
}

fn compiled(choices: Choices) -> io::Result<&'static [libc::sock_filter]> {
    static MADE: [OnceLock<Option<Vec<libc::sock_filter>>>; 4] = [const { OnceLock::new() }; 4];
    let place = usize::from(choices.debugging) + 2 * usize::from(choices.asking);
    MADE.get(place)
        .and_then(|made| made.get_or_init(|| rules::compile(choices)).as_deref())
        .ok_or_else(|| io::Error::from_raw_os_error(libc::E2BIG))
}
