//! What the judge must know of the world and cannot find out by itself.

use bstr::{BStr, BString, ByteSlice};

/// Asked while a verdict is made; answers without changing anything.
pub trait Surroundings {
    /// The project's root, absolute and real.
    fn root(&self) -> &BStr;

    /// Where the command would start; absolute.
    fn directory(&self) -> &BStr;

    /// The value of a variable that is set before the text runs. `None`: unset.
    fn variable(&self, name: &BStr) -> Option<BString>;

    /// Where a path leads, links followed; `path` is absolute. A missing last part leads to where it would be made.
    fn place(&self, path: &BStr) -> Place;

    /// The path that an absolute one leads to, links followed and `..` taken after them. `None`: to itself, or nobody
    /// knows.
    fn real_path(&self, path: &BStr) -> Option<BString> {
        let _ = path;
        None
    }

    /// Does this name run in process?
    fn is_builtin(&self, name: &BStr) -> bool;

    /// A function or alias of the session.
    fn is_defined(&self, name: &BStr) -> bool;

    /// Does what programs write go into the project at once, where nothing can take it back?
    fn writes_directly(&self) -> bool {
        false
    }

    /// The files that an absolute pattern matches now, at most `limit` of them.
    fn glob(&self, pattern: &BStr, limit: usize) -> Vec<BString>;
}

/// Where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Project,
    /// The private `/tmp`.
    Scratch,
    /// `/dev/null` and its like.
    Device,
    /// What the operator's configuration lets commands read.
    Granted {
        writable: bool,
    },
    /// What a jailed program may read: `/usr`, libraries, toolchains.
    System,
    /// exacta's own state: does not exist.
    Hidden,
    Outside,
}

/// A world with nothing in it but a root: for examples in rules, and tests.
#[derive(Debug, Clone)]
pub struct Nowhere {
    pub root: BString,
    pub builtins: &'static [&'static str],
}

impl Surroundings for Nowhere {
    fn root(&self) -> &BStr {
        self.root.as_bstr()
    }

    fn directory(&self) -> &BStr {
        self.root.as_bstr()
    }

    fn variable(&self, _name: &BStr) -> Option<BString> {
        None
    }

    fn place(&self, path: &BStr) -> Place {
        let within = |folder: &[u8]| {
            path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        if path.split_str("/").any(|part| part == b"..") {
            Place::Outside
        } else if within(&self.root) {
            Place::Project
        } else if within(b"/tmp") {
            Place::Scratch
        } else if DEVICES.iter().any(|device| path == *device) || path.starts_with(b"/dev/fd/") {
            Place::Device
        } else if is_system(path) {
            Place::System
        } else {
            Place::Outside
        }
    }

    fn is_builtin(&self, name: &BStr) -> bool {
        self.builtins.iter().any(|builtin| *name == *builtin)
    }

    fn is_defined(&self, _name: &BStr) -> bool {
        false
    }

    fn glob(&self, _pattern: &BStr, _limit: usize) -> Vec<BString> {
        Vec::new()
    }
}

const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
];

/// What programs can read of the system, and nothing of it is secret: what a distribution installs, the files of `/etc`
/// that say which one it is, and what the kernel tells everybody.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc/alternatives",
    "/etc/debian_version",
    "/etc/localtime",
    "/etc/lsb-release",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/protocols",
    "/etc/services",
    "/etc/shells",
    "/etc/ssl/certs",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/self/limits",
    "/proc/self/status",
    "/proc/stat",
    "/proc/uptime",
    "/proc/version",
];

/// Is an absolute path without `..` one of the system that programs can read?
pub fn is_system(path: &BStr) -> bool {
    SYSTEM.iter().any(|known| {
        path.strip_prefix(known.as_bytes())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    })
}
