//! The exacta binary: what was asked, who does it, how it ends. No decisions are made here.

mod exit;
mod invocation;
mod launch;
mod output;
mod prompt;
mod signals;
mod streams;
mod table;
mod terminal;
mod usage;
mod verbs;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    match invocation::parse(&arguments) {
        Ok(invocation) => verbs::perform(invocation).into(),
        Err(problem) => {
            output::error(&format!(
                "exacta: {problem}\n\nhint: `exacta --help` lists what there is\n"
            ));
            exit::Exit::Usage.into()
        }
    }
}
