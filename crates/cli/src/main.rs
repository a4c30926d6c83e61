//! The exacta binary: what was asked, who does it, how it ends. No decisions are made here.

#![cfg_attr(not(test), no_main)]

mod doctor;
mod exit;
mod explain;
mod foresight;
mod hook;
mod invocation;
mod launch;
mod mcp;
mod output;
mod planner;
mod progress;
mod prompt;
mod serve;
mod service;
mod setup;
mod signals;
mod streams;
mod table;
mod task_json;
mod telegram;
mod terminal;
mod traces;
mod usage;
mod verbs;

#[cfg(not(test))]
exacta_jail::main!(perform);

/// The status that the process ends with.
#[cfg_attr(test, expect(dead_code, reason = "tests have a main of their own"))]
fn perform() -> u8 {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    // In a jail, for `doctor`: the same executable tries what must not work there.
    if arguments.first().is_some_and(|name| name == exacta_jail::probe::NAME) {
        let words = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
        return exacta_jail::probe::run(&words.collect::<Vec<_>>());
    }
    arguments.drain(..arguments.len().min(1));
    let ended = match invocation::parse(&arguments) {
        Ok(invocation) => verbs::perform(invocation),
        Err(problem) => {
            output::error(&format!(
                "exacta: {problem}\n\nhint: `exacta --help` lists what there is\n"
            ));
            exit::Exit::Usage
        }
    };
    ended.code()
}
