//! Counts for Prometheus.

use std::fmt::Write as _;

use crate::service::{BUCKETS, ENDINGS, Service};

pub fn text(service: &Service) -> String {
    let counted = service.counts.now();
    let running = service.processes().iter().filter(|it| it.state == "running").count();
    let pending: usize = service
        .projects
        .all()
        .iter()
        .filter_map(|project| project.approvals().ok())
        .map(|all| all.iter().filter(|one| one.state.name() == "pending").count())
        .sum();
    let rows = [
        ("exacta_runs_total", "counter", "requests that have ended", counted.runs),
        ("exacta_runs_refused_total", "counter", "of these, refused", counted.refused),
        ("exacta_runs_failed_total", "counter", "of these, not ended well", counted.failed),
        ("exacta_sessions", "gauge", "open sessions", service.sessions().len() as u64),
        ("exacta_processes", "gauge", "background processes that run", running as u64),
        ("exacta_tasks", "gauge", "tasks that are worked on", service.tasks_at_work() as u64),
        ("exacta_approvals_pending", "gauge", "questions that wait", pending as u64),
    ];
    let mut text = String::new();
    // Writing to a String cannot fail.
    for (name, kind, help, value) in rows {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
    }
    let name = "exacta_tasks_ended_total";
    let _ = writeln!(text, "# HELP {name} tasks that have ended here\n# TYPE {name} counter");
    for (state, count) in ENDINGS.iter().zip(counted.tasks) {
        let _ = writeln!(text, "{name}{{state=\"{}\"}} {count}", state.name());
    }
    let name = "exacta_run_seconds";
    let _ = writeln!(text, "# HELP {name} how long requests took\n# TYPE {name} histogram");
    for ((_, limit), count) in BUCKETS.iter().zip(counted.buckets) {
        let _ = writeln!(text, "{name}_bucket{{le=\"{limit}\"}} {count}");
    }
    let _ = writeln!(text, "{name}_sum {}\n{name}_count {}", counted.seconds, counted.runs);
    text
}
