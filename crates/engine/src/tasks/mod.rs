//! Tasks (S4): a goal becomes a plan of commands with expected outcomes, what is dangerous stops at a person, the rest runs,
//! and the result is judged.
//!
//! ```text
//! pending → planning → validating → pending_approval → running → evaluating → completed | failed | cancelled
//! ```
//!
//! - [`plan`]: what is to be done; [`reading`]: as people and planners write it; [`duration`], [`patterns`]: parts of it.
//! - [`schema`]: the same for machines.
//! - [`planner`]: who makes a plan of a goal.
//! - [`state`]: the one state machine.
//! - [`notification`]: what a person is told at the approval gate.
//! - [`evaluation`]: what was expected and what was found; [`report`]: all of it for people.
//! - [`task`]: a task as it is kept, and what was found when its steps ran.

pub mod duration;
pub mod evaluation;
pub mod notification;
mod patterns;
pub mod plan;
pub mod planner;
pub mod reading;
pub mod report;
pub mod schema;
pub mod state;
pub mod task;

pub use notification::{Danger, Notification};
pub use plan::{Expect, Plan, PlannedStep, Retry};
pub use planner::{Planner, PlanningFailed};
pub use reading::{Format, PlanError};
pub use state::State;
pub use task::{Attempt, Check, LogEntry, LogKind, StepRun, StepState, Task};
