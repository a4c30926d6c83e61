//! A jail in which programs can be run, one after the other or side by side, until it is dropped.

pub mod entry;
pub mod init;
pub mod outside;
pub mod view;
pub mod watch;
mod workshop;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{Signal, pidfd_send_signal};

use self::watch::{Record, Watch};
use crate::messages::{Order, Report, Swept};
use crate::outcome::{AtStep, Ending, Failure, Walls};
use crate::plan::{Limits, Program};
use crate::wire;

/// The engine's end of a jail.
pub struct Cell {
    orders: OwnedFd,
    /// Of the first process: when that ends, everything in the jail ends.
    init: OwnedFd,
    /// `None`: nobody can be asked, see [`Walls::counted`].
    watch: Option<Watch>,
    proxy: Option<OwnedFd>,
    walls: Walls,
    limits: Limits,
}

impl Cell {
    pub(crate) fn new(
        orders: OwnedFd,
        init: OwnedFd,
        notifier: Option<OwnedFd>,
        proxy: Option<OwnedFd>,
        walls: Walls,
        limits: Limits,
    ) -> Result<Self, Failure> {
        let watch = match notifier {
            Some(listener) => Some(Watch::start(listener, init.as_fd(), &limits)?),
            None => None,
        };
        Ok(Cell { orders, init, watch, proxy, walls, limits })
    }

    /// What was seen inside since the last time: programs executed, limits hit, processes at one time.
    pub fn take_record(&self) -> Record {
        self.watch.as_ref().map(Watch::take).unwrap_or_default()
    }

    pub fn walls(&self) -> &Walls {
        &self.walls
    }

    /// Where programs inside connect to when they use the proxy.
    pub fn proxy(&self) -> Option<BorrowedFd<'_>> {
        self.proxy.as_ref().map(AsFd::as_fd)
    }

    /// Starts a program with these descriptors under these numbers, and no others.
    pub fn start(
        &mut self,
        program: &Program,
        descriptors: &[(u32, BorrowedFd<'_>)],
    ) -> Result<Running, Failure> {
        let (ours, theirs) = wire::pair().at("make a socket for reports")?;
        let (numbers, given): (Vec<u32>, Vec<BorrowedFd<'_>>) = descriptors.iter().copied().unzip();
        let order = Order::Start { program: program.clone(), limits: self.limits.clone(), numbers };
        let all: Vec<_> = [theirs.as_fd()].into_iter().chain(given).collect();
        wire::send(&self.orders, &order, &all).at("order a program")?;
        drop(theirs);
        match next(&ours)? {
            Report::Started { process } => {
                if let Some(watch) = &self.watch {
                    watch.started(process, program);
                }
                Ok(Running { reports: ours, process })
            }
            Report::Failed(failure) => Err(failure),
            Report::Ended(_) => Err(Failure::new("start a program", rustix::io::Errno::PROTO)),
        }
    }

    /// Sends a signal to a program that runs.
    pub fn signal(&mut self, running: &Running, signal: u8) -> Result<(), Failure> {
        let order = Order::Signal { process: running.process, signal };
        wire::send(&self.orders, &order, &[]).at("send a signal")
    }

    /// Ends everything that runs inside, and waits until it has ended.
    pub fn sweep(&mut self) -> Result<(), Failure> {
        wire::send(&self.orders, &Order::Sweep, &[]).at("end what runs in the jail")?;
        let gone = || io::Error::from_raw_os_error(libc::EPIPE);
        let answer = wire::receive::<Swept>(&self.orders);
        answer.and_then(|it| it.ok_or_else(gone)).at("end what runs in the jail").map(|_| ())
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        let _it_may_be_gone = pidfd_send_signal(&self.init, Signal::KILL);
    }
}

/// A program that runs in a jail.
#[derive(Debug)]
pub struct Running {
    reports: OwnedFd,
    /// Its number inside.
    process: u32,
}

impl Running {
    /// Readable when the program has ended.
    pub fn handle(&self) -> BorrowedFd<'_> {
        self.reports.as_fd()
    }

    /// Waits for the end. A jail that was ended has killed the program.
    pub fn wait(&self) -> Result<Ending, Failure> {
        match wire::receive::<Report>(&self.reports) {
            Ok(Some((Report::Ended(ending), _))) => Ok(ending),
            Ok(Some((Report::Failed(failure), _))) => Err(failure),
            Ok(Some((Report::Started { .. }, _))) => {
                Err(Failure::new("wait for a program", rustix::io::Errno::PROTO))
            }
            Ok(None) | Err(_) => Ok(Ending::Signalled(libc::SIGKILL as u8)),
        }
    }
}

fn next(reports: &OwnedFd) -> Result<Report, Failure> {
    let gone = || io::Error::from_raw_os_error(libc::EPIPE);
    let report = wire::receive::<Report>(reports).and_then(|it| it.ok_or_else(gone));
    Ok(report.at("start a program")?.0)
}
