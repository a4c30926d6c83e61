//! What was found, for people and for programs.

use std::fmt::Write as _;

use exacta_jail::Walls;
use exacta_jail::ladder::{Missing, Wall};
use exacta_jail::probe::Attempt;
use serde_json::{Value, json};

use super::hooks::Tried;
use super::promises::{Examined, State};
use super::{Findings, remedies};
use crate::table::Look;
use crate::verbs::isolation;

/// Changes when a field goes or means something else.
const SCHEMA_VERSION: u32 = 1;

pub fn as_json(findings: &Findings) -> Value {
    let walls = findings.walls.as_ref();
    let missing: Vec<Value> = walls.map_or_else(
        |_| Vec::new(),
        |walls| walls.missing.iter().map(|it| missing_as_json(it, &walls.missing)).collect(),
    );
    json!({
        "schema_version": SCHEMA_VERSION,
        "root": findings.root,
        "level": walls.ok().map(|walls| walls.level.name()),
        "min_isolation": findings.least.name(),
        "programs": if findings.runs() { "run" } else { "refused" },
        "problem": walls.err(),
        "isolation": walls.ok().map(isolation::standing),
        "undo": walls.ok().map(|walls| undo(walls).0),
        "promises": findings.promises.iter().map(promise_as_json).collect::<Vec<_>>(),
        "missing": missing,
        "limits": isolation::in_force(&findings.limits),
        "hooks": findings.hooks.iter().map(hook_as_json).collect::<Vec<_>>(),
    })
}

/// How what programs change is kept apart, by name and in words.
fn undo(walls: &Walls) -> (&'static str, &'static str) {
    let has_overlays = walls.missing.iter().all(|missing| missing.wall != Wall::Overlay);
    if walls.namespaces && has_overlays {
        ("layers", "layers, where the project's file system takes them; else a copy of the project")
    } else {
        ("copy", "a copy of the project, with which it is compared: there are no layers here")
    }
}

fn promise_as_json(examined: &Examined) -> Value {
    let attempt = |attempt: &Attempt| json!({ "attempt": attempt.name, "result": result(attempt), "errno": attempt.errno });
    json!({
        "name": examined.name,
        "promise": examined.text,
        "state": examined.state.name(),
        "enforced_by": examined.by,
        "attempts": examined.attempts.iter().map(attempt).collect::<Vec<_>>(),
        "missing": examined.missing,
        "fix": examined.remedy,
    })
}

fn hook_as_json(tried: &Tried) -> Value {
    json!({
        "file": tried.file.to_string_lossy(),
        "command": tried.command,
        "state": tried.state.name(),
        "problem": tried.problem,
    })
}

fn missing_as_json(missing: &Missing, others: &[Missing]) -> Value {
    json!({
        "wall": missing.wall.name(),
        "reason": missing.failure.to_string(),
        "errno": missing.failure.errno,
        "fix": remedies::of(missing, others),
    })
}

/// Attempts that list what they find.
const LISTED: [&str; 2] = ["environment", "descriptors"];

/// The error by its name, or what was seen.
fn result(attempt: &Attempt) -> String {
    match (attempt.errno, attempt.seen.as_str()) {
        (0, "") if LISTED.contains(&attempt.name.as_str()) => "none".to_owned(),
        (0, "") => "no error".to_owned(),
        (0, seen) => seen.to_owned(),
        (errno, "") => name(errno),
        (errno, seen) => format!("{} after {seen}", name(errno)),
    }
}

/// As C calls it; those that the attempts meet.
fn name(errno: i32) -> String {
    const NAMES: [(i32, &str); 21] = [
        (1, "EPERM"),
        (2, "ENOENT"),
        (5, "EIO"),
        (9, "EBADF"),
        (11, "EAGAIN"),
        (13, "EACCES"),
        (14, "EFAULT"),
        (17, "EEXIST"),
        (20, "ENOTDIR"),
        (22, "EINVAL"),
        (24, "EMFILE"),
        (25, "ENOTTY"),
        (28, "ENOSPC"),
        (30, "EROFS"),
        (38, "ENOSYS"),
        (95, "EOPNOTSUPP"),
        (97, "EAFNOSUPPORT"),
        (101, "ENETUNREACH"),
        (110, "ETIMEDOUT"),
        (111, "ECONNREFUSED"),
        (126, "ENOKEY"),
    ];
    let found = NAMES.iter().find(|(number, _)| *number == errno);
    found.map_or_else(|| format!("error {errno}"), |(_, name)| (*name).to_owned())
}

/// On a terminal a table in colours; in a pipe one promise a line, with tabs.
pub fn as_text(findings: &Findings, look: Look) -> String {
    let mut text = String::new();
    for examined in &findings.promises {
        let seen: Vec<String> =
            examined.attempts.iter().map(|it| format!("{} {}", it.name, result(it))).collect();
        let by = if examined.by.is_empty() { "nothing".to_owned() } else { examined.by.join(", ") };
        // Writing to a String cannot fail.
        let _ = if look.width.is_some() {
            write_for_people(&mut text, examined, &by, look)
        } else {
            let fields = [examined.name, examined.state.name(), &by, &seen.join(", ")];
            let more = [examined.missing.as_deref(), examined.remedy.as_deref()];
            let more = more.map(Option::unwrap_or_default);
            let all: Vec<&str> = fields.into_iter().chain(more).collect();
            writeln!(text, "{}", all.join("\t"))
        };
    }
    conclude(&mut text, findings, look);
    text
}

fn write_for_people(
    text: &mut String,
    examined: &Examined,
    by: &str,
    look: Look,
) -> std::fmt::Result {
    let state = painted(examined.state, look);
    let short: Vec<String> = examined.attempts.iter().map(result).collect();
    let mut distinct: Vec<String> = Vec::new();
    for it in short.into_iter().filter(|it| it != "no error") {
        if !distinct.contains(&it) {
            distinct.push(it);
        }
    }
    writeln!(text, "{state} {:<17} {}", examined.name, examined.text)?;
    let seen =
        if distinct.is_empty() { String::new() } else { format!(": {}", distinct.join(", ")) };
    writeln!(text, "  {:<24} by {by}{seen}", "")?;
    if examined.state != State::Holds {
        for (heading, line) in [("missing", &examined.missing), ("fix", &examined.remedy)] {
            if let Some(line) = line {
                writeln!(text, "  {:<24} {heading}: {line}", "")?;
            }
        }
    }
    Ok(())
}

fn painted(state: State, look: Look) -> String {
    let colour = match state {
        State::Holds => "32",
        State::Weaker => "33",
        State::Missing => "35",
        State::Broken => "31",
    };
    look.painted(&format!("{:<8}", state.name()), colour)
}

/// The rung, what is missing from the highest, and whether programs run.
fn conclude(text: &mut String, findings: &Findings, look: Look) {
    let mut line = |heading: &str, value: &str| {
        // Writing to a String cannot fail.
        let _ = match look.width {
            Some(_) => writeln!(text, "{} {value}", look.heading(&format!("{heading:<9}"))),
            None => writeln!(text, "{heading}\t{value}"),
        };
    };
    match &findings.walls {
        Err(problem) => line("problem", problem),
        Ok(walls) => {
            line("isolation", walls.level.name());
            for missing in &walls.missing {
                line("missing", &format!("{}: {}", missing.wall.name(), missing.failure));
                if let Some(remedy) = remedies::of(missing, &walls.missing) {
                    line("fix", &remedy);
                }
            }
        }
    }
    if let Ok(walls) = &findings.walls {
        line("undo", undo(walls).1);
    }
    if findings.hooks.is_empty() {
        line("hook", "not configured (`exacta setup claude-code` shows how)");
    }
    for tried in &findings.hooks {
        let problem = tried.problem.as_deref().map(|it| format!(": {it}")).unwrap_or_default();
        line("hook", &format!("{} in {}{problem}", tried.state.name(), tried.file.display()));
    }
    let least = findings.least.name();
    line(
        "programs",
        &if findings.runs() {
            format!("run (min_isolation is {least})")
        } else {
            format!(
                "do not run: min_isolation is {least}; --min-isolation, or the key in the configuration, lowers it"
            )
        },
    );
}
