//! What a reader gathers: the worst level so far, what showed it, and the effects that can be named.

use bstr::BString;

use super::values::Value;
use super::{Level, Reading};
use crate::effect::{Effect, Language, More};
use crate::event::Access;
use crate::word::Word;

#[derive(Debug, Default)]
pub(super) struct Findings {
    /// `None` as long as all is harmless.
    worst: Option<(Level, BString)>,
    effects: Vec<Effect>,
}

impl Findings {
    pub fn unclear(&mut self, seen: impl AsRef<[u8]>) {
        self.raise(Level::Unclear, seen.as_ref());
    }

    pub fn danger(&mut self, seen: impl AsRef<[u8]>) {
        self.raise(Level::Dangerous, seen.as_ref());
    }

    /// The first sight of the worst level is the one that is shown.
    pub fn raise(&mut self, level: Level, seen: &[u8]) {
        if level > self.level() {
            self.worst = Some((level, BString::from(seen)));
        }
    }

    pub fn level(&self) -> Level {
        self.worst.as_ref().map_or(Level::Harmless, |(level, _)| *level)
    }

    pub fn shell(&mut self, text: &[u8]) {
        self.add(Effect::Shell(Word::literal(text)));
    }

    pub fn run(&mut self, words: &[Vec<u8>]) {
        let words = words.iter().map(|word| Word::literal(word.as_slice())).collect();
        self.add(Effect::Run { words, assignments: Vec::new(), more: More::None });
    }

    /// The process's own streams are no files that anybody could lose or leak.
    pub fn open(&mut self, path: &[u8], access: Access) {
        let stream = matches!(
            path,
            b"/dev/stdin" | b"/dev/stdout" | b"/dev/stderr" | b"/dev/null" | b"/dev/tty" | b"-"
        ) || path.strip_prefix(b"/dev/fd/").is_some_and(|rest| {
            !rest.is_empty() && rest.len() < 4 && rest.iter().all(u8::is_ascii_digit)
        });
        if !stream || access == Access::Delete {
            self.add(Effect::Open { path: Word::literal(path), access });
        }
    }

    /// A path that is computed: everything that it can be. `seen` is what does it.
    pub fn open_any(&mut self, path: &Value, access: Access, seen: &[u8]) {
        match path {
            Value::Texts(texts) => {
                for text in texts {
                    self.open(text, access);
                }
            }
            Value::Inside if access == Access::Read || access == Access::Write => {}
            _ => self.unclear([seen, b" of a computed path"].concat()),
        }
    }

    pub fn connect(&mut self, to: &[u8]) {
        self.add(Effect::Connect(Word::literal(to)));
    }

    pub fn assign(&mut self, name: &[u8], value: &[u8]) {
        self.add(Effect::Assign { name: name.into(), value: Word::literal(value) });
    }

    pub fn code(&mut self, language: Language, text: &[u8]) {
        self.add(Effect::Code { language, text: Word::literal(text) });
    }

    fn add(&mut self, effect: Effect) {
        // A reader may come by the same place twice; only neighbours are compared, so that this stays linear.
        if !self.effects.iter().rev().take(4).any(|known| *known == effect) {
            self.effects.push(effect);
        }
    }

    /// Takes over what another reader found in a part of the same text.
    pub fn merge(&mut self, other: Findings) {
        if let Some((level, seen)) = other.worst {
            self.raise(level, &seen);
        }
        for effect in other.effects {
            self.add(effect);
        }
    }

    pub fn finish(self) -> Reading {
        let (level, seen) = self.worst.unwrap_or((Level::Harmless, BString::default()));
        Reading { level, seen, effects: self.effects }
    }
}
