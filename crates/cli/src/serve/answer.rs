//! Problems as HTTP has them.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::service::{Code, Problem};

/// What stands between a client and what it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barred {
    WrongHost,
    WrongOrigin,
    NoToken,
    PersonNeeded,
    TooFast,
    TooLong,
    TooSlow,
    NotFound,
}

impl IntoResponse for Barred {
    fn into_response(self) -> Response {
        let (status, code, message, hint) = match self {
            Barred::WrongHost => (
                StatusCode::MISDIRECTED_REQUEST,
                "wrong_host",
                "this is not the address that the daemon listens on",
                "use the address that `exacta serve` has printed",
            ),
            Barred::WrongOrigin => (
                StatusCode::FORBIDDEN,
                "wrong_origin",
                "another page cannot use the daemon",
                "use the page of the daemon itself",
            ),
            Barred::NoToken => (
                StatusCode::UNAUTHORIZED,
                "no_token",
                "a token is needed",
                "`exacta serve --print-token` prints where it is",
            ),
            Barred::PersonNeeded => (
                StatusCode::FORBIDDEN,
                "person_needed",
                "only a person may do this: an agent's token is not enough",
                "`exacta serve --print-token`",
            ),
            Barred::TooFast => (
                StatusCode::TOO_MANY_REQUESTS,
                "too_fast",
                "too many requests at once",
                "try again in a second",
            ),
            Barred::TooLong => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_long",
                "the body is too long",
                "a command has at most a megabyte",
            ),
            Barred::TooSlow => (
                StatusCode::REQUEST_TIMEOUT,
                "too_slow",
                "the body did not come in time",
                "send it at once",
            ),
            Barred::NotFound => (
                StatusCode::NOT_FOUND,
                "not_found",
                "there is nothing here",
                "docs/serve.md has what can be asked",
            ),
        };
        let body = json!({ "error": { "code": code, "message": message, "hint": hint } });
        let mut response = (status, Json(body)).into_response();
        if self == Barred::TooFast {
            let value = header::HeaderValue::from_static("1");
            response.headers_mut().insert(header::RETRY_AFTER, value);
        }
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = match self.code {
            Code::BadRequest | Code::NotADirectory | Code::BadPlan | Code::NoPlanner => {
                StatusCode::BAD_REQUEST
            }
            Code::UnknownProject
            | Code::UnknownSession
            | Code::UnknownProcess
            | Code::UnknownApproval
            | Code::UnknownRecord
            | Code::UnknownTask => StatusCode::NOT_FOUND,
            Code::AlreadyDecided
            | Code::NotUndone
            | Code::SessionBusy
            | Code::TaskBusy
            | Code::WrongState
            | Code::UnsafeRetry => StatusCode::CONFLICT,
            Code::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Code::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, Json(self.in_json())).into_response()
    }
}
