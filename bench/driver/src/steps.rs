//! Which code and data of an executable a command uses: `exacta-bench steps COMMAND…`.
//!
//! Every instruction of the command, of its threads and of what it forks is stepped over, and each address in the executable that
//! is executed, read or written is printed once for each generation of processes, in the order of first use, counted from where the executable
//! is loaded; before it the generation: 0 is the command itself, 1 what it forks. What the command prints is thrown away. Takes
//! some thousand times as long as the command itself: for finding what lies at the start, not for measuring. What the kernel
//! reads on behalf of the command is not seen, and data only where the processor is one whose instructions are known here.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::operands::Operands;

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
    generations: HashMap<Pid, u32>,
    seen: HashSet<(u32, u64)>,
    order: Vec<(u32, u64)>,
    data: Operands,
}

/// Prints what the command has used, a line for each address.
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
        generations: HashMap::new(),
        seen: HashSet::new(),
        order: Vec::new(),
        data: Operands::default(),
    };
    trace.go_on(first, None)?;
    trace.follow(first)?;
    let mut output = io::stdout().lock();
    for (generation, address) in trace.order {
        writeln!(output, "{generation} {address:x}")?;
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
                WaitStatus::PtraceEvent(process, ..) => {
                    self.know_child(process)?;
                    self.go_on(process, None)?;
                }
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
            Ok(Some(loaded)) => ptrace::getregs(process)
                .and_then(|registers| self.note(process, loaded, &registers))
                .and_then(|()| ptrace::step(process, signal)),
            // What was killed while it was stopped has no files in /proc any more.
            Ok(None) | Err(_) => ptrace::detach(process, signal),
        };
        match done {
            Ok(()) | Err(Errno::ESRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The one that was just made by this process. A thread is of its process's generation.
    fn know_child(&mut self, process: Pid) -> Result<(), Box<dyn Error>> {
        let child = ptrace::getevent(process)?;
        let is_thread = Path::new(&format!("/proc/{process}/task/{child}")).exists();
        let generation = self.generation(process) + u32::from(!is_thread);
        self.generations.insert(Pid::from_raw(i32::try_from(child)?), generation);
        Ok(())
    }

    fn generation(&self, process: Pid) -> u32 {
        self.generations.get(&process).copied().unwrap_or(0)
    }

    fn note(&mut self, process: Pid, loaded: Loaded, registers: &Registers) -> nix::Result<()> {
        let (range, place) = (loaded.base..loaded.end, place(registers));
        if !range.contains(&place) {
            return Ok(());
        }
        let generation = self.generation(process);
        let data = self.data.addresses(process, place, registers)?;
        for address in [place].into_iter().chain(data).filter(|it| range.contains(it)) {
            if self.seen.insert((generation, address - loaded.base)) {
                self.order.push((generation, address - loaded.base));
            }
        }
        Ok(())
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

type Registers = libc::user_regs_struct;

/// The address of the instruction that comes next.
fn place(registers: &Registers) -> u64 {
    #[cfg(target_arch = "x86_64")]
    let place = registers.rip;
    #[cfg(not(target_arch = "x86_64"))]
    let place = registers.pc;
    place
}
