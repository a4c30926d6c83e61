//! After a crash: whoever worked on a task has died, and somebody else finds out how far it had come.
//!
//! Nothing is run twice that may have taken effect. What became of a request the chain of records says, if it has ended; if
//! not, the journal of undo takes back what it had changed. Where neither can say so, a person looks.

use bstr::ByteSlice as _;
use exacta_store::audit::{AuditError, Outcome, Output, Reader, Recorded};

use super::evaluation::{Written, of_output};
use super::keeping::now;
use super::work::Work;
use super::{Attempt, Expect, Manner, State, StepState, Stopper, TaskError, Tasks};

/// A task that somebody has left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    pub id: String,
    /// In which state.
    pub was: State,
    pub became: Became,
    pub why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    /// Nothing had run: it begins anew.
    Pending,
    /// Whoever advances it goes on where it was.
    Resumable,
    /// A person has to look at it.
    NeedsReview,
}

impl Tasks {
    /// Brings in order what was left by processes that have died, and tells of each task once. Runs nothing.
    pub fn recover(&self) -> Result<Vec<Recovered>, TaskError> {
        let stopper = Stopper::default();
        let manner = Manner { planner: None, watcher: &(), stopper: &stopper };
        let mut found = Vec::new();
        for task in self.unfinished()? {
            if !task.state.is_busy() || task.left {
                continue;
            }
            let Some(held) = self.keeper.hold(&task.id)? else { continue };
            // It may have ended between the two.
            let task = self.keeper.get(&task.id)?;
            if task.state.is_busy() && !task.left {
                let mut work = Work::new(self, &manner, task);
                found.push(work.take_up()?);
                work.log.flush();
            }
            drop(held);
        }
        Ok(found)
    }
}

/// What is known of an attempt that nobody has seen the end of.
enum Fate {
    /// It has ended, and this is how.
    Ended(Box<Attempt>),
    /// It may run again.
    Gone,
    Unknown(String),
}

impl Work<'_> {
    /// Takes over from somebody who has died.
    pub(super) fn take_up(&mut self) -> Result<Recovered, TaskError> {
        let was = self.task.state;
        let (became, why) = match was {
            State::Planning | State::Validating => {
                let why = "whoever worked on it has died, and nothing had run";
                self.move_to(State::Pending, why)?;
                (Became::Pending, why.to_owned())
            }
            State::Running => self.settle_attempts()?,
            _ => (Became::Resumable, "it is judged again".to_owned()),
        };
        if became == Became::Resumable {
            self.task.left = true;
            self.save()?;
        }
        Ok(Recovered { id: self.task.id.clone(), was, became, why })
    }

    fn settle_attempts(&mut self) -> Result<(Became, String), TaskError> {
        let mut said = "whoever worked on it has died between two steps".to_owned();
        for step in 0..self.task.steps.len() {
            if self.is_half_done(step) {
                if !self.can_run_again(step)? {
                    return Ok((Became::NeedsReview, self.task.reason.clone()));
                }
                continue;
            }
            let open = self.last_attempt(step).filter(|last| last.ended.is_none()).cloned();
            let Some(open) = open else { continue };
            let fate = self.fate(step, &open)?;
            if let Some(attempt) = self.last_attempt_mut(step) {
                match &fate {
                    Fate::Ended(ended) => attempt.clone_from(ended),
                    Fate::Gone => {
                        (attempt.ended, attempt.interrupted, attempt.rolled_back) =
                            (Some(now()), true, true);
                    }
                    Fate::Unknown(_) => attempt.interrupted = true,
                }
            }
            if let Fate::Unknown(why) = fate {
                let why = format!(
                    "whoever ran step {} has died, and it may have taken effect: {why}",
                    step + 1
                );
                if let Some(run) = self.task.steps.get_mut(step) {
                    run.state = StepState::Failed;
                    run.why.clone_from(&why);
                }
                self.move_to(State::NeedsReview, &why)?;
                return Ok((Became::NeedsReview, why));
            }
            said = match fate {
                Fate::Ended(_) => format!("step {} had ended when whoever ran it died", step + 1),
                _ => format!("whoever ran step {} has died; it can run again", step + 1),
            };
            self.save()?;
            self.say(&said);
        }
        Ok((Became::Resumable, said))
    }

    /// Whoever works on it goes. What is half done is taken back, so that it can run again; the state stays, and with it
    /// what the next one has to do.
    pub(super) fn put_down(&mut self) -> Result<(), TaskError> {
        for step in 0..self.task.steps.len() {
            if self.is_half_done(step) && !self.can_run_again(step)? {
                return Ok(());
            }
        }
        self.say("put down, to be taken up again");
        Ok(())
    }

    /// A step was stopped, and nothing of it was taken back yet.
    fn is_half_done(&self, step: usize) -> bool {
        let half = |last: &Attempt| last.ended.is_some() && last.interrupted && !last.rolled_back;
        self.last_attempt(step).is_some_and(half)
    }

    /// Takes it back. False: that cannot be, and a person has to look.
    fn can_run_again(&mut self, step: usize) -> Result<bool, TaskError> {
        let idempotent = self.task.planned(step).is_some_and(|planned| planned.idempotent);
        let taken = self.take_back_last(step)?;
        let unsafe_because = taken.err().filter(|_| !idempotent);
        let why = unsafe_because.map(|why| {
            format!("step {} was stopped when it had begun, and what it did stays: {why}", step + 1)
        });
        if let Some(run) = self.task.steps.get_mut(step) {
            run.state = if why.is_some() { StepState::Failed } else { StepState::Waiting };
            run.why = why.clone().unwrap_or_default();
        }
        match &why {
            Some(why) => self.move_to(State::NeedsReview, why)?,
            None => self.save()?,
        }
        Ok(why.is_none())
    }

    fn fate(&self, step: usize, open: &Attempt) -> Result<Fate, TaskError> {
        let recorded = self.recorded(open)?;
        let planned = self.task.planned(step).cloned().unwrap_or_default();
        if let Some((reader, recorded)) = &recorded
            && let Some(outcome) = &recorded.outcome
            && outcome.stopped.is_empty()
        {
            let streams = [reader.output(recorded, 0)?, reader.output(recorded, 1)?];
            let mut attempt = ended(open, outcome);
            let streams = streams.map(Option::unwrap_or_default);
            attempt.take_output(&streams, outcome, &planned.expect, self.output_limit());
            return Ok(Fate::Ended(Box::new(attempt)));
        }
        let idempotent = planned.idempotent;
        let taken = self.tasks.take_back(open, &self.task.agent)?;
        if idempotent {
            return Ok(Fate::Gone);
        }
        if let Err(why) = taken {
            return Ok(Fate::Unknown(why));
        }
        let started = recorded.is_some_and(|(_, recorded)| !recorded.starts.is_empty());
        if started && open.may_last {
            let why = "a program of it was started that may reach outside, or write directly";
            return Ok(Fate::Unknown(why.to_owned()));
        }
        Ok(Fate::Gone)
    }

    /// What the chain says of its request.
    fn recorded(&self, attempt: &Attempt) -> Result<Option<(Reader, Recorded)>, TaskError> {
        let reader = match self.tasks.trail().open() {
            Err(AuditError::Nothing) => return Ok(None),
            reader => reader?,
        };
        match reader.find(&attempt.request) {
            Err(AuditError::NoSuchRequest(_)) => Ok(None),
            recorded => {
                let recorded = reader.with_starts(recorded?)?;
                Ok(Some((reader, recorded)))
            }
        }
    }
}

/// As the chain of records has it.
fn ended(open: &Attempt, outcome: &Outcome) -> Attempt {
    let strategy = outcome.undo.as_ref().map(|undo| undo.strategy.as_str()).unwrap_or_default();
    let reached = outcome.connections.iter().any(|connection| connection.fate == "reached");
    Attempt {
        ended: Some(now()),
        timed_out: outcome.timed_out,
        exit_code: Some(outcome.exit),
        undo: outcome.undo.as_ref().map(|undo| undo.id),
        irreversible: reached || strategy.starts_with("none") || strategy.contains("except"),
        ..open.clone()
    }
}

impl Attempt {
    /// What was recorded of its output, looked at before it is cut.
    fn take_output(&mut self, streams: &[Vec<u8>; 2], of: &Outcome, expect: &Expect, most: u64) {
        let [stdout, stderr] = streams;
        let cut = |output: &Output| output.kept.as_ref().is_some_and(|kept| !kept.whole);
        let written = |bytes, output| Written { bytes, cut: cut(output) };
        let (stdout, stderr) = (written(stdout, &of.stdout), written(stderr, &of.stderr));
        self.output = Some(of_output(expect, stdout, stderr));
        let (output, errors) = (stdout.bytes.to_str_lossy(), stderr.bytes.to_str_lossy());
        self.keep_output([&output, &errors], most, stdout.cut || stderr.cut);
    }
}
