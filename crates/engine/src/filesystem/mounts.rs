//! What a script sees and where it really is: the project at its own path, a private `/tmp`, a few devices.
//!
//! Everything else has no place in this table, and what has no place does not exist.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::path;
use super::points::Points;
use super::resolve::DIRECTORY;
use super::state::{self, State};
use super::walk::{Ground, Step};
use super::{Cover, Handle};
use crate::project;

/// Where the private temporary directory is for a script.
pub(crate) const TEMPORARY: &str = "/tmp";

/// Where the pieces of a session's file system lie on the host.
#[derive(Debug, Clone)]
pub struct Places {
    /// The project. `/` grants nothing, and `/tmp` is the private one: both leave only `/tmp`, and what was to lie in
    /// them lies with the user's own state.
    pub root: PathBuf,
    /// exacta's state, normally `ROOT/.clada`.
    pub state: PathBuf,
    /// What the script sees as `/tmp`, normally `ROOT/.clada/tmp`.
    pub temporary: PathBuf,
    /// For kernels and sandboxes that do not answer `openat2` with an honest error.
    pub avoid_openat2: bool,
    /// Whether the private `/tmp` is made on first use. For a tree that is only read it is not.
    pub make_temporary: bool,
}

impl Places {
    /// Everything in the project itself.
    pub fn in_project(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let state = root.join(path::STATE);
        Places {
            temporary: state.join("tmp"),
            state,
            root,
            avoid_openat2: false,
            make_temporary: true,
        }
    }
}

enum Source {
    Project(Handle),
    Temporary(Temporary),
}

/// The private `/tmp`: made when it is first used, so that a session without it costs nothing.
struct Temporary {
    path: TemporaryPath,
    create: bool,
    handle: Mutex<Option<Handle>>,
}

enum TemporaryPath {
    InState(Vec<String>),
    Elsewhere(PathBuf),
}

pub(crate) struct Mounts {
    points: Points,
    /// Beside `points`, in the same order.
    sources: Vec<Source>,
    state: State,
    root: BString,
    /// Over the project, at times.
    pub(crate) cover: Arc<Cover>,
}

impl Mounts {
    pub(crate) fn open(places: &Places) -> io::Result<Self> {
        let (handle, real) = open_root(&places.root)?;
        let granted = !project::grants_nothing(Path::new(OsStr::from_bytes(&real)));
        let mut places = Cow::Borrowed(places);
        let state = if granted && is_inside_root(&places, &real) {
            State::InProject(Arc::clone(&handle))
        } else {
            if is_inside_root(&places, &real) {
                places = Cow::Owned(beside(&places, &real)?);
            }
            State::Elsewhere(places.state.clone())
        };
        let temporary = Source::Temporary(Temporary::new(&places));
        let (points, mut sources) = (Points::of(&real, granted), vec![temporary]);
        if granted {
            let at = points.position(real.as_bstr()).unwrap_or(0);
            sources.insert(at, Source::Project(handle));
        }
        let root = if granted { real } else { TEMPORARY.into() };
        Ok(Mounts { points, sources, state, root, cover: Arc::default() })
    }

    pub(crate) fn root(&self) -> &BStr {
        self.root.as_bstr()
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    pub(crate) fn is_project(&self, mount: usize) -> bool {
        matches!(self.sources.get(mount), Some(Source::Project(_)))
    }

    /// The project's handle, if a project is mounted.
    pub(crate) fn project(&self) -> Option<Handle> {
        self.sources.iter().find_map(|source| match source {
            Source::Project(handle) => Some(self.covered(handle)),
            Source::Temporary(_) => None,
        })
    }

    /// The project, or what lies over it.
    fn covered(&self, project: &Handle) -> Handle {
        self.cover.handle().unwrap_or_else(|| Arc::clone(project))
    }
}

impl Ground for Mounts {
    type Place = Handle;

    fn points(&self) -> &Points {
        &self.points
    }

    fn base(&self, mount: usize) -> io::Result<Handle> {
        match self.sources.get(mount) {
            Some(Source::Project(handle)) => Ok(self.covered(handle)),
            Some(Source::Temporary(temporary)) => temporary.handle(&self.state),
            None => Err(super::missing()),
        }
    }

    fn step(&self, place: &Handle, name: &BStr) -> io::Result<Step<Handle>> {
        match rustix::fs::openat(place, &**name, DIRECTORY, Mode::empty()) {
            Ok(child) => return Ok(Step::Directory(Arc::new(child))),
            Err(Errno::NOENT) => return Ok(Step::Missing),
            Err(Errno::NOTDIR | Errno::LOOP) => {}
            Err(error) => return Err(error.into()),
        }
        match rustix::fs::readlinkat(place, &**name, Vec::new()) {
            Ok(text) => Ok(Step::Link(text.into_bytes().into())),
            Err(Errno::INVAL) => Ok(Step::Other),
            Err(Errno::NOENT) => Ok(Step::Missing),
            Err(error) => Err(error.into()),
        }
    }
}

/// The operator's own path may lead through symbolic links; the script sees where it ends.
fn open_root(path: &Path) -> io::Result<(Handle, BString)> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let handle = rustix::fs::open(path, flags, Mode::empty())?;
    let number = handle.as_raw_fd();
    // One call where there is a `/proc`; realpath(3) takes one per component.
    let real = match rustix::fs::readlink(format!("/proc/self/fd/{number}"), Vec::new()) {
        Ok(real) if real.as_bytes().starts_with(b"/") => BString::from(real.into_bytes()),
        _ => std::fs::canonicalize(path)?.into_os_string().into_encoded_bytes().into(),
    };
    Ok((Arc::new(handle), real))
}

/// The same places for a root of which nothing is granted: not even exacta writes there.
fn beside(places: &Places, real: &BString) -> io::Result<Places> {
    let state = project::state_path(Path::new(OsStr::from_bytes(real)))?;
    let temporary = match places.temporary.strip_prefix(&places.state) {
        Ok(below) => state.join(below),
        Err(_) => places.temporary.clone(),
    };
    Ok(Places { state, temporary, ..places.clone() })
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

    fn open_existing(&self, state: &State) -> io::Result<OwnedFd> {
        match self {
            TemporaryPath::Elsewhere(path) => state::open_existing_path(path),
            TemporaryPath::InState(names) => {
                let mut directory = state.open_existing()?;
                for name in names {
                    directory = state::open_existing(directory, name)?;
                }
                Ok(directory)
            }
        }
    }
}

impl Temporary {
    fn new(places: &Places) -> Self {
        let path = TemporaryPath::of(places);
        Temporary { path, create: places.make_temporary, handle: Mutex::new(None) }
    }

    /// Opened once; opened again when somebody outside has deleted it (`git clean -fdx`).
    fn handle(&self, state: &State) -> io::Result<Handle> {
        let mut slot = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = slot.as_ref()
            && rustix::fs::fstat(handle)?.st_nlink > 0
        {
            return Ok(Arc::clone(handle));
        }
        if !self.create {
            // Reading must not make what nobody has made.
            let handle = Arc::new(self.path.open_existing(state)?);
            *slot = Some(Arc::clone(&handle));
            return Ok(handle);
        }
        let handle = Arc::new(self.path.open(state)?);
        *slot = Some(Arc::clone(&handle));
        Ok(handle)
    }
}
