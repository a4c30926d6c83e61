//! Attacks in a session: the jail that the engine makes, with its own view, and nobody who judges what runs there.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use exacta::approvals::{Answer, Standard};
use exacta::gate::Judgement;
use exacta::policy::{Policy, Profile};
use exacta::programs::ProgramOptions;
use exacta::programs::limits::Chosen;
use exacta::{Request, Session, SessionOptions};

use crate::attempt::Task;
use crate::stage::{PATIENCE, words};

/// What an attack may know.
const TOLD: [&str; 4] = ["OUT", "ROOT", "VICTIM", "STAGE"];

pub fn act() -> ExitCode {
    let task = Task::of_this_process();
    let mut session = match Session::new(options(&task)) {
        Ok(session) => session,
        Err(error) => {
            println!("no session: {error}");
            return ExitCode::from(125);
        }
    };
    let script = words(&task).iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let outcome = session.run(&Request::new(script));
    drop(session);
    let mut out = std::io::stdout().lock();
    out.write_all(&outcome.stdout).expect("the output");
    out.write_all(&outcome.stderr).expect("the output");
    ExitCode::from(outcome.status.0)
}

fn options(task: &Task) -> SessionOptions {
    let mut options = SessionOptions::new(task.scene.project());
    // The rules say which programs do not exist; whatever they would ask is answered with yes.
    let mut judgement = Judgement::none();
    let policy = Policy::builtin(Profile::FullAuto).expect("the built-in rules");
    judgement.policy = Arc::new(policy);
    judgement.approver = Arc::new(Standard { answer: Answer::Once, name: "the test" });
    options.judgement = Some(judgement);
    let told = TOLD.map(|name| (name, std::env::var(name).expect("what an attack is told")));
    let told = told.into_iter().map(|(name, value)| (name.into(), value.into()));
    options.environment = told.collect();
    options.limits.wall_time = Some(PATIENCE);
    let limits = &task.attack.limits;
    options.programs = Some(ProgramOptions {
        path: ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from).to_vec(),
        limits: Chosen {
            processor_seconds: limits.processor_seconds,
            memory_megabytes: limits.memory_megabytes,
            processes: limits.processes,
            open_files: limits.open_files,
            output_bytes: None,
        },
        ..ProgramOptions::default()
    });
    options
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
