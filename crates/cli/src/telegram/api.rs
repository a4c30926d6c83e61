//! The Bot API: JSON over HTTPS, a token in the address, and a way of saying "later".

use std::fmt;
use std::time::Duration;

use serde_json::Value;

/// As long as an answer to anything but a long poll may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// An answer is never longer.
const LONGEST: u64 = 4 << 20;

pub struct Api {
    agent: ureq::Agent,
    /// With the token in it: never shown.
    base: String,
}

#[derive(Debug)]
pub enum ApiError {
    /// It wants to be left alone for so long.
    TooFast(Duration),
    /// It has understood, and will not do it.
    Rejected(String),
    /// It cannot be reached, or is not well.
    Unreachable(String),
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApiError::TooFast(wait) => write!(f, "it wants a pause of {} s", wait.as_secs()),
            ApiError::Rejected(why) => write!(f, "refused: {why}"),
            ApiError::Unreachable(why) => write!(f, "not reached: {why}"),
        }
    }
}

impl Api {
    pub fn new(address: &str, token: &str) -> Self {
        exacta_jail::host_names::look_up_plainly();
        let config = ureq::Agent::config_builder().http_status_as_error(false).build();
        let base = format!("{}/bot{token}", address.trim_end_matches('/'));
        Api { agent: config.new_agent(), base }
    }

    pub fn call(&self, method: &str, asked: &Value) -> Result<Value, ApiError> {
        self.call_for(method, asked, PATIENCE)
    }

    /// The `result` of the answer.
    pub fn call_for(
        &self,
        method: &str,
        asked: &Value,
        patience: Duration,
    ) -> Result<Value, ApiError> {
        let unreachable = |error: &dyn fmt::Display| ApiError::Unreachable(self.hidden(error));
        let request = self.agent.post(format!("{}/{method}", self.base));
        let request = request.config().timeout_global(Some(patience)).build();
        let answer = request
            .header("content-type", "application/json")
            .send(asked.to_string())
            .map_err(|error| unreachable(&error))?;
        let status = answer.status().as_u16();
        let mut body = answer.into_body();
        let text = body.with_config().limit(LONGEST).read_to_string();
        let text = text.map_err(|error| unreachable(&error))?;
        understood(status, &text)
    }

    /// The token is in the address, and errors have addresses in them.
    fn hidden(&self, error: &dyn fmt::Display) -> String {
        error.to_string().replace(&self.base, "…")
    }
}

fn understood(status: u16, text: &str) -> Result<Value, ApiError> {
    let answer: Value = serde_json::from_str(text).unwrap_or_default();
    if answer["ok"] == true {
        return Ok(answer["result"].clone());
    }
    let why = answer["description"].as_str().unwrap_or("it did not say why").to_owned();
    match status {
        429 => {
            let wait = answer["parameters"]["retry_after"].as_u64().unwrap_or(1).clamp(1, 3_600);
            Err(ApiError::TooFast(Duration::from_secs(wait)))
        }
        400..500 => Err(ApiError::Rejected(why)),
        _ => Err(ApiError::Unreachable(format!("status {status}: {why}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_apart() {
        assert_eq!(understood(200, r#"{"ok":true,"result":7}"#).expect("a result"), 7);
        let later = r#"{"ok":false,"error_code":429,"parameters":{"retry_after":3}}"#;
        assert!(
            matches!(understood(429, later), Err(ApiError::TooFast(wait)) if wait.as_secs() == 3)
        );
        let no = r#"{"ok":false,"description":"chat not found"}"#;
        assert!(
            matches!(understood(400, no), Err(ApiError::Rejected(why)) if why == "chat not found")
        );
        assert!(matches!(understood(502, "<html>"), Err(ApiError::Unreachable(_))));
        assert!(matches!(understood(200, "nonsense"), Err(ApiError::Unreachable(_))));
    }
}
