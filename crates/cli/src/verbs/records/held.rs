//! `exacta commit ID`, `exacta discard ID`: what was held is applied, or dropped.

use std::fmt::Write as _;

use bstr::BString;
use exacta::records::{LayerPlan, RecordId, Records, UndoError};
use serde_json::{Value, json};

use super::{Asked, log, name, turn};
use crate::exit::Exit;

pub fn commit(asked: &Asked, records: &Records, id: RecordId) -> Exit {
    match records.commit(id) {
        Ok(plan) => {
            asked.progress.clear();
            let json = || format!("{}\n", in_json(id, &plan));
            asked.tell(&if asked.json { json() } else { text(id, &plan) }, &[id]);
            Exit::Success
        }
        Err(error) => {
            let exit = asked.refused(&format!("commit {id}"), &error);
            // A request whose changes cannot come into the project was not carried out.
            if let UndoError::Conflicts(_) = error { Exit::Failed } else { exit }
        }
    }
}

pub fn discard(asked: &Asked, records: &Records, id: RecordId) -> Exit {
    if let Err(error) = records.discard(id) {
        return asked.refused(&format!("discard {id}"), &error);
    }
    asked.progress.clear();
    let text = if asked.json {
        format!("{}\n", json!({ "done": true, "action": "discard", "id": id.0 }))
    } else {
        format!("discarded {id}: the project is as it was\n")
    };
    asked.tell(&text, &[id]);
    Exit::Success
}

/// The same for whoever asks elsewhere.
pub fn committed(records: &Records, id: RecordId) -> Result<Value, UndoError> {
    records.commit(id).map(|plan| in_json(id, &plan))
}

pub fn discarded(records: &Records, id: RecordId) -> Result<Value, UndoError> {
    records.discard(id).map(|_dropped| json!({ "done": true, "action": "discard", "id": id.0 }))
}

fn text(id: RecordId, plan: &LayerPlan) -> String {
    let paths: Vec<BString> =
        plan.steps.iter().flat_map(|planned| planned.step.paths().cloned()).collect();
    let mut text = format!("committed {id} ({})\n", log::paths(plan.tally()));
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  applied {}", turn::counted(&paths));
    if !plan.dropped.is_empty() {
        let _ = writeln!(text, "  left out {}", turn::counted(&plan.dropped));
    }
    if !plan.stripped.is_empty() {
        let stripped = turn::counted(&plan.stripped);
        let _ = writeln!(text, "  without set-user and set-group bits: {stripped}");
    }
    let _ = writeln!(text, "  exacta undo {id} takes it back");
    text
}

fn in_json(id: RecordId, plan: &LayerPlan) -> Value {
    let paths = |paths: &mut dyn Iterator<Item = &BString>| -> Vec<Value> {
        paths.map(|path| Value::Object(name("path", path))).collect()
    };
    let applied = paths(&mut plan.steps.iter().flat_map(|planned| planned.step.paths()));
    json!({
        "done": true,
        "action": "commit",
        "id": id.0,
        "applied": applied,
        "left_out": paths(&mut plan.dropped.iter()),
        "stripped": paths(&mut plan.stripped.iter()),
    })
}
