//! `exacta run`: one request, its result for people or as JSON.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use bstr::ByteSlice;
use exacta::approvals::{Answer, Approver, Patience, Pending, Standard, State, Waiting};
use exacta::gate::Face;
use exacta::policy::{Place, Surroundings as _};
use exacta::{Outcome, OutputLimit, Request, Session, SessionOptions};
use exacta_shell::status::{ExitStatus, Stop};

use super::{failed, not_recorded, report};
use crate::exit::Exit;
use crate::invocation::{Global, RunInvocation, Trial};
use crate::launch::Launch;
use crate::progress::{Running, aside};
use crate::prompt::Prompt;
use crate::signals::Interrupts;
use crate::terminal::visible;
use crate::{foresight, output, streams};

mod going_on;

use going_on::Going;

pub fn perform(global: &Global, run: RunInvocation) -> Exit {
    // First of all: what comes after this is the time that it saves.
    foresight::prepare(&run.command);
    performed(global, &run).unwrap_or_else(|exit| exit)
}

/// An error: it never came to run.
fn performed(global: &Global, run: &RunInvocation) -> Result<Exit, Exit> {
    let launch = Launch::new(global).map_err(|problem| failed(&problem))?;
    let known = uuid::Uuid::now_v7();
    let id = known.to_string();
    let limit = run.max_output.unwrap_or_else(|| launch.output_bytes());
    let waiting = run.wait.map(|_| Arc::new(Waiting::new(&launch.options.root)));
    let mut options = launch.session(Face::Run, approver(run, waiting.as_ref()));
    let name = format!("output-{id}");
    options.output = Some(OutputLimit::new(limit, Some(options.root.clone()), name));
    adjust(&mut options, global, run);
    let going = Going::on(&mut options, run).map_err(|problem| failed(&problem))?;
    let mut session = opened(options, run)?;
    if let Some(going) = &going {
        going.take_up(&mut session, run.directory.is_none());
    }
    let interrupts = Interrupts::listen()
        .map_err(|error| failed(&format!("cannot listen for signals: {error}")))?;
    let canceller = session.prepare();
    if let (Some(waiting), Some(patience)) = (&waiting, run.wait) {
        waiting.begin(canceller.clone(), Patience::of(patience), told);
    }
    interrupts.watch(canceller);
    let directory = session.shell().directory.to_string();
    let started = SystemTime::now();
    let mut outcome = carried_out(global, run, &mut session, known);
    let changes = run.trial.map(|trial| {
        let held = outcome.undo.as_ref().map(|undo| undo.id);
        if trial == Trial::DryRun {
            outcome.undo = None;
        }
        super::records::trial::perform(global, trial, held)
    });
    if let Some(going) = &going {
        going.leave(&session).map_err(|problem| failed(&problem))?;
    }
    let status = match (&outcome.stopped, interrupts.received()) {
        (Some(Stop::Cancelled), Some(signal)) => ExitStatus::from_signal(signal),
        _ => report::status(&outcome),
    };
    if global.json {
        let asked = report::Asked { command: &run.command, id: &id, directory, started };
        let mut report = report::of(&asked, &outcome, status);
        if let (Some(changes), Some(report)) = (changes, report.as_object_mut()) {
            report.insert("changes".to_owned(), changes);
        }
        output::print(&format!("{report}\n"));
    } else if outcome.truncated {
        warn_of_cut(limit, outcome.spill.as_deref());
    }
    Ok(match session.leave() {
        Ok(()) => Exit::Script(status),
        Err(error) => not_recorded(&error),
    })
}

fn opened(options: SessionOptions, run: &RunInvocation) -> Result<Session, Exit> {
    let root = options.root.clone();
    let session = Session::new(options).map_err(|problem| failed(&problem))?;
    let wanted = run.directory.as_ref().map(|wanted| root.join(wanted));
    match wanted.and_then(|wanted| not_there(&session, &wanted)) {
        Some(exit) => Err(exit),
        None => Ok(session),
    }
}

/// With a line that says that it still runs, where nothing else is to be seen.
fn carried_out(
    global: &Global,
    run: &RunInvocation,
    session: &mut Session,
    id: uuid::Uuid,
) -> Outcome {
    let _until_the_end = Running::begin(global.json);
    let request = request(global, run).known_as(id.into_bytes());
    // What goes on has not ended: its EXIT trap waits.
    if run.session.is_some() { session.run(&request) } else { session.run_script(&request) }
}

/// Whoever is there to ask.
fn approver(run: &RunInvocation, waiting: Option<&Arc<Waiting>>) -> Arc<dyn Approver> {
    match (run.yes, run.no_input, waiting) {
        (true, ..) => Arc::new(Standard { answer: Answer::Once, name: "--yes" }),
        (_, true, _) => Arc::new(Standard { answer: Answer::No, name: "--no-input" }),
        (_, _, Some(waiting)) => Arc::clone(waiting) as _,
        _ => Arc::new(Prompt),
    }
}

/// `--wait`: the question is filed, and whoever looks on is told.
fn told(pending: &Pending) {
    let Pending { id, state, .. } = pending;
    let _nothing_else = aside();
    output::error(&match state {
        State::Pending => format!(
            "exacta: waits for an approval: `exacta approvals show {id}`, `exacta approvals approve {id}`\n"
        ),
        _ => format!("exacta: approval {id} is {}\n", state.name()),
    });
}

/// As the command line says. `run` starts at the root unless told otherwise.
fn adjust(options: &mut SessionOptions, global: &Global, run: &RunInvocation) {
    options.directory = run.directory.as_ref().map(|directory| options.root.join(directory));
    if run.clear_environment {
        options.environment.clone_from(&global.environment);
    }
    if let Some(programs) = &mut options.programs {
        programs.direct = run.direct;
    }
    if let Some(judgement) = &mut options.judgement {
        judgement.asker.goal.clone_from(&run.goal);
    }
    options.limits.wall_time = run.timeout;
    options.record_steps = global.json;
}

/// A command for another directory must not run in this one.
fn not_there(session: &Session, wanted: &Path) -> Option<Exit> {
    let wanted = wanted.as_os_str().as_encoded_bytes().as_bstr();
    if session.shell().directory == wanted {
        return None;
    }
    let shown = visible(&wanted.to_str_lossy());
    Some(match session.world().place(wanted) {
        Place::Project | Place::Scratch => failed(&format!("{shown}: No such directory")),
        _ => {
            output::error(&format!(
                "exacta: refused by policy: {shown}: leads out of the project\n"
            ));
            Exit::Refused
        }
    })
}

/// Nothing to read: a command that waits for input nobody gives would hang. Output goes straight through
/// unless it is to be reported.
fn request(global: &Global, run: &RunInvocation) -> Request {
    let mut request = Request::new(run.command.clone());
    if run.trial.is_some() {
        request = request.held();
    }
    if global.json {
        return request;
    }
    streams::own_output(request)
}

/// S3: truncate and warn.
fn warn_of_cut(limit: u64, spill: Option<&str>) {
    let place = spill.map(|path| format!("; the whole is in {path}")).unwrap_or_default();
    output::error(&format!("exacta: output over the limit of {limit} bytes was left out{place}\n"));
}
