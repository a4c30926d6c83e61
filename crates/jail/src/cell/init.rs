//! Process 1 of a jail: starts programs, buries the dead, and ends when nobody is left to give orders.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, mkdir, rmdir};
use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, chdir, getrlimit, kill_process, kill_process_group, setrlimit,
    setsid,
};

use super::bare;
use super::descriptors;
use super::orders::refused_early;
use super::relocation::{self, relocated};
use crate::messages::{Order, Report, Swept};
use crate::outcome::{AtStep, Failure};
use crate::plan::{Limits, Manner, Program, View};
use crate::system::process::{self, Buried, Execution, Patience};
use crate::walls::landlock::{Begun, Grants, Places};
use crate::wire;

/// Programs that were started and have not ended, with where to report. `None`: nobody waits for it any more.
type Programs = HashMap<Pid, Option<OwnedFd>>;

/// Makes the grants anew when the view has changed: they hold on to directories, and not to paths.
pub struct Renewal<'a> {
    view: &'a View,
    /// Of Landlock; `None`: there are no grants that could be made anew.
    version: Option<u32>,
    /// What does not change, once it was wanted.
    places: Option<Places>,
    begun: Option<Begun>,
    /// A program has ended, and another may follow.
    wanted: bool,
}

impl<'a> Renewal<'a> {
    pub fn new(view: &'a View, version: Option<u32>) -> Self {
        Renewal { view, version, places: None, begun: None, wanted: false }
    }

    /// What can be done before a program is asked for.
    fn prepare(&mut self) {
        self.wanted = false;
        if let (None, Some(version)) = (&self.begun, self.version) {
            self.places = self.places.take().or_else(|| Places::open(self.view).ok());
            self.begun = self.places.as_ref().and_then(|places| places.begin(version).ok());
        }
    }

    /// `None`: they cannot be made. The old ones grant nothing of what is new.
    fn grants(&mut self) -> Option<Grants> {
        self.prepare();
        self.begun.take()?.finish(self.view).ok()
    }
}

/// What is around process 1, or around what stands in its place.
pub enum Surroundings {
    /// A process namespace of its own, whose end is everybody's end, and a view.
    Namespace {
        /// Somebody outside is asked before anything is executed.
        asks: bool,
    },
    /// The host's processes and paths, some of which are others than in the plan.
    Host(Vec<(BString, BString)>),
}

/// What programs are started with.
#[derive(Clone, Copy)]
struct Inside<'a> {
    grants: &'a Grants,
    surroundings: &'a Surroundings,
    view: &'a View,
}

impl Inside<'_> {
    /// Whether nothing is executed that somebody outside was not asked about.
    fn asks(&self) -> bool {
        matches!(self.surroundings, Surroundings::Namespace { asks: true })
    }

    /// Where directories are that somebody has opened outside.
    fn places(&self, directories: &[(u32, BString)]) -> Vec<(u32, Option<PathBuf>)> {
        let place = |place: &BString| {
            let inside = descriptors::inside(place.as_ref(), self.view)?;
            match self.surroundings {
                Surroundings::Namespace { .. } => Some(inside),
                Surroundings::Host(moved) => {
                    let inside = inside.as_os_str().as_encoded_bytes();
                    relocation::path(inside.into(), moved).to_path().ok().map(Path::to_owned)
                }
            }
        };
        directories.iter().map(|(number, it)| (*number, place(it))).collect()
    }
}

/// Never returns: the end of the orders is the end of the jail.
pub fn serve(
    orders: &OwnedFd,
    grants: Grants,
    surroundings: &Surroundings,
    renewal: Renewal<'_>,
) -> ! {
    let status = match serve_until_error(orders, grants, surroundings, renewal) {
        Ok(()) => 0,
        Err(_) => 1,
    };
    process::exit(status)
}

fn serve_until_error(
    orders: &OwnedFd,
    mut grants: Grants,
    surroundings: &Surroundings,
    mut renewal: Renewal<'_>,
) -> Result<(), Failure> {
    let children = process::child_signals().at("watch for the end of programs")?;
    let mut programs = Programs::new();
    loop {
        let patience = (renewal.wanted && programs.is_empty()).then_some(&IDLE);
        let happened = match wait_for_work(orders, &children, &programs, patience) {
            Ok(happened) => happened,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(Failure::new("wait for orders", error)),
        };
        let Some(Happened { asked, ended, abandoned }) = happened else {
            renewal.prepare();
            continue;
        };
        for process in abandoned {
            abandon(process, &mut programs);
        }
        if ended {
            let mut signal = [0; 128];
            while rustix::io::read(&children, &mut signal).is_ok() {}
            bury(&mut programs, Patience::Look);
            renewal.wanted = true;
        }
        if asked {
            let Some((order, descriptors)) = wire::receive(orders).at("take an order")? else {
                return Ok(());
            };
            if matches!(order, Order::Start { changed: true, .. })
                && let Some(new) = renewal.grants()
            {
                grants = new;
            }
            let inside = Inside { grants: &grants, surroundings, view: renewal.view };
            obey(orders, order, descriptors, inside, &mut programs)?;
        }
    }
}

/// So long after the last program has ended, the jail is one in which another may follow, and nobody is kept from anything.
const IDLE: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };

/// Why init woke up.
struct Happened {
    asked: bool,
    ended: bool,
    /// Programs whose reports nobody wants.
    abandoned: Vec<Pid>,
}

/// `None`: nothing has happened for as long as there was patience.
fn wait_for_work(
    orders: &OwnedFd,
    children: &OwnedFd,
    programs: &Programs,
    patience: Option<&Timespec>,
) -> Result<Option<Happened>, Errno> {
    let (numbers, reports): (Vec<Pid>, Vec<&OwnedFd>) = programs
        .iter()
        .filter_map(|(process, reports)| reports.as_ref().map(|reports| (*process, reports)))
        .unzip();
    let reading = [orders, children].map(|it| PollFd::new(it, PollFlags::IN));
    // The end of the other side is always told.
    let hanging_up = reports.into_iter().map(|it| PollFd::new(it, PollFlags::empty()));
    let mut watched: Vec<_> = reading.into_iter().chain(hanging_up).collect();
    if poll(&mut watched, patience)? == 0 {
        return Ok(None);
    }
    let mut happened = watched.iter().map(|it| !it.revents().is_empty());
    let (asked, ended) = (happened.next().unwrap_or(false), happened.next().unwrap_or(false));
    let abandoned = numbers.into_iter().zip(happened).filter(|(_, gone)| *gone);
    let abandoned = abandoned.map(|(process, _)| process).collect();
    Ok(Some(Happened { asked, ended, abandoned }))
}

/// Ends a program that nobody waits for, with what it has in its process group. It is buried like any other.
fn abandon(process: Pid, programs: &mut Programs) {
    if let Some(reports) = programs.get_mut(&process) {
        *reports = None;
        let _it_may_be_dead = kill_process(process, Signal::KILL);
        let _it_may_have_none = kill_process_group(process, Signal::KILL);
    }
}

fn obey(
    orders: &OwnedFd,
    order: Order,
    descriptors: Vec<OwnedFd>,
    inside: Inside<'_>,
    programs: &mut Programs,
) -> Result<(), Failure> {
    match order {
        Order::Start { early: true, .. } if !inside.asks() => {
            // Before anybody has seen that the jail is what it was meant to be.
            if let Some(reports) = descriptors.first() {
                let _nobody_may_care = wire::send(reports, &refused_early(), &[]);
            }
            Ok(())
        }
        Order::Start { program, manner, limits, tasks, numbers, directories, .. } => {
            let each = Each::new(&limits, tasks);
            let directories = inside.places(&directories);
            let given = Given { program, manner, limits: each, inside, directories };
            start(given.relocated(), &numbers, descriptors, programs);
            Ok(())
        }
        Order::Signal { process, signal } => {
            let known = i32::try_from(process).ok().and_then(Pid::from_raw);
            let signal = Signal::from_named_raw(i32::from(signal));
            if let (Some(process), Some(signal)) =
                (known.filter(|it| programs.contains_key(it)), signal)
            {
                let _it_may_be_dead = kill_process(process, signal);
            }
            Ok(())
        }
        Order::Sweep => {
            sweep(inside.surroundings, programs);
            wire::send(orders, &Swept, &[]).at("answer an order")
        }
    }
}

/// Ends everything inside but us. What was being made while we killed is there the next time.
fn sweep(surroundings: &Surroundings, programs: &mut Programs) {
    match surroundings {
        Surroundings::Namespace { .. } => {
            while process::kill_everything() {
                bury(programs, Patience::Wait);
            }
        }
        // Of the dead the children become ours.
        Surroundings::Host(_) => {
            while bare::kill_children() {
                bury(programs, Patience::Look);
                std::thread::sleep(bare::PAUSE);
            }
        }
    }
}

/// Buries children that have ended, and reports those that somebody started.
fn bury(programs: &mut Programs, patience: Patience) {
    while let Some(Buried { child, ending, resident_peak }) = process::bury(patience) {
        if let Some(Some(reports)) = programs.remove(&child)
            && let Some(ending) = ending
        {
            let alone = process::is_alone();
            let ended = Report::Ended { ending, resident_peak, alone };
            let _nobody_may_care = wire::send(&reports, &ended, &[]);
        }
    }
}

/// What the kernel holds each process to.
struct Each([(Resource, Option<u64>); 4]);

impl Each {
    fn new(limits: &Limits, tasks: Option<u32>) -> Self {
        // The tree as a whole reaches its limit first; this one is there when nobody looks at the tree.
        let seconds = limits.processor_time.map(|time| time.as_secs().saturating_add(2));
        Each([
            (Resource::Nofile, limits.open_files),
            (Resource::Fsize, limits.file_size),
            (Resource::Cpu, seconds),
            (Resource::Nproc, tasks.map(u64::from)),
        ])
    }

    fn set(&self) -> Result<(), Failure> {
        for (resource, limit) in &self.0 {
            if let Some(limit) = limit {
                // Where the caller itself has less, that stays.
                let most = getrlimit(*resource).maximum.map_or(*limit, |most| most.min(*limit));
                let limit = Rlimit { current: Some(most), maximum: Some(most) };
                setrlimit(*resource, limit).at("limit a program")?;
            }
        }
        Ok(())
    }
}

/// All that makes a process the program.
struct Given<'a> {
    program: Program,
    manner: Manner,
    limits: Each,
    inside: Inside<'a>,
    /// Where each is here, if anywhere.
    directories: Vec<(u32, Option<PathBuf>)>,
}

impl Given<'_> {
    /// With the host's own paths, where there is no view.
    fn relocated(self) -> Self {
        match self.inside.surroundings {
            Surroundings::Namespace { .. } => self,
            Surroundings::Host(moved) => Given { program: relocated(&self.program, moved), ..self },
        }
    }

    fn enter_directory(&self) -> Result<(), Failure> {
        if self.manner.nowhere {
            return self.enter_nowhere().at("enter a directory that is gone");
        }
        chdir(self.program.directory.as_slice()).at("enter the directory")
    }

    /// A directory of its own, which is gone as soon as it is entered.
    #[expect(clippy::disallowed_methods, reason = "runs inside")]
    fn enter_nowhere(&self) -> Result<(), Errno> {
        let place = BString::from(format!("/tmp/.gone-{}", std::process::id()));
        let place = match self.inside.surroundings {
            Surroundings::Namespace { .. } => place,
            Surroundings::Host(moved) => relocation::path(place.as_ref(), moved),
        };
        mkdir(place.as_slice(), Mode::RWXU)?;
        let entered = chdir(place.as_slice());
        rmdir(place.as_slice())?;
        entered
    }
}

fn start(given: Given<'_>, numbers: &[u32], descriptors: Vec<OwnedFd>, programs: &mut Programs) {
    let mut descriptors = descriptors.into_iter();
    let Some(reports) = descriptors.next() else { return };
    let descriptors: Vec<(u32, OwnedFd)> = numbers.iter().copied().zip(descriptors).collect();
    let report = match started(&given, &descriptors) {
        Ok(child) => {
            let process = child.as_raw_nonzero().get().unsigned_abs();
            let _nobody_may_care = wire::send(&reports, &Report::Started { process }, &[]);
            programs.insert(child, Some(reports));
            return;
        }
        Err(failure) => Report::Failed(failure),
    };
    let _nobody_may_care = wire::send(&reports, &report, &[]);
}

/// Returns when the program has been executed, or could not be.
fn started(given: &Given<'_>, descriptors: &[(u32, OwnedFd)]) -> Result<Pid, Failure> {
    let execution = laid_out(&given.program)?;
    // Both are written by the other process, in this one's memory.
    let mut failure = None;
    let mut aside = Vec::with_capacity(descriptors.len());
    let child = process::lend_memory(&mut || {
        let Err(failed) = become_program(given, &execution, descriptors, &mut aside);
        failure = Some(failed);
    });
    let child = child.at("make a process")?;
    failure.map_or(Ok(child), Err)
}

fn laid_out(program: &Program) -> Result<Execution, Failure> {
    let argv = program.argv.iter().map(c_string).collect::<Result<Vec<_>, _>>()?;
    let assignment = |(name, value): &(BString, BString)| {
        c_string(&BString::from([name.as_slice(), b"=", value.as_slice()].concat()))
    };
    let environment = program.environment.iter().map(assignment).collect::<Result<Vec<_>, _>>()?;
    Ok(Execution::new(c_string(&program.path)?, argv, environment))
}

/// Returns only when it failed. Everything was given up already; what is left is this program's own.
fn become_program(
    given: &Given<'_>,
    execution: &Execution,
    given_descriptors: &[(u32, OwnedFd)],
    aside: &mut Vec<(i32, ManuallyDrop<OwnedFd>)>,
) -> Result<Infallible, Failure> {
    setsid().at("make a session")?;
    // What each does is as the spawner has left it, which was first of all to forget what it had of the engine.
    process::unblock_signals();
    process::ignore_signals(given.manner.ignored);
    rustix::process::umask(Mode::from_raw_mode(given.program.file_mode_mask));
    given.enter_directory()?;
    given.limits.set()?;
    // Everything is closed on exec but what is placed: also what we do not know of.
    process::close_from_on_exec(0).at("close descriptors")?;
    // Before its descriptor may have to make room for one of the program's.
    given.inside.grants.bind().at("put up Landlock")?;
    // Directories are opened when the walls are up.
    descriptors::place(given_descriptors, &given.directories, aside).at("place descriptors")?;
    Err(Failure::new("execute", execution.execute()))
}

fn c_string(text: &BString) -> Result<CString, Failure> {
    CString::new(text.as_slice()).map_err(|_| Errno::INVAL).at("pass a word with a NUL")
}
