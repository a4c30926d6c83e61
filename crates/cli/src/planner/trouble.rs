//! What an endpoint's errors mean: statuses, the shapes in which they come, and the ways not to be reached.

use std::time::Duration;

use exacta::tasks::PlanningFailed;
use serde_json::Value;

use super::failure::{self, because, quoted};

/// Nobody waits longer because a server says so.
const LONGEST_PAUSE: u64 = 3_600;

/// What a server says about an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// Its code, else its type.
    pub code: String,
    pub message: String,
}

impl Said {
    /// In the shapes of `OpenAI`, of Anthropic, and of others who speak like them.
    pub fn of(text: &str) -> Self {
        match serde_json::from_str::<Value>(text) {
            Ok(value) => Said::of_value(&value),
            Err(_) => Said { code: String::new(), message: quoted(text) },
        }
    }

    pub fn of_value(value: &Value) -> Self {
        let error = value.get("error").unwrap_or(value);
        let text =
            |field: &str| error.get(field).and_then(Value::as_str).filter(|it| !it.is_empty());
        let message = error
            .as_str()
            .or_else(|| text("message"))
            .or_else(|| value.get("message").and_then(Value::as_str));
        let message = message.map_or_else(
            || value.get("detail").map(Value::to_string).unwrap_or_default(),
            str::to_owned,
        );
        let code = text("code").or_else(|| text("type")).unwrap_or_default().to_owned();
        Said { code, message: quoted(&message) }
    }

    fn words(&self) -> String {
        if self.message.is_empty() { String::new() } else { format!(": {}", self.message) }
    }
}

/// Another time it may go well.
pub fn passes(status: u16, said: &Said) -> bool {
    // A budget that is used up does not come back after a pause.
    let spent = ["insufficient_quota", "billing_error"].contains(&said.code.as_str());
    matches!(status, 408 | 429 | 500..=599) && status != 501 && !spent
}

/// `Retry-After` in seconds; as a date it is left alone.
pub fn wanted_pause(answer: &ureq::http::Response<ureq::Body>) -> Option<Duration> {
    let number = |name: &str| -> Option<f64> {
        answer.headers().get(name)?.to_str().ok()?.trim().parse().ok()
    };
    let seconds =
        number("retry-after-ms").map(|it| it / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok().map(|it| it.min(Duration::from_secs(LONGEST_PAUSE)))
}

pub fn redirected(host: &str, answer: &ureq::http::Response<ureq::Body>) -> PlanningFailed {
    let place = answer.headers().get("location").and_then(|it| it.to_str().ok());
    let place = quoted(place.unwrap_or("somewhere else"));
    because(
        format!("{host} points to {place}, and that is not followed: the key would go along"),
        "write the address that is meant into planner.url",
    )
}

/// After all tries, or when the pause that it wants is too long.
pub fn busy(host: &str, status: u16, said: &Said, wait: Option<Duration>) -> PlanningFailed {
    let words = said.words();
    let what = match status {
        429 => "wants to be asked less often",
        529 => "is overloaded",
        _ => "is not well",
    };
    let hint = match wait {
        Some(wait) => {
            format!("it wants a pause of {} s: try again then", wait.as_secs_f64().ceil())
        }
        None => "try again later".to_owned(),
    };
    because(format!("{host} {what} (status {status}){words}"), hint)
}

/// A status that is no success, and does not pass.
pub fn rejected(
    host: &str,
    model: &str,
    variable: &str,
    status: u16,
    said: &Said,
) -> PlanningFailed {
    let words = said.words();
    let named = if variable.is_empty() { "planner.key_env" } else { variable };
    if said.code == "insufficient_quota" || said.code == "billing_error" || status == 402 {
        return because(
            format!("the budget at {host} is used up{words}"),
            "look at your account there",
        );
    }
    let unknown_model = ["model_not_found", "not_found_error"].contains(&said.code.as_str());
    match status {
        401 | 403 => because(
            format!("{host} does not accept the key (status {status}){words}"),
            format!("is the right key in the variable {named}?"),
        ),
        _ if unknown_model => because(
            format!("{host} has no model {model}{words}"),
            "name one that it has with planner.model",
        ),
        404 => because(
            format!("{host} has no model {model}, or no such API at this address{words}"),
            "look at planner.model and planner.url",
        ),
        408 | 429 | 500..=599 => busy(host, status, said, None),
        _ => because(
            format!("{host} does not take the request (status {status}){words}"),
            "look at planner.url and planner.model",
        ),
    }
}

/// An error in the midst of an answer.
pub fn interrupted(host: &str, said: &Said) -> PlanningFailed {
    let status = match said.code.as_str() {
        "overloaded_error" => 529,
        "rate_limit_error" | "rate_limit_exceeded" => 429,
        _ => 500,
    };
    busy(host, status, said, None)
}

/// It was not reached, or no longer.
pub fn unreachable(host: &str, error: ureq::Error, limit: Duration) -> PlanningFailed {
    let text = quoted(&error.to_string());
    match error {
        ureq::Error::Timeout(_) => failure::timeout(limit),
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::Pem(_) => {
            untrusted(host, &text)
        }
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            untrusted(host, &text)
        }
        ureq::Error::Io(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::UnexpectedEof
                    | std::io::ErrorKind::ConnectionReset
                    | std::io::ErrorKind::BrokenPipe
            ) =>
        {
            failure::broken_off(host)
        }
        ureq::Error::HostNotFound => because(
            format!("there is no host {host}"),
            "look at planner.url, and whether this machine is online",
        ),
        _ => because(
            format!("{host} cannot be reached: {text}"),
            "look at planner.url, and whether the server is up",
        ),
    }
}

fn untrusted(host: &str, text: &str) -> PlanningFailed {
    because(
        format!("no secure connection to {host}: {text}"),
        "its certificate has to be one of a public authority; is planner.url right?",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shapes_of_errors() {
        for (text, code, message) in [
            (r#"{"error":{"message":"m","type":"t","param":null,"code":"c"}}"#, "c", "m"),
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                "overloaded_error",
                "Overloaded",
            ),
            (r#"{"error":"model 'x' not found"}"#, "", "model 'x' not found"),
            (
                r#"{"object":"error","message":"m","type":"BadRequestError","code":400}"#,
                "BadRequestError",
                "m",
            ),
            (r#"{"detail":[{"msg":"field required"}]}"#, "", r#"[{"msg":"field required"}]"#),
            ("<html>\n502</html>", "", "<html> 502</html>"),
            ("", "", ""),
            ("null", "", ""),
        ] {
            let expected = Said { code: code.to_owned(), message: message.to_owned() };
            assert_eq!(Said::of(text), expected, "{text}");
        }
    }

    #[test]
    fn what_passes() {
        let said = Said::default();
        for status in [408, 429, 500, 502, 503, 504, 529] {
            assert!(passes(status, &said), "{status}");
        }
        for status in [400, 401, 403, 404, 413, 422, 501] {
            assert!(!passes(status, &said), "{status}");
        }
        let spent = Said { code: "insufficient_quota".to_owned(), message: String::new() };
        assert!(!passes(429, &spent));
    }
}
