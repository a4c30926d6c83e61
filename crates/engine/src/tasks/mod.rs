//! Tasks (S4): a goal becomes a plan of commands with expected outcomes, what is dangerous stops at a person, the rest runs,
//! and the result is judged.
//!
//! ```text
//! pending → planning → validating → pending_approval → running → evaluating → completed | failed | cancelled
//! ```
//!
//! - [`plan`]: what is to be done; [`reading`]: as people and planners write it; [`duration`], [`patterns`]: parts of it.
//! - [`schema`]: the same for machines. [`planner`]: who makes a plan of a goal.
//! - [`state`]: the one state machine. [`task`]: a task as it is kept, and what was found when its steps ran.
//! - [`notification`]: what a person is told at the approval gate.
//! - [`evaluation`]: what was expected and what was found; [`report`]: all of it for people.
//! - [`Tasks`]: those of one project: asked for, worked on, decided, ended, taken up again.
//!
//! How it holds together when a process dies: a task belongs to whoever holds its lock (`keeping`), every change of it is
//! on the disk before what follows from it is done, an attempt of a step is a request whose id is on the disk before it
//! begins, and what became of that request the chain of records and the journal of undo know (`recovery`).

mod advancing;
mod checking;
mod deciding;
pub mod duration;
mod error;
pub mod evaluation;
mod gate;
mod keeping;
mod locks;
mod log;
pub mod notification;
mod patterns;
pub mod plan;
pub mod planner;
mod project;
pub mod reading;
mod recovery;
pub mod report;
mod running;
pub mod schema;
pub mod state;
mod steps;
mod taking_back;
pub mod task;
mod turns;
mod validation;
mod watching;
mod work;

pub use deciding::{Again, Answer};
pub use error::TaskError;
pub use keeping::Move;
pub use notification::{Danger, Notification};
pub use plan::{Expect, Plan, PlannedStep, Retry};
pub use planner::{Planner, PlanningFailed};
pub use project::{Grounds, Launching, Origin, Tasks, Wishes};
pub use reading::{Format, PlanError};
pub use recovery::{Became, Recovered};
pub use state::State;
pub use task::{About, Asking, Attempt, Check, LogEntry, LogKind, StepRun, StepState, Task};
pub use watching::{Event, Manner, Stopper, Watcher};
