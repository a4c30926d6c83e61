//! Who makes a plan of a goal: a model behind an endpoint, or a program of the operator's.
//!
//! ```text
//! goal, project ──context──▶ question ──backend──▶ answer ──reading──▶ plan
//!                               ▲                     │ no plan: the error goes back, at most twice
//!                               └─────────────────────┘
//! ```
//!
//! Nothing leaves this machine with a secret in it that the rules recognise. A key is taken from the environment, goes into one
//! header, and into no message. Nothing is run here, and nothing decided: a plan is judged like any other.

mod answer;
mod anthropic;
mod choosing;
mod command;
mod context;
mod endpoint;
mod events;
mod failure;
mod ignored;
mod openai;
mod prompt;
mod scripts;
mod trouble;
pub mod written;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use exacta::redaction::Rules;
use exacta::tasks::{Format, Plan, PlanError, Planner, PlanningFailed, Stopper};

pub use choosing::{allowed, choose};

/// More than any plan.
const LONGEST_ANSWER: usize = 1 << 20;
/// How often it is looked whether anybody still wants a plan.
const LOOK: Duration = Duration::from_millis(20);
/// After an answer that is no plan.
const REPAIRS: usize = 2;

/// How far it is, for whoever waits.
#[derive(Debug, Clone, Copy)]
pub enum Stage<'a> {
    Asking {
        whom: &'a str,
    },
    /// So many bytes of the answer.
    Heard(usize),
    Pausing {
        host: &'a str,
        wait: Duration,
    },
    /// The answer was no plan.
    Again {
        problem: &'a str,
    },
}

pub type Told = Box<dyn Fn(Stage<'_>) + Send + Sync>;

/// Everything that is sent.
struct Question {
    goal: String,
    agent: String,
    context: String,
    repairs: Vec<Repair>,
}

/// An answer that was no plan, and why.
struct Repair {
    answer: String,
    problem: String,
}

/// What holds for one goal: all tries together end in time, and when nobody wants a plan any more.
struct Asking<'a> {
    ends: Instant,
    limit: Duration,
    stopper: &'a Stopper,
    told: &'a (dyn Fn(Stage<'_>) + Send + Sync),
}

impl Asking<'_> {
    /// An error says why it is over.
    fn remaining(&self) -> Result<Duration, PlanningFailed> {
        if self.stopper.is_stopped() {
            return Err(failure::stopped());
        }
        let left = self.ends.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(failure::timeout(self.limit)) } else { Ok(left) }
    }

    fn pause(&self, wait: Duration) -> Result<(), PlanningFailed> {
        let until = Instant::now() + wait;
        loop {
            self.remaining()?;
            match until.saturating_duration_since(Instant::now()) {
                Duration::ZERO => return Ok(()),
                left => std::thread::sleep(left.min(LOOK)),
            }
        }
    }

    /// Does something that `end` ends: that is called when nobody wants a plan any more.
    fn unless_stopped<T>(&self, end: impl FnOnce() + Send, work: impl FnOnce() -> T) -> T {
        let over = AtomicBool::new(false);
        let (over, stopper) = (&over, self.stopper);
        std::thread::scope(|scope| {
            let watch = move || {
                while !over.load(Ordering::Acquire) && !stopper.is_stopped() {
                    std::thread::park_timeout(LOOK);
                }
                // Also when the work has seen it first: it leaves others behind that wait.
                if stopper.is_stopped() {
                    end();
                }
            };
            let named = std::thread::Builder::new().name("planner-watch".into());
            let watching = named.spawn_scoped(scope, watch);
            let done = work();
            over.store(true, Ordering::Release);
            if let Ok(watching) = watching {
                watching.thread().unpark();
            }
            done
        })
    }
}

trait Backend: Send + Sync {
    /// For people.
    fn whom(&self) -> String;
    /// Of a plan in this answer. Models are told to write JSON.
    fn format(&self, _answer: &str) -> Format {
        Format::Json
    }
    /// The answer as it is.
    fn ask(&self, question: &Question, asking: &Asking<'_>) -> Result<String, PlanningFailed>;
    /// Nobody wants an answer any more: what waits for one ends at once. From another thread.
    fn end(&self) {}
}

/// A planner as the operator has chosen it, for one project.
pub struct ChosenPlanner {
    backend: Box<dyn Backend>,
    root: PathBuf,
    /// The commands that run in a task.
    allowed: Vec<String>,
    /// With the key among what they recognise.
    rules: Rules,
    key: Option<String>,
    limit: Duration,
    told: Told,
}

impl ChosenPlanner {
    fn asked(&self, goal: &str, agent: &str, stopper: &Stopper) -> Result<Plan, PlanningFailed> {
        let ends = Instant::now() + self.limit;
        let asking = Asking { ends, limit: self.limit, stopper, told: &*self.told };
        let mut question = Question {
            goal: self.hidden(goal),
            agent: self.hidden(agent),
            context: context::gather(&self.root, &self.allowed, &self.rules),
            repairs: Vec::new(),
        };
        (self.told)(Stage::Asking { whom: &self.backend.whom() });
        loop {
            let text = asking
                .unless_stopped(|| self.backend.end(), || self.backend.ask(&question, &asking));
            if stopper.is_stopped() {
                // Whatever came of it, it was broken off.
                return Err(failure::stopped());
            }
            let text = text?;
            let within = answer::within(&text);
            let wrong = match Plan::read(within, self.backend.format(within)) {
                Ok(plan) => return Ok(plan),
                Err(wrong) => wrong,
            };
            let shown = self.hidden(&in_short(&wrong));
            if question.repairs.len() >= REPAIRS {
                return Err(failure::no_plan(REPAIRS + 1, &shown));
            }
            (self.told)(Stage::Again { problem: &failure::quoted(&shown) });
            let problem = self.hidden(&wrong.to_string());
            question.repairs.push(Repair { answer: self.hidden(&text), problem });
        }
    }

    /// Without secrets. A key that is too short for the rules is one all the same.
    fn hidden(&self, text: &str) -> String {
        let text = self.rules.redact_text(text).0;
        match &self.key {
            Some(key) => text.replace(key, exacta::redaction::REDACTED),
            None => text,
        }
    }
}

/// On one line.
fn in_short(wrong: &PlanError) -> String {
    format!("{} (line {}, column {})", wrong.place.message, wrong.place.line, wrong.place.column)
}

impl Planner for ChosenPlanner {
    fn plan(&self, goal: &str, agent: &str, stopper: &Stopper) -> Result<Plan, PlanningFailed> {
        if goal.trim().is_empty() {
            return Err(failure::because("there is no goal", "say what is to be done"));
        }
        let plan = self.asked(goal, agent, stopper).map_err(|failed| PlanningFailed {
            message: self.hidden(&failed.message),
            hint: self.hidden(&failed.hint),
        })?;
        // Who asked for what is not for the planner to say.
        Ok(Plan { goal: goal.to_owned(), agent: agent.to_owned(), ..plan })
    }
}
