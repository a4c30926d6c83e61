//! `POST /chat/completions` as `OpenAI` has it, and the many servers that speak like it. The plan is the content of the answer,
//! held to the schema by the server where it can do that, and by the prompt where it cannot.

use std::sync::atomic::{AtomicBool, Ordering};

use exacta::tasks::PlanningFailed;
use exacta::tasks::schema::{schema, strict_schema};
use serde_json::{Value, json};

use super::endpoint::{Answered, Endpoint, Flow, Key, Transcript};
use super::trouble::{self, Said};
use super::{Asking, Backend, Question, failure, prompt};

pub struct OpenAi {
    endpoint: Endpoint,
    model: String,
    variable: String,
    /// Until it says otherwise.
    knows_schemas: AtomicBool,
}

impl OpenAi {
    pub fn new(url: &str, model: &str, key: Key) -> Result<Self, PlanningFailed> {
        let mut endpoint = Endpoint::new(format!("{url}/chat/completions"), &key)?;
        if let Some(value) = &key.value {
            endpoint = endpoint.with_header("authorization", format!("Bearer {value}"));
        }
        Ok(OpenAi {
            endpoint,
            model: model.to_owned(),
            variable: key.variable,
            knows_schemas: AtomicBool::new(true),
        })
    }

    fn body(&self, question: &Question, format: Format) -> Value {
        let (instruction, response_format) = match format {
            Format::Schema => (
                prompt::instruction(None),
                json!({
                    "type": "json_schema",
                    "json_schema": { "name": "plan", "strict": true, "schema": strict_schema() },
                }),
            ),
            Format::Object => {
                (prompt::instruction(Some(&schema())), json!({ "type": "json_object" }))
            }
        };
        let mut messages = vec![
            json!({ "role": "system", "content": instruction }),
            json!({ "role": "user", "content": prompt::request(question) }),
        ];
        for repair in &question.repairs {
            messages.push(json!({ "role": "assistant", "content": repair.answer }));
            messages.push(json!({ "role": "user", "content": prompt::again(&repair.problem) }));
        }
        json!({
            "model": self.model,
            "messages": messages,
            "response_format": response_format,
            "stream": true,
        })
    }
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Schema,
    Object,
}

impl Backend for OpenAi {
    fn whom(&self) -> String {
        format!("{} at {}", self.model, self.endpoint.host)
    }

    fn end(&self) {
        self.endpoint.end();
    }

    fn ask(&self, question: &Question, asking: &Asking<'_>) -> Result<String, PlanningFailed> {
        loop {
            let schemas = self.knows_schemas.load(Ordering::Relaxed);
            let format = if schemas { Format::Schema } else { Format::Object };
            match self.endpoint.post(&self.body(question, format), asking)? {
                Answered::Well(body, kind) => {
                    let mut heard = Heard::new(&self.endpoint.host);
                    self.endpoint.listen(body, kind, asking, &mut heard)?;
                    return heard.answer();
                }
                // Whatever else it may mean shows when it is asked again, which is done once.
                Answered::Badly { status: 400 | 422, .. } if schemas => {
                    self.knows_schemas.store(false, Ordering::Relaxed);
                }
                Answered::Badly { status, said } => {
                    let host = &self.endpoint.host;
                    return Err(trouble::rejected(
                        host,
                        &self.model,
                        &self.variable,
                        status,
                        &said,
                    ));
                }
            }
        }
    }
}

#[derive(Default)]
struct Heard {
    host: String,
    content: String,
    refusal: String,
    finish: Option<String>,
    done: bool,
}

impl Heard {
    fn new(host: &str) -> Self {
        Heard { host: host.to_owned(), ..Heard::default() }
    }

    /// Of a message, or of the part of one.
    fn take(&mut self, answer: &Value, part: &str) -> Result<(), PlanningFailed> {
        if answer.get("error").is_some_and(|error| !error.is_null()) {
            return Err(trouble::interrupted(&self.host, &Said::of_value(answer)));
        }
        let Some(choice) = answer.pointer("/choices/0") else { return Ok(()) };
        let text = |field: &str| choice.get(part)?.get(field)?.as_str();
        self.content.push_str(text("content").unwrap_or_default());
        self.refusal.push_str(text("refusal").unwrap_or_default());
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(reason.to_owned());
        }
        Ok(())
    }

    fn answer(self) -> Result<String, PlanningFailed> {
        if !self.refusal.trim().is_empty() {
            return Err(failure::refusal(&self.refusal));
        }
        match self.finish.as_deref() {
            Some("length") => Err(failure::cut()),
            Some("content_filter") => Err(failure::refusal("its filter stopped the answer")),
            None if !self.done => Err(failure::broken_off(&self.host)),
            _ => Ok(self.content),
        }
    }
}

impl Transcript for Heard {
    fn event(&mut self, data: &str) -> Result<Flow, PlanningFailed> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return Ok(Flow::Ended);
        }
        // What is no JSON is an event that was cut in two by the end.
        let Ok(chunk) = serde_json::from_str::<Value>(data) else { return Ok(Flow::More) };
        self.take(&chunk, "delta")?;
        Ok(Flow::More)
    }

    fn whole(&mut self, answer: &Value) -> Result<(), PlanningFailed> {
        self.done = answer.pointer("/choices/0/message").is_some();
        self.take(answer, "message")
    }

    fn length(&self) -> usize {
        self.content.len() + self.refusal.len()
    }
}
