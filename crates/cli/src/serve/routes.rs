//! What can be asked, and who answers it.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Extension, Json, Router, middleware};
use bstr::BString;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::answer::Barred;
use super::body::Body;
use super::guard::{self, Client};
use super::{Daemon, description, metrics, page, people, running, tasks};
use crate::service::{Ask, Decision, Problem, Project, Service};
use exacta::approvals::{Patience, Pending, Who};

pub fn all(daemon: &Arc<Daemon>) -> Router {
    let asked = Router::new()
        .route("/v1/run", post(running::run))
        .route("/v1/events", get(running::events))
        .route("/v1/projects", get(projects))
        .route("/v1/sessions", get(sessions).post(open_session))
        .route("/v1/sessions/{id}", delete(close_session))
        .route("/v1/sessions/{id}/output", get(running::watch))
        .route("/v1/processes", get(processes).post(start_process))
        .route("/v1/processes/{id}", get(read_process).delete(kill_process))
        .route("/v1/processes/{id}/input", post(write_process))
        .route("/v1/approvals", get(approvals))
        .route("/v1/approvals/{id}", get(approval).post(decide))
        .route("/v1/policy/test", post(test))
        .route("/metrics", get(counts))
        .merge(people::routes())
        .merge(tasks::routes())
        .route_service("/mcp", daemon.mcp.service.clone())
        .layer(middleware::from_fn_with_state(Arc::clone(daemon), guard::token));
    Router::new()
        .route("/", get(page::index))
        .route("/page/{name}", get(page::file))
        .route("/openapi.json", get(description::openapi))
        .merge(asked)
        .fallback(async || Barred::NotFound)
        .layer(middleware::from_fn_with_state(Arc::clone(daemon), guard::address))
        .with_state(Arc::clone(daemon))
}

/// The door for MCP alone.
pub fn mcp(daemon: &Arc<Daemon>) -> Router {
    Router::new()
        .route_service("/mcp", daemon.mcp.service.clone())
        .layer(middleware::from_fn_with_state(Arc::clone(daemon), guard::token))
        .fallback(async || Barred::NotFound)
        .layer(middleware::from_fn_with_state(Arc::clone(daemon), guard::address))
}

/// What every handler has.
pub type Here = State<Arc<Daemon>>;
pub type Whoever = Extension<Client>;

/// Which project; the only one needs no name.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct In {
    project: Option<String>,
    wait_ms: u64,
    after: u64,
}

/// Work that may wait, on a thread that may.
pub async fn off<T: Send + 'static>(
    daemon: &Arc<Daemon>,
    work: impl FnOnce(&Arc<Service>) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let service = Arc::clone(&daemon.service);
    let done = tokio::task::spawn_blocking(move || work(&service)).await;
    done.unwrap_or_else(|lost| Err(Problem::failed(lost)))
}

pub fn answered<T: Serialize>(result: Result<T, Problem>) -> Response {
    match result {
        Ok(value) => Json(value).into_response(),
        Err(problem) => problem.into_response(),
    }
}

async fn projects(State(daemon): Here) -> Response {
    let shown = |it: &Project| json!({ "path": it.root.display().to_string(), "name": it.name() });
    let all: Vec<_> = daemon.service.projects.all().iter().map(shown).collect();
    Json(all).into_response()
}

/// A command, or what a session begins with.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub struct Asked {
    pub project: Option<String>,
    pub command: String,
    pub cwd: Option<String>,
    pub env: std::collections::BTreeMap<String, String>,
    pub timeout_ms: Option<u64>,
    pub session: Option<String>,
    pub goal: String,
    pub hold: bool,
    pub wait_ms: Option<u64>,
    pub stream: bool,
}

impl Asked {
    pub fn ask(&self, client: &Client) -> Ask {
        let pair = |(name, value): (&String, &String)| {
            (BString::from(name.as_str()), BString::from(value.as_str()))
        };
        Ask {
            command: self.command.as_str().into(),
            directory: self.cwd.as_ref().map(Into::into),
            environment: self.env.iter().map(pair).collect(),
            timeout: self.timeout_ms.map(Duration::from_millis),
            agent: client.agent.clone(),
            goal: self.goal.clone(),
            hold: self.hold,
            wait: self.wait_ms.map(|wait| Patience::of(Duration::from_millis(wait))),
            shown_bytes: None,
        }
    }
}

async fn sessions(State(daemon): Here, Extension(client): Whoever) -> Response {
    let mut all = daemon.service.sessions();
    all.retain(|session| client.sees(&session.agent));
    Json(all).into_response()
}

async fn open_session(
    State(daemon): Here,
    Extension(client): Whoever,
    Body(asked): Body<Asked>,
) -> Response {
    answered(
        off(&daemon, move |service| {
            let project = service.projects.find(asked.project.as_deref())?;
            service.open_session(project, &asked.ask(&client)).map(|id| json!({ "id": id }))
        })
        .await,
    )
}

async fn close_session(
    State(daemon): Here,
    Extension(client): Whoever,
    Path(id): Path<String>,
) -> Response {
    let closed = off(&daemon, move |service| {
        service.see_session(&id, |agent| client.sees(agent))?;
        service.close_session(&id)
    });
    answered(closed.await.map(|()| json!({ "closed": true })))
}

async fn processes(State(daemon): Here, Extension(client): Whoever) -> Response {
    let mut all = daemon.service.processes();
    all.retain(|process| client.sees(&process.agent));
    Json(all).into_response()
}

async fn start_process(
    State(daemon): Here,
    Extension(client): Whoever,
    Body(asked): Body<Asked>,
) -> Response {
    answered(
        off(&daemon, move |service| {
            let project = service.projects.find(asked.project.as_deref())?;
            service.start_process(project, asked.ask(&client)).map(|id| json!({ "id": id }))
        })
        .await,
    )
}

async fn read_process(
    State(daemon): Here,
    Extension(client): Whoever,
    Path(id): Path<String>,
    Query(from): Query<In>,
) -> Response {
    let wait = Duration::from_millis(from.wait_ms);
    let read = off(&daemon, move |service| {
        service.see_process(&id, |agent| client.sees(agent))?;
        service.read_process(&id, from.after, wait)
    });
    answered(read.await)
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Input {
    text: String,
    end: bool,
}

async fn write_process(
    State(daemon): Here,
    Extension(client): Whoever,
    Path(id): Path<String>,
    Body(input): Body<Input>,
) -> Response {
    let written = off(&daemon, move |service| {
        service.see_process(&id, |agent| client.sees(agent))?;
        service.write_process(&id, input.text.as_bytes(), input.end)
    });
    answered(written.await.map(|()| json!({ "written": true })))
}

async fn kill_process(
    State(daemon): Here,
    Extension(client): Whoever,
    Path(id): Path<String>,
) -> Response {
    let killed = off(&daemon, move |service| {
        service.see_process(&id, |agent| client.sees(agent))?;
        service.kill_process(&id)
    });
    answered(killed.await)
}

async fn approvals(
    State(daemon): Here,
    Extension(client): Whoever,
    Query(within): Query<In>,
) -> Response {
    answered(
        off(&daemon, move |service| {
            let all = service.projects.find(within.project.as_deref())?.approvals()?;
            Ok(all.into_iter().map(|one| seen_by(&client, one)).collect::<Vec<_>>())
        })
        .await,
    )
}

fn seen_by(client: &Client, pending: Pending) -> Pending {
    if client.person().is_ok() { pending } else { pending.for_asker() }
}

async fn approval(
    State(daemon): Here,
    Extension(client): Whoever,
    Path(id): Path<String>,
    Query(within): Query<In>,
) -> Response {
    answered(
        off(&daemon, move |service| {
            let project = service.projects.find(within.project.as_deref())?;
            let pending = project.approval(&id, Duration::from_millis(within.wait_ms))?;
            Ok(seen_by(&client, pending))
        })
        .await,
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decided {
    #[serde(default)]
    project: Option<String>,
    decision: String,
    #[serde(default)]
    scope: Option<String>,
}

async fn decide(
    State(daemon): Here,
    Extension(client): Whoever,
    Path(id): Path<String>,
    Body(decided): Body<Decided>,
) -> Response {
    if let Err(barred) = client.person() {
        return barred.into_response();
    }
    let who = Who { door: "web", name: crate::verbs::deeds::person().to_string() };
    answered(
        off(&daemon, move |service| {
            let project = service.projects.find(decided.project.as_deref())?;
            let decision = Decision::parse(&decided.decision, decided.scope.as_deref(), who)?;
            service.decide(project, &id, &decision)
        })
        .await,
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Test {
    #[serde(default)]
    project: Option<String>,
    command: String,
}

async fn test(State(daemon): Here, Body(asked): Body<Test>) -> Response {
    answered(
        off(&daemon, move |service| {
            let project = service.projects.find(asked.project.as_deref())?;
            project.test(asked.command.as_bytes())
        })
        .await,
    )
}

async fn counts(State(daemon): Here, Extension(client): Whoever) -> Response {
    if let Err(barred) = client.person() {
        return barred.into_response();
    }
    let text = off(&daemon, |service| Ok(metrics::text(service))).await;
    match text {
        Ok(text) => (StatusCode::OK, [(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text)
            .into_response(),
        Err(problem) => problem.into_response(),
    }
}
