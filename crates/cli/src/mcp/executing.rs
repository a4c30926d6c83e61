//! `shell_exec`: a command from the call to its result, with progress, cancellation and questions in between.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bstr::BString;
use exacta::approvals::{Patience, Pending, State};
use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, InputResponses, JsonObject};
use rmcp::service::RequestContext;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::answer;
use super::asking::{self, Answer};
use super::caller::{Asking, Caller};
use super::progress::{Heard, Teller};
use super::{Door, read};
use crate::service::{Ask, Code, Hearer, Leash, Problem, Told, UntilAnswered};

/// Of its output so much is shown; all of it goes to a file. A model that reads more loses the thread.
const SHOWN: u64 = 50_000;
/// How often progress is told.
const BEAT: Duration = Duration::from_millis(100);
/// How long it waits for a person who was asked.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

#[derive(Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub struct Exec {
    pub project: Option<String>,
    pub command: String,
    pub cwd: Option<String>,
    pub timeout_ms: Option<u64>,
    pub env: BTreeMap<String, String>,
    pub session_id: Option<String>,
    pub background: bool,
    pub goal: String,
}

impl Exec {
    pub fn ask(&self, caller: &Caller) -> Ask {
        let pair = |(name, value): (&String, &String)| {
            (BString::from(name.as_str()), BString::from(value.as_str()))
        };
        Ask {
            command: self.command.as_str().into(),
            directory: self.cwd.as_ref().map(Into::into),
            environment: self.env.iter().map(pair).collect(),
            timeout: self.timeout_ms.map(Duration::from_millis),
            agent: caller.agent.clone(),
            goal: self.goal.clone(),
            hold: false,
            wait: None,
            shown_bytes: Some(SHOWN),
        }
    }

    fn checked(self) -> Result<Self, Problem> {
        let wrong = |message: &str, hint: &str| Err(Problem::new(Code::BadRequest, message, hint));
        if self.command.trim().is_empty() {
            return wrong("there is no command", "say `command`");
        }
        let own = self.cwd.is_some() || !self.env.is_empty();
        match &self.session_id {
            Some(_) if own => wrong(
                "a session has its own directory and variables",
                "use cd and export in it, or open another one",
            ),
            Some(_) if self.background => wrong(
                "what runs in the background has a session of its own",
                "leave session_id or background out",
            ),
            _ => Ok(self),
        }
    }
}

/// What a client sends with a call that it makes again.
pub struct Again {
    pub state: String,
    pub responses: InputResponses,
}

/// A call that is under way.
struct Call<'a> {
    door: &'a Door,
    caller: &'a Caller,
    context: &'a RequestContext<RoleServer>,
    exec: Arc<Exec>,
}

pub async fn exec(
    door: &Door,
    caller: &Caller,
    arguments: JsonObject,
    again: Option<Again>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, Problem> {
    let exec = Arc::new(read::<Exec>(arguments.clone())?.checked()?);
    if let Some(session) = &exec.session_id {
        door.own_session(session, caller)?;
    }
    let call = Call { door, caller, context, exec };
    if call.exec.background {
        return call.start().await;
    }
    if let Some(again) = again
        && let Some(result) = call.answered(&again, &arguments).await?
    {
        return Ok(result);
    }
    let mut result = call.run().await?;
    let Some(id) = pending_id(&result) else { return Ok(finished(result)) };
    let pending = call.pending(id).await?;
    let in_session = call.exec.session_id.is_some();
    if caller.asking == Asking::ByReturn
        && let Some(question) = door.offers.make(&pending, in_session, arguments, caller)
    {
        return Ok(question.into());
    }
    result["approval"] = answer::of_pending(&pending);
    Ok(finished(result))
}

fn finished(result: Value) -> CallToolResponse {
    let text = answer::told(&result);
    answer::done(result, text).into()
}

fn pending_id(result: &Value) -> Option<String> {
    let waits = result["state"] == "approval_pending";
    result["approval"]["id"].as_str().filter(|_| waits).map(str::to_owned)
}

impl Call<'_> {
    async fn start(&self) -> Result<CallToolResponse, Problem> {
        let (exec, ask) = (Arc::clone(&self.exec), self.exec.ask(self.caller));
        let id = self.door.off(move |service| {
            let project = service.projects.find(exec.project.as_deref())?;
            service.start_process(project, ask)
        });
        let id = id.await?;
        let text = format!("runs in the background: process_id {id}");
        let value = json!({ "state": "running", "process_id": id });
        Ok(answer::done(value, text).into())
    }

    /// What the person said to the question that this call ended with before. A result, if it is not to run again.
    async fn answered(
        &self,
        again: &Again,
        arguments: &JsonObject,
    ) -> Result<Option<CallToolResponse>, Problem> {
        let Again { state, responses } = again;
        let (id, answer) = self.door.offers.take(state, responses, arguments, self.caller)?;
        if self.caller.asking == Asking::No {
            let message = "this client may not answer for a person";
            return Err(Problem::new(Code::BadRequest, message, "`exacta approvals list`"));
        }
        if let Answer::Ruled(ruling) = answer {
            self.decide(&id, ruling).await?;
        }
        let pending = self.pending(id).await?;
        // By whichever door: what was decided stands.
        let state = match pending.state {
            State::Approved => return Ok(None),
            State::Pending => "approval_pending",
            State::Denied | State::Used | State::Expired => "refused",
        };
        let by = pending.by.as_deref().unwrap_or("nobody");
        let reason = format!("the approval is {} (by {by})", pending.state.name());
        let approval = answer::of_pending(&pending);
        Ok(Some(finished(json!({
            "state": state,
            "exit_code": 126,
            "decision": "confirm",
            "reason": reason,
            "approval": approval,
        }))))
    }

    async fn decide(&self, id: &str, ruling: exacta::approvals::Ruling) -> Result<(), Problem> {
        let decision = asking::decision(ruling, self.caller);
        let (exec, id) = (Arc::clone(&self.exec), id.to_owned());
        let decided = self.door.off(move |service| {
            let project = service.projects.find(exec.project.as_deref())?;
            service.decide(project, &id, &decision)
        });
        match decided.await {
            // Another door was first.
            Err(problem) if problem.code == Code::AlreadyDecided => Ok(()),
            decided => decided.map(|_| ()),
        }
    }

    async fn pending(&self, id: String) -> Result<Pending, Problem> {
        let exec = Arc::clone(&self.exec);
        let found = self.door.off(move |service| {
            let project = service.projects.find(exec.project.as_deref())?;
            project.approval(&id, Duration::ZERO)
        });
        found.await
    }

    async fn run(&self) -> Result<Value, Problem> {
        let longest =
            if self.caller.asking == Asking::Meanwhile { PATIENCE } else { Duration::ZERO };
        let patience = Patience::of(longest);
        let ask = Ask { wait: Some(patience.clone()), ..self.exec.ask(self.caller) };
        let leash = Leash::default();
        let until = UntilAnswered(leash.clone());
        let heard = Arc::new(Heard::default());
        let (asked, mut questions) = mpsc::unbounded_channel();
        let hearer = self.hearer(&heard, asked);
        let (exec, tied) = (Arc::clone(&self.exec), leash.clone());
        let mut running = std::pin::pin!(self.door.off(move |service| {
            let project = service.projects.find(exec.project.as_deref())?;
            let session = exec.session_id.as_deref();
            service.run(project, session, &ask, &hearer, |canceller| tied.tie(canceller))
        }));
        let token = self.context.meta.get_progress_token();
        let teller = Teller { peer: self.context.peer.clone(), token };
        let (mut beat, mut cancelled) = (tokio::time::interval(BEAT), false);
        let report = loop {
            tokio::select! {
                report = &mut running => break report?,
                () = self.context.ct.cancelled(), if !cancelled => {
                    cancelled = true;
                    leash.cut();
                }
                Some(pending) = questions.recv() => {
                    tokio::select! {
                        answer = self.elicited(&pending) => match answer {
                            Answer::Ruled(ruling) => self.decide(&pending.id, ruling).await?,
                            Answer::Dismissed => patience.end(),
                        },
                        // Decided elsewhere, or out of time: the form is of no more use.
                        report = &mut running => break report?,
                        () = self.context.ct.cancelled() => {
                            cancelled = true;
                            leash.cut();
                        }
                    }
                }
                _ = beat.tick(), if teller.token.is_some() => teller.tell(&heard).await,
            }
        };
        teller.tell(&heard).await;
        drop(until);
        let mut result = answer::of_report(&report, cancelled);
        if let Some(session) = &self.exec.session_id {
            result["session_id"] = json!(session);
        }
        Ok(result)
    }

    fn hearer(&self, heard: &Arc<Heard>, asked: mpsc::UnboundedSender<Pending>) -> Hearer {
        let (service, heard) = (Arc::clone(&self.door.service), Arc::clone(heard));
        let meanwhile = self.caller.asking == Asking::Meanwhile;
        // One that nobody has answered is told of again when the waiting is over.
        let known = Mutex::new(HashSet::new());
        let is_new = move |id: &str| {
            known.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned())
        };
        Arc::new(move |told| {
            match told {
                Told::Started { .. } => {}
                Told::Output { data, .. } => heard.hear(data),
                Told::Approval(pending) => {
                    service.bell.ring("approval", json!(pending));
                    if meanwhile && pending.state == State::Pending && is_new(&pending.id) {
                        let _the_call_may_be_over = asked.send(pending.clone());
                    }
                }
            }
            Ok(())
        })
    }

    /// What the person says in the client. Of a client that fails, nothing.
    async fn elicited(&self, pending: &Pending) -> Answer {
        let in_session = self.exec.session_id.is_some();
        let Some(form) = asking::form(pending, in_session) else { return Answer::Dismissed };
        let asked = self.context.peer.create_elicitation(form).await;
        asked.map_or(Answer::Dismissed, |result| asking::understood(&result))
    }
}
