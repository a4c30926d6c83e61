//! Words in the making: text is added piece by piece, quoted or not, and becomes fields as bash would split them.

use bstr::{BString, ByteSlice};
use exacta_syntax::ast;

use crate::word::{Dynamic, Word};

use super::values::common_prefix;

/// More combinations than this are not kept apart.
const MOST_COMBINATIONS: usize = 32;

/// How unquoted values become words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Splitting {
    /// One word, whatever is in it: assignments, here-documents, `[[ ]]`.
    Never,
    /// At spaces, tabs and newlines.
    Blanks,
    /// `IFS` was set to this.
    At(BString),
    /// `IFS` is not known.
    Unknown,
}

#[derive(Debug)]
pub(super) struct Draft<'word, 'out> {
    word: &'word ast::Word,
    out: &'out mut Vec<Word>,
    pub splitting: Splitting,
    /// The text so far; if not `known`, what it begins with.
    text: BString,
    /// Other texts it may be.
    more: Vec<BString>,
    known: bool,
    /// There is a field, even if it is empty.
    present: bool,
    /// May become several words or none.
    splits: bool,
    glob: Option<Glob>,
    /// A pattern is wanted: what was quoted stays so.
    keeps_quotes: bool,
    /// A separator ended the last field.
    after_blank: bool,
}

#[derive(Debug)]
struct Glob {
    /// Where in the text the first active character is.
    at: usize,
    pattern: BString,
}

impl<'word, 'out> Draft<'word, 'out> {
    pub fn new(word: &'word ast::Word, out: &'out mut Vec<Word>, splitting: Splitting) -> Self {
        Draft {
            word,
            out,
            splitting,
            text: BString::default(),
            more: Vec::new(),
            known: true,
            present: false,
            splits: false,
            glob: None,
            keeps_quotes: false,
            after_blank: false,
        }
    }

    /// For a pattern: quoted characters come out with a backslash.
    pub fn pattern(word: &'word ast::Word, out: &'out mut Vec<Word>) -> Self {
        Draft { keeps_quotes: true, ..Draft::new(word, out, Splitting::Never) }
    }

    /// There is a field from here on: quotes were seen.
    pub fn begin(&mut self) {
        self.present = true;
    }

    /// Text that means nothing but itself.
    pub fn quoted(&mut self, text: &[u8]) {
        self.present = true;
        if !self.known {
            return;
        }
        if self.keeps_quotes {
            let mut escaped = BString::default();
            escape(text, &mut escaped);
            self.append(&escaped);
            return;
        }
        if let Some(glob) = &mut self.glob {
            escape(text, &mut glob.pattern);
        }
        self.append(text);
    }

    fn append(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        for other in &mut self.more {
            other.extend_from_slice(text);
        }
    }

    /// Unquoted text of the script: patterns are active, but nothing is split.
    pub fn literal(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        self.present = true;
        if !self.known {
            // Behind something unknown it is a pattern all the same.
            self.splits |= self.splitting != Splitting::Never && first_active(text).is_some();
            return;
        }
        if self.splitting != Splitting::Never
            && self.glob.is_none()
            && let Some(first) = first_active(text)
        {
            let mut pattern = BString::default();
            escape(&self.text, &mut pattern);
            self.glob = Some(Glob { at: self.text.len() + first, pattern });
        }
        if let Some(glob) = &mut self.glob {
            glob.pattern.extend_from_slice(text);
        }
        self.append(text);
    }

    /// The known value of an expansion.
    pub fn value(&mut self, text: &[u8], quoted: bool) {
        if quoted {
            self.quoted(text);
            return;
        }
        match self.splitting.clone() {
            Splitting::Never => {
                if !text.is_empty() {
                    self.present = true;
                    if self.known {
                        self.append(text);
                    }
                }
            }
            Splitting::Blanks => self.split(text, b" \t\n", b""),
            Splitting::At(separators) => {
                let (blanks, hard): (Vec<u8>, Vec<u8>) =
                    separators.iter().partition(|byte| b" \t\n".contains(byte));
                self.split(text, &blanks, &hard);
            }
            Splitting::Unknown => self.unknown(b"", false),
        }
    }

    fn split(&mut self, text: &[u8], blanks: &[u8], hard: &[u8]) {
        let mut rest = text;
        while let Some(end) =
            rest.iter().position(|byte| blanks.contains(byte) || hard.contains(byte))
        {
            let (piece, tail) = rest.split_at(end);
            if !piece.is_empty() {
                self.after_blank = false;
                self.literal(piece);
            }
            if tail.first().is_some_and(|byte| blanks.contains(byte)) {
                if self.present {
                    self.finish_field();
                    self.after_blank = true;
                }
            } else {
                if self.present || !self.after_blank {
                    self.present = true;
                    self.finish_field();
                }
                self.after_blank = false;
            }
            rest = tail.get(1..).unwrap_or_default();
        }
        if !rest.is_empty() {
            self.after_blank = false;
            self.literal(rest);
        }
    }

    /// One of several values.
    pub fn any_of(&mut self, values: &[BString], quoted: bool) {
        if let [one] = values {
            self.value(one, quoted);
            return;
        }
        let plain = quoted || self.splitting == Splitting::Never;
        if !plain {
            let separators: &[u8] = match &self.splitting {
                Splitting::Blanks => b" \t\n",
                Splitting::At(separators) => separators,
                _ => return self.unknown(&common_prefix(values), false),
            };
            let splits = values.iter().any(|value| {
                value.is_empty()
                    || value.iter().any(|byte| separators.contains(byte))
                    || first_active(value).is_some()
            });
            self.splits |= splits;
        }
        self.present = true;
        if !self.known {
            return;
        }
        let combinations = (self.more.len() + 1).saturating_mul(values.len());
        if self.glob.is_some() || values.is_empty() || combinations > MOST_COMBINATIONS {
            return self.unknown(&common_prefix(values), quoted);
        }
        let before: Vec<BString> =
            std::iter::once(std::mem::take(&mut self.text)).chain(self.more.drain(..)).collect();
        let mut after = Vec::with_capacity(combinations);
        for start in &before {
            for value in values {
                let mut whole = start.clone();
                if self.keeps_quotes && quoted {
                    escape(value, &mut whole);
                } else {
                    whole.extend_from_slice(value);
                }
                if !after.contains(&whole) {
                    after.push(whole);
                }
            }
        }
        let mut after = after.into_iter();
        self.text = after.next().unwrap_or_default();
        self.more = after.collect();
    }

    /// Something that is known only when it runs, but for its beginning.
    pub fn unknown(&mut self, prefix: &[u8], quoted: bool) {
        self.present = true;
        let may_match = !quoted || self.glob.is_some();
        self.splits |= may_match && self.splitting != Splitting::Never;
        if !self.known {
            return;
        }
        if !self.more.is_empty() {
            let mut all = std::mem::take(&mut self.more);
            all.push(std::mem::take(&mut self.text));
            self.text = common_prefix(&all);
        } else if let Some(glob) = &self.glob {
            self.text.truncate(glob.at);
        } else {
            // What an unquoted value begins with may be blanks, which are taken away.
            let kept = if quoted || self.splitting == Splitting::Never {
                prefix
            } else {
                let prefix =
                    first_active(prefix).and_then(|end| prefix.get(..end)).unwrap_or(prefix);
                let ends = |byte: &u8| match &self.splitting {
                    Splitting::At(separators) => separators.contains(byte),
                    Splitting::Unknown => true,
                    Splitting::Blanks | Splitting::Never => b" \t\n".contains(byte),
                };
                let end = prefix.iter().position(ends);
                prefix.get(..end.unwrap_or(prefix.len())).unwrap_or_default()
            };
            self.text.extend_from_slice(kept);
        }
        self.glob = None;
        self.known = false;
    }

    /// A finished word in the middle: an element of `"$@"`.
    pub fn element(&mut self, word: &Word, quoted: bool) {
        match word {
            Word::Literal(text) => self.value(text, quoted),
            Word::Dynamic(dynamic) if dynamic.glob.is_some() || dynamic.splits => {
                self.unknown(&dynamic.prefix, false);
            }
            Word::Dynamic(dynamic) if !dynamic.values.is_empty() => {
                self.any_of(&dynamic.values, quoted);
            }
            Word::Dynamic(dynamic) => self.unknown(&dynamic.prefix, quoted),
        }
    }

    /// A field ends here, and another begins.
    pub fn separate(&mut self) {
        if self.splitting == Splitting::Never {
            self.quoted(b" ");
        } else {
            self.finish_field();
        }
    }

    pub fn finish_field(&mut self) {
        if !self.present {
            return;
        }
        self.present = false;
        let text = std::mem::take(&mut self.text);
        let more = std::mem::take(&mut self.more);
        let known = std::mem::replace(&mut self.known, true);
        let glob = self.glob.take();
        let splits = std::mem::take(&mut self.splits);
        if known && more.is_empty() && !splits && glob.as_ref().is_none_or(|glob| !glob.is_real()) {
            self.out.push(Word::Literal(text));
            return;
        }
        let mut dynamic = Dynamic { splits, ..Dynamic::default() };
        dynamic.written = exacta_syntax::print_word(self.word);
        if !known {
            dynamic.prefix = text;
        } else if more.is_empty() {
            match glob.filter(Glob::is_real) {
                Some(glob) => {
                    dynamic.prefix = BString::from(text.get(..glob.at).unwrap_or_default());
                    dynamic.glob = Some(glob.pattern);
                    dynamic.splits = true;
                }
                None => {
                    dynamic.prefix.clone_from(&text);
                    dynamic.values = vec![text];
                }
            }
        } else {
            let mut all = more;
            all.insert(0, text);
            dynamic.prefix = common_prefix(&all);
            match glob.filter(Glob::is_real) {
                Some(glob) => dynamic.prefix.truncate(glob.at),
                None => dynamic.values = all,
            }
        }
        self.out.push(Word::Dynamic(Box::new(dynamic)));
    }
}

impl Glob {
    /// A `[` without its `]` is only a character.
    fn is_real(&self) -> bool {
        let last_bracket = self.pattern.rfind_byte(b']').unwrap_or(0);
        let mut bytes = self.pattern.iter().copied().enumerate();
        while let Some((index, byte)) = bytes.next() {
            match byte {
                b'\\' => drop(bytes.next()),
                b'*' | b'?' => return true,
                b'[' if index < last_bracket => return true,
                b'@' | b'!' | b'+' if self.pattern.get(index + 1) == Some(&b'(') => return true,
                _ => {}
            }
        }
        false
    }
}

/// The first character that is, or may begin, a pattern.
pub(super) fn first_active(text: &[u8]) -> Option<usize> {
    text.iter().enumerate().position(|(index, byte)| match byte {
        b'*' | b'?' | b'[' => true,
        b'@' | b'!' | b'+' => text.get(index + 1) == Some(&b'('),
        _ => false,
    })
}

fn escape(text: &[u8], pattern: &mut BString) {
    for byte in text {
        if b"*?[]\\@!+(|)".contains(byte) {
            pattern.push(b'\\');
        }
        pattern.push(*byte);
    }
}
