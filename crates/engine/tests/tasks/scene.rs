//! A project with a state of its own, and tasks in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use exacta::SessionOptions;
use exacta::approvals::{Approver, Who};
use exacta::audit::AuditOptions;
use exacta::configuration::TaskSettings;
use exacta::gate::{Face, Judgement};
use exacta::policy::rules::TaskList;
use exacta::policy::{Policy, Profile};
use exacta::programs::ProgramOptions;
use exacta::tasks::{
    Event, Grounds, LogKind, Manner, Origin, Plan, PlannedStep, Planner, PlanningFailed, Retry,
    State, Stopper, Task, Tasks, Watcher, Wishes,
};

static SERIAL: AtomicUsize = AtomicUsize::new(0);

/// Beside S4's safe list.
const ALLOWED: &[&str] = &[
    "touch", "mkdir", "mv", "cp", "sleep", "tee", "seq", "sh", "perl", "test", "false", "true",
    "sed",
];

/// Which real programs there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Programs {
    None,
    Layered,
    /// What they write cannot be taken back.
    Direct,
}

pub struct Scene {
    place: PathBuf,
    pub root: PathBuf,
    pub state: PathBuf,
    pub programs: Programs,
}

impl Scene {
    pub fn new() -> Self {
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("exacta-tasks-{}-{serial}", std::process::id());
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let (root, state) = (place.join("project"), place.join("state"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&state).unwrap();
        let root = root.canonicalize().unwrap();
        Scene { place, root, state, programs: Programs::None }
    }

    pub fn with_programs() -> Self {
        let mut scene = Scene::new();
        scene.programs = Programs::Layered;
        scene
    }

    pub fn tasks(&self) -> Tasks {
        open(&self.root, &self.state, self.programs)
    }

    pub fn tasks_with(&self, settings: TaskSettings) -> Tasks {
        open_with(&self.root, &self.state, self.programs, settings)
    }

    pub fn write(&self, name: &str, content: &str) {
        fs::write(self.root.join(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap_or_default()
    }

    pub fn has(&self, name: &str) -> bool {
        self.root.join(name).exists()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _it_is_in_the_build_directory = fs::remove_dir_all(&self.place);
    }
}

pub fn open(root: &Path, state: &Path, programs: Programs) -> Tasks {
    open_with(root, state, programs, TaskSettings::default())
}

fn open_with(root: &Path, state: &Path, programs: Programs, settings: TaskSettings) -> Tasks {
    let policy = Policy::builtin(Profile::Dev).unwrap();
    let list = ALLOWED.iter().fold(TaskList::default(), |list, name| list.with(name).unwrap());
    let policy = Arc::new(policy.for_tasks(list));
    let (given, keys) = (root.to_owned(), state.join("audit"));
    let launch = move |approver: Arc<dyn Approver>| {
        let mut options = SessionOptions::new(&given);
        let judgement = Judgement::standard()?;
        let policy = Arc::clone(&policy);
        options.judgement = Some(Judgement { policy, approver, face: Face::Run, ..judgement });
        options.audit = Some(AuditOptions { keys: Some(keys.clone()), ..AuditOptions::default() });
        options.environment = vec![("LC_ALL".into(), "C.UTF-8".into())];
        if programs != Programs::None {
            let direct = programs == Programs::Direct;
            options.programs = Some(ProgramOptions { direct, ..ProgramOptions::default() });
        }
        Ok(options)
    };
    let state = Some(state.to_owned());
    Tasks::open(Grounds { root: root.to_owned(), state, launch: Arc::new(launch), settings })
        .unwrap()
}

pub fn step(command: &str) -> PlannedStep {
    let retry = Retry { attempts: 0, backoff: Duration::from_millis(20) };
    PlannedStep { command: command.into(), retry, ..PlannedStep::default() }
}

pub fn tried(command: &str, attempts: u32) -> PlannedStep {
    let retry = Retry { attempts, backoff: Duration::from_millis(20) };
    PlannedStep { retry, ..step(command) }
}

pub fn plan(steps: Vec<PlannedStep>) -> Plan {
    Plan { goal: "a goal".into(), agent: "agent".into(), steps }
}

pub fn create(tasks: &Tasks, steps: Vec<PlannedStep>) -> Task {
    tasks.create(Origin::Plan(plan(steps)), Wishes::default()).unwrap()
}

pub fn create_with(tasks: &Tasks, steps: Vec<PlannedStep>, wishes: Wishes) -> Task {
    tasks.create(Origin::Plan(plan(steps)), wishes).unwrap()
}

pub fn advance(tasks: &Tasks, id: &str) -> Task {
    let stopper = Stopper::default();
    tasks.advance(id, &Manner { planner: Some(&Fixed), watcher: &(), stopper: &stopper }).unwrap()
}

/// Makes the same plan of every goal.
pub struct Fixed;

impl Planner for Fixed {
    fn plan(&self, _goal: &str, _agent: &str, _stopper: &Stopper) -> Result<Plan, PlanningFailed> {
        Ok(plan(vec![step("echo 1 >> count"), step("touch a")]))
    }
}

/// To the end at once.
pub fn run(tasks: &Tasks, steps: Vec<PlannedStep>) -> Task {
    advance(tasks, &create(tasks, steps).id)
}

pub fn anna() -> Who {
    Who { door: "test", name: "anna".into() }
}

/// The states that it has been in.
pub fn way(tasks: &Tasks, id: &str) -> Vec<State> {
    tasks.moves(id).unwrap().into_iter().map(|it| it.to).collect()
}

pub fn lines(tasks: &Tasks, id: &str, kind: LogKind) -> Vec<String> {
    let log = tasks.log(id, 0).unwrap().into_iter();
    log.filter(|(_, line)| line.kind == kind).map(|(_, line)| line.content).collect()
}

/// Remembers what it has seen, and does something about it.
pub struct Seen<F: Fn(&Event<'_>) + Send + Sync> {
    pub names: Mutex<Vec<String>>,
    pub then: F,
}

impl<F: Fn(&Event<'_>) + Send + Sync> Seen<F> {
    pub fn and(then: F) -> Self {
        Seen { names: Mutex::default(), then }
    }
}

impl<F: Fn(&Event<'_>) + Send + Sync> Watcher for Seen<F> {
    fn notice(&self, _task: &str, event: &Event<'_>) {
        self.names.lock().unwrap().push(name(event));
        (self.then)(event);
    }
}

pub fn name(event: &Event<'_>) -> String {
    match event {
        Event::Moved { from, to, .. } => format!("moved {} {}", from.name(), to.name()),
        Event::Queued { ahead } => format!("queued {ahead}"),
        Event::Logged { kind, .. } => format!("logged {}", kind.name()),
        Event::StepBegins { step, attempt, .. } => format!("begins {step}.{attempt}"),
        Event::Noted(_) => "noted".to_owned(),
        Event::StepRan { step, attempt } => format!("ran {step}.{attempt}"),
        Event::StepEnded { step, .. } => format!("ended {step}"),
        Event::Pausing { step, .. } => format!("pausing {step}"),
        Event::TakenBack { step } => format!("taken back {step}"),
        Event::Asked(_) => "asked".to_owned(),
    }
}
