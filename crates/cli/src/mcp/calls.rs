//! The tools beside `shell_exec`, each from its arguments to its result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use exacta::approvals::State;
use exacta::audit::Person;
use exacta::audit::store::{Filter, Verdict};
use exacta::records::{Options, Turn};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, JsonObject};
use rmcp::service::RequestContext;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{self, done, lines};
use super::caller::Caller;
use super::executing::Exec;
use super::{Door, read};
use crate::service::{Code, Problem, Seen, Turning};

/// So many are listed unless somebody wants another number.
const USUAL: usize = 20;
/// In one call nobody waits longer for output.
const LONGEST_READ: Duration = Duration::from_secs(60);
const LONGEST_WAIT: Duration = Duration::from_secs(600);
const USUAL_WAIT: u64 = 60_000;
/// How often it is looked whether the call was cancelled.
const SLICE: Duration = Duration::from_millis(200);

type Answer = Result<CallToolResult, Problem>;

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct OfSession {
    project: Option<String>,
    session_id: String,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct OfProcess {
    project: Option<String>,
    process_id: String,
    after: u64,
    wait_ms: u64,
    text: String,
    end: bool,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct OfRecord {
    project: Option<String>,
    id: Option<u64>,
    limit: Option<usize>,
    dry_run: bool,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct OfHistory {
    project: Option<String>,
    id: Option<String>,
    limit: Option<usize>,
    since: Option<String>,
    grep: Option<String>,
    failed: bool,
    decision: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct OfApproval {
    project: Option<String>,
    approval_id: String,
    wait_ms: Option<u64>,
}

/// `None`: there is no such tool.
pub async fn call(
    door: &Door,
    caller: &Caller,
    name: &str,
    arguments: JsonObject,
    context: &RequestContext<RoleServer>,
) -> Option<Answer> {
    Some(match name {
        "shell_session_open" => open(door, caller, arguments).await,
        "shell_session_close" => close(door, caller, arguments).await,
        "process_read" => read_process(door, caller, arguments, context).await,
        "process_write" => write_process(door, caller, arguments).await,
        "process_kill" => kill_process(door, caller, arguments).await,
        "process_list" => list_processes(door, caller, arguments),
        "undo" => undo(door, caller, arguments).await,
        "diff" => diff(door, caller, arguments).await,
        "log" => log(door, caller, arguments).await,
        "history" => history(door, caller, arguments).await,
        "policy_test" => test(door, arguments).await,
        "approval_wait" => wait(door, caller, arguments, context).await,
        "approval_list" => list_approvals(door, caller, arguments).await,
        _ => return None,
    })
}

async fn open(door: &Door, caller: &Caller, arguments: JsonObject) -> Answer {
    let exec: Exec = read(arguments)?;
    let ask = exec.ask(caller);
    let id = door.off(move |service| {
        service.open_session(service.projects.find(exec.project.as_deref())?, &ask)
    });
    let id = id.await?;
    Ok(done(json!({ "session_id": id }), format!("session_id {id}")))
}

async fn close(door: &Door, caller: &Caller, arguments: JsonObject) -> Answer {
    let OfSession { session_id, .. } = read(arguments)?;
    door.own_session(&session_id, caller)?;
    door.off(move |service| service.close_session(&session_id)).await?;
    Ok(done(json!({ "closed": true }), "closed".to_owned()))
}

async fn read_process(
    door: &Door,
    caller: &Caller,
    arguments: JsonObject,
    context: &RequestContext<RoleServer>,
) -> Answer {
    let OfProcess { process_id, after, wait_ms, .. } = read(arguments)?;
    door.own_process(&process_id, caller)?;
    let until = Instant::now() + Duration::from_millis(wait_ms).min(LONGEST_READ);
    let heard = loop {
        let slice = until.saturating_duration_since(Instant::now()).min(SLICE);
        let id = process_id.clone();
        let heard = door.off(move |service| service.read_process(&id, after, slice)).await?;
        let news = heard.next > after || heard.state == "ended" || heard.approval.is_some();
        if news || context.ct.is_cancelled() || Instant::now() >= until {
            break heard;
        }
    };
    let mut text = format!("{}, next {}", heard.state, heard.next);
    if let Some(code) = &heard.exit_code {
        text.push_str(&format!(", exit code {code}"));
    }
    if let Some(id) = &heard.approval {
        text.push_str(&format!("\nwaits for a person: `exacta approvals approve {id}`"));
    }
    text.push_str(&format!("\n{}", heard.output));
    let value = json!({
        "state": heard.state,
        "exit_code": heard.exit_code,
        "output": heard.output,
        "next": heard.next,
        "dropped": heard.dropped,
        "approval": heard.approval,
        "result": heard.report.map(|report| answer::of_report(&report, false)),
    });
    Ok(done(value, text))
}

async fn write_process(door: &Door, caller: &Caller, arguments: JsonObject) -> Answer {
    let OfProcess { process_id, text, end, .. } = read(arguments)?;
    door.own_process(&process_id, caller)?;
    door.off(move |service| service.write_process(&process_id, text.as_bytes(), end)).await?;
    Ok(done(json!({ "written": true }), "written".to_owned()))
}

async fn kill_process(door: &Door, caller: &Caller, arguments: JsonObject) -> Answer {
    let OfProcess { process_id, .. } = read(arguments)?;
    door.own_process(&process_id, caller)?;
    let view = door.off(move |service| service.kill_process(&process_id)).await?;
    Ok(done(json!({ "process": view }), format!("{} {}", view.id, view.state)))
}

fn list_processes(door: &Door, caller: &Caller, arguments: JsonObject) -> Answer {
    let OfProcess { project, .. } = read(arguments)?;
    let mut all = door.service.processes();
    all.retain(|it| it.agent == caller.agent && project.as_ref().is_none_or(|p| *p == it.project));
    let all = json!(all);
    let text = lines(&all, &["id", "state", "exit_code", "command"]);
    Ok(done(json!({ "processes": all }), text))
}

/// On a thread that may wait, with the project.
async fn within<T: Send + 'static>(
    door: &Door,
    project: Option<String>,
    work: impl FnOnce(&crate::service::Project) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    door.off(move |service| work(service.up_to_date(project.as_deref())?)).await
}

fn seen(caller: &Caller) -> Seen {
    Seen::Of(caller.agent.clone())
}

async fn undo(door: &Door, caller: &Caller, arguments: JsonObject) -> Answer {
    let OfRecord { project, id, dry_run, .. } = read(arguments)?;
    let seen = seen(caller);
    // What others have changed since is theirs: only a person goes over that.
    let options = Options { force: false, dry_run };
    let by = Person::agent(caller.agent.clone(), "mcp");
    let turning = Turning { turn: Turn::Undo, id, options, by };
    let value = within(door, project, move |project| project.turn(&seen, &turning)).await?;
    let verb = if dry_run { "would undo" } else { "undone" };
    let restored = lines(&value["restored"], &["path"]);
    Ok(done(value.clone(), format!("{verb} {}\n{restored}", value["records"])))
}

async fn diff(door: &Door, caller: &Caller, arguments: JsonObject) -> Answer {
    let OfRecord { project, id, .. } = read(arguments)?;
    let seen = seen(caller);
    let value = within(door, project, move |project| project.diff(&seen, id)).await?;
    let changes = lines(&value["changes"], &["kind", "path", "added", "removed"]);
    Ok(done(value.clone(), format!("record {}\n{changes}", value["id"])))
}

async fn log(door: &Door, caller: &Caller, arguments: JsonObject) -> Answer {
    let OfRecord { project, limit, .. } = read(arguments)?;
    let (seen, limit) = (seen(caller), limit.unwrap_or(USUAL));
    let all = within(door, project, move |project| project.log(&seen, limit)).await?;
    let text = lines(&all, &["id", "state", "exit_code", "command"]);
    Ok(done(json!({ "records": all }), text))
}

async fn history(door: &Door, caller: &Caller, arguments: JsonObject) -> Answer {
    let asked: OfHistory = read(arguments)?;
    let (seen, project) = (seen(caller), asked.project.clone());
    if let Some(id) = asked.id {
        let one = within(door, project, move |project| project.request(&seen, &id)).await?;
        let text = lines(&json!([one]), &["number", "decision", "exit_code", "command"]);
        return Ok(done(json!({ "requests": [], "request": one }), text));
    }
    let wrong = |message: String| Problem::new(Code::BadRequest, message, "");
    let since = asked.since.map(|said| {
        let moment = exacta::audit::moment(&said);
        moment.ok_or_else(|| wrong(format!("since takes 10m, 2h, 7d, a day or a time, not {said}")))
    });
    let verdict = asked.decision.map(|name| {
        let verdict = Verdict::from_name(&name);
        verdict.ok_or_else(|| wrong(format!("decision takes allow, confirm or deny, not {name}")))
    });
    let filter = Filter {
        limit: Some(asked.limit.unwrap_or(USUAL)),
        since: since.transpose()?,
        verdict: verdict.transpose()?,
        failed: asked.failed,
        grep: asked.grep,
        ..Filter::default()
    };
    let all = within(door, project, move |project| project.history(&seen, filter)).await?;
    let text = lines(&all, &["number", "decision", "exit_code", "command"]);
    Ok(done(json!({ "requests": all, "request": Value::Null }), text))
}

async fn test(door: &Door, arguments: JsonObject) -> Answer {
    let Exec { project, command, .. } = read(arguments)?;
    let verdict = within(door, project, move |project| project.test(command.as_bytes())).await?;
    let text = lines(&json!([verdict]), &["decision", "rule", "reason"]);
    Ok(done(verdict, text))
}

async fn wait(
    door: &Door,
    caller: &Caller,
    arguments: JsonObject,
    context: &RequestContext<RoleServer>,
) -> Answer {
    let OfApproval { project, approval_id, wait_ms } = read(arguments)?;
    let wait = Duration::from_millis(wait_ms.unwrap_or(USUAL_WAIT)).min(LONGEST_WAIT);
    let (until, agent) = (Instant::now() + wait, Arc::<str>::from(caller.agent.as_str()));
    let pending = loop {
        let slice = until.saturating_duration_since(Instant::now()).min(SLICE);
        let (id, agent) = (approval_id.clone(), Arc::clone(&agent));
        let found = within(door, project.clone(), move |project| {
            let pending = project.approval(&id, Duration::ZERO)?;
            if pending.agent != *agent {
                let message = format!("there is no approval {id}");
                return Err(Problem::new(Code::UnknownApproval, message, "see approval_list"));
            }
            project.approval(&id, slice)
        });
        let pending = found.await?;
        let decided = pending.state != State::Pending;
        if decided || context.ct.is_cancelled() || Instant::now() >= until {
            break pending;
        }
    };
    let state = pending.state.name();
    let next = match pending.state {
        State::Pending => "no decision yet: call approval_wait again",
        State::Approved if pending.task.is_some() => "the task goes on: task_show waits for it",
        State::Approved => "run the same command again",
        State::Denied | State::Used | State::Expired => "it will not run by this approval",
    };
    let value = json!({ "state": state, "approval": answer::of_pending(&pending) });
    Ok(done(value, format!("{state}: {next}")))
}

async fn list_approvals(door: &Door, caller: &Caller, arguments: JsonObject) -> Answer {
    let OfApproval { project, .. } = read(arguments)?;
    let mut all = within(door, project, crate::service::Project::approvals).await?;
    all.retain(|pending| pending.agent == caller.agent);
    let all: Value = all.iter().map(answer::of_pending).collect();
    let text = lines(&all, &["id", "state", "command"]);
    Ok(done(json!({ "approvals": all }), text))
}
