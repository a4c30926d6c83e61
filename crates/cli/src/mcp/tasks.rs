//! Tasks as tools: `task_run` waits as long as the call may, with progress, cancellation and questions in between; the others
//! look at what there is. An agent has its own.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use exacta::approvals::{Pending, Ruling, Who};
use exacta::tasks::{State, Wishes};
use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, CallToolResult, JsonObject};
use rmcp::service::RequestContext;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{self, done, lines};
use super::asking::{self, Answer};
use super::caller::{Asking, Caller};
use super::executing::Again;
use super::progress::{Heard, Teller};
use super::{Door, read};
use crate::service::{Code, Deed, Extent, Found, Listed, Problem, Wanted};

const USUAL_WAIT: u64 = 60_000;
const LONGEST_WAIT: Duration = Duration::from_secs(600);
/// How long a person who is asked in the client may think.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// How often it is looked whether there is news, or the call was cancelled.
const SLICE: Duration = Duration::from_millis(200);
/// As long as a task that was cancelled may take to end.
const ENDING: Duration = Duration::from_secs(5);
const USUAL: usize = 20;

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct OfRun {
    project: Option<String>,
    plan: Option<Value>,
    goal: Option<String>,
    /// Instead of both: one that there is goes on, or begins anew.
    task_id: Option<String>,
    rollback_on_failure: bool,
    step_by_step: bool,
    wait_ms: Option<u64>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct OfTask {
    project: Option<String>,
    task_id: String,
    wait_ms: u64,
    after: u64,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct OfList {
    project: Option<String>,
    state: Option<String>,
    limit: Option<usize>,
}

/// `None`: there is no such tool here.
pub async fn call(
    door: &Door,
    caller: &Caller,
    name: &str,
    arguments: JsonObject,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResult, Problem>> {
    Some(match name {
        "task_list" => list(door, caller, arguments).await,
        "task_show" => show(door, caller, arguments, context).await,
        "task_log" => log(door, caller, arguments).await,
        "task_cancel" => cancel(door, caller, arguments).await,
        _ => return None,
    })
}

async fn find(door: &Door, caller: &Caller, of: &OfTask) -> Result<Arc<Found>, Problem> {
    let (project, id, agent) = (of.project.clone(), of.task_id.clone(), caller.agent.clone());
    let found =
        door.off(move |service| service.find_task(project.as_deref(), &id, |owner| owner == agent));
    found.await.map(Arc::new)
}

async fn list(
    door: &Door,
    caller: &Caller,
    arguments: JsonObject,
) -> Result<CallToolResult, Problem> {
    let OfList { project, state, limit } = read(arguments)?;
    let listed = Listed { project, state, limit: limit.or(Some(USUAL)) };
    let agent = caller.agent.clone();
    let all = door.off(move |service| service.tasks(&listed, |owner| owner == agent)).await?;
    let text = lines(&all, &["id", "state", "goal"]);
    Ok(done(json!({ "tasks": all }), text))
}

async fn show(
    door: &Door,
    caller: &Caller,
    arguments: JsonObject,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, Problem> {
    let of: OfTask = read(arguments)?;
    let mut found = find(door, caller, &of).await?;
    let until = Instant::now() + Duration::from_millis(of.wait_ms).min(LONGEST_WAIT);
    while Instant::now() < until && !found.rests() && !context.ct.is_cancelled() {
        found = waited(door, &found).await?;
    }
    answered(door, &found).await
}

async fn log(
    door: &Door,
    caller: &Caller,
    arguments: JsonObject,
) -> Result<CallToolResult, Problem> {
    let of: OfTask = read(arguments)?;
    let found = find(door, caller, &of).await?;
    let entries = door.off(move |_service| found.log(of.after)).await?;
    let next = entries.last().and_then(|entry| entry["number"].as_u64()).unwrap_or(of.after);
    let entries = Value::Array(entries);
    let text = lines(&entries, &["type", "content"]);
    Ok(done(json!({ "entries": entries, "next": next }), text))
}

async fn cancel(
    door: &Door,
    caller: &Caller,
    arguments: JsonObject,
) -> Result<CallToolResult, Problem> {
    let of: OfTask = read(arguments)?;
    let found = find(door, caller, &of).await?;
    let found = ended(door, caller, found).await?;
    answered(door, &found).await
}

/// Whoever works on it notices within a tenth of a second; what its step did is taken back then.
async fn ended(door: &Door, caller: &Caller, found: Arc<Found>) -> Result<Arc<Found>, Problem> {
    let who = Who { door: "mcp", name: caller.agent.clone() };
    let cancelled =
        door.off(move |service| service.act_on_task(&found, Deed::Cancel, &who)?.waited(ENDING));
    cancelled.await.map(Arc::new)
}

async fn waited(door: &Door, found: &Arc<Found>) -> Result<Arc<Found>, Problem> {
    let found = Arc::clone(found);
    door.off(move |_service| found.waited(SLICE)).await.map(Arc::new)
}

async fn answered(door: &Door, found: &Arc<Found>) -> Result<CallToolResult, Problem> {
    let found = Arc::clone(found);
    let value = door.off(move |_service| Ok(told(&found))).await?;
    let text = in_words(&value);
    Ok(done(value, text))
}

/// What an agent needs of a task.
fn told(found: &Found) -> Value {
    let view = found.view(Extent::WithoutLog);
    let question = found.question();
    let state = match (&question, found.task.state) {
        (Some(_), _) => "approval_pending",
        // It was answered, and goes on.
        (None, State::PendingApproval) => "running",
        (None, state) => state.name(),
    };
    let field = |name: &str| view[name].clone();
    let steps = view["steps"].as_array().into_iter().flatten().map(brief);
    json!({
        "state": state,
        "task_id": field("id"),
        "goal": field("goal"),
        "reason": field("reason"),
        "progress": { "done": view["done"], "total": found.task.steps.len() },
        "steps": steps.collect::<Vec<_>>(),
        "rolled_back": field("rolled_back"),
        "approval": question.as_ref().map(answer::of_pending),
        "report": field("report"),
    })
}

/// A step with its last attempt.
fn brief(step: &Value) -> Value {
    let attempts = step["attempts"].as_array().cloned().unwrap_or_default();
    let last = attempts.last().cloned().unwrap_or_default();
    json!({
        "number": step["number"],
        "command": step["command"],
        "state": step["state"],
        "problem": step["problem"],
        "attempts": attempts.len(),
        "exit_code": last["exit_code"],
        "stdout": last["stdout"].as_str().unwrap_or_default(),
        "stderr": last["stderr"].as_str().unwrap_or_default(),
        "undo": last["undo"],
        "checks": step["checks"],
    })
}

fn in_words(value: &Value) -> String {
    let text = |name: &str| value[name].as_str().unwrap_or_default();
    let (state, id) = (text("state"), text("task_id"));
    let next = match state {
        "approval_pending" => {
            let question = value["approval"]["id"].as_str().unwrap_or_default();
            format!(
                ": a person has to decide about {question}: `exacta approvals approve {question}`, or the page of exacta serve. It goes on by itself then; task_show waits for it."
            )
        }
        "needs_review" => ": a person has to look at it: `exacta task show`".to_owned(),
        "completed" | "failed" | "cancelled" => String::new(),
        _ => ": it goes on; task_show waits for it".to_owned(),
    };
    format!("{state}{next}\ntask_id {id}\n{}", text("report"))
}

/// A call that is under way.
struct Call<'a> {
    door: &'a Door,
    caller: &'a Caller,
    context: &'a RequestContext<RoleServer>,
    arguments: JsonObject,
    project: Option<String>,
}

/// What a call ends with.
enum Ending {
    Rests(Arc<Found>),
    /// The client asks its person, and calls again.
    Asks(CallToolResponse),
}

pub async fn run(
    door: &Door,
    caller: &Caller,
    arguments: JsonObject,
    again: Option<Again>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, Problem> {
    let asked: OfRun = read(arguments.clone())?;
    let wait = Duration::from_millis(asked.wait_ms.unwrap_or(USUAL_WAIT)).min(LONGEST_WAIT);
    let call = Call { door, caller, context, arguments, project: asked.project.clone() };
    let found = match (again, &asked.task_id) {
        (Some(again), _) => call.answered(&again).await?,
        (None, Some(id)) => call.go_on(id, &asked).await?,
        (None, None) => call.create(asked).await?,
    };
    match call.follow(found, wait).await? {
        Ending::Rests(found) => answered(door, &found).await.map(CallToolResponse::from),
        Ending::Asks(question) => Ok(question),
    }
}

impl Call<'_> {
    async fn create(&self, asked: OfRun) -> Result<Arc<Found>, Problem> {
        let OfRun { project, plan, goal, rollback_on_failure, step_by_step, .. } = asked;
        let wishes = Wishes { rollback_on_failure, step_by_step };
        let wanted = Wanted { plan, goal, agent: Some(self.caller.agent.clone()), wishes };
        let created = self.door.off(move |service| service.create_task(project.as_deref(), wanted));
        created.await.map(Arc::new)
    }

    /// One that somebody has put down goes on; one that has failed begins anew, where that is safe.
    async fn go_on(&self, id: &str, asked: &OfRun) -> Result<Arc<Found>, Problem> {
        if asked.plan.is_some() || asked.goal.is_some() {
            let message = "a task that there is has its plan already";
            return Err(Problem::new(Code::BadRequest, message, "leave plan and goal out"));
        }
        let (project, task_id) = (self.project.clone(), id.to_owned());
        let of = OfTask { project, task_id, ..OfTask::default() };
        let found = find(self.door, self.caller, &of).await?;
        let deed = match found.task.state {
            State::Failed | State::Cancelled => Deed::Retry { force: false },
            _ => Deed::Run,
        };
        let who = Who { door: "mcp", name: self.caller.agent.clone() };
        let acted = self.door.off(move |service| service.act_on_task(&found, deed, &who));
        acted.await.map(Arc::new)
    }

    /// The task whose question this call has ended with before, and what the person said to that.
    async fn answered(&self, again: &Again) -> Result<Arc<Found>, Problem> {
        let Again { state, responses } = again;
        let offers = &self.door.offers;
        let (id, answer) = offers.take(state, responses, &self.arguments, self.caller)?;
        if self.caller.asking == Asking::No {
            let message = "this client may not answer for a person";
            return Err(Problem::new(Code::BadRequest, message, "`exacta approvals list`"));
        }
        if let Answer::Ruled(ruling) = answer {
            self.decide(&id, ruling).await?;
        }
        let project = self.project.clone();
        let asked = self.door.off(move |service| {
            service.projects.find(project.as_deref())?.approval(&id, Duration::ZERO)
        });
        let task_id = asked.await?.task.unwrap_or_default();
        let of = OfTask { project: self.project.clone(), task_id, ..OfTask::default() };
        find(self.door, self.caller, &of).await
    }

    async fn decide(&self, id: &str, ruling: Ruling) -> Result<(), Problem> {
        let decision = asking::decision(ruling, self.caller);
        let (project, id) = (self.project.clone(), id.to_owned());
        let decided = self.door.off(move |service| {
            service.decide(service.projects.find(project.as_deref())?, &id, &decision)
        });
        match decided.await {
            // Another door was first.
            Err(problem) if problem.code == Code::AlreadyDecided => Ok(()),
            decided => decided.map(|_| ()),
        }
    }

    /// Until it rests, the time is over, or the call is cancelled, which cancels the task.
    async fn follow(&self, mut found: Arc<Found>, wait: Duration) -> Result<Ending, Problem> {
        let mut until = Instant::now() + wait;
        let token = self.context.meta.get_progress_token();
        let teller = Teller { peer: self.context.peer.clone(), token };
        let (heard, mut after, mut asked) = (Heard::default(), 0, HashSet::new());
        loop {
            found = waited(self.door, &found).await?;
            if teller.token.is_some() {
                after = self.hear(&found, &heard, after).await?;
                teller.tell(&heard).await;
            }
            if self.context.ct.is_cancelled() && !found.task.state.is_final() {
                return ended(self.door, self.caller, found).await.map(Ending::Rests);
            }
            if let Some(pending) = found.question() {
                let new = asked.insert(pending.id.clone());
                match self.caller.asking {
                    Asking::Meanwhile if new => match self.elicited(&found, &pending).await {
                        Some(Answer::Ruled(ruling)) => {
                            self.decide(&pending.id, ruling).await?;
                            // However long the person has thought.
                            until = Instant::now() + wait;
                        }
                        Some(Answer::Dismissed) => return Ok(Ending::Rests(found)),
                        // Decided elsewhere, or the call is over.
                        None => {}
                    },
                    Asking::ByReturn => return Ok(self.offered(found, &pending)),
                    Asking::Meanwhile | Asking::No => return Ok(Ending::Rests(found)),
                }
            } else if found.rests() || Instant::now() >= until {
                return Ok(Ending::Rests(found));
            }
        }
    }

    fn offered(&self, found: Arc<Found>, pending: &Pending) -> Ending {
        let question = self.door.offers.make(pending, false, self.arguments.clone(), self.caller);
        question.map_or(Ending::Rests(found), |question| Ending::Asks(question.into()))
    }

    /// What the person says in the client. `None`: it is of no more use.
    async fn elicited(&self, found: &Arc<Found>, pending: &Pending) -> Option<Answer> {
        let Some(form) = asking::form(pending, false) else { return Some(Answer::Dismissed) };
        let elsewhere = async {
            while found.question().is_some_and(|question| question.id == pending.id) {
                tokio::time::sleep(SLICE).await;
            }
        };
        tokio::select! {
            result = self.context.peer.create_elicitation(form) => {
                Some(result.map_or(Answer::Dismissed, |result| asking::understood(&result)))
            }
            () = elsewhere => None,
            () = self.context.ct.cancelled() => None,
            () = tokio::time::sleep(PATIENCE) => Some(Answer::Dismissed),
        }
    }

    /// The lines of its log that are new, as progress.
    async fn hear(&self, found: &Arc<Found>, heard: &Heard, after: u64) -> Result<u64, Problem> {
        let found = Arc::clone(found);
        let entries = self.door.off(move |_service| found.log(after)).await?;
        for entry in &entries {
            let content = entry["content"].as_str().unwrap_or_default();
            let mark = if entry["type"] == "command" { "$ " } else { "" };
            heard.hear(format!("{mark}{content}\n").as_bytes());
        }
        Ok(entries.last().and_then(|entry| entry["number"].as_u64()).unwrap_or(after))
    }
}
