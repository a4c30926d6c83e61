//! What a session says, for people who look on: the end of what it has said before they came, and then all of it, without
//! secrets. Nobody is waited for; who is too slow misses some of it, and is told so.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bstr::ByteSlice;
use exacta::Stream;
use exacta::redaction::{Redactor, Rules};
use serde_json::{Map, Value, json};
use tokio::sync::broadcast::Receiver;

use super::bell::{Bell, Event};
use super::running::Told;

/// So much of what was said is still there for whoever comes.
const RECENT: usize = 64 << 10;

/// What is told of how something has ended; the history has the rest.
const ENDED: &[&str] =
    &["correlation_id", "decision", "duration_ms", "exit_code", "timed_out", "truncated", "undo"];

pub struct Watched {
    bell: Bell,
    state: Mutex<State>,
}

struct State {
    rules: Rules,
    /// One for each stream, while something runs.
    redactors: [Redactor; 2],
    recent: VecDeque<u8>,
}

impl Watched {
    pub fn new(rules: &Rules) -> Self {
        let state =
            State { rules: rules.clone(), redactors: redactors(rules), recent: VecDeque::new() };
        Watched { bell: Bell::new(), state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What there is to see of it now, and what comes.
    pub fn watch(&self) -> (Vec<Event>, Receiver<Event>) {
        let state = self.state();
        let before: Vec<u8> = state.recent.iter().copied().collect();
        let before = (!before.is_empty()).then(|| output(Stream::Output, &before));
        (before.into_iter().collect(), self.bell.listen())
    }

    pub fn tell(&self, told: &Told<'_>, command: &str) {
        match told {
            Told::Started { id } => {
                let mut state = self.state();
                state.redactors = redactors(&state.rules);
                let command = state.rules.redact_text(command).0;
                self.bell.ring("started", json!({ "id": id, "command": command }));
            }
            Told::Output { stream, data } => {
                let mut state = self.state();
                let mut decided = Vec::new();
                state.redactors[index(*stream)].push(data, &mut decided);
                self.say(&mut state, *stream, &decided);
            }
            // Agents look on as well.
            Told::Approval(pending) => {
                self.bell.ring("approval", json!((*pending).clone().for_asker()));
            }
        }
    }

    pub fn ended(&self, report: &Value) {
        let mut state = self.state();
        for stream in [Stream::Output, Stream::Errors] {
            let mut rest = Vec::new();
            state.redactors[index(stream)].finish(&mut rest);
            self.say(&mut state, stream, &rest);
        }
        // What it was and what it has written was told already.
        let mut ended: Map<String, Value> =
            ENDED.iter().map(|name| ((*name).to_owned(), report[name].clone())).collect();
        let reason = report["reason"].as_str().map(|reason| state.rules.redact_text(reason).0);
        ended.insert("reason".into(), json!(reason));
        self.bell.ring("ended", Value::Object(ended));
    }

    fn say(&self, state: &mut State, stream: Stream, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        state.recent.extend(bytes);
        let surplus = state.recent.len().saturating_sub(RECENT);
        state.recent.drain(..surplus);
        if self.bell.is_heard() {
            let Event { kind, data } = output(stream, bytes);
            self.bell.ring(kind, data);
        }
    }
}

fn redactors(rules: &Rules) -> [Redactor; 2] {
    [Redactor::new(rules.clone()), Redactor::new(rules.clone())]
}

fn index(stream: Stream) -> usize {
    usize::from(stream == Stream::Errors)
}

fn output(stream: Stream, bytes: &[u8]) -> Event {
    let data = json!({ "stream": stream.name(), "text": bytes.to_str_lossy() });
    Event { kind: "output", data }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(receiver: &mut Receiver<Event>) -> Vec<(&'static str, Value)> {
        let mut all = Vec::new();
        while let Ok(event) = receiver.try_recv() {
            all.push((event.kind, event.data));
        }
        all
    }

    #[test]
    fn who_comes_late_sees_the_end_of_what_was_said() {
        let watched = Watched::new(&Rules::new());
        let (before, mut early) = watched.watch();
        assert!(before.is_empty());
        watched.tell(&Told::Started { id: "1" }, "run PASSWORD=hunter2-9Qz8 x");
        watched.tell(&Told::Output { stream: Stream::Errors, data: b"failed\n" }, "");
        let line = b"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI9K7MDENGbPxRfiCYzXc3pQ5LtHd\n";
        watched.tell(&Told::Output { stream: Stream::Output, data: line }, "");
        watched.ended(&json!({ "exit_code": 0, "stdout": "x" }));
        let all = heard(&mut early);
        assert_eq!(all.first().map(|(kind, _)| *kind), Some("started"));
        let ended = all.last().filter(|(kind, _)| *kind == "ended").map(|(_, data)| data);
        let ended = ended.expect("its end");
        assert_eq!((&ended["exit_code"], ended.get("stdout")), (&json!(0), None));
        let text = format!("{all:?}");
        assert!(text.contains("failed") && text.contains("[REDACTED]"), "{text}");
        assert!(!text.contains("wJalr"), "{text}");
        let (before, _) = watched.watch();
        let before = format!("{before:?}");
        assert!(before.contains("failed") && !before.contains("wJalr"), "{before}");
    }
}
