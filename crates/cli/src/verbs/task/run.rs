//! `exacta task run`: a plan's file, a goal, or a task that is there.

use std::io::Read as _;

use bstr::{BStr, ByteSlice};
use exacta::tasks::reading::LARGEST;
use exacta::tasks::{Format, Origin, Plan, PlanError, Wishes};
use serde_json::json;

use super::going::{self, Busy};
use super::{Asked, Done};
use crate::exit::Exit;
use crate::invocation::{TaskRun, TaskSource};
use crate::task_json::SCHEMA_VERSION;
use crate::terminal::visible_line;
use crate::{launch, output};

pub(super) fn perform(asked: &Asked<'_>, run: &TaskRun) -> Done {
    let origin = match &run.from {
        TaskSource::Goal(goal) => {
            let agent = run.agent.clone().unwrap_or_else(launch::agent);
            Origin::Goal { goal: goal.clone(), agent }
        }
        TaskSource::Stdin => match read(asked, run) {
            Ok(plan) => Origin::Plan(plan),
            Err(exit) => return Ok(exit),
        },
        TaskSource::Named(name) => match named(asked, run, name.as_bstr()) {
            Ok(Named::Plan(plan)) => Origin::Plan(plan),
            Ok(Named::Task(id)) => return go_on(asked, run, &id),
            Err(exit) => return Ok(exit),
        },
    };
    let planner = match &origin {
        Origin::Plan(_) => None,
        // Before there is a task: without a planner there is nothing to keep.
        Origin::Goal { .. } => match going::planner(asked) {
            Ok(planner) => Some(planner),
            Err(exit) => return Ok(exit),
        },
    };
    let TaskRun { rollback_on_failure, step_by_step, .. } = *run;
    let task = asked.tasks.create(origin, Wishes { rollback_on_failure, step_by_step })?;
    going::go(asked, &task.id, run.gate, planner, Busy::Refused)
}

fn read(asked: &Asked<'_>, run: &TaskRun) -> Result<Plan, Exit> {
    let mut text = Vec::new();
    // One more than is read tells that it is too long.
    let most = LARGEST as u64 + 1;
    if let Err(error) = std::io::stdin().take(most).read_to_end(&mut text) {
        super::say(asked.global, &format!("cannot read standard input: {error}"), "");
        return Err(Exit::Failed);
    }
    plan(asked, run, "standard input", &text)
}

enum Named {
    Plan(Plan),
    Task(String),
}

/// A file, or the id of a task: nobody calls a plan like an id.
fn named(asked: &Asked<'_>, run: &TaskRun, name: &BStr) -> Result<Named, Exit> {
    let path = name.to_path_lossy();
    let shown = visible_line(&name.to_str_lossy());
    match exacta::project::read_operator_file(&path) {
        Ok(text) => plan(asked, run, &shown, &text).map(Named::Plan),
        Err(error) => {
            let is_missing = error.kind() == std::io::ErrorKind::NotFound;
            let is_id = name.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
            if is_missing && is_id {
                return Ok(Named::Task(name.to_str_lossy().into_owned()));
            }
            let problem = exacta_shell::errno::text(&error);
            let hint = "exacta task run takes a plan's file, - for standard input, or the id of a task \
                        (exacta task list)";
            super::say(asked.global, &format!("{shown}: {problem}"), hint);
            Err(Exit::Usage)
        }
    }
}

fn plan(asked: &Asked<'_>, run: &TaskRun, name: &str, text: &[u8]) -> Result<Plan, Exit> {
    let Ok(text) = text.to_str() else {
        super::say(asked.global, &format!("{name}: not UTF-8"), "a plan is a text in UTF-8");
        return Err(Exit::Usage);
    };
    let format = Format::of_name(name).unwrap_or_else(|| Format::of_text(text));
    let mut plan = Plan::read(text, format).map_err(|error| no_plan(asked, &error.named(name)))?;
    if let Some(agent) = &run.agent {
        plan.agent.clone_from(agent);
    } else if plan.agent.is_empty() {
        plan.agent = launch::agent();
    }
    Ok(plan)
}

/// What is wrong with it, by line and field.
fn no_plan(asked: &Asked<'_>, error: &PlanError) -> Exit {
    if asked.global.json {
        let place = &error.place;
        let error = json!({
            "schema_version": SCHEMA_VERSION,
            "error": place.message,
            "field": error.field,
            "file": &*place.file,
            "line": place.line,
            "column": place.column,
            "hint": place.hint,
        });
        output::print(&format!("{error}\n"));
    }
    for line in error.to_string().lines() {
        output::error(&format!("{}\n", visible_line(line)));
    }
    Exit::Usage
}

fn go_on(asked: &Asked<'_>, run: &TaskRun, id: &str) -> Done {
    let given = [
        (run.agent.is_some(), "--agent"),
        (run.rollback_on_failure, "--rollback-on-failure"),
        (run.step_by_step, "--step-by-step"),
    ];
    let task = asked.tasks.get(id)?;
    if let Some((_, option)) = given.iter().find(|(given, _)| *given) {
        let message = format!("{option} is for a new task, and {} is there already", task.id);
        super::say(asked.global, &message, "leave the option out");
        return Ok(Exit::Usage);
    }
    going::take_up(asked, &task, run.gate, Busy::Refused)
}
