//! Tasks (S4): a goal becomes a plan of commands with expected outcomes, what is dangerous stops at a person, the rest runs,
//! and the result is judged.
//!
//! ```text
//! pending → planning → validating → pending_approval → running → evaluating → completed | failed | cancelled
//! ```
//!
//! - [`plan`]: what is to be done; [`duration`]: how long it may take.
//! - [`planner`]: who makes a plan of a goal.
//! - [`state`]: the one state machine.
//! - [`task`]: a task as it is kept, and what was found when its steps ran.

pub mod duration;
pub mod plan;
pub mod planner;
pub mod state;
pub mod task;

pub use plan::{Expect, Plan, PlannedStep, Retry};
pub use planner::{Planner, PlanningFailed};
pub use state::State;
pub use task::{Attempt, Check, LogEntry, LogKind, StepRun, StepState, Task};
