//! The one command that brings a missing wall back. Settings of the system are read here, and only here, and only to
//! choose between remedies: what is missing was found by trying.

#![expect(
    clippy::disallowed_methods,
    reason = "the host's own settings, to name the one that is in the way"
)]

use std::fs;

use exacta_jail::ladder::{Missing, Wall};
use rustix::io::Errno;
use rustix::process::geteuid;

/// Settings that forbid user namespaces, with the value by which they do, and what lifts it.
const SETTINGS: [(&str, &str, &str); 3] = [
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=65536"),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "sysctl -w kernel.unprivileged_userns_clone=1",
    ),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
];

const IN_CONTAINER: &str =
    "docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined …";

/// `others` are all that are missing: what lacks only because of namespaces comes back with them.
pub fn of(missing: &Missing, others: &[Missing]) -> Option<String> {
    let met = |errno: Errno| missing.failure.errno == errno.raw_os_error();
    let remedy = match missing.wall {
        Wall::Namespaces => return Some(namespaces(missing)),
        Wall::State | Wall::Layers => {
            let cause = others.iter().find(|other| other.wall == Wall::Namespaces);
            return Some(namespaces(cause.unwrap_or(missing)));
        }
        Wall::Landlock if met(Errno::OPNOTSUPP) => {
            "add landlock to the lsm= boot parameter: \
             grubby --update-kernel=ALL --args=\"lsm=landlock,$(cat /sys/kernel/security/lsm)\""
        }
        Wall::Landlock | Wall::Keyring | Wall::Seccomp if is_container() => IN_CONTAINER,
        Wall::Landlock | Wall::Signals => {
            "use Linux 6.12 or later with CONFIG_SECURITY_LANDLOCK=y: apt install linux-image-generic"
        }
        Wall::Seccomp => "use a kernel with CONFIG_SECCOMP_FILTER=y",
        Wall::Notification if met(Errno::BUSY) => {
            "run exacta outside of the sandbox that is around it"
        }
        Wall::Notification => "use Linux 5.14 or later: apt install linux-image-generic",
        Wall::ControlGroups if geteuid().is_root() => {
            "docker run --cgroupns=private -v /sys/fs/cgroup:/sys/fs/cgroup:rw …"
        }
        Wall::ControlGroups => "systemd-run --user --scope -p Delegate=yes exacta …",
        Wall::Processes => {
            "docker run --security-opt systempaths=unconfined … (podman: unmask=ALL)"
        }
        Wall::Overlay if met(Errno::NODEV) => "modprobe overlay",
        Wall::Overlay => "run exacta outside of the inner container: overlays stack only twice",
        Wall::Keyring => "allow keyctl in the filter that is around exacta",
        Wall::Ordinary => "run exacta as an ordinary user: su - USER -c 'exacta doctor'",
    };
    Some(remedy.to_owned())
}

/// Why the kernel refuses them has several reasons that look the same.
fn namespaces(missing: &Missing) -> String {
    let step = &missing.failure.step;
    let invalid = missing.failure.errno == Errno::INVAL.raw_os_error();
    if invalid && step.starts_with("take ") {
        return "keep it on ext4, XFS, btrfs or tmpfs, or run exacta as an ordinary user"
            .to_owned();
    }
    let found = SETTINGS
        .iter()
        .find(|(path, value, _)| fs::read_to_string(path).is_ok_and(|text| text.trim() == *value));
    if let Some((_, _, remedy)) = found {
        return (*remedy).to_owned();
    }
    if is_container() || is_filtered() {
        return IN_CONTAINER.to_owned();
    }
    "use a kernel with CONFIG_USER_NS=y: apt install linux-image-generic".to_owned()
}

fn is_container() -> bool {
    ["/.dockerenv", "/run/.containerenv"].iter().any(|path| fs::metadata(path).is_ok())
}

/// Somebody has put up a filter around us.
fn is_filtered() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.split_whitespace().eq(["Seccomp:", "2"]))
}
