//! The question of tier 2 and its four answers.

use std::future::Future;
use std::pin::Pin;

/// Somebody who can be asked. Any `Fn(String) -> impl Future<Output = String>` is one.
pub trait Prompter: Send + Sync {
    fn ask<'a>(&'a self, question: &'a str) -> Pin<Box<dyn Future<Output = String> + Send + 'a>>;
}

impl<F, Reply> Prompter for F
where
    F: Fn(String) -> Reply + Send + Sync,
    Reply: Future<Output = String> + Send + 'static,
{
    fn ask<'a>(&'a self, question: &'a str) -> Pin<Box<dyn Future<Output = String> + Send + 'a>> {
        Box::pin(self(question.to_owned()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    Always,
    Never,
}

impl Answer {
    /// Anything but the three other words is no.
    pub fn of(text: &str) -> Self {
        match text.trim() {
            "yes" => Answer::Yes,
            "always" => Answer::Always,
            "never" => Answer::Never,
            _ => Answer::No,
        }
    }
}

/// S1's text.
pub fn question(command: &str) -> String {
    format!("Allow '{command}'? (yes/no/always/never): ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_words_themselves_count() {
        for (text, answer) in [
            ("yes", Answer::Yes),
            (" always\n", Answer::Always),
            ("never\r\n", Answer::Never),
            ("no", Answer::No),
            ("", Answer::No),
            ("y", Answer::No),
            ("YES", Answer::No),
            ("yes please", Answer::No),
            ("yes\nalways", Answer::No),
        ] {
            assert_eq!(Answer::of(text), answer, "{text:?}");
        }
    }
}
