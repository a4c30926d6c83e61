//! Help and manual pages, made from the table of the command line.

mod man;
mod page;

pub use man::man;
pub use page::help;

use crate::invocation::definition::{Flag, GLOBAL_FLAGS, GLOBAL_VALUES, Value, Valued, Verb};

/// An option as it is shown: how it is written, and what it does.
pub struct Shown {
    pub written: String,
    pub about: &'static str,
}

fn shown(flags: &'static [Flag], values: &'static [Valued]) -> Vec<Shown> {
    let flags =
        flags.iter().map(|flag| Shown { written: format!("--{}", flag.name), about: flag.about });
    let values = values.iter().map(|valued| Shown {
        written: format!("--{} {}", valued.name, placeholder(valued.value)),
        about: valued.about,
    });
    flags.chain(values).collect()
}

/// Those that go with any verb.
fn shared() -> Vec<Shown> {
    let mut all = shown(GLOBAL_FLAGS, GLOBAL_VALUES);
    // Asked for without a verb.
    all.retain(|shown| shown.written != "--version");
    all
}

/// The verb's own, or those that go with one of its words.
fn options(verb: &'static Verb, word: Option<&str>) -> Vec<Shown> {
    let all = shown(verb.flags, verb.values);
    // "with test: …" is for `test` alone.
    let concerns = |shown: &Shown| match (word, shown.about.strip_prefix("with ")) {
        (Some(word), Some(rest)) => rest.split([':', ' ', ',']).next() == Some(word),
        _ => true,
    };
    all.into_iter().filter(concerns).collect()
}

fn placeholder(value: Value) -> String {
    match value {
        Value::Directory => "DIR".to_owned(),
        Value::File => "FILE".to_owned(),
        Value::Text => "VALUE".to_owned(),
        Value::OneOf(words) => words.join("|"),
    }
}
