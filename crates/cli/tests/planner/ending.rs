//! Nobody wants a plan any more while somebody still thinks of one.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::program::programmed;
use super::server::{Reply, Server};
use super::support::text;
use super::{GOAL, Planned};

/// Processes with groups and sessions of their own, each of which tells its number.
const TREE: &str = "cat > /dev/null
setsid sleep 61 & echo $! >> \"$HOME/started\"
timeout 62 sleep 62 & echo $! >> \"$HOME/started\"
sleep 63 & echo $! >> \"$HOME/started\"
echo $$ >> \"$HOME/started\"
wait";

fn begun(planned: &Planned, arguments: &[&str]) -> Child {
    planned.configured();
    let mut command = planned.project.command(arguments);
    command.envs(planned.variables.iter().map(|(name, value)| (*name, value.as_str())));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs")
}

fn until<T>(what: &str, seen: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = seen() {
            return seen;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "never seen: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The processes of [`TREE`], once all of them are there.
fn started(planned: &Planned) -> Vec<u32> {
    let file = planned.project.root.parent().expect("above").join("started");
    until("four processes", || {
        let text = std::fs::read_to_string(&file).ok()?;
        let all: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
        (all.len() == 4).then_some(all)
    })
}

fn is_alive(process: u32) -> bool {
    let status = std::fs::read_to_string(PathBuf::from(format!("/proc/{process}/stat")));
    // One that nobody has buried yet is dead all the same.
    status.is_ok_and(|status| !status.contains(") Z "))
}

/// Whoever is killed takes a moment to die.
fn assert_ended(all: &[u32]) {
    until(&format!("the end of {all:?}"), || {
        (!all.iter().any(|process| is_alive(*process))).then_some(())
    });
}

fn cancelled(planned: &Planned) -> Value {
    let list = planned.run(&["task", "list", "--json"]);
    let list: Value = serde_json::from_slice(&list.stdout).expect("JSON");
    let id = list["tasks"][0]["id"].as_str().expect("a task").to_owned();
    assert_eq!(list["tasks"][0]["state"], "planning");
    let asked = Instant::now();
    let output = planned.run(&["task", "cancel", &id, "--json"]);
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn whoever_cancels_ends_the_planner_with_all_that_it_has_started() {
    let planned = programmed(TREE);
    let child = begun(&planned, &["task", "run", "--goal", GOAL]);
    let all = started(&planned);
    let task = cancelled(&planned);
    assert_eq!(task["state"], "cancelled", "{task}");
    let output = child.wait_with_output().expect("it ends");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("State: cancelled (cancelled by "), "{said}");
    assert_ended(&all);
}

#[test]
fn an_interrupt_ends_it_too() {
    for arguments in [&["task", "run", "--goal", GOAL][..], &["task", "plan", GOAL]] {
        let planned = programmed(TREE);
        let child = begun(&planned, arguments);
        let all = started(&planned);
        let process = Pid::from_raw(i32::try_from(child.id()).expect("a number"));
        let asked = Instant::now();
        kill(process, Signal::SIGINT).expect("it is there");
        let output = child.wait_with_output().expect("it ends");
        assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
        assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
        assert_ended(&all);
    }
}

#[test]
fn a_model_that_thinks_is_not_waited_for() {
    let server = Server::start([Reply::stream("", 1).endless()]);
    for kind in ["openai", "anthropic"] {
        let planned = Planned::at(kind, &server);
        let child = begun(&planned, &["task", "run", "--goal", GOAL]);
        until("planning", || {
            let list = planned.run(&["task", "list", "--json", "--state", "planning"]);
            let list: Value = serde_json::from_slice(&list.stdout).expect("JSON");
            list["tasks"].get(0).is_some().then_some(())
        });
        let task = cancelled(&planned);
        assert_eq!(task["state"], "cancelled", "{task}");
        assert_eq!(child.wait_with_output().expect("it ends").status.code(), Some(1));
    }
}
