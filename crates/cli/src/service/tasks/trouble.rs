//! What went wrong with a task or a plan, with the codes that programs go by.

use exacta::approvals::{DecideError, PendingError};
use exacta::tasks::{PlanError, PlanningFailed, State, Task, TaskError};
use serde_json::json;

use crate::service::{Code, Problem};

pub fn told(error: TaskError) -> Problem {
    let code = match &error {
        TaskError::Unknown(_) => Code::UnknownTask,
        TaskError::Busy(_) => Code::TaskBusy,
        TaskError::Not { .. } | TaskError::Illegal { .. } | TaskError::Changed(_) => {
            Code::WrongState
        }
        TaskError::Agent(_) => Code::BadRequest,
        TaskError::Unsafe { .. } => Code::UnsafeRetry,
        TaskError::NoPlanner(_) => Code::NoPlanner,
        TaskError::Decision(error) => match &**error {
            DecideError::Store(PendingError::Settled(_)) => Code::AlreadyDecided,
            DecideError::Store(PendingError::Unknown(_)) => Code::UnknownApproval,
            _ => Code::Failed,
        },
        _ => Code::Failed,
    };
    let hint = error.next().unwrap_or_default();
    Problem::new(code, error.to_string(), hint)
}

pub fn unknown(id: &str) -> Problem {
    told(TaskError::Unknown(id.to_owned()))
}

pub fn nothing_to_run(task: &Task) -> Problem {
    told(TaskError::Not { id: task.id.clone(), doing: "run", state: task.state })
}

pub fn no_state(name: &str) -> Problem {
    let names: Vec<&str> = State::ALL.iter().map(|state| state.name()).collect();
    Problem::new(Code::BadRequest, format!("{name:?} is no state of a task"), names.join(", "))
}

pub fn bad_plan(error: &PlanError) -> Problem {
    let place = &error.place;
    let mut problem = Problem::new(Code::BadPlan, place.message.clone(), place.hint.clone());
    for (name, value) in [
        ("field", json!(error.field)),
        ("line", json!(place.line)),
        ("column", json!(place.column)),
        ("text", json!(place.text)),
    ] {
        problem.more.insert(name.to_owned(), value);
    }
    problem
}

pub fn no_planner(failed: PlanningFailed) -> Problem {
    Problem::new(Code::NoPlanner, failed.message, failed.hint)
}
