//! The one state machine of a task.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Pending,
    Planning,
    Validating,
    PendingApproval,
    Running,
    Evaluating,
    Completed,
    Failed,
    Cancelled,
    /// Whoever ran it died, and nobody can say whether a step may run again: a person looks at it.
    NeedsReview,
}

impl State {
    pub const ALL: [State; 10] = [
        State::Pending,
        State::Planning,
        State::Validating,
        State::PendingApproval,
        State::Running,
        State::Evaluating,
        State::Completed,
        State::Failed,
        State::Cancelled,
        State::NeedsReview,
    ];

    pub fn name(self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Planning => "planning",
            State::Validating => "validating",
            State::PendingApproval => "pending_approval",
            State::Running => "running",
            State::Evaluating => "evaluating",
            State::Completed => "completed",
            State::Failed => "failed",
            State::Cancelled => "cancelled",
            State::NeedsReview => "needs_review",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        State::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Nothing comes after it by itself.
    pub fn is_final(self) -> bool {
        matches!(self, State::Completed | State::Failed | State::Cancelled)
    }

    /// Somebody is at work on it, or has died at it.
    pub fn is_busy(self) -> bool {
        matches!(self, State::Planning | State::Validating | State::Running | State::Evaluating)
    }

    /// What may come next.
    pub fn leads_to(self, next: State) -> bool {
        use State::{
            Cancelled, Completed, Evaluating, Failed, NeedsReview, Pending, PendingApproval,
            Planning, Running, Validating,
        };
        match self {
            Pending => matches!(next, Planning | Validating | Cancelled | Failed),
            Planning => matches!(next, Validating | Failed | Cancelled | Pending),
            Validating => matches!(next, PendingApproval | Running | Failed | Cancelled | Pending),
            PendingApproval => matches!(next, Running | Failed | Cancelled),
            Running => {
                matches!(next, Evaluating | PendingApproval | Failed | Cancelled | NeedsReview)
            }
            Evaluating => matches!(next, Completed | Failed | Cancelled | NeedsReview),
            // `retry`: all of it is looked at anew.
            Failed | Cancelled => next == Pending,
            NeedsReview => matches!(next, Pending | Cancelled | Failed),
            Completed => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_of_a_task() {
        let way = [
            State::Pending,
            State::Planning,
            State::Validating,
            State::PendingApproval,
            State::Running,
            State::Evaluating,
            State::Completed,
        ];
        for pair in way.windows(2) {
            assert!(pair[0].leads_to(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn nothing_comes_after_completed() {
        assert!(State::ALL.into_iter().all(|next| !State::Completed.leads_to(next)));
    }

    #[test]
    fn whatever_has_not_ended_can_be_cancelled() {
        for state in State::ALL {
            assert_eq!(state.leads_to(State::Cancelled), !state.is_final(), "{}", state.name());
        }
    }
}
