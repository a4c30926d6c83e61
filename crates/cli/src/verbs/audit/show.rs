//! One request, all of it.

use std::fmt::Write as _;

use bstr::{BString, ByteSlice};
use exacta::audit::store::{Asked, Outcome, Reader, Recorded, Ruling};
use exacta::records::Zone;

use super::history::duration;
use super::json;
use crate::exit::Exit;
use crate::invocation::Global;
use crate::output;
use crate::table::Look;
use crate::terminal::{visible, visible_line};

/// Longer output is shown by its head and tail.
const MOST_LINES: usize = 200;

pub fn perform(global: &Global, reader: &Reader, recorded: &Recorded, look: Look) -> Exit {
    if global.json {
        output::print(&format!("{}\n", json::whole(reader, recorded)));
        return Exit::Success;
    }
    let mut sheet = Sheet { look, text: String::new() };
    sheet.line("request", format!("{} ({})", recorded.number, json::state(recorded)));
    if let Some(asked) = recorded.asked() {
        asked_for(&mut sheet, asked);
    }
    if let Some(ruling) = recorded.ruling() {
        ruled(&mut sheet, ruling);
    }
    for start in &recorded.starts {
        sheet.line("started", format!("{} [{}]", typed(&start.argv), start.ruling.rule));
    }
    match &recorded.outcome {
        Some(outcome) => ended(&mut sheet, outcome, reader, recorded),
        None => sheet.line("outcome", "none: it runs still, or its exacta was killed".into()),
    }
    output::print(&sheet.text);
    Exit::Success
}

/// Headings on the left, in one colour.
struct Sheet {
    look: Look,
    text: String,
}

impl Sheet {
    fn line(&mut self, heading: &str, value: String) {
        let heading = self.look.heading(&format!("{heading:<12}"));
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{heading} {}", visible(&value));
    }

    fn block(&mut self, heading: &str, bytes: &[u8]) {
        let _ = writeln!(self.text, "{}", self.look.heading(heading));
        for line in bytes.lines().take(MOST_LINES) {
            let _ = writeln!(self.text, "  {}", visible_line(&line.to_str_lossy()));
        }
    }
}

fn asked_for(sheet: &mut Sheet, asked: &Asked) {
    let seconds = asked.time.div_euclid(1_000_000);
    sheet.line("command", asked.command.to_str_lossy().into_owned());
    sheet.line("directory", asked.directory.to_str_lossy().into_owned());
    sheet.line("time", Zone::of_operator().show(seconds));
    sheet.line("id", uuid::Uuid::from_bytes(asked.id).to_string());
    sheet.line("session", asked.session.to_string());
    if !asked.agent.is_empty() {
        sheet.line("agent", asked.agent.to_string());
    }
    sheet.line("profile", asked.profile.to_string());
}

fn ruled(sheet: &mut Sheet, ruling: &Ruling) {
    let at =
        if ruling.source.is_empty() { String::new() } else { format!(" at {}", ruling.source) };
    let Ruling { verdict, rule, reason, .. } = ruling;
    sheet.line("decision", format!("{} by {rule}{at}: {reason}", verdict.name()));
    if let Some(approval) = &ruling.approval {
        let id = approval.id.as_deref().unwrap_or("asked at once");
        let by = if approval.by.is_empty() { "nobody yet" } else { &approval.by };
        sheet.line("approval", format!("{} by {by} ({id})", approval.scope));
    }
}

fn ended(sheet: &mut Sheet, outcome: &Outcome, reader: &Reader, recorded: &Recorded) {
    let signal = outcome.signal.map(|signal| format!(", signal {signal}")).unwrap_or_default();
    sheet.line("exit", format!("{}{signal}", outcome.exit));
    if !outcome.stopped.is_empty() {
        sheet.line("stopped", outcome.stopped.clone());
    }
    let memory = outcome.memory_peak >> 10;
    let used = duration(outcome.processor_time);
    sheet.line(
        "time taken",
        format!("{}, processors {used}, memory {memory} KB", duration(outcome.duration)),
    );
    let walls = outcome.isolation.walls.join(", ");
    sheet.line("isolation", format!("{} {walls}", outcome.isolation.level));
    if !outcome.limits_hit.is_empty() {
        sheet.line("limits hit", outcome.limits_hit.join(", "));
    }
    if let Some(undo) = &outcome.undo {
        sheet.line("undo", format!("#{} ({})", undo.id, undo.strategy));
    }
    for step in &outcome.steps {
        let rule = step.rule.as_deref().map(|rule| format!(" [{rule}]")).unwrap_or_default();
        let took = duration(step.duration);
        sheet.line("step", format!("{}{rule}: {}, {took}", typed(&step.argv), step.exit));
    }
    if outcome.steps_left_out > 0 {
        sheet.line("step", format!("and {} more", outcome.steps_left_out));
    }
    for refusal in &outcome.refusals {
        sheet.line("refused", format!("{}: {}", typed(&refusal.argv), refusal.ruling.reason));
    }
    for exec in &outcome.execs {
        sheet.line("exec", format!("{} {}", exec.process, typed(&exec.argv)));
    }
    for it in &outcome.connections {
        let (sent, received) = (it.sent, it.received);
        sheet.line(
            "connection",
            format!("{}:{} {} ({sent} sent, {received} received)", it.host, it.port, it.fate),
        );
    }
    for (kind, count) in &outcome.redacted {
        sheet.line("redacted", format!("{count} × {kind}"));
    }
    for (stream, heading, total) in
        [(0, "standard output", outcome.stdout.total), (1, "standard error", outcome.stderr.total)]
    {
        if total > 0 {
            let bytes = reader.output(recorded, stream).ok().flatten();
            let heading = format!("{heading} ({total} bytes)");
            sheet.block(&heading, &bytes.unwrap_or_else(|| b"[not kept]".to_vec()));
        }
    }
}

fn typed(argv: &[BString]) -> String {
    let words = argv.iter().map(|word| exacta::report::typed(word));
    bstr::join(" ", words).to_str_lossy().into_owned()
}
