//! Runs the binary and kills it right before one of the system calls with which it would change something.
//!
//! It is watched with ptrace(2), all its threads and none of its children, and ends by SIGKILL: what is left on the disk is
//! what a killed process leaves. What a call is about is read from `/proc`.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

#[derive(Debug, PartialEq, Eq)]
pub enum Run {
    /// It has ended by itself, after so many calls that change something.
    Ended { status: i32, calls: usize },
    /// It was killed before the call of this name.
    Killed { call: &'static str },
}

/// Waits for a line, then becomes what it is told: time enough to be watched from the beginning.
const START: &str = "read -r line && exec \"$@\"";

/// Runs a command that changes things below a root, and kills it before its `nth` call of that kind.
pub fn run(command: &[&str], root: &Path, nth: usize) -> Run {
    #[expect(clippy::zombie_processes, reason = "whoever watches it waits for it")]
    let mut child = Command::new("bash")
        .args(["-c", START, "bash"])
        .args(command)
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("bash runs");
    let main = Pid::from_raw(child.id() as i32);
    let options = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_EXITKILL;
    ptrace::seize(main, options).expect("it can be watched");
    ptrace::interrupt(main).expect("it stops");
    child.stdin.take().expect("a pipe").write_all(b"\n").expect("it is told to go on");
    Watched { main, root, nth, calls: 0, started: false, inside: Vec::new(), killed: None }.follow()
}

struct Watched<'a> {
    main: Pid,
    root: &'a Path,
    nth: usize,
    calls: usize,
    /// It is bash no more.
    started: bool,
    /// Threads that are in a call.
    inside: Vec<Pid>,
    killed: Option<&'static str>,
}

impl Watched<'_> {
    fn follow(mut self) -> Run {
        loop {
            // Only what this thread watches: others may have children of their own.
            let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
            let status = waitpid(Pid::from_raw(-1), Some(flags)).expect("it is there");
            let (who, signal) = match status {
                WaitStatus::Exited(who, _) | WaitStatus::Signaled(who, ..) if who != self.main => {
                    continue;
                }
                WaitStatus::Exited(_, status) => {
                    return self.end(status);
                }
                WaitStatus::Signaled(_, signal, _) => return self.end(128 + signal as i32),
                WaitStatus::PtraceSyscall(who) => {
                    self.call(who);
                    (who, None)
                }
                WaitStatus::PtraceEvent(who, _, event) => {
                    self.started |= event == libc::PTRACE_EVENT_EXEC;
                    (who, None)
                }
                WaitStatus::Stopped(who, signal) => (who, Some(signal)),
                _ => continue,
            };
            // One that was killed just now cannot go on.
            let _it_may_be_gone = ptrace::syscall(who, signal);
        }
    }

    fn end(self, status: i32) -> Run {
        match self.killed {
            Some(call) => Run::Killed { call },
            None => Run::Ended { status, calls: self.calls },
        }
    }

    /// At the beginning of a call or at its end.
    fn call(&mut self, who: Pid) {
        if let Some(at) = self.inside.iter().position(|thread| *thread == who) {
            self.inside.swap_remove(at);
            return;
        }
        self.inside.push(who);
        if !self.started || self.killed.is_some() {
            return;
        }
        let Some(call) = changing_call(who, self.root) else { return };
        if self.calls == self.nth {
            self.killed = Some(call);
            kill(self.main, Signal::SIGKILL).expect("it can be killed");
        }
        self.calls += 1;
    }
}

/// The name of the call in which a thread is about to be, if that changes something below the root.
fn changing_call(who: Pid, root: &Path) -> Option<&'static str> {
    let text = fs::read_to_string(format!("/proc/{who}/syscall")).ok()?;
    let mut words = text.split_whitespace();
    let number: i64 = words.next()?.parse().ok()?;
    let arguments: Vec<u64> =
        words.filter_map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()).collect();
    let argument = |at: usize| arguments.get(at).copied().unwrap_or(0);
    let name = name_of(number)?;
    let changes = match name {
        "write" | "pwrite" | "writev" | "truncate" => is_below(who, argument(0), root),
        "copy" => is_below(who, argument(2), root),
        "open" => makes_something(argument(2)),
        "open2" => makes_something(read_word(who, argument(2))?),
        _ => true,
    };
    changes.then_some(name)
}

fn name_of(number: i64) -> Option<&'static str> {
    Some(match number {
        libc::SYS_write => "write",
        libc::SYS_pwrite64 => "pwrite",
        libc::SYS_writev | libc::SYS_pwritev | libc::SYS_pwritev2 => "writev",
        libc::SYS_ftruncate => "truncate",
        libc::SYS_copy_file_range => "copy",
        libc::SYS_openat => "open",
        libc::SYS_openat2 => "open2",
        libc::SYS_renameat | libc::SYS_renameat2 => "rename",
        libc::SYS_linkat => "link",
        libc::SYS_symlinkat => "symlink",
        libc::SYS_unlinkat => "unlink",
        libc::SYS_mkdirat => "mkdir",
        libc::SYS_mknodat => "mknod",
        libc::SYS_fchmod | libc::SYS_fchmodat => "chmod",
        libc::SYS_fchown | libc::SYS_fchownat => "chown",
        libc::SYS_utimensat => "utimens",
        libc::SYS_setxattr | libc::SYS_lsetxattr | libc::SYS_fsetxattr => "setxattr",
        libc::SYS_removexattr | libc::SYS_lremovexattr | libc::SYS_fremovexattr => "removexattr",
        libc::SYS_fallocate => "fallocate",
        _ => return None,
    })
}

fn makes_something(flags: u64) -> bool {
    flags & (libc::O_CREAT | libc::O_TRUNC) as u64 != 0
}

/// Pipes and terminals are nobody's tree.
fn is_below(who: Pid, descriptor: u64, root: &Path) -> bool {
    let place = fs::read_link(format!("/proc/{who}/fd/{descriptor}"));
    place.is_ok_and(|place| place.starts_with(root))
}

fn read_word(who: Pid, address: u64) -> Option<u64> {
    let mut word = [0; 8];
    File::open(format!("/proc/{who}/mem")).ok()?.read_exact_at(&mut word, address).ok()?;
    Some(u64::from_ne_bytes(word))
}
