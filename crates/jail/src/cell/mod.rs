//! A jail in which programs can be run, one after the other or side by side, until it is dropped.

pub mod bare;
mod changes;
mod descriptors;
pub mod entry;
mod folders;
pub mod init;
mod inside;
mod layers;
mod masks;
pub mod orders;
pub mod outside;
mod relocation;
pub mod talk;
mod trees;
pub mod view;
pub mod watch;
mod workshop;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bstr::BString;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};

use self::changes::{Awaited, Since, Unclaimed};
use self::orders::{First, Terms, was_early};
use self::outside::Outside;
use self::watch::desk::{Attendance, SHORT};
use self::watch::{Record, Watch};
use crate::limits::{self, Lookout, Usage, Watched};
use crate::messages::{Order, Report, Swept};
use crate::outcome::{AtStep, Ending, Failure, Finished, Walls};
use crate::plan::{Limits, Manner, Program};
use crate::timeline::Part;
use crate::wire;

/// The engine's end of a jail.
pub struct Cell {
    ends: Ends,
    /// The first process, and what it and all others have used: when that ends, everything in the jail ends.
    watched: Arc<Watched>,
    lookout: Arc<Lookout>,
    /// `None`: nobody can be asked, see [`Walls::counted`].
    watch: Option<Watch>,
    walls: Walls,
    limits: Limits,
    parts: Vec<Part>,
    /// Since the last program was started.
    view_changed: bool,
    /// What was asked for and not answered, the oldest first.
    awaited: VecDeque<Awaited>,
    /// A layer that lies there, until somebody asks for it.
    unclaimed: Option<Unclaimed>,
    /// Who it is outside.
    outside: Outside,
    /// The program that was ordered before the jail stood, until it is started, and where it is reported of.
    ordered: Option<(Program, OwnedFd)>,
}

/// Our ends of what goes into a jail.
pub(crate) struct Ends {
    pub orders: OwnedFd,
    pub changes: OwnedFd,
    /// Held for as long as the jail's figures are wanted.
    pub lease: OwnedFd,
    pub proxy: Option<OwnedFd>,
}

/// How long it may take to become a program: all that it does is to be found and mapped.
const START: Duration = Duration::from_secs(30);
/// How long the end of a jail may take before it is called an error.
const PATIENCE: Duration = Duration::from_secs(10);

impl Cell {
    pub(crate) fn new(
        ends: Ends,
        watched: Arc<Watched>,
        lookout: Arc<Lookout>,
        watch: Option<Watch>,
        walls: Walls,
        limits: Limits,
    ) -> Self {
        Cell {
            ends,
            watched,
            lookout,
            watch,
            walls,
            limits,
            parts: Vec::new(),
            view_changed: false,
            awaited: VecDeque::new(),
            unclaimed: None,
            outside: Outside::choose(),
            ordered: None,
        }
    }

    pub(crate) fn with_parts(mut self, parts: Vec<Part>) -> Self {
        self.parts = parts;
        self
    }

    /// With the layer that was laid from the beginning: its tree, its folder and its mount.
    pub(crate) fn with_first(mut self, first: Option<((PathBuf, BString), OwnedFd)>) -> Self {
        self.unclaimed = first.map(|((target, folder), mount)| Unclaimed {
            target,
            folder,
            mount: Some(mount),
            since: Since::TheBeginning,
        });
        self
    }

    /// With a program that waits to be started, and what is reported of it.
    pub(crate) fn with_ordered(mut self, ordered: Option<(Program, OwnedFd)>) -> Self {
        self.ordered = ordered;
        self
    }

    /// How long each part of the way into it has taken.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// What was seen inside since the last time: programs executed, limits hit, processes at one time.
    pub fn take_record(&self) -> Record {
        self.watch.as_ref().map(Watch::take).unwrap_or_default()
    }

    pub fn walls(&self) -> &Walls {
        &self.walls
    }

    /// Where programs inside connect to when they use the proxy: a socket of theirs, to be listened on from here.
    pub fn proxy(&self) -> Option<BorrowedFd<'_>> {
        self.ends.proxy.as_ref().map(AsFd::as_fd)
    }

    /// Starts a program with these descriptors under these numbers, and no others. Directories it is given as the view has them.
    pub fn start(
        &mut self,
        program: &Program,
        descriptors: &[(u32, BorrowedFd<'_>)],
    ) -> Result<Running, Failure> {
        self.start_in_manner(program, descriptors, Manner::default())
    }

    /// The same for a program that is not to find everything as usual. A jail that was [made for one](First) and is asked for
    /// another ends.
    pub fn start_in_manner(
        &mut self,
        program: &Program,
        descriptors: &[(u32, BorrowedFd<'_>)],
        manner: Manner,
    ) -> Result<Running, Failure> {
        let running = self.start_for_now(program, descriptors, manner)?;
        running.attend()?;
        Ok(running)
    }

    /// The same for who waits for the program at once, and by that looks after it for as long as it is short
    /// ([`Running::handle_for_now`]): nobody else does.
    pub fn start_for_now(
        &mut self,
        program: &Program,
        descriptors: &[(u32, BorrowedFd<'_>)],
        manner: Manner,
    ) -> Result<Running, Failure> {
        self.settle_view()?;
        let given = First { program, descriptors, manner };
        let turn = self.watched.begin();
        let early = self.ordered.take();
        if early.as_ref().is_some_and(|(ordered, _)| ordered != program) {
            self.watched.end();
        }
        if self.watched.is_over() {
            return Err(Failure::new("order a program", Errno::PIPE));
        }
        let is_early = early.is_some();
        let mut reports = early.map_or_else(|| self.order(&given), |(_, reports)| Ok(reports))?;
        let mut report = self.attended(&reports, Some(program).filter(|_| is_early))?;
        if is_early && was_early(&report) {
            reports = self.order(&given)?;
            report = self.attended(&reports, None)?;
        }
        match report {
            Report::Started { process } => {
                if let Some(watch) = &self.watch {
                    watch.started(process, program);
                }
                let desk = self.watch.as_ref().map(|watch| Arc::clone(watch.desk()));
                let attendance = Attendance::new(desk);
                let watched = Arc::clone(&self.watched);
                Ok(Running { reports, process, watched, turn, attendance, alone: OnceLock::new() })
            }
            Report::Failed(failure) => Err(failure),
            Report::Ended { .. } => Err(Failure::new("start a program", Errno::PROTO)),
        }
    }

    /// Has init begin with it. What is reported of it is to be read there.
    fn order(&mut self, program: &First<'_>) -> Result<OwnedFd, Failure> {
        let limits = self.limits.clone();
        // Where somebody watches, that is kept from outside.
        let tasks = match &self.watch {
            Some(_) => None,
            None => limits::tasks_by_user(&limits, &self.walls),
        };
        let changed = std::mem::take(&mut self.view_changed);
        // Without namespaces a program is who made the pipes.
        let outside = Some(self.outside).filter(|_| self.walls.namespaces);
        let terms = Terms { limits, tasks, changed, early: false };
        program.send(&self.ends.orders, outside, terms)
    }

    /// From now on somebody looks at what the jail uses, and answers what it asks. What is reported first.
    fn attended(&mut self, reports: &OwnedFd, first: Option<&Program>) -> Result<Report, Failure> {
        let attended = match &self.watch {
            Some(watch) => watch.attend(reports, START, first),
            None => self.lookout.attend(&self.watched).at("watch limits"),
        };
        // What nobody looks at does not go on.
        if let Err(failure) = attended {
            self.watched.end();
            return Err(failure);
        }
        self.watched.prepare();
        // Between being copied and being the program it can be stopped, by another that runs inside.
        if let Err(error) = await_within(reports, START) {
            self.watched.end();
            return Err(Failure::new("start a program", error));
        }
        next(reports)
    }

    /// Sends a signal to a program that runs.
    pub fn signal(&mut self, running: &Running, signal: u8) -> Result<(), Failure> {
        let order = Order::Signal { process: running.process, signal };
        wire::send(&self.ends.orders, &order, &[]).at("send a signal")
    }

    /// Ends everything that runs inside, and waits until it has ended.
    pub fn sweep(&mut self) -> Result<(), Failure> {
        // The last program that was started has ended, and left nothing.
        if self.watched.is_empty() {
            self.watched.rest();
            return Ok(());
        }
        let step = "end what runs in the jail";
        wire::send(&self.ends.orders, &Order::Sweep, &[]).at(step)?;
        // What the kernel cannot end, because it waits for a device, ends nobody's patience but ours.
        await_input(&self.ends.orders).at(step)?;
        let gone = || io::Error::from_raw_os_error(libc::EPIPE);
        let answer = wire::receive::<Swept>(&self.ends.orders);
        answer.and_then(|it| it.ok_or_else(gone)).at(step)?;
        self.watched.rest();
        Ok(())
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Puts other limits in force, and begins to count anew. To be called between requests, when nothing runs: what each
    /// process has for itself is given to it when it starts.
    pub fn set_limits(&mut self, limits: &Limits) -> Result<(), Failure> {
        self.watched.set_limits(limits).at("change the limits of the jail")?;
        if let Some(watch) = &self.watch {
            let (processes, tasks) = limits::kept_from_outside(limits, &self.walls);
            watch.set_limits(processes, tasks)?;
        }
        self.limits = limits.clone();
        Ok(())
    }

    /// What everything inside has used since limits were last set. Passing a limit of time or memory ends the jail.
    pub fn usage(&self) -> Usage {
        self.watched.look()
    }

    /// The whole of what came of a program that ended like this.
    pub fn finished(&self, ending: Ending) -> Finished {
        let (usage, record) = (self.usage(), self.take_record());
        Finished {
            ending,
            processor_time: usage.processor_time,
            memory_peak: usage.memory_peak,
            // There was the program itself, whether or not whoever counts has come to it.
            processes_peak: record.processes_peak.max(1),
            limits_hit: [usage.limits_hit, record.limits_hit].concat(),
            execs: record.execs,
            walls: self.walls.clone(),
            limits: self.limits.clone(),
        }
    }

    /// `false`: it has ended, by itself or because a limit was passed. Nothing can be run in it any more.
    pub fn is_alive(&self) -> bool {
        self.watched.is_alive()
    }

    /// Ends everything inside at once. What was used can still be asked for.
    pub fn kill(&self) {
        self.watched.end();
    }

    /// Ends it, and waits until nothing of it is left: no process, no mount, no control group.
    pub fn end(self) -> Result<(), Failure> {
        let step = "wait for the end of the jail";
        self.watched.end();
        shutdown(&self.ends.lease, Shutdown::Write).at(step)?;
        await_input(&self.ends.lease).at(step)
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        self.watched.end();
    }
}

/// A program that runs in a jail. Dropped before its end, it is ended, with what is left of its process group.
pub struct Running {
    reports: OwnedFd,
    /// Its number inside.
    process: u32,
    watched: Arc<Watched>,
    /// How many programs were started up to this one.
    turn: u64,
    attendance: Attendance,
    /// It has ended and left nobody.
    alone: OnceLock<()>,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Running").field("process", &self.process).finish_non_exhaustive()
    }
}

impl Running {
    /// Readable when the program has ended. Who waits for it by this has nobody to look after: from now on a thread does that.
    pub fn handle(&self) -> BorrowedFd<'_> {
        // Without a thread the jail has ended, and so has the program.
        let _it_is_readable_then = self.attend();
        self.reports.as_fd()
    }

    /// The same for who looks after the program for as long as it is short: with where something inside may [ask](Self::attend),
    /// unless somebody knows of that already.
    pub fn handle_for_now(&self) -> (BorrowedFd<'_>, Option<Arc<OwnedFd>>) {
        (self.reports.as_fd(), self.attendance.questions())
    }

    /// Something was asked, or this program is none that is over soon: from now on nobody has to look who asks what.
    pub fn attend(&self) -> Result<(), Failure> {
        self.attendance.leave().inspect_err(|_| self.watched.end())
    }

    /// Waits for the end. A jail that was ended has killed the program.
    pub fn wait(&self) -> Result<Ending, Failure> {
        if let (_, Some(questions)) = self.handle_for_now() {
            let mut watched = [&self.reports, &*questions].map(|it| PollFd::new(it, PollFlags::IN));
            let patience = Timespec::try_from(SHORT).unwrap_or_default();
            let _whatever_it_was = poll(&mut watched, Some(&patience));
            let [reported, _] = watched.map(|it| it.revents());
            if reported.is_empty() {
                self.attend()?;
            }
        }
        match wire::receive::<Report>(&self.reports) {
            Ok(Some((Report::Ended { ending, resident_peak, alone }, _))) => {
                self.watched.note_resident(resident_peak);
                if alone {
                    self.watched.note_empty(self.turn);
                    let _it_ends_once = self.alone.set(());
                } else {
                    self.attend()?;
                }
                Ok(ending)
            }
            Ok(Some((Report::Failed(failure), _))) => Err(failure),
            Ok(Some((Report::Started { .. }, _))) => {
                Err(Failure::new("wait for a program", Errno::PROTO))
            }
            Ok(None) | Err(_) => Ok(Ending::Signalled(libc::SIGKILL as u8)),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.alone.get().is_none() && self.watched.is_alive() {
            // What may be left of it goes on asking. Without a thread the jail ends.
            let _it_has_ended = self.attend();
        }
    }
}

/// Waits until there is something to read, or the other end is gone.
fn await_input(socket: &OwnedFd) -> Result<(), Errno> {
    await_within(socket, PATIENCE)
}

fn await_within(socket: &OwnedFd, patience: Duration) -> Result<(), Errno> {
    let mut watched = [PollFd::new(socket, PollFlags::IN)];
    let patience = Timespec { tv_sec: patience.as_secs().cast_signed(), tv_nsec: 0 };
    loop {
        match poll(&mut watched, Some(&patience)) {
            Ok(0) => return Err(Errno::TIMEDOUT),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

fn next(reports: &OwnedFd) -> Result<Report, Failure> {
    let gone = || io::Error::from_raw_os_error(libc::EPIPE);
    let report = wire::receive::<Report>(reports).and_then(|it| it.ok_or_else(gone));
    Ok(report.at("start a program")?.0)
}
