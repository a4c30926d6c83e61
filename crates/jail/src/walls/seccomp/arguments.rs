//! The part of the filter that looks at the arguments of a call.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "constants of the system, which all fit the words of the filter machine"
)]

use super::program::{Program, Target, Test};
use super::rules::{Ends, Rule, refusal};

/// The personality of Linux itself. Others change what memory may be executed and where it lies.
const ORDINARY: u32 = 0;

const NEW_NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32;

/// Init, which starts every program and passes on to it what it is itself held to.
const FIRST_PROCESS: u32 = 1;
/// There are 4,096 at most. Those who still use them want a page or two; everything else is in `/dev/shm`.
const LARGEST_SEGMENT: u32 = 64 << 10;

/// There are 32,000 sets at most: of this size they take as much as the segments.
const LARGEST_SET: u32 = 32;

/// Requests to a terminal that put words into somebody else's mouth, or load code for it.
const TERMINAL_REQUESTS: [u32; 4] = [
    libc::TIOCSTI as u32,
    libc::TIOCLINUX as u32,
    libc::TIOCCONS as u32,
    0x5423, // TIOCSETD
];

/// A program that runs as its owner or its group, whoever starts it. The file may lie in the project, where it outlives
/// the jail and where no mount option takes its power away.
const SET_IDENTITY: u32 = 0o6000;
/// The one bit that the types of devices have and those of other files made by `mknod` have not. As a device of
/// number 0 is a mark of deletion in layers of files, not even that may be made.
const DEVICE: u32 = 0o020_000;
/// A file may come into being: `O_CREAT` and what `O_TMPFILE` is told by.
const CREATING: u32 = 0o20_000_100;

/// What connections are made of. Others are seldom used parts of the kernel that are loaded when asked for.
const PROTOCOLS: [i32; 5] =
    [0, libc::IPPROTO_ICMP, libc::IPPROTO_TCP, libc::IPPROTO_UDP, libc::IPPROTO_ICMPV6];

/// The lower half of an argument: all that the kernel reads of those that are looked at here.
const fn argument_at(index: u32) -> u32 {
    16 + 8 * index
}

/// The part that belongs to a rule.
pub fn check(program: &mut Program, rule: Rule, ends: &Ends) {
    let (allow, refuse) = (Target::To(ends.allow), Target::To(ends.not_permitted));
    match rule {
        Rule::Allow | Rule::Absent | Rule::Ask => {}
        Rule::Clone => {
            program.load(argument_at(0));
            program.branch(Test::Any(NEW_NAMESPACES), refuse, Target::Next);
            program.branch(Test::Any(libc::CLONE_THREAD as u32), Target::To(ends.ask), allow);
        }
        Rule::Socket => check_socket(program, ends),
        Rule::NoSocket => program.end(refusal(libc::EAFNOSUPPORT)),
        Rule::SocketPair => {
            program.load(argument_at(0));
            let unix = Test::Equal(libc::AF_UNIX as u32);
            program.branch(unix, allow, Target::To(ends.no_such_family));
        }
        Rule::Terminal => {
            program.load(argument_at(1));
            for request in TERMINAL_REQUESTS {
                program.branch(Test::Equal(request), refuse, Target::Next);
            }
            program.end(libc::SECCOMP_RET_ALLOW);
        }
        Rule::Personality => {
            program.load(argument_at(0));
            program.branch(Test::Equal(u32::MAX), allow, Target::Next);
            program.branch(Test::Equal(ORDINARY), allow, refuse);
        }
        Rule::SetLimit { tasks } => check_limit(program, ends, tasks),
        Rule::ChangeLimit { tasks } => check_change_of_limit(program, ends, tasks),
        Rule::Segment => check_segment(program, ends),
        Rule::NotFirst(process) => {
            program.load(argument_at(process));
            program.branch(Test::Equal(FIRST_PROCESS), refuse, allow);
        }
        Rule::NotFirstOf(all) => {
            program.load(argument_at(0));
            program.branch(Test::Equal(all), refuse, Target::Next);
            program.load(argument_at(1));
            program.branch(Test::Equal(FIRST_PROCESS), refuse, allow);
        }
        Rule::Mode(mode) => refuse_bits(program, mode, SET_IDENTITY, ends),
        Rule::Open { flags, mode } => {
            program.load(argument_at(flags));
            program.branch(Test::Any(CREATING), Target::Next, allow);
            program.load(argument_at(mode));
            program.branch(Test::Any(SET_IDENTITY), refuse, allow);
        }
        Rule::Rename => refuse_bits(program, 4, libc::RENAME_WHITEOUT, ends),
        Rule::Semaphores => {
            program.load(argument_at(1));
            program.branch(Test::AtLeast(LARGEST_SET + 1), refuse, allow);
        }
        Rule::Node(mode) => refuse_bits(program, mode, SET_IDENTITY | DEVICE, ends),
    }
}

/// Refuses whoever has one of these bits in an argument.
fn refuse_bits(program: &mut Program, argument: u32, bits: u32, ends: &Ends) {
    program.load(argument_at(argument));
    program.branch(Test::Any(bits), Target::To(ends.not_permitted), Target::To(ends.allow));
}

fn check_limit(program: &mut Program, ends: &Ends, tasks: bool) {
    let (allow, refuse) = (Target::To(ends.allow), Target::To(ends.not_permitted));
    let pretending = program.label();
    program.load(argument_at(0));
    program.branch(Test::Equal(libc::RLIMIT_CORE), Target::To(pretending), Target::Next);
    let of_tasks = if tasks { refuse } else { allow };
    program.branch(Test::Equal(libc::RLIMIT_NPROC), of_tasks, allow);
    program.place(pretending);
    program.end(refusal(0));
}

fn check_segment(program: &mut Program, ends: &Ends) {
    let invalid = program.label();
    program.load(argument_at(1) + 4);
    program.branch(Test::Any(u32::MAX), Target::To(invalid), Target::Next);
    program.load(argument_at(1));
    let too_large = Test::AtLeast(LARGEST_SEGMENT + 1);
    program.branch(too_large, Target::To(invalid), Target::To(ends.allow));
    program.place(invalid);
    program.end(refusal(libc::EINVAL));
}

fn check_change_of_limit(program: &mut Program, ends: &Ends, tasks: bool) {
    let (allow, refuse) = (Target::To(ends.allow), Target::To(ends.not_permitted));
    let (changing, dumps, pretending) = (program.label(), program.label(), program.label());
    program.load(argument_at(0));
    program.branch(Test::Equal(FIRST_PROCESS), Target::To(changing), Target::Next);
    program.load(argument_at(1));
    program.branch(Test::Equal(libc::RLIMIT_CORE), Target::To(dumps), Target::Next);
    let of_tasks = if tasks { Target::To(changing) } else { allow };
    program.branch(Test::Equal(libc::RLIMIT_NPROC), of_tasks, allow);
    program.place(changing);
    // Only asking, if the new limit is at no address.
    for half in [0, 4] {
        program.load(argument_at(2) + half);
        program.branch(Test::Any(u32::MAX), refuse, Target::Next);
    }
    program.end(libc::SECCOMP_RET_ALLOW);
    program.place(dumps);
    for half in [0, 4] {
        program.load(argument_at(2) + half);
        program.branch(Test::Any(u32::MAX), Target::To(pretending), Target::Next);
    }
    program.end(libc::SECCOMP_RET_ALLOW);
    // Whoever wants to know the limit before at once would be told nothing.
    program.place(pretending);
    for half in [0, 4] {
        program.load(argument_at(3) + half);
        program.branch(Test::Any(u32::MAX), refuse, Target::Next);
    }
    program.end(refusal(0));
}

fn check_socket(program: &mut Program, ends: &Ends) {
    let allow = Target::To(ends.allow);
    let (internet, routes) = (program.label(), program.label());
    program.load(argument_at(0));
    program.branch(Test::Equal(libc::AF_UNIX as u32), allow, Target::Next);
    program.branch(Test::Equal(libc::AF_INET as u32), Target::To(internet), Target::Next);
    program.branch(Test::Equal(libc::AF_INET6 as u32), Target::To(internet), Target::Next);
    let (netlink, other) = (Test::Equal(libc::AF_NETLINK as u32), Target::To(ends.no_such_family));
    program.branch(netlink, Target::To(routes), other);
    program.place(routes);
    program.load(argument_at(2));
    program.branch(Test::Equal(libc::NETLINK_ROUTE as u32), allow, other);
    program.place(internet);
    program.load(argument_at(1));
    // The flags that close it on exec and the like share the word with the type.
    program.and(0xF);
    let seldom = Target::To(ends.no_such_protocol);
    program.branch(Test::AtLeast(libc::SOCK_RAW as u32 + 1), seldom, Target::Next);
    program.load(argument_at(2));
    for protocol in PROTOCOLS {
        program.branch(Test::Equal(protocol as u32), allow, Target::Next);
    }
    program.end(refusal(libc::EPROTONOSUPPORT));
}
