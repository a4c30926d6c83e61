//! What a request has left that ran with `--dry-run` or `--hold`.

use exacta::records::RecordId;
use serde_json::{Value, json};

use super::{diff, opened};
use crate::invocation::{Global, Trial};
use crate::output;

/// After the request: shows what it would change, and drops it if that was all it was for. Gives what a report says of it.
pub fn perform(global: &Global, trial: Trial, held: Option<RecordId>) -> Value {
    let Some(id) = held else {
        if !global.json {
            output::error("exacta: nothing would change\n");
        }
        return json!([]);
    };
    let (asked, records) = match opened(global) {
        Ok(opened) => opened,
        Err(_said) => return Value::Null,
    };
    let changes = diff::changes(&records, id).unwrap_or(Value::Null);
    match trial {
        Trial::Hold if !global.json => output::error(&format!(
            "exacta: held as {id}: exacta diff {id} shows it, exacta commit {id} applies it, exacta discard {id} drops it\n"
        )),
        Trial::Hold => {}
        Trial::DryRun => {
            if !global.json {
                diff::perform(&asked, &records, Some(id));
            }
            if let Err(error) = records.discard(id) {
                asked.refused(&format!("drop {id}"), &error);
            }
        }
    }
    changes
}
