//! What takes long: a command until it has ended, and events as they come.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use bstr::ByteSlice;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::errors::BroadcastStreamRecvError;
use tokio_stream::wrappers::{BroadcastStream, ReceiverStream};
use tokio_stream::{Stream, StreamExt as _};

use super::Daemon;
use super::body::Body;
use super::routes::{Asked, Here, Whoever, off};
use crate::service::{Code, Event as Rung, Hearer, Leash, Problem, Told, UntilAnswered};

/// So many pieces of output wait for a client; then the command waits.
const DEPTH: usize = 64;
/// So that what stands between does not take the connection for dead.
pub const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

pub async fn run(
    State(daemon): Here,
    Extension(client): Whoever,
    headers: HeaderMap,
    Body(asked): Body<Asked>,
) -> Response {
    if asked.command.is_empty() {
        let problem = Problem::new(Code::BadRequest, "there is no command", "say `command`");
        return problem.into_response();
    }
    if let Some(session) = &asked.session
        && let Err(problem) = daemon.service.see_session(session, |agent| client.sees(agent))
    {
        return problem.into_response();
    }
    if asked.session.is_some() && (!asked.env.is_empty() || asked.cwd.is_some()) {
        let message = "a session has its own directory and variables";
        let hint = "use cd and export in it, or open another one";
        return Problem::new(Code::BadRequest, message, hint).into_response();
    }
    let wanted = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let streams = asked.stream || wanted.is_some_and(|it| it.contains("text/event-stream"));
    let ask = asked.ask(&client);
    let leash = Leash::default();
    if streams {
        return streamed(&daemon, asked, ask, leash);
    }
    let until = UntilAnswered(leash.clone());
    let bell = Arc::clone(&daemon);
    let hearer: Hearer = Arc::new(move |told| {
        ring(&bell, &told);
        Ok(())
    });
    let report = perform(&daemon, asked, ask, hearer, leash).await;
    drop(until);
    match report {
        Ok(report) => Json(report).into_response(),
        Err(problem) => problem.into_response(),
    }
}

async fn perform(
    daemon: &Arc<Daemon>,
    asked: Asked,
    ask: crate::service::Ask,
    hearer: Hearer,
    leash: Leash,
) -> Result<Value, Problem> {
    off(daemon, move |service| {
        let project = service.projects.find(asked.project.as_deref())?;
        service.run(project, asked.session.as_deref(), &ask, &hearer, |it| leash.tie(it))
    })
    .await
}

fn streamed(
    daemon: &Arc<Daemon>,
    asked: Asked,
    ask: crate::service::Ask,
    leash: Leash,
) -> Response {
    let (sender, receiver) = mpsc::channel::<Event>(DEPTH);
    let (daemon, bell, session) = (Arc::clone(daemon), Arc::clone(daemon), asked.session.clone());
    let heard = sender.clone();
    let hearer: Hearer = Arc::new(move |told| {
        ring(&bell, &told);
        let event = match told {
            Told::Started { id } => event("started", &json!({ "id": id, "session": session })),
            Told::Output { stream, data } => {
                let text = data.to_str_lossy();
                event("output", &json!({ "stream": stream.name(), "text": text }))
            }
            Told::Approval(pending) => event("approval", &json!(pending.clone().for_asker())),
        };
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        heard.blocking_send(event).map_err(gone)
    });
    let until = UntilAnswered(leash.clone());
    tokio::spawn(async move {
        let last = match perform(&daemon, asked, ask, hearer, leash).await {
            Ok(report) => event("ended", &report),
            Err(problem) => event("problem", &problem.in_json()),
        };
        let _who_is_gone_wants_nothing = sender.send(last).await;
    });
    let events = ReceiverStream::new(receiver).map(move |event| {
        // It goes with the stream.
        let _still_read = &until;
        Ok::<_, Infallible>(event)
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(SIGN_OF_LIFE)).into_response()
}

/// Questions are everybody's who looks on.
fn ring(daemon: &Daemon, told: &Told<'_>) {
    if let Told::Approval(pending) = told {
        daemon.service.bell.ring("approval", json!(pending));
    }
}

pub fn event(kind: &str, data: &Value) -> Event {
    // A JSON text has no line break of its own.
    Event::default().event(kind).data(data.to_string())
}

/// What is said in a session, as it comes.
pub async fn watch(
    State(daemon): Here,
    Extension(client): Whoever,
    Path(id): Path<String>,
) -> Response {
    let seen = daemon.service.see_session(&id, |agent| client.sees(agent));
    let (before, comes) = match seen.and_then(|()| daemon.service.watch_session(&id)) {
        Ok(watched) => watched,
        Err(problem) => return problem.into_response(),
    };
    let before = tokio_stream::iter(before.into_iter().map(Ok));
    server_sent(before.chain(BroadcastStream::new(comes)))
}

fn server_sent(
    rung: impl Stream<Item = Result<Rung, BroadcastStreamRecvError>> + Send + 'static,
) -> Response {
    let events = rung.map(|rung| {
        Ok::<_, Infallible>(match rung {
            Ok(rung) => event(rung.kind, &rung.data),
            // The client has to look again by itself.
            Err(_missed) => event("missed", &json!({})),
        })
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(SIGN_OF_LIFE)).into_response()
}

pub async fn events(State(daemon): Here, Extension(client): Whoever) -> Response {
    if let Err(barred) = client.person() {
        return barred.into_response();
    }
    server_sent(BroadcastStream::new(daemon.service.bell.listen()))
}
