//! Taking back what steps did: by the journal of undo, and recorded like everything that people take back themselves.

use exacta_store::{Options, Which};

use super::watching::Event;
use super::work::Work;
use super::{Attempt, StepState, TaskError, Tasks};
use crate::audit::{Done, Person};
use crate::records::{Listed, RecordId, Records, State as RecordState, Turn, UndoError, Watch};

/// Nothing of it stays; an error says what does, and why.
pub(super) type TakenBack = Result<(), String>;

impl Tasks {
    /// The records that an attempt has left, the newest first. Whatever died with it is settled by this.
    pub(super) fn left_by(&self, attempt: &Attempt) -> Result<Vec<Listed>, TaskError> {
        let since = i64::try_from(attempt.started / 1_000).unwrap_or(i64::MAX);
        let records = Records::open(self.root(), Watch::default())?;
        Ok(records.of_session(&attempt.request, since)?)
    }

    /// Takes back what an attempt did. Done twice it is done once.
    pub(super) fn take_back(&self, attempt: &Attempt, agent: &str) -> Result<TakenBack, TaskError> {
        let left = self.left_by(attempt)?;
        let mut stays: Vec<String> = Vec::new();
        // Old records are forgotten, and with them what was before.
        let known = |id: u64| left.iter().any(|record| record.id.0 == id);
        if let Some(id) = attempt.undo.filter(|id| !known(*id)) {
            stays.push(format!("record {id} is not kept any more"));
        }
        for record in &left {
            stays.extend(record.irreversible.iter().cloned());
            match record.state {
                RecordState::Undone | RecordState::Discarded => {}
                RecordState::Applied | RecordState::Held => {
                    stays.extend(self.turn_back(record, agent)?.err());
                }
                RecordState::Running => stays.push(format!("record {} is in use", record.id)),
                RecordState::Damaged => stays.push(format!("record {} is damaged", record.id)),
            }
        }
        stays.dedup();
        Ok(if stays.is_empty() { Ok(()) } else { Err(stays.join("; ")) })
    }

    fn turn_back(&self, record: &Listed, agent: &str) -> Result<TakenBack, TaskError> {
        let held = record.state == RecordState::Held;
        let effect = if held { "discard" } else { "undo" };
        let words = ["exacta", effect, &record.id.to_string()].map(Into::into);
        let person = Person::agent(agent.to_owned(), "task");
        let deed = self.trail().begin(&person, effect, &words)?;
        let turned = self.turned(record.id, held);
        let (exit, told) = match &turned {
            Ok(()) => (0, Vec::new()),
            Err(error) => (1, error.to_string().into_bytes()),
        };
        deed.end(Done { exit, told, records: vec![record.id.0] })?;
        Ok(turned.map_err(|error| format!("record {}: {error}", record.id)))
    }

    fn turned(&self, id: RecordId, held: bool) -> Result<(), UndoError> {
        let records = Records::open(self.root(), Watch::default())?;
        if held {
            return records.discard(id);
        }
        records.turn(Turn::Undo, &Which::These(vec![id]), Options::default()).map(|_report| ())
    }
}

impl Work<'_> {
    /// The last attempt of a step, which failed, asked or was interrupted.
    pub(super) fn take_back_last(&mut self, step: usize) -> Result<TakenBack, TaskError> {
        let Some(attempt) = self.last_attempt(step).cloned() else { return Ok(Ok(())) };
        if attempt.rolled_back {
            return Ok(Ok(()));
        }
        let mut taken = self.tasks.take_back(&attempt, &self.task.agent)?;
        if attempt.irreversible && taken.is_ok() {
            taken = Err("it reached outside, or wrote directly".to_owned());
        }
        if let Some(attempt) = self.last_attempt_mut(step) {
            attempt.rolled_back = taken.is_ok();
        }
        self.save()?;
        if taken.is_ok() && attempt.undo.is_some() {
            self.say(&format!("what step {} did was taken back", step + 1));
            self.tell(&Event::TakenBack { step });
        }
        Ok(taken)
    }

    /// Half of a step is what nobody wanted.
    pub(super) fn take_back_interrupted(&mut self) -> Result<(), TaskError> {
        for step in 0..self.task.steps.len() {
            let interrupted = self.last_attempt(step).is_some_and(|last| {
                !last.rolled_back && (last.interrupted || last.ended.is_none())
            });
            if interrupted && let Err(why) = self.take_back_last(step)? {
                self.say(&format!("what step {} did stays: {why}", step + 1));
            }
        }
        Ok(())
    }

    /// Everything, the last step first. In words for people.
    pub(super) fn take_back_all(&mut self) -> Result<String, TaskError> {
        let mut stays = Vec::new();
        for step in (0..self.task.steps.len()).rev() {
            let Some(run) = self.task.steps.get(step) else { continue };
            let did = matches!(run.state, StepState::Done | StepState::Failed | StepState::Running);
            if !did {
                continue;
            }
            match self.take_back_step(step)? {
                Ok(()) => {
                    if let Some(run) = self.task.steps.get_mut(step)
                        && run.state == StepState::Done
                    {
                        run.state = StepState::Undone;
                    }
                    self.tell(&Event::TakenBack { step });
                }
                Err(why) => stays.push(format!("step {} stays: {why}", step + 1)),
            }
            self.save()?;
        }
        self.task.rolled_back = stays.is_empty();
        self.save()?;
        for stay in &stays {
            self.say(stay);
        }
        let all = "everything was taken back".to_owned();
        Ok(if stays.is_empty() {
            all
        } else {
            format!("not all was taken back: {}", stays.join("; "))
        })
    }

    fn take_back_step(&mut self, step: usize) -> Result<TakenBack, TaskError> {
        let agent = self.task.agent.clone();
        let attempts =
            self.task.steps.get(step).map(|run| run.attempts.clone()).unwrap_or_default();
        for (number, attempt) in attempts.iter().enumerate().rev() {
            if attempt.rolled_back {
                continue;
            }
            if let Err(why) = self.tasks.take_back(attempt, &agent)? {
                return Ok(Err(why));
            }
            if attempt.irreversible {
                return Ok(Err("it reached outside, or wrote directly".to_owned()));
            }
            let run = self.task.steps.get_mut(step);
            if let Some(attempt) = run.and_then(|run| run.attempts.get_mut(number)) {
                attempt.rolled_back = true;
            }
        }
        Ok(Ok(()))
    }
}
