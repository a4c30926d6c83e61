//! Takes system calls away from this process and all that come of it, as containers and old kernels do.

use libc::{c_long, sock_filter};

/// Groups of calls by name, what they answer, and where only some flags are refused, which argument has them.
type Group = (&'static str, i32, Option<(u32, u32)>, &'static [c_long]);

const NEW_NAMESPACES: u32 = 0x7E02_0000;
const NEW_LISTENER: u32 = 1 << 3;

const GROUPS: &[Group] = &[
    ("clone3", libc::ENOSYS, None, &[libc::SYS_clone3]),
    ("namespaces", libc::EPERM, Some((0, NEW_NAMESPACES)), &[libc::SYS_clone, libc::SYS_unshare]),
    (
        "mounts",
        libc::EPERM,
        None,
        &[
            libc::SYS_mount,
            libc::SYS_umount2,
            libc::SYS_pivot_root,
            libc::SYS_open_tree,
            libc::SYS_move_mount,
            libc::SYS_fsopen,
            libc::SYS_fsmount,
            libc::SYS_mount_setattr,
        ],
    ),
    ("keyctl", libc::EPERM, None, &[libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key]),
    ("landlock", libc::ENOSYS, None, &[libc::SYS_landlock_create_ruleset]),
    ("notification", libc::EINVAL, Some((1, NEW_LISTENER)), &[libc::SYS_seccomp]),
    ("seccomp", libc::EPERM, None, &[libc::SYS_seccomp]),
];

pub fn install<'a>(names: impl Iterator<Item = &'a str>) {
    let mut program = vec![load(0)];
    for name in names {
        let group = GROUPS.iter().find(|(known, ..)| *known == name);
        let (_, errno, flags, calls) = group.expect("a group of calls");
        let refusal = instruction(libc::BPF_RET, libc::SECCOMP_RET_ERRNO | errno.cast_unsigned());
        for call in *calls {
            let call = u32::try_from(*call).expect("a number");
            match flags {
                None => program.extend([jump(libc::BPF_JEQ, call, 1), refusal]),
                Some((argument, bits)) => program.extend([
                    jump(libc::BPF_JEQ, call, 4),
                    load(16 + 8 * argument),
                    jump(libc::BPF_JSET, *bits, 1),
                    refusal,
                    load(0),
                ]),
            }
        }
    }
    program.push(instruction(libc::BPF_RET, libc::SECCOMP_RET_ALLOW));
    rustix::thread::set_no_new_privs(true).expect("no new privileges");
    let length = u16::try_from(program.len()).expect("a short program");
    let program = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    // SAFETY: `program` points to as many instructions as it says, and they live through the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            0,
            std::ptr::from_ref(&program),
        )
    };
    assert_eq!(result, 0, "a filter");
}

fn instruction(code: u32, value: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).expect("a code"), jt: 0, jf: 0, k: value }
}

fn load(at: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at)
}

/// Goes on with the next instruction if it is so, and skips some otherwise.
fn jump(kind: u32, value: u32, skipped: u8) -> sock_filter {
    sock_filter { jf: skipped, ..instruction(libc::BPF_JMP | kind | libc::BPF_K, value) }
}
