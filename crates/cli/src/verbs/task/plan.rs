//! `exacta task plan`: a goal becomes a plan. Nothing of it runs; what the rules say of its steps is said beside it.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bstr::ByteSlice as _;
use exacta::approvals::Unattended;
use exacta::tasks::{Plan, Planner as _, PlanningFailed, Stopper};
use exacta::{Session, SessionOptions};
use exacta_shell::status::ExitStatus;
use serde_json::json;

use super::{failed, put};
use crate::exit::Exit;
use crate::invocation::Global;
use crate::launch::{self, Launch};
use crate::planner::{self, Stage, Told, written};
use crate::signals::Interrupts;
use crate::terminal::visible;
use crate::{output, progress};

/// How often the line changes while an answer comes.
const PAUSE: Duration = Duration::from_millis(100);

pub fn perform(global: &Global, goal: &str, file: Option<&Path>) -> Exit {
    let mut launch = match Launch::new(global) {
        Ok(launch) => launch,
        Err(problem) => return failed(&problem),
    };
    // As its steps would start: at the root.
    launch.options.directory = None;
    let stopper = Stopper::default();
    let interrupts = match Interrupts::of_task(stopper.clone()) {
        Ok(interrupts) => interrupts,
        Err(error) => return failed(&format!("cannot listen for signals: {error}")),
    };
    let plan = match planned(&launch, goal, &stopper) {
        Ok(plan) => plan,
        Err(problem) => {
            let exit = told(global, &problem);
            let by_signal = |signal| Exit::Script(ExitStatus::from_signal(signal));
            return interrupts.received().map_or(exit, by_signal);
        }
    };
    let text =
        if global.json { format!("{:#}\n", written::json(&plan)) } else { written::toml(&plan) };
    judge(launch, &plan);
    put(file, &text)
}

fn planned(launch: &Launch, goal: &str, stopper: &Stopper) -> Result<Plan, PlanningFailed> {
    let allowed = planner::allowed(&launch.configuration);
    let root = launch.options.root.clone();
    let planner = planner::choose(&launch.configuration, &root, allowed, progress())?;
    // Takes its line away when it ends.
    let _waiting = progress::Running::begin(true);
    planner.plan(goal, &launch::agent(), stopper)
}

pub(super) fn told(global: &Global, problem: &PlanningFailed) -> Exit {
    let PlanningFailed { message, hint } = problem;
    if global.json {
        let error = json!({ "schema_version": 1, "error": message, "hint": hint });
        output::print(&format!("{error}\n"));
    }
    output::error(&format!("exacta: {}\n\nhint: {}\n", visible(message), visible(hint)));
    Exit::Declined
}

/// Lines for a log, and one that changes for somebody who looks.
pub(super) fn progress() -> Told {
    let looked_at = std::io::stderr().is_terminal();
    let begun = Instant::now();
    let shown = AtomicU64::new(0);
    let say = |text: String| {
        let _line = progress::aside();
        output::error(&format!("exacta: {}\n", visible(&text)));
    };
    Box::new(move |stage| match stage {
        Stage::Asking { whom } => say(format!("asking {whom}")),
        Stage::Pausing { host, wait } => {
            say(format!("{host} is busy: waiting for {:.1} s", wait.as_secs_f64()));
        }
        Stage::Again { problem } => say(format!("no plan yet, asking again: {problem}")),
        Stage::Heard(bytes) => {
            let now = begun.elapsed().as_millis() as u64;
            let due = now >= shown.load(Ordering::Relaxed) + PAUSE.as_millis() as u64;
            if looked_at && due {
                shown.store(now, Ordering::Relaxed);
                progress::say(&format!("planning, {bytes} bytes"));
            }
        }
    })
}

/// What would be said of each step in a task, one line each.
fn judge(launch: Launch, plan: &Plan) {
    let judgement = launch.configuration.task_judgement(Arc::new(Unattended));
    let options = SessionOptions { judgement: Some(judgement), ..launch.options };
    let Ok(session) = Session::new(options) else { return };
    for (number, step) in plan.steps.iter().enumerate() {
        let verdict = session.test(step.command.as_bytes().as_bstr());
        output::error(&format!(
            "{:>3}  {:<7}  {}  [{}]\n",
            number + 1,
            verdict.decision.name(),
            visible(&step.command),
            verdict.finding.rule,
        ));
    }
}
