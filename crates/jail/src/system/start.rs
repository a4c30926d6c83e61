//! The first instructions of an executable that was linked as a whole: a copy is made before there is anything to copy.
//!
//! An executable at an unknown place has tens of thousands of addresses to put right before its `main`, and what it has put
//! right has to be copied with it. So the copy that may become the spawner is made by the first instructions of all, and both
//! put their addresses right side by side, each on a processor of its own. Nothing is there yet that a copy could find
//! half done: no C library, no thread, no lock, no memory but what the kernel has mapped.
//!
//! That is so only where the kernel starts the executable itself. Where a loader does, it has set up a C library by now, and
//! nothing of this is built in; and neither is it for processors whose instructions are not written here.

/// What the first instructions have left, in both: zeros where they have made no copy.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Started {
    /// 1: there is a copy.
    made: u32,
    /// The number of the copy; in the copy itself 0.
    process: i32,
    /// A pair of sockets: the first is for the one that was copied, the second for the copy.
    sockets: [i32; 2],
    /// Which processor the copy was made on, and which there are.
    processor: u32,
    processors: [u32; 32],
}

/// What this process is, if a copy was made.
#[derive(Debug)]
pub enum Side {
    Copied { process: i32, socket: i32, other: i32 },
    Copy { socket: i32 },
}

impl Started {
    pub fn side(&self) -> Option<Side> {
        let [ours, theirs] = self.sockets;
        match (self.made, self.process) {
            (1, 0) => Some(Side::Copy { socket: theirs }),
            (1, process @ 1..) => Some(Side::Copied { process, socket: ours, other: theirs }),
            _ => None,
        }
    }

    /// The processor that the copy was made on, and all that there were.
    pub fn processors(&self) -> (usize, impl Iterator<Item = usize> + '_) {
        let words = self.processors.iter().enumerate();
        let all = words.flat_map(|(number, word)| {
            (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| number * 32 + bit)
        });
        (self.processor as usize, all)
    }
}

/// What the first instructions have left. Whoever asks first is told; then there is nothing any more.
pub fn taken() -> Option<Started> {
    static TAKEN: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
    if TAKEN.swap(true, std::sync::atomic::Ordering::Relaxed) { None } else { started() }
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "crt-static")))]
fn started() -> Option<Started> {
    None
}

#[cfg(all(target_arch = "x86_64", target_feature = "crt-static"))]
fn started() -> Option<Started> {
    // SAFETY: only the first instructions write there, before this or anything else can run.
    let started = unsafe { *std::ptr::addr_of!(first::STARTED) };
    (started.made == 1).then_some(started)
}

#[cfg(all(target_arch = "x86_64", target_feature = "crt-static"))]
mod first {
    use super::Started;

    /// In memory that is written to: where constants lie, nobody could.
    pub static mut STARTED: Started =
        Started { made: 0, process: 0, sockets: [0; 2], processor: 0, processors: [0; 32] };

    // The executable is linked to begin here (`build.rs` of the command line).
    //
    // Only for `exacta -c …`, the one request that most processes are there for. What it asks for is not looked at, for that
    // takes tables with addresses. Where the caller has closed a standard stream, a socket would come into its place: then
    // there is no copy either. The copy is sent to another processor before it has run: kernels tend to let it wait here.
    //
    // SAFETY: as the kernel starts a program, `rsp` points to the number of arguments and a pointer to each, and nothing lies
    // below it that is needed. Registers have no meaning but `rdx`, which is kept; nothing is pushed. Calls of the kernel change
    // `rax`, `rcx` and `r11`, and of the memory only fields of `STARTED`, which are as large as the kernel is told: each field is
    // addressed by its offset, and the place itself relative to the instruction, so that nothing has to be put right before.
    // `bt` with a number from a register counts from the address on beyond its operand; the number is below the bits there are.
    // `_start` finds everything as the kernel has left it, in both.
    std::arch::global_asm!(
        ".globl exacta_start",
        ".type exacta_start, @function",
        "exacta_start:",
        "cmp qword ptr [rsp], 3",
        "jb 9f",
        "mov rax, qword ptr [rsp + 16]",
        "cmp word ptr [rax], {dash_c}",
        "jne 9f",
        "cmp byte ptr [rax + 2], 0",
        "jne 9f",
        "mov r12, rdx",
        "lea rbx, [rip + {started}]",
        // Which processor is this, and which are there?
        "mov eax, {getcpu}",
        "lea rdi, [rbx + {processor}]",
        "xor esi, esi",
        "xor edx, edx",
        "syscall",
        "test eax, eax",
        "jnz 8f",
        "mov eax, {sched_getaffinity}",
        "xor edi, edi",
        "mov esi, {processors_size}",
        "lea rdx, [rbx + {processors}]",
        "syscall",
        "test eax, eax",
        "jle 8f",
        // A pair of sockets, closed when something else is executed.
        "mov eax, {socketpair}",
        "mov edi, {unix}",
        "mov esi, {packets}",
        "xor edx, edx",
        "lea r10, [rbx + {sockets}]",
        "syscall",
        "test eax, eax",
        "jnz 8f",
        "cmp dword ptr [rbx + {sockets}], 3",
        "jb 7f",
        // The copy.
        "mov eax, {clone}",
        "mov edi, {child_signal}",
        "xor esi, esi",
        "xor edx, edx",
        "xor r10d, r10d",
        "xor r8d, r8d",
        "syscall",
        "test eax, eax",
        "js 7f",
        "mov dword ptr [rbx + {process}], eax",
        "mov dword ptr [rbx + {made}], 1",
        "jz 8f",
        // Away with it, to any processor but this.
        "mov edi, eax",
        "mov r13d, dword ptr [rbx + {processor}]",
        "cmp r13d, {most_processors}",
        "jae 8f",
        "btr dword ptr [rbx + {processors}], r13d",
        "jnc 8f",
        "mov eax, {sched_setaffinity}",
        "mov esi, {processors_size}",
        "lea rdx, [rbx + {processors}]",
        "syscall",
        "bts dword ptr [rbx + {processors}], r13d",
        "jmp 8f",
        // No copy: the sockets go again.
        "7:",
        "mov edi, dword ptr [rbx + {sockets}]",
        "mov eax, {close}",
        "syscall",
        "mov edi, dword ptr [rbx + {sockets} + 4]",
        "mov eax, {close}",
        "syscall",
        "8:",
        "mov rdx, r12",
        "9:",
        "jmp _start",
        ".size exacta_start, . - exacta_start",
        started = sym STARTED,
        made = const std::mem::offset_of!(Started, made),
        process = const std::mem::offset_of!(Started, process),
        sockets = const std::mem::offset_of!(Started, sockets),
        processor = const std::mem::offset_of!(Started, processor),
        processors = const std::mem::offset_of!(Started, processors),
        processors_size = const size_of::<[u32; 32]>(),
        most_processors = const size_of::<[u32; 32]>() * 8,
        dash_c = const u16::from_le_bytes(*b"-c"),
        getcpu = const libc::SYS_getcpu,
        sched_getaffinity = const libc::SYS_sched_getaffinity,
        sched_setaffinity = const libc::SYS_sched_setaffinity,
        socketpair = const libc::SYS_socketpair,
        clone = const libc::SYS_clone,
        close = const libc::SYS_close,
        unix = const libc::AF_UNIX,
        packets = const libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC,
        child_signal = const libc::SIGCHLD,
    );
}
