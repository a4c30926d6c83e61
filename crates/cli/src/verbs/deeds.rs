//! What a person does with exacta itself is recorded like a request. What cannot be recorded is not done.

use std::io::IsTerminal as _;

use bstr::BString;
use exacta::audit::{Done, Person};

use crate::exit::Exit;
use crate::invocation::Global;
use crate::{launch, output};

/// What is said while it is done, for the record.
#[derive(Debug, Default)]
pub struct Told {
    pub text: String,
    /// The undo records that it is about.
    pub records: Vec<u64>,
}

impl Told {
    /// Says it, and keeps it for the record.
    pub fn say(&mut self, text: &str) {
        output::print(text);
        self.text.push_str(text);
    }

    /// The same for what went wrong.
    pub fn failed(&mut self, problem: &dyn std::fmt::Display) -> Exit {
        self.text.push_str(&format!("{problem}\n"));
        super::failed(problem)
    }
}

/// Whoever runs this process.
pub fn person() -> Person {
    Person::of_process(std::io::stdin().is_terminal(), launch::agent())
}

/// Records that it will be done, does it, and records how it ended. `words` are those behind `exacta`; `effect` is the one
/// that says what is done.
pub fn recorded(
    global: &Global,
    effect: &str,
    words: &[String],
    perform: impl FnOnce() -> (Exit, Told),
) -> Exit {
    let trail = match super::audit::trail(global) {
        Ok(trail) => trail,
        Err(exit) => return exit,
    };
    let person = person();
    let typed: Vec<BString> = std::iter::once("exacta")
        .chain(words.iter().map(String::as_str))
        .map(BString::from)
        .collect();
    let deed = match trail.begin(&person, effect, &typed) {
        Ok(deed) => deed,
        Err(error) => {
            let hint = error.next().map(|next| format!("\nhint: {next}")).unwrap_or_default();
            return super::failed(&format!(
                "it cannot be recorded, so it is not done: {error}{hint}"
            ));
        }
    };
    let (exit, Told { text, records }) = perform();
    match deed.end(Done { exit: exit.code(), told: text.into_bytes(), records }) {
        Ok(()) => exit,
        Err(error) => super::not_recorded(&error),
    }
}
