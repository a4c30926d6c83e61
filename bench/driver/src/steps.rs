//! Which code of an executable a command runs: `exacta-bench steps COMMAND…`.
//!
//! Every instruction of the command, of its threads and of what it forks is stepped over, and each address in the executable is
//! printed once, in the order of first execution, counted from where the executable is loaded. What the command prints is thrown
//! away. Takes some thousand times as long as the command itself: for finding what lies at the start, not for measuring.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// The verb of the process that becomes the command.
pub const BECOME: &str = "become";

/// The part of the address space that the executable has in one process.
#[derive(Clone, Copy)]
struct Loaded {
    base: u64,
    end: u64,
}

/// What is known of all processes and threads that are followed.
struct Trace {
    /// Device and number of the executable.
    executable: (u64, u64),
    /// Those that run it.
    loaded: HashMap<Pid, Loaded>,
    seen: HashSet<u64>,
    order: Vec<u64>,
}

/// Prints what the command has run, in hexadecimal digits, a line for each address.
pub fn print(command: &[String]) -> Result<(), Box<dyn Error>> {
    let child = Command::new(std::env::current_exe()?)
        .arg(BECOME)
        .args(command)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()?;
    let first = Pid::from_raw(child.id().cast_signed());
    // It stops after it has become the command, before the first instruction of that.
    match waitpid(first, None)? {
        WaitStatus::Stopped(_, Signal::SIGTRAP) => {}
        other => return Err(format!("the command did not start: {other:?}").into()),
    }
    let options = Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_EXITKILL;
    ptrace::setoptions(first, options)?;
    let mut trace = Trace {
        executable: executable(first)?,
        loaded: HashMap::new(),
        seen: HashSet::new(),
        order: Vec::new(),
    };
    trace.go_on(first, None)?;
    trace.follow(first)?;
    let mut output = io::stdout().lock();
    for address in trace.order {
        writeln!(output, "{address:x}")?;
    }
    Ok(())
}

/// Becomes the command, followed by the parent. A process of its own does this, because between fork and exec of
/// [`Command`] there is no safe place for it.
pub fn become_traced(command: &[String]) -> Result<(), Box<dyn Error>> {
    let (program, arguments) = command.split_first().ok_or("no command")?;
    ptrace::traceme()?;
    Err(Command::new(program).args(arguments).exec().into())
}

impl Trace {
    /// Until the last of them has ended.
    fn follow(&mut self, first: Pid) -> Result<(), Box<dyn Error>> {
        loop {
            // Threads are no children to a call that does not ask for all.
            let stopped = match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::__WALL)) {
                Err(Errno::ECHILD) => return Ok(()),
                Err(Errno::EINTR) => continue,
                other => other?,
            };
            match stopped {
                WaitStatus::Stopped(process, Signal::SIGTRAP | Signal::SIGSTOP) => {
                    self.go_on(process, None)?;
                }
                WaitStatus::Stopped(process, signal) => self.go_on(process, Some(signal))?,
                WaitStatus::PtraceEvent(process, _, libc::PTRACE_EVENT_EXEC) => {
                    self.loaded.remove(&process);
                    self.go_on(process, None)?;
                }
                WaitStatus::PtraceEvent(process, ..) => self.go_on(process, None)?,
                WaitStatus::Exited(process, status) if process == first && status != 0 => {
                    return Err(format!("the command ended with {status}").into());
                }
                WaitStatus::Signaled(process, signal, _) if process == first => {
                    return Err(format!("the command was ended by {signal}").into());
                }
                WaitStatus::Exited(process, _) | WaitStatus::Signaled(process, ..) => {
                    self.loaded.remove(&process);
                }
                WaitStatus::PtraceSyscall(_)
                | WaitStatus::Continued(_)
                | WaitStatus::StillAlive => {}
            }
        }
    }

    /// One more instruction, or as many as it likes if it has become another program.
    fn go_on(&mut self, process: Pid, signal: Option<Signal>) -> Result<(), Box<dyn Error>> {
        let done = match self.loaded(process) {
            Ok(Some(loaded)) => place(process)
                .map(|place| self.note(loaded, place))
                .and_then(|()| ptrace::step(process, signal)),
            // What was killed while it was stopped has no files in /proc any more.
            Ok(None) | Err(_) => ptrace::detach(process, signal),
        };
        match done {
            Ok(()) | Err(Errno::ESRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn note(&mut self, loaded: Loaded, place: u64) {
        if (loaded.base..loaded.end).contains(&place) && self.seen.insert(place - loaded.base) {
            self.order.push(place - loaded.base);
        }
    }

    /// Where the executable is in a process; nothing if that runs another.
    fn loaded(&mut self, process: Pid) -> io::Result<Option<Loaded>> {
        if let Some(loaded) = self.loaded.get(&process) {
            return Ok(Some(*loaded));
        }
        if executable(process)? != self.executable {
            return Ok(None);
        }
        let loaded = mapped(process)?;
        self.loaded.insert(process, loaded);
        Ok(Some(loaded))
    }
}

/// Names are no help: the same file has another one in a jail.
fn executable(process: Pid) -> io::Result<(u64, u64)> {
    let file = std::fs::metadata(format!("/proc/{process}/exe"))?;
    Ok((file.dev(), file.ino()))
}

/// From the first mapping of the executable to the last.
fn mapped(process: Pid) -> io::Result<Loaded> {
    let name = std::fs::read_link(format!("/proc/{process}/exe"))?;
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps"))?;
    let mut ranges = maps
        .lines()
        .filter(|line| line.ends_with(&format!(" {}", name.display())))
        .filter_map(|line| line.split(' ').next()?.split_once('-'))
        .filter_map(|(start, end)| {
            Some((u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?))
        });
    let (base, first_end) = ranges.next().ok_or(io::ErrorKind::NotFound)?;
    let end = ranges.next_back().map_or(first_end, |(_, end)| end);
    Ok(Loaded { base, end })
}

/// The address of the instruction that comes next.
fn place(process: Pid) -> nix::Result<u64> {
    let registers = ptrace::getregs(process)?;
    #[cfg(target_arch = "x86_64")]
    let place = registers.rip;
    #[cfg(not(target_arch = "x86_64"))]
    let place = registers.pc;
    Ok(place)
}
