//! OpenTelemetry: a span for each request and each of its steps, sent as JSON over HTTP to the operator's collector.
//!
//! Traces are for watching; the record is what counts. So nobody waits for them while a request runs, what the collector
//! does not take in time is dropped, and at the end of a process it gets a moment more. Commands are in there
//! without their secrets, output never is. Only `http://`: a collector is on this machine or behind a proxy of the operator's.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use bstr::ByteSlice as _;
use exacta_store::audit::{Entry, Outcome, Step, hex};
use serde_json::{Value, json};

/// So many wait; more are dropped.
const WAITING: usize = 256;
const PATIENCE: Duration = Duration::from_millis(500);

pub(super) struct Traces {
    sender: Mutex<Option<SyncSender<Value>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Where they go.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Collector {
    /// Host and port.
    authority: String,
    path: String,
}

/// Why nothing can be sent to this address, and what to do about it. There is no TLS in here: it would be the largest
/// dependency, for what a collector on the same machine does better.
pub fn problem(endpoint: &str) -> Option<String> {
    if Collector::of(endpoint).is_some() {
        return None;
    }
    let why = if endpoint.starts_with("https://") {
        "traces are sent as plain HTTP only"
    } else {
        "that is no address like http://localhost:4318"
    };
    Some(format!(
        "no traces are sent to OTEL_EXPORTER_OTLP_ENDPOINT={endpoint}: {why}; run an OpenTelemetry collector on this machine \
         that passes them on, and set it to http://localhost:4318 for exacta"
    ))
}

impl Traces {
    /// `None`: that is no place that can be reached.
    pub(super) fn to(endpoint: &str) -> Option<Self> {
        let collector = Collector::of(endpoint)?;
        let (sender, receiver) = sync_channel(WAITING);
        let name = thread::Builder::new().name("traces".into());
        let thread = name.spawn(move || pass_on(&collector, &receiver)).ok()?;
        Some(Traces { sender: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)) })
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
            && started.elapsed() < PATIENCE
        {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn pass_on(collector: &Collector, receiver: &Receiver<Value>) {
    while let Ok(spans) = receiver.recv() {
        // A collector that is not there is the operator's to notice.
        let _not_taken = collector.post(&spans.to_string());
    }
}

impl Collector {
    fn of(endpoint: &str) -> Option<Self> {
        let rest = endpoint.strip_prefix("http://")?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let plain = |text: &str| !text.contains(|c: char| c.is_whitespace() || c.is_control());
        if authority.is_empty() || !plain(rest) {
            return None;
        }
        let has_port =
            authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let authority = if has_port { authority.to_owned() } else { format!("{authority}:4318") };
        let path = path.trim_end_matches('/');
        let path =
            if path.is_empty() { "/v1/traces".to_owned() } else { format!("/{path}/v1/traces") };
        Some(Collector { authority, path })
    }

    fn post(&self, body: &str) -> io::Result<()> {
        let mut addresses = self.authority.to_socket_addrs()?;
        let address = addresses.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let Collector { authority, path } = self;
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        // So that it is not cut off before the collector has read it.
        let mut answer = [0; 256];
        stream.read(&mut answer).map(|_any| ())
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
    fn where_traces_go() {
        let of = |endpoint: &str| {
            Collector::of(endpoint).map(|it| format!("{}{}", it.authority, it.path))
        };
        assert_eq!(of("http://localhost:4318").as_deref(), Some("localhost:4318/v1/traces"));
        assert_eq!(of("http://otel/").as_deref(), Some("otel:4318/v1/traces"));
        assert_eq!(of("http://[::1]:1/a/").as_deref(), Some("[::1]:1/a/v1/traces"));
        for wrong in ["", "https://x", "http://", "localhost:4318", "http://a\r\nb"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

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

    #[test]
    fn an_address_that_cannot_be_reached_is_explained() {
        assert_eq!(problem("http://localhost:4318"), None);
        for endpoint in ["https://otlp.example", "localhost:4318", "http://"] {
            let said = problem(endpoint).unwrap_or_default();
            assert!(
                said.contains(endpoint) && said.contains("collector on this machine"),
                "{said}"
            );
        }
    }
}
