//! Jails for tests, and what is to be seen of them from outside.
#![allow(dead_code, reason = "each test binary uses its part")]
#![expect(clippy::disallowed_methods, reason = "tests look at the host")]

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use exacta_jail::plan::{Access, Limits, Network, Person, Scratch, SyntheticLink, Tree, View};
use exacta_jail::{Cell, Failure, First, Level, Manner, Plan, Program, Running, Spawner};

/// Nobody in particular.
const ORDINARY_USER: u32 = 64_123;
const AGAIN: &str = "EXACTA_AGAIN_AS_ORDINARY_USER";

/// A directory that is gone afterwards.
pub struct Project(pub PathBuf);

impl Project {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-jail-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a temporary directory");
        Project(path)
    }

    pub fn plan(&self, limits: Limits) -> Plan {
        let tree = |path: &Path, access| Tree {
            source: path.into(),
            target: path.into(),
            access,
            hidden: Vec::new(),
        };
        let link = |name: &str| SyntheticLink {
            target: format!("/{name}").into(),
            text: format!("usr/{name}").into(),
        };
        Plan {
            view: View {
                trees: vec![tree("/usr".as_ref(), Access::Read), tree(&self.0, Access::Write)],
                links: ["bin", "sbin", "lib", "lib64"].map(link).into(),
                scratch: vec![Scratch { target: "/tmp".into(), bytes: 16 << 20 }],
                ..View::default()
            },
            person: Person { user_id: 1000, group_id: 1000, host_name: "jail".into() },
            limits,
            network: Network::Off,
            debugging: false,
        }
    }

    /// Starts a script; what it prints goes to the file `out` of the project.
    pub fn start(&self, cell: &mut Cell, script: &str) -> Running {
        self.start_with(cell, script, &[])
    }

    /// The same with more variables.
    pub fn start_with(&self, cell: &mut Cell, script: &str, variables: &[(&str, &str)]) -> Running {
        let (null, out) = self.streams();
        let given = [(0, null.as_fd()), (1, out.as_fd()), (2, out.as_fd())];
        cell.start(&self.program(script, variables), &given).expect("a shell")
    }

    /// The same where it may not be possible.
    pub fn try_start(&self, cell: &mut Cell, script: &str) -> Result<Running, Failure> {
        let (null, out) = self.streams();
        let given = [(0, null.as_fd()), (1, out.as_fd()), (2, out.as_fd())];
        cell.start(&self.program(script, &[]), &given)
    }

    /// A script that is the first of a jail, in this directory of the project.
    pub fn start_first_in(
        &self,
        (spawner, plan, least): (&Spawner, &Plan, Level),
        directory: &str,
        script: &str,
    ) -> Result<(Cell, Running), Failure> {
        let (null, out) = self.streams();
        let given = [(0, null.as_fd()), (1, out.as_fd()), (2, out.as_fd())];
        let directory = self.0.join(directory).to_str().expect("a name").into();
        let program = Program { directory, ..self.program(script, &[]) };
        let first = First { program: &program, descriptors: &given, manner: Manner::default() };
        let mut cell = spawner.build_for(plan, least, Some(first), || {})?;
        let running = cell.start(&program, &given)?;
        Ok((cell, running))
    }

    /// The same in a jail that is made for it.
    pub fn start_first(
        &self,
        (spawner, plan, least): (&Spawner, &Plan, Level),
        script: &str,
        variables: &[(&str, &str)],
        before: impl FnOnce(&mut Cell),
    ) -> Result<(Cell, Running), Failure> {
        let (null, out) = self.streams();
        let given = [(0, null.as_fd()), (1, out.as_fd()), (2, out.as_fd())];
        let (program, manner) = (self.program(script, variables), Manner::default());
        let first = First { program: &program, descriptors: &given, manner };
        let mut cell = spawner.build_for(plan, least, Some(first), || {})?;
        before(&mut cell);
        let running = cell.start(&program, &given)?;
        Ok((cell, running))
    }

    /// Nothing to read, and the file `out` of the project to write to.
    fn streams(&self) -> (fs::File, fs::File) {
        let null = fs::File::open("/dev/null").expect("/dev/null");
        (null, fs::File::create(self.0.join("out")).expect("a file"))
    }

    fn program(&self, script: &str, variables: &[(&str, &str)]) -> Program {
        let all = [("PATH", "/usr/bin:/bin")].iter().chain(variables);
        Program {
            path: "/bin/sh".into(),
            argv: vec!["sh".into(), "-c".into(), script.into()],
            environment: all.map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            directory: self.0.to_str().expect("a name").into(),
            file_mode_mask: 0o022,
        }
    }

    /// Waits until a script has printed this word.
    pub fn await_word(&self, word: &str) {
        let path = self.0.join("out");
        eventually(&format!("{word} in the output"), Duration::from_secs(10), || {
            fs::read_to_string(&path).is_ok_and(|text| text.contains(word))
        });
    }

    pub fn output(&self) -> String {
        fs::read_to_string(self.0.join("out")).expect("the output")
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _it_is_temporary = fs::remove_dir_all(&self.0);
    }
}

/// Waits for something to be so, and says how long it took.
pub fn eventually(what: &str, patience: Duration, mut so: impl FnMut() -> bool) -> Duration {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < patience, "not within {patience:?}: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
    begun.elapsed()
}

/// A process of the host, unlike any other that has ever had its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    pub number: u32,
    begun: u64,
}

impl Process {
    fn look(number: u32) -> Option<(Self, u32, char)> {
        let text = fs::read(format!("/proc/{number}/stat")).ok()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let process = Process { number, begun: fields.get(19)?.parse().ok()? };
        Some((process, fields.get(1)?.parse().ok()?, fields.first()?.chars().next()?))
    }

    /// One that is only waiting to be buried by somebody who is not ours is not alive.
    pub fn is_alive(self) -> bool {
        Self::look(self.number).is_some_and(|(process, _, state)| process == self && state != 'Z')
    }

    pub fn kill(self) {
        assert!(self.is_alive());
        let number = i32::try_from(self.number).ok().and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(number.expect("a number"), rustix::process::Signal::KILL)
            .expect("it is ours");
    }
}

/// The living descendants of a process, without itself, each after its parent.
pub fn descendants(of: u32) -> Vec<Process> {
    let numbers = fs::read_dir("/proc").expect("/proc").flatten();
    let numbers = numbers.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    let all: Vec<_> = numbers.filter_map(Process::look).collect();
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![of];
    while let Some(parent) = parents.pop() {
        for (process, _, _) in all.iter().filter(|(_, it, state)| *it == parent && *state != 'Z') {
            parents.insert(0, process.number);
            found.push(*process);
        }
    }
    found
}

/// The directories of control groups that a spawner has made.
pub fn groups(spawner: u32) -> BTreeSet<PathBuf> {
    let prefix = format!("exacta-{spawner}-");
    let mut found = BTreeSet::new();
    let mut open: Vec<PathBuf> = vec!["/sys/fs/cgroup".into()];
    while let Some(directory) = open.pop() {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        for entry in entries.filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir())) {
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                found.insert(entry.path());
            }
            open.push(entry.path());
        }
    }
    found
}

pub fn mounts() -> String {
    fs::read_to_string("/proc/self/mountinfo").expect("the mounts")
}

/// What this process has open.
pub fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("the descriptors").count()
}

/// Runs the tests of this binary once more, as somebody without power. To be called by one test of each binary.
pub fn again_as_ordinary_user() {
    if !rustix::process::geteuid().is_root() || std::env::var_os(AGAIN).is_some() {
        return;
    }
    let status = Command::new("/proc/self/exe")
        .args(["--test-threads", "1"])
        .env(AGAIN, "1")
        .uid(ORDINARY_USER)
        .gid(ORDINARY_USER)
        .current_dir("/")
        .stdin(Stdio::null())
        .status();
    assert!(status.expect("this binary").success(), "as an ordinary user");
}

pub fn spawner() -> Spawner {
    Spawner::start().expect("a spawner")
}
