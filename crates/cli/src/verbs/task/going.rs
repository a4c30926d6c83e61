//! Works on a task here, in the foreground, as far as it goes: through its questions to its end.

use std::time::{Duration, Instant};

use exacta::approvals::Who;
use exacta::tasks::{Answer, Manner, Planner, PlanningFailed, State, Stopper, Task, TaskError};
use exacta_shell::status::ExitStatus;

use super::gate::{self, Verdict};
use super::view::View;
use super::{Asked, Done, exit_of, plan, show};
use crate::exit::Exit;
use crate::invocation::AtGate;
use crate::launch::Launch;
use crate::output;
use crate::planner::{self, ChosenPlanner};
use crate::signals::Interrupts;
use crate::verbs::deeds;

/// How often it is looked whether somebody else has answered.
const LOOK: Duration = Duration::from_millis(100);

/// What is done while another process works on the task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Busy {
    /// It is an error.
    Refused,
    /// Whoever it is goes on after the same answer: this one looks on.
    Followed,
}

/// A task that is there already.
pub(super) fn take_up(asked: &Asked<'_>, task: &Task, gate: AtGate, busy: Busy) -> Done {
    if matches!(
        task.state,
        State::Completed | State::Failed | State::Cancelled | State::NeedsReview
    ) {
        let (id, state) = (task.id.clone(), task.state);
        return Err(TaskError::Not { id, doing: "gone on with", state });
    }
    let planner = match &task.plan {
        Some(_) => None,
        None => match planner(asked) {
            Ok(planner) => Some(planner),
            Err(exit) => return Ok(exit),
        },
    };
    go(asked, &task.id, gate, planner, busy)
}

/// The planner that the operator has chosen.
pub(super) fn planner(asked: &Asked<'_>) -> Result<ChosenPlanner, Exit> {
    let launch = Launch::new(asked.global).map_err(|problem| super::failed(&problem))?;
    let allowed = planner::allowed(&launch.configuration);
    let chosen =
        planner::choose(&launch.configuration, &launch.options.root, allowed, plan::progress());
    chosen.map_err(|problem: PlanningFailed| plan::told(asked.global, &problem))
}

pub(super) fn go(
    asked: &Asked<'_>,
    id: &str,
    gate: AtGate,
    planner: Option<ChosenPlanner>,
    busy: Busy,
) -> Done {
    let stopper = Stopper::default();
    let interrupts = match Interrupts::of_task(stopper.clone()) {
        Ok(interrupts) => interrupts,
        Err(error) => return Ok(super::failed(&format!("cannot listen for signals: {error}"))),
    };
    let going = Going { asked, gate, stopper, planner };
    let task = going.go(id, busy)?;
    show::ended(asked, &task)?;
    Ok(match interrupts.received() {
        Some(signal) if task.state == State::Cancelled => {
            Exit::Script(ExitStatus::from_signal(signal))
        }
        _ => exit_of(&task),
    })
}

struct Going<'a> {
    asked: &'a Asked<'a>,
    gate: AtGate,
    stopper: Stopper,
    planner: Option<ChosenPlanner>,
}

impl Going<'_> {
    fn go(&self, id: &str, mut busy: Busy) -> Result<Task, TaskError> {
        loop {
            let task = match self.advance(id) {
                Err(TaskError::Busy(_)) if busy == Busy::Followed => self.followed(id)?,
                advanced => advanced?,
            };
            // Whoever was followed has died.
            let left = task.state.is_busy() && !self.stopper.is_stopped();
            let waits = task.state == State::PendingApproval;
            if !left && (!waits || !self.decided(&task)?) {
                return Ok(task);
            }
            // From now on others may have heard the same answer, and be faster.
            busy = Busy::Followed;
        }
    }

    fn followed(&self, id: &str) -> Result<Task, TaskError> {
        output::error("exacta: another process goes on with it\n");
        while !self.stopper.is_stopped() && self.asked.tasks.is_worked_on(id)? {
            std::thread::sleep(LOOK);
        }
        self.asked.tasks.get(id)
    }

    fn advance(&self, id: &str) -> Result<Task, TaskError> {
        let view = View::begin(self.asked, id);
        let planner = self.planner.as_ref().map(|planner| planner as &dyn Planner);
        let manner = Manner { planner, watcher: &view, stopper: &self.stopper };
        let advanced = self.asked.tasks.advance(id, &manner);
        view.end();
        advanced
    }

    /// Whether there is an answer, from here or from anywhere else.
    fn decided(&self, task: &Task) -> Result<bool, TaskError> {
        match self.gate {
            AtGate::Yes => self.answer(task, Answer::Approve, "--yes"),
            AtGate::No => self.answer(task, Answer::Reject, "--no-input"),
            AtGate::File => Ok(false),
            AtGate::Wait(time) => self.waited(task, time),
            AtGate::Ask => match gate::ask(self.asked, task, &mut || self.is_open(task)) {
                Verdict::Answer(answer) => self.answer(task, answer, ""),
                Verdict::Overtaken => Ok(true),
                Verdict::Later => Ok(false),
            },
        }
    }

    fn answer(&self, task: &Task, answer: Answer, by: &str) -> Result<bool, TaskError> {
        let name = deeds::person().to_string();
        let name = if by.is_empty() { name } else { format!("{name} with {by}") };
        let who = Who { door: "command line", name };
        match self.asked.tasks.decide(&task.id, answer, &who) {
            Ok(_) => Ok(true),
            // Another door was faster: its answer counts.
            Err(TaskError::Decision(_) | TaskError::Not { .. }) if !self.is_open(task) => Ok(true),
            Err(error) => Err(error),
        }
    }

    fn waited(&self, task: &Task, time: Duration) -> Result<bool, TaskError> {
        output::error(&format!(
            "exacta: task {id} waits for an approval: `exacta task approve {id}`, `exacta task reject {id}`\n",
            id = task.id
        ));
        let begun = Instant::now();
        while self.is_open(task) {
            if begun.elapsed() >= time {
                return Ok(false);
            }
            std::thread::sleep(LOOK);
        }
        Ok(true)
    }

    /// Nobody has answered, and nobody wants it to end.
    fn is_open(&self, task: &Task) -> bool {
        !self.stopper.is_stopped() && gate::is_open(self.asked, task)
    }
}
