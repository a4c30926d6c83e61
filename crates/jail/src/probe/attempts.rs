//! Attempts at the walls, and what the system answered.
#![expect(clippy::disallowed_methods, reason = "runs inside, and tries what there is")]

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, accessat, chmod, mknodat};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};

use crate::system::probe;

/// What was tried, the error that it met (0: it worked), and what was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub name: String,
    pub errno: i32,
    pub seen: String,
}

impl Attempt {
    pub fn new(name: &str, errno: i32, seen: impl Into<String>) -> Self {
        Attempt { name: name.to_owned(), errno, seen: seen.into() }
    }

    fn of<T>(name: &str, result: Result<T, io::Error>) -> Self {
        let errno = result.err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
        Attempt::new(name, errno, "")
    }

    /// One line of what [`super::run`] prints.
    pub fn parse(line: &str) -> Option<Self> {
        let mut fields = line.splitn(3, '\t');
        let (name, errno) = (fields.next()?, fields.next()?.parse().ok()?);
        Some(Attempt::new(name, errno, fields.next().unwrap_or_default()))
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}\t{}\t{}", self.name, self.errno, self.seen)
    }
}

/// What is there on the host to be found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// A file in a directory of its own that the jail must not show.
    pub outside: PathBuf,
    /// A program that is denied outright; empty: the host has none.
    pub blocked: PathBuf,
    pub project: PathBuf,
    /// Of a listener on the host's loopback device.
    pub port: u16,
    /// Of a Unix socket without a path.
    pub nameless: String,
}

impl Marks {
    pub fn words(&self) -> [String; 5] {
        let text = |path: &Path| path.display().to_string();
        let port = self.port.to_string();
        [text(&self.outside), text(&self.blocked), text(&self.project), port, self.nameless.clone()]
    }

    pub fn from_words(words: &[String]) -> Self {
        let word = |place: usize| words.get(place).cloned().unwrap_or_default();
        Marks {
            outside: word(0).into(),
            blocked: word(1).into(),
            project: word(2).into(),
            port: word(3).parse().unwrap_or(0),
            nameless: word(4),
        }
    }
}

/// One after the other; what might change this process comes last.
pub fn all(marks: &Marks) -> Vec<Attempt> {
    let mut all = files(marks);
    all.extend(network(marks));
    all.extend(surroundings());
    all.extend(privileges());
    all.extend(calls());
    all
}

fn files(marks: &Marks) -> Vec<Attempt> {
    let Marks { outside, blocked, project, .. } = marks;
    let folder = outside.parent().unwrap_or(Path::new("/"));
    let mut all = vec![
        Attempt::of("open-outside", fs::File::open(outside)),
        Attempt::of("stat-outside", fs::metadata(outside)),
        Attempt::of("list-outside", fs::read_dir(folder)),
        Attempt::of("write-outside", fs::File::create_new(folder.join("probe"))),
        Attempt::of("delete-outside", fs::remove_file(outside)),
        Attempt::of("write-project", make_and_remove(&project.join(name()))),
        Attempt::of("write-temporary", make_and_remove(&std::env::temp_dir().join(name()))),
    ];
    if !blocked.as_os_str().is_empty() {
        let run = accessat(CWD, blocked, Access::EXEC_OK, AtFlags::empty());
        all.push(Attempt::of("stat-blocked", fs::symlink_metadata(blocked)));
        all.push(Attempt::of("read-blocked", fs::File::open(blocked)));
        all.push(Attempt::of("run-blocked", run.map_err(io::Error::from)));
    }
    all
}

/// A name that nobody has.
fn name() -> String {
    format!(".exacta-probe-{}", std::process::id())
}

fn make_and_remove(path: &Path) -> io::Result<()> {
    fs::write(path, "probe")?;
    fs::remove_file(path)
}

fn network(marks: &Marks) -> Vec<Attempt> {
    // An address for documentation: nobody has it. Datagrams are not sent by connecting.
    let somewhere = std::net::SocketAddr::from(([192, 0, 2, 1], 9));
    let host = std::net::SocketAddr::from(([127, 0, 0, 1], marks.port));
    let internet = |kind: SocketType, address: std::net::SocketAddr| {
        socket(AddressFamily::INET, kind, None).and_then(|made| connect(&made, &address))
    };
    let nameless = SocketAddrUnix::new_abstract_name(marks.nameless.as_bytes()).and_then(|name| {
        socket(AddressFamily::UNIX, SocketType::STREAM, None).and_then(|made| connect(&made, &name))
    });
    let virtual_machines = AddressFamily::from_raw(40);
    let virtual_machines = socket(virtual_machines, SocketType::STREAM, None).map(drop);
    [
        ("connect-host", internet(SocketType::STREAM, host)),
        ("connect-internet", internet(SocketType::DGRAM, somewhere)),
        ("connect-nameless", nameless),
        ("socket-vsock", virtual_machines),
    ]
    .map(|(name, result)| Attempt::of(name, result.map_err(io::Error::from)))
    .into()
}

/// What there is of the caller: variables, descriptors, processes, facts of the host.
fn surroundings() -> Vec<Attempt> {
    let names: Vec<String> =
        std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    let open: Vec<String> =
        (3..1024).filter(|number| probe::is_open(*number)).map(|it| it.to_string()).collect();
    let processes = fs::read_dir("/proc").map(|entries| {
        let names = entries.flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_str().is_some_and(|it| it.parse::<u32>().is_ok())).count()
    });
    let settings = fs::OpenOptions::new().write(true).open("/proc/sys/kernel/core_pattern");
    let first = fs::read("/proc/1/environ");
    let seen = first.as_ref().map_or(0, Vec::len);
    vec![
        Attempt::new("environment", 0, names.join(",")),
        Attempt::new("descriptors", 0, open.join(",")),
        Attempt::new("processes", 0, processes.unwrap_or(0).to_string()),
        Attempt { seen: seen.to_string(), ..Attempt::of("environment-of-first", first) },
        Attempt::of("write-settings", settings),
        Attempt::new("type-into-terminal", probe::type_a_letter(0), ""),
    ]
}

fn privileges() -> Vec<Attempt> {
    let no_new = rustix::thread::no_new_privs().unwrap_or(false);
    let capabilities = rustix::thread::capabilities(None);
    let none = capabilities.is_ok_and(|sets| {
        sets.effective.is_empty() && sets.permitted.is_empty() && sets.inheritable.is_empty()
    });
    let path = std::env::temp_dir().join(name());
    let set_user = fs::write(&path, "")
        .and_then(|()| chmod(&path, Mode::from_raw_mode(0o4755)).map_err(io::Error::from));
    let _it_may_not_be_there = fs::remove_file(&path);
    let set_group = fs::write(&path, "")
        .and_then(|()| chmod(&path, Mode::from_raw_mode(0o2755)).map_err(io::Error::from));
    let _it_may_not_be_there = fs::remove_file(&path);
    let device = mknodat(CWD, &path, FileType::CharacterDevice, Mode::RUSR, 0);
    let _it_may_not_be_there = fs::remove_file(&path);
    vec![
        Attempt::new("no-new-privileges", 0, if no_new { "set" } else { "not set" }),
        Attempt::new("capabilities", 0, if none { "none" } else { "some" }),
        Attempt::new("user", 0, rustix::process::geteuid().as_raw().to_string()),
        Attempt::of("set-user-bit", set_user),
        Attempt::of("set-group-bit", set_group),
        Attempt::of("device-node", device.map_err(io::Error::from)),
    ]
}

/// Calls that meet an error of their own where they are allowed, as null is no address.
fn calls() -> Vec<Attempt> {
    const NOBODY: libc::c_long = -1;
    let plain = [
        ("io_uring", libc::SYS_io_uring_setup, [1, 0, 0, 0, 0]),
        ("bpf", libc::SYS_bpf, [0, 0, 0, 0, 0]),
        ("keyctl", libc::SYS_keyctl, [0, NOBODY, 0, 0, 0]),
        ("perf_event_open", libc::SYS_perf_event_open, [0, 0, NOBODY, NOBODY, 0]),
        ("userfaultfd", libc::SYS_userfaultfd, [NOBODY, 0, 0, 0, 0]),
        ("ptrace", libc::SYS_ptrace, [2, 0, 0, 0, 0]),
        ("mount", libc::SYS_mount, [0, 0, 0, 0, 0]),
        ("fsopen", libc::SYS_fsopen, [0, 0, 0, 0, 0]),
        ("umount", libc::SYS_umount2, [0, 0, 0, 0, 0]),
        ("pivot_root", libc::SYS_pivot_root, [0, 0, 0, 0, 0]),
        ("chroot", libc::SYS_chroot, [0, 0, 0, 0, 0]),
        ("setns", libc::SYS_setns, [NOBODY, 0, 0, 0, 0]),
        // Last: where it is allowed, this process is somewhere else afterwards.
        ("unshare", libc::SYS_unshare, [libc::c_long::from(libc::CLONE_NEWUSER), 0, 0, 0, 0]),
    ];
    let answer = |(name, call, arguments)| Attempt::new(name, probe::answer(call, arguments), "");
    plain.map(answer).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_understood() {
        let attempt = Attempt::new("open-outside", 2, "a\tb");
        assert_eq!(Attempt::parse(&attempt.to_string()), Some(attempt));
        assert_eq!(Attempt::parse("nonsense"), None);
        let marks = Marks { port: 7, nameless: "x".into(), ..Marks::default() };
        assert_eq!(Marks::from_words(&marks.words()), marks);
    }
}
