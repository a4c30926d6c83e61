//! A process of its own that works on tasks: it tells each thing that happens and goes on when it is told to.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Mutex;

use exacta::tasks::{Event, Manner, Origin, Stopper, Watcher, Wishes};

use crate::scene::{Fixed, Programs, Scene, name, open, plan, step};

const ROLE: &str = "EXACTA_TASKS_ROLE";
const ROOT: &str = "EXACTA_TASKS_ROOT";
const STATE: &str = "EXACTA_TASKS_STATE";
const PROGRAMS: &str = "EXACTA_TASKS_PROGRAMS";

pub struct Role {
    what: String,
    root: PathBuf,
    state: PathBuf,
    programs: Programs,
}

pub fn asked_for() -> Option<Role> {
    let path = |name| std::env::var_os(name).map(PathBuf::from);
    let programs = match std::env::var(PROGRAMS).ok().as_deref() {
        Some("Layered") => Programs::Layered,
        Some("Direct") => Programs::Direct,
        _ => Programs::None,
    };
    Some(Role { what: std::env::var(ROLE).ok()?, root: path(ROOT)?, state: path(STATE)?, programs })
}

impl Role {
    pub fn run(self) -> ExitCode {
        let tasks = open(&self.root, &self.state, self.programs);
        match self.what.split_once(' ') {
            Some(("advance", id)) => {
                let stopper = Stopper::default();
                let watcher = Led(Mutex::new(()));
                let manner = Manner { planner: Some(&Fixed), watcher: &watcher, stopper: &stopper };
                let task = tasks.advance(id, &manner).unwrap();
                println!("over {}", task.state.name());
            }
            _ => in_turn(&tasks),
        }
        ExitCode::SUCCESS
    }
}

/// Makes tasks as it is told, then works on all of them at once.
fn in_turn(tasks: &exacta::tasks::Tasks) {
    let mut made = Vec::new();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let Some((agent, mark)) = line.split_once(' ') else { break };
        // One step for each end, so that both are on the disk whatever comes between.
        let command = format!(
            "echo \"b {mark} $(date +%s%N)\" >> {agent}.log; sleep 0.03; echo \"e {mark} $(date +%s%N)\" >> {agent}.log"
        );
        let plan = exacta::tasks::Plan { agent: agent.into(), ..plan(vec![step(&command)]) };
        made.push(tasks.create(Origin::Plan(plan), Wishes::default()).unwrap().id);
        println!("made");
    }
    std::thread::scope(|scope| {
        for id in &made {
            scope.spawn(|| println!("over {}", crate::scene::advance(tasks, id).state.name()));
        }
    });
}

/// Tells what happens, and waits each time.
struct Led(Mutex<()>);

impl Watcher for Led {
    fn notice(&self, _task: &str, event: &Event<'_>) {
        let _one_at_a_time = self.0.lock().unwrap();
        println!("{}", name(event));
        let _flushed = std::io::stdout().flush();
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
    }
}

/// The other side of it.
pub struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    pub fn start(scene: &Scene, root: &Path, what: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(ROLE, what).env(ROOT, root).env(STATE, &scene.state);
        command.env(PROGRAMS, format!("{:?}", scene.programs));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Process { child, input, output }
    }

    /// What it tells next; `None`: it has ended.
    pub fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).unwrap();
        (read > 0).then(|| line.trim_end().to_owned())
    }

    pub fn tell(&mut self, text: &str) {
        let _it_may_be_gone = writeln!(self.input, "{text}");
        let _it_may_be_gone = self.input.flush();
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }
}
