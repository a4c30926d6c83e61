//! A request for programs: every field of `run --json` that was recorded, and more.

use bstr::{BString, ByteSlice};
use exacta::audit::store::{
    Approval, Asked, Connection, Exec, Outcome, Output, Reader, Recorded, Refusal, Ruling, Start,
    Step,
};
use serde_json::{Value, json};

pub fn request(recorded: &Recorded) -> Value {
    let (asked, ruling) = (recorded.asked(), recorded.ruling());
    let mut value = json!({
        "schema_version": 1,
        "number": recorded.number,
        "state": state(recorded),
    });
    let parts = [asked.map(of_asked), ruling.map(of_ruling), Some(of_end(recorded))];
    for part in parts.into_iter().flatten() {
        if let (Value::Object(all), Value::Object(part)) = (&mut value, part) {
            all.extend(part);
        }
    }
    value
}

/// With all of its output that is kept.
pub fn whole(reader: &Reader, recorded: &Recorded) -> Value {
    let mut value = request(recorded);
    for (stream, name) in [(0, "stdout"), (1, "stderr")] {
        if let Ok(Some(bytes)) = reader.output(recorded, stream) {
            value[name] = exacta::report::without_escapes(&bytes).into();
        }
    }
    value
}

/// `ended`, or that its exacta runs still, or has died.
pub fn state(recorded: &Recorded) -> &'static str {
    if recorded.outcome.is_some() { "ended" } else { "no outcome" }
}

fn of_asked(asked: &Asked) -> Value {
    json!({
        "correlation_id": uuid::Uuid::from_bytes(asked.id).to_string(),
        "session": &*asked.session,
        "agent": &*asked.agent,
        "profile": &*asked.profile,
        "command": asked.command.to_str_lossy(),
        "args": exacta::report::words_of_simple_command(asked.command.as_bstr()),
        "working_dir": asked.directory.to_str_lossy(),
        "timestamp": exacta::report::moment(asked.time),
    })
}

fn of_ruling(ruling: &Ruling) -> Value {
    json!({
        "decision": ruling.verdict.name(),
        "policy_rule_matched": ruling.rule,
        "rule_source": some(&ruling.source),
        "reason": some(&ruling.reason),
        "approval": ruling.approval.as_ref().map(of_approval),
    })
}

fn of_approval(approval: &Approval) -> Value {
    json!({ "id": approval.id, "by": some(&approval.by), "scope": approval.scope })
}

fn of_end(recorded: &Recorded) -> Value {
    let starts = recorded.starts.iter().map(of_start).collect::<Vec<_>>();
    let Some(outcome) = &recorded.outcome else {
        return json!({ "exit_code": Value::Null, "starts": starts });
    };
    json!({
        "exit_code": outcome.exit,
        "signal": outcome.signal,
        "stopped": some(&outcome.stopped),
        "timed_out": outcome.timed_out,
        "duration_ms": milliseconds(outcome.duration),
        "resource_usage": {
            "cpu_ms": milliseconds(outcome.processor_time),
            "memory_peak_bytes": outcome.memory_peak,
        },
        "isolation": {
            "level": outcome.isolation.level,
            "walls": outcome.isolation.walls,
            "missing": outcome.isolation.missing,
        },
        "limits_hit": outcome.limits_hit,
        "undo": outcome.undo.as_ref().map(|undo| json!({ "id": undo.id, "strategy": undo.strategy })),
        "stdout": shown(&outcome.stdout),
        "stderr": shown(&outcome.stderr),
        "stdout_bytes": outcome.stdout.total,
        "stderr_bytes": outcome.stderr.total,
        "redacted": redacted(outcome),
        "steps": outcome.steps.iter().map(of_step).collect::<Vec<_>>(),
        "steps_left_out": outcome.steps_left_out,
        "refusals": outcome.refusals.iter().map(of_refusal).collect::<Vec<_>>(),
        "execs": outcome.execs.iter().map(of_exec).collect::<Vec<_>>(),
        "connections": outcome.connections.iter().map(of_connection).collect::<Vec<_>>(),
        "starts": starts,
    })
}

fn redacted(outcome: &Outcome) -> Value {
    let kinds = outcome.redacted.iter().map(|(kind, count)| (kind.clone(), json!(count)));
    Value::Object(kinds.collect())
}

fn of_start(start: &Start) -> Value {
    json!({
        "argv": words(&start.argv),
        "working_dir": start.directory.to_str_lossy(),
        "decision": start.ruling.verdict.name(),
        "rule": start.ruling.rule,
        "rule_source": some(&start.ruling.source),
    })
}

fn of_step(step: &Step) -> Value {
    json!({
        "argv": words(&step.argv),
        "rule": step.rule.as_deref(),
        "exit_code": step.exit,
        "builtin": step.builtin,
        "duration_ms": milliseconds(step.duration),
    })
}

fn of_refusal(refusal: &Refusal) -> Value {
    let mut value = of_ruling(&refusal.ruling);
    value["argv"] = json!(words(&refusal.argv));
    value
}

fn of_exec(exec: &Exec) -> Value {
    json!({ "path": exec.path.to_str_lossy(), "argv": words(&exec.argv), "pid": exec.process })
}

fn of_connection(connection: &Connection) -> Value {
    json!({
        "host": connection.host,
        "port": connection.port,
        "address": some(&connection.address),
        "protocol": connection.protocol,
        "verdict": connection.fate,
        "reason": some(&connection.reason),
        "timestamp": exacta::report::moment(connection.time),
        "duration_ms": milliseconds(connection.duration),
        "sent_bytes": connection.sent,
        "received_bytes": connection.received,
    })
}

/// Head and tail, with a mark where something is missing between them.
pub fn shown(output: &Output) -> String {
    let mut bytes = output.head.to_vec();
    if output.kept.is_some() {
        let shown = (output.head.len() + output.tail.len()) as u64;
        let left_out = output.total.saturating_sub(shown);
        bytes.extend_from_slice(format!("\n[… {left_out} bytes left out …]\n").as_bytes());
        bytes.extend_from_slice(&output.tail);
    }
    exacta::report::without_escapes(&bytes)
}

pub fn words(argv: &[BString]) -> Vec<String> {
    argv.iter().map(|word| word.to_str_lossy().into_owned()).collect()
}

pub fn milliseconds(micros: u64) -> f64 {
    micros as f64 / 1000.0
}

fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}
