//! `exacta task list`: the tasks of the project, the newest first.

use exacta::records::Zone;
use exacta::tasks::{State, StepState, Task, Tasks};
use serde_json::{Value, json};

use super::show::{colour, time};
use super::{Asked, Done};
use crate::exit::Exit;
use crate::invocation::Global;
use crate::table::painted_table;
use crate::task_json::{SCHEMA_VERSION, summary};
use crate::terminal::visible;
use crate::verbs::records::shortened;
use crate::{launch, output};

/// A longer goal is cut, also in a pipe.
const LONGEST: usize = 200;
/// As far as a completion needs it.
const DESCRIPTION: usize = 60;

pub(super) fn perform(
    asked: &Asked<'_>,
    state: Option<State>,
    agent: Option<&str>,
    limit: Option<usize>,
) -> Done {
    let mut all = asked.tasks.list()?;
    all.retain(|task| {
        state.is_none_or(|state| task.state == state) && agent.is_none_or(|it| task.agent == it)
    });
    all.truncate(limit.unwrap_or(usize::MAX));
    if asked.global.json {
        let all: Vec<Value> = all.iter().map(summary).collect();
        let list = json!({ "schema_version": SCHEMA_VERSION, "tasks": all });
        output::print(&format!("{list}\n"));
        return Ok(Exit::Success);
    }
    if all.is_empty() {
        output::error("there are no such tasks in this project\n");
        return Ok(Exit::Success);
    }
    let zone = Zone::of_operator();
    let rows: Vec<Vec<String>> = all.iter().map(|task| row(task, &zone)).collect();
    let headings = ["ID", "TIME", "STATE", "STEPS", "AGENT", "GOAL"];
    let paint = |column, cell: &str| match column {
        2 => State::from_name(cell).map(colour),
        _ => None,
    };
    output::print(&painted_table(asked.look, &headings, &rows, &paint));
    Ok(Exit::Success)
}

fn row(task: &Task, zone: &Zone) -> Vec<String> {
    let done = task.steps.iter().filter(|run| run.state == StepState::Done).count();
    let agent = if task.agent.is_empty() { "-".to_owned() } else { task.agent.clone() };
    vec![
        task.id.clone(),
        time(zone, task.created),
        task.state.name().to_owned(),
        format!("{done}/{}", task.steps.len()),
        agent,
        shortened(&task.goal, LONGEST),
    ]
}

/// One line each: id, state, goal. For completions, so nothing is ever said on standard error and nothing is brought in order.
pub(super) fn ids(global: &Global) -> Exit {
    let tasks = launch::task_grounds(global).ok().and_then(|grounds| Tasks::open(grounds).ok());
    let Some(all) = tasks.and_then(|tasks| tasks.list().ok()) else { return Exit::Declined };
    let line = |task: &Task| {
        let goal = visible(&shortened(&task.goal, DESCRIPTION));
        format!("{}\t{}\t{goal}\n", task.id, task.state.name())
    };
    output::print(&all.iter().map(line).collect::<String>());
    Exit::Success
}
