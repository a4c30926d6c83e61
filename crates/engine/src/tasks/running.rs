//! One attempt of a step: one request in a session of its own, which is on the disk before it begins.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use bstr::{BStr, BString, ByteSlice};
use exacta_policy::Verdict;
use exacta_shell::pipe::Bytes;
use exacta_shell::status::Stop;

use super::evaluation::{Written, of_output};
use super::keeping::now;
use super::log::Ears;
use super::watching::Event;
use super::work::Work;
use super::{Attempt, LogKind, PlannedStep, StepState, Task, TaskError};
use crate::approvals::{Answer, Approver, Asker, Question, shortened_to};
use crate::kept_output::OutputLimit;
use crate::proposal::normalised;
use crate::redaction::Results;
use crate::session::{Outcome, Request, Session, SessionOptions};

/// How long a line of the log waits for others.
const LULL: Duration = Duration::from_millis(100);
/// Of each stream so much is looked at, as of any request: what is kept of it is less.
const LOOKED_AT: u64 = 1 << 20;
/// The exit code of what has taken too long.
const TIMED_OUT: i32 = 124;

impl Work<'_> {
    /// Runs a step once. What it has asked that nobody has answered; it was refused then.
    pub(super) fn attempt(
        &mut self,
        step: usize,
        planned: &PlannedStep,
    ) -> Result<Option<Question>, TaskError> {
        let id = uuid::Uuid::now_v7();
        let approver = Arc::new(StepApprover::of(&self.task, step, planned, self.tasks.root()));
        let options = self.options_of(planned, &id.to_string(), Arc::clone(&approver) as _)?;
        let mut session = Session::new(options)?;
        let verdict = session.foresee(BStr::new(planned.command.as_bytes()));
        let attempt = Attempt {
            request: id.to_string(),
            started: now(),
            round: self.task.round,
            may_last: may_last(&verdict, &session),
            ..Attempt::default()
        };
        let Some(run) = self.task.steps.get_mut(step) else { return Ok(None) };
        let number = run.attempts.len();
        run.state = StepState::Running;
        run.attempts.push(attempt);
        run.checks.clear();
        self.save()?;
        self.tell(&Event::StepBegins { step, attempt: number, command: &planned.command });
        let command = self.tasks.redaction.rules().redact_text(&planned.command).0;
        self.log.add(LogKind::Command, &command);
        self.log.flush();
        let request = Request::new(planned.command.as_str()).known_as(id.into_bytes());
        let outcome = self.perform(&mut session, request);
        // Everything that it has started ends with it.
        drop(session);
        self.tell(&Event::StepRan { step, attempt: number });
        self.note(step, planned, &outcome)?;
        Ok(approver.asked.lock().unwrap_or_else(PoisonError::into_inner).take())
    }

    fn options_of(
        &self,
        planned: &PlannedStep,
        session: &str,
        approver: Arc<dyn Approver>,
    ) -> Result<SessionOptions, TaskError> {
        let mut options = self.tasks.options(approver)?;
        options.limits.wall_time = Some(self.time_limit(planned));
        options.output = Some(OutputLimit::new(self.looked_at(), None, ""));
        options.redaction.results = Results::Redacted;
        let task = &self.task;
        if let Some(judgement) = &mut options.judgement {
            let plan = task.plan.iter().flat_map(|plan| &plan.steps);
            judgement.asker = Asker {
                agent: task.agent.clone(),
                goal: task.goal.clone(),
                plan: plan.map(|step| step.command.clone()).collect(),
            };
        }
        // Without a record nobody could say afterwards what became of it.
        let audit = options.audit.get_or_insert_default();
        audit.eager = false;
        audit.session = Some(session.to_owned());
        if !task.agent.is_empty() {
            audit.agent.clone_from(&task.agent);
        }
        Ok(options)
    }

    /// As the step says, else as the operator does.
    pub(super) fn time_limit(&self, planned: &PlannedStep) -> Duration {
        planned.timeout.unwrap_or(self.tasks.grounds.settings.timeout)
    }

    /// Of the output of one command.
    pub(super) fn output_limit(&self) -> u64 {
        self.tasks.grounds.settings.output_bytes
    }

    /// Of each stream of it, before it is cut.
    fn looked_at(&self) -> u64 {
        self.output_limit().max(LOOKED_AT)
    }

    /// Runs it, with what it writes in the log as it comes.
    fn perform(&self, session: &mut Session, request: Request) -> Outcome {
        let (sender, receiver) = mpsc::channel();
        let ears = Ears::new(self.output_limit(), sender);
        let request = request.heard(Arc::new(Bytes::new(Vec::new())), Arc::clone(&ears) as _);
        self.stopper.attach(Some(session.prepare()));
        let outcome = thread::scope(|scope| {
            // Whoever follows the log sees a line soon, also if no other comes after it.
            let log = &self.log;
            let write = move || {
                loop {
                    match receiver.recv_timeout(LULL) {
                        Ok((kind, line)) => log.add(kind, &line),
                        Err(RecvTimeoutError::Timeout) => log.flush(),
                        Err(RecvTimeoutError::Disconnected) => break,
                    }
                }
            };
            let writer = thread::Builder::new().name("task-log".into()).spawn_scoped(scope, write);
            let outcome = session.run_script(&request);
            ears.finish();
            // The last who could say something: the writer ends.
            drop(request);
            drop(ears);
            drop(writer);
            outcome
        });
        self.stopper.attach(None);
        self.log.flush();
        outcome
    }

    /// What came of it.
    fn note(
        &mut self,
        step: usize,
        planned: &PlannedStep,
        outcome: &Outcome,
    ) -> Result<(), TaskError> {
        let Some(attempt) = self.last_attempt(step) else { return Ok(()) };
        let left = self.tasks.left_by(attempt)?;
        let programs = outcome.programs.as_ref();
        let lasting = programs.is_some_and(|it| it.direct || it.unprotected || it.reached_out);
        let lasting = lasting || left.iter().any(|record| !record.irreversible.is_empty());
        let undo = outcome.undo.as_ref().map(|undo| undo.id.0);
        let undo = undo.or(left.first().map(|record| record.id.0));
        let (most, looked_at) = (self.output_limit(), self.looked_at());
        let written = |bytes| Written { bytes, cut: <[u8]>::len(bytes) as u64 > looked_at };
        let output = of_output(&planned.expect, written(&outcome.stdout), written(&outcome.stderr));
        let Some(attempt) = self.last_attempt_mut(step) else { return Ok(()) };
        attempt.output = Some(output);
        attempt.ended = Some(now());
        attempt.timed_out = matches!(outcome.stopped, Some(Stop::TimedOut));
        attempt.exit_code =
            Some(if attempt.timed_out { TIMED_OUT } else { i32::from(outcome.status.0) });
        let (stdout, stderr) = (outcome.stdout.to_str_lossy(), outcome.stderr.to_str_lossy());
        attempt.keep_output([&stdout, &stderr], most, outcome.truncated);
        attempt.undo = undo;
        attempt.irreversible = lasting;
        attempt.interrupted = matches!(outcome.stopped, Some(Stop::Cancelled));
        attempt.refused = match &outcome.stopped {
            Some(Stop::Refused(refusal)) => Some(format!("{}: {}", refusal.rule, refusal.reason)),
            Some(Stop::Unrecorded(problem)) => Some(problem.clone()),
            _ => None,
        };
        self.save()
    }

    pub(super) fn last_attempt(&self, step: usize) -> Option<&Attempt> {
        let last = self.task.steps.get(step)?.attempts.last()?;
        (last.round == self.task.round).then_some(last)
    }

    pub(super) fn last_attempt_mut(&mut self, step: usize) -> Option<&mut Attempt> {
        let round = self.task.round;
        self.task.steps.get_mut(step)?.attempts.last_mut().filter(|last| last.round == round)
    }
}

impl Attempt {
    /// Both streams together are within the limit: of errors half of it at most, unless there is room.
    pub(super) fn keep_output(&mut self, streams: [&str; 2], most: u64, truncated: bool) {
        let [stdout, stderr] = streams;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let for_errors = stderr.len().min((most / 2).max(most.saturating_sub(stdout.len())));
        let for_output = most.saturating_sub(for_errors);
        let (output, errors) = (shortened_to(stdout, for_output), shortened_to(stderr, for_errors));
        self.truncated = truncated || output.is_some() || errors.is_some();
        self.stdout = output.unwrap_or_else(|| stdout.to_owned());
        self.stderr = errors.unwrap_or_else(|| stderr.to_owned());
    }
}

/// Whether a program of it may do what no layer and no record holds. If whoever runs it dies, nobody can say that it did not.
fn may_last(verdict: &Verdict, session: &Session) -> bool {
    let grants = session.world().grants;
    let unknown = verdict.commands.iter().any(|command| !command.literal);
    let outside = !verdict.hosts.is_empty() || !grants.writable.is_empty();
    outside || unknown || verdict.direct || grants.direct
}

/// Says yes to exactly what a person has said yes to.
struct StepApprover {
    name: String,
    /// The step, as questions have it.
    text: BString,
    root: BString,
    approved: bool,
    answered: Vec<String>,
    asked: Mutex<Option<Question>>,
}

impl StepApprover {
    fn of(task: &Task, step: usize, planned: &PlannedStep, root: &std::path::Path) -> Self {
        let by = if task.approved_by.is_empty() { "nobody" } else { &task.approved_by };
        StepApprover {
            name: format!("{by}, for task {}", task.id),
            text: normalised(BStr::new(planned.command.as_bytes())),
            root: root.as_os_str().as_encoded_bytes().into(),
            approved: task.approved.contains(&step),
            answered: task.answered.clone(),
            asked: Mutex::default(),
        }
    }
}

impl Approver for StepApprover {
    fn ask(&self, question: &Question) -> Answer {
        let whole = question.text == self.text && question.directory == self.root;
        if whole && self.approved || self.answered.contains(&question.digest.to_string()) {
            return Answer::Once;
        }
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.get_or_insert_with(|| question.clone());
        Answer::No
    }

    fn name(&self) -> &str {
        &self.name
    }
}
