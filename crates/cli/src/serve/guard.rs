//! Who may come in: the right host, no foreign page, a token, not too many at once.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Daemon;
use super::answer::Barred;
use super::tokens::Role;

/// Requests a second, and as many at once from a standing start. One page or agent needs a few.
const RATE: f64 = 5_000.0;
/// The same for requests with a wrong token.
const WRONG_RATE: f64 = 5.0;

/// Whoever asks.
#[derive(Debug, Clone)]
pub struct Client {
    pub role: Role,
    /// What it calls itself.
    pub agent: String,
}

impl Client {
    pub fn person(&self) -> Result<(), Barred> {
        if self.role == Role::Person { Ok(()) } else { Err(Barred::PersonNeeded) }
    }

    /// An agent sees what it has opened itself.
    pub fn sees(&self, agent: &str) -> bool {
        self.role == Role::Person || self.agent == agent
    }
}

/// So many a second, and no more.
pub struct Bucket {
    rate: f64,
    state: Mutex<(f64, Instant)>,
}

impl Bucket {
    fn new(rate: f64) -> Self {
        Bucket { rate, state: Mutex::new((rate, Instant::now())) }
    }

    fn take(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, since) = *state;
        let left = (left + since.elapsed().as_secs_f64() * self.rate).min(self.rate);
        let enough = left >= 1.0;
        *state = (if enough { left - 1.0 } else { left }, Instant::now());
        enough
    }
}

pub struct Buckets {
    all: Bucket,
    wrong: Bucket,
}

impl Buckets {
    pub fn new() -> Self {
        Buckets { all: Bucket::new(RATE), wrong: Bucket::new(WRONG_RATE) }
    }
}

/// In front of everything.
pub async fn address(State(daemon): State<Arc<Daemon>>, request: Request, next: Next) -> Response {
    if !daemon.buckets.all.take() {
        return Barred::TooFast.into_response();
    }
    match checked(request.headers(), &daemon.hosts) {
        Ok(()) => next.run(request).await,
        Err(barred) => barred.into_response(),
    }
}

/// A page elsewhere can give its own name to our address; then the browser says that name.
fn checked(headers: &HeaderMap, hosts: &[String]) -> Result<(), Barred> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let host = text(header::HOST).unwrap_or_default();
    if !hosts.iter().any(|known| known == host) {
        return Err(Barred::WrongHost);
    }
    if let Some(origin) = text(header::ORIGIN)
        && !hosts.iter().any(|known| origin.strip_prefix("http://") == Some(known))
    {
        return Err(Barred::WrongOrigin);
    }
    match headers.get("sec-fetch-site").map(|value| value.to_str().unwrap_or("?")) {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) => Err(Barred::WrongOrigin),
    }
}

/// In front of all but the page.
pub async fn token(
    State(daemon): State<Arc<Daemon>>,
    mut request: Request,
    next: Next,
) -> Response {
    let given = request.headers().get(header::AUTHORIZATION);
    let given = given.and_then(|value| value.to_str().ok());
    let given = given.and_then(|text| text.strip_prefix("Bearer ")).map(str::trim);
    let Some(role) = given.and_then(|given| daemon.tokens.role(given)) else {
        let barred = if daemon.buckets.wrong.take() { Barred::NoToken } else { Barred::TooFast };
        return barred.into_response();
    };
    let named = request.headers().get("x-exacta-agent").and_then(|name| name.to_str().ok());
    let agent: String = named.unwrap_or_default().chars().take(100).collect();
    request.extensions_mut().insert(Client { role, agent });
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn said(pairs: &[(&'static str, &'static str)]) -> Result<(), Barred> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        checked(&headers, &["127.0.0.1:7300".to_owned(), "localhost:7300".to_owned()])
    }

    #[test]
    fn only_our_own_page_comes_in() {
        assert_eq!(said(&[("host", "127.0.0.1:7300")]), Ok(()));
        assert_eq!(
            said(&[("host", "localhost:7300"), ("origin", "http://localhost:7300")]),
            Ok(())
        );
        assert_eq!(said(&[("host", "evil.example:7300")]), Err(Barred::WrongHost));
        assert_eq!(said(&[]), Err(Barred::WrongHost));
        let host = ("host", "127.0.0.1:7300");
        assert_eq!(said(&[host, ("origin", "http://evil.example")]), Err(Barred::WrongOrigin));
        assert_eq!(said(&[host, ("origin", "null")]), Err(Barred::WrongOrigin));
        assert_eq!(said(&[host, ("origin", "https://127.0.0.1:7300")]), Err(Barred::WrongOrigin));
        assert_eq!(said(&[host, ("sec-fetch-site", "cross-site")]), Err(Barred::WrongOrigin));
        assert_eq!(said(&[host, ("sec-fetch-site", "same-site")]), Err(Barred::WrongOrigin));
        assert_eq!(said(&[host, ("sec-fetch-site", "same-origin")]), Ok(()));
    }

    #[test]
    fn a_bucket_runs_empty() {
        let bucket = Bucket::new(2.0);
        assert!(bucket.take() && bucket.take());
        assert!(!bucket.take());
    }
}
