//! `exacta completions SHELL`: a script for the shell in which a person types, made from the table of the command line.
//! The ids of records are asked for when they are completed.

mod bash;
mod fish;
mod zsh;

use crate::exit::Exit;
use crate::invocation::definition::{GLOBAL_FLAGS, GLOBAL_VALUES, Value, Verb};
use crate::output;

pub fn perform(shell: &str) -> Exit {
    output::print(&match shell {
        "zsh" => zsh::script(),
        "fish" => fish::script(),
        _ => bash::script(),
    });
    Exit::Success
}

/// An option as it is offered.
struct Offered {
    name: &'static str,
    about: &'static str,
    value: Option<Value>,
}

fn global_options() -> Vec<Offered> {
    let flags = GLOBAL_FLAGS.iter();
    let flags = flags.map(|flag| Offered { name: flag.name, about: flag.about, value: None });
    let values = GLOBAL_VALUES.iter().map(|valued| Offered {
        name: valued.name,
        about: valued.about,
        value: Some(valued.value),
    });
    flags.chain(values).collect()
}

fn options(verb: &Verb) -> Vec<Offered> {
    let flags = verb.flags.iter();
    let flags = flags.map(|flag| Offered { name: flag.name, about: flag.about, value: None });
    let values = verb.values.iter().map(|valued| Offered {
        name: valued.name,
        about: valued.about,
        value: Some(valued.value),
    });
    flags.chain(values).collect()
}

/// In single quotes, for any of the three.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
