//! A request in the formats that other systems read: one line each.

use bstr::ByteSlice;
use exacta::audit::store::{Asked, Recorded, Ruling, Verdict};
use serde_json::{Value, json};

use super::json;
use crate::invocation::Format;

const COLUMNS: [&str; 15] = [
    "number",
    "correlation_id",
    "timestamp",
    "session",
    "agent",
    "working_dir",
    "command",
    "decision",
    "rule",
    "rule_source",
    "exit_code",
    "duration_ms",
    "cpu_ms",
    "memory_peak_bytes",
    "undo_id",
];

pub fn heading(format: Format) -> String {
    match format {
        Format::Csv => COLUMNS.join(",") + "\r\n",
        Format::Jsonl | Format::Cef | Format::Ocsf => String::new(),
    }
}

pub fn line(format: Format, recorded: &Recorded) -> String {
    match format {
        Format::Jsonl => format!("{}\n", json::request(recorded)),
        Format::Csv => csv(recorded),
        Format::Cef => cef(recorded),
        Format::Ocsf => format!("{}\n", ocsf(recorded)),
    }
}

/// What every format has.
struct Common<'a> {
    asked: Asked,
    ruling: Ruling,
    recorded: &'a Recorded,
}

impl<'a> Common<'a> {
    fn of(recorded: &'a Recorded) -> Self {
        let asked = recorded.asked().cloned().unwrap_or_default();
        Common { asked, ruling: recorded.ruling().cloned().unwrap_or_default(), recorded }
    }

    fn id(&self) -> String {
        uuid::Uuid::from_bytes(self.asked.id).to_string()
    }

    fn command(&self) -> String {
        self.asked.command.to_str_lossy().into_owned()
    }

    fn exit(&self) -> Option<i32> {
        self.recorded.outcome.as_ref().map(|outcome| outcome.exit)
    }
}

/// RFC 4180.
fn csv(recorded: &Recorded) -> String {
    let common = Common::of(recorded);
    let outcome = recorded.outcome.as_ref();
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let undo = outcome.and_then(|outcome| outcome.undo.as_ref()).map(|undo| undo.id.to_string());
    let cells = [
        recorded.number.to_string(),
        common.id(),
        exacta::report::moment(common.asked.time),
        common.asked.session.to_string(),
        common.asked.agent.to_string(),
        common.asked.directory.to_str_lossy().into_owned(),
        common.command(),
        common.ruling.verdict.name().to_owned(),
        common.ruling.rule.clone(),
        common.ruling.source.clone(),
        common.exit().map(|exit| exit.to_string()).unwrap_or_default(),
        number(outcome.map(|outcome| json::milliseconds(outcome.duration))),
        number(outcome.map(|outcome| json::milliseconds(outcome.processor_time))),
        outcome.map(|outcome| outcome.memory_peak.to_string()).unwrap_or_default(),
        undo.unwrap_or_default(),
    ];
    cells.map(|cell| quoted(&cell)).join(",") + "\r\n"
}

/// A spreadsheet must not take a command for a formula.
fn quoted(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let cell = if formula { format!("'{cell}") } else { cell.to_owned() };
    if cell.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}

/// `ArcSight`: Common Event Format, version 0.
fn cef(recorded: &Recorded) -> String {
    let common = Common::of(recorded);
    let severity = match common.ruling.verdict {
        Verdict::Allow => 1,
        Verdict::Confirm => 5,
        Verdict::Deny => 8,
    };
    let (verdict, version) = (common.ruling.verdict.name(), env!("CARGO_PKG_VERSION"));
    let rule = header(&common.ruling.rule);
    let mut line = format!("CEF:0|exacta|exacta|{version}|{verdict}|{rule}|{severity}|");
    let fields = [
        ("rt", (common.asked.time / 1_000).to_string()),
        ("externalId", common.id()),
        ("suser", common.asked.agent.to_string()),
        ("act", verdict.to_owned()),
        (
            "outcome",
            common
                .exit()
                .map_or("unknown", |exit| if exit == 0 { "success" } else { "failure" })
                .to_owned(),
        ),
        ("reason", common.ruling.reason.clone()),
        ("cs1Label", "command".to_owned()),
        ("cs1", common.command()),
        ("cs2Label", "session".to_owned()),
        ("cs2", common.asked.session.to_string()),
        ("cs3Label", "directory".to_owned()),
        ("cs3", common.asked.directory.to_str_lossy().into_owned()),
        ("cn1Label", "exitCode".to_owned()),
        ("cn1", common.exit().map(|exit| exit.to_string()).unwrap_or_default()),
    ];
    let filled = fields.iter().filter(|(_, value)| !value.is_empty());
    let fields: Vec<String> =
        filled.map(|(name, value)| format!("{name}={}", extension(value))).collect();
    line.push_str(&fields.join(" "));
    line.push('\n');
    line
}

fn header(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace(['\n', '\r'], " ")
}

fn extension(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('=', "\\=");
    text.replace('\n', "\\n").replace('\r', "\\r")
}

/// Open Cybersecurity Schema Framework 1.3: process activity, launch.
fn ocsf(recorded: &Recorded) -> Value {
    let common = Common::of(recorded);
    // What nobody has approved was not run.
    let unapproved = common.ruling.verdict == Verdict::Confirm && common.exit() == Some(126);
    let blocked = common.ruling.verdict == Verdict::Deny || unapproved;
    let (disposition, name) = if blocked { (2, "Blocked") } else { (1, "Allowed") };
    let status = match common.exit() {
        Some(0) => (1, "Success"),
        Some(_) => (2, "Failure"),
        None => (0, "Unknown"),
    };
    let outcome = recorded.outcome.as_ref();
    json!({
        "class_uid": 1007,
        "class_name": "Process Activity",
        "category_uid": 1,
        "category_name": "System Activity",
        "activity_id": 1,
        "activity_name": "Launch",
        "type_uid": 100_701,
        "severity_id": if disposition == 2 { 3 } else { 1 },
        "time": common.asked.time / 1_000,
        "duration": outcome.map(|outcome| outcome.duration / 1_000),
        "status_id": status.0,
        "status": status.1,
        "status_code": common.exit().map(|exit| exit.to_string()),
        "disposition_id": disposition,
        "disposition": name,
        "actor": {
            "app_name": "exacta",
            "user": { "name": &*common.asked.agent, "type_id": 0 },
            "session": { "uid": &*common.asked.session },
        },
        "device": { "type_id": 0, "hostname": Value::Null },
        "process": {
            "cmd_line": common.command(),
            "working_directory": common.asked.directory.to_str_lossy(),
        },
        "policy": { "name": common.ruling.rule, "desc": common.ruling.reason, "uid": common.ruling.source },
        "exit_code": common.exit(),
        "metadata": {
            "version": "1.3.0",
            "product": { "name": "exacta", "vendor_name": "exacta", "version": env!("CARGO_PKG_VERSION") },
            "correlation_uid": common.id(),
            "uid": recorded.number.to_string(),
        },
        "unmapped": json::request(recorded),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_its_field() {
        assert_eq!(quoted("a\"b,c"), "\"a\"\"b,c\"");
        assert_eq!(quoted("=1+1"), "'=1+1");
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(header("a|b\\c\nd"), "a\\|b\\\\c d");
        assert_eq!(extension("a=b\nc\\"), "a\\=b\\nc\\\\");
    }
}
