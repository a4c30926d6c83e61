//! The page, as it lies in the binary.

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::answer::Barred;

/// Nothing is loaded from elsewhere, nothing in the page itself is run, nobody else shows it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("page/", $name)) as &[u8])),*]
    };
}

const FILES: &[(&str, &[u8])] = files![
    "index.html",
    "style.css",
    "icon.svg",
    "theme.js",
    "app.js",
    "login.js",
    "api.js",
    "stream.js",
    "daemon.js",
    "projects.js",
    "inbox.js",
    "dom.js",
    "dialog.js",
    "keys.js",
    "text.js",
    "time.js",
    "output.js",
    "runs.js",
    "approvals.js",
    "approval.js",
    "decide.js",
    "sessions.js",
    "session.js",
    "process.js",
    "history.js",
    "request.js",
    "undo.js",
    "record.js",
    "diff.js",
    "policy.js",
    "status.js",
    "tasks.js",
    "task.js",
    "gate.js",
    "doctor.js",
];

pub async fn index() -> Response {
    found("index.html")
}

pub async fn file(Path(name): Path<String>) -> Response {
    found(&name)
}

fn found(name: &str) -> Response {
    let Some((_, content)) = FILES.iter().find(|(known, _)| *known == name) else {
        return Barred::NotFound.into_response();
    };
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, *content).into_response()
}
