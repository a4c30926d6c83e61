//! What never ends by itself: loops without a way out or a pause, and sources without an end that go into a file.

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{Argument, Command, List};

use crate::event::{Event, Input, Shape};
use crate::word::Word;

use super::Walker;
use super::variables::plain;

/// Commands with which a loop ends or waits. Sorted.
const PAUSES: &[&str] = &[
    "break",
    "entr",
    "exec",
    "exit",
    "fswatch",
    "inotifywait",
    "kill",
    "nc",
    "read",
    "return",
    "sleep",
    "tail",
    "timeout",
    "usleep",
    "wait",
    "watch",
];

/// Commands that pass on whatever comes, for as long as it comes. Sorted.
const PASSING: &[&str] = &[
    "base64", "bzip2", "cat", "dd", "gzip", "hexdump", "nl", "od", "paste", "rev", "sed", "tee",
    "tr", "xxd", "xz", "yes", "zstd",
];

impl Walker<'_> {
    /// Something with which a loop may end or wait.
    pub(super) fn notes_pause(&mut self, words: &[Word]) {
        let pauses = match words.first().and_then(Word::as_literal) {
            Some(name) => PAUSES.iter().any(|pause| *name == *pause),
            // Nobody knows what it is.
            None => true,
        };
        self.pauses += usize::from(pauses);
    }

    /// `while true` has been walked; `before` is how many pauses there were until then.
    pub(super) fn ends_by_itself(&mut self, before: usize) {
        if self.pauses == before {
            self.endless("a loop without an end");
        }
    }

    /// What the command prints goes into a file: does it ever stop?
    pub(super) fn printed_into_file(&mut self, words: &[Word], input: &Input) {
        if is_source(words) || passes(words, input) {
            let name = words.first().map(|word| BString::from(word.shown())).unwrap_or_default();
            self.endless(name);
        }
    }

    fn endless(&mut self, what: impl Into<BString>) {
        (self.emit)(Event::Shape(Shape::Endless { what: what.into() }));
    }
}

/// `true`, `:`, and nothing else.
pub(super) fn is_always(condition: &List, until: bool) -> bool {
    let [item] = condition.items.as_slice() else { return false };
    let [stage] = item.chain.first.stages.as_slice() else { return false };
    let Command::Simple(simple) = &stage.command else { return false };
    let [Argument::Word(word)] = simple.words.as_slice() else { return false };
    let always = if until { &["false"][..] } else { &["true", ":"] };
    item.chain.rest.is_empty()
        && !item.chain.first.negated
        && plain(word).is_some_and(|word| always.iter().any(|it| word == *it))
}

/// `yes`, `cat /dev/zero`, `seq inf`.
fn is_source(words: &[Word]) -> bool {
    let mut words = words.iter().filter_map(Word::as_literal);
    let Some(name) = words.next() else { return false };
    match name.as_bytes() {
        b"yes" => true,
        b"cat" | b"tail" | b"base64" | b"od" | b"xxd" | b"tr" | b"strings" => words.any(|word| {
            ["/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"].iter().any(|it| word == *it)
        }),
        b"seq" => words.any(|word| word.eq_ignore_ascii_case(b"inf")),
        _ => false,
    }
}

/// `yes | tee`: whatever comes goes on.
fn passes(words: &[Word], input: &Input) -> bool {
    let passing = |word: &Word| {
        word.as_literal().is_some_and(|name| PASSING.iter().any(|known| name == *known))
    };
    let Input::Pipe(names) = input else { return false };
    names.first().is_some_and(|first| first.as_literal().is_some_and(|name| name == "yes"))
        && names.iter().all(passing)
        && words.first().is_some_and(passing)
}
