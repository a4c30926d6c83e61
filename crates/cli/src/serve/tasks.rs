//! Tasks over HTTP: asked for, looked at, followed, decided, ended. An agent has its own; only people say yes or no.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use exacta::approvals::Who;
use exacta::tasks::Wishes;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::broadcast::Receiver;
use tokio::sync::mpsc::{self, Sender};
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

use super::Daemon;
use super::body::Body;
use super::guard::Client;
use super::routes::{Here, Whoever, answered, off};
use super::running::{SIGN_OF_LIFE, event};
use super::tokens::Role;
use crate::service::{Deed, Event as Rung, Extent, Found, Listed, Problem, Wanted};
use crate::verbs::deeds;

/// So many events wait for a client; then it is not looked for more.
const DEPTH: usize = 64;
/// How often it is looked what whoever works on it, here or in another process, has written.
const LOOK: Duration = Duration::from_millis(250);

pub fn routes() -> Router<Arc<Daemon>> {
    Router::new()
        .route("/v1/tasks", get(list).post(create))
        .route("/v1/tasks/{id}", get(show).post(act))
        .route("/v1/tasks/{id}/log", get(log))
        .route("/v1/tasks/{id}/events", get(events))
}

/// Behind a question mark.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Words {
    project: Option<String>,
    state: Option<String>,
    limit: Option<usize>,
    after: u64,
    wait_ms: u64,
}

async fn list(
    State(daemon): Here,
    Extension(client): Whoever,
    Query(words): Query<Words>,
) -> Response {
    let Words { project, state, limit, .. } = words;
    let listed = Listed { project, state, limit };
    answered(off(&daemon, move |service| service.tasks(&listed, |it| client.sees(it))).await)
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Asked {
    project: Option<String>,
    plan: Option<Value>,
    goal: Option<String>,
    agent: Option<String>,
    rollback_on_failure: bool,
    step_by_step: bool,
}

async fn create(
    State(daemon): Here,
    Extension(client): Whoever,
    Body(asked): Body<Asked>,
) -> Response {
    let Asked { project, plan, goal, agent, rollback_on_failure, step_by_step } = asked;
    // An agent asks for itself; a person may ask for anybody.
    let named = Some(client.agent.clone()).filter(|name| !name.is_empty());
    let agent = match client.role {
        Role::Agent => Some(client.agent),
        Role::Person => agent.or(named),
    };
    let wishes = Wishes { rollback_on_failure, step_by_step };
    let wanted = Wanted { plan, goal, agent, wishes };
    let created = off(&daemon, move |service| {
        Ok(service.create_task(project.as_deref(), wanted)?.view(Extent::WithLog))
    });
    answered(created.await)
}

async fn show(
    State(daemon): Here,
    Extension(client): Whoever,
    Path(id): Path<String>,
    Query(words): Query<Words>,
) -> Response {
    let shown = off(&daemon, move |service| {
        let found = service.find_task(words.project.as_deref(), &id, |it| client.sees(it))?;
        let wait = Duration::from_millis(words.wait_ms);
        Ok(found.waited(wait)?.view(Extent::WithLog))
    });
    answered(shown.await)
}

async fn log(
    State(daemon): Here,
    Extension(client): Whoever,
    Path(id): Path<String>,
    Query(words): Query<Words>,
) -> Response {
    let logged = off(&daemon, move |service| {
        let found = service.find_task(words.project.as_deref(), &id, |it| client.sees(it))?;
        found.log(words.after)
    });
    answered(logged.await)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    action: String,
    #[serde(default)]
    project: Option<String>,
    #[serde(default)]
    step: Option<usize>,
    #[serde(default)]
    force: bool,
}

async fn act(
    State(daemon): Here,
    Extension(client): Whoever,
    Path(id): Path<String>,
    Body(wish): Body<Wish>,
) -> Response {
    let deed = match Deed::parse(&wish.action, wish.step, wish.force) {
        Ok(deed) => deed,
        Err(problem) => return problem.into_response(),
    };
    if let (true, Err(barred)) = (deed.needs_person(), client.person()) {
        return barred.into_response();
    }
    let who = Who { door: "web", name: name_of(&client) };
    let acted = off(&daemon, move |service| {
        let found = service.find_task(wish.project.as_deref(), &id, |it| client.sees(it))?;
        Ok(service.act_on_task(&found, deed, &who)?.view(Extent::WithLog))
    });
    answered(acted.await)
}

/// Whoever does something about a task, for the record.
fn name_of(client: &Client) -> String {
    match client.role {
        Role::Person => deeds::person().to_string(),
        Role::Agent if client.agent.is_empty() => "an agent".to_owned(),
        Role::Agent => client.agent.clone(),
    }
}

/// Server-sent: the task whenever it changes, the lines of its log, and its end.
async fn events(
    State(daemon): Here,
    Extension(client): Whoever,
    Path(id): Path<String>,
    Query(words): Query<Words>,
) -> Response {
    let after = words.after;
    let found = off(&daemon, move |service| {
        service.find_task(words.project.as_deref(), &id, |it| client.sees(it))
    });
    let found = match found.await {
        Ok(found) => found,
        Err(problem) => return problem.into_response(),
    };
    let (sender, receiver) = mpsc::channel::<Event>(DEPTH);
    tokio::spawn(async move {
        let follower = Follower { bell: daemon.service.bell.listen(), daemon, sender, after };
        // Who is gone wants nothing.
        let _gone = follower.follow(Arc::new(found)).await;
    });
    let events = ReceiverStream::new(receiver).map(Ok::<_, Infallible>);
    Sse::new(events).keep_alive(KeepAlive::new().interval(SIGN_OF_LIFE)).into_response()
}

struct Follower {
    daemon: Arc<Daemon>,
    bell: Receiver<Rung>,
    sender: Sender<Event>,
    /// The number of the last line that was sent.
    after: u64,
}

impl Follower {
    /// `None`: nobody listens any more.
    async fn follow(mut self, mut found: Arc<Found>) -> Option<()> {
        let mut seen = None;
        let mut over = false;
        while !self.daemon.service.tasks_are_over() {
            match self.look(&found).await {
                Ok((now, lines)) => {
                    self.send_lines(&lines).await?;
                    if seen != Some(now.task.fence) {
                        seen = Some(now.task.fence);
                        self.send("task", &now).await?;
                    }
                    // The last lines come a moment after the last change.
                    if now.task.state.is_final() && over {
                        return self.send("ended", &now).await;
                    }
                    over = now.task.state.is_final();
                    found = now;
                }
                Err(problem) => {
                    let told = event("problem", &problem.in_json());
                    return self.sender.send(told).await.ok();
                }
            }
            self.wait(&found.task.id).await?;
        }
        Some(())
    }

    async fn look(&self, found: &Arc<Found>) -> Result<(Arc<Found>, Vec<Value>), Problem> {
        let (found, after) = (Arc::clone(found), self.after);
        off(&self.daemon, move |_service| Ok((Arc::new(found.again()?), found.log(after)?))).await
    }

    async fn send(&self, kind: &str, found: &Arc<Found>) -> Option<()> {
        let found = Arc::clone(found);
        let view =
            off(&self.daemon, move |_service| Ok(found.view(Extent::WithoutLog))).await.ok()?;
        self.sender.send(event(kind, &view)).await.ok()
    }

    async fn send_lines(&mut self, lines: &[Value]) -> Option<()> {
        for line in lines {
            let number = line["number"].as_u64().unwrap_or_default();
            let told = event("log", line).id(number.to_string());
            self.sender.send(told).await.ok()?;
            self.after = self.after.max(number);
        }
        Some(())
    }

    /// Until something has happened to it, as far as is known here.
    async fn wait(&mut self, id: &str) -> Option<()> {
        let (bell, sender) = (&mut self.bell, &self.sender);
        let rung = async {
            loop {
                match bell.recv().await {
                    Ok(rung) if rung.kind == "task" && rung.data["id"] == id => return,
                    Ok(_) => {}
                    // Some were missed: one of them may have been about it.
                    Err(_) => return,
                }
            }
        };
        tokio::select! {
            () = rung => Some(()),
            () = tokio::time::sleep(LOOK) => Some(()),
            () = sender.closed() => None,
        }
    }
}
