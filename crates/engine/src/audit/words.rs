//! From what the engine knows of a request to the words of its record.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use exacta_jail::outcome::{LimitHit, Walls};
use exacta_policy::{Decision, Finding};
use exacta_shell::host::Step;
use exacta_shell::status::Stop;
use exacta_store::audit::{
    Approval, Connection, Exec, Isolation, Moment, Outcome, RequestId, Ruling, Undo, Verdict,
};
use rustix::rand::GetRandomFlags;

use crate::approvals::Grant;
use crate::gate::Judged;
use crate::programs::Tally;

/// More commands of one request are counted, not kept. Programs have each a record of their own.
pub(crate) const MOST_STEPS: usize = 1_000;

/// Ids of requests: UUIDs of version 7, without a system call for each.
pub(super) struct Ids {
    random: u64,
    count: AtomicU64,
}

impl Ids {
    pub(super) fn new() -> Self {
        let mut bytes = [0; 8];
        // Ids are to be distinct, not secret; the time in them helps.
        let _drawn = rustix::rand::getrandom(&mut bytes, GetRandomFlags::empty());
        Ids { random: u64::from_ne_bytes(bytes), count: AtomicU64::new(0) }
    }

    pub(super) fn next(&self, time: Moment) -> RequestId {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let random = self.random.wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        uuid::Builder::from_unix_timestamp_millis(
            (time / 1_000).unsigned_abs(),
            &mixed(count, random),
        )
        .into_uuid()
        .into_bytes()
    }
}

/// The count first, so that ids of one millisecond are in order.
fn mixed(count: u64, random: u64) -> [u8; 10] {
    let mut bytes = [0; 10];
    let [.., high, low] = count.to_be_bytes();
    bytes[0] = high;
    bytes[1] = low;
    bytes[2..].copy_from_slice(&random.to_be_bytes());
    bytes
}

/// What one rule says, and what a person has.
pub(crate) fn ruling(finding: &Finding, grant: Option<&Grant>) -> Ruling {
    let verdict = match finding.decision {
        Decision::Allow => Verdict::Allow,
        Decision::Confirm => Verdict::Confirm,
        Decision::Deny => Verdict::Deny,
    };
    let source = finding.source.as_ref().map(|source| format!("{}:{}", source.file, source.line));
    Ruling {
        verdict,
        rule: finding.rule.to_string(),
        source: source.unwrap_or_default(),
        reason: finding.reason.to_string(),
        approval: grant.map(|grant| Approval {
            id: grant.id.clone(),
            by: grant.by.clone(),
            scope: grant.scope.name().to_owned(),
        }),
    }
}

/// The strictest of a request.
pub(super) fn judged(judged: &Judged) -> Ruling {
    match &judged.finding {
        Some(finding) => ruling(finding, judged.grant.as_ref()),
        None => Ruling {
            rule: judged.rule().into(),
            reason: judged.reason().into(),
            ..Ruling::default()
        },
    }
}

/// How a request has ended, before it is put into words.
pub(crate) struct Ended<'a> {
    pub outcome: &'a crate::session::Outcome,
    pub signal: Option<i32>,
    pub steps_left_out: u64,
}

impl Ended<'_> {
    pub(crate) fn in_words(&self) -> Outcome {
        let ended = self.outcome;
        let mut ruling = judged(&ended.judged);
        if let Some(Stop::Refused(refusal)) = &ended.stopped
            && let Some(id) = &refusal.approval
        {
            let (by, scope) = (String::new(), "pending".to_owned());
            ruling.approval = Some(Approval { id: Some(id.clone()), by, scope });
        }
        let more = ended.steps.len().saturating_sub(MOST_STEPS) as u64;
        let undo = ended.undo.as_ref();
        let mut outcome = Outcome {
            ruling,
            exit: i32::from(ended.status.0),
            signal: self.signal,
            stopped: ended.stopped.as_ref().map(ToString::to_string).unwrap_or_default(),
            timed_out: ended.stopped == Some(Stop::TimedOut),
            duration: micros(ended.duration),
            processor_time: micros(ended.processor_time),
            steps: ended.steps.iter().take(MOST_STEPS).map(step).collect(),
            steps_left_out: self.steps_left_out + more,
            isolation: Isolation { level: "in-process".to_owned(), ..Isolation::default() },
            undo: undo.map(|undo| Undo { id: undo.id.0, strategy: undo.strategy.clone() }),
            ..Outcome::default()
        };
        if let Some(tally) = &ended.programs {
            add_programs(&mut outcome, tally);
        }
        outcome
    }
}

fn add_programs(outcome: &mut Outcome, tally: &Tally) {
    outcome.memory_peak = tally.memory_peak;
    outcome.isolation = isolation(&tally.walls);
    outcome.limits_hit = tally.limits_hit.iter().map(|hit| limit(*hit).to_owned()).collect();
    outcome.execs = tally
        .execs
        .iter()
        .map(|exec| Exec {
            path: exec.path.clone(),
            argv: exec.argv.clone(),
            process: exec.process,
        })
        .collect();
    outcome.connections = tally.connections.iter().map(connection).collect();
}

fn step(step: &Step) -> exacta_store::audit::Step {
    exacta_store::audit::Step {
        argv: step.argv.clone(),
        rule: step.rule.clone(),
        builtin: step.builtin,
        exit: i32::from(step.status.0),
        duration: micros(step.duration),
    }
}

fn isolation(walls: &Walls) -> Isolation {
    Isolation {
        level: walls.level.name().to_owned(),
        walls: walls.standing(),
        missing: walls.missing.iter().map(|it| it.wall.name().to_owned()).collect(),
    }
}

fn limit(hit: LimitHit) -> &'static str {
    match hit {
        LimitHit::ProcessorTime => "cpu_seconds",
        LimitHit::Memory => "memory_bytes",
        LimitHit::Processes => "processes",
        LimitHit::Tasks => "tasks",
    }
}

fn connection(connection: &crate::network::Connection) -> Connection {
    let began = connection.began.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Connection {
        host: connection.host.clone(),
        port: connection.port,
        address: connection.address.map(|address| address.to_string()).unwrap_or_default(),
        protocol: connection.protocol.name().to_owned(),
        fate: connection.fate.name().to_owned(),
        reason: connection.fate.reason().unwrap_or_default().to_owned(),
        sent: connection.sent,
        received: connection.received,
        time: began.as_micros() as i64,
        duration: micros(connection.duration),
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_distinct_and_in_order() {
        let ids = Ids::new();
        let mut made: Vec<RequestId> =
            (0..1_000).map(|n| ids.next(1_700_000_000_000_000 + n)).collect();
        assert!(made.is_sorted());
        made.dedup();
        assert_eq!(made.len(), 1_000);
        let id = uuid::Uuid::from_bytes(made[5]);
        assert_eq!(id.get_version_num(), 7);
    }
}
