//! What a script sees and where it really is: the project at its own path, a private `/tmp`, a few devices.
//!
//! Everything else has no place in this table, and what has no place does not exist.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{Mode, OFlags};

use super::Handle;
use super::device::Device;
use super::path;
use super::state::{self, State};

/// Where the pieces of a session's file system lie on the host.
#[derive(Debug, Clone)]
pub struct Places {
    /// The project. `/` grants nothing, and `/tmp` is the private one: both leave only `/tmp`.
    pub root: PathBuf,
    /// exacta's state, normally `ROOT/.clada`.
    pub state: PathBuf,
    /// What the script sees as `/tmp`, normally `ROOT/.clada/tmp`.
    pub temporary: PathBuf,
    /// For kernels and sandboxes that do not answer `openat2` with an honest error.
    pub avoid_openat2: bool,
}

impl Places {
    /// Everything in the project itself.
    pub fn in_project(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let state = root.join(path::STATE);
        Places { temporary: state.join("tmp"), state, root, avoid_openat2: false }
    }
}

/// A directory a script can name.
pub(crate) struct Mount {
    pub point: BString,
    source: Source,
}

enum Source {
    Project(Handle),
    Temporary(Temporary),
}

/// The private `/tmp`: made when it is first used, so that a session without it costs nothing.
struct Temporary {
    path: TemporaryPath,
    handle: Mutex<Option<Handle>>,
}

enum TemporaryPath {
    InState(Vec<String>),
    Elsewhere(PathBuf),
}

pub(crate) struct Mounts {
    /// Longest point first: the project may itself lie under `/tmp`.
    mounts: Vec<Mount>,
    state: State,
    root: BString,
}

/// Where a path leads by its text.
pub(crate) enum Found<'a> {
    Mount(usize, &'a BStr),
    Device(Device),
}

impl Mounts {
    pub(crate) fn open(places: &Places) -> io::Result<Self> {
        let (root, real) = open_root(&places.root)?;
        let granted = real != *b"/" && real != *b"/tmp";
        let in_project = granted && is_inside_root(places, &real);
        let state = if in_project {
            State::InProject(Arc::clone(&root))
        } else {
            State::Elsewhere(places.state.clone())
        };
        let temporary = Source::Temporary(Temporary {
            path: TemporaryPath::of(places),
            handle: Mutex::new(None),
        });
        let mut mounts = vec![Mount { point: "/tmp".into(), source: temporary }];
        if granted {
            mounts.push(Mount { point: real.clone(), source: Source::Project(root) });
        }
        mounts.sort_by_key(|mount| std::cmp::Reverse(mount.point.len()));
        let root = if granted { real } else { "/tmp".into() };
        Ok(Mounts { mounts, state, root })
    }

    pub(crate) fn root(&self) -> &BStr {
        self.root.as_bstr()
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Looks a path up by its text. `ENOENT` for what is outside, and for text that can be no path.
    pub(crate) fn find<'a>(&self, path: &'a BStr) -> io::Result<Found<'a>> {
        if path.contains(&0) {
            return Err(super::missing());
        }
        for (index, mount) in self.mounts.iter().enumerate() {
            if let Some(rest) = path::strip_point(path, mount.point.as_bstr()) {
                return Ok(Found::Mount(index, rest));
            }
        }
        Device::find(path).map(Found::Device)
    }

    pub(crate) fn point(&self, index: usize) -> &BStr {
        self.mounts.get(index).map_or(BStr::new("/"), |mount| mount.point.as_bstr())
    }

    pub(crate) fn is_project(&self, index: usize) -> bool {
        matches!(self.mounts.get(index), Some(Mount { source: Source::Project(_), .. }))
    }

    pub(crate) fn handle(&self, index: usize) -> io::Result<Handle> {
        match self.mounts.get(index).map(|mount| &mount.source) {
            Some(Source::Project(handle)) => Ok(Arc::clone(handle)),
            Some(Source::Temporary(temporary)) => temporary.handle(&self.state),
            None => Err(super::missing()),
        }
    }

    /// The project's own handle, if a project is mounted.
    pub(crate) fn project(&self) -> Option<&Handle> {
        self.mounts.iter().find_map(|mount| match &mount.source {
            Source::Project(handle) => Some(handle),
            Source::Temporary(_) => None,
        })
    }
}

/// The operator's own path may lead through symbolic links; the script sees where it ends.
fn open_root(path: &Path) -> io::Result<(Handle, BString)> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let handle = rustix::fs::open(path, flags, Mode::empty())?;
    #[expect(
        clippy::disallowed_methods,
        reason = "the operator's path, asked once, before any script runs"
    )]
    let real = std::fs::canonicalize(path)?;
    Ok((Arc::new(handle), real.as_os_str().as_bytes().into()))
}

fn is_inside_root(places: &Places, real: &BString) -> bool {
    let real = Path::new(OsStr::from_bytes(real));
    places.state == places.root.join(path::STATE) || places.state == real.join(path::STATE)
}

impl TemporaryPath {
    fn of(places: &Places) -> Self {
        let Ok(below) = places.temporary.strip_prefix(&places.state) else {
            return TemporaryPath::Elsewhere(places.temporary.clone());
        };
        let names: Option<Vec<String>> =
            below.iter().map(|name| name.to_str().map(str::to_owned)).collect();
        match names {
            Some(names) if !names.is_empty() => TemporaryPath::InState(names),
            _ => TemporaryPath::Elsewhere(places.temporary.clone()),
        }
    }

    fn open(&self, state: &State) -> io::Result<OwnedFd> {
        match self {
            TemporaryPath::Elsewhere(path) => state::open_path(path),
            TemporaryPath::InState(names) => {
                let mut directory = state.open()?;
                for name in names {
                    directory = state::ensure(directory, name)?.0;
                }
                Ok(directory)
            }
        }
    }
}

impl Temporary {
    /// Opened once; opened again when somebody outside has deleted it (`git clean -fdx`).
    fn handle(&self, state: &State) -> io::Result<Handle> {
        let mut slot = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = slot.as_ref()
            && rustix::fs::fstat(handle)?.st_nlink > 0
        {
            return Ok(Arc::clone(handle));
        }
        let handle = Arc::new(self.path.open(state)?);
        *slot = Some(Arc::clone(&handle));
        Ok(handle)
    }
}
