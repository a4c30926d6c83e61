//! Who makes a plan of a goal. How it is asked is not the engine's matter: a model behind an endpoint, or a program.

use super::{Plan, Stopper};

pub trait Planner: Send + Sync {
    /// Thinks for as long as it takes. Once the stopper is stopped nobody wants a plan any more: it ends at once then, with all
    /// that it has begun.
    fn plan(&self, goal: &str, agent: &str, stopper: &Stopper) -> Result<Plan, PlanningFailed>;
}

/// Why there is no plan, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanningFailed {
    pub message: String,
    pub hint: String,
}

impl std::fmt::Display for PlanningFailed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)?;
        if self.hint.is_empty() { Ok(()) } else { write!(formatter, ": {}", self.hint) }
    }
}

impl std::error::Error for PlanningFailed {}
