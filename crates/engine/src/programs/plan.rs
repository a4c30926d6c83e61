//! From a session to the plan of its jail: what programs see, and where they are found.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's own system is looked at, which programs see read-only"
)]

use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bstr::{BStr, BString, ByteSlice};
use exacta_jail::plan::{Access, Limits, Network, Person, Scratch, Tree, View};
use exacta_jail::{Level, Plan};
use exacta_policy::Policy;
use exacta_shell::host::Identity;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::kept_parts::InUse;
use super::remembered::Remembered;
use super::toolchains::{self, Toolchains};
use super::{Places, ProgramOptions, environment, git, kept_parts, system};
use crate::network::{self, Operator, Outlook, Registries};

/// Where the system's own programs are.
const SYSTEM_PATH: [&str; 7] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/games"];

/// Where programs are at home: on the cache volume, so that nothing of it lands in the project.
const HOME: &str = "/home/agent";

/// Shared memory and other small things of programs.
const SHARED_MEMORY: u64 = 256 << 20;

/// What does not change while a session lasts. The system is looked at when the first program is asked for: a session
/// that needs none pays for nothing.
pub struct Prepared {
    places: Places,
    identity: Identity,
    operator_home: Option<PathBuf>,
    /// Says which programs do not exist inside.
    policy: Arc<Policy>,
    tools: Vec<PathBuf>,
    /// Where what is known of the system is remembered.
    state: Option<PathBuf>,
    toolchains: Toolchains,
    /// Directories inside in which programs are found, in order. They are the same on the host.
    pub path: Vec<PathBuf>,
    pub environment: Vec<(BString, BString)>,
    pub home: PathBuf,
    /// What a jail must be at least.
    pub least: Level,
    /// How the proxy sees the world.
    pub outlook: Outlook,
    operator: Operator,
    registries: OnceLock<Registries>,
    plan: OnceLock<Plan>,
    /// Of the system.
    remembered: OnceLock<Mutex<Remembered>>,
}

impl Prepared {
    pub fn new(
        options: &ProgramOptions,
        places: Places,
        identity: Identity,
        policy: Arc<Policy>,
    ) -> Self {
        let toolchains = toolchains::find(
            options.path.iter().map(PathBuf::as_path),
            &places.cache,
            &places.root,
        );
        let tools = options.tools.clone();
        let path = path(&toolchains, &tools);
        let home = PathBuf::from(HOME);
        let environment = environment::of_programs(&path, &home, &toolchains);
        let outlook = options.network.outlook();
        let plan = OnceLock::new();
        let state = options.state.clone();
        let least = options.min_isolation.unwrap_or(Level::Namespaces);
        Prepared {
            places,
            identity,
            operator_home: options.network.operator.home.clone(),
            policy,
            tools,
            state,
            toolchains,
            path,
            environment,
            home,
            least,
            outlook,
            operator: options.network.operator.clone(),
            registries: OnceLock::new(),
            plan,
            remembered: OnceLock::new(),
        }
    }

    pub fn places(&self) -> &Places {
        &self.places
    }

    pub fn root(&self) -> &Path {
        &self.places.root
    }

    /// The operator's package managers, as they are when the first program is asked for.
    pub fn registries(&self) -> &Registries {
        self.registries.get_or_init(|| Registries::read(&self.operator, &self.places.root))
    }

    /// What every program finds in its environment unless the script says otherwise.
    pub fn variables(&self) -> Vec<(BString, BString)> {
        self.environment.iter().chain(&self.registries().variables).cloned().collect()
    }

    pub fn plan(&self) -> &Plan {
        self.plan.get_or_init(|| Plan {
            view: self.view(),
            person: self.person(),
            limits: Limits::default(),
            // Nobody listens there until a program is granted something.
            network: Network::Proxy { port: network::PORT },
            debugging: false,
        })
    }

    /// Who programs are told they are.
    pub fn person(&self) -> Person {
        let (user_id, group_id) = numbers(self.identity.user_id, self.identity.group_id);
        let host_name = self.identity.host_name.to_str_lossy().into_owned();
        Person { user_id, group_id, host_name }
    }

    /// Makes what the plan needs to be there. What is already there may have come with the repository: a link in place
    /// of one of these directories would give programs whatever it leads to.
    pub fn make_places(&self) -> std::io::Result<()> {
        let state = crate::project::state_directory(&self.places.root)?;
        let state = crate::project::canonical_so_far(&state);
        make_place(&state, &self.places.temporary)?;
        make_place(&state, &self.places.cache.join("home"))?;
        for tree in &self.plan().view.trees {
            if let Access::Layer(folder) = &tree.access {
                make_place(&state, &folder.join("upper"))?;
                make_place(&state, &folder.join("work"))?;
            }
        }
        Ok(())
    }

    fn view(&self) -> View {
        let mut view = View::default();
        view.scratch.push(Scratch { target: "/dev/shm".into(), bytes: SHARED_MEMORY });
        system::add(&mut view, &self.policy, &self.identity, &mut self.remembered());
        view.files.extend(git::settings(self.operator_home.as_deref()));
        view.files.extend(self.registries().files.iter().cloned());
        view.trees.extend(self.toolchains.trees.iter().cloned());
        let tools = self.tools.iter().map(|tools| system::read_only(tools.clone(), Vec::new()));
        view.trees.extend(tools);
        let write = |source: &Path, target: &Path, hidden: Vec<PathBuf>| Tree {
            source: source.to_owned(),
            target: target.to_owned(),
            access: Access::Write,
            hidden,
        };
        let Places { root, temporary, cache } = &self.places;
        view.trees.push(write(temporary, Path::new("/tmp"), Vec::new()));
        view.trees.push(write(&cache.join("home"), Path::new(HOME), Vec::new()));
        if !crate::project::grants_nothing(root) {
            view.trees.push(write(root, root, vec![".clada".into()]));
        }
        // What lies in another tree comes after it: the operator's tools may be in /tmp, or in the project.
        view.trees.sort_by_key(|tree| tree.target.components().count());
        view
    }

    /// Has the view of a jail use what is kept of it, for as long as the answer is there. Nothing is added to it after that.
    pub fn use_kept(&self, view: &mut View) -> InUse {
        let mut remembered = self.remembered();
        let in_use = kept_parts::use_for(view, self.believed_state(), &mut remembered);
        remembered.remember();
        in_use
    }

    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        let open = || Mutex::new(Remembered::open(self.believed_state()));
        self.remembered.get_or_init(open).lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is remembered in it is believed: programs cannot write there.
    fn believed_state(&self) -> Option<&Path> {
        let root = &self.places.root;
        let outside = |state: &&Path| {
            let state = crate::project::canonical_so_far(state);
            !state.starts_with(root) && !root.starts_with(&state)
        };
        self.state.as_deref().filter(outside)
    }

    /// Whether a directory in which the script is has been removed: then programs run on in what is left of it.
    pub fn is_gone(&self, directory: &BStr, layer: Option<BorrowedFd<'_>>) -> bool {
        let Ok(path) = directory.to_path() else { return false };
        let within = |place: &Path| path.strip_prefix(place).ok();
        let host = match within(&self.places.root) {
            Some(below) => match layer {
                // What was removed in a layer is still there beneath it.
                Some(layer) => return is_gone_in(layer, below),
                None => path.to_owned(),
            },
            // Elsewhere it is for the jail to say that there is no such directory.
            None => match within(Path::new("/tmp")) {
                Some(below) if !below.as_os_str().is_empty() => self.places.temporary.join(below),
                _ => return false,
            },
        };
        let missing = |error: std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
        std::fs::symlink_metadata(host).is_err_and(missing)
    }

    /// Where a program of this name is; for an absolute path, whether there is one.
    pub fn find(&self, name: &BStr) -> Option<BString> {
        let text = name.to_str().ok().filter(|text| !text.is_empty())?;
        let mut candidates = self.path.iter().map(|directory| directory.join(text));
        let found = if text.contains('/') {
            Some(PathBuf::from(text)).filter(|path| self.is_program(path))
        } else {
            candidates.find(|path| self.is_program(path))
        };
        Some(BString::from(found?.into_os_string().into_encoded_bytes()))
    }

    /// The same for a link of the project that is there in a layer only, and leads to a program outside of the project:
    /// `env/bin/python` of an environment that was just made.
    pub fn find_in(&self, layer: BorrowedFd<'_>, name: &BStr) -> Option<BString> {
        let path = name.to_path().ok()?;
        let below = path.strip_prefix(&self.places.root).ok()?;
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let found = rustix::fs::openat(layer, below, flags, Mode::empty()).ok()?;
        let link = format!("/proc/self/fd/{}", found.as_raw_fd());
        let real = std::fs::read_link(link).ok()?;
        (self.is_program(&real) && !real.starts_with(&self.places.root)).then(|| name.to_owned())
    }

    /// Something that can be executed inside. Where its links lead must be there too: nothing is said about the rest
    /// of the host.
    fn is_program(&self, path: &Path) -> bool {
        use std::os::unix::fs::PermissionsExt;
        let Ok(real) = std::fs::canonicalize(path) else { return false };
        [path, &real].into_iter().all(|path| self.is_in_view(path) && !self.is_hidden(path))
            && std::fs::metadata(&real)
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    }

    /// In a directory in which programs are found by their names.
    pub fn is_on_path(&self, path: &BStr) -> bool {
        let path = path.to_str().ok().map(Path::new);
        let folder = path.and_then(Path::parent);
        folder.is_some_and(|folder| self.path.iter().any(|known| known == folder))
    }

    fn is_hidden(&self, path: &Path) -> bool {
        let is_state = path.components().any(|part| part.as_os_str() == ".clada");
        let name = path.file_name().map(|name| name.as_encoded_bytes().as_bstr());
        // Those of the project are judged, and never hidden.
        let is_denied = name.is_some_and(|name| self.policy.denies_outright(name));
        is_state || (is_denied && !path.starts_with(&self.places.root))
    }

    /// The host's file of this path is the jail's.
    fn is_in_view(&self, path: &Path) -> bool {
        let plain = path.components().all(|part| !matches!(part, Component::ParentDir));
        let view = &self.plan().view;
        let trees = view.trees.iter().filter(|tree| tree.source == tree.target);
        let mut all =
            trees.map(|tree| &tree.target).chain(view.links.iter().map(|link| &link.target));
        plain && all.any(|tree| path.starts_with(tree))
    }
}

/// A directory of the state, or one that the operator has named.
fn make_place(state: &Path, place: &Path) -> std::io::Result<()> {
    match place.strip_prefix(state) {
        Ok(below) => crate::project::directory_in_state(state, below).map(|_| ()),
        Err(_) => std::fs::create_dir_all(place),
    }
}

/// Nobody is root inside.
pub fn numbers(user: u32, group: u32) -> (u32, u32) {
    (user.max(1), group.max(1))
}

fn is_gone_in(layer: BorrowedFd<'_>, below: &Path) -> bool {
    let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
    let found = rustix::fs::statat(layer, below, AtFlags::SYMLINK_NOFOLLOW);
    found.is_err_and(|error| error == Errno::NOENT)
}

fn path(toolchains: &Toolchains, tools: &[PathBuf]) -> Vec<PathBuf> {
    let system = SYSTEM_PATH.iter().map(PathBuf::from);
    tools.iter().cloned().chain(toolchains.path.iter().cloned()).chain(system).collect()
}
