//! The steps of a plan, one after the other: each is tried, judged, and tried again where that is safe.

use std::time::Duration;

use super::advancing::Onward;
use super::evaluation;
use super::gate::AtRunTime;
use super::task::About;
use super::watching::Event;
use super::work::Work;
use super::{PlannedStep, State, StepState, TaskError};
use crate::approvals::Question;
use crate::proposal::normalised;

/// No pause is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Went {
    Done,
    Failed,
    /// A person is asked, or has to look.
    Waits,
    /// Somebody has ended the task.
    Ended,
}

/// Whether a failed step is tried again.
enum Chance {
    Yes,
    No(String),
    Ended,
}

impl Work<'_> {
    pub(super) fn run_steps(&mut self) -> Result<Onward, TaskError> {
        if !self.take_turn()? {
            return Ok(Onward::Yes);
        }
        let steps = self.task.plan.as_ref().map(|plan| plan.steps.clone()).unwrap_or_default();
        for (step, planned) in steps.iter().enumerate() {
            let state = self.task.steps.get(step).map(|step| step.state);
            match state {
                Some(StepState::Done) => continue,
                Some(StepState::Failed) => break,
                _ => {}
            }
            match self.run_step(step, planned)? {
                Went::Done => {}
                Went::Failed => break,
                Went::Waits => return Ok(Onward::No),
                Went::Ended => return Ok(Onward::Yes),
            }
        }
        self.move_to(State::Evaluating, "")?;
        Ok(Onward::Yes)
    }

    fn run_step(&mut self, step: usize, planned: &PlannedStep) -> Result<Went, TaskError> {
        loop {
            if self.is_to_be_judged(step) && self.conclude(step, planned)? {
                return Ok(Went::Done);
            }
            if self.last_attempt(step).is_some_and(|last| last.failed.is_some()) {
                match self.chance(step, planned)? {
                    Chance::Yes => {}
                    Chance::No(why) => return self.give_up(step, &why),
                    Chance::Ended => return Ok(Went::Ended),
                }
            }
            if self.stopper.is_stopped() {
                return Ok(Went::Ended);
            }
            if self.task.asks.contains(&step) && !self.task.approved.contains(&step) {
                let validated = self.look_at_plan()?;
                self.halt(&validated, About::Step(step), None)?;
                return Ok(Went::Waits);
            }
            let asked = self.attempt(step, planned)?;
            if self.last_attempt(step).is_some_and(|last| last.interrupted) {
                return Ok(Went::Ended);
            }
            if let Some(question) = asked {
                return self.ask_about(step, planned, question);
            }
        }
    }

    /// It has ended, and nobody has looked at it.
    fn is_to_be_judged(&self, step: usize) -> bool {
        self.last_attempt(step).is_some_and(|last| {
            let ended = last.ended.is_some() && !last.interrupted;
            ended && !last.rolled_back && last.failed.is_none()
        })
    }

    /// Holds what was found against what was expected. That it has failed is on the disk before anything is taken back:
    /// afterwards the same look would find something else.
    fn conclude(&mut self, step: usize, planned: &PlannedStep) -> Result<bool, TaskError> {
        let checks = self.checks(step, planned)?;
        let limit = self.time_limit(planned);
        let Some(attempt) = self.last_attempt_mut(step) else { return Ok(false) };
        let failed = if let Some(refused) = &attempt.refused {
            Some(format!("it was refused: {refused}"))
        } else if attempt.timed_out {
            Some(format!("it took longer than {} s", limit.as_secs_f64()))
        } else {
            evaluation::failure(&checks)
        };
        attempt.failed.clone_from(&failed);
        let ended = attempt.clone();
        if let Some(run) = self.task.steps.get_mut(step) {
            run.checks.clone_from(&checks);
            run.state = if failed.is_none() { StepState::Done } else { StepState::Running };
        }
        self.save()?;
        if let Some(failed) = &failed {
            self.say(&format!("step {} has failed: {failed}", step + 1));
        }
        self.tell(&Event::StepEnded { step, attempt: &ended, checks: &checks });
        Ok(failed.is_none())
    }

    /// Only what could not have taken effect, or may do so twice, is tried again.
    fn chance(&mut self, step: usize, planned: &PlannedStep) -> Result<Chance, TaskError> {
        let Some(run) = self.task.steps.get(step) else { return Ok(Chance::No(String::new())) };
        let round = self.task.round;
        let counts = |attempt: &&super::Attempt| attempt.round == round && attempt.failed.is_some();
        let tried = u32::try_from(run.attempts.iter().filter(counts).count()).unwrap_or(u32::MAX);
        let refused = run.attempts.last().is_some_and(|last| last.refused.is_some());
        if refused {
            return Ok(Chance::No("what is refused is not tried again".to_owned()));
        }
        let most = self.tasks.grounds.settings.retries.unwrap_or(u32::MAX);
        if tried > planned.retry.attempts.min(most) {
            return Ok(Chance::No(match tried {
                1 => "it is not to be tried again".to_owned(),
                tried => format!("it was tried {tried} times"),
            }));
        }
        if !planned.idempotent
            && let Err(why) = self.take_back_last(step)?
        {
            return Ok(Chance::No(format!(
                "it is not tried again, because it is not idempotent and what it did stays: {why}"
            )));
        }
        let pause = pause(planned.retry.backoff, tried);
        self.say(&format!("step {} is tried again in {:.1} s", step + 1, pause.as_secs_f64()));
        self.tell(&Event::Pausing { step, pause });
        Ok(if self.pause(pause) { Chance::Yes } else { Chance::Ended })
    }

    fn give_up(&mut self, step: usize, why: &str) -> Result<Went, TaskError> {
        let failed = self.last_attempt(step).and_then(|last| last.failed.clone());
        let failed = failed.unwrap_or_default();
        if let Some(run) = self.task.steps.get_mut(step) {
            run.state = StepState::Failed;
            run.why = if why.is_empty() { failed } else { format!("{failed}; {why}") };
        }
        self.save()?;
        Ok(Went::Failed)
    }

    /// Something only showed when it ran. What it did until then is taken back, and a person is asked.
    fn ask_about(
        &mut self,
        step: usize,
        planned: &PlannedStep,
        question: Question,
    ) -> Result<Went, TaskError> {
        if let Some(attempt) = self.last_attempt_mut(step) {
            attempt.interrupted = true;
        }
        let taken = self.take_back_last(step)?;
        if let (Err(why), false) = (taken, planned.idempotent) {
            let why = format!(
                "step {} has asked for something when it had begun, and what it did stays: {why}",
                step + 1
            );
            self.move_to(State::NeedsReview, &why)?;
            return Ok(Went::Waits);
        }
        let whole = question.text == normalised(planned.command.as_bytes().into());
        let (about, at_run_time) = if whole {
            (About::Step(step), None)
        } else {
            (About::Within(step), Some(AtRunTime { question }))
        };
        if let Some(run) = self.task.steps.get_mut(step) {
            run.state = StepState::Waiting;
        }
        let validated = self.look_at_plan()?;
        self.halt(&validated, about, at_run_time)?;
        Ok(Went::Waits)
    }

    /// The verdict on all of it.
    pub(super) fn evaluate(&mut self) -> Result<Onward, TaskError> {
        let failed = self.task.steps.iter().position(|step| step.state != StepState::Done);
        let Some(step) = failed else {
            self.move_to(State::Completed, "every step did what was expected of it")?;
            return Ok(Onward::No);
        };
        let why = self.task.steps.get(step).map(|run| run.why.clone()).unwrap_or_default();
        let command = self.task.planned(step).map(|it| it.command.clone()).unwrap_or_default();
        let mut why = format!("step {} ({command}) has failed: {why}", step + 1);
        if self.task.rollback_on_failure {
            let left = self.take_back_all()?;
            why.push_str("; ");
            why.push_str(&left);
        }
        self.skip_the_rest();
        self.task.refused = self.last_attempt(step).is_some_and(|last| last.refused.is_some());
        self.move_to(State::Failed, &why)?;
        Ok(Onward::No)
    }
}

/// Twice as long each time, a quarter more or less so that those who failed together do not come back together.
fn pause(backoff: Duration, tried: u32) -> Duration {
    let doubled = backoff.saturating_mul(2_u32.saturating_pow(tried.saturating_sub(1)));
    let (_, random) = uuid::Uuid::now_v7().as_u64_pair();
    let part = 75 + u32::try_from(random % 51).unwrap_or(25);
    (doubled.min(LONGEST_PAUSE).saturating_mul(part) / 100).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_are_never_too_long() {
        for tried in 1..40 {
            let usual = Duration::from_secs(1).saturating_mul(2_u32.saturating_pow(tried - 1));
            let usual = usual.min(LONGEST_PAUSE);
            let found = pause(Duration::from_secs(1), tried);
            assert!(found >= usual * 3 / 4 && found <= usual * 5 / 4, "{tried}: {found:?}");
            assert!(found <= LONGEST_PAUSE);
        }
    }
}
