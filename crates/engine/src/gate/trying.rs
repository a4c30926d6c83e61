//! Asking afterwards: a request that can change nothing but the project runs apart first, and the question is about what
//! came of it. Until there is a yes its commands are covered by the trial, and by nothing else.

use exacta_policy::JudgedCommand;

use super::{Gate, Refused, refusal};
use crate::approvals::{PendingStore, Question, Scope, State, Tried, When};
use crate::proposal::Proposed;

#[derive(Default)]
pub(super) struct Trial {
    /// The request may still be run apart: nothing of it has run yet.
    possible: bool,
    /// It runs apart, and this is to be asked about it.
    question: Option<Question>,
    /// What somebody has said yes to is this; it is in the project already.
    pub(super) result: Option<Tried>,
}

impl Gate {
    /// The request that is about to be looked at has not begun, and what it changes could be held.
    pub(crate) fn allow_trial(&self) {
        self.state().trial.possible = self.judgement.when == When::After && self.project.is_some();
    }

    /// From now on something of it runs, apart or not.
    pub(crate) fn end_screening(&self) {
        self.state().trial.possible = false;
    }

    pub(crate) fn is_trying(&self) -> bool {
        self.state().trial.question.is_some()
    }

    /// Only what stays in the project can be taken back by doing nothing.
    pub(super) fn may_be_tried(&self, proposed: &Proposed<'_>, asks: &[JudgedCommand]) -> bool {
        let grants = &self.judgement.grants;
        let within = proposed.hosts.is_empty() && grants.writable.is_empty();
        let direct = proposed.direct || grants.direct;
        let lasting = asks.iter().any(|command| command.finding.irreversible);
        let state = self.state();
        let trial = &state.trial;
        within && !direct && !lasting && (trial.possible || trial.question.is_some())
    }

    pub(super) fn try_first(&self, question: Question) -> Result<(), Refused> {
        // What has run and waits for its answer is not run again.
        if let Some(project) = &self.project {
            let last = PendingStore::of(&project.root).last(&question.digest);
            match last.map_err(|problem| Self::broken(&question, &problem.to_string()))? {
                Some(pending) if pending.state == State::Pending && pending.tried.is_some() => {
                    let outcome = "it has run apart, and what came of it needs an approval";
                    return Err(refusal(&question, outcome, Some(pending.id)));
                }
                _ => {}
            }
        }
        self.grant(&question, None, "a trial", Scope::Once);
        let mut state = self.state();
        match &mut state.trial.question {
            Some(first) => first.asks.extend(question.asks),
            none => *none = Some(question),
        }
        Ok(())
    }

    /// It cannot be run apart: it is asked about before it runs after all.
    pub(crate) fn ask_first(&self) -> Result<(), Refused> {
        let question = {
            let mut state = self.state();
            state.grant = None;
            state.trial.question.take()
        };
        let Some(question) = question else { return Ok(()) };
        let answer = self.judgement.approver.ask(&question);
        self.settle(answer, question)
    }

    /// It was stopped: there is nothing to ask about.
    pub(crate) fn drop_trial(&self) {
        let mut state = self.state();
        state.grant = None;
        state.trial.question = None;
    }

    /// Asks whether this is wanted. After a yes it is in the project.
    pub(crate) fn decide(&self, tried: Tried) -> Result<(), Refused> {
        let question = {
            let mut state = self.state();
            state.grant = None;
            state.trial.question.take()
        };
        let (Some(mut question), Some(project)) = (question, &self.project) else { return Ok(()) };
        question.tried = Some(tried.clone());
        let answer = self.judgement.approver.ask(&question);
        let settled = self.settle(answer, question.clone());
        match settled {
            // Whoever decided elsewhere has applied it there.
            Ok(()) if self.state().trial.result.take().is_some() => Ok(()),
            Ok(()) => tried.apply(&project.root).map_err(|why| refusal(&question, &why, None)),
            Err(refused) => {
                if refused.approval.is_none() {
                    let _cleaned_up_later = tried.discard(&project.root);
                }
                Err(refused)
            }
        }
    }

    /// What somebody has approved while nobody waited for it. It is not run again: that was what it was approved for.
    pub(crate) fn take_result(&self) -> Option<Tried> {
        self.state().trial.result.take()
    }
}
