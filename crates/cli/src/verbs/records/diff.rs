//! `exacta diff [ID]`: what a request changed, or would change. In a pipe it is what `git apply` takes.

use bstr::{BString, ByteSlice};
use exacta::records::diff::patch::{self, PatchKind, PatchLine};
use exacta::records::diff::{Body, FileDiff, Patience};
use exacta::records::{RecordId, Records, State, UndoError};
use serde_json::{Value, json};

use super::{Asked, log, name, refusal};
use crate::exit::Exit;
use crate::output::{self, Reader};
use crate::table::Look;
use crate::terminal::visible_line;

pub fn perform(asked: &Asked, records: &Records, id: Option<RecordId>) -> Exit {
    let id = match id.map_or_else(|| records.newest(), |id| Ok(Some(id))) {
        Ok(Some(id)) => id,
        Ok(None) => return nothing(asked),
        Err(error) => return asked.refused("find a record", &error),
    };
    let shown = if asked.json {
        in_json(records, id).map(|answer| output::print(&format!("{answer}\n")))
    } else {
        text(asked, records, id)
    };
    match shown {
        Ok(()) => Exit::Success,
        Err(error) => asked.refused(&format!("show {id}"), &error),
    }
}

fn nothing(asked: &Asked) -> Exit {
    let what = "there is nothing to show: no record is applied or held";
    if asked.json {
        output::print(&format!("{}\n", json!({ "done": false, "error": what })));
    } else {
        output::error(&format!("exacta: {what}\n\nhint: exacta log shows all of them\n"));
    }
    Exit::Declined
}

fn text(asked: &Asked, records: &Records, id: RecordId) -> Result<(), UndoError> {
    let found = records.changes(id)?;
    let patience = Patience::default();
    asked.progress.clear();
    for one in &found {
        let file = records.compare(one, &patience)?;
        let mut bytes = Vec::new();
        for line in patch::lines(&file) {
            write(asked.look, &line, &mut bytes);
        }
        if output::print_bytes(&bytes) == Reader::Gone {
            return Ok(());
        }
        if let Body::Text(text) = &file.body
            && text.coarse
        {
            let path = super::shown(&file.path);
            output::error(&format!("note: {path}: the diff is longer than it had to be\n"));
        }
    }
    tell_held(records, id);
    Ok(())
}

/// What stands in the way of a commit belongs to what it would do.
fn tell_held(records: &Records, id: RecordId) {
    let Ok(plan) = records.held_plan(id) else { return };
    for conflict in &plan.conflicts {
        let path = super::shown(&conflict.path);
        output::error(&format!("in the way of a commit: {path} ({})\n", refusal::kind(conflict)));
    }
    for refusal in &plan.refusals {
        let path = super::shown(&refusal.path);
        output::error(&format!("in the way of a commit: {path}: {}\n", refusal.why));
    }
}

/// On a terminal nothing in it may move the cursor; in a pipe it is the bytes themselves.
fn write(look: Look, line: &PatchLine, bytes: &mut Vec<u8>) {
    if look.width.is_none() {
        bytes.extend_from_slice(&line.text);
    } else {
        let text = visible_line(&line.text.to_str_lossy());
        let painted = match line.kind {
            PatchKind::Header => look.painted(&text, "1"),
            PatchKind::Place => look.painted(&text, "36"),
            PatchKind::Removed => look.painted(&text, "31"),
            PatchKind::Added => look.painted(&text, "32"),
            PatchKind::Note => look.painted(&text, "33"),
            PatchKind::Same => text,
        };
        bytes.extend_from_slice(painted.as_bytes());
    }
    bytes.push(b'\n');
}

/// What it changes, or would change, for programs.
pub fn changes(records: &Records, id: RecordId) -> Result<Value, UndoError> {
    let patience = Patience::default();
    let found = records.changes(id)?;
    let changes = found.iter().map(|one| records.compare(one, &patience).map(|it| change(&it)));
    changes.collect::<Result<Vec<_>, _>>().map(Value::Array)
}

/// The record with its changes, for programs.
pub fn in_json(records: &Records, id: RecordId) -> Result<Value, UndoError> {
    let listed = records.get(id)?;
    let mut answer = log::in_json(&listed);
    if let Some(object) = answer.as_object_mut() {
        object.insert("changes".to_owned(), changes(records, id)?);
        if let (State::Held, Ok(plan)) = (listed.state, records.held_plan(id)) {
            object.insert("conflicts".to_owned(), refusal::conflicts(&plan.conflicts));
        }
    }
    Ok(answer)
}

fn change(file: &FileDiff) -> Value {
    let mut object = name("path", &file.path);
    if let Some(from) = &file.from {
        object.extend(name("from", from));
    }
    let text: Option<Vec<BString>> = match &file.body {
        Body::Text(_) => {
            let is_content =
                |line: &PatchLine| !matches!(line.kind, PatchKind::Header | PatchKind::Note);
            let lines = patch::lines(file).into_iter().filter(is_content);
            Some(lines.map(|line| line.text).collect())
        }
        _ => None,
    };
    let diff = text.map(|lines| format!("{}\n", bstr::join("\n", lines).to_str_lossy()));
    let counts = match &file.body {
        Body::Text(text) => Some((text.added, text.removed)),
        _ => None,
    };
    let rest = json!({
        "kind": file.kind.name(),
        "similarity": file.similarity,
        "before": file.before.as_ref().map(side),
        "after": file.after.as_ref().map(side),
        "changed_since": file.changed_since,
        "binary": file.body == Body::Binary,
        "too_large": file.body == Body::TooLarge,
        "added": counts.map(|(added, _)| added),
        "removed": counts.map(|(_, removed)| removed),
        "diff": diff,
    });
    if let Value::Object(rest) = rest {
        object.extend(rest);
    }
    Value::Object(object)
}

fn side(facts: &exacta::records::Facts) -> Value {
    json!({
        "type": facts.kind.name(),
        "mode": format!("{:04o}", facts.mode),
        "size": facts.size,
        "target": facts.target.as_ref().map(ToString::to_string),
    })
}
