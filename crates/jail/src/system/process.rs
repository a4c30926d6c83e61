//! Making processes and becoming programs.
//!
//! Only ever used by processes with one thread (the spawner, a jail's warden and its init): a copy of a process
//! with several threads could find a lock taken by a thread it does not have.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::outcome::Ending;

/// Which side of a [`fork`] this is.
pub enum Fork {
    Child,
    Parent { child: Pid, handle: OwnedFd },
}

/// Copies this process into new namespaces, and into a control group of the second version where one is given.
///
/// `flags` are `CLONE_NEW*` only. The child starts as a copy, with its own memory.
pub fn fork(flags: libc::c_int, group: Option<BorrowedFd<'_>>) -> io::Result<Fork> {
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    let mut handle: libc::c_int = -1;
    let into = if group.is_some() { CLONE_INTO_CGROUP } else { 0 };
    let group = group.and_then(|group| u64::try_from(group.as_raw_fd()).ok());
    let arguments = libc::clone_args {
        flags: (flags | libc::CLONE_PIDFD) as u64 | into,
        pidfd: (&raw mut handle) as u64,
        child_tid: 0,
        parent_tid: 0,
        exit_signal: libc::SIGCHLD as u64,
        stack: 0,
        stack_size: 0,
        tls: 0,
        set_tid: 0,
        set_tid_size: 0,
        cgroup: group.unwrap_or(0),
    };
    // SAFETY: without CLONE_VM the child gets a copy of all memory, like fork; with no stack given it goes on with
    // a copy of this one. This process has one thread, so no lock is held by anybody else. `arguments` is of the
    // size given and lives through the call; `handle` is where the kernel writes the new descriptor.
    let result = unsafe {
        libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<libc::clone_args>())
    };
    // Filters of containers answer so, for they cannot see its flags; the older call can do all but the group.
    let unknown = result == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::ENOSYS);
    let result = if unknown && into == 0 { fork_as_of_old(flags, &mut handle) } else { result };
    match result {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Fork::Child),
        child => {
            let child = i32::try_from(child).ok().and_then(Pid::from_raw);
            let child = child.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
            // SAFETY: the call succeeded with CLONE_PIDFD, so `handle` is a new descriptor that nobody else owns.
            let handle = unsafe { OwnedFd::from_raw_fd(handle) };
            Ok(Fork::Parent { child, handle })
        }
    }
}

/// The same by the older call. The handle is for the parent only.
fn fork_as_of_old(flags: libc::c_int, handle: &mut libc::c_int) -> libc::c_long {
    let flags = libc::c_long::from(flags | libc::CLONE_PIDFD | libc::SIGCHLD);
    let none = std::ptr::null::<libc::c_void>();
    // SAFETY: as above; with no stack given the child goes on with a copy of this one, and with CLONE_PIDFD the third
    // argument, which is the parent's in all orders that architectures have for the rest, is where the handle goes.
    unsafe { libc::syscall(libc::SYS_clone, flags, none, std::ptr::from_mut(handle), none, none) }
}

/// Ends this process at once: no destructors, no buffers written, nothing of what it copied from its parent.
pub fn exit(status: i32) -> ! {
    // SAFETY: always safe to call; it does not return.
    unsafe { libc::_exit(status) }
}

/// A program to become, with everything laid out: what becomes it may have nothing left to allocate.
pub struct Execution {
    path: CString,
    argv: Strings,
    environment: Strings,
}

/// Strings, and where they are.
struct Strings {
    _strings: Vec<CString>,
    pointers: Vec<*const libc::c_char>,
}

impl Strings {
    fn new(strings: Vec<CString>) -> Self {
        let all = strings.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]);
        Strings { pointers: all.collect(), _strings: strings }
    }
}

impl Execution {
    pub fn new(path: CString, argv: Vec<CString>, environment: Vec<CString>) -> Self {
        let (argv, environment) = (Strings::new(argv), Strings::new(environment));
        Execution { path, argv, environment }
    }

    /// Becomes the program. Returns only when that fails.
    pub fn execute(&self) -> io::Error {
        let (argv, environment) = (self.argv.pointers.as_ptr(), self.environment.pointers.as_ptr());
        // SAFETY: all three are NUL-terminated strings, or arrays of such ended by a null pointer. The strings are kept
        // beside their pointers and are never changed, so both outlive the call; strings do not move with their owner.
        unsafe { libc::execve(self.path.as_ptr(), argv, environment) };
        io::Error::last_os_error()
    }
}

/// Makes a process that does the work in this one's memory, while this one stands still: until the other has executed
/// something, or ended. That spares a copy of the memory, which takes as long as all the rest.
///
/// What the work writes is seen here afterwards. So nothing may be left in it that belongs to the other process: what it
/// allocates and does not free is lost, and what it opens is open only there.
pub fn lend_memory(mut work: &mut dyn FnMut()) -> io::Result<Pid> {
    /// Of 16 bytes each, as the stack must be aligned.
    const STACK: usize = (64 << 10) / 16;
    extern "C" fn begin(work: *mut libc::c_void) -> libc::c_int {
        // SAFETY: `work` points to the parameter of the same name below, which lives as long as that call, and that does
        // not return before this process has left its memory. Nobody else uses it meanwhile.
        let work = unsafe { &mut *work.cast::<&mut dyn FnMut()>() };
        work();
        // SAFETY: ends the process without running anything of its parent's.
        unsafe { libc::_exit(127) }
    }
    let mut stack: Vec<u128> = Vec::with_capacity(STACK);
    let top = stack.spare_capacity_mut().as_mut_ptr_range().end;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: this process has one thread, and with CLONE_VFORK the kernel stops it until the child is done with its
    // memory, so that the two never run in it at the same time. The stack is the child's alone, is large enough for what
    // a start of a program needs, and is freed after that. Descriptors, directory and signals are copies.
    let child = unsafe { libc::clone(begin, top.cast(), flags, (&raw mut work).cast()) };
    drop(stack);
    if child == -1 {
        Err(io::Error::last_os_error())
    } else {
        Pid::from_raw(child).ok_or_else(|| io::Error::from_raw_os_error(libc::ECHILD))
    }
}

/// A process that does nothing but to be in new namespaces, in this one's memory and on a stack of its own. Dropped, it is
/// ended.
pub struct Holder {
    process: Pid,
    _stack: Vec<u128>,
}

impl Holder {
    /// `flags` are `CLONE_NEW*` only.
    pub fn make(flags: libc::c_int) -> io::Result<Self> {
        /// Of 16 bytes each, as the stack must be aligned.
        const STACK: usize = (16 << 10) / 16;
        extern "C" fn hold(parent: *mut libc::c_void) -> libc::c_int {
            // SAFETY: PR_SET_PDEATHSIG takes integers only.
            let bound = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
            // SAFETY: always safe to call. If the parent has ended before, it is another one now.
            let orphaned = unsafe { libc::getppid() } as usize != parent.addr();
            if bound != 0 || orphaned {
                return 1;
            }
            // SAFETY: touches no memory, and closes copies that belong to this process alone. What cannot be closed ends with it.
            unsafe { libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0) };
            loop {
                // SAFETY: always safe to call. It returns only after a signal for which there is a handler, and there
                // are none.
                unsafe { libc::pause() };
            }
        }
        let mut stack: Vec<u128> = Vec::with_capacity(STACK);
        let top = stack.spare_capacity_mut().as_mut_ptr_range().end;
        let parent = std::process::id() as usize;
        let flags = flags | libc::CLONE_VM | libc::SIGCHLD;
        let parent = std::ptr::without_provenance_mut(parent);
        // SAFETY: the child runs in this process's memory, but on a stack that is its own for as long as it lives, which
        // is until `drop`; it calls the kernel and writes nothing else. All else is copied, as without CLONE_FILES.
        let child = unsafe { libc::clone(hold, top.cast(), flags, parent) };
        if child == -1 {
            return Err(io::Error::last_os_error());
        }
        let process = Pid::from_raw(child);
        let process = process.ok_or_else(|| io::Error::from_raw_os_error(libc::ECHILD))?;
        Ok(Holder { process, _stack: stack })
    }

    pub fn process(&self) -> Pid {
        self.process
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // Nobody else buries it, so that the number is its own.
        let _it_is_ours = kill_process(self.process, Signal::KILL);
        wait_for(self.process);
    }
}

/// Makes `descriptor` known as `number`, and keeps it open in the program to come.
pub fn place(descriptor: BorrowedFd<'_>, number: i32) -> io::Result<()> {
    if descriptor.as_raw_fd() == number {
        // SAFETY: F_SETFD takes an integer and touches no memory of ours.
        return check(unsafe { libc::fcntl(number, libc::F_SETFD, 0) });
    }
    // SAFETY: dup2 touches no memory; whatever `number` was is closed. The caller owns nothing there that it uses
    // afterwards: it is about to become another program.
    check(unsafe { libc::dup2(descriptor.as_raw_fd(), number) })
}

/// Closes every descriptor from `first` on, whoever opened it.
///
/// The caller has none left in use there: it is at the start of a new life.
pub fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: touches no memory. Descriptors owned by values of this process would dangle; callers hold none.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) } as libc::c_int)
}

/// Closes every descriptor but these and the standard ones, of which the input becomes what the output is.
///
/// For the child of a [`fork`] that goes on with nothing but these: what else it has copied of its parent, it has copied
/// without being its owner, and it never returns to where that would be dropped.
pub fn keep_only(kept: &[BorrowedFd<'_>]) -> io::Result<()> {
    // SAFETY: dup2 touches no memory; descriptor 0 is owned by nobody.
    check(unsafe { libc::dup2(libc::STDOUT_FILENO, libc::STDIN_FILENO) })?;
    let mut numbers: Vec<u32> =
        kept.iter().filter_map(|it| u32::try_from(it.as_raw_fd()).ok()).collect();
    numbers.sort_unstable();
    let mut first = 3;
    for number in numbers.into_iter().filter(|number| *number >= 3) {
        if first < number {
            // SAFETY: touches no memory, and closes nothing that the caller goes on using, as it has said.
            let closed = unsafe { libc::syscall(libc::SYS_close_range, first, number - 1, 0) };
            check(if closed == -1 { -1 } else { 0 })?;
        }
        first = number.saturating_add(1);
    }
    close_from(first)
}

/// Closes every descriptor from `first` on when the next program starts.
pub fn close_from_on_exec(first: u32) -> io::Result<()> {
    const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
    // SAFETY: touches no memory and closes nothing now.
    let result =
        unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, CLOSE_RANGE_CLOEXEC) };
    check(result as libc::c_int)
}

/// A session keyring of its own, so that the caller's keys are out of reach.
pub fn join_new_keyring() -> io::Result<()> {
    const KEYCTL_JOIN_SESSION_KEYRING: libc::c_int = 1;
    // SAFETY: a null name asks for a new anonymous keyring; no memory is read or written.
    let result = unsafe {
        libc::syscall(
            libc::SYS_keyctl,
            KEYCTL_JOIN_SESSION_KEYRING,
            std::ptr::null::<libc::c_char>(),
        )
    };
    check(if result == -1 { -1 } else { 0 })
}

/// From now on others come first: somebody may be about to start the next program, and wants every processor. Not so much that
/// it would never be done on a busy machine.
pub fn give_way() {
    // SAFETY: the call has numbers only, and is about this process alone.
    let _it_is_done_all_the_same = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 10) };
}

/// Whoever writes to a pipe that nobody reads is told so by an error, and not ended.
pub fn ignore_broken_pipes() {
    // SAFETY: SIG_IGN is a valid disposition for SIGPIPE, which can be ignored.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

/// Every signal as at the start of a program: not blocked, not ignored.
pub fn reset_signals() {
    for signal in 1..=64 {
        // SAFETY: SIG_DFL is a valid disposition; for signals that cannot be changed the call fails and nothing
        // happens.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    unblock_signals();
}

/// None waits any more.
pub fn unblock_signals() {
    let none = signal_set(&[]);
    // SAFETY: the set is initialised and lives through the call; the old mask is not asked for.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut()) };
}

/// Ignores these. Bit n: signal n.
pub fn ignore_signals(bits: u64) {
    for signal in (1..64).filter(|signal| bits & (1 << signal) != 0) {
        // SAFETY: SIG_IGN is a valid disposition; for signals that cannot be ignored the call fails and nothing happens.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

fn signal_set(signals: &[libc::c_int]) -> libc::sigset_t {
    // SAFETY: a set is plain numbers, for which all zeros are valid.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: it writes the set it is given, which lives through the call.
    unsafe { libc::sigemptyset(&raw mut set) };
    for signal in signals {
        // SAFETY: the set is initialised; a number that is no signal is an error and changes nothing.
        unsafe { libc::sigaddset(&raw mut set, *signal) };
    }
    set
}

/// A descriptor that becomes readable when a child has ended; the signal itself no longer interrupts.
pub fn child_signals() -> io::Result<OwnedFd> {
    let children = signal_set(&[libc::SIGCHLD]);
    // SAFETY: the set is initialised and lives through the call; the old mask is not asked for.
    check(unsafe {
        libc::sigprocmask(libc::SIG_BLOCK, &raw const children, std::ptr::null_mut())
    })?;
    let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
    // SAFETY: the set is initialised and lives through the call; -1 asks for a new descriptor.
    let descriptor = unsafe { libc::signalfd(-1, &raw const children, flags) };
    check(descriptor)?;
    // SAFETY: signalfd has just made it, and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Copies this process, as [`fork`] does, but in the same namespaces and by the older call, which a filter can see
/// through. `None`: this is the child.
pub fn copy() -> io::Result<Option<Pid>> {
    // SAFETY: this process has one thread, so that no lock is held by anybody who is not in the copy.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        child => Ok(Pid::from_raw(child)),
    }
}

/// Ends every process of this process namespace but the caller, which must be its first. `false`: there is none.
pub fn kill_everything() -> bool {
    // SAFETY: -1 means every process that can be seen, and from the first process of a namespace that is only those
    // inside it; a caller that is not the first is refused here.
    std::process::id() == 1 && unsafe { libc::kill(-1, libc::SIGKILL) } == 0
}

/// Whether the caller is the first process of its namespace and the only one. Those that have ended and were not buried
/// count.
pub fn is_alone() -> bool {
    // SAFETY: signal 0 only asks. -1 means every process that can be seen.
    let nobody = unsafe { libc::kill(-1, 0) } == -1
        && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH);
    std::process::id() == 1 && nobody
}

/// Leaves namespaces for new ones.
pub fn leave(namespaces: rustix::thread::UnshareFlags) -> io::Result<()> {
    // SAFETY: this process has one thread and shares neither memory nor descriptors with another.
    Ok(unsafe { rustix::thread::unshare_unsafe(namespaces) }?)
}

/// A child that was buried.
pub struct Buried {
    pub child: Pid,
    /// `None`: it ended in no way that there is.
    pub ending: Option<Ending>,
    /// The most memory that it, or one that it has buried itself, has ever had at one time.
    pub resident_peak: u64,
}

/// Whether to wait for a child that has not ended yet.
#[derive(Clone, Copy)]
pub enum Patience {
    Wait,
    Look,
}

/// Buries any child. `None`: there is none, or none that has ended.
pub fn bury(patience: Patience) -> Option<Buried> {
    let options = match patience {
        Patience::Wait => 0,
        Patience::Look => libc::WNOHANG,
    };
    loop {
        let mut status = 0;
        // SAFETY: `rusage` is plain numbers, for which all zeros are valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both are written by the kernel, are of the type it expects, and live through the call.
        let child = unsafe { libc::wait4(-1, &raw mut status, options, &raw mut usage) };
        if child == -1 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
            continue;
        }
        let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
        let ending = if libc::WIFEXITED(status) {
            Some(Ending::Exited(byte(libc::WEXITSTATUS(status))))
        } else if libc::WIFSIGNALED(status) {
            Some(Ending::Signalled(byte(libc::WTERMSIG(status))))
        } else {
            None
        };
        // The kernel counts in kilobytes.
        let resident_peak = u64::try_from(usage.ru_maxrss).unwrap_or(0).saturating_mul(1024);
        // Neither an error nor "none yet" is a number of a process.
        let child = Some(child).filter(|child| *child > 0).and_then(Pid::from_raw)?;
        return Some(Buried { child, ending, resident_peak });
    }
}

/// Waits until a child has ended, and buries it.
pub fn wait_for(child: Pid) {
    while matches!(waitpid(Some(child), WaitOptions::empty()), Err(Errno::INTR)) {}
}

/// Copies from another process's memory. Returns how much there was.
///
/// The number may be anybody's: the caller makes sure, before and after, that it is who was meant.
pub fn read_memory(process: u32, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let invalid = |_| io::Error::from_raw_os_error(libc::EFAULT);
    let process = libc::pid_t::try_from(process).map_err(invalid)?;
    let address = usize::try_from(address).map_err(invalid)?;
    let here = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let there =
        libc::iovec { iov_base: std::ptr::without_provenance_mut(address), iov_len: buffer.len() };
    // SAFETY: `here` is the whole of a buffer that is borrowed for us alone through the call; `there` is an address of
    // the other process, never used in this one.
    let result =
        unsafe { libc::process_vm_readv(process, &raw const here, 1, &raw const there, 1, 0) };
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}
