//! A tree to a plan: which fields there are, and what each of them may say.

use std::time::Duration;

use exacta_syntax::{Limits, ParseOptions};

use super::MOST_STEPS;
use super::fields::{self, Fields, said, text, texts, unlike, whole};
use super::tree::{Node, Value, Wrong};
use crate::tasks::duration::{self, Written};
use crate::tasks::patterns::{check_glob, check_path, regex};
use crate::tasks::plan::{LONGEST_AGENT, is_agent};
use crate::tasks::{Expect, Plan, PlannedStep, Retry};

pub const PLAN: &[&str] = &["goal", "agent", "steps"];
pub const STEP: &[&str] = &["command", "why", "expect", "timeout", "retry", "idempotent"];
pub const EXPECT: &[&str] = &[
    "exit_code",
    "stdout_contains",
    "stdout_matches",
    "stderr_matches",
    "files_exist",
    "files_absent",
    "changed_only",
];
pub const RETRY: &[&str] = &["attempts", "backoff"];

/// More attempts than this are no cure.
pub const MOST_ATTEMPTS: u32 = 100;
/// What a process can end with.
pub const LARGEST_CODE: u32 = 255;

pub fn plan(tree: &Node) -> Result<Plan, Wrong> {
    let fields = Fields::of(tree, PLAN)?;
    let goal = fields.required("goal", "say what is to be achieved: goal = \"the tests pass\"")?;
    let hint = "at least one: {\"command\": \"npm test\", \"why\": \"…\"}";
    let steps = fields.required("steps", hint)?;
    Ok(Plan {
        goal: said(goal, "say what is to be achieved")
            .map_err(|wrong| wrong.within("goal"))?
            .to_owned(),
        agent: fields.read("agent", agent)?.unwrap_or_default(),
        steps: all_steps(steps, hint).map_err(|wrong| wrong.within("steps"))?,
    })
}

fn agent(node: &Node) -> Result<String, Wrong> {
    let name = text(node)?;
    if !is_agent(name) {
        let hint = format!("one line of at most {LONGEST_AGENT} bytes");
        return Err(Wrong::new(node.at, "this is no name of an agent", hint));
    }
    Ok(name.to_owned())
}

fn all_steps(node: &Node, hint: &str) -> Result<Vec<PlannedStep>, Wrong> {
    let Value::List(items) = &node.value else { return Err(unlike(node, "a list of steps")) };
    if items.is_empty() {
        return Err(Wrong::new(node.at, "there are no steps", hint));
    }
    if let Some(first) = items.get(MOST_STEPS) {
        let message = format!("{} steps are too many", items.len());
        let hint = format!("at most {MOST_STEPS}: make several tasks of it");
        return Err(Wrong::new(first.at, message, hint));
    }
    let steps = items.iter().enumerate();
    steps.map(|(at, item)| step(item).map_err(|it| it.within(&format!("[{at}]")))).collect()
}

fn step(node: &Node) -> Result<PlannedStep, Wrong> {
    let fields = Fields::of(node, STEP)?;
    let written = fields.required("command", "what the shell runs: command = \"npm test\"")?;
    let length = |node: &Node| time(node, Written::read);
    Ok(PlannedStep {
        command: command(written).map_err(|wrong| wrong.within("command"))?,
        why: fields.read("why", text)?.unwrap_or_default().to_owned(),
        expect: fields.read("expect", expect)?.unwrap_or_default(),
        timeout: fields.read("timeout", length)?,
        retry: fields.read("retry", retry)?.unwrap_or_default(),
        idempotent: fields.read("idempotent", fields::boolean)?.unwrap_or_default(),
    })
}

/// A text that the shell can read.
fn command(node: &Node) -> Result<String, Wrong> {
    let command = said(node, "what the shell runs: command = \"npm test\"")?;
    let options = ParseOptions { extglob: true, ..ParseOptions::default() };
    match exacta_syntax::parse(command.as_bytes(), options, Limits::default()) {
        Ok(_) if command.contains('\0') => {
            Err(Wrong::new(node.at, "no command has a NUL in it", ""))
        }
        Ok(_) => Ok(command.to_owned()),
        Err(error) => {
            Err(Wrong::new(node.at, error.to_string(), "the shell must be able to read it"))
        }
    }
}

fn expect(node: &Node) -> Result<Expect, Wrong> {
    const NOT_EMPTY: &str = "a text that is somewhere in it";
    const REGEX: &str =
        "a regular expression, searched for anywhere; `^` and `$` are the ends of lines";
    const PATH: &str = "a path of the project, from its root on: \"dist/index.js\"";
    const GLOB: &str = "patterns of paths from the root of the project on: \"src/**\", \"*.lock\"";
    let fields = Fields::of(node, EXPECT)?;
    let there = |text: &str| {
        if text.is_empty() { Err("this is in every text".to_owned()) } else { Ok(()) }
    };
    let expression = |text: &str| {
        let built = regex(text).map_err(|why| format!("no regular expression: {why}"));
        built.map(drop)
    };
    let read = |name: &str, hint: &str, check: &dyn Fn(&str) -> Result<(), String>| {
        fields.read(name, |node| texts(node, hint, check))
    };
    let code = fields.read("exit_code", |node| whole(node, LARGEST_CODE))?;
    Ok(Expect {
        exit_code: code.and_then(|code| i32::try_from(code).ok()).unwrap_or_default(),
        stdout_contains: read("stdout_contains", NOT_EMPTY, &there)?.unwrap_or_default(),
        stdout_matches: read("stdout_matches", REGEX, &expression)?.unwrap_or_default(),
        stderr_matches: read("stderr_matches", REGEX, &expression)?.unwrap_or_default(),
        files_exist: read("files_exist", PATH, &check_path)?.unwrap_or_default(),
        files_absent: read("files_absent", PATH, &check_path)?.unwrap_or_default(),
        changed_only: read("changed_only", GLOB, &check_glob)?,
    })
}

fn retry(node: &Node) -> Result<Retry, Wrong> {
    let fields = Fields::of(node, RETRY)?;
    let usual = Retry::default();
    let pause = |node: &Node| time(node, Written::pause);
    Ok(Retry {
        attempts: fields
            .read("attempts", |node| whole(node, MOST_ATTEMPTS))?
            .unwrap_or(usual.attempts),
        backoff: fields.read("backoff", pause)?.unwrap_or(usual.backoff),
    })
}

/// Seconds, or a text with its unit.
fn time(
    node: &Node,
    read: impl Fn(&Written) -> Result<Duration, String>,
) -> Result<Duration, Wrong> {
    let written = match &node.value {
        Value::Number(seconds) => Written::Seconds(*seconds),
        Value::Text(text) => Written::Text(text.clone()),
        _ => return Err(unlike(node, "a length of time")),
    };
    read(&written).map_err(|message| Wrong::new(node.at, message, duration::HINT))
}
