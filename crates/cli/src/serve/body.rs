//! The body of a request: JSON, not too long, and there in time.

use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;

use super::answer::Barred;
use crate::service::{Code, Problem};

const LONGEST: usize = 2 << 20;
const PATIENCE: Duration = Duration::from_secs(10);

/// What was said, understood.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Response;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Response> {
        let read = tokio::time::timeout(PATIENCE, to_bytes(request.into_body(), LONGEST)).await;
        let Ok(read) = read else { return Err(Barred::TooSlow.into_response()) };
        let Ok(bytes) = read else { return Err(Barred::TooLong.into_response()) };
        // Nothing is an object without anything in it.
        let bytes: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        serde_json::from_slice(bytes).map(Body).map_err(|error| {
            let problem = format!("the body is not what is expected here: {error}");
            Problem::new(Code::BadRequest, problem, "docs/serve.md has what can be asked")
                .into_response()
        })
    }
}
