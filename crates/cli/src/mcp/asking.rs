//! Asking the client's person: the form, what its answer means, and questions that a call has ended with.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use exacta::approvals::{Pending, Ruling, Scope, Who};
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    EnumSchema, InputRequest, InputRequiredResult, InputResponses, JsonObject,
};

use super::caller::Caller;
use crate::service::{Code, Decision, Problem};
use crate::terminal::visible;

/// What cannot be read in a form is not asked there.
const LONGEST: usize = 4_000;
/// The name of our one question among the inputs that a call needs.
const KEY: &str = "approval";
/// As long as a question on file lives.
const LIFETIME: Duration = Duration::from_secs(10 * 60);
const MOST: usize = 1_024;

/// What the person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Ruled(Ruling),
    /// Closed without an answer: the question stays on file.
    Dismissed,
}

/// The question as a form; `None` if nobody could read it as a whole there.
pub fn form(pending: &Pending, in_session: bool) -> Option<ElicitRequestParams> {
    let message = message(pending);
    if message.chars().count() > LONGEST {
        return None;
    }
    // A yes for a session that ends with the command would be one for nothing.
    let answers: &[&str] =
        if in_session { &["once", "session", "deny"] } else { &["once", "deny"] };
    let choices = EnumSchema::builder(answers.iter().map(|it| (*it).to_owned()).collect()).build();
    let schema = ElicitationSchema::builder().required_enum_schema("decision", choices).build();
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: schema.ok()?,
    })
}

/// What an agent has written cannot draw over what we say about it.
fn message(pending: &Pending) -> String {
    if pending.task.is_some() {
        return of_task(pending);
    }
    let mut text = format!(
        "exacta asks: may this run?\n\n{}\n\nin {}\n",
        visible(&pending.command),
        visible(&pending.directory)
    );
    for asked in &pending.asks {
        text.push_str(&format!("why it asks: {} ({})\n", visible(&asked.reason), asked.rule));
    }
    if let Some(command) = &pending.irreversible {
        text.push_str(&format!("cannot be undone: {}\n", visible(command)));
    }
    if let Some(tried) = &pending.tried {
        text.push_str(&format!(
            "it has run apart with exit code {}; a yes brings this into the project:\n{}\nit said:\n{}\n{}\n",
            tried.exit,
            visible(&tried.changes),
            visible(&tried.stdout),
            visible(&tried.stderr)
        ));
    }
    if !pending.goal.is_empty() {
        text.push_str(&format!("the agent says that it is for: {}\n", visible(&pending.goal)));
    }
    text
}

/// S4's three parts.
fn of_task(pending: &Pending) -> String {
    let mut text =
        format!("exacta asks: may this task go on?\n\nGoal: {}\nPlan:\n", visible(&pending.goal));
    for (number, step) in pending.plan.iter().enumerate() {
        text.push_str(&format!("{:>3}. {}\n", number + 1, visible(step)));
    }
    if let Some(command) = &pending.irreversible {
        text.push_str(&format!("Irreversible Command: {}\n", visible(command)));
    }
    for asked in &pending.asks {
        let (command, reason) = (visible(&asked.command), visible(&asked.reason));
        text.push_str(&format!("why it asks: {command}: {reason} ({})\n", asked.rule));
    }
    text.push_str(&format!("\nin {}\n", visible(&pending.directory)));
    text
}

/// Only a plain yes is one.
pub fn understood(result: &ElicitResult) -> Answer {
    let said = result.content.as_ref().and_then(|content| content["decision"].as_str());
    match (&result.action, said) {
        (ElicitationAction::Accept, Some("once")) => Answer::Ruled(Ruling::Approve(Scope::Once)),
        (ElicitationAction::Accept, Some("session")) => {
            Answer::Ruled(Ruling::Approve(Scope::Session))
        }
        (ElicitationAction::Accept, Some("deny")) | (ElicitationAction::Decline, _) => {
            Answer::Ruled(Ruling::Deny)
        }
        _ => Answer::Dismissed,
    }
}

pub fn decision(ruling: Ruling, caller: &Caller) -> Decision {
    let person = crate::verbs::deeds::person();
    let name = match caller.program.as_str() {
        "" => person.to_string(),
        program => format!("{person} in {program}"),
    };
    Decision { ruling, who: Who { door: "mcp", name } }
}

/// Calls that have ended with a question. What the client sends back is only a name for one of these: each is good for one
/// answer, to the same call by the same agent.
#[derive(Default)]
pub struct Offers(Mutex<HashMap<String, Offer>>);

struct Offer {
    approval: String,
    arguments: JsonObject,
    agent: String,
    made: Instant,
}

impl Offers {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Offer>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, offer| offer.made.elapsed() < LIFETIME);
        all
    }

    /// The question as the end of a call; `None` if there are too many, or nobody could read it.
    pub fn make(
        &self,
        pending: &Pending,
        in_session: bool,
        arguments: JsonObject,
        caller: &Caller,
    ) -> Option<InputRequiredResult> {
        let form = form(pending, in_session)?;
        let mut all = self.lock();
        if all.len() >= MOST {
            return None;
        }
        let state = uuid::Uuid::new_v4().to_string();
        let (approval, agent) = (pending.id.clone(), caller.agent.clone());
        all.insert(state.clone(), Offer { approval, arguments, agent, made: Instant::now() });
        let request = InputRequest::Elicitation(ElicitRequest::new(form));
        let requests = [(KEY.to_owned(), request)].into_iter().collect();
        Some(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// The question that is answered, and the answer.
    pub fn take(
        &self,
        state: &str,
        responses: &InputResponses,
        arguments: &JsonObject,
        caller: &Caller,
    ) -> Result<(String, Answer), Problem> {
        let stray = |message: &str| {
            Problem::new(Code::BadRequest, message, "call the tool again without requestState")
        };
        let offer = self.lock().remove(state);
        let offer = offer.filter(|it| it.arguments == *arguments && it.agent == caller.agent);
        let offer = offer.ok_or_else(|| stray("nothing was asked about this call"))?;
        let response = responses.get(KEY).ok_or_else(|| stray("there is no answer in it"))?;
        let result: ElicitResult = serde_json::from_value(response.clone())
            .map_err(|_| stray("the answer is not one to the form"))?;
        Ok((offer.approval, understood(&result)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pending(command: &str) -> Pending {
        let asks = json!([{ "command": "x", "via": [], "rule": "some-rule", "reason": "it may" }]);
        let pending = json!({
            "id": "1", "state": "pending", "command": command, "directory": "/project",
            "goal": "a\u{1b}[2Jgoal", "asks": asks, "always": null, "digest": "",
            "created": 0, "expires": 0, "scope": null, "by": null,
        });
        serde_json::from_value(pending).expect("a question")
    }

    #[test]
    fn a_form_shows_what_would_run_and_nothing_draws_over_it() {
        let text = message(&pending("printf '\u{1b}[8m'; rm x"));
        assert!(text.contains("rm x") && text.contains("it may (some-rule)"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn what_cannot_be_read_is_not_asked() {
        assert!(form(&pending("true"), false).is_some());
        assert!(form(&pending(&"x".repeat(LONGEST)), false).is_none());
    }

    #[test]
    fn only_a_plain_yes_is_one() {
        let said = |action, content| {
            let result = json!({ "action": action, "content": content });
            understood(&serde_json::from_value(result).expect("a result"))
        };
        let once = json!({ "decision": "once" });
        assert_eq!(said("accept", once.clone()), Answer::Ruled(Ruling::Approve(Scope::Once)));
        assert_eq!(said("decline", once.clone()), Answer::Ruled(Ruling::Deny));
        assert_eq!(said("cancel", once), Answer::Dismissed);
        for content in [json!(null), json!({}), json!({ "decision": "always" }), json!("once")] {
            assert_eq!(said("accept", content.clone()), Answer::Dismissed, "{content}");
        }
    }
}
