//! The approval gate: the question of a task is one of the project's questions, so every door shows and decides it.
//!
//! An approval is bound to the task, to all texts of its plan, to what it is about and to the rules. It is used once: the task
//! that takes it is in another state when it has.

use bstr::BString;
use exacta_policy::JudgedCommand;

use super::advancing::Onward;
use super::task::{About, Asking};
use super::validation::{Validated, asking};
use super::watching::Event;
use super::work::Work;
use super::{State, StepState, Task, TaskError};
use crate::approvals::{self, Asker, Digest, Pending, Question};

/// What is asked about by a step that runs.
pub(super) struct AtRunTime {
    pub(super) question: Question,
}

impl Work<'_> {
    /// Asks, and the task waits.
    pub(super) fn halt(
        &mut self,
        validated: &Validated,
        about: About,
        at_run_time: Option<AtRunTime>,
    ) -> Result<Onward, TaskError> {
        let digest = at_run_time.as_ref().map(|it| it.question.digest.to_string());
        let asked = Asking { about, question: digest, only: None };
        let question = self.question(validated, &asked, at_run_time);
        let pending = self.tasks.questions().file(&question)?;
        self.task.approval = Some(pending.id.clone());
        self.task.asking = Some(asked);
        let why = format!("needs an approval: {}", pending.command);
        self.move_to(State::PendingApproval, &why)?;
        self.tell(&Event::Asked(&pending));
        self.turn = None;
        Ok(Onward::No)
    }

    fn question(
        &self,
        validated: &Validated,
        asked: &Asking,
        at_run_time: Option<AtRunTime>,
    ) -> Question {
        let task = &self.task;
        let digest = digest(task, asked, &validated.rules);
        let plan = task.plan.iter().flat_map(|plan| &plan.steps);
        let asker = Asker {
            agent: task.agent.clone(),
            goal: task.goal.clone(),
            plan: plan.clone().map(|step| step.command.clone()).collect(),
        };
        let steps: Vec<usize> = match asked.about {
            About::Plan => task.asks.clone(),
            About::Step(step) | About::Within(step) => vec![step],
        };
        let texts: Vec<&str> =
            steps.iter().filter_map(|step| Some(task.planned(*step)?.command.as_str())).collect();
        let asks: Vec<JudgedCommand> = match at_run_time {
            Some(AtRunTime { question }) => question.asks,
            None => steps
                .iter()
                .filter_map(|step| Some((validated.verdicts.get(*step)?, task.planned(*step)?)))
                .flat_map(|(verdict, step)| asking(verdict, &step.command))
                .collect(),
        };
        Question {
            text: BString::from(texts.join("\n")),
            directory: validated.directory.clone(),
            allowed: plan.count().saturating_sub(steps.len()),
            asks,
            always: None,
            digest,
            asker,
            tried: None,
            task: Some(task.id.clone()),
        }
    }

    /// What became of the question.
    pub(super) fn at_the_gate(&mut self) -> Result<Onward, TaskError> {
        let (Some(id), Some(asked)) = (self.task.approval.clone(), self.task.asking.clone()) else {
            return self.turned_down("nobody knows what it waits for");
        };
        let Some(pending) = self.tasks.questions().look(&id)? else {
            return self.turned_down("the question is not on file any more");
        };
        match pending.state {
            approvals::State::Pending => Ok(Onward::No),
            approvals::State::Denied => {
                self.turned_down(&format!("rejected by {}", decided_by(&pending)))
            }
            approvals::State::Expired => self.turned_down("nobody has answered in time"),
            approvals::State::Approved | approvals::State::Used => self.go_through(&id, &asked),
        }
    }

    fn go_through(&mut self, id: &str, asked: &Asking) -> Result<Onward, TaskError> {
        if !self.take_turn()? {
            return Ok(Onward::Yes);
        }
        // A yes to another step than the one that asks is no yes.
        if asked.only.is_some_and(|only| !asked.about.includes(only, &self.task.asks)) {
            return self.turned_down("the yes was for another step than the one that asks");
        }
        let rules = self.look_at_plan()?.rules;
        let digest = digest(&self.task, asked, &rules);
        let Some(pending) = self.tasks.questions().claim(id, &digest)? else {
            return self.given_up(
                "what was approved is not what would run now: the rules have changed; `exacta task retry` asks again",
            );
        };
        let by = decided_by(&pending);
        self.task.approved_by.clone_from(&by);
        match (asked.about, asked.only) {
            (About::Plan, Some(step)) => {
                self.task.step_by_step = true;
                self.task.approved.push(step);
            }
            (About::Plan, None) => self.task.approved.clone_from(&self.task.asks),
            (About::Step(step), _) => self.task.approved.push(step),
            (About::Within(_), _) => self.task.answered.extend(asked.question.clone()),
        }
        self.task.asking = None;
        self.move_to(State::Running, &format!("approved by {by}"))?;
        Ok(Onward::Yes)
    }

    /// Somebody has said no, or nobody has said anything.
    fn turned_down(&mut self, why: &str) -> Result<Onward, TaskError> {
        self.task.refused = true;
        self.given_up(why)
    }

    fn given_up(&mut self, why: &str) -> Result<Onward, TaskError> {
        let mut why = why.to_owned();
        if self.task.rollback_on_failure && self.has_done_something() {
            // It is taken back where everything that fails is: after a look at all of it.
            if !self.take_turn()? {
                return Ok(Onward::Yes);
            }
            why = format!("{why}; {}", self.take_back_all()?);
        }
        self.skip_the_rest();
        self.move_to(State::Failed, &why)?;
        Ok(Onward::No)
    }

    fn has_done_something(&self) -> bool {
        self.task.steps.iter().any(|step| step.state == StepState::Done)
    }
}

fn decided_by(pending: &Pending) -> String {
    let by = pending.by.as_deref().filter(|by| !by.is_empty()).unwrap_or("somebody");
    match &pending.door {
        Some(door) => format!("{by} ({door})"),
        None => by.to_owned(),
    }
}

/// Change any of it, and the approval is for something else.
fn digest(task: &Task, asked: &Asking, rules: &Digest) -> Digest {
    let about = format!("{:?} {}", asked.about, task.round);
    let (rules, question) = (rules.to_string(), asked.question.clone().unwrap_or_default());
    let own = ["task", &task.id, &about, &question, &rules, &task.goal, &task.agent];
    let texts = task.plan.iter().flat_map(|plan| &plan.steps).map(|step| step.command.as_str());
    Digest::of_parts(own.into_iter().chain(texts).map(str::as_bytes))
}
