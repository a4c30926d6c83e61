//! What a client wants done: a task from a plan or from a goal, or something about one that there is.

use exacta::tasks::{Format, Origin, Plan, Wishes};
use serde_json::Value;

use super::trouble;
use crate::service::{Code, Problem, Project};

/// A new task.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// An object, or a text in JSON or TOML.
    pub plan: Option<Value>,
    pub goal: Option<String>,
    /// Who it is done for. An agent asks for itself, whatever its plan says.
    pub agent: Option<String>,
    pub wishes: Wishes,
}

/// What can be done about one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// All of it, or this step, counted from 0 on.
    Approve(Option<usize>),
    Reject,
    Cancel,
    Retry {
        force: bool,
    },
    Run,
}

impl Deed {
    /// From the words of an interface; steps are counted from 1 on there.
    pub fn parse(action: &str, step: Option<usize>, force: bool) -> Result<Self, Problem> {
        let wrong = |message: String| {
            let hint = "approve (with or without step), reject, cancel, retry or run";
            Problem::new(Code::BadRequest, message, hint)
        };
        let step = match step {
            None => None,
            Some(step) => match step.checked_sub(1) {
                Some(step) if action == "approve" => Some(step),
                Some(_) => return Err(wrong(format!("{action} takes no step"))),
                None => return Err(wrong("steps are counted from 1 on".to_owned())),
            },
        };
        match action {
            "retry" => Ok(Deed::Retry { force }),
            _ if force => Err(wrong(format!("{action} takes no force"))),
            "approve" => Ok(Deed::Approve(step)),
            "reject" => Ok(Deed::Reject),
            "cancel" => Ok(Deed::Cancel),
            "run" => Ok(Deed::Run),
            _ => Err(wrong(format!("{action:?} is nothing that can be done about a task"))),
        }
    }

    /// Only people say yes or no, or go over what may have taken effect.
    pub fn needs_person(self) -> bool {
        match self {
            Deed::Approve(_) | Deed::Reject => true,
            Deed::Retry { force } => force,
            Deed::Cancel | Deed::Run => false,
        }
    }
}

impl Wanted {
    pub(super) fn checked(self, project: &Project) -> Result<(Origin, Wishes), Problem> {
        let goal = self.goal.filter(|goal| !goal.trim().is_empty());
        let origin = match (self.plan, goal) {
            (Some(plan), None) => {
                let mut plan = read(&plan)?;
                if let Some(agent) = self.agent {
                    plan.agent = agent;
                }
                Origin::Plan(plan)
            }
            (None, Some(goal)) => {
                // That there is nobody who plans is better said now than found in a log later.
                project.planner().map_err(trouble::no_planner)?;
                Origin::Goal { goal, agent: self.agent.unwrap_or_default() }
            }
            (None, None) | (Some(_), Some(_)) => {
                let message = "a task comes of a plan, or of a goal";
                return Err(Problem::new(Code::BadRequest, message, "say `plan` or `goal`"));
            }
        };
        Ok((origin, self.wishes))
    }
}

/// Lines and columns of an object are those that it has when it is written with one field on each line.
fn read(plan: &Value) -> Result<Plan, Problem> {
    let (text, format) = match plan {
        Value::String(text) => (text.clone(), Format::of_text(text)),
        plan => (format!("{plan:#}"), Format::Json),
    };
    Plan::read(&text, format).map_err(|error| trouble::bad_plan(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_people_say_yes() {
        let parsed = |action: &str, step, force| Deed::parse(action, step, force);
        assert_eq!(parsed("approve", Some(2), false).ok(), Some(Deed::Approve(Some(1))));
        assert!(Deed::Approve(None).needs_person() && Deed::Reject.needs_person());
        assert!(!Deed::Cancel.needs_person() && !Deed::Retry { force: false }.needs_person());
        assert!(Deed::Retry { force: true }.needs_person());
        for (action, step, force) in [
            ("", None, false),
            ("reject", Some(1), false),
            ("approve", Some(0), false),
            ("run", None, true),
        ] {
            assert!(parsed(action, step, force).is_err(), "{action}");
        }
    }

    #[test]
    fn a_wrong_plan_is_pointed_at() {
        let plan = serde_json::json!({ "goal": "x", "steps": [{ "command": "ls", "expect": { "exit": 1 } }] });
        let problem = read(&plan).expect_err("wrong");
        assert_eq!(problem.code, Code::BadPlan);
        assert_eq!(problem.more["field"], "steps[0].expect");
        let problem = read(&Value::String("goal = 'x'\nsteps = 7".into())).expect_err("wrong");
        assert_eq!((&problem.more["line"], &problem.more["field"]), (&2.into(), &"steps".into()));
    }
}
