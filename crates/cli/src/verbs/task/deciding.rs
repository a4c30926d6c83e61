//! `exacta task approve | reject | cancel | retry`: what people do about a task. It is recorded like every deed.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use exacta::approvals::Who;
use exacta::tasks::{Again, Answer, Task, TaskError};

use super::going::{self, Busy};
use super::{Asked, Done, show};
use crate::exit::Exit;
use crate::invocation::Onward;
use crate::output;
use crate::verbs::deeds::{self, Told};

/// For whoever works on a task to end it.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(50);

pub(super) fn approve(asked: &Asked<'_>, id: &str, step: Option<usize>, onward: Onward) -> Done {
    let id = asked.tasks.get(id)?.id;
    let answer = match step {
        // People count from 1 on.
        Some(step) => Answer::ApproveStep(step.saturating_sub(1)),
        None => Answer::Approve,
    };
    let mut words = vec!["task".to_owned(), "approve".to_owned(), id.clone()];
    if let Some(step) = step {
        words.extend(["--step".to_owned(), step.to_string()]);
    }
    let task = match recorded(asked, "approve", &words, || asked.tasks.decide(&id, answer, &who()))?
    {
        Ok(task) => task,
        Err(exit) => return Ok(exit),
    };
    go_on(asked, &task, onward)
}

pub(super) fn reject(asked: &Asked<'_>, id: &str) -> Done {
    let id = asked.tasks.get(id)?.id;
    let words = ["task", "reject", &id].map(str::to_owned);
    let reject = || asked.tasks.decide(&id, Answer::Reject, &who());
    match recorded(asked, "deny", &words, reject)? {
        Ok(task) => show::ended(asked, &task).map(|()| Exit::Success),
        Err(exit) => Ok(exit),
    }
}

pub(super) fn cancel(asked: &Asked<'_>, id: &str) -> Done {
    let id = asked.tasks.get(id)?.id;
    let words = ["task", "cancel", &id].map(str::to_owned);
    let who = deeds::person().to_string();
    match recorded(asked, "cancel", &words, || asked.tasks.cancel(&id, &who))? {
        Ok(task) => {
            let task = ended(asked, task)?;
            show::ended(asked, &task)?;
            if !task.state.is_final() {
                output::error("exacta: whoever works on it is told, and has not ended it yet\n");
            }
            Ok(Exit::Success)
        }
        Err(exit) => Ok(exit),
    }
}

/// Whoever works on it takes back what it was at, which may take a moment.
fn ended(asked: &Asked<'_>, mut task: Task) -> Result<Task, TaskError> {
    let begun = Instant::now();
    while !task.state.is_final() && begun.elapsed() < PATIENCE {
        std::thread::sleep(LOOK);
        task = asked.tasks.get(&task.id)?;
    }
    Ok(task)
}

pub(super) fn retry(asked: &Asked<'_>, id: &str, force: bool, onward: Onward) -> Done {
    let id = asked.tasks.get(id)?.id;
    let mut words = ["task", "retry", &id].map(str::to_owned).to_vec();
    words.extend(force.then(|| "--force".to_owned()));
    let again = if force { Again::Anyway } else { Again::IfSafe };
    let who = deeds::person().to_string();
    match recorded(asked, "retry", &words, || asked.tasks.retry(&id, again, &who))? {
        Ok(task) => go_on(asked, &task, onward),
        Err(exit) => Ok(exit),
    }
}

fn go_on(asked: &Asked<'_>, task: &Task, onward: Onward) -> Done {
    match onward {
        Onward::Run(gate) => going::take_up(asked, task, gate, Busy::Followed),
        Onward::Leave => {
            if asked.global.json {
                show::ended(asked, task)?;
            } else {
                output::print(&format!("exacta task run {} goes on with it\n", task.id));
            }
            asked.tasks.leave(&task.id);
            Ok(Exit::Success)
        }
    }
}

fn who() -> Who {
    Who { door: "command line", name: deeds::person().to_string() }
}

/// What cannot be recorded is not done. The inner error: it was recorded that it could not be done, and said.
fn recorded(
    asked: &Asked<'_>,
    effect: &str,
    words: &[String],
    perform: impl FnOnce() -> Result<Task, TaskError>,
) -> Result<Result<Task, Exit>, TaskError> {
    let done = RefCell::new(None);
    let exit = deeds::recorded(asked.global, effect, words, || {
        let result = perform();
        let (exit, text) = match &result {
            Ok(task) => (Exit::Success, format!("task {} is {}\n", task.id, task.state.name())),
            Err(error) => (Exit::Declined, format!("{error}\n")),
        };
        done.replace(Some(result));
        (exit, Told { text, records: Vec::new() })
    });
    match done.into_inner() {
        Some(Ok(task)) if exit == Exit::Success => Ok(Ok(task)),
        Some(Err(error)) => Err(error),
        _ => Ok(Err(exit)),
    }
}
