//! What only people ask: what was done, taking it back, and how things stand.

use std::collections::BTreeMap;

use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router, middleware};
use exacta::records::{Options, Turn};
use serde::Deserialize;
use serde_json::Value;

use super::body::Body;
use super::guard::Client;
use super::routes::{Here, answered, off};
use super::{Daemon, doctor};
use crate::invocation::filter_of;
use crate::service::{Code, Problem, Project, Seen, Turning};
use crate::verbs::deeds;
use crate::verbs::shell::status;

/// So many are listed unless somebody wants more.
const USUAL: usize = 50;

pub fn routes() -> Router<std::sync::Arc<Daemon>> {
    Router::new()
        .route("/v1/history", get(history))
        .route("/v1/history/{id}", get(request))
        .route("/v1/log", get(log))
        .route("/v1/diff/{id}", get(diff))
        .route("/v1/undo", post(undo))
        .route("/v1/redo", post(redo))
        .route("/v1/held/{id}/commit", post(commit))
        .route("/v1/held/{id}/discard", post(discard))
        .route("/v1/approvals/{id}/preview", post(previewed))
        .route("/v1/status", get(standing))
        .route("/v1/doctor", get(examined))
        .layer(middleware::from_fn(people_only))
}

async fn people_only(
    Extension(client): Extension<Client>,
    request: axum::extract::Request,
    next: middleware::Next,
) -> Response {
    match client.person() {
        Ok(()) => next.run(request).await,
        Err(barred) => barred.into_response(),
    }
}

/// Words behind a question mark.
type Words = Query<BTreeMap<String, String>>;

async fn about(
    daemon: &std::sync::Arc<Daemon>,
    words: &BTreeMap<String, String>,
    work: impl FnOnce(&Project) -> Result<Value, Problem> + Send + 'static,
) -> Response {
    let named = words.get("project").cloned();
    answered(off(daemon, move |service| work(service.up_to_date(named.as_deref())?)).await)
}

async fn history(State(daemon): Here, Query(words): Words) -> Response {
    let failed = words.get("failed").is_some_and(|said| said == "true" || said.is_empty());
    let said = |name: &str| words.get(name).filter(|said| !said.is_empty()).cloned();
    let filter = filter_of(&said, failed);
    about(&daemon, &words, move |project| {
        let mut filter = filter.map_err(|why| Problem::new(Code::BadRequest, why, ""))?;
        filter.limit = filter.limit.or(Some(USUAL));
        project.history(&Seen::All, filter)
    })
    .await
}

async fn request(State(daemon): Here, Path(id): Path<String>, Query(words): Words) -> Response {
    about(&daemon, &words, move |project| project.request(&Seen::All, &id)).await
}

async fn log(State(daemon): Here, Query(words): Words) -> Response {
    let limit = words.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(USUAL);
    about(&daemon, &words, move |project| project.log(&Seen::All, limit)).await
}

async fn diff(State(daemon): Here, Path(id): Path<u64>, Query(words): Words) -> Response {
    about(&daemon, &words, move |project| project.diff(&Seen::All, Some(id))).await
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Asked {
    project: Option<String>,
    id: Option<u64>,
    force: bool,
    dry_run: bool,
}

async fn turned(daemon: &std::sync::Arc<Daemon>, asked: Asked, turn: Turn) -> Response {
    let options = Options { force: asked.force, dry_run: asked.dry_run };
    let turning = Turning { turn, id: asked.id, options, by: deeds::person() };
    answered(
        off(daemon, move |service| {
            service.projects.find(asked.project.as_deref())?.turn(&Seen::All, &turning)
        })
        .await,
    )
}

async fn undo(State(daemon): Here, Body(asked): Body<Asked>) -> Response {
    turned(&daemon, asked, Turn::Undo).await
}

async fn redo(State(daemon): Here, Body(asked): Body<Asked>) -> Response {
    turned(&daemon, asked, Turn::Redo).await
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Within {
    project: Option<String>,
}

async fn settled(
    daemon: &std::sync::Arc<Daemon>,
    id: u64,
    within: Within,
    commit: bool,
) -> Response {
    answered(
        off(daemon, move |service| {
            let project = service.projects.find(within.project.as_deref())?;
            project.settle(id, commit, &deeds::person())
        })
        .await,
    )
}

async fn commit(State(daemon): Here, Path(id): Path<u64>, Body(within): Body<Within>) -> Response {
    settled(&daemon, id, within, true).await
}

async fn discard(State(daemon): Here, Path(id): Path<u64>, Body(within): Body<Within>) -> Response {
    settled(&daemon, id, within, false).await
}

async fn previewed(
    State(daemon): Here,
    Path(id): Path<String>,
    Body(within): Body<Within>,
) -> Response {
    answered(
        off(&daemon, move |service| service.projects.find(within.project.as_deref())?.preview(&id))
            .await,
    )
}

async fn standing(State(daemon): Here, Query(words): Words) -> Response {
    about(&daemon, &words, |project| status::told(&project.launch()?).map_err(Problem::failed))
        .await
}

async fn examined(State(daemon): Here, Query(words): Words) -> Response {
    about(&daemon, &words, |project| doctor::told(&project.launch()?).map_err(Problem::failed))
        .await
}
