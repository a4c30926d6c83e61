//! Every step is looked at before anything runs: what is denied fails the task, what needs a yes halts it.

use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};
use exacta_policy::{Decision, Finding, JudgedCommand, TASK_WRITTEN, Verdict};

use super::advancing::Onward;
use super::task::About;
use super::watching::Event;
use super::work::Work;
use super::{State, StepState, TaskError, Tasks};
use crate::approvals::{Approver, Digest, Unattended, When};
use crate::error::EngineError;
use crate::session::{Session, SessionOptions};

/// What was found about a plan.
pub(super) struct Validated {
    pub(super) verdicts: Vec<Verdict>,
    /// What the rules were then.
    pub(super) rules: Digest,
    /// The root, as the session sees it.
    pub(super) directory: bstr::BString,
}

impl Tasks {
    /// As the launcher has it, from the root on and with nothing tried first.
    pub(super) fn options(
        &self,
        approver: Arc<dyn Approver>,
    ) -> Result<SessionOptions, EngineError> {
        let mut options = (self.grounds.launch)(approver)?;
        options.directory = None;
        if let Some(judgement) = &mut options.judgement {
            // What is approved is a text: a result that waits would be another question.
            judgement.when = When::Before;
        }
        Ok(options)
    }
}

impl Work<'_> {
    pub(super) fn validate(&mut self) -> Result<Onward, TaskError> {
        let validated = self.look_at_plan()?;
        if validated.verdicts.is_empty() {
            self.move_to(State::Failed, "the plan has no steps")?;
            return Ok(Onward::No);
        }
        if let Some(less) = self.fewer_attempts() {
            self.tell(&Event::Noted(&less));
            self.say(&less);
        }
        if let Some((step, verdict)) = self.denied(&validated.verdicts) {
            let why = self.in_words(step, verdict);
            self.skip_the_rest();
            self.task.refused = true;
            self.move_to(State::Failed, &why)?;
            return Ok(Onward::No);
        }
        let asks = |(step, verdict): (usize, &Verdict)| {
            (verdict.decision == Decision::Confirm && self.is_to_run(step)).then_some(step)
        };
        self.task.asks = validated.verdicts.iter().enumerate().filter_map(asks).collect();
        if self.task.asks.is_empty() || self.task.step_by_step {
            self.move_to(State::Running, "")?;
            return Ok(Onward::Yes);
        }
        self.halt(&validated, About::Plan, None)
    }

    /// Steps that the operator does not let be tried again as often as they would be.
    fn fewer_attempts(&self) -> Option<String> {
        let most = self.tasks.grounds.settings.retries?;
        let steps = self.task.plan.iter().flat_map(|plan| &plan.steps).enumerate();
        let more = steps.filter(|(_, step)| step.retry.attempts > most);
        let more: Vec<String> =
            more.map(|(at, step)| format!("step {} ({})", at + 1, step.retry.attempts)).collect();
        (!more.is_empty()).then(|| {
            let steps = more.join(", ");
            format!("tasks.retries is {most}: no step is tried again more often, as these would be: {steps}")
        })
    }

    /// Those that are done are done, and not judged any more.
    fn is_to_run(&self, step: usize) -> bool {
        self.task.steps.get(step).is_none_or(|step| step.state != StepState::Done)
    }

    fn denied<'a>(&self, verdicts: &'a [Verdict]) -> Option<(usize, &'a Verdict)> {
        let mut all = verdicts.iter().enumerate();
        all.find(|(step, verdict)| verdict.decision == Decision::Deny && self.is_to_run(*step))
    }

    /// What the judge says of each step.
    pub(super) fn look_at_plan(&self) -> Result<Validated, TaskError> {
        let session = Session::new(self.tasks.options(Arc::new(Unattended))?)?;
        let steps = self.task.plan.iter().flat_map(|plan| &plan.steps);
        let mut before = BString::default();
        let mut verdicts = Vec::new();
        let mut known = 0;
        for step in steps {
            let mut verdict = session.foresee(BStr::new(step.command.as_bytes()));
            // Each in a shell of its own, as it will run.
            before.extend_from_slice(format!("(\n{}\n)\n", step.command).as_bytes());
            let together = written_then_run(&session.foresee(before.as_bstr()));
            add(&mut verdict, together.get(known..).unwrap_or_default());
            known = together.len();
            verdicts.push(verdict);
        }
        let directory = session.shell().directory.clone();
        Ok(Validated { verdicts, rules: session.rules_version(), directory })
    }

    fn in_words(&self, step: usize, verdict: &Verdict) -> String {
        let Finding { rule, reason, .. } = &verdict.finding;
        let command = self.task.planned(step).map(|step| step.command.as_str()).unwrap_or_default();
        format!("step {} is denied by {rule}: {reason}: {command}", step + 1)
    }
}

/// What runs commands that the plan has written itself.
fn written_then_run(verdict: &Verdict) -> Vec<JudgedCommand> {
    let is_it = |finding: &Finding| &*finding.rule == TASK_WRITTEN;
    verdict.commands.iter().filter(|it| it.findings.iter().any(is_it)).cloned().collect()
}

/// What an earlier step has written and this one runs is asked about with this one.
fn add(verdict: &mut Verdict, more: &[JudgedCommand]) {
    for command in more {
        if verdict.decision < command.finding.decision {
            verdict.decision = command.finding.decision;
            verdict.finding = command.finding.clone();
        }
        if !verdict.commands.iter().any(|known| known.findings == command.findings) {
            verdict.commands.push(command.clone());
        }
    }
}

/// The commands of a verdict that need a yes, each with its first reason.
pub(super) fn asking(verdict: &Verdict, text: &str) -> Vec<JudgedCommand> {
    let asks = |finding: &&Finding| finding.decision == Decision::Confirm;
    let mut found: Vec<JudgedCommand> = verdict
        .commands
        .iter()
        .filter_map(|command| {
            let finding = command.findings.iter().find(asks)?.clone();
            Some(JudgedCommand { finding, ..command.clone() })
        })
        .collect();
    // The list is only as long as people can read: the strictest finding may stand alone.
    if found.is_empty() && verdict.decision == Decision::Confirm {
        found.push(JudgedCommand {
            argv: vec![text.as_bytes().as_bstr().into()],
            literal: true,
            via: Vec::new(),
            finding: verdict.finding.clone(),
            findings: vec![verdict.finding.clone()],
        });
    }
    found
}
