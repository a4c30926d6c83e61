//! Real programs: found on the jail's `PATH`, run in the jail, joined to the shell's own commands.

mod ahead;
mod carrying;
mod descriptors;
mod direct;
mod doors;
mod environment;
mod examination;
mod git;
mod hidden;
mod jail;
mod kept_parts;
pub mod limits;
mod plan;
mod remembered;
mod seen;
mod small_trees;
mod system;
mod tally;
mod toolchains;
mod versions;

use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bstr::{BStr, BString};
use exacta_jail::{Ending, Failure, First, Level, Manner, Running};
use exacta_policy::Policy;
use exacta_policy::limits::Allowance;
use exacta_shell::control::{Control, Progress};
use exacta_shell::host::{Ended, Identity, Program};
use exacta_shell::status::{ExitStatus, Stop};
use exacta_store::UndoError;
use exacta_store::audit::AuditError;

use self::carrying::Carriers;
use self::descriptors::Descriptors;
use self::direct::say;
use self::jail::{Jail, NotStarted};
use self::limits::Chosen;
use self::plan::Prepared;
use crate::audit::Audit;
use crate::filesystem::{Cover, CurrentRequest, Wake};
use crate::network::{NetworkOptions, Reach};
use crate::pipeline::Cleared;
use crate::undo::{Held, Keep, Layering, Transactions};

pub use self::examination::Examination;
pub use self::tally::Tally;

/// Many programs end sooner, and until then nobody has to be ready for signals who would be a thread more.
const SOON: Duration = Duration::from_millis(10);

/// What the operator says about programs.
#[derive(Debug, Clone, Default)]
pub struct ProgramOptions {
    /// The caller's `PATH`, in which toolchains are recognised.
    pub path: Vec<PathBuf>,
    /// Directories of the operator's own programs.
    pub tools: Vec<PathBuf>,
    /// Limits that the operator has set.
    pub limits: Chosen,
    /// The rung of the jail's ladder below which programs do not run; absent: namespaces.
    pub min_isolation: Option<Level>,
    pub network: NetworkOptions,
    /// What programs write goes into the project at once, and cannot be taken back.
    pub direct: bool,
    /// The operator's own state: what is remembered of the system lies there. Absent: it is looked at each time.
    pub state: Option<PathBuf>,
}

/// A program will be wanted: begins to make its jail, beside all that comes before it is started. For the start of `main`,
/// when this process has one thread and no secrets yet; see [`exacta_jail::early`].
pub fn expect() {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let (user, group) = plan::numbers(user.as_raw(), group.as_raw());
    exacta_jail::early::make(user, group);
}

/// Where a session's programs find their things on the host.
#[derive(Debug, Clone)]
pub struct Places {
    /// The project. `/tmp` is none: nothing of the machine's own is granted.
    pub root: PathBuf,
    /// What `/tmp` is.
    pub temporary: PathBuf,
    /// Kept between sessions: homes and caches of tools.
    pub cache: PathBuf,
}

/// The programs of one session.
pub struct Programs {
    prepared: Arc<Prepared>,
    request: CurrentRequest,
    jail: Arc<Jail>,
    /// Takes what is written; absent: it is written directly.
    layering: Option<Arc<Layering>>,
    policy: Arc<Policy>,
    chosen: Chosen,
    /// Without layers, because it was asked for.
    direct: bool,
    /// The running request was told that what it writes cannot be undone.
    told: AtomicBool,
    /// Carry what is still written by what programs have left behind.
    followers: Mutex<Vec<JoinHandle<()>>>,
    /// Told of each program before it starts.
    audit: OnceLock<Arc<Audit>>,
}

impl Programs {
    /// With everything kept in the project's own state, from which on `temporary` says what `/tmp` is.
    pub fn in_project(
        options: &ProgramOptions,
        root: &Path,
        temporary: &Path,
        identity: &Identity,
        policy: &Arc<Policy>,
    ) -> io::Result<Self> {
        let root = crate::operator_file::canonical(root)?;
        let state = crate::project::state_path(&root)?;
        let nothing = crate::project::grants_nothing(&root);
        // The operator's own state may lie behind links; a project's never does.
        let state = if nothing { crate::project::canonical_so_far(&state) } else { state };
        let root = if nothing { PathBuf::from("/tmp") } else { root };
        let places = Places { temporary: state.join(temporary), cache: state.join("cache"), root };
        Ok(Self::new(options, places, identity, policy))
    }

    pub fn new(
        options: &ProgramOptions,
        places: Places,
        identity: &Identity,
        policy: &Arc<Policy>,
    ) -> Self {
        let (policy, chosen) = (Arc::clone(policy), options.limits);
        Programs {
            prepared: Prepared::new(options, places, identity.clone(), Arc::clone(&policy)).into(),
            request: CurrentRequest::default(),
            jail: Arc::default(),
            layering: None,
            policy,
            chosen,
            direct: options.direct,
            told: AtomicBool::new(false),
            followers: Mutex::default(),
            audit: OnceLock::new(),
        }
    }

    /// Where each is recorded before it starts.
    pub(crate) fn announce_to(&self, audit: &Arc<Audit>) {
        let _said_once = self.audit.set(Arc::clone(audit));
    }

    /// Begins to write down that it will be started.
    fn announce(
        &self,
        program: &Program<'_>,
        cleared: Option<&Cleared>,
    ) -> Result<u64, AuditError> {
        let Some(audit) = self.audit.get() else { return Ok(0) };
        audit.start(program.argv, program.directory, cleared.map(Cleared::finding))
    }

    /// What they write goes into a layer of the request.
    pub(crate) fn with_layers(
        mut self,
        transactions: Arc<Transactions>,
        cover: Arc<Cover>,
    ) -> Self {
        let Places { root, cache, .. } = self.prepared.places();
        if let Some(state) = cache.parent() {
            let layering = Layering::new(transactions, cover, root.clone(), state);
            self.layering = Some(Arc::new(layering));
        }
        self
    }

    /// A layer for all that the request writes from now on, with the jail that shows it to programs. `false`: none can be had.
    pub(crate) fn lay(&self) -> Result<bool, Failure> {
        let limits = limits::of_jail(&self.chosen.applied_to(Allowance::of(self.policy.profile())));
        self.jail.prepare(&limits, &self.prepared, self.layering.as_deref())
    }

    /// What becomes of that layer. To be called when nothing can write to it any more.
    pub(crate) fn settle(&self, keep: Keep, exit: i32) -> Result<Option<Held>, UndoError> {
        let put_away = |dismissed| self.jail.put_away(dismissed);
        self.layering.as_ref().map_or(Ok(None), |layering| layering.settle(keep, exit, &put_away))
    }

    /// The value of `PATH` inside.
    pub fn path(&self) -> BString {
        environment::joined(&self.prepared.path)
    }

    /// What its jails are made of.
    pub fn plan(&self) -> &exacta_jail::Plan {
        self.prepared.plan()
    }

    /// Where a program of this name is; for a path, whether there is one. Those of the project are not asked for here.
    pub fn find(&self, name: &BStr) -> Option<BString> {
        self.prepared.find(name).or_else(|| {
            let layer = self.layering.as_ref()?.handle()?;
            self.prepared.find_in(layer.as_fd(), name)
        })
    }

    /// What programs have used of the processors since the session began.
    pub fn processor_time(&self) -> Duration {
        self.jail.processor_time()
    }

    /// Whatever blocks from now on ends when this request does.
    pub fn begin_request(&self, control: &Arc<Control>) {
        self.told.store(false, Ordering::Relaxed);
        self.request.set(control);
    }

    /// Runs it to its end, or until the request ends. `None`: there is no such program.
    pub fn run(&self, program: &Program<'_>, cleared: Option<&Cleared>) -> Option<Ended> {
        // A path is as the script has it: the program starts in its directory, and may look at its name.
        let is_path = program.name.contains(&b'/');
        let path = if is_path { program.name.into() } else { self.find(program.name)? };
        Some(self.run_at(program, path, cleared).unwrap_or_else(|failure| explained(&failure)))
    }

    fn run_at(
        &self,
        program: &Program<'_>,
        path: BString,
        cleared: Option<&Cleared>,
    ) -> Result<Ended, Failure> {
        let announced = match self.announce(program, cleared) {
            Ok(announced) => announced,
            Err(error) => return Ok(unrecorded(&error)),
        };
        let reach = self.reach(program, cleared);
        let inside = self.inside(program, path);
        self.choose_layer(program, cleared);
        let descriptors = Descriptors::of(program.descriptors, &self.request)?;
        let limits = limits::of_jail(&self.allowance(program, cleared));
        if self.jail.is_spent() {
            return Ok(Ended::Unable("the request has used up its processor time".into()));
        }
        let manner =
            Manner { ignored: program.control.ignored(), nowhere: self.is_gone(program.directory) };
        let given = descriptors.given();
        let first = First { program: &inside, descriptors: &given, manner };
        let recorded = || self.audit.get().map_or(Ok(()), |audit| audit.started(announced));
        let surroundings = (&*self.prepared, self.layering.as_deref());
        let running = match self.jail.start((first, &reach), &limits, surroundings, recorded) {
            Ok(running) => Arc::new(running),
            Err(NotStarted::Unrecorded(error)) => return Ok(unrecorded(&error)),
            Err(NotStarted::Failed(failure)) => return Err(failure),
        };
        let mut carriers = descriptors.carry(&self.request)?;
        let ending = {
            let _until_its_end = program.takes_over.then(|| self.hand_over(program, &running));
            self.wait(program, &running, &mut carriers)
        };
        carriers.catch_up();
        self.follow(carriers);
        let ending = ending?;
        if ending != Ending::Exited(0) {
            self.say_reached(program);
        }
        Ok(match ending {
            Ending::Exited(status) => Ended::Exited(ExitStatus(status)),
            Ending::Signalled(signal) => Ended::Signalled(i32::from(signal)),
        })
    }

    /// As the jail is to start it.
    fn inside(&self, program: &Program<'_>, path: BString) -> exacta_jail::Program {
        exacta_jail::Program {
            path,
            argv: program.argv.to_vec(),
            environment: environment::merged(
                &self.prepared.variables(),
                program.environment,
                self.prepared.root(),
                &self.prepared.home,
            ),
            directory: program.directory.into(),
            file_mode_mask: program.file_mode_mask,
        }
    }

    /// Whether the directory in which the script is was removed.
    fn is_gone(&self, directory: &BStr) -> bool {
        let layer = self.layering.as_ref().and_then(|layering| layering.handle());
        self.prepared.is_gone(directory, layer.as_ref().map(|layer| layer.as_fd()))
    }

    /// The hosts that a program may reach. None for one that the script has put in the place of another.
    fn reach(&self, program: &Program<'_>, cleared: Option<&Cleared>) -> Reach {
        let Some(cleared) = cleared else { return Reach::default() };
        let by_path = program.name.contains(&b'/');
        let named = cleared.commands().first().and_then(|words| words.first());
        let asked_by_path = named.is_some_and(|name| name.contains(&b'/'));
        let system = by_path && self.prepared.is_on_path(program.name);
        if by_path && !asked_by_path && !system {
            return Reach::default();
        }
        let mut hosts = cleared.hosts().to_vec();
        if !by_path || system {
            hosts.extend(self.prepared.registries().grants(cleared.commands()));
        }
        Reach(hosts)
    }

    /// How much of the machine a request may use from this program on. What it is known to run counts too: the build of
    /// `timeout 600 make` is a build.
    fn allowance(&self, program: &Program<'_>, cleared: Option<&Cleared>) -> Allowance {
        let usual = Allowance::of(self.policy.profile());
        let inner = cleared.map_or(&[][..], Cleared::commands).iter().map(Vec::as_slice);
        let all = std::iter::once(program.argv).chain(inner);
        let raised = all.fold(usual, |so_far, words| so_far.raised_for(words).unwrap_or(so_far));
        self.chosen.applied_to(raised)
    }

    /// A limit that was reached is named, where the program says what it has to say.
    fn say_reached(&self, program: &Program<'_>) {
        let (hits, limits) = self.jail.reached();
        for hit in hits {
            say(program, &limits::reached(hit, &limits));
        }
    }

    /// Until the program has ended, or the process of the script that runs it.
    fn wait(
        &self,
        program: &Program<'_>,
        running: &Running,
        carriers: &mut Carriers,
    ) -> Result<Ending, Failure> {
        let wake = Wake::for_a_moment(program.control)
            .map_err(|error| Failure::new("be told of what happens", error))?;
        let (short, soon) = (Instant::now() + exacta_jail::SHORT, Instant::now() + SOON);
        loop {
            // Before the look, so that what happens meanwhile is not missed.
            wake.clear();
            let (signal, own) = match goes_on(program, running)? {
                Ok(()) => {
                    let now = Instant::now();
                    let is_soon = Some(soon).filter(|soon| now < *soon);
                    if is_soon.is_none() {
                        program.control.begin_to_wait();
                    }
                    if now >= short {
                        running.attend()?;
                    }
                    let (handle, questions) = running.handle_for_now();
                    let short = questions.as_ref().map(|_| short);
                    let next = program.control.deadline().into_iter().chain(is_soon);
                    let next = next.chain(short).min();
                    let left = next.map(|end| end.saturating_duration_since(now));
                    let asking = questions.as_ref().map(|it| it.as_fd());
                    let events = [Some(handle), asking, Some(wake.as_fd())];
                    // To carry what a program writes may take as long as who reads it likes, and whoever does that can look
                    // after nothing else.
                    let [ended, asked, _] = match short {
                        Some(_) => Carriers::default().work(events, left),
                        None => carriers.work(events, left),
                    };
                    if ended {
                        return running.wait();
                    }
                    if asked {
                        running.attend()?;
                    }
                    continue;
                }
                Err(Stop::Killed(signal)) => {
                    let own = program.takes_over && program.control.take_killed().is_some();
                    (u8::try_from(signal).unwrap_or(9), own)
                }
                Err(_) => (9, false),
            };
            self.jail.signal(running, signal)?;
            if !own {
                return Ok(Ending::Signalled(signal));
            }
        }
    }

    /// Signals for the process of the script go to the program.
    fn hand_over<'a>(&self, program: &Program<'a>, running: &Arc<Running>) -> Succession<'a> {
        let (jail, running) = (Arc::clone(&self.jail), Arc::clone(running));
        program.control.succeed(Some(Arc::new(move |signal| {
            let _it_may_have_ended =
                u8::try_from(signal).map(|signal| jail.signal(&running, signal));
        })));
        Succession(program.control)
    }

    fn follow(&self, carriers: Carriers) {
        // Without a thread nobody can carry: what a daemon writes is lost then, as if its reader had gone.
        if let Ok(Some(follower)) = carriers.follow() {
            self.followers.lock().unwrap_or_else(PoisonError::into_inner).push(follower);
        }
    }

    /// This process ends, and so does everything in the jail.
    pub fn leave(&self) {
        self.jail.leave();
        // A view is hundreds of small pieces, which the end of the process frees at once.
        std::mem::forget(Arc::clone(&self.prepared));
    }

    /// Nothing that a request has started outlives it, and all that it has written has arrived. What its programs have
    /// used, if there were any. After the last one of a session nothing is made ready for another.
    pub fn end_request(&self, last: bool) -> Option<Tally> {
        let tally = self.jail.sweep(self.layering.as_deref(), last);
        let followers =
            std::mem::take(&mut *self.followers.lock().unwrap_or_else(PoisonError::into_inner));
        for follower in followers {
            let _it_has_said_so_itself = follower.join();
        }
        tally
    }
}

impl Drop for Programs {
    /// Whoever lays a layer ahead may still have the jail.
    fn drop(&mut self) {
        self.jail.end();
    }
}

/// Whether the process of the script goes on. One that is stopped looks after nobody, so a thread does before it waits.
fn goes_on(program: &Program<'_>, running: &Running) -> Result<Result<(), Stop>, Failure> {
    match program.control.check_at_once() {
        Ok(Progress::Stopped) => running.attend().map(|()| program.control.check()),
        checked => Ok(checked.map(|_| ())),
    }
}

/// Gives a process of the script its signals back.
struct Succession<'a>(&'a Control);

impl Drop for Succession<'_> {
    fn drop(&mut self) {
        self.0.succeed(None);
    }
}

/// No record, no program.
fn unrecorded(error: &AuditError) -> Ended {
    Ended::Unable(format!("it cannot be recorded: {error}"))
}

/// What could not be done, for whoever asked for it.
fn explained(failure: &Failure) -> Ended {
    let error = io::Error::from_raw_os_error(failure.errno);
    let too_long = failure.errno == rustix::io::Errno::TOOBIG.raw_os_error();
    if failure.step == "execute" || too_long {
        return Ended::NotRun(error);
    }
    Ended::Unable(format!("could not {}: {}", failure.step, exacta_shell::errno::text(&error)))
}
