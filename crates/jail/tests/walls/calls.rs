//! System calls, each made inside, and what the kernel says.

use exacta_jail::Ending;
use exacta_jail::plan::Limits;

use crate::prison::Prison;

/// Makes the calls on its command line, `number:argument:…`, and prints what each returned.
const PROBE: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
    static char buffer[4096] = "probe-file";
    for (int i = 1; i < count; i++) {
        long numbers[7] = {0};
        char *word = words[i];
        for (int place = 0; place < 7 && word; place++) {
            char *part = strsep(&word, ":");
            numbers[place] = *part == 'b' ? (long)buffer : (long)strtoull(part, 0, 0);
        }
        errno = 0;
        long result = syscall(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]);
        printf("%s\n", result >= 0 ? "ok" : strerrorname_np(errno));
        fflush(stdout);
    }
    return 0;
}
"#;

/// What there is no such thing as, with arguments that the kernel would otherwise find another fault with.
const ABSENT: &[(&str, libc::c_long)] = &[
    ("io_uring_setup", libc::SYS_io_uring_setup),
    ("io_uring_enter", libc::SYS_io_uring_enter),
    ("io_uring_register", libc::SYS_io_uring_register),
    ("bpf", libc::SYS_bpf),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("userfaultfd", libc::SYS_userfaultfd),
    ("fanotify_init", libc::SYS_fanotify_init),
    ("fanotify_mark", libc::SYS_fanotify_mark),
    ("init_module", libc::SYS_init_module),
    ("finit_module", libc::SYS_finit_module),
    ("delete_module", libc::SYS_delete_module),
    ("kexec_load", libc::SYS_kexec_load),
    ("kexec_file_load", libc::SYS_kexec_file_load),
    ("add_key", libc::SYS_add_key),
    ("request_key", libc::SYS_request_key),
    ("keyctl", libc::SYS_keyctl),
    ("mount", libc::SYS_mount),
    ("umount2", libc::SYS_umount2),
    ("pivot_root", libc::SYS_pivot_root),
    ("chroot", libc::SYS_chroot),
    ("open_tree", libc::SYS_open_tree),
    ("move_mount", libc::SYS_move_mount),
    ("fsopen", libc::SYS_fsopen),
    ("fsconfig", libc::SYS_fsconfig),
    ("fsmount", libc::SYS_fsmount),
    ("fspick", libc::SYS_fspick),
    ("mount_setattr", libc::SYS_mount_setattr),
    ("statmount", 457),
    ("listmount", 458),
    ("open_tree_attr", 467),
    ("unshare", libc::SYS_unshare),
    ("setns", libc::SYS_setns),
    ("clone3", libc::SYS_clone3),
    ("openat2", libc::SYS_openat2),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
    ("name_to_handle_at", libc::SYS_name_to_handle_at),
    ("swapon", libc::SYS_swapon),
    ("swapoff", libc::SYS_swapoff),
    ("reboot", libc::SYS_reboot),
    ("quotactl", libc::SYS_quotactl),
    ("quotactl_fd", libc::SYS_quotactl_fd),
    ("acct", libc::SYS_acct),
    ("syslog", libc::SYS_syslog),
    ("vhangup", libc::SYS_vhangup),
    ("sethostname", libc::SYS_sethostname),
    ("setdomainname", libc::SYS_setdomainname),
    ("settimeofday", libc::SYS_settimeofday),
    ("clock_settime", libc::SYS_clock_settime),
    ("adjtimex", libc::SYS_adjtimex),
    ("clock_adjtime", libc::SYS_clock_adjtime),
    ("move_pages", libc::SYS_move_pages),
    ("migrate_pages", libc::SYS_migrate_pages),
    ("cachestat", 451),
    ("pidfd_getfd", libc::SYS_pidfd_getfd),
    ("kcmp", libc::SYS_kcmp),
    ("memfd_secret", libc::SYS_memfd_secret),
    ("ptrace", libc::SYS_ptrace),
    ("process_vm_readv", libc::SYS_process_vm_readv),
    ("process_vm_writev", libc::SYS_process_vm_writev),
    ("a call of the future", 500),
    ("a call of the far future", 0x3FFF_FFFF),
    #[cfg(target_arch = "x86_64")]
    ("iopl", libc::SYS_iopl),
    #[cfg(target_arch = "x86_64")]
    ("ioperm", libc::SYS_ioperm),
    #[cfg(target_arch = "x86_64")]
    ("modify_ldt", libc::SYS_modify_ldt),
    #[cfg(target_arch = "x86_64")]
    ("uselib", libc::SYS_uselib),
];

#[test]
fn what_is_not_needed_does_not_exist() {
    let mut prison = Prison::new();
    let probe = prison.compile("probe", PROBE);
    let words: Vec<String> =
        ABSENT.iter().map(|(_, number)| format!("{number}:-1:-1:-1")).collect();
    let argv: Vec<&str> =
        [probe.as_str()].into_iter().chain(words.iter().map(String::as_str)).collect();
    let done = prison.run(&argv);
    assert_eq!(done.ending, Ending::Exited(0), "{done:?}");
    let answers: Vec<&str> = done.output.lines().collect();
    assert_eq!(answers.len(), ABSENT.len(), "{done:?}");
    let existing: Vec<_> =
        ABSENT.iter().zip(answers).filter(|(_, answer)| *answer != "ENOSYS").collect();
    assert!(existing.is_empty(), "{existing:?}");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn arguments_decide() {
    let socket = libc::SYS_socket;
    let chmod = libc::SYS_fchmodat;
    let cases: &[(&str, String, &str)] = &[
        ("new user namespace", format!("{}:0x10000011", libc::SYS_clone), "EPERM"),
        ("new network", format!("{}:0x40000011", libc::SYS_clone), "EPERM"),
        ("new mounts", format!("{}:0x20011", libc::SYS_clone), "EPERM"),
        ("unix", format!("{socket}:1:1:0"), "ok"),
        ("tcp", format!("{socket}:2:1:0"), "ok"),
        ("tcp, closed on exec", format!("{socket}:2:0x80001:6"), "ok"),
        ("udp over six", format!("{socket}:10:2:17"), "ok"),
        ("routes", format!("{socket}:16:3:0"), "ok"),
        ("raw", format!("{socket}:2:3:1"), "EPERM"),
        ("packet", format!("{socket}:17:3:0"), "EAFNOSUPPORT"),
        ("virtual machine", format!("{socket}:40:1:0"), "EAFNOSUPPORT"),
        ("crypto", format!("{socket}:38:5:0"), "EAFNOSUPPORT"),
        ("bluetooth", format!("{socket}:31:3:0"), "EAFNOSUPPORT"),
        ("can", format!("{socket}:29:3:1"), "EAFNOSUPPORT"),
        ("tipc", format!("{socket}:30:2:0"), "EAFNOSUPPORT"),
        ("xdp", format!("{socket}:44:3:0"), "EAFNOSUPPORT"),
        ("netlink audit", format!("{socket}:16:3:9"), "EAFNOSUPPORT"),
        ("netlink netfilter", format!("{socket}:16:3:12"), "EAFNOSUPPORT"),
        ("netlink events", format!("{socket}:16:2:15"), "EAFNOSUPPORT"),
        ("netlink generic", format!("{socket}:16:3:16"), "EAFNOSUPPORT"),
        ("netlink, high half set", format!("{socket}:16:3:0x100000010"), "EAFNOSUPPORT"),
        ("sctp", format!("{socket}:2:1:132"), "EPROTONOSUPPORT"),
        ("sctp by type", format!("{socket}:2:5:0"), "EPROTONOSUPPORT"),
        ("dccp", format!("{socket}:2:6:33"), "EPROTONOSUPPORT"),
        ("smc", format!("{socket}:2:1:256"), "EPROTONOSUPPORT"),
        ("pair", format!("{}:1:1:0:b", libc::SYS_socketpair), "ok"),
        ("foreign pair", format!("{}:30:1:0:b", libc::SYS_socketpair), "EAFNOSUPPORT"),
        ("typing for others", format!("{}:0:0x5412:b", libc::SYS_ioctl), "EPERM"),
        ("the same, disguised", format!("{}:0:0xffffffff00005412:b", libc::SYS_ioctl), "EPERM"),
        ("console", format!("{}:0:0x541c:b", libc::SYS_ioctl), "EPERM"),
        ("console, disguised", format!("{}:0:0x10000541c:b", libc::SYS_ioctl), "EPERM"),
        ("line discipline", format!("{}:0:0x5423:b", libc::SYS_ioctl), "EPERM"),
        ("asking a terminal", format!("{}:0:0x5401:b", libc::SYS_ioctl), "ENOTTY"),
        ("asking who one is", format!("{}:0xffffffff", libc::SYS_personality), "ok"),
        ("executable data", format!("{}:0x400000", libc::SYS_personality), "EPERM"),
        ("the limits of init", format!("{}:1:7:b:0", libc::SYS_prlimit64), "EPERM"),
        ("its own limits", format!("{}:0:7:0:b", libc::SYS_prlimit64), "ok"),
        ("the limits of init, only asked", format!("{}:1:7:0:b", libc::SYS_prlimit64), "ok"),
        ("the priority of init", format!("{}:0:1:5", libc::SYS_setpriority), "EPERM"),
        ("the priority of a user", format!("{}:2:0:5", libc::SYS_setpriority), "EPERM"),
        ("its own priority", format!("{}:0:0:0", libc::SYS_setpriority), "ok"),
        ("when init reads and writes", format!("{}:1:1:0x4000", libc::SYS_ioprio_set), "EPERM"),
        ("the processors of init", format!("{}:1:8:b", libc::SYS_sched_setaffinity), "EPERM"),
        ("the turns of init", format!("{}:1:5:b", libc::SYS_sched_setscheduler), "EPERM"),
        ("a file", format!("{}:-100:b:0x41:0644", libc::SYS_openat), "ok"),
        ("its mode", format!("{chmod}:-100:b:0755"), "ok"),
        ("set-user", format!("{chmod}:-100:b:04755"), "EPERM"),
        ("set-group", format!("{chmod}:-100:b:02755"), "EPERM"),
        ("set-group from the start", format!("{}:-100:b:0x41:02755", libc::SYS_openat), "EPERM"),
        ("set-user from the start", format!("{}:-100:b:0x41:04755", libc::SYS_openat), "EPERM"),
        ("a mode that is not one", format!("{}:-100:b:0:04755", libc::SYS_openat), "ok"),
        ("a device", format!("{}:-100:b:0020644:0x103", libc::SYS_mknodat), "EPERM"),
        ("a mark of deletion", format!("{}:-100:b:0020000:0", libc::SYS_mknodat), "EPERM"),
        ("a disk", format!("{}:-100:b:0060644:0x800", libc::SYS_mknodat), "EPERM"),
        ("a pipe where a file is", format!("{}:-100:b:0010644:0", libc::SYS_mknodat), "EEXIST"),
    ];
    let mut prison = Prison::new();
    let probe = prison.compile("probe", PROBE);
    let argv: Vec<&str> = [probe.as_str()]
        .into_iter()
        .chain(cases.iter().map(|(_, call, _)| call.as_str()))
        .collect();
    let done = prison.run(&argv);
    assert_eq!(done.ending, Ending::Exited(0), "{done:?}");
    assert_eq!(done.output.lines().count(), cases.len(), "{done:?}");
    let wrong: Vec<_> = cases
        .iter()
        .zip(done.output.lines())
        .filter(|((_, _, said), found)| said != found)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn foreign_tables_of_calls_are_death() {
    const OLD: &str = r#"
#include <stdio.h>
int main(void) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory");
    printf("%ld\n", result);
    return 0;
}
"#;
    let mut prison = Prison::new();
    let old = prison.compile("old", OLD);
    let probe = prison.compile("probe", PROBE);
    let killed = Ending::Signalled(libc::SIGSYS as u8);
    for argv in [vec![old.as_str()], vec![probe.as_str(), "0x40000027"]] {
        let done = prison.run(&argv);
        assert_eq!((done.ending, done.output.as_str()), (killed, ""), "{argv:?}");
    }
}

#[test]
fn debuggers_work_where_the_plan_says_so() {
    let mut prison = Prison::with(Limits::default(), true);
    let probe = prison.compile("probe", PROBE);
    // PTRACE_TRACEME, and reading nothing of oneself.
    let done = prison.run(&[&probe, &format!("{}:0", libc::SYS_ptrace)]);
    assert_eq!(done.output, "ok\n", "{done:?}");
}
