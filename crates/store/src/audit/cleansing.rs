//! Secrets are taken out of a record on the thread that writes it: nobody waits for that, and nothing else can write one.
//!
//! What a secret is, somebody else says. Here is only where texts are in a record.

use std::collections::BTreeMap;

use bstr::{BString, ByteSlice};

use super::entry::{Asked, Entry, Outcome, Ruling};
use super::output::Captured;

/// A text without what must not be kept, and what that was.
pub struct Cleansed {
    pub text: Vec<u8>,
    /// How many of each kind.
    pub kinds: Vec<(String, u32)>,
}

/// Knows what must not be kept.
pub trait Cleanser: Send + Sync {
    /// `None`: the text may stay as it is.
    fn cleansed(&self, text: &[u8]) -> Option<Cleansed>;
}

/// Nothing is taken out: for texts in which nothing can be.
impl Cleanser for () {
    fn cleansed(&self, _text: &[u8]) -> Option<Cleansed> {
        None
    }
}

/// What stands for words of which nobody can say any more where a secret in them began.
const HIDDEN: &[u8] = b"[REDACTED]";

/// Takes it out of everything in an entry that somebody has written, and of what was captured for it.
pub fn cleanse(entry: &mut Entry, streams: Option<&mut [Captured; 2]>, by: &dyn Cleanser) {
    let mut work = Work { by, kinds: BTreeMap::new() };
    for captured in streams.into_iter().flatten() {
        work.bytes(&mut captured.bytes);
    }
    match entry {
        Entry::Intent(intent) => {
            work.asked(&mut intent.asked);
            work.ruling(&mut intent.ruling);
        }
        Entry::Start(start) => {
            work.words(&mut start.argv);
            work.ruling(&mut start.ruling);
        }
        Entry::Outcome(outcome) => {
            work.outcome(outcome);
            outcome.redacted = work.kinds.into_iter().collect();
        }
        Entry::Answer(answer) => work.bytes(&mut answer.command),
        Entry::Cut(_) => {}
        Entry::Moved(moved) => work.text(&mut moved.why),
    }
}

struct Work<'a> {
    by: &'a dyn Cleanser,
    kinds: BTreeMap<String, u32>,
}

impl Work<'_> {
    fn outcome(&mut self, outcome: &mut Outcome) {
        self.asked(&mut outcome.asked);
        self.ruling(&mut outcome.ruling);
        self.text(&mut outcome.stopped);
        for step in &mut outcome.steps {
            self.words(&mut step.argv);
        }
        for refusal in &mut outcome.refusals {
            self.words(&mut refusal.argv);
            self.ruling(&mut refusal.ruling);
        }
        for exec in &mut outcome.execs {
            self.words(&mut exec.argv);
        }
    }

    fn asked(&mut self, asked: &mut Asked) {
        self.bytes(&mut asked.command);
    }

    fn ruling(&mut self, ruling: &mut Ruling) {
        self.text(&mut ruling.reason);
    }

    fn text(&mut self, text: &mut String) {
        if let Some(clean) = self.clean(text.as_bytes()) {
            *text = clean.to_str_lossy().into_owned();
        }
    }

    fn bytes(&mut self, text: &mut Vec<u8>) {
        if let Some(clean) = self.clean(text) {
            *text = clean;
        }
    }

    /// A word may be secret only because of the one before it: `--password`, and then the password. So they are looked at as
    /// one line, and found in it again.
    fn words(&mut self, words: &mut [BString]) {
        let line = bstr::join(" ", words.iter());
        let Some(clean) = self.clean(&line) else { return };
        let mut rest = clean.as_slice();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            if let Some(after) = without(rest, word) {
                rest = after;
                at += 1;
                continue;
            }
            // This one has changed: it goes up to where the next that has not begins.
            let next = (at + 1..words.len()).find_map(|next| {
                let word = words.get(next)?;
                let found = rest.find([b" ", word.as_slice()].concat())?;
                Some((next, rest.get(found + 1..)?))
            });
            let (until, after) = next.unwrap_or((words.len(), b""));
            let changed = rest.get(..rest.len() - after.len()).unwrap_or(rest);
            let changed = changed.strip_suffix(b" ").unwrap_or(changed);
            let whole = until == at + 1;
            for word in words.get_mut(at..until).unwrap_or_default() {
                *word = if whole { changed.into() } else { HIDDEN.into() };
            }
            (rest, at) = (after, until);
        }
    }

    fn clean(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        if text.is_empty() {
            return None;
        }
        let Cleansed { text: clean, kinds } = self.by.cleansed(text)?;
        for (kind, count) in kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
        Some(clean)
    }
}

/// What follows a word and the space behind it, if a line begins with it.
fn without<'a>(line: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    let after = line.strip_prefix(word)?;
    if after.is_empty() { Some(after) } else { after.strip_prefix(b" ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Start, Step};

    /// `hunter2` is secret, and whatever follows `--password`.
    struct Simple;

    impl Cleanser for Simple {
        fn cleansed(&self, text: &[u8]) -> Option<Cleansed> {
            let text = text.to_str_lossy();
            let mut clean = text.replace("hunter2", "[REDACTED]");
            if let Some(at) = clean.find("--password ") {
                let value = at + "--password ".len();
                let end = clean[value..].find(" -").map_or(clean.len(), |end| value + end);
                clean.replace_range(value..end, "[REDACTED]");
            }
            (clean != *text).then(|| Cleansed {
                text: clean.into_bytes(),
                kinds: vec![("simple".to_owned(), 1)],
            })
        }
    }

    fn words(words: &[&str]) -> Vec<String> {
        let argv = words.iter().map(|word| BString::from(*word)).collect();
        let mut entry = Entry::Start(Box::new(Start { argv, ..Start::default() }));
        cleanse(&mut entry, None, &Simple);
        let Entry::Start(start) = entry else { panic!("another entry") };
        start.argv.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn words_stay_words() {
        assert_eq!(words(&["echo", "a b", ""]), ["echo", "a b", ""]);
        assert_eq!(words(&["login", "-phunter2", "x y"]), ["login", "-p[REDACTED]", "x y"]);
        assert_eq!(
            words(&["a", "--password", "s3", "-v", "b"]),
            ["a", "--password", "[REDACTED]", "-v", "b"]
        );
        assert_eq!(words(&["a", "--password", "s 3"]), ["a", "--password", "[REDACTED]"]);
        assert_eq!(
            words(&["a", "--password", "s", "3", "-v"]),
            ["a", "--password", "[REDACTED]", "[REDACTED]", "-v"]
        );
    }

    #[test]
    fn an_outcome_says_what_it_had() {
        let step = Step { argv: vec!["echo".into(), "hunter2".into()], ..Step::default() };
        let mut outcome = Outcome { steps: vec![step], ..Outcome::default() };
        outcome.asked.command = "echo hunter2".into();
        let mut entry = Entry::Outcome(Box::new(outcome));
        let mut streams = [Captured::whole(b"hunter2\n".to_vec()), Captured::default()];
        cleanse(&mut entry, Some(&mut streams), &Simple);
        let Entry::Outcome(outcome) = entry else { panic!("another entry") };
        assert_eq!(outcome.asked.command, "echo [REDACTED]");
        assert_eq!(outcome.steps[0].argv[1], "[REDACTED]");
        assert_eq!(streams[0].bytes, b"[REDACTED]\n");
        assert_eq!(outcome.redacted, [("simple".to_owned(), 3)]);
    }
}
