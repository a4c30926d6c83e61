//! Counts for Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::service::Service;

#[derive(Default)]
pub struct Metrics {
    runs: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    milliseconds: AtomicU64,
}

impl Metrics {
    pub fn ran(&self, report: &Value, took: Duration) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let code = report["exit_code"].as_u64().unwrap_or(0);
        if code == 126 {
            self.refused.fetch_add(1, Ordering::Relaxed);
        } else if code != 0 {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.milliseconds.fetch_add(took, Ordering::Relaxed);
    }

    pub fn text(&self, service: &Service) -> String {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let running = service.processes().iter().filter(|it| it.state == "running").count();
        let pending: usize = service
            .projects
            .all()
            .iter()
            .filter_map(|project| project.approvals().ok())
            .map(|all| all.iter().filter(|one| one.state.name() == "pending").count())
            .sum();
        let rows = [
            ("exacta_runs_total", "counter", "requests that have ended", load(&self.runs)),
            ("exacta_runs_refused_total", "counter", "of these, refused", load(&self.refused)),
            ("exacta_runs_failed_total", "counter", "of these, not ended well", load(&self.failed)),
            (
                "exacta_run_milliseconds_total",
                "counter",
                "time they took",
                load(&self.milliseconds),
            ),
            ("exacta_sessions", "gauge", "open sessions", service.sessions().len() as u64),
            ("exacta_processes", "gauge", "background processes that run", running as u64),
            ("exacta_approvals_pending", "gauge", "questions that wait", pending as u64),
        ];
        let mut text = String::new();
        for (name, kind, help, value) in rows {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        }
        text
    }
}
