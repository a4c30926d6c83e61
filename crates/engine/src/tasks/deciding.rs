//! What people do about a task: say yes or no at the gate, end it, have it begin anew.

use super::watching::{Manner, Stopper};
use super::work::Work;
use super::{State, StepState, Task, TaskError, Tasks};
use crate::approvals::{Ruling, Scope, State as Waiting, Who};

/// What a person says at the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// To all that is asked about.
    Approve,
    /// To this step of the plan, counted from 0 on; the others are asked about when it comes to them.
    ApproveStep(usize),
    Reject,
}

/// Whether it may begin anew where a step of it may have taken effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Again {
    #[default]
    IfSafe,
    /// A person has looked.
    Anyway,
}

impl Tasks {
    /// Decides the question of a task, through the same desk as every other door. After a yes somebody has to advance it.
    pub fn decide(&self, id: &str, answer: Answer, who: &Who) -> Result<Task, TaskError> {
        let task = self.get(id)?;
        let not = |doing| TaskError::Not { id: task.id.clone(), doing, state: task.state };
        let question = match (&task.approval, task.state) {
            (Some(question), State::PendingApproval) => question.clone(),
            _ => return Err(not("decided about")),
        };
        let ruling = match answer {
            Answer::Approve => Ruling::Approve(Scope::Once),
            Answer::ApproveStep(step) => {
                self.narrow(&task, step)?;
                Ruling::Approve(Scope::Once)
            }
            Answer::Reject => Ruling::Deny,
        };
        self.desk().decide(&question, ruling, who)?;
        if answer == Answer::Reject {
            return self.settle(&task.id);
        }
        self.get(&task.id)
    }

    /// Whether the question that a task waits for has its answer: then it is worth advancing it.
    pub fn is_decided(&self, task: &Task) -> Result<bool, TaskError> {
        let Some(question) = &task.approval else { return Ok(true) };
        let pending = self.questions().look(question)?;
        Ok(pending.is_none_or(|pending| pending.state != Waiting::Pending))
    }

    /// The yes that follows is for one step.
    fn narrow(&self, task: &Task, step: usize) -> Result<(), TaskError> {
        let (mut task, _held) = self.hold(&task.id)?;
        let asks = task.asks.clone();
        match &mut task.asking {
            Some(asking) if asking.about.includes(step, &asks) => asking.only = Some(step),
            _ => {
                let (id, state) = (task.id.clone(), task.state);
                return Err(TaskError::Not { id, doing: "approved for this step", state });
            }
        }
        self.keeper.save(&mut task)
    }

    /// Ends a task, whoever works on it: that one notices within a tenth of a second.
    pub fn cancel(&self, id: &str, who: &str) -> Result<Task, TaskError> {
        let task = self.get(id)?;
        if task.state.is_final() {
            let (id, state) = (task.id, task.state);
            return Err(TaskError::Not { id, doing: "cancelled", state });
        }
        self.keeper.ask_to_cancel(&task.id, who)?;
        self.settle(&task.id)
    }

    /// As far as it goes without running anything: what was decided about it counts.
    fn settle(&self, id: &str) -> Result<Task, TaskError> {
        let stopper = Stopper::default();
        let manner = Manner { planner: None, watcher: &(), stopper: &stopper };
        match self.advance(id, &manner) {
            // Whoever works on it does it himself.
            Err(TaskError::Busy(_)) => self.get(id),
            advanced => advanced,
        }
    }

    /// Has it begin anew, with the steps that are not done. It is looked at and asked about as a whole again.
    pub fn retry(&self, id: &str, again: Again, who: &str) -> Result<Task, TaskError> {
        let ticket = self.ticket(&self.get(id)?)?;
        let (task, held) = self.hold(id)?;
        if !matches!(task.state, State::Failed | State::Cancelled | State::NeedsReview) {
            let (id, state) = (task.id, task.state);
            return Err(TaskError::Not { id, doing: "retried", state });
        }
        let stopper = Stopper::default();
        let manner = Manner { planner: None, watcher: &(), stopper: &stopper };
        let mut work = Work::new(self, &manner, task);
        work.begin_anew(again, who)?;
        work.log.flush();
        let task = work.task;
        self.keep_ticket(&task.id, ticket);
        drop(held);
        Ok(task)
    }
}

impl Work<'_> {
    fn begin_anew(&mut self, again: Again, who: &str) -> Result<(), TaskError> {
        for step in 0..self.task.steps.len() {
            let done = self.task.steps.get(step).is_some_and(|run| run.state == StepState::Done);
            if done {
                continue;
            }
            let taken = self.take_back_last(step)?;
            let idempotent = self.task.planned(step).is_some_and(|planned| planned.idempotent);
            // What nobody has seen the end of may have done more than there are records of.
            let unknown = self.last_attempt(step).is_some_and(|last| last.ended.is_none());
            let taken = if unknown { Err("nobody has seen its end".to_owned()) } else { taken };
            if let (Err(why), false, Again::IfSafe) = (taken, idempotent, again) {
                return Err(TaskError::Unsafe { id: self.task.id.clone(), step, why });
            }
        }
        let task = &mut self.task;
        for run in &mut task.steps {
            if run.state != StepState::Done {
                run.state = StepState::Waiting;
                run.why.clear();
                run.checks.clear();
            }
        }
        task.approved.clear();
        task.approved_by.clear();
        task.answered.clear();
        task.asks.clear();
        (task.approval, task.asking) = (None, None);
        (task.rolled_back, task.refused) = (false, false);
        task.round += 1;
        self.move_to(State::Pending, &format!("begins anew, by {who}"))
    }
}
