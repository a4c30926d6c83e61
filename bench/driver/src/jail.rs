//! What real programs cost: `exacta-bench jail ROOT PROGRAM FLOOR ROUNDS`, `exacta-bench spawn`, `exacta-bench plan ROOT`.
//!
//! `spawn` reads a list of commands and lets them take turns, each from fork to exit. `jail` does the same in the
//! library: the first program of a session, the next one, and the parts of the way into a jail.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use exacta::gate::Judgement;
use exacta::programs::{ProgramOptions, Programs};
use exacta::{Request, Session, SessionOptions};
use exacta_jail::plan::Access;
use exacta_jail::timeline::Part;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Task {
    root: String,
    /// Names of commands, in the order of each round.
    rounds: Vec<Vec<String>>,
    commands: BTreeMap<String, Vec<String>>,
}

/// Much shorter than any agent's.
const PAUSE: Duration = Duration::from_millis(1);

/// All times of each row, in seconds.
type Times = BTreeMap<String, Vec<f64>>;

/// Prints all times of every command.
pub fn spawn() -> Result<(), Box<dyn Error>> {
    let task: Task = serde_json::from_reader(std::io::stdin())?;
    let mut times = Times::new();
    for round in &task.rounds {
        for name in round {
            let command = task.commands.get(name).ok_or_else(|| format!("{name}: no command"))?;
            let took =
                time_command(&task.root, command).map_err(|error| format!("{name}: {error}"))?;
            times.entry(name.clone()).or_default().push(took.as_secs_f64());
        }
    }
    println!("{}", json!(times));
    Ok(())
}

fn time_command(root: &str, command: &[String]) -> Result<Duration, Box<dyn Error>> {
    let (program, arguments) = command.split_first().ok_or("no command")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root).stdin(Stdio::null()).stdout(Stdio::null());
    let started = Instant::now();
    let status = command.status()?;
    let took = started.elapsed();
    if status.success() { Ok(took) } else { Err(status.to_string().into()) }
}

/// Prints all times of a program in a new session, in one that has run it before, and outside of any; and for each part
/// of the way into a jail all of its.
pub fn measure(root: &str, program: &str, floor: &str, rounds: u32) -> Result<(), Box<dyn Error>> {
    let mut times = Times::new();
    let mut bare = Bare::start(root, program, floor)?;
    let mut warm = session(root)?;
    run(&mut warm, program)?;
    let plain = Path::new(root).join(program);
    for _ in 0..rounds {
        let mut note = |name: &str, took: Duration| {
            times.entry(name.to_owned()).or_default().push(took.as_secs_f64());
        };
        let started = Instant::now();
        let mut cold = session(root)?;
        let parts = run(&mut cold, program)?;
        note("first program of a session", started.elapsed());
        for part in parts {
            note(&format!("part: {}", part.name), part.took);
        }
        drop(cold);
        note("the same, and the end of the session", started.elapsed());
        for _ in 0..10 {
            let started = Instant::now();
            if !Command::new(&plain).stdin(Stdio::null()).status()?.success() {
                return Err("the program failed".into());
            }
            note("posix_spawn and exec", started.elapsed());
            note("fork and exec", bare.once()?);
            let started = Instant::now();
            run(&mut warm, program)?;
            note("next program of a session", started.elapsed());
            // What a session makes ready for the next one is done meanwhile, or waited for.
            let started = Instant::now();
            run(&mut warm, program)?;
            note("next program of a session, at once", started.elapsed());
            std::thread::sleep(PAUSE);
            let started = Instant::now();
            run(&mut warm, program)?;
            note("next program of a session, 1 ms later", started.elapsed());
        }
    }
    println!("{}", json!(times));
    Ok(())
}

/// A small process that forks and executes when it is told to.
struct Bare {
    _process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Bare {
    fn start(root: &str, program: &str, floor: &str) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(floor);
        command.args(["bare", program]).current_dir(root);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let orders = process.stdin.take().ok_or("no way to it")?;
        let answers = BufReader::new(process.stdout.take().ok_or("no way back")?);
        Ok(Bare { _process: process, orders, answers })
    }

    fn once(&mut self) -> Result<Duration, Box<dyn Error>> {
        self.orders.write_all(b"!")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(Duration::from_nanos(answer.trim().parse()?))
    }
}

/// Prints what a jail of this project is made of, for `bench/floor.c`: fields between tabs, a line for each thing; behind
/// the line of a file comes its content.
pub fn plan(root: &str) -> Result<(), Box<dyn Error>> {
    let policy = Judgement::standard()?.policy;
    let identity = exacta::host::default_identity();
    let programs =
        Programs::in_project(&options(), Path::new(root), Path::new("tmp"), &identity, &policy)?;
    let view = &programs.plan().view;
    let mut out = std::io::stdout().lock();
    // What is written in the project goes into a layer of the request.
    let root = std::fs::canonicalize(root)?;
    let layers = root.join(".clada/undo/run");
    if layers.is_dir() {
        writeln!(out, "layered\t{}\t{}", layers.display(), root.display())?;
    }
    for tree in &view.trees {
        let (kind, layer) = match &tree.access {
            Access::Read => ("r", None),
            Access::Write => ("w", None),
            Access::Layer(layer) => ("l", Some(layer.display())),
        };
        let layer = layer.map(|layer| layer.to_string()).unwrap_or_default();
        writeln!(
            out,
            "tree\t{kind}\t{}\t{}\t{layer}",
            tree.source.display(),
            tree.target.display()
        )?;
        for hidden in &tree.hidden {
            writeln!(out, "hide\t{}", hidden.display())?;
        }
    }
    for link in &view.links {
        writeln!(out, "link\t{}\t{}", link.target.display(), link.text.display())?;
    }
    let copy = |path: &std::path::PathBuf| Ok((path.clone(), std::fs::read(path)?));
    let copies = view.copies.iter().map(copy).collect::<Result<Vec<_>, std::io::Error>>()?;
    let own = view.files.iter().map(|file| (file.target.clone(), file.content.to_vec()));
    for (target, content) in own.chain(copies) {
        writeln!(out, "file\t{}\t{}", target.display(), content.len())?;
        out.write_all(&content)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn options() -> ProgramOptions {
    let path = std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect();
    ProgramOptions { path, ..ProgramOptions::default() }
}

fn session(root: &str) -> Result<Session, Box<dyn Error>> {
    let mut options = SessionOptions::new(root);
    // What a judge costs is another row.
    options.judgement = Some(Judgement::none());
    options.programs = Some(self::options());
    // So is a record.
    options.audit = None;
    Ok(Session::new(options)?)
}

/// How long the parts of the way into the jail have taken, if one was made.
fn run(session: &mut Session, program: &str) -> Result<Vec<Part>, Box<dyn Error>> {
    let outcome = session.run(&Request::new(program));
    match (outcome.status.success(), outcome.programs) {
        (true, Some(tally)) => Ok(tally.parts),
        (true, None) => Err(format!("{program}: ran in no jail").into()),
        (false, _) => Err(String::from_utf8_lossy(&outcome.stderr).into_owned().into()),
    }
}
