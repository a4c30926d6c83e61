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
//! that is everything. So init makes the rules anew when the view changes, and no rule is wider than its grant. What does
//! not change it does beforehand, while it has nothing else to do. For a program it is one system call.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::cell::view::DEVICES;
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
const OF_DEVICES: u64 = READING | WRITE_FILE | TRUNCATE | CONTROL_DEVICE;
/// Names of threads and the like. What may be written there is decided by /proc itself.
const OF_PROCESSES: u64 = READING | WRITE_FILE | TRUNCATE;
/// All but devices: to make them, and to ask them for more than bytes.
const EVERYTHING: u64 = !(MAKE_CHARACTER_DEVICE | MAKE_BLOCK_DEVICE | CONTROL_DEVICE);

/// Nothing can be moved from one directory to another under the first version, and too much needs that.
pub const FIRST_USED: u32 = 2;
/// Before, files outside can be emptied by their names. In a jail with a view there are no such names.
pub const FIRST_ALONE: u32 = 3;
/// From then on signals stay inside.
pub const FIRST_WITH_SCOPES: u32 = 6;

/// The version of this kernel, if it is at least that.
pub fn version(least: u32) -> Result<u32, Failure> {
    let version = landlock::version().at("use Landlock")?;
    if version < least {
        let step = format!("use Landlock, which is of version {version} and not {least}");
        return Err(Failure::new(step, Errno::OPNOTSUPP));
    }
    Ok(version)
}

/// Binds this process, and all that come of it, to what concerns the jail as a whole.
pub fn restrict(version: u32) -> io::Result<()> {
    let scopes = known(&SCOPES, version);
    if scopes == 0 {
        return Ok(());
    }
    // Whoever is bound to anything may move nothing between directories, unless that is granted.
    let rules = landlock::create(&Subject { files: REFER, scopes, network: 0 })?;
    grant(&rules, Path::new("/"), REFER)?;
    landlock::bind(rules.as_fd())
}

/// The grants for files, for programs to be bound to.
pub struct Grants {
    /// `None`: there is no Landlock.
    rules: Option<OwnedFd>,
}

impl Grants {
    pub fn none() -> Self {
        Grants { rules: None }
    }

    /// Of the view as it is mounted now, seen from inside.
    pub fn of(view: &View, version: u32) -> Result<Self, Failure> {
        Places::open(view)?.begin(version)?.finish(view)
    }

    /// Of what the warden has granted by its handles. Only /proc is not in its hands.
    pub fn taken_over(rules: OwnedFd, version: u32) -> Result<Self, Failure> {
        let set = Set { rules, files: known(&FILES, version) };
        set.grant(Path::new("/proc"), OF_PROCESSES)?;
        Ok(Grants { rules: Some(set.rules) })
    }

    /// Of the same trees where they are on the host, for a jail that has no view. What is hidden in a tree for reading is
    /// granted to nobody; in one for writing that cannot be had, as a grant is for all that lies beneath.
    pub fn on_host(view: &View, version: u32) -> Result<Self, Failure> {
        let set = Set::new(version)?;
        for device in DEVICES {
            let device = Path::new("/dev").join(device);
            set.grant(&device, READ_FILE | WRITE_FILE | TRUNCATE | CONTROL_DEVICE)?;
        }
        // What is told there about processes beyond the jail is their names; for more, Landlock does not let them.
        set.grant(Path::new("/proc"), READING)?;
        for file in view.files.iter().map(|file| &file.target).chain(&view.copies) {
            set.grant_if_there(file, READ_FILE)?;
        }
        for tree in &view.trees {
            match tree.access {
                // What would go into a layer has nowhere to go.
                Access::Read | Access::Layer(_) => {
                    set.grant_around(&tree.source, &tree.hidden, READING | EXECUTE)?;
                }
                Access::Write => set.grant(&tree.source, EVERYTHING)?,
            }
        }
        Ok(Grants { rules: Some(set.rules) })
    }

    /// Binds this process, and all that come of it.
    pub fn bind(&self) -> io::Result<()> {
        self.rules.as_ref().map_or(Ok(()), |rules| landlock::bind(rules.as_fd()))
    }
}

/// All but what may be covered by a layer: that can be granted only when it is there. Opened once, for sets of rules to be made
/// of again and again.
pub struct Places(Vec<(OwnedFd, u64)>);

impl Places {
    /// Of the view as it is mounted now, seen from inside.
    pub fn open(view: &View) -> Result<Self, Failure> {
        // All that is beneath this root was put there to be read, and nothing else is beneath it.
        let own = [("/", READING), ("/dev", OF_DEVICES), ("/proc", OF_PROCESSES)];
        let own = own.map(|(path, granted)| (Path::new(path), granted));
        let trees = view.trees.iter().filter(|tree| matches!(tree.access, Access::Read));
        let trees = trees.map(|tree| (tree.target.as_path(), READING | EXECUTE));
        let scratch = view.scratch.iter().map(|scratch| (scratch.target.as_path(), EVERYTHING));
        let all = own.into_iter().chain(trees).chain(scratch);
        let opened = all.map(|(path, granted)| {
            let place = open(path).map_err(|error| Failure::new(step(path), error))?;
            Ok((place, granted))
        });
        opened.collect::<Result<_, _>>().map(Places)
    }

    pub fn begin(&self, version: u32) -> Result<Begun, Failure> {
        let set = Set::new(version)?;
        for (place, granted) in &self.0 {
            grant_open(&set.rules, place.as_fd(), granted & set.files).at("grant by Landlock")?;
        }
        Ok(Begun(set))
    }
}

/// Grants for all [`Places`].
pub struct Begun(Set);

impl Begun {
    /// With the trees that can be written to as they are mounted now.
    pub fn finish(self, view: &View) -> Result<Grants, Failure> {
        let Begun(set) = self;
        for tree in view.trees.iter().filter(|tree| !matches!(tree.access, Access::Read)) {
            set.grant(&tree.target, EVERYTHING)?;
        }
        Ok(Grants { rules: Some(set.rules) })
    }
}

/// The same grants while the view is built, by whoever has a handle on each thing that it mounts: a rule holds on to the
/// directory, and whoever has it need not look for it. What is covered by something else is not to be granted.
pub struct Handles(Option<Set>);

impl Handles {
    /// If rules can be had at all. If not, whoever is to be bound finds that out by itself.
    pub fn new() -> Self {
        Handles(version(FIRST_USED).and_then(Set::new).ok())
    }

    /// All that is beneath this root was put there to be read, and nothing else is beneath it.
    pub fn root(&self, root: BorrowedFd<'_>) -> Result<(), Failure> {
        self.grant(root, READING)
    }

    pub fn devices(&self, folder: BorrowedFd<'_>) -> Result<(), Failure> {
        self.grant(folder, OF_DEVICES)
    }

    pub fn scratch(&self, memory: BorrowedFd<'_>) -> Result<(), Failure> {
        self.grant(memory, EVERYTHING)
    }

    /// What is seen at a tree's place.
    pub fn tree(&self, access: &Access, seen: BorrowedFd<'_>) -> Result<(), Failure> {
        let granted = match access {
            Access::Read => READING | EXECUTE,
            Access::Write | Access::Layer(_) => EVERYTHING,
        };
        self.grant(seen, granted)
    }

    pub fn into_rules(self) -> Option<OwnedFd> {
        self.0.map(|set| set.rules)
    }

    fn grant(&self, place: BorrowedFd<'_>, granted: u64) -> Result<(), Failure> {
        let Some(set) = &self.0 else { return Ok(()) };
        grant_open(&set.rules, place, granted & set.files).at("grant the view by Landlock")
    }
}

/// A set of rules while it is made.
struct Set {
    rules: OwnedFd,
    files: u64,
}

impl Set {
    fn new(version: u32) -> Result<Self, Failure> {
        let files = known(&FILES, version);
        let rules = landlock::create(&Subject { files, ..Subject::default() });
        Ok(Set { rules: rules.at("make rules for Landlock")?, files })
    }

    fn grant(&self, place: &Path, granted: u64) -> Result<(), Failure> {
        grant(&self.rules, place, granted & self.files)
            .map_err(|error| Failure::new(step(place), error))
    }

    fn grant_if_there(&self, place: &Path, granted: u64) -> Result<(), Failure> {
        match self.grant(place, granted) {
            Err(failure) if failure.errno == libc::ENOENT => Ok(()),
            granted => granted,
        }
    }

    /// All of a tree but what is hidden in it, whose name stays to be seen.
    #[expect(
        clippy::disallowed_methods,
        reason = "without a view the grants are on the host itself"
    )]
    fn grant_around(&self, place: &Path, hidden: &[PathBuf], granted: u64) -> Result<(), Failure> {
        if hidden.is_empty() {
            return self.grant_if_there(place, granted);
        }
        let step = format!("look into {}", place.display());
        self.grant(place, READ_DIRECTORY)?;
        for entry in std::fs::read_dir(place).at(&step)? {
            let entry = entry.at(&step)?;
            let name = entry.file_name();
            let below = hidden.iter().filter_map(|hidden| hidden.strip_prefix(&name).ok());
            let below: Vec<PathBuf> = below.map(Path::to_owned).collect();
            let is_hidden = below.iter().any(|rest| rest.as_os_str().is_empty());
            // A link gives nothing that its end does not.
            if !is_hidden && !entry.file_type().at(&step)?.is_symlink() {
                self.grant_around(&place.join(name), &below, granted)?;
            }
        }
        Ok(())
    }
}

fn step(place: &Path) -> String {
    format!("grant {} by Landlock", place.display())
}

fn grant(rules: &OwnedFd, place: &Path, granted: u64) -> io::Result<()> {
    grant_open(rules, open(place)?.as_fd(), granted)
}

#[expect(
    clippy::disallowed_methods,
    reason = "runs inside, where there is nothing but the view, or where there is none"
)]
fn open(place: &Path) -> Result<OwnedFd, Errno> {
    openat(CWD, place, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

fn grant_open(rules: &OwnedFd, place: BorrowedFd<'_>, granted: u64) -> io::Result<()> {
    match landlock::grant(rules.as_fd(), place, granted) {
        // So the kernel answers when it is no directory, and nearly all are.
        Err(error)
            if error.raw_os_error() == Some(libc::EINVAL) && granted & OF_FILES != granted =>
        {
            landlock::grant(rules.as_fd(), place, granted & OF_FILES)
        }
        granted => granted,
    }
}

fn known(table: &[(u32, u64)], version: u32) -> u64 {
    table.iter().filter(|(since, _)| *since <= version).fold(0, |all, (_, bits)| all | bits)
}
