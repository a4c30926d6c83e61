//! What programs may ask of the kernel.
//!
//! What no ordinary program needs does not exist: the answer is the one of a kernel built without it (ENOSYS), which
//! libraries know how to live with. Calls of a foreign architecture end the process, for a filter that reads numbers
//! of one table cannot speak about another. Two things are not decided here but asked about outside, while the caller
//! waits: room for another thread beside the limit on processes, and, for the record, what is executed.

mod arguments;
mod program;
mod rules;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

pub use rules::Sockets;

use rules::Choices;

use crate::outcome::Failure;
use crate::system::seccomp;

/// The filter stands. With whom to ask from outside, or why nobody can be asked: the kernel is too old for that, or
/// somebody around us does so already or forbids it. Then processes are not counted and executions not recorded.
pub type Standing = Result<OwnedFd, Failure>;

/// Whether the jail that this process is going to be has a control group. Copies of the process know it too.
static COUNTED: AtomicBool = AtomicBool::new(true);

pub fn set_counted(counted: bool) {
    COUNTED.store(counted, Ordering::Relaxed);
}

/// Puts up the filter, for this process and all that come of it.
pub fn restrict(debugging: bool, sockets: Sockets) -> io::Result<Standing> {
    let choices = Choices { debugging, asking: true, sockets, uncounted: is_uncounted() };
    let asking = compiled(choices)?;
    let mut refused = io::Error::from_raw_os_error(libc::EINVAL);
    for flags in [seccomp::LISTENER | seccomp::WAIT_KILLABLE, seccomp::LISTENER] {
        match seccomp::install(asking, flags) {
            Ok(Some(listener)) => return Ok(Ok(listener)),
            Ok(None) => {}
            Err(error) => refused = error,
        }
    }
    seccomp::install(compiled(Choices { asking: false, ..choices })?, 0)?;
    Ok(Err(Failure::new("be told of executions by the filter", refused)))
}

/// Makes the filter that most jails have, so that it is there when it is put up.
pub fn prepare() -> io::Result<()> {
    let uncounted = is_uncounted();
    compiled(Choices { debugging: false, asking: true, sockets: Sockets::Own, uncounted })
        .map(|_| ())
}

fn is_uncounted() -> bool {
    !COUNTED.load(Ordering::Relaxed)
}

fn compiled(choices: Choices) -> io::Result<&'static [libc::sock_filter]> {
    static MADE: [OnceLock<Option<Vec<libc::sock_filter>>>; 16] = [const { OnceLock::new() }; 16];
    let place = usize::from(choices.debugging)
        + 2 * usize::from(choices.asking)
        + 4 * usize::from(choices.sockets == Sockets::None)
        + 8 * usize::from(choices.uncounted);
    MADE.get(place)
        .and_then(|made| made.get_or_init(|| rules::compile(choices)).as_deref())
        .ok_or_else(|| io::Error::from_raw_os_error(libc::E2BIG))
}
