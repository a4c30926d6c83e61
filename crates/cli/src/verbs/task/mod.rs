//! `exacta task …`: work as a plan of commands.

mod deciding;
mod gate;
mod going;
mod list;
mod log;
mod plan;
mod run;
mod show;
mod view;

use std::path::Path;

use exacta::tasks::{Became, Recovered, State, Task, TaskError, Tasks};
use serde_json::json;

use super::failed;
use crate::exit::Exit;
use crate::invocation::{Global, TaskVerb};
use crate::table::Look;
use crate::task_json::SCHEMA_VERSION;
use crate::terminal::visible;
use crate::{launch, output};

pub fn perform(global: &Global, verb: &TaskVerb) -> Exit {
    match verb {
        TaskVerb::Plan { goal, output } => plan::perform(global, goal, output.as_deref()),
        TaskVerb::Schema { output } => {
            put(output.as_deref(), &format!("{:#}\n", exacta::tasks::schema::schema()))
        }
        TaskVerb::Ids => list::ids(global),
        verb => match Asked::new(global) {
            Ok(asked) => asked.perform(verb),
            Err(exit) => exit,
        },
    }
}

/// Into the file, else on standard output.
fn put(file: Option<&Path>, text: &str) -> Exit {
    let Some(file) = file else {
        output::print(text);
        return Exit::Success;
    };
    match exacta::project::write_operator_file(file, text.as_bytes()) {
        Ok(()) => Exit::Success,
        Err(error) => failed(&format!("cannot write {}: {error}", file.display())),
    }
}

/// The tasks of the project, and how the answer is wanted.
struct Asked<'a> {
    global: &'a Global,
    tasks: Tasks,
    look: Look,
}

impl<'a> Asked<'a> {
    /// What others have left behind is brought in order first, and told.
    fn new(global: &'a Global) -> Result<Self, Exit> {
        let grounds = launch::task_grounds(global).map_err(|problem| {
            say(global, &problem.to_string(), "");
            Exit::Failed
        })?;
        let look = Look::of_output(launch::no_colour());
        let refused = |error: &TaskError| refused(global, error);
        let tasks = Tasks::open(grounds).map_err(|error| refused(&error))?;
        for found in tasks.recover().map_err(|error| refused(&error))? {
            output::error(&told(&found));
        }
        Ok(Asked { global, tasks, look })
    }

    fn perform(&self, verb: &TaskVerb) -> Exit {
        let done = match verb {
            TaskVerb::Run(run) => run::perform(self, run),
            TaskVerb::List { state, agent, limit } => {
                list::perform(self, *state, agent.as_deref(), *limit)
            }
            TaskVerb::Show(id) => show::perform(self, id),
            TaskVerb::Log { id, follow } => log::perform(self, id, *follow),
            TaskVerb::Approve { id, step, onward } => deciding::approve(self, id, *step, *onward),
            TaskVerb::Reject(id) => deciding::reject(self, id),
            TaskVerb::Cancel(id) => deciding::cancel(self, id),
            TaskVerb::Retry { id, force, onward } => deciding::retry(self, id, *force, *onward),
            TaskVerb::Plan { .. } | TaskVerb::Schema { .. } | TaskVerb::Ids => Ok(Exit::Success),
        };
        done.unwrap_or_else(|error| refused(self.global, &error))
    }
}

type Done = Result<Exit, TaskError>;

/// What was left by somebody who has died.
fn told(found: &Recovered) -> String {
    let Recovered { id, was, became, why } = found;
    let next = match became {
        Became::Pending | Became::Resumable => format!("`exacta task run {id}` goes on with it"),
        Became::NeedsReview => format!("look at it: `exacta task show {id}`"),
    };
    format!("exacta: task {id} was left {}: {}; {next}\n", was.name(), visible(why))
}

/// What is wrong and what to do about it, for people and for programs.
fn say(global: &Global, problem: &str, hint: &str) {
    if global.json {
        let hint = Some(hint).filter(|hint| !hint.is_empty());
        let error = json!({ "schema_version": SCHEMA_VERSION, "error": problem, "hint": hint });
        output::print(&format!("{error}\n"));
    }
    output::error(&format!("exacta: {}\n", visible(problem)));
    if !hint.is_empty() {
        output::error(&format!("hint: {hint}\n"));
    }
}

/// Why not, and what to do about it.
fn refused(global: &Global, error: &TaskError) -> Exit {
    say(global, &error.to_string(), error.next().unwrap_or_default());
    match error {
        TaskError::Agent(_) => Exit::Usage,
        TaskError::Unknown(_)
        | TaskError::Busy(_)
        | TaskError::Not { .. }
        | TaskError::Changed(_)
        | TaskError::Illegal { .. }
        | TaskError::Unsafe { .. }
        | TaskError::NoPlanner(_)
        | TaskError::Decision(_) => Exit::Declined,
        _ => Exit::Failed,
    }
}

/// How far it has come, as the status of the process.
fn exit_of(task: &Task) -> Exit {
    match task.state {
        State::Completed => Exit::Success,
        State::PendingApproval => Exit::TaskWaits,
        State::Failed if task.refused => Exit::TaskDenied,
        _ => Exit::TaskFailed,
    }
}
