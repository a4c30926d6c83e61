//! What a person is told at the approval gate: S4's three parts, Goal, Plan and Irreversible Command.

use std::fmt::Write as _;

use bstr::{BString, ByteSlice};
use exacta_policy::{Decision, JudgedCommand, Verdict};
use serde::Serialize;

use super::report::on_lines;
use super::{About, Plan, Task};
use crate::approvals::{Asked, Pending};

/// The parts bear S4's names wherever they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notification {
    /// What we're trying to achieve.
    #[serde(rename = "Goal")]
    pub goal: String,
    /// Steps we will take.
    #[serde(rename = "Plan")]
    pub plan: Vec<String>,
    /// The specific danger.
    #[serde(rename = "Irreversible Command")]
    pub irreversible: Vec<Danger>,
    /// What is asked about for another reason.
    #[serde(rename = "Needs Approval", skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Danger>,
}

/// A command that needs a yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Danger {
    /// Of the plan, counted from one; 0: nobody knows.
    pub step: usize,
    /// What would run, which may be one of several commands of the step.
    pub command: String,
    pub rule: String,
    pub reason: String,
}

impl Notification {
    pub fn new(plan: &Plan) -> Self {
        Notification {
            goal: plan.goal.clone(),
            plan: plan.steps.iter().map(|step| step.command.clone()).collect(),
            irreversible: Vec::new(),
            others: Vec::new(),
        }
    }

    /// With everything that needs a yes; there is one verdict for each step.
    pub fn of(plan: &Plan, verdicts: &[Verdict]) -> Self {
        let mut notification = Notification::new(plan);
        for (step, verdict) in verdicts.iter().enumerate() {
            for command in &verdict.commands {
                notification.add(step, command);
            }
        }
        notification
    }

    /// As the question of a task is on file, which is what an answer is to.
    pub fn of_question(pending: &Pending, task: &Task) -> Self {
        let (goal, plan) = (pending.goal.clone(), pending.plan.clone());
        let mut notification =
            Notification { goal, plan, irreversible: Vec::new(), others: Vec::new() };
        let steps = match task.asking.as_ref().map(|asking| asking.about) {
            Some(About::Step(step) | About::Within(step)) => vec![step],
            _ => task.asks.clone(),
        };
        let mut from = 0;
        for asked in &pending.asks {
            let step = step_of(asked, &pending.plan, steps.get(from..).unwrap_or_default());
            from += step.unwrap_or_default();
            let step = step.and_then(|_| steps.get(from)).map_or(0, |step| step + 1);
            let Asked { command, rule, reason, .. } = asked.clone();
            let danger = Danger { step, command, rule, reason };
            let list = if asked.irreversible {
                &mut notification.irreversible
            } else {
                &mut notification.others
            };
            if !list.contains(&danger) {
                list.push(danger);
            }
        }
        notification
    }

    /// Adds a command of a step, counted from zero, if it needs a yes.
    pub fn add(&mut self, step: usize, command: &JudgedCommand) {
        let mut asking = command.findings.iter().filter(|it| it.decision == Decision::Confirm);
        let irreversible = asking.clone().find(|finding| finding.irreversible);
        let Some(finding) = irreversible.or_else(|| asking.next()) else { return };
        let words = command.argv.iter().map(|word| shown(command, word));
        let danger = Danger {
            step: step + 1,
            command: bstr::join(" ", words).to_str_lossy().into_owned(),
            rule: finding.rule.to_string(),
            reason: finding.reason.to_string(),
        };
        let list = if finding.irreversible { &mut self.irreversible } else { &mut self.others };
        if !list.contains(&danger) {
            list.push(danger);
        }
    }

    /// As a message.
    pub fn text(&self) -> String {
        let mut text = format!("Goal: {}\nPlan:\n", on_lines(&self.goal, "      "));
        for (number, command) in self.plan.iter().enumerate() {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{:>3}. {}", number + 1, on_lines(command, "     "));
        }
        for (heading, dangers) in
            [("Irreversible Command", &self.irreversible), ("Needs Approval", &self.others)]
        {
            for Danger { step, command, reason, .. } in dangers {
                let (command, reason) = (on_lines(command, "  "), on_lines(reason, "  "));
                let step = if *step == 0 { String::new() } else { format!("step {step}: ") };
                let _ = writeln!(text, "{heading}: {command} ({step}{reason})");
            }
        }
        text
    }
}

/// Questions are in the order of the steps: the first of these that such a command can be of.
fn step_of(asked: &Asked, plan: &[String], steps: &[usize]) -> Option<usize> {
    if let [_] = steps {
        return Some(0);
    }
    let first = asked.command.split_whitespace().next()?;
    let has = |text: &str| {
        steps.iter().position(|step| plan.get(*step).is_some_and(|command| command.contains(text)))
    };
    // Two steps may begin with the same word.
    has(&asked.command).or_else(|| has(first))
}

/// As it would be typed; what is known only when it runs stays as the script wrote it.
fn shown(command: &JudgedCommand, word: &BString) -> BString {
    if command.literal { crate::report::typed(word) } else { word.clone() }
}

#[cfg(test)]
mod tests {
    use exacta_policy::rules::TaskList;
    use exacta_policy::surroundings::Nowhere;
    use exacta_policy::{Policy, Profile};

    use super::super::PlannedStep;
    use super::*;

    fn notification(commands: &[&str]) -> Notification {
        let step = |command: &&str| PlannedStep {
            command: (*command).to_owned(),
            ..PlannedStep::default()
        };
        let plan = Plan {
            goal: "a clean build".into(),
            agent: String::new(),
            steps: commands.iter().map(step).collect(),
        };
        let list = TaskList::default().with("deploy").unwrap();
        let policy = Policy::builtin(Profile::Dev).unwrap().for_tasks(list);
        let world = Nowhere { root: "/project".into(), builtins: &["rm", "ls", "echo"] };
        let verdicts: Vec<Verdict> =
            commands.iter().map(|command| policy.screen((*command).into(), &world)).collect();
        Notification::of(&plan, &verdicts)
    }

    #[test]
    fn it_has_s4s_three_parts() {
        let notification = notification(&["npm test", "env rm -r 'old dist'", "deploy now"]);
        assert_eq!(
            notification.text(),
            "Goal: a clean build\nPlan:\n  1. npm test\n  2. env rm -r 'old dist'\n  3. deploy now\n\
             Irreversible Command: rm -r 'old dist' (step 2: irreversible keyword `rm`)\n\
             Needs Approval: deploy now (step 3: no rule knows this command)\n"
        );
        let json = serde_json::to_value(&notification).unwrap();
        assert_eq!(json["Goal"], "a clean build");
        assert_eq!(json["Plan"][0], "npm test");
        assert_eq!(json["Irreversible Command"][0]["command"], "rm -r 'old dist'");
    }

    #[test]
    fn nothing_in_it_paints_over_the_rest() {
        let text = notification(&["rm '\x1b[2Jx'\necho 'Goal: y'"]).text();
        assert!(!text.contains('\x1b'));
        assert!(!text.lines().skip(1).any(|line| line.starts_with("Goal:")), "{text}");
    }
}
