//! The rules: which call meets what, and why.
#![expect(
    clippy::cast_sign_loss,
    reason = "constants of the system, which all fit the words of the filter machine"
)]

use libc::c_long;

use super::arguments;
use super::program::{Label, Program, Target, Test};

/// What makes one filter differ from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choices {
    /// Programs may watch and change one another.
    pub debugging: bool,
    /// There is somebody outside who answers questions.
    pub asking: bool,
    pub sockets: Sockets,
    /// No control group counts memory: what no look at processes finds must not be had.
    pub uncounted: bool,
}

/// Who is to be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sockets {
    /// Whoever is in the jail's own network.
    Own,
    /// Nobody: the network is the host's, and so are the names of sockets. Only connected pairs can be made.
    None,
}

/// Calls that do not exist inside, with the reason.
type Absent = (&'static str, &'static [c_long]);

#[rustfmt::skip]
const ABSENT: &[Absent] = &[
    ("does other calls where no filter sees them", &[
        libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register,
    ]),
    ("code and hooks in the kernel", &[
        libc::SYS_bpf, libc::SYS_perf_event_open, libc::SYS_userfaultfd, libc::SYS_lookup_dcookie,
        libc::SYS_fanotify_init, libc::SYS_fanotify_mark,
        libc::SYS_init_module, libc::SYS_finit_module, libc::SYS_delete_module,
        libc::SYS_kexec_load, libc::SYS_kexec_file_load,
    ]),
    ("keys are of the user, not of the jail", &[
        libc::SYS_add_key, libc::SYS_request_key, libc::SYS_keyctl,
    ]),
    ("changes what there is to see", &[
        libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_chroot, libc::SYS_open_tree,
        libc::SYS_move_mount, libc::SYS_fsopen, libc::SYS_fsconfig, libc::SYS_fsmount, libc::SYS_fspick,
        libc::SYS_mount_setattr, STATMOUNT, LISTMOUNT,
    ]),
    ("leaves the namespaces, or makes some where more of the kernel is within reach", &[
        libc::SYS_unshare, libc::SYS_setns,
    ]),
    ("its flags are in memory, where they can change after they were looked at", &[
        libc::SYS_clone3, libc::SYS_openat2,
    ]),
    ("opens files past every directory above them", &[
        libc::SYS_open_by_handle_at, libc::SYS_name_to_handle_at,
    ]),
    ("the machine's own affairs", &[
        libc::SYS_reboot, libc::SYS_swapon, libc::SYS_swapoff, libc::SYS_quotactl, libc::SYS_quotactl_fd,
        libc::SYS_acct, libc::SYS_syslog, libc::SYS_vhangup, libc::SYS_nfsservctl,
        libc::SYS_sethostname, libc::SYS_setdomainname,
        libc::SYS_settimeofday, libc::SYS_clock_settime, libc::SYS_adjtimex, libc::SYS_clock_adjtime,
    ]),
    ("where memory lies is the machine's affair, and of other processes it says too much", &[
        libc::SYS_move_pages, libc::SYS_migrate_pages, CACHESTAT,
    ]),
    ("takes from other processes what they did not give", &[
        libc::SYS_pidfd_getfd, libc::SYS_kcmp,
    ]),
    ("memory that nobody else can look into, and that no limit counts", &[
        libc::SYS_memfd_secret,
    ]),
    ("there is a number of them for the whole machine, which one program could use up", &[
        libc::SYS_io_setup, libc::SYS_io_destroy, libc::SYS_io_submit, libc::SYS_io_cancel, libc::SYS_io_getevents,
    ]),
    ("changes the rules another part of the kernel holds", &[LSM_SET_SELF_ATTR]),
    ("old, or for hardware only", OLD),
];

/// Missing in the library's tables of numbers, or some of them, and the same everywhere.
const CACHESTAT: c_long = 451;
const FCHMODAT2: c_long = 452;
const STATMOUNT: c_long = 457;
const LISTMOUNT: c_long = 458;
const LSM_SET_SELF_ATTR: c_long = 460;

#[cfg(target_arch = "x86_64")]
const OLD: &[c_long] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS_sysfs,
    libc::SYS__sysctl,
];
#[cfg(target_arch = "aarch64")]
const OLD: &[c_long] = &[];

/// Only for debuggers.
const DEBUGGING: &[c_long] =
    &[libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev];

/// Memory that belongs to no process: files without names, which can be on their way in a socket where nobody has them
/// open, and messages that wait. Only for who is counted.
const NOBODYS: &[c_long] = &[libc::SYS_memfd_create, libc::SYS_msgget];

/// The last number known here. What comes later may do anything: it does not exist. 463 to 466 are the calls for
/// extended attributes relative to a directory.
const LAST_KNOWN: c_long = 466;

/// What a call meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    Allow,
    Absent,
    /// Asked about outside.
    Ask,
    /// New namespaces are refused, processes allowed, threads asked about.
    Clone,
    Socket,
    NoSocket,
    SocketPair,
    Terminal,
    Personality,
    /// The limit for tasks is ours, where we keep it. That for dumps stands, and those who set it want none either.
    SetLimit {
        tasks: bool,
    },
    /// The same, and whose limits they are: those of process 1 are for all programs to come.
    ChangeLimit {
        tasks: bool,
    },
    /// Memory that is shared by number stays when nobody has it any more, where no look at processes finds it.
    Segment,
    /// How process 1 gets its turn is how all programs to come do. Its number is in this argument.
    NotFirst(u32),
    /// The same for calls that change several processes at once, or all of a user's: this kind.
    NotFirstOf(u32),
    /// The file's mode is in this argument.
    Mode(u32),
    /// The same, if the flags say that a file is made.
    Open {
        flags: u32,
        mode: u32,
    },
    /// The same for special files.
    Node(u32),
    /// A mark of deletion, which is a device, may not be left where something was.
    Rename,
    /// Semaphores stay when nobody has them any more, like segments.
    Semaphores,
}

/// Calls that depend on their arguments, or are asked about.
const DEPENDING: &[(c_long, Rule)] = &[
    (libc::SYS_clone, Rule::Clone),
    (libc::SYS_execve, Rule::Ask),
    (libc::SYS_execveat, Rule::Ask),
    (libc::SYS_socket, Rule::Socket),
    (libc::SYS_socketpair, Rule::SocketPair),
    (libc::SYS_ioctl, Rule::Terminal),
    (libc::SYS_personality, Rule::Personality),
    (libc::SYS_sched_setaffinity, Rule::NotFirst(0)),
    (libc::SYS_sched_setattr, Rule::NotFirst(0)),
    (libc::SYS_sched_setparam, Rule::NotFirst(0)),
    (libc::SYS_sched_setscheduler, Rule::NotFirst(0)),
    (libc::SYS_shmget, Rule::Segment),
    (libc::SYS_semget, Rule::Semaphores),
    (libc::SYS_renameat2, Rule::Rename),
    (libc::SYS_setpriority, Rule::NotFirstOf(libc::PRIO_USER)),
    (libc::SYS_ioprio_set, Rule::NotFirstOf(IOPRIO_WHO_USER)),
    (libc::SYS_setrlimit, Rule::SetLimit { tasks: true }),
    (libc::SYS_prlimit64, Rule::ChangeLimit { tasks: true }),
    (libc::SYS_fchmod, Rule::Mode(1)),
    (libc::SYS_fchmodat, Rule::Mode(2)),
    (FCHMODAT2, Rule::Mode(2)),
    (libc::SYS_openat, Rule::Open { flags: 2, mode: 3 }),
    (libc::SYS_mknodat, Rule::Node(2)),
];
/// The same, for what newer architectures have never had.
#[cfg(target_arch = "x86_64")]
const DEPENDING_BEFORE: &[(c_long, Rule)] = &[
    (libc::SYS_chmod, Rule::Mode(1)),
    (libc::SYS_creat, Rule::Mode(1)),
    (libc::SYS_open, Rule::Open { flags: 1, mode: 2 }),
    (libc::SYS_mknod, Rule::Node(1)),
];
#[cfg(target_arch = "aarch64")]
const DEPENDING_BEFORE: &[(c_long, Rule)] = &[];

/// As the kernel names it in the description of a call.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// Numbers from here on are of the other table of x86 (x32), and of no table elsewhere.
const FOREIGN_TABLE: u32 = 0x4000_0000;
/// What a debugger puts in place of a call that is to be skipped.
const NO_CALL: u32 = u32::MAX;

const IOPRIO_WHO_USER: u32 = 3;
/// Offsets in the description of a call.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;

/// Where a rule ends.
pub struct Ends {
    pub allow: Label,
    pub absent: Label,
    pub not_permitted: Label,
    pub no_such_family: Label,
    pub no_such_protocol: Label,
    pub ask: Label,
    pub kill: Label,
}

/// `None`: it does not fit the kernel's machine. That depends on nothing but the tables above, so a test knows.
pub fn compile(choices: Choices) -> Option<Vec<libc::sock_filter>> {
    let mut program = Program::default();
    let ends = Ends {
        allow: program.label(),
        absent: program.label(),
        not_permitted: program.label(),
        no_such_family: program.label(),
        no_such_protocol: program.label(),
        ask: program.label(),
        kill: program.label(),
    };
    program.load(ARCHITECTURE_AT);
    program.branch(Test::Equal(ARCHITECTURE), Target::Next, Target::To(ends.kill));
    program.load(NUMBER_AT);
    let mut blocks: Vec<(Rule, Label)> = Vec::new();
    let mut ranges: Vec<(u32, Label)> = Vec::new();
    for (first, rule) in ranges_of(choices) {
        let label = match rule {
            Rule::Allow => ends.allow,
            Rule::Absent => ends.absent,
            Rule::Ask => ends.ask,
            _ => {
                let known = blocks.iter().find(|(known, _)| *known == rule);
                let label = known.map(|(_, label)| *label);
                label.unwrap_or_else(|| {
                    let label = program.label();
                    blocks.push((rule, label));
                    label
                })
            }
        };
        ranges.push((first, label));
    }
    ranges.extend([(FOREIGN_TABLE, ends.kill), (NO_CALL, ends.absent)]);
    program.choose(&ranges);
    for (rule, label) in blocks {
        program.place(label);
        arguments::check(&mut program, rule, &ends);
    }
    finish(&mut program, &ends, choices);
    program.finish()
}

/// From this number on this rule, until the next.
fn ranges_of(choices: Choices) -> Vec<(u32, Rule)> {
    let absent = ABSENT.iter().flat_map(|(_why, calls)| *calls);
    let depending = DEPENDING.iter().chain(DEPENDING_BEFORE).map(|(call, _)| call);
    let mut named: Vec<c_long> =
        absent.chain(DEBUGGING).chain(NOBODYS).chain(depending).copied().collect();
    named.sort_unstable();
    named.dedup();
    let mut ranges = vec![(0, Rule::Allow)];
    let mut begin = |number: c_long, rule: Rule| {
        if let Ok(number) = u32::try_from(number)
            && ranges.last().is_some_and(|(_, last)| *last != rule)
        {
            ranges.push((number, rule));
        }
    };
    let mut next = 0;
    for number in named {
        if number > next {
            begin(next, Rule::Allow);
        }
        begin(number, rule_for(number, choices));
        next = number + 1;
    }
    begin(next, Rule::Allow);
    begin(LAST_KNOWN + 1, Rule::Absent);
    ranges
}

fn rule_for(number: c_long, choices: Choices) -> Rule {
    if ABSENT.iter().any(|(_why, calls)| calls.contains(&number))
        || !choices.debugging && DEBUGGING.contains(&number)
        || choices.uncounted && NOBODYS.contains(&number)
    {
        return Rule::Absent;
    }
    let found = DEPENDING.iter().chain(DEPENDING_BEFORE).find(|(call, _)| *call == number);
    match found.map_or(Rule::Allow, |(_, rule)| *rule) {
        Rule::SetLimit { .. } => Rule::SetLimit { tasks: choices.asking },
        Rule::ChangeLimit { .. } => Rule::ChangeLimit { tasks: choices.asking },
        Rule::Socket if choices.sockets == Sockets::None => Rule::NoSocket,
        rule => rule,
    }
}

fn finish(program: &mut Program, ends: &Ends, choices: Choices) {
    let asked = if choices.asking { libc::SECCOMP_RET_USER_NOTIF } else { libc::SECCOMP_RET_ALLOW };
    for (label, verdict) in [
        (ends.allow, libc::SECCOMP_RET_ALLOW),
        (ends.absent, refusal(libc::ENOSYS)),
        (ends.not_permitted, refusal(libc::EPERM)),
        (ends.no_such_family, refusal(libc::EAFNOSUPPORT)),
        (ends.no_such_protocol, refusal(libc::EPROTONOSUPPORT)),
        (ends.ask, asked),
        (ends.kill, libc::SECCOMP_RET_KILL_PROCESS),
    ] {
        program.place(label);
        program.end(verdict);
    }
}

pub const fn refusal(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno as u32
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
