//! The engine's end of the spawner: a small process of one thread that makes jails.
//!
//! The engine has threads, and a copy of a process with threads may find locks that nobody will ever release; it has
//! secrets, and a copy has them too. So jails are made by a process that has neither. It is this very executable,
//! started afresh with an empty environment; [`serve`] takes over before `main`. Or it is a copy that was made
//! [early](early), when there was nothing in it yet.

pub mod early;
mod leavings;
mod making;
mod serve;

use std::borrow::Cow;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use bstr::BStr;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Pid;

use crate::cell::orders::{First, Terms};
use crate::cell::outside::{Identity, Outside};
use crate::cell::watch::{Overdue, Watch};
use crate::cell::{Cell, Ends};
use crate::ladder::Level;
use crate::limits::{self, Lookout, Watched};
use crate::messages::{Again, Ask, Built};
use crate::outcome::{AtStep, Failure};
use crate::plan::{Person, Plan, Program};
use crate::processors;
use crate::system::process;
use crate::wire;

/// What the process is called, in lists of processes and to itself.
pub const NAME: &str = "exacta-spawner";

/// How a folder that is put away is used again.
pub struct Reuse<'a> {
    /// A directory in it.
    pub emptied: &'a BStr,
    /// Where it is moved to, and its name there, unless there is one already.
    pub directory: BorrowedFd<'a>,
    pub name: &'a BStr,
}

/// Makes jails until it is dropped; all that it has made dies with it.
pub struct Spawner {
    /// `None` only while it is dropped.
    socket: Mutex<Option<OwnedFd>>,
    process: Pid,
    /// It leaves a processor to us, and has the use of it when we wait.
    shares: bool,
    lookout: Arc<Lookout>,
}

impl Spawner {
    pub fn start() -> Result<Self, Failure> {
        start_afresh().map(Self::of)
    }

    /// One that was made early, or a new one. A jail for this person will be asked for.
    pub fn start_expecting(person: &Person) -> Result<Self, Failure> {
        let Person { user_id: user, group_id: group, .. } = *person;
        if let Some(begun) = early::take(Identity { user, group }) {
            return Ok(Self::of(begun));
        }
        let begun = start_afresh()?;
        wire::send(&begun.socket, &Ask::Expect { user, group }, &[]).at("ask the spawner")?;
        Ok(Self::of(begun))
    }

    fn of(Begun { socket, process, shares }: Begun) -> Self {
        Spawner { socket: Mutex::new(Some(socket)), process, shares, lookout: Arc::default() }
    }

    /// The number of its process.
    pub fn process(&self) -> u32 {
        self.process.as_raw_nonzero().get().unsigned_abs()
    }

    /// A jail in which what is not granted does not exist.
    pub fn build(&self, plan: &Plan) -> Result<Cell, Failure> {
        self.build_at_least(plan, Level::Namespaces)
    }

    /// The best jail that can be had here, or none if that is weaker than this.
    pub fn build_at_least(&self, plan: &Plan, least: Level) -> Result<Cell, Failure> {
        self.build_for(plan, least, None, || {})
    }

    /// The same for a program that is started in it next, and comes as far as it can until then. While the jail is made,
    /// something else can be done.
    pub fn build_for(
        &self,
        plan: &Plan,
        least: Level,
        first: Option<First<'_>>,
        meanwhile: impl FnOnce(),
    ) -> Result<Cell, Failure> {
        let (ours, theirs) = wire::pair().at("make a socket for the jail")?;
        let (changes, their_changes) = wire::pair().at("make a socket for the jail")?;
        let (lease, their_lease) = wire::pair().at("make a lease for the jail")?;
        let gone = || io::Error::from_raw_os_error(libc::EPIPE);
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        let socket = socket.as_ref().ok_or_else(gone).at("ask for a jail")?;
        let message = Ask::Build { plan: Cow::Borrowed(plan), least };
        let given = [&theirs, &their_changes, &their_lease, &ours, &changes].map(AsFd::as_fd);
        // One that is still at work would be stopped by that, and all that comes of it would have this processor alone.
        if self.shares && is_heard_waiting(socket) {
            processors::lend_to(self.process);
        }
        wire::send(socket, &message, &given).at("ask for a jail")?;
        drop((theirs, their_changes, their_lease));
        let ordered = first.and_then(|first| order_early(&first, &ours, plan, least));
        meanwhile();
        let step = "ask the spawner for a jail";
        let answer = || wire::receive::<Built>(socket).and_then(|answer| answer.ok_or_else(gone));
        let (mut built, mut descriptors) = answer().at(step)?;
        // By now it is of no use to know.
        if matches!(built, Built::Waits) {
            (built, descriptors) = answer().at(step)?;
        }
        let ends = Ends { orders: ours, changes, lease, proxy: None };
        Ok(self.taken_over(plan, ends, built, descriptors)?.with_ordered(ordered))
    }

    /// A jail that stands, or why none does. Somebody watches it before anything can run in it.
    fn taken_over(
        &self,
        plan: &Plan,
        mut ends: Ends,
        built: Built,
        descriptors: Vec<OwnedFd>,
    ) -> Result<Cell, Failure> {
        let (walls, notifier, proxy, laid, number, places, parts) = match built {
            Built::Ready { walls, notifier, proxy, laid, init, places, parts } => {
                (walls, notifier, proxy, laid, init, places, parts)
            }
            Built::Failed(failure) => return Err(failure),
            Built::Waits => return Err(Failure::new("take over the jail", Errno::PROTO)),
        };
        let mut descriptors = descriptors.into_iter();
        let mut next = || descriptors.next().ok_or(Errno::PIPE).at("take over the jail");
        let handle = next()?;
        let notifier = notifier.then(&mut next).transpose()?;
        ends.proxy = proxy.then(&mut next).transpose()?;
        let layer = laid.then(&mut next).transpose()?;
        let first = plan
            .view
            .layers
            .as_ref()
            .and_then(|layers| Some((layers.target.clone(), layers.first.clone()?)));
        let found = number.map_or_else(|| limits::process_of(handle.as_fd()), Ok);
        let init = found.at("find the jail's first process")?;
        let limits = limits::kept_from_outside(&plan.limits, &walls);
        let watched = Watched::new((init, handle), places, plan.limits.clone(), walls.namespaces);
        let watched = Arc::new(watched.at("measure the jail")?);
        let overdue = Overdue::new(&self.lookout, &watched);
        let watch = notifier.map(|listener| Watch::over_empty(listener, init, limits, overdue));
        let watch = watch.transpose()?;
        self.lookout.add(&watched);
        let lookout = Arc::clone(&self.lookout);
        let cell = Cell::new(ends, watched, lookout, watch, walls, plan.limits.clone());
        Ok(cell.with_parts(parts).with_first(first.zip(layer)))
    }

    /// Has a folder removed with all that is in it, beside whatever comes next; when this is dropped, it is gone, or ready to be used
    /// again. The folder may be locked: it stays so until then. What cannot be removed is left as it is.
    pub fn put_away(
        &self,
        parent: BorrowedFd<'_>,
        name: &BStr,
        folder: BorrowedFd<'_>,
        reuse: Option<Reuse<'_>>,
    ) -> Result<(), Failure> {
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        let socket = socket.as_ref().ok_or(Errno::PIPE).at("ask the spawner")?;
        let again = |reuse: &Reuse<'_>| Again {
            emptied: reuse.emptied.to_owned(),
            name: reuse.name.to_owned(),
        };
        let message = Ask::PutAway { name: name.to_owned(), again: reuse.as_ref().map(again) };
        let given = [parent, folder].into_iter().chain(reuse.map(|reuse| reuse.directory));
        wire::send(socket, &message, &given.collect::<Vec<_>>()).at("ask the spawner")
    }
}

/// Whether the spawner has said since then that it waits. Nothing else is said before it is asked.
fn is_heard_waiting(socket: &OwnedFd) -> bool {
    let mut watched = [PollFd::new(socket, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(poll(&mut watched, Some(&now)), Ok(1))
        && matches!(wire::receive(socket), Ok(Some((Built::Waits, _))))
}

/// Has init begin with a program as soon as it can. What is reported of it; `None`: it has to be ordered when the jail stands.
fn order_early(
    first: &First<'_>,
    orders: &OwnedFd,
    plan: &Plan,
    least: Level,
) -> Option<(Program, OwnedFd)> {
    // Whether more than namespaces can be had is not known inside.
    if least > Level::Namespaces || !first.is_short() {
        return None;
    }
    // It is taken only where both namespaces and somebody who watches can be had.
    let terms = Terms { limits: plan.limits.clone(), tasks: None, changed: false, early: true };
    let reports = first.send(orders, Some(Outside::choose()), terms).ok()?;
    Some((first.program.clone(), reports))
}

/// A spawner that runs, and our end of its socket.
struct Begun {
    socket: OwnedFd,
    process: Pid,
    shares: bool,
}

#[expect(clippy::disallowed_methods, reason = "the one process outside that makes jails")]
fn start_afresh() -> Result<Begun, Failure> {
    let (socket, theirs) = wire::pair().at("make a socket for the spawner")?;
    // Standard input is its socket: the one descriptor that survives.
    let process = Command::new("/proc/self/exe")
        .arg0(NAME)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .at("start the spawner")?;
    let number = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
    let process = number.ok_or(Errno::CHILD).at("start the spawner")?;
    Ok(Begun { socket, process, shares: false })
}

impl Drop for Spawner {
    fn drop(&mut self) {
        // It ends when its socket closes, and cleans up behind its jails before that.
        if let Some(socket) = self.socket.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            let _it_ends_then_too = wire::send(&socket, &Ask::End, &[]);
        }
        process::wait_for(self.process);
    }
}
