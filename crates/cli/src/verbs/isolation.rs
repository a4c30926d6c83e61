//! What held the programs of a request, and what they used, for reports.

use exacta::Outcome;
use exacta::network::Connection;
use exacta_jail::ladder::{Level, Missing};
use exacta_jail::outcome::{LimitHit, Tier, Walls};
use exacta_jail::plan::Limits;
use serde_json::{Value, json};

/// `in-process`: no program has run. Else the rung of the jail's ladder, and what is missing from the highest.
pub fn walls(outcome: &Outcome) -> Value {
    match &outcome.programs {
        Some(programs) => {
            let mut standing = standing(&programs.walls);
            let connections = programs.connections.iter().map(connection).collect::<Vec<_>>();
            standing["connections"] = Value::from(connections);
            if programs.reached_out {
                standing["net"] = Value::from("granted-hosts");
            }
            standing
        }
        None => json!({ "level": "in-process", "walls": ["confined-filesystem"] }),
    }
}

/// What stands around programs.
pub fn standing(walls: &Walls) -> Value {
    let missing: Vec<Value> = walls.missing.iter().map(absent).collect();
    json!({
        "level": walls.level.name(),
        "walls": walls.standing(),
        "missing": missing,
        "fs": files(walls),
        "net": network(walls.level),
        "limits": tier(walls.limits),
    })
}

/// One that a program has asked for, allowed or not.
fn connection(connection: &Connection) -> Value {
    json!({
        "host": connection.host,
        "port": connection.port,
        "address": connection.address.map(|address| address.to_string()),
        "protocol": connection.protocol.name(),
        "verdict": connection.fate.name(),
        "reason": connection.fate.reason(),
        "timestamp": exacta::report::timestamp(connection.began),
        "duration_ms": connection.duration.as_secs_f64() * 1000.0,
        "sent_bytes": connection.sent,
        "received_bytes": connection.received,
    })
}

fn absent(missing: &Missing) -> Value {
    let Missing { wall, failure } = missing;
    json!({ "wall": wall.name(), "reason": failure.to_string(), "errno": failure.errno })
}

/// What meets whoever asks for a path outside.
pub fn files(walls: &Walls) -> &'static str {
    match (walls.absence, walls.landlock) {
        (true, _) => "enoent",
        (false, 1..) => "eacces",
        (false, 0) => "none",
    }
}

/// What can be reached.
fn network(level: Level) -> &'static str {
    match level {
        Level::Full | Level::Namespaces => "loopback",
        Level::Landlock | Level::Seccomp => "none",
        Level::Limits => "host",
    }
}

pub fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::ControlGroups2 => "cgroup2",
        Tier::ControlGroups1 => "cgroup1",
        Tier::Sampled => "sampled",
    }
}

/// Memory is that of programs: what runs in process has only exacta's own.
pub fn usage(outcome: &Outcome) -> Value {
    let programs = outcome.programs.as_ref();
    json!({
        "cpu_ms": outcome.processor_time.as_secs_f64() * 1000.0,
        "memory_peak_bytes": programs.map(|programs| programs.memory_peak),
    })
}

/// The limits that were in force, and those that were reached.
pub fn limits(outcome: &Outcome) -> Value {
    let Some(programs) = &outcome.programs else { return Value::Null };
    let reached: Vec<&str> = programs.limits_hit.iter().map(|hit| name(*hit)).collect();
    let mut all = in_force(&programs.limits);
    if let Value::Object(fields) = &mut all {
        fields.insert("reached".to_owned(), json!(reached));
    }
    all
}

/// Limits of programs.
pub fn in_force(limits: &Limits) -> Value {
    json!({
        "cpu_seconds": limits.processor_time.map(|time| time.as_secs()),
        "memory_bytes": limits.memory,
        "processes": limits.processes,
        "tasks": limits.tasks,
        "open_files": limits.open_files,
    })
}

fn name(hit: LimitHit) -> &'static str {
    match hit {
        LimitHit::ProcessorTime => "cpu_seconds",
        LimitHit::Memory => "memory_bytes",
        LimitHit::Processes => "processes",
        LimitHit::Tasks => "tasks",
    }
}
