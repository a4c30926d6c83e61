//! OpenTelemetry: a span for each request and each of its steps, as OTLP in JSON, handed to whoever carries them to the
//! operator's collector.
//!
//! Traces are for watching; the record is what counts. So nobody waits for them while a request runs, what is not carried
//! in time is dropped, and at the end of a process there is a moment more. Commands are in there without their secrets,
//! output never is.

use std::fmt::Debug;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use bstr::ByteSlice as _;
use exacta_store::audit::{Entry, Outcome, Step, hex};
use serde_json::{Value, json};

/// So many wait; more are dropped.
const WAITING: usize = 256;

/// Brings spans to a collector.
pub trait Carrier: Debug + Send + Sync {
    /// The body of one request to it. What is not taken is lost: a collector that is not there is the operator's to notice.
    fn carry(&self, spans: String);

    /// So long somebody waits for what is still on the way when nothing follows.
    fn patience(&self) -> Duration;
}

pub(super) struct Traces {
    sender: Mutex<Option<SyncSender<Value>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    patience: Duration,
}

impl Traces {
    /// `None`: there can be no thread for it.
    pub(super) fn by(carrier: &Arc<dyn Carrier>) -> Option<Self> {
        let (sender, receiver) = sync_channel(WAITING);
        let patience = carrier.patience();
        let carrier = Arc::clone(carrier);
        let name = thread::Builder::new().name("traces".into());
        let thread = name.spawn(move || pass_on(&*carrier, &receiver)).ok()?;
        let (sender, thread) = (Mutex::new(Some(sender)), Mutex::new(Some(thread)));
        Some(Traces { sender, thread, patience })
    }

    pub(super) fn add(&self, entry: &Entry) {
        let Entry::Outcome(outcome) = entry else { return };
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = sender.as_ref() {
            // Nobody waits for a collector.
            let _dropped = sender.try_send(spans(outcome));
        }
    }

    /// Nothing follows: what waits is sent, if that does not take long.
    pub(super) fn close(&self) {
        drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let started = Instant::now();
        while thread.as_ref().is_some_and(|thread| !thread.is_finished())
            && started.elapsed() < self.patience
        {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn pass_on(carrier: &dyn Carrier, receiver: &Receiver<Value>) {
    while let Ok(spans) = receiver.recv() {
        carrier.carry(spans.to_string());
    }
}

fn spans(outcome: &Outcome) -> Value {
    let trace = hex(&outcome.asked.id);
    let start = outcome.asked.time.unsigned_abs();
    let span =
        |number: u64, name: String, from: u64, took: u64, failed: bool, attributes: Value| {
            let own = hex(&(number.wrapping_add(1)).to_be_bytes());
            let parent = if number == 0 { String::new() } else { hex(&1_u64.to_be_bytes()) };
            json!({
                "traceId": trace,
                "spanId": own,
                "parentSpanId": parent,
                "name": name,
                "kind": 1,
                "startTimeUnixNano": (from * 1_000).to_string(),
                "endTimeUnixNano": ((from + took) * 1_000).to_string(),
                "attributes": attributes,
                "status": { "code": if failed { 2 } else { 1 } },
            })
        };
    let failed = outcome.exit != 0;
    let mut all =
        vec![span(0, "request".into(), start, outcome.duration, failed, of_request(outcome))];
    // Only how long each took is known, not when: they follow each other here, also those that ran at once.
    let mut at = start;
    for (number, step) in (1..).zip(&outcome.steps) {
        let name = step.argv.first().map(|name| name.to_str_lossy().into_owned());
        let name = name.unwrap_or_default();
        all.push(span(number, name, at, step.duration, step.exit != 0, of_step(step)));
        at += step.duration;
    }
    let service =
        json!([text("service.name", "exacta"), text("service.version", env!("CARGO_PKG_VERSION"))]);
    json!({ "resourceSpans": [{
        "resource": { "attributes": service },
        "scopeSpans": [{ "scope": { "name": "exacta" }, "spans": all }],
    }]})
}

fn of_request(outcome: &Outcome) -> Value {
    let asked = &outcome.asked;
    json!([
        text("exacta.command", &asked.command.to_str_lossy()),
        text("exacta.working_dir", &asked.directory.to_str_lossy()),
        text("exacta.decision", outcome.ruling.verdict.name()),
        text("exacta.rule", &outcome.ruling.rule),
        text("exacta.isolation", &outcome.isolation.level),
        text("session.id", &asked.session),
        text("exacta.agent", &asked.agent),
        number("process.exit.code", i64::from(outcome.exit)),
        number("exacta.cpu_us", outcome.processor_time as i64),
        number("exacta.memory_peak_bytes", outcome.memory_peak as i64),
    ])
}

fn of_step(step: &Step) -> Value {
    let words = bstr::join(" ", &step.argv);
    json!([
        text("exacta.argv", &words.to_str_lossy()),
        text("exacta.rule", step.rule.as_deref().unwrap_or_default()),
        number("process.exit.code", i64::from(step.exit)),
        json!({ "key": "exacta.builtin", "value": { "boolValue": step.builtin } }),
    ])
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn number(key: &str, value: i64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_for_the_request_and_for_each_step() {
        let step = Step { argv: vec!["ls".into(), "-l".into()], exit: 1, ..Step::default() };
        let outcome = Outcome { steps: vec![step.clone(), step], ..Outcome::default() };
        let all = spans(&outcome);
        let all = all["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().cloned();
        let all = all.expect("a list");
        assert_eq!(all.len(), 3);
        assert_eq!(all[1]["parentSpanId"], all[0]["spanId"]);
        assert_eq!((&all[2]["name"], &all[2]["status"]["code"]), (&json!("ls"), &json!(2)));
        assert_ne!(all[1]["spanId"], all[2]["spanId"]);
    }
}
