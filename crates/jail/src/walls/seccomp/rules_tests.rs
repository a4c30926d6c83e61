//! The filter, run by a machine of our own over every number and many arguments.

use super::*;

struct Call {
    architecture: u32,
    number: u32,
    arguments: [u64; 6],
}

/// What the kernel's machine would answer, and after how many steps.
fn run(program: &[libc::sock_filter], call: &Call) -> (u32, usize) {
    let load = |offset: u32| match offset {
        NUMBER_AT => call.number,
        ARCHITECTURE_AT => call.architecture,
        _ => {
            let (index, rest) = ((offset - 16) / 8, (offset - 16) % 8);
            (call.arguments[index as usize] >> (8 * rest)) as u32
        }
    };
    let (mut place, mut word, mut steps) = (0, 0, 0);
    loop {
        let step = &program[place];
        steps += 1;
        place += 1;
        let jump = |condition: bool| usize::from(if condition { step.jt } else { step.jf });
        let code = u32::from(step.code);
        match code & 0x07 {
            libc::BPF_LD => word = load(step.k),
            libc::BPF_ALU => word &= step.k,
            libc::BPF_RET => return (step.k, steps),
            libc::BPF_JMP => {
                place += match code & 0xF0 {
                    libc::BPF_JEQ => jump(word == step.k),
                    libc::BPF_JGE => jump(word >= step.k),
                    libc::BPF_JSET => jump(word & step.k != 0),
                    _ => panic!("no such jump"),
                }
            }
            _ => panic!("no such step"),
        }
    }
}

fn filter(debugging: bool, asking: bool) -> Vec<libc::sock_filter> {
    compile(Choices { debugging, asking, sockets: Sockets::Own, uncounted: false })
        .expect("it fits")
}

fn verdict(number: c_long, arguments: &[u64]) -> u32 {
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    let call = Call { architecture: ARCHITECTURE, number: number as u32, arguments: all };
    run(&filter(false, true), &call).0
}

#[test]
fn every_number_meets_its_rule_after_few_steps() {
    let program = filter(false, true);
    assert!(program.len() < 256, "{} steps", program.len());
    let mut longest = 0;
    for number in 0..1000 {
        let call = Call { architecture: ARCHITECTURE, number, arguments: [0; 6] };
        let (verdict, steps) = run(&program, &call);
        longest = longest.max(steps);
        let expected = if c_long::from(number) > LAST_KNOWN {
            refusal(libc::ENOSYS)
        } else {
            match rule_for(
                c_long::from(number),
                Choices { debugging: false, asking: true, sockets: Sockets::Own, uncounted: false },
            ) {
                Rule::Absent => refusal(libc::ENOSYS),
                Rule::Ask => libc::SECCOMP_RET_USER_NOTIF,
                // Of no family at all.
                Rule::Socket | Rule::SocketPair => refusal(libc::EAFNOSUPPORT),
                _ => libc::SECCOMP_RET_ALLOW,
            }
        };
        assert_eq!(verdict, expected, "call {number}");
    }
    assert!(longest < 20, "{longest} steps");
}

#[test]
fn foreign_tables_end_the_process() {
    for (architecture, number) in [
        (0x4000_0003, 1),
        (0x4000_0028, 1),
        (0, 0),
        (ARCHITECTURE, 0x4000_0000),
        (ARCHITECTURE, 0x4000_003B),
        (ARCHITECTURE, 0x8000_0000),
        (ARCHITECTURE, u32::MAX - 1),
    ] {
        let call = Call { architecture, number, arguments: [0; 6] };
        let (verdict, _) = run(&filter(true, false), &call);
        assert_eq!(verdict, libc::SECCOMP_RET_KILL_PROCESS, "{architecture:x} {number:x}");
    }
    assert_eq!(verdict(-1, &[]), refusal(libc::ENOSYS), "a debugger's skipped call");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn arguments_decide() {
    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
    const ASK: u32 = libc::SECCOMP_RET_USER_NOTIF;
    const HIGH: u64 = 0xFFFF_FFFF_0000_0000;
    let (permission, family) = (refusal(libc::EPERM), refusal(libc::EAFNOSUPPORT));
    let protocol = refusal(libc::EPROTONOSUPPORT);
    let thread = (libc::CLONE_VM | libc::CLONE_THREAD) as u64;
    let (closing, raw) = (libc::SOCK_CLOEXEC as u64, libc::SOCK_RAW as u64);
    let cases: &[(c_long, &[u64], u32)] = &[
        (libc::SYS_clone, &[libc::SIGCHLD as u64], ALLOW),
        (libc::SYS_clone, &[libc::SIGCHLD as u64 | HIGH], ALLOW),
        (libc::SYS_clone, &[thread], ASK),
        (libc::SYS_setrlimit, &[6, 1], permission),
        (libc::SYS_setrlimit, &[7, 1], ALLOW),
        (libc::SYS_prlimit64, &[0, 6, 0, 1], ALLOW),
        (libc::SYS_prlimit64, &[0, 6, 1, 1], permission),
        (libc::SYS_prlimit64, &[0, 6 | HIGH, 1 << 32, 1], permission),
        (libc::SYS_prlimit64, &[0, 7, 1, 1], ALLOW),
        (libc::SYS_clone, &[thread | libc::CLONE_NEWUSER as u64], permission),
        (libc::SYS_clone, &[libc::CLONE_NEWNS as u64], permission),
        (libc::SYS_clone, &[libc::CLONE_NEWCGROUP as u64 | HIGH], permission),
        (libc::SYS_socket, &[1, 1 | closing, 0], ALLOW),
        (libc::SYS_socket, &[2, 1 | closing, 0], ALLOW),
        (libc::SYS_socket, &[10, 2, 17], ALLOW),
        (libc::SYS_socket, &[2, raw, 1], ALLOW),
        (libc::SYS_socket, &[2, 5, 132], protocol),
        (libc::SYS_socket, &[2, 5, 0], protocol),
        (libc::SYS_socket, &[2, 1, 256], protocol),
        (libc::SYS_socket, &[10, 6 | closing, 33], protocol),
        (libc::SYS_socket, &[16, raw | closing, 0], ALLOW),
        (libc::SYS_socket, &[16, raw, 12], family),
        (libc::SYS_socket, &[16, raw, 0xC | HIGH], family),
        (libc::SYS_socket, &[17, raw, 0], family),
        (libc::SYS_socket, &[38, 5, 0], family),
        (libc::SYS_socket, &[40, 1, 0], family),
        (libc::SYS_socket, &[1 | HIGH, 1, 0], ALLOW),
        (libc::SYS_socket, &[0x28 | HIGH, 1, 0], family),
        (libc::SYS_socketpair, &[1, 1, 0], ALLOW),
        (libc::SYS_socketpair, &[30, 1, 0], family),
        (libc::SYS_ioctl, &[0, libc::TIOCSTI], permission),
        (libc::SYS_ioctl, &[0, libc::TIOCSTI | HIGH], permission),
        (libc::SYS_ioctl, &[0, libc::TIOCLINUX | 1 << 32], permission),
        (libc::SYS_ioctl, &[0, libc::TCGETS], ALLOW),
        (libc::SYS_personality, &[0xFFFF_FFFF], ALLOW),
        (libc::SYS_personality, &[0], ALLOW),
        (libc::SYS_personality, &[0x0040_0000], permission),
        (libc::SYS_personality, &[8], permission),
        (libc::SYS_prlimit64, &[1, 1, 0, 8], ALLOW),
        (libc::SYS_prlimit64, &[1, 1, 8, 0], permission),
        (libc::SYS_prlimit64, &[1, 1, 1 << 40, 0], permission),
        (libc::SYS_prlimit64, &[0, 1, 8, 0], ALLOW),
        (libc::SYS_setrlimit, &[4, 8], refusal(0)),
        (libc::SYS_prlimit64, &[0, 4, 8, 0], refusal(0)),
        (libc::SYS_prlimit64, &[0, 4, 8, 8], permission),
        (libc::SYS_prlimit64, &[0, 4, 0, 8], ALLOW),
        (libc::SYS_prlimit64, &[1, 4, 8, 0], permission),
        (libc::SYS_shmget, &[7, 64 << 10, 0], ALLOW),
        (libc::SYS_shmget, &[7, (64 << 10) + 1, 0], refusal(libc::EINVAL)),
        (libc::SYS_shmget, &[7, 1 << 32, 0], refusal(libc::EINVAL)),
        (libc::SYS_sched_setaffinity, &[1, 8, 8], permission),
        (libc::SYS_sched_setaffinity, &[0, 8, 8], ALLOW),
        (libc::SYS_setpriority, &[0, 1, 5], permission),
        (libc::SYS_setpriority, &[2, 0, 5], permission),
        (libc::SYS_setpriority, &[0, 0, 5], ALLOW),
        (libc::SYS_fchmodat, &[0, 0, 0o755], ALLOW),
        (libc::SYS_fchmodat, &[0, 0, 0o4755], permission),
        (libc::SYS_fchmodat, &[0, 0, 0o2755], permission),
        (libc::SYS_openat, &[0, 0, 0, 0o4755], ALLOW),
        (libc::SYS_openat, &[0, 0, libc::O_CREAT as u64, 0o4755], permission),
        (libc::SYS_openat, &[0, 0, libc::O_TMPFILE as u64, 0o4755], permission),
        (libc::SYS_openat, &[0, 0, libc::O_CREAT as u64, 0o644], ALLOW),
        (libc::SYS_mknodat, &[0, 0, u64::from(libc::S_IFIFO) | 0o644], ALLOW),
        (libc::SYS_mknodat, &[0, 0, u64::from(libc::S_IFSOCK) | 0o644], ALLOW),
        (libc::SYS_mknodat, &[0, 0, u64::from(libc::S_IFREG) | 0o644], ALLOW),
        (libc::SYS_mknodat, &[0, 0, u64::from(libc::S_IFREG) | 0o4644], permission),
        (libc::SYS_mknodat, &[0, 0, u64::from(libc::S_IFCHR)], permission),
        (libc::SYS_mknodat, &[0, 0, u64::from(libc::S_IFBLK) | 0o600], permission),
    ];
    for (number, arguments, expected) in cases {
        let found = verdict(*number, arguments);
        assert_eq!(found, *expected, "call {number} {arguments:x?}: {found:x}");
    }
}

#[test]
fn no_sockets_but_pairs_where_the_network_is_the_hosts() {
    let choices =
        Choices { debugging: false, asking: true, sockets: Sockets::None, uncounted: false };
    let program = compile(choices).expect("it fits");
    let answer = |number: c_long, family: i32| {
        let arguments = [family as u64, 1, 0, 0, 0, 0];
        let call = Call { architecture: ARCHITECTURE, number: number as u32, arguments };
        run(&program, &call).0
    };
    for family in [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, 40] {
        assert_eq!(answer(libc::SYS_socket, family), refusal(libc::EAFNOSUPPORT), "{family}");
    }
    assert_eq!(answer(libc::SYS_socketpair, libc::AF_UNIX), libc::SECCOMP_RET_ALLOW);
}

#[test]
fn debuggers_may_only_where_it_was_chosen() {
    for call in DEBUGGING {
        let call = Call { architecture: ARCHITECTURE, number: *call as u32, arguments: [0; 6] };
        assert_eq!(run(&filter(false, true), &call).0, refusal(libc::ENOSYS));
        assert_eq!(run(&filter(true, true), &call).0, libc::SECCOMP_RET_ALLOW);
    }
}

#[test]
fn nobody_is_asked_where_nobody_answers() {
    for number in [libc::SYS_execve, libc::SYS_clone, libc::SYS_setrlimit] {
        let arguments = [libc::CLONE_THREAD as u64 | 6; 6];
        let call = Call { architecture: ARCHITECTURE, number: number as u32, arguments };
        assert_eq!(run(&filter(false, false), &call).0, libc::SECCOMP_RET_ALLOW);
    }
}

#[test]
fn every_group_says_why_and_no_call_has_two_rules() {
    let mut seen = std::collections::HashSet::new();
    for (reason, calls) in ABSENT {
        assert!(!reason.is_empty() && calls.iter().all(|call| seen.insert(*call)), "{reason}");
    }
    for (call, _) in DEPENDING.iter().chain(DEPENDING_BEFORE) {
        assert!(seen.insert(*call), "{call}");
    }
    assert!(DEBUGGING.iter().all(|call| seen.insert(*call)));
    assert!(seen.iter().all(|call| *call <= LAST_KNOWN));
}
