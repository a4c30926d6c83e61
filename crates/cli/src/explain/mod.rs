//! Help and manual pages, made from the table of the command line.

mod man;
mod page;

pub use man::man;
pub use page::help;

use crate::invocation::definition::{
    Flag, GLOBAL_FLAGS, GLOBAL_VALUES, Operands, Value, Valued, Verb,
};

/// An option as it is shown: how it is written, and what it does.
pub struct Shown {
    pub written: String,
    pub about: &'static str,
}

fn shown(flags: &'static [Flag], values: &'static [Valued]) -> Vec<Shown> {
    let flags =
        flags.iter().map(|flag| Shown { written: format!("--{}", flag.name), about: flag.about });
    let values = values.iter().map(|valued| Shown {
        written: format!("--{} {}", valued.name, placeholder(valued)),
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
    let mut all = shown(verb.flags, verb.values);
    if let Some(word) = word {
        all.retain(|shown| only_with(verb, shown.about).is_none_or(|words| words.contains(&word)));
    }
    all
}

/// "with tail, export: …" is for these words alone.
fn only_with(verb: &Verb, about: &'static str) -> Option<Vec<&'static str>> {
    let Operands::Words(known) = verb.operands else { return None };
    let named = about.strip_prefix("with ")?.split(':').next()?;
    let words: Vec<&str> = named.split(", ").collect();
    let is_known = |word: &&str| known.iter().any(|(known, _)| known == word);
    words.iter().all(is_known).then_some(words)
}

/// What stands for the value of an option.
fn placeholder(valued: &Valued) -> String {
    match (valued.value, valued.name) {
        (Value::Directory, _) => "DIR".to_owned(),
        (Value::File, _) => "FILE".to_owned(),
        // A long list has no place to break a line.
        (Value::OneOf(words), name) if words.len() > 6 => name.to_uppercase(),
        (Value::OneOf(words), _) => words.join("|"),
        (Value::Text, "env") => "NAME=VALUE".to_owned(),
        (Value::Text, "timeout" | "wait" | "since" | "until") => "TIME".to_owned(),
        (Value::Text, "limit" | "last" | "step") => "N".to_owned(),
        (Value::Text, "max-output") => "SIZE".to_owned(),
        (Value::Text, "session") => "ID".to_owned(),
        (Value::Text, _) => "TEXT".to_owned(),
    }
}
