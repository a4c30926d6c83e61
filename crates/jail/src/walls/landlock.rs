//! The same grants once more, held by another part of the kernel.
//!
//! Landlock judges a file by the directories above it, wherever it is mounted; what is reached by some other way than
//! the view, through a descriptor or a hole, lies beneath no granted directory.
//!
//! It is put up in two parts. Init binds itself to what concerns the jail as a whole: no signals and no nameless
//! sockets beyond it. The grants for files are prepared as a set of rules, and each program is bound to them just
//! before it starts. Rules hold on to the directories they are given, not to paths: a layer that is mounted over the
//! project for one request is another directory. Were init bound itself, such layers could be covered only by a rule
//! on the directory *above* the project, with everything else that lies there, and for a project right below the root
//! that is everything. So init makes the rules anew when the view changes, and no rule is wider than its grant. For a
//! program it is one system call.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};

use crate::outcome::{AtStep, Failure};
use crate::plan::{Access, View};
use crate::system::landlock::{self, Subject};

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIRECTORY: u64 = 1 << 3;
const MAKE_CHARACTER_DEVICE: u64 = 1 << 6;
const MAKE_BLOCK_DEVICE: u64 = 1 << 11;
/// To move and link files from one directory to another.
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const CONTROL_DEVICE: u64 = 1 << 15;

/// What there is to refuse, by version.
const FILES: [(u32, u64); 4] = [(1, 0x1FFF), (2, REFER), (3, TRUNCATE), (5, CONTROL_DEVICE)];
/// Nameless Unix sockets, and signals.
const SCOPES: [(u32, u64); 1] = [(6, 0b11)];

/// What makes sense for a file that is not a directory.
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | CONTROL_DEVICE;
const READING: u64 = READ_FILE | READ_DIRECTORY;
/// All but devices: to make them, and to ask them for more than bytes.
const EVERYTHING: u64 = !(MAKE_CHARACTER_DEVICE | MAKE_BLOCK_DEVICE | CONTROL_DEVICE);

/// Binds this process, and all that come of it, to what concerns the jail as a whole. Returns the version in force.
pub fn restrict() -> io::Result<u32> {
    let version = version()?;
    let scopes = known(&SCOPES, version);
    if scopes != 0 {
        // Whoever is bound to anything may move nothing between directories, unless that is granted.
        let rules = landlock::create(&Subject { files: REFER, scopes, network: 0 })?;
        grant(&rules, Path::new("/"), REFER)?;
        landlock::bind(rules.as_fd())?;
    }
    Ok(version)
}

/// Nothing can be moved from one directory to another under the first version, and too much needs that.
fn version() -> io::Result<u32> {
    landlock::version().map(|version| if version < 2 { 0 } else { version })
}

/// The grants for files, for programs to be bound to.
pub struct Grants {
    /// `None`: the kernel has no Landlock.
    rules: Option<OwnedFd>,
}

impl Grants {
    /// Of the view as it is mounted now, seen from inside.
    pub fn of(view: &View) -> Result<Self, Failure> {
        let version = version().at("ask for Landlock")?;
        if version == 0 {
            return Ok(Grants { rules: None });
        }
        let files = known(&FILES, version);
        let rules = landlock::create(&Subject { files, ..Subject::default() });
        let rules = rules.at("make rules for Landlock")?;
        let grant = |place: &Path, granted: u64| {
            let step = format!("grant {} by Landlock", place.display());
            grant(&rules, place, granted & files).at(&step)
        };
        // All that is beneath this root was put there to be read, and nothing else is beneath it.
        grant(Path::new("/"), READING)?;
        grant(Path::new("/dev"), READING | WRITE_FILE | TRUNCATE | CONTROL_DEVICE)?;
        // Names of threads and the like. What may be written there is decided by /proc itself.
        grant(Path::new("/proc"), READING | WRITE_FILE | TRUNCATE)?;
        for tree in &view.trees {
            let granted = match tree.access {
                Access::Read => READING | EXECUTE,
                Access::Write | Access::Layer(_) => EVERYTHING,
            };
            grant(&tree.target, granted)?;
        }
        for scratch in &view.scratch {
            grant(&scratch.target, EVERYTHING)?;
        }
        Ok(Grants { rules: Some(rules) })
    }

    /// Binds this process, and all that come of it.
    pub fn bind(&self) -> io::Result<()> {
        self.rules.as_ref().map_or(Ok(()), |rules| landlock::bind(rules.as_fd()))
    }
}

#[expect(clippy::disallowed_methods, reason = "runs inside, where there is nothing but the view")]
fn grant(rules: &OwnedFd, place: &Path, granted: u64) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = openat(CWD, place, flags, Mode::empty())?;
    let directory = FileType::from_raw_mode(fstat(&place)?.st_mode) == FileType::Directory;
    let granted = if directory { granted } else { granted & OF_FILES };
    landlock::grant(rules.as_fd(), place.as_fd(), granted)
}

fn known(table: &[(u32, u64)], version: u32) -> u64 {
    table.iter().filter(|(since, _)| *since <= version).fold(0, |all, (_, bits)| all | bits)
}
