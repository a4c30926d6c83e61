//! Times the cases in the library. Input and output: JSON, as for the other drivers.
//!
//! `exacta-bench sessions ROOT N` instead makes N sessions that have run one command each, and prints the growth
//! of memory per session in bytes. `exacta-bench verdicts FOLDER` times the judge, see [`verdicts`];
//! `exacta-bench redaction FOLDER` is about secrets, see [`redaction`]; `exacta-bench http` is a bare server, see [`http`];
//! `exacta-bench cancellation ROOT` times cancelling, see [`cancellation`]; `exacta-bench jail ROOT PROGRAM FLOOR ROUNDS`,
//! `exacta-bench spawn` and `exacta-bench plan ROOT` are about real programs, see [`jail`]; `exacta-bench steps COMMAND…` tells
//! what code a command runs, see [`steps`].

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measuring program: reads its own memory use and prints"
)]

mod audit;
mod cancellation;
#[path = "../../../crates/engine/tests/redaction/corpus.rs"]
mod corpus;
mod http;
mod jail;
mod operands;
mod redaction;
#[path = "../../../crates/policy/tests/scoring/mod.rs"]
mod scoring;
mod steps;
mod verdicts;

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

use exacta::{Request, Session, SessionOptions};
use serde::Deserialize;

#[derive(Deserialize)]
struct Task {
    root: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    script: Option<String>,
    count: u32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, verb, command @ ..] = arguments.as_slice() {
        match verb.as_str() {
            "steps" => return steps::print(command),
            steps::BECOME => return steps::become_traced(command),
            _ => {}
        }
    }
    if let [_, verb, root, count] = arguments.as_slice()
        && verb == "sessions"
    {
        return measure_memory(root, count.parse()?);
    }
    if let [_, verb, root, program, floor, rounds] = arguments.as_slice()
        && verb == "jail"
    {
        return jail::measure(root, program, floor, rounds.parse()?);
    }
    if let [_, verb] = arguments.as_slice()
        && verb == "spawn"
    {
        return jail::spawn();
    }
    if let [_, verb] = arguments.as_slice()
        && verb == "http"
    {
        return http::serve();
    }
    if let [_, verb, folder] = arguments.as_slice() {
        match verb.as_str() {
            "verdicts" => return verdicts::measure(folder),
            "redaction" => return redaction::measure(folder),
            "plan" => return jail::plan(folder),
            "audit" => return audit::measure(folder),
            "cancellation" => return cancellation::measure(folder),
            _ => return Err(format!("{verb}: unknown").into()),
        }
    }
    let task: Task = serde_json::from_reader(std::io::stdin())?;
    let mut session = Session::new(SessionOptions::new(&task.root))?;
    let mut times = BTreeMap::new();
    for case in task.cases {
        times.insert(case.name.clone(), fastest(&task.root, &mut session, &case)?);
    }
    println!("{}", serde_json::to_string(&times)?);
    Ok(())
}

fn fastest(root: &str, session: &mut Session, case: &Case) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..case.count {
        let start = Instant::now();
        match &case.script {
            None => drop(Session::new(SessionOptions::new(root))?),
            Some(script) => {
                let outcome = session.run(&Request::new(script.as_bytes()));
                if !outcome.status.success() {
                    return Err(format!(
                        "{}: {}",
                        case.name,
                        String::from_utf8_lossy(&outcome.stderr)
                    )
                    .into());
                }
            }
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn measure_memory(root: &str, count: usize) -> Result<(), Box<dyn Error>> {
    let mut sessions = Vec::with_capacity(count);
    let before = resident()?;
    for _ in 0..count {
        let mut session = Session::new(SessionOptions::new(root))?;
        session.run(&Request::new("x=1; f() { echo $x; }; f"));
        sessions.push(session);
    }
    println!("{}", (resident()? - before) / count as u64);
    Ok(())
}

/// Resident memory of this process in bytes.
fn resident() -> Result<u64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = text.split_whitespace().nth(1).ok_or("statm")?.parse()?;
    Ok(pages * 4096)
}
