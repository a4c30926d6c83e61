//! `exacta audit prune`: what is older or more than the operator wants to keep goes now.

use exacta::audit::store::{AuditError, Pruned};
use exacta::records::Zone;
use serde_json::json;

use super::{refused, trail};
use crate::exit::Exit;
use crate::invocation::Global;
use crate::output;
use crate::verbs::deeds::{self, Told};

pub fn perform(global: &Global, dry_run: bool) -> Exit {
    let trail = match trail(global) {
        Ok(trail) => trail,
        Err(exit) => return exit,
    };
    let found = match trail.prunable() {
        Ok(found) => found,
        Err(error) => return refused(&error),
    };
    if dry_run || found.records == 0 {
        output::print(&words(global, &found, true));
        return Exit::Success;
    }
    deeds::recorded(global, "prune", &["audit".to_owned(), "prune".to_owned()], || {
        told(global, trail.prune())
    })
}

fn told(global: &Global, pruned: Result<Pruned, AuditError>) -> (Exit, Told) {
    let mut told = Told::default();
    let exit = match pruned {
        Ok(pruned) => {
            told.say(&words(global, &pruned, false));
            Exit::Success
        }
        Err(error) => {
            told.text.push_str(&format!("{error}\n"));
            refused(&error)
        }
    };
    (exit, told)
}

fn words(global: &Global, pruned: &Pruned, dry_run: bool) -> String {
    let Pruned { records, requests, upto, time, bytes } = pruned;
    let removed = *records > 0;
    if global.json {
        let value = json!({
            "schema_version": 1,
            "dry_run": dry_run,
            "records": records,
            "requests": requests,
            "upto": removed.then_some(upto),
            "upto_time": removed.then(|| exacta::report::moment(*time)),
            "bytes": (!dry_run).then_some(bytes),
        });
        return format!("{value}\n");
    }
    if !removed {
        return "nothing is older or more than the limits say\n".to_owned();
    }
    let verb = if dry_run { "would remove" } else { "removed" };
    let moment = Zone::of_operator().show(time.div_euclid(1_000_000));
    let freed = if dry_run { String::new() } else { format!(", {} KB", bytes >> 10) };
    format!(
        "{verb} {records} records ({requests} requests), up to record {upto} of {moment}{freed}\n"
    )
}
