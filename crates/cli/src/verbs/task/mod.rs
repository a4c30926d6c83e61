//! `exacta task …`: work as a plan of commands.

mod plan;

use std::path::Path;

use super::failed;
use crate::exit::Exit;
use crate::invocation::{Global, TaskVerb};
use crate::output;

pub fn perform(global: &Global, verb: &TaskVerb) -> Exit {
    match verb {
        TaskVerb::Plan { goal, output } => plan::perform(global, goal, output.as_deref()),
        TaskVerb::Schema { output } => {
            put(output.as_deref(), &format!("{:#}\n", exacta::tasks::schema::schema()))
        }
    }
}

/// Into the file, else on standard output.
fn put(file: Option<&Path>, text: &str) -> Exit {
    let Some(file) = file else {
        output::print(text);
        return Exit::Success;
    };
    match exacta::project::write_operator_file(file, text.as_bytes()) {
        Ok(()) => Exit::Success,
        Err(error) => failed(&format!("cannot write {}: {error}", file.display())),
    }
}
