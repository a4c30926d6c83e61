//! Anthropic's `POST /v1/messages`. The plan is the input of a tool that the model has to use: its schema is that of plans.

use exacta::tasks::PlanningFailed;
use exacta::tasks::schema::schema;
use serde_json::{Value, json};

use super::endpoint::{Answered, Endpoint, Flow, Key, Transcript};
use super::trouble::{self, Said};
use super::{Asking, Backend, Question, failure, prompt};

const VERSION: &str = "2023-06-01";
const TOOL: &str = "submit_plan";
/// The API wants to be told. A plan of this length is longer than anybody would read.
const MOST_TOKENS: u32 = 16_000;

pub struct Anthropic {
    endpoint: Endpoint,
    model: String,
    variable: String,
}

impl Anthropic {
    pub fn new(url: &str, model: &str, key: Key) -> Result<Self, PlanningFailed> {
        // Others' addresses end with the version.
        let base = url.trim_end_matches('/').trim_end_matches("/v1");
        let mut endpoint = Endpoint::new(format!("{base}/v1/messages"), &key)?
            .with_header("anthropic-version", VERSION);
        if let Some(value) = &key.value {
            endpoint = endpoint.with_header("x-api-key", value.clone());
        }
        Ok(Anthropic { endpoint, model: model.to_owned(), variable: key.variable })
    }

    fn body(&self, question: &Question) -> Value {
        let mut messages = vec![json!({ "role": "user", "content": prompt::request(question) })];
        for repair in &question.repairs {
            // An empty message is refused.
            let answer = if repair.answer.trim().is_empty() { "(nothing)" } else { &repair.answer };
            messages.push(json!({ "role": "assistant", "content": answer }));
            messages.push(json!({ "role": "user", "content": prompt::again(&repair.problem) }));
        }
        json!({
            "model": self.model,
            "max_tokens": MOST_TOKENS,
            "system": prompt::instruction(None),
            "messages": messages,
            "tools": [{
                "name": TOOL,
                "description": "Hands in the plan.",
                "input_schema": schema(),
            }],
            "tool_choice": { "type": "tool", "name": TOOL, "disable_parallel_tool_use": true },
            "stream": true,
        })
    }
}

impl Backend for Anthropic {
    fn whom(&self) -> String {
        format!("{} at {}", self.model, self.endpoint.host)
    }

    fn end(&self) {
        self.endpoint.end();
    }

    fn ask(&self, question: &Question, asking: &Asking<'_>) -> Result<String, PlanningFailed> {
        match self.endpoint.post(&self.body(question), asking)? {
            Answered::Well(body, kind) => {
                let mut heard = Heard::new(&self.endpoint.host);
                self.endpoint.listen(body, kind, asking, &mut heard)?;
                heard.answer()
            }
            Answered::Badly { status, said } => {
                let host = &self.endpoint.host;
                Err(trouble::rejected(host, &self.model, &self.variable, status, &said))
            }
        }
    }
}

#[derive(Default)]
struct Heard {
    host: String,
    /// The input of the tool, in pieces of JSON.
    input: String,
    /// What it says beside it.
    text: String,
    stop: Option<String>,
    complete: bool,
}

impl Heard {
    fn new(host: &str) -> Self {
        Heard { host: host.to_owned(), ..Heard::default() }
    }

    fn delta(&mut self, delta: &Value) {
        let text = |field: &str| delta.get(field).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "input_json_delta" => self.input.push_str(text("partial_json")),
            "text_delta" => self.text.push_str(text("text")),
            // Thoughts and signatures.
            _ => {}
        }
    }

    fn stopped(&mut self, place: Option<&Value>) {
        if let Some(reason) = place.and_then(Value::as_str) {
            self.stop = Some(reason.to_owned());
        }
    }

    fn answer(self) -> Result<String, PlanningFailed> {
        match self.stop.as_deref() {
            Some("refusal") => Err(failure::refusal(&self.text)),
            Some("max_tokens" | "model_context_window_exceeded") => Err(failure::cut()),
            _ if !self.complete => Err(failure::broken_off(&self.host)),
            // A server that only speaks like it may not know that the tool has to be used.
            _ if self.input.trim().is_empty() => Ok(self.text),
            _ => Ok(self.input),
        }
    }
}

impl Transcript for Heard {
    fn event(&mut self, data: &str) -> Result<Flow, PlanningFailed> {
        // What is no JSON is an event that was cut in two by the end.
        let Ok(event) = serde_json::from_str::<Value>(data) else { return Ok(Flow::More) };
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "error" => return Err(trouble::interrupted(&self.host, &Said::of_value(&event))),
            "content_block_delta" => self.delta(event.get("delta").unwrap_or(&Value::Null)),
            "message_delta" => self.stopped(event.pointer("/delta/stop_reason")),
            "message_stop" => {
                self.complete = true;
                return Ok(Flow::Ended);
            }
            // message_start, content_block_start, content_block_stop, ping, and what may come in time.
            _ => {}
        }
        Ok(Flow::More)
    }

    fn whole(&mut self, answer: &Value) -> Result<(), PlanningFailed> {
        if answer.get("type").and_then(Value::as_str) == Some("error") {
            return Err(trouble::interrupted(&self.host, &Said::of_value(answer)));
        }
        let blocks = answer.get("content").and_then(Value::as_array);
        self.complete = blocks.is_some();
        for block in blocks.into_iter().flatten() {
            match block.get("type").and_then(Value::as_str) {
                Some("tool_use") => {
                    self.input = block.get("input").unwrap_or(&Value::Null).to_string();
                }
                Some("text") => {
                    self.text
                        .push_str(block.get("text").and_then(Value::as_str).unwrap_or_default());
                }
                _ => {}
            }
        }
        self.stopped(answer.get("stop_reason"));
        Ok(())
    }

    fn length(&self) -> usize {
        self.input.len() + self.text.len()
    }
}
