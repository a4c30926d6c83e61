//! Runs the probe in real jails, and gathers what it met.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use bstr::BString;
use exacta::programs::Programs;
use exacta::{OutputLimit, Request, Session, Stop};
use exacta_jail::outcome::{Failure, LimitHit};
use exacta_jail::plan::{Access, Limits, Tree};
use exacta_jail::probe::{self, Attempt, Task};
use exacta_jail::{Cell, Ending, Level, Plan, Program, Running, Spawner, Walls};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::pipe::{PipeFlags, pipe_with};

use super::Findings;
use super::ground::{Ground, own_program};
use super::promises;
use crate::launch::Launch;

/// Where the probe is inside.
const PLACE: &str = "/run/exacta-probe";
/// What ends by itself has ended by then.
const PATIENCE: Duration = Duration::from_secs(12);
/// All of a tree is gone this soon.
pub const SOON: Duration = Duration::from_millis(100);

pub fn all(launch: &Launch) -> Result<Findings, io::Error> {
    let programs = programs(launch)?;
    programs.make_places()?;
    let (spawner, examination) = (spawner()?, programs.examine());
    let least = launch.configuration.min_isolation;
    let ground = Ground::lay(launch.options.root.clone(), examination.blocked.clone())?;
    let limits = examination.plan.limits.clone();
    let plan = with_probe(&examination.plan)?;
    let bench = Bench { spawner, plan, environment: examination.environment };
    let mut findings = Findings {
        root: launch.options.root.display().to_string(),
        least,
        walls: Err("nothing was tried".to_owned()),
        limits,
        promises: Vec::new(),
        hooks: Vec::new(),
    };
    match bench.attempt(&ground, launch) {
        Ok((walls, attempts)) => {
            findings.promises = promises::examine(&walls, &attempts);
            findings.walls = Ok(walls);
        }
        Err(failure) => findings.walls = Err(failure.to_string()),
    }
    Ok(findings)
}

/// What stands around a program of this project, if it may run. Changes nothing in the project.
pub fn standing(launch: &Launch) -> Result<Walls, io::Error> {
    let examination = programs(launch)?.examine().of_what_is_there();
    let least = launch.configuration.min_isolation;
    let cell = spawner()?.build_at_least(&examination.plan, least);
    cell.map(|cell| cell.walls().clone()).map_err(|failure| io::Error::other(failure.to_string()))
}

fn programs(launch: &Launch) -> Result<Programs, io::Error> {
    let options = launch.options.programs.clone().unwrap_or_default();
    let (root, policy) = (&launch.options.root, &launch.configuration.policy);
    let identity = exacta::host::default_identity();
    Programs::in_project(&options, root, std::path::Path::new("tmp"), &identity, policy)
}

fn spawner() -> Result<Spawner, io::Error> {
    Spawner::start().map_err(|failure| io::Error::other(failure.to_string()))
}

fn with_probe(plan: &Plan) -> io::Result<Plan> {
    let mut plan = plan.clone();
    let (access, hidden) = (Access::Read, Vec::new());
    plan.view
        .trees
        .insert(0, Tree { source: own_program()?, target: PLACE.into(), access, hidden });
    Ok(plan)
}

/// Where jails are made to be tried.
struct Bench {
    spawner: Spawner,
    plan: Plan,
    environment: Vec<(BString, BString)>,
}

/// What a run of the probe left.
struct Tried {
    ending: Option<Ending>,
    attempts: Vec<Attempt>,
}

impl Bench {
    /// All attempts, and what stood around them.
    fn attempt(&self, ground: &Ground, launch: &Launch) -> Result<(Walls, Vec<Attempt>), Failure> {
        let mut cell = self.spawner.build_at_least(&self.plan, Level::Limits)?;
        let walls = cell.walls().clone();
        let words = ground.marks.words();
        let mut attempts = self.run(&mut cell, Task::Walls, &words)?.attempts;
        attempts.push(recorded(&cell));
        attempts.push(self.killed(cell)?);
        attempts.extend(self.refused()?);
        attempts.push(self.ended(Task::Memory, LimitHit::Memory)?);
        attempts.push(self.ended(Task::Processor, LimitHit::ProcessorTime)?);
        attempts.extend(of_the_engine(launch));
        // What is passed on is the operator's choice; what else is there is not.
        let known = self.environment.iter().map(|(name, _)| name.to_string());
        let known: Vec<String> = known.collect();
        for attempt in attempts.iter_mut().filter(|attempt| attempt.name == "environment") {
            let names = attempt.seen.split(',').filter(|name| !name.is_empty());
            let strange: Vec<&str> =
                names.filter(|name| !known.iter().any(|known| known == name)).collect();
            attempt.seen = strange.join(",");
        }
        Ok((walls, attempts))
    }

    fn cell(&self, limits: Limits) -> Result<Cell, Failure> {
        let plan = Plan { limits, ..self.plan.clone() };
        self.spawner.build_at_least(&plan, Level::Limits)
    }

    fn start(
        &self,
        cell: &mut Cell,
        task: Task,
        words: &[String],
    ) -> Result<(Running, OwnedFd), Failure> {
        let at = |error: io::Error| Failure::new("make a pipe for the probe", error);
        let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| at(error.into()))?;
        let nothing = nothing().map_err(at)?;
        let words = words.iter().map(|word| word.as_str().into());
        let program = Program {
            path: PLACE.into(),
            argv: [probe::NAME.into(), task.name().into()].into_iter().chain(words).collect(),
            environment: self.environment.clone(),
            directory: "/".into(),
            file_mode_mask: 0o077,
        };
        let given = [(0, nothing.as_fd()), (1, theirs.as_fd()), (2, nothing.as_fd())];
        Ok((cell.start(&program, &given)?, ours))
    }

    fn run(&self, cell: &mut Cell, task: Task, words: &[String]) -> Result<Tried, Failure> {
        let (running, output) = self.start(cell, task, words)?;
        let text = read_until_end(&output, &mut |_| false);
        let ending = await_end(&running).then(|| running.wait()).transpose()?;
        let attempts = text.lines().filter_map(Attempt::parse).collect();
        Ok(Tried { ending, attempts })
    }

    /// Processes and files beyond their number are refused.
    fn refused(&self) -> Result<Vec<Attempt>, Failure> {
        let limits = Limits {
            processes: Some(promises::PROCESSES),
            tasks: Some(32),
            open_files: Some(promises::FILES.into()),
            ..Limits::default()
        };
        let mut cell = self.cell(limits)?;
        let files = self.run(&mut cell, Task::Files, &[])?.attempts;
        let processes = self.run(&mut cell, Task::Processes, &[])?.attempts;
        let renamed =
            |attempt: Attempt| Attempt { name: format!("limit-{}", attempt.name), ..attempt };
        Ok(files.into_iter().chain(processes).map(renamed).collect())
    }

    /// What uses more than it may is ended.
    fn ended(&self, task: Task, hit: LimitHit) -> Result<Attempt, Failure> {
        let limits = Limits {
            memory: Some(96 << 20),
            processor_time: Some(Duration::from_secs(1)),
            ..Limits::default()
        };
        let mut cell = self.cell(limits)?;
        let begun = Instant::now();
        let tried = self.run(&mut cell, task, &[])?;
        let took = begun.elapsed();
        let by_limit = cell.usage().limits_hit.contains(&hit);
        let killed = tried.ending == Some(Ending::Signalled(9));
        let seen = match (by_limit, killed) {
            (true, true) => format!("ended after {} ms", took.as_millis()),
            _ => "not ended".to_owned(),
        };
        Ok(Attempt::new(&format!("limit-{}", task.name()), 0, seen))
    }

    /// A daemon that has left everything behind ends with its jail.
    fn killed(&self, mut cell: Cell) -> Result<Attempt, Failure> {
        let (_running, output) = self.start(&mut cell, Task::Daemon, &[])?;
        let ready = read_until_end(&output, &mut |text| text.contains("ready"));
        if !ready.contains("ready") {
            return Ok(Attempt::new("kill", 0, "no daemon"));
        }
        let begun = Instant::now();
        cell.kill();
        // It holds the pipe for as long as it lives.
        read_until_end(&output, &mut |_| false);
        let took = begun.elapsed();
        let word = if took <= SOON { "gone" } else { "slow" };
        let seen = format!("{word} after {:.1} ms", took.as_secs_f64() * 1000.0);
        cell.end()?;
        Ok(Attempt::new("kill", 0, seen))
    }
}

/// The probe's own execution was seen.
fn recorded(cell: &Cell) -> Attempt {
    let of_probe = |exec: &exacta_jail::outcome::Exec| {
        exec.argv.first().is_some_and(|name| name == probe::NAME)
    };
    let found = cell.take_record().execs.iter().any(of_probe);
    Attempt::new("record", 0, if found { "recorded" } else { "not recorded" })
}

/// What the engine itself ends and cuts, with or without a jail.
fn of_the_engine(launch: &Launch) -> [Attempt; 2] {
    let mut options = launch.options.clone();
    options.programs = None;
    options.judgement = Some(exacta::gate::Judgement::none());
    options.limits.wall_time = Some(Duration::from_millis(100));
    let begun = Instant::now();
    let stopped = Session::new(options.clone())
        .is_ok_and(|mut it| it.run(&Request::new("sleep 9")).stopped == Some(Stop::TimedOut));
    let took = begun.elapsed();
    options.limits.wall_time = Some(PATIENCE);
    options.output = Some(OutputLimit::new(1000, None, "doctor"));
    let cut = Session::new(options).is_ok_and(|mut session| {
        let outcome = session.run(&Request::new("seq 20000"));
        outcome.truncated && outcome.stdout.len() < 4000
    });
    let time =
        if stopped { format!("ended after {} ms", took.as_millis()) } else { "not ended".into() };
    [
        Attempt::new("limit-time", 0, time),
        Attempt::new("limit-output", 0, if cut { "cut at 1000 bytes" } else { "not cut" }),
    ]
}

/// Nothing to be read, and nowhere to write to.
#[expect(clippy::disallowed_methods, reason = "a device that everybody may have")]
fn nothing() -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    Ok(rustix::fs::open("/dev/null", flags, rustix::fs::Mode::empty())?)
}

/// Until all writers are gone, it is enough, or patience ends.
fn read_until_end(from: &OwnedFd, enough: &mut dyn FnMut(&str) -> bool) -> String {
    let (begun, mut text) = (Instant::now(), Vec::new());
    let mut buffer = [0; 4096];
    while begun.elapsed() < PATIENCE && is_ready(from.as_fd()) {
        match rustix::io::read(from, &mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(count) => text.extend_from_slice(buffer.get(..count).unwrap_or_default()),
        }
        if enough(&String::from_utf8_lossy(&text)) {
            break;
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn await_end(running: &Running) -> bool {
    is_ready(running.handle())
}

fn is_ready(descriptor: std::os::fd::BorrowedFd<'_>) -> bool {
    let mut watched = [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)];
    let patience = Timespec { tv_sec: PATIENCE.as_secs().cast_signed(), tv_nsec: 0 };
    poll(&mut watched, Some(&patience)).is_ok_and(|ready| ready > 0)
}
