//! Real programs: found on the jail's `PATH`, run in the jail, joined to the shell's own commands.

mod descriptors;
mod environment;
mod system;
mod toolchains;

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bstr::{BStr, BString, ByteSlice};
use exacta_jail::plan::{Access, Limits, Network, Person, Scratch, Tree, View};
use exacta_jail::{Cell, Ending, Failure, Plan, Running, Spawner};
use exacta_shell::host::{Identity, Program};
use exacta_shell::status::ExitStatus;
use rustix::event::PollFlags;

use self::descriptors::Descriptors;
use self::toolchains::Toolchains;
use crate::filesystem::CurrentRequest;

/// What the operator says about programs.
#[derive(Debug, Clone, Default)]
pub struct ProgramOptions {
    /// The caller's `PATH`, in which toolchains are recognised.
    pub path: Vec<PathBuf>,
    /// Directories of the operator's own programs.
    pub tools: Vec<PathBuf>,
    /// Names that do not exist inside.
    pub hidden: Vec<String>,
}

/// Where a session's programs find their things on the host.
#[derive(Debug, Clone)]
pub struct Places {
    pub root: PathBuf,
    /// What `/tmp` is.
    pub temporary: PathBuf,
    /// Kept between sessions: homes and caches of tools.
    pub cache: PathBuf,
}

/// The programs of one session.
pub struct Programs {
    plan: Plan,
    /// Directories inside in which programs are found, in order. They are the same on the host.
    path: Vec<PathBuf>,
    environment: Vec<(BString, BString)>,
    hidden: Vec<String>,
    home: PathBuf,
    root: PathBuf,
    request: CurrentRequest,
    jail: Mutex<Option<Jail>>,
}

/// A jail that is ready. Fields are dropped in this order.
struct Jail {
    cell: Cell,
    _spawner: Arc<Spawner>,
}

/// Where the system's own programs are.
const SYSTEM_PATH: [&str; 7] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/games"];

/// Where programs are at home: on the cache volume, so that nothing of it lands in the project.
const HOME: &str = "/home/agent";

/// Shared memory and other small things of programs.
const SHARED_MEMORY: u64 = 256 << 20;

impl Programs {
    /// With everything kept in the project's own state.
    pub fn in_project(options: ProgramOptions, root: &Path) -> std::io::Result<Self> {
        let root = std::fs::canonicalize(root)?;
        let state = crate::project::state_directory(&root)?;
        let places = Places { temporary: state.join("tmp"), cache: state.join("cache"), root };
        std::fs::create_dir_all(&places.temporary)?;
        std::fs::create_dir_all(places.cache.join("home"))?;
        let identity = crate::host::default_identity();
        let request = CurrentRequest::of_standard_streams().clone();
        let programs = Self::new(options, &places, &identity, request);
        for tree in &programs.plan.view.trees {
            if let Access::Layer(folder) = &tree.access {
                std::fs::create_dir_all(folder.join("upper"))?;
                std::fs::create_dir_all(folder.join("work"))?;
            }
        }
        Ok(programs)
    }

    pub fn new(
        options: ProgramOptions,
        places: &Places,
        identity: &Identity,
        request: CurrentRequest,
    ) -> Self {
        let toolchains = toolchains::find(options.path.iter().map(PathBuf::as_path), &places.cache);
        let path = path(&toolchains, &options.tools);
        let view = view(&options, places, &toolchains, identity);
        let person = Person {
            user_id: identity.user_id.max(1),
            group_id: identity.group_id.max(1),
            host_name: identity.host_name.to_str_lossy().into_owned(),
        };
        let plan = Plan {
            view,
            person,
            limits: Limits::default(),
            network: Network::Off,
            debugging: false,
        };
        let home = PathBuf::from(HOME);
        let environment = environment::of_programs(&path, &home, &toolchains);
        Programs {
            plan,
            path,
            environment,
            hidden: options.hidden,
            home,
            root: places.root.clone(),
            request,
            jail: Mutex::default(),
        }
    }

    /// The value of `PATH` inside.
    pub fn path(&self) -> BString {
        environment::joined(&self.path)
    }

    /// Where a program of this name is; for a path, whether there is one. Those of the project are not asked for here.
    pub fn find(&self, name: &BStr) -> Option<BString> {
        let text = name.to_str().ok().filter(|text| !text.is_empty())?;
        let last = text.rsplit('/').next().unwrap_or(text);
        if self.hidden.iter().any(|hidden| hidden == last) {
            return None;
        }
        let mut candidates = self.path.iter().map(|directory| directory.join(text));
        let found = if text.contains('/') {
            Some(PathBuf::from(text)).filter(|path| self.is_in_view(path) && is_program(path))
        } else {
            candidates.find(|path| is_program(path))
        };
        Some(BString::from(found?.into_os_string().into_encoded_bytes()))
    }

    /// The host's file of this path is the jail's.
    fn is_in_view(&self, path: &Path) -> bool {
        let plain = path.components().all(|part| !matches!(part, Component::ParentDir));
        let view = &self.plan.view;
        let trees = view.trees.iter().map(|tree| &tree.target);
        let mut all = trees.chain(view.links.iter().map(|link| &link.target));
        plain && all.any(|tree| path.starts_with(tree))
    }

    /// Where the program is that a command means.
    pub fn locate(&self, program: &Program<'_>) -> Option<BString> {
        let name = program.argv.first()?;
        if name.contains(&b'/') {
            return Some(crate::places::absolute(program.directory, name.as_bstr()));
        }
        self.find(name.as_bstr())
    }

    /// Says on its standard error why a program could not run.
    pub fn explain(&self, program: &Program<'_>, failure: &Failure) -> ExitStatus {
        let name = program.argv.first().map(|name| name.to_str_lossy()).unwrap_or_default();
        let errors = program.descriptors.iter().find(|(number, _)| *number == 2);
        if let Some((_, errors)) = errors {
            let _nobody_may_read =
                errors.write_all(format!("exacta: {name}: {failure}\n").as_bytes());
        }
        ExitStatus::from_number(125)
    }

    /// Runs it to its end, or until the request ends.
    pub fn run(&self, program: &Program<'_>, path: BString) -> Result<ExitStatus, Failure> {
        let program_inside = exacta_jail::Program {
            path,
            argv: program.argv.to_vec(),
            environment: environment::merged(
                &self.environment,
                program.environment,
                &self.root,
                &self.home,
            ),
            directory: program.directory.into(),
            file_mode_mask: 0o022,
        };
        let descriptors = Descriptors::of(program.descriptors)?;
        let running = self.start(&program_inside, &descriptors)?;
        let pumps = descriptors.pump(&self.request)?;
        let ending = self.wait(&running)?;
        pumps.finish();
        Ok(match ending {
            Ending::Exited(status) => ExitStatus(status),
            Ending::Signalled(signal) => ExitStatus::from_signal(i32::from(signal)),
        })
    }

    fn start(
        &self,
        program: &exacta_jail::Program,
        descriptors: &Descriptors,
    ) -> Result<Running, Failure> {
        let mut jail = self.jail.lock().unwrap_or_else(PoisonError::into_inner);
        if jail.is_none() {
            let spawner = Arc::new(Spawner::start()?);
            let cell = spawner.build(&self.plan)?;
            *jail = Some(Jail { cell, _spawner: spawner });
        }
        match jail.as_mut() {
            Some(jail) => jail.cell.start(program, &descriptors.given()),
            None => Err(Failure::new("start a program", rustix::io::Errno::INVAL)),
        }
    }

    fn wait(&self, running: &Running) -> Result<Ending, Failure> {
        let mut asked = false;
        loop {
            match self.request.wait(running.handle(), PollFlags::IN, None) {
                Ok(_) => return running.wait(),
                Err(_) if asked => return Ok(Ending::Signalled(9)),
                Err(_) => {
                    asked = true;
                    self.signal(running, 9)?;
                    return running.wait();
                }
            }
        }
    }

    fn signal(&self, running: &Running, signal: u8) -> Result<(), Failure> {
        let mut jail = self.jail.lock().unwrap_or_else(PoisonError::into_inner);
        jail.as_mut().map_or(Ok(()), |jail| jail.cell.signal(running, signal))
    }

    /// Nothing that a request has started outlives it.
    pub fn end_request(&self) {
        let mut jail = self.jail.lock().unwrap_or_else(PoisonError::into_inner);
        // A jail that cannot be swept is not used again; dropping it ends everything in it.
        if jail.as_mut().is_some_and(|jail| jail.cell.sweep().is_err()) {
            *jail = None;
        }
    }
}

fn path(toolchains: &Toolchains, tools: &[PathBuf]) -> Vec<PathBuf> {
    let system = SYSTEM_PATH.iter().map(PathBuf::from);
    tools.iter().cloned().chain(toolchains.path.iter().cloned()).chain(system).collect()
}

fn view(
    options: &ProgramOptions,
    places: &Places,
    toolchains: &Toolchains,
    identity: &Identity,
) -> View {
    let mut view = View::default();
    view.scratch.push(Scratch { target: "/dev/shm".into(), bytes: SHARED_MEMORY });
    system::add(&mut view, &options.hidden, identity);
    view.trees.extend(toolchains.trees.iter().cloned());
    view.trees
        .extend(options.tools.iter().map(|tools| system::read_only(tools.clone(), Vec::new())));
    let write = |source: &Path, target: &Path, hidden: Vec<PathBuf>| Tree {
        source: source.to_owned(),
        target: target.to_owned(),
        access: Access::Write,
        hidden,
    };
    view.trees.push(write(&places.temporary, Path::new("/tmp"), Vec::new()));
    view.trees.push(write(&places.cache.join("home"), Path::new(HOME), Vec::new()));
    view.trees.push(write(&places.root, &places.root, vec![".clada".into()]));
    view
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
