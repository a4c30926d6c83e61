//! `exacta hook claude-code`: what an agent is about to do with a tool of its own comes in as JSON, a decision goes out.
//!
//! The agent takes a hook that fails for one that has no objection. So nothing here may fail that way: whatever goes wrong,
//! a panic and a lack of time included, ends with status 2, which blocks the call ([`closed`]).

mod call;
mod closed;
mod decision;
mod rewriting;
mod unconfined;

pub use closed::PATIENCE;

use std::io::Read as _;

use exacta_jail::standard_streams::closed_at_start;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::invocation::Global;
use crate::output::{self, Reader};
use call::{Call, Tool};
use decision::{Decided, Judge, Permission};

/// More than this is no call of a tool.
const LARGEST_CALL: u64 = 10 << 20;

/// Where an allowed command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// In the agent's own shell.
    Host,
    /// `--rewrite`: in exacta.
    Exacta,
}

pub fn perform(global: &Global, place: Where) -> Exit {
    closed::fail_closed();
    let answer = match answer(global, place) {
        Ok(None) => return Exit::Success,
        Ok(Some(answer)) => answer,
        Err(problem) => return closed::blocked(&problem),
    };
    // An answer that nobody could read would be none, and let the call through. Where the caller has closed its end, the
    // runtime has put something there that takes everything.
    if closed_at_start().any(|descriptor| descriptor == 1) {
        return closed::blocked("standard output is closed");
    }
    match output::print_bytes(format!("{answer}\n").as_bytes()) {
        Reader::There => Exit::Success,
        Reader::Gone => closed::blocked("the answer could not be written"),
    }
}

/// `None`: no opinion.
fn answer(global: &Global, place: Where) -> Result<Option<Value>, String> {
    let Some(call) = Call::read(&input()?)? else { return Ok(None) };
    let Call { directory, tool, only_plans } = call;
    let judge = Judge::new(global, &directory)?;
    Ok(match tool {
        Tool::Command { text, mut input } if place == Where::Exacta => {
            let decided = judge.command_in_exacta(&text, only_plans);
            let refused = decided.permission == Permission::Deny;
            input.insert("command".to_owned(), rewriting::in_exacta(global, &text)?.into());
            Some(as_json(&decided, (!refused).then_some(Value::Object(input))))
        }
        Tool::Command { text, .. } => {
            judge.command_on_the_host(&text).map(|decided| as_json(&decided, None))
        }
        Tool::File { path, access } => {
            judge.file(&path, access).map(|decided| as_json(&decided, None))
        }
    })
}

fn input() -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(LARGEST_CALL + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("standard input cannot be read: {error}"))?;
    if bytes.len() as u64 > LARGEST_CALL {
        return Err(format!("the call is larger than {} MB", LARGEST_CALL >> 20));
    }
    Ok(bytes)
}

fn as_json(decided: &Decided, updated: Option<Value>) -> Value {
    let mut answer = json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": decided.permission.name(),
        "permissionDecisionReason": decided.reason,
    });
    if let (Some(updated), Some(answer)) = (updated, answer.as_object_mut()) {
        answer.insert("updatedInput".to_owned(), updated);
    }
    json!({ "hookSpecificOutput": answer })
}
