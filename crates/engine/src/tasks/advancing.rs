//! The way of a task, as far as it goes without a person.

use super::work::Work;
use super::{Manner, State, StepState, Task, TaskError, Tasks};

/// Whether it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Onward {
    Yes,
    /// It has ended, or waits for a person.
    No,
}

impl Tasks {
    /// Works on a task as far as it goes now: to its end, to a question, or to where a person has to look. What somebody who
    /// died has left is brought in order first.
    pub fn advance(&self, id: &str, manner: &Manner<'_>) -> Result<Task, TaskError> {
        let (task, held) = self.hold(id)?;
        let mut work = Work::new(self, manner, task);
        let done = work.watched(|work| {
            if work.task.state.is_busy() && !work.task.left {
                work.take_up()?;
            }
            if work.task.left {
                // From now on somebody works on it, who may die as well.
                work.task.left = false;
                work.save()?;
            }
            while work.go_on()? == Onward::Yes {}
            Ok(())
        });
        work.log.flush();
        work.turn = None;
        self.leave(&work.task.id);
        let Work { task, .. } = work;
        if task.state.is_final() {
            self.keeper.forget_lock(&task.id, held);
        }
        done.map(|()| task)
    }
}

impl Work<'_> {
    fn go_on(&mut self) -> Result<Onward, TaskError> {
        let state = self.task.state;
        if state.is_final() {
            return Ok(Onward::No);
        }
        // One that is judged has done all it does.
        if state != State::Evaluating
            && let Some(who) = self.ended_by()?
        {
            return self.end(&who);
        }
        if state != State::Evaluating && self.is_left() {
            self.put_down()?;
            return Ok(Onward::No);
        }
        match state {
            State::PendingApproval => self.at_the_gate(),
            State::Pending => self.begin(),
            State::Planning => self.make_plan(),
            State::Validating => self.validate(),
            State::Running => self.run_steps(),
            State::Evaluating => self.evaluate(),
            State::Completed | State::Failed | State::Cancelled | State::NeedsReview => {
                Ok(Onward::No)
            }
        }
    }

    fn begin(&mut self) -> Result<Onward, TaskError> {
        if self.task.plan.is_none() && self.manner.planner.is_none() {
            return Err(TaskError::NoPlanner(self.task.id.clone()));
        }
        if !self.take_turn()? {
            return Ok(Onward::Yes);
        }
        let planned = self.task.plan.is_some();
        self.move_to(if planned { State::Validating } else { State::Planning }, "")?;
        Ok(Onward::Yes)
    }

    fn make_plan(&mut self) -> Result<Onward, TaskError> {
        let Some(planner) = self.manner.planner else {
            self.move_to(State::Pending, "nobody makes a plan of it")?;
            return Err(TaskError::NoPlanner(self.task.id.clone()));
        };
        match planner.plan(&self.task.goal, &self.task.agent, &self.stopper) {
            // Whoever is not to plan any more has failed at nothing.
            Err(_) if self.stopper.is_stopped() => {}
            Ok(mut plan) => {
                plan.agent.clone_from(&self.task.agent);
                if plan.goal.is_empty() {
                    plan.goal.clone_from(&self.task.goal);
                }
                self.task.set_plan(plan);
                self.move_to(State::Validating, "")?;
            }
            Err(problem) => {
                self.move_to(State::Failed, &format!("there is no plan: {problem}"))?;
            }
        }
        Ok(Onward::Yes)
    }

    /// Somebody has ended it.
    fn end(&mut self, who: &str) -> Result<Onward, TaskError> {
        self.take_back_interrupted()?;
        let mut why = format!("cancelled by {who}");
        if self.task.rollback_on_failure {
            why = format!("{why}; {}", self.take_back_all()?);
        }
        self.skip_the_rest();
        if let Some(question) = &self.task.approval {
            self.tasks.questions().withdraw(question)?;
        }
        self.move_to(State::Cancelled, &why)?;
        Ok(Onward::No)
    }

    /// The task ends before it comes to them.
    pub(super) fn skip_the_rest(&mut self) {
        for step in &mut self.task.steps {
            step.state = match step.state {
                StepState::Waiting => StepState::Skipped,
                StepState::Running => StepState::Failed,
                state => state,
            };
        }
    }
}

impl Task {
    pub(super) fn set_plan(&mut self, plan: super::Plan) {
        self.steps = plan.steps.iter().map(|_| super::StepRun::default()).collect();
        self.plan = Some(plan);
    }

    /// The command of a step.
    pub(super) fn planned(&self, step: usize) -> Option<&super::PlannedStep> {
        self.plan.as_ref()?.steps.get(step)
    }
}
