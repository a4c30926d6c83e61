//! The call of a tool as Claude Code describes it to a hook.

use std::path::PathBuf;

use bstr::BString;
use exacta::policy::event::Access;
use serde_json::{Map, Value};

/// A call that there is something to say about.
#[derive(Debug)]
pub struct Call {
    /// Where the agent is.
    pub directory: PathBuf,
    pub tool: Tool,
    /// The person wants nothing done yet.
    pub only_plans: bool,
}

#[derive(Debug)]
pub enum Tool {
    /// Its whole input goes back when the command is rewritten.
    Command {
        text: String,
        input: Map<String, Value>,
    },
    File {
        path: BString,
        access: Access,
    },
}

/// Tools that touch a file, with the field that names it.
const FILE_TOOLS: &[(&str, &str, Access)] = &[
    ("Read", "file_path", Access::Read),
    ("Write", "file_path", Access::Write),
    ("Edit", "file_path", Access::Write),
    ("MultiEdit", "file_path", Access::Write),
    ("NotebookEdit", "notebook_path", Access::Write),
];

impl Call {
    /// `None`: a tool that is none of exacta's business. An error: nobody can say what it would do.
    pub fn read(bytes: &[u8]) -> Result<Option<Call>, String> {
        let call: Value =
            serde_json::from_slice(bytes).map_err(|error| format!("not JSON: {error}"))?;
        let call = call.as_object().ok_or("the call is not a JSON object")?;
        // Older versions do not say it.
        match call.get("hook_event_name") {
            None => {}
            Some(Value::String(event)) if event == "PreToolUse" => {}
            Some(event) => return Err(format!("this is a hook for PreToolUse, not {event}")),
        }
        let name = text_of(call, "tool_name")?;
        let file = FILE_TOOLS.iter().find(|(tool, ..)| *tool == name);
        if name != "Bash" && file.is_none() {
            return Ok(None);
        }
        let directory = PathBuf::from(text_of(call, "cwd")?);
        if !directory.is_absolute() {
            return Err(format!("cwd is not absolute: {}", directory.display()));
        }
        let only_plans = match call.get("permission_mode") {
            None => false,
            Some(Value::String(mode)) => mode == "plan",
            Some(_) => return Err("permission_mode is not a text".to_owned()),
        };
        let input = call.get("tool_input").and_then(Value::as_object);
        let input = input.ok_or("tool_input is not an object")?;
        let tool = match file {
            None => Tool::Command { text: without_nul(input, "command")?, input: input.clone() },
            Some((_, field, access)) => {
                // One name for the path is not every version's.
                let field = if input.contains_key(*field) { field } else { "file_path" };
                Tool::File { path: without_nul(input, field)?.into(), access: *access }
            }
        };
        Ok(Some(Call { directory, tool, only_plans }))
    }
}

fn text_of(object: &Map<String, Value>, name: &str) -> Result<String, String> {
    match object.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("{name} is not a text")),
        None => Err(format!("{name} is missing")),
    }
}

/// Whoever gets it sees a NUL as its end, or does not see it: what was judged would not be what happens.
fn without_nul(input: &Map<String, Value>, name: &str) -> Result<String, String> {
    let text = text_of(input, name)?;
    if text.contains('\0') { Err(format!("{name} has a NUL in it")) } else { Ok(text) }
}
